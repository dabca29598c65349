"""Nearest: exact copies, moved values, and ties."""

import numpy as np
import polars as pl
import pytest
from tests.attacks.period_releases import shop

from noren.api import protect
from noren.attacks import attacks, nearest
from noren.attacks.nearest import Nearest
from noren.data.frames import History
from noren.data.schema import Schema
from noren.errors import ParameterError
from noren.measures.safety.hits import hits
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.methods.pseudonymize import Pseudonymize

SCHEMA = Schema.preset("pwscup2018")


def prices(who: list[str], said: list[float]) -> History:
    rows = {"customer": who, "date": ["2010/12/1"] * len(who), "item": ["a"] * len(who), "price": said}
    return History.of({**rows, "quantity": [1] * len(who)}, SCHEMA)


def test_pseudonyms_alone_are_broken(small: History) -> None:
    release = Pseudonymize().protect(small, seed=1)
    assert isinstance(release.public, History)
    guess = Nearest().attack(small, release.public, seed=1)
    assert hits(guess, release.secret).right == 30
    assert guess.pairs["score"].min() > 0  # type: ignore[operator]
    assert guess.pairs["score"].is_sorted(descending=True)
    assert guess.notes["mean_distance"] == 0


def test_values_that_moved_are_no_hiding_place(small: History) -> None:
    release = Pseudonymize().protect(small, seed=1)
    draw = np.random.Generator(np.random.PCG64(1))
    noise = pl.Series(draw.normal(0, 0.3, len(release.public)))
    frame = release.public.frame.with_columns(price=(pl.col("price") + noise).abs(), quantity=pl.col("quantity") + 1)
    guess = Nearest().attack(small, History(frame, SCHEMA), seed=1)
    assert hits(guess, release.secret).right == 30


def test_a_class_of_k_leaves_one_in_k(small: History) -> None:
    release = GeneralizeByCount(k=3).protect(small, seed=1)
    assert isinstance(release.public, History)
    right = [hits(Nearest().attack(small, release.public, seed=seed), release.secret).right for seed in range(20)]
    assert 4 <= sum(right) / 20 <= 16


def test_all_are_assigned_at_once() -> None:
    # both are nearest to ann's 2; 7 lies nearer, so 8 must be bob
    guess = Nearest().attack(prices(["ann", "bob"], [2.0, 9.0]), prices(["7", "8"], [2.0, 3.0]), seed=1)
    assert dict(guess.pairs.select("pseudonym", "customer").rows()) == {"7": "ann", "8": "bob"}
    scores = dict(guess.pairs.select("pseudonym", "score").rows())
    # sd = 3.5: 7 is 0 from ann and 7/3.5 from bob; 8 is 6/3.5 from bob and 1/3.5 from ann
    assert scores["7"] == pytest.approx(2.0)
    assert scores["8"] == pytest.approx(-5 / 3.5)


def test_ties_are_drawn_and_seeds_repeat() -> None:
    original, public = prices(["ann", "bob"], [1, 1]), prices(["7", "8"], [1, 1])
    answers = [Nearest().attack(original, public, seed=seed).pairs for seed in range(40)]
    assert len({tuple(pairs["customer"]) for pairs in answers}) == 2
    assert answers[0].equals(Nearest().attack(original, public, seed=0).pairs)
    assert {score for pairs in answers for score in pairs["score"]} == {0.0}


def test_more_pseudonyms_than_customers_and_nobody() -> None:
    guess = Nearest().attack(prices(["ann"], [1]), prices(["7", "8"], [5, 1]), seed=1)
    assert guess.pairs.rows() == [("8", "ann", 1.0)]
    empty = prices(["7"], [1]).take(pl.Series([], dtype=pl.UInt32))
    none = Nearest().attack(prices(["ann"], [1]), empty, seed=1)
    assert none.pairs.schema == {"pseudonym": pl.String, "customer": pl.String, "score": pl.Float64}
    assert len(none) == 0


def test_other_schemas() -> None:
    columns = {"who": {"role": "customer"}, "what": {"role": "item"}, "when": {"role": "date"}}
    schema = Schema.of({"columns": columns})

    def bare(who: list[str], what: list[str]) -> History:
        return History.of({"who": who, "what": what, "when": ["2011/1/1"] * len(who)}, schema)

    guess = Nearest().attack(bare(["x", "y"], ["a", "b"]), bare(["1", "2"], ["b", "a"]), seed=1)
    assert sorted(guess.pairs.select("pseudonym", "customer").rows()) == [("1", "y"), ("2", "x")]


def test_of_too_many_customers_the_likeliest_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [{"method": "thin", "share": 0.5}, {"method": "perturb", "days": 7, "price": 0.1, "packs": 2}]
    release = protect(shop(), steps, seed=1)
    assert isinstance(release.public, History)
    whole = Nearest().attack(shop(), release.public, seed=1)
    monkeypatch.setattr(nearest, "_MOST_PAIRS", 0)
    monkeypatch.setattr("noren.attacks.profile._MOST_CELLS", 0)
    few, every = (Nearest(shortlist=size).attack(shop(), release.public, seed=1) for size in (8, 150))
    right = [hits(guess, release.secret).right for guess in (whole, few, every)]
    # all rows choose the candidates, not only the four of the rarest items
    assert right[1] > max(130, right[0])
    assert right[2] == 150
    assert len(every) == len(whole) == 150


def test_among_all_listed_the_assignment_is_the_same(small: History, monkeypatch: pytest.MonkeyPatch) -> None:
    release = Pseudonymize().protect(small, seed=1)
    assert isinstance(release.public, History)
    whole = Nearest().attack(small, release.public, seed=1)
    monkeypatch.setattr(nearest, "_MOST_PAIRS", 0)
    listed = Nearest().attack(small, release.public, seed=1)
    pairs = [set(guess.pairs.select("pseudonym", "customer").rows()) for guess in (whole, listed)]
    assert pairs[0] == pairs[1]
    assert listed.notes == {"mean_distance": 0.0}


def test_listed_customers_of_a_class_of_k_leave_one_in_k(small: History, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "_MOST_PAIRS", 0)
    release = GeneralizeByCount(k=3).protect(small, seed=1)
    assert isinstance(release.public, History)
    right = [hits(Nearest().attack(small, release.public, seed=seed), release.secret).right for seed in range(20)]
    assert 4 <= sum(right) / 20 <= 16


def test_parameters() -> None:
    assert isinstance(attacks.create("nearest", shortlist=5), Nearest)
    with pytest.raises(ParameterError, match="shortlist"):
        attacks.create("nearest", shortlist=0)
