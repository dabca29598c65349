"""Consistency: certain where the release leaves one customer, a fair draw where it leaves several."""

import itertools
from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linear_sum_assignment

from noren import api
from noren.attacks import attacks
from noren.attacks.consistency import Consistency
from noren.data.compatibility import consistent_customers
from noren.data.contest_files import read_rows
from noren.data.frames import History
from noren.data.reading import read_release
from noren.data.schema import Schema
from noren.measures.safety.hits import hits
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.methods.pseudonymize import Pseudonymize

SCHEMA = Schema.preset("pwscup2018")


def prices(who: list[str], said: list[float]) -> History:
    rows = {"customer": who, "date": ["2010/12/1"] * len(who), "item": ["a"] * len(who), "price": said}
    return History.of({**rows, "quantity": [1] * len(who)}, SCHEMA)


def test_pseudonyms_alone_are_broken_for_certain(small: History) -> None:
    release = Pseudonymize().protect(small, seed=1)
    assert isinstance(release.public, History)
    guess = Consistency().attack(small, release.public, seed=1)
    assert hits(guess, release.secret).right == len(guess) == 30
    assert set(guess.pairs["score"]) == {1.0}
    assert guess.notes == {"certain": 30, "one_to_one": True}


@pytest.mark.parametrize("k", [2, 3])
def test_a_class_of_k_is_a_fair_draw(small: History, k: int) -> None:
    release = GeneralizeByCount(k=k).protect(small, seed=1)
    assert isinstance(release.public, History)
    found = consistent_customers(small, release.public)
    right = []
    for seed in range(200):
        guess = Consistency().assign(found, seed=seed)
        assert len(guess) == 30
        assert guess.pairs["score"].max() <= 1 / k  # type: ignore[operator]
        right.append(hits(guess, release.secret).right)
    # one hit in each class in the mean; 200 runs of 30/k classes have a standard error of about sqrt(30/k/200)
    classes = 30 // k
    assert sum(right) / 200 == pytest.approx(classes, abs=5 * (classes / 200) ** 0.5)


def test_equal_histories_stand_together(small: History) -> None:
    release = GeneralizeByCount(k=3).protect(small, seed=1)
    assert isinstance(release.public, History)
    found = consistent_customers(small, release.public)
    history = dict(zip(found.pseudonyms, found.history.tolist(), strict=True))
    ranked = [history[p] for p in Consistency().assign(found, seed=5).pairs["pseudonym"]]
    changes = sum(a != b for a, b in itertools.pairwise(ranked))
    assert changes == len(set(ranked)) - 1


def test_fewest_purchases_left_unexplained() -> None:
    # both fit 7; bob has two rows that 7 would leave out, ann has none
    original = prices(["bob", "bob", "bob", "ann"], [1, 2, 3, 1])
    for seed in range(5):
        assert Consistency().attack(original, prices(["7"], [1]), seed=seed).pairs.rows() == [("7", "ann", 0.5)]


def test_equals_are_drawn_by_lot() -> None:
    original, public = prices(["ann", "bob"], [1, 1]), prices(["7", "8"], [1, 1])
    answers = Counter(
        dict(Consistency().attack(original, public, seed=seed).pairs.select("pseudonym", "customer").rows())["7"]
        for seed in range(100)
    )
    assert 30 <= answers["ann"] <= 70
    one, again = (Consistency().attack(original, public, seed=3).pairs for _ in range(2))
    assert one.equals(again)


def test_without_a_one_to_one_assignment_as_many_as_can_be() -> None:
    # 7 and 8 fit ann alone; 9 fits nobody
    guess = Consistency().attack(prices(["ann", "bob"], [1, 2]), prices(["7", "8", "9"], [1, 1, 5]), seed=1)
    assert len(guess) == 1
    assert guess.pairs["customer"].to_list() == ["ann"]
    assert guess.notes["one_to_one"] is False


def test_nobody_fits_and_nobody_is_published() -> None:
    nobody = Consistency().attack(prices(["ann"], [1]), prices(["7"], [2]), seed=1)
    none = Consistency().attack(prices(["ann"], [1]), prices(["7"], [2]).take(pl.Series([], dtype=pl.UInt32)), seed=1)
    for guess in (nobody, none):
        assert len(guess) == 0
        assert guess.pairs.schema == {"pseudonym": pl.String, "customer": pl.String, "score": pl.Float64}
    assert isinstance(attacks.create("consistency"), Consistency)


@pytest.fixture(scope="module")
def final(shared: Path) -> History:
    return read_rows(shared / "data" / "pwscup2018_final_T.csv", SCHEMA)


@pytest.mark.parametrize(("name", "right"), [("random_final", 999), ("edge_final", 1000)])
def test_rows_generalised_one_by_one_hide_nobody(name: str, right: int, shared: Path, final: History) -> None:
    release = read_release(shared / "oracles" / "pwscup2018" / name / "A.csv.gz", final)
    assert isinstance(release.public, History)
    guess = Consistency().attack(final, release.public, seed=1)
    assert hits(guess, release.secret).right == len(guess) == right


@pytest.mark.parametrize("k", [2, 4])
def test_no_assignment_leaves_fewer_purchases_unexplained(k: int) -> None:
    history = api.sample(customers=40, rows=500, items=60, seed=3, schema="pwscup2018")
    release = api.protect(history, "generalize-by-count", k=k, seed=1)
    assert isinstance(history, History)
    assert isinstance(release.public, History)
    found = consistent_customers(history, release.public)
    unexplained = np.full((len(found.pseudonyms), found.candidates.customers), 1e6)
    who, customer = found.candidates.pseudonym, found.candidates.customer
    unexplained[who, customer] = 1 - found.rows[who] / found.known[customer]
    least = unexplained[linear_sum_assignment(unexplained)].sum()
    pseudonyms, customers = (
        {name: at for at, name in enumerate(names)} for names in (found.pseudonyms, found.customers)
    )
    for seed in range(3):
        pairs = Consistency().assign(found, seed=seed).pairs.select("pseudonym", "customer").rows()
        cells = [(pseudonyms[a], customers[b]) for a, b in pairs]
        assert sum(unexplained[cell] for cell in cells) == pytest.approx(least, abs=40 * 2**-20)
