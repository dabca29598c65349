"""Jaccard: the definition in plain Python sets, hand-made releases, and the contest's data."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.data.bought_examples import bought, shown

from noren.attacks import attacks
from noren.attacks.jaccard import Jaccard
from noren.data.cells import lift
from noren.data.contest_files import read_rows
from noren.data.frames import History
from noren.data.periods import periods_of
from noren.data.release import Release, Statement
from noren.data.schema import Role, Schema
from noren.errors import ParameterError
from noren.measures.safety.hits import hits
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.methods.pseudonymize import Pseudonymize


def sets_of(history: History) -> dict[str, set[str]]:
    rows = history.frame.select(customer=history[Role.CUSTOMER], item=history[Role.ITEM]).drop_nulls("customer")
    grouped = rows.group_by("customer", maintain_order=True).agg(pl.col("item").drop_nulls())
    return {who: set(items) for who, items in grouped.rows()}


def by_definition(original: History, public: History) -> dict[str, tuple[str, float]]:
    """S2, Algorithm 1, with Python's sets; the first customer of the most similar ones."""
    known, named = sets_of(original), {}
    for pseudonym, items in sets_of(public).items():
        likeness = {who: Fraction(len(items & theirs), len(items | theirs) or 1) for who, theirs in known.items()}
        best = max(likeness, key=lambda who: likeness[who])
        if likeness[best]:
            named[pseudonym] = (best, float(likeness[best]))
    return named


def named(history: History, public: History) -> dict[str, tuple[str, float]]:
    pairs = Jaccard().attack(history, public, seed=1).pairs
    assert pairs.columns == ["pseudonym", "customer", "score"]
    return {pseudonym: (customer, score) for pseudonym, customer, score in pairs.rows()}


def worn(release: Release, share: float, seed: int) -> History:
    """The public part with a share of its rows deleted, and the items of as many replaced by other rows' items."""
    draw = np.random.Generator(np.random.PCG64(seed))
    public = release.public.take(pl.Series(np.flatnonzero(draw.random(len(release.public)) >= share)))
    item = public[Role.ITEM]
    moved = draw.random(len(public)) < share
    mixed = item.gather(np.where(moved, draw.integers(0, len(item), len(item)), np.arange(len(item))))
    assert isinstance(public, History)
    return replace(public, frame=public.frame.with_columns(mixed.alias(item.name)))


def test_pseudonyms_alone_are_broken(small: History) -> None:
    release = Pseudonymize().protect(small, seed=1)
    assert isinstance(release.public, History)
    guess = Jaccard().attack(small, release.public, seed=1)
    assert hits(guess, release.secret).right == 30
    assert set(guess.pairs["score"]) == {1.0}
    assert guess.notes == {"unlike_anybody": 0, "mean_similarity": 1.0}


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_the_definition_on_worn_releases(small: History, share: float) -> None:
    public = worn(Pseudonymize().protect(small, seed=2), share, seed=3)
    assert named(small, public) == by_definition(small, public)


def test_surest_first_and_the_same_for_every_seed(small: History) -> None:
    public = worn(Pseudonymize().protect(small, seed=2), 0.5, seed=3)
    guess = Jaccard().attack(small, public, seed=1)
    assert guess.pairs["score"].is_sorted(descending=True)
    assert guess.pairs["score"].n_unique() > 10
    assert guess.pairs.equals(Jaccard().attack(small, public, seed=2).pairs)
    assert guess.notes["mean_similarity"] == pytest.approx(guess.pairs["score"].mean())


def test_of_equals_the_one_who_appears_first() -> None:
    original = bought(["c", "b", "b", "a", "a"], ["x", "y", "z", "y", "z"])
    assert named(original, bought(["7", "7", "8"], ["y", "z", "z"])) == {"7": ("b", 1.0), "8": ("b", 0.5)}


def test_nobody_is_named_for_what_nobody_has() -> None:
    public = bought(["7", "8", "9", "9"], ["q", None, "x", "q"])
    guess = Jaccard().attack(bought(["a", "a"], ["x", "y"]), public, seed=1)
    # 9 shares x of x, y, q; 7 shows only what nobody bought, 8 nothing
    assert guess.pairs.rows() == [("9", "a", 1 / 3)]
    assert guess.notes["unlike_anybody"] == 2


def test_set_cells_count_in_parts() -> None:
    original = bought(["a", "a", "b", "b"], ["x", "y", "y", "z"])
    public = shown(["7", "7"], [["x", "y"], ["y", "z"]])
    guess = Jaccard(candidates=2).attack(original, public, seed=1)
    # x, y, z weigh 1/2 each: each customer has two of them and 2 + 3/2 - 1 in the union
    assert guess.pairs.rows() == [("7", "a", 0.4, 1), ("7", "b", 0.4, 2)]
    # y alone is sure in the second row: 1 + 1/2 shared with a, 1 + 0 with b
    sharper = Jaccard(candidates=2).attack(original, shown(["7", "7"], [["x", "y"], ["y"]]), seed=1)
    assert sharper.pairs.rows() == [("7", "a", 1.5 / 2, 1), ("7", "b", 1 / 2.5, 2)]


def test_sets_of_one_are_exact(small: History) -> None:
    public = worn(Pseudonymize().protect(small, seed=2), 0.5, seed=3)
    column = public.schema.role(Role.ITEM)
    lifted = replace(public, frame=public.frame.with_columns(lift(public.frame[column.name], column)))
    assert named(small, lifted) == by_definition(small, public)


def test_more_candidates_follow_and_the_first_counts(small: History) -> None:
    release = Pseudonymize().protect(small, seed=2)
    public = worn(release, 0.6, seed=3)
    one, three = (Jaccard(candidates=r).attack(small, public, seed=1) for r in (1, 3))
    pseudonyms = len(one)
    assert three.pairs[:pseudonyms].drop("rank").equals(one.pairs)
    assert three.pairs["rank"].is_sorted()
    for _rank, rows in three.pairs.group_by("rank"):
        assert rows["score"].is_sorted(descending=True)
    assert hits(three, release.secret) == hits(one, release.secret)
    # a pseudonym's scores fall with the rank
    fall = three.pairs.group_by("pseudonym", maintain_order=True).agg(pl.col("score").is_sorted(descending=True))
    assert fall["score"].all()
    assert three.pairs.n_unique(["pseudonym", "customer"]) == len(three.pairs)


def test_no_more_candidates_than_share_an_item() -> None:
    guess = Jaccard(candidates=5).attack(bought(["a", "b", "c"], ["x", "x", "y"]), bought(["7"], ["x"]), seed=1)
    assert guess.pairs.rows() == [("7", "a", 1.0, 1), ("7", "b", 1.0, 2)]


def test_a_class_is_named_by_one_customer(small: History) -> None:
    release = GeneralizeByCount(k=3).protect(small, seed=1)
    assert isinstance(release.public, History)
    guess = Jaccard().attack(small, release.public, seed=1)
    assert guess.pairs["customer"].n_unique() <= 10
    assert hits(guess, release.secret).right <= 10


def test_pseudonyms_that_change_with_time(small: History) -> None:
    month = periods_of(small[Role.DATE])
    names = (small[Role.CUSTOMER].cast(pl.String) + "@" + month).alias("customer")
    aligned = replace(small, frame=small.frame.with_columns(names))
    release = Release.of_aligned(small, aligned, Statement("hand"), periods=month)
    assert isinstance(release.public, History)
    assert named(small, release.public) == by_definition(small, release.public)
    # every month is another pseudonym, to be guessed on its own
    assert len(named(small, release.public)) == release.secret.pseudonyms["pseudonym"].n_unique()


def test_nothing_to_attack() -> None:
    nothing = bought([], [])
    for original, public in ((nothing, bought(["7"], ["x"])), (bought(["a"], ["x"]), nothing), (nothing, nothing)):
        guess = Jaccard().attack(original, public, seed=1)
        assert guess.pairs.schema == {"pseudonym": pl.String, "customer": pl.String, "score": pl.Float64}
        assert len(guess) == 0


def test_by_name() -> None:
    assert attacks.create("jaccard", candidates=2) == Jaccard(candidates=2)
    with pytest.raises(ParameterError, match="candidates"):
        attacks.create("jaccard", candidates=0)


def test_progress_ends_at_one(small: History) -> None:
    told: list[float] = []
    Jaccard().attack(small, small, seed=1, progress=lambda done, words="", best=None: told.append(done))
    assert told == sorted(told)
    assert told[-1] == 1.0


def test_the_contests_data(shared: Path) -> None:
    original = read_rows(shared / "data" / "pwscup2016_T.csv", Schema.preset("pwscup2016"))
    release = Pseudonymize().protect(original, seed=1)
    assert isinstance(release.public, History)
    known = sets_of(original)
    distinct = len({frozenset(items) for items in known.values()})
    guess = Jaccard().attack(original, release.public, seed=1)
    assert (len(known), distinct) == (400, 400)
    assert hits(guess, release.secret).right == 400
    half = worn(release, 0.5, seed=4)
    found = named(original, half)
    assert found == by_definition(original, half)
    assert 300 < hits(Jaccard().attack(original, half, seed=1), release.secret).right < 400
