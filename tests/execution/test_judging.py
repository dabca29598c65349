"""Attacks and measures on a cluster say what one machine says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from tests.execution.sameness import with_blanks
from tests.execution.sameness_judging import Judged

import noren
from noren.attacks import attacks
from noren.data.frames import History
from noren.data.release import Release, Statement
from noren.data.schema import Schema
from noren.errors import CheckFailedError
from noren.execution.plans import safety as cluster_classes
from noren.execution.release import ClusterEvidence
from noren.measures import measures
from noren.measures.utility.cell_error import CellError
from noren.methods import methods

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="module")
def by_count(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """A generalised release with deleted rows, of a history with blanks."""
    history = with_blanks(noren.sample(customers=60, rows=900, items=70, seed=3), every=67)
    release = methods.create("generalize-by-count", k=3).protect(history, seed=1)
    return Judged(history, release, spark, tmp_path_factory.mktemp("by-count"))


@pytest.fixture(scope="module")
def changed(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """An exact release with rows deleted and cells moved, of a history with blanks."""
    history = with_blanks(noren.sample(customers=60, rows=900, items=70, seed=4), every=67)
    release = methods.create("thin").protect(history, seed=1)
    return Judged(history, release, spark, tmp_path_factory.mktemp("changed"))


def test_error_per_cell(by_count: Judged, changed: Judged) -> None:
    assert by_count.same_score(CellError()).value > 0.1
    assert changed.same_score(CellError()).value > 0


def test_rows_that_nobody_else_has(changed: Judged) -> None:
    assert len(changed.same_guess(attacks.create("unique-rows"))) > 20


@pytest.mark.parametrize("name", ["s1", "s2", "s7"])
def test_signatures(changed: Judged, name: str) -> None:
    assert len(changed.same_guess(attacks.create(name))) > 20


@pytest.mark.parametrize("name", ["s3", "s8"])
def test_signatures_of_generalised_rows(by_count: Judged, name: str) -> None:
    by_count.same_guess(attacks.create(name, period="quarter"))


def test_sets_of_items(by_count: Judged, changed: Judged) -> None:
    assert len(changed.same_guess(attacks.create("jaccard"))) == 60
    assert by_count.same_guess(attacks.create("jaccard", candidates=3)).pairs["rank"].max() == 3


def test_who_fits(by_count: Judged) -> None:
    assert by_count.same_score(measures.create("classes")).notes["holds"]


def test_people_named_rightly(changed: Judged) -> None:
    guesses = {
        name: attacks.create(name).attack(changed.original, changed.release.public, seed=1)
        for name in ("s1", "s8", "unique-rows")
    }
    assert changed.same_score(measures.create("reid-rate"), guesses).value > 0.5
    assert changed.same_score(measures.create("effective"), guesses).value == 1


@pytest.mark.parametrize("name", ["e4", "e6", "jaccard-mean", "survival"])
def test_counts_and_sums(changed: Judged, name: str) -> None:
    changed.same_score(measures.create(name))


def test_sets_that_are_shown_in_part(by_count: Judged) -> None:
    assert 0 < by_count.same_score(measures.create("jaccard-mean")).value < 1


@pytest.mark.parametrize("name", ["rfm", "statistics"])
def test_draws_from_a_release(by_count: Judged, name: str) -> None:
    assert by_count.same_score(measures.create(name, draws=2)).value > 0


@pytest.fixture(scope="module")
def moved(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """A release whose cells moved, under pseudonyms of each month."""
    history = with_blanks(noren.sample(customers=40, rows=500, items=50, seed=5), every=67)
    release = methods.create("perturb").protect(history, seed=1)
    return Judged(history, release, spark, tmp_path_factory.mktemp("moved"))


@pytest.mark.parametrize("name", ["e4", "e5"])
def test_untrue_cells(moved: Judged, name: str) -> None:
    assert moved.same_score(measures.create(name)).value > 0


def test_untrue_cells_fit_nobody(moved: Judged) -> None:
    assert moved.same_score(measures.create("classes")).notes["fitting_nobody"] > 0


def test_people_named_month_by_month(moved: Judged) -> None:
    guesses = {name: moved.same_guess(attacks.create(name)) for name in ("s4", "unique-rows")}
    moved.same_score(measures.create("reid-rate"), guesses)


def test_without_items(spark: SparkSession, tmp_path: Path) -> None:
    sample = noren.sample(customers=12, rows=60, items=5, seed=2)
    schema = Schema.of({"columns": {name: {"role": name} for name in ("customer", "date", "price")}})
    history = History(sample.frame.select("customer", "date", "price"), schema)
    judged = Judged(history, methods.create("generalize-by-count", k=2).protect(history, seed=1), spark, tmp_path)
    assert judged.same_score(measures.create("classes")).notes["holds"]


def test_who_is_left_when_everybody_is_another(spark: SparkSession, tmp_path: Path) -> None:
    def history(customers: list[str], prices: list[float]) -> History:
        rows = {"customer": customers, "date": ["2010/12/1"] * 4, "item": ["a"] * 4, "price": prices}
        return History.of(rows | {"quantity": [1] * 4}, Schema.preset("pwscup2018"))

    # 7 and 8 show the same, which Ann and Bob have; 9 fits Bob and Cem, but Bob is one of the first two
    original = history(["ann", "bob", "bob", "cem"], [1.0, 1.0, 2.0, 2.0])
    public = history(["7", "8", "9", "9"], [1.0, 1.0, 2.0, 2.0]).frame[[0, 1, 3]]
    aligned = pl.concat([public[[0, 1]], public[:1].clear(1), public[[2]]])
    release = Release.of_aligned(original, History(aligned, original.schema), Statement("hand", {"k": 2}))
    score = Judged(original, release, spark, tmp_path).same_score(measures.create("classes"))
    assert (score.value, score.parts["one_to_one"], score.notes["holds"]) == (2.0, 1.0, False)


def test_who_fits_rows_that_are_suppressed_in_part(spark: SparkSession, tmp_path: Path) -> None:
    """Whatever a row still says is what it is looked up by: the item, a number, a shop, or nothing."""
    columns = {name: {"role": name} for name in ("customer", "date", "item", "price")}
    schema = Schema.of({"columns": columns | {"shop": {"role": "other", "type": "text"}}})
    sample = noren.sample(customers=12, rows=60, items=5, seed=3).frame.select("customer", "date", "item", "price")
    count = pl.int_range(pl.len())
    original = History(sample.with_columns(shop=pl.format("shop {}", count % 3)), schema)
    hidden = {"item": count % 2 == 0, "price": count % 3 == 0, "date": count % 5 != 0, "shop": count % 7 < 3}
    cut = original.frame.with_columns(
        pl.when(~where).then(pl.col(name)).alias(name) for name, where in hidden.items()
    ).with_columns(customer="p" + pl.col("customer").cast(pl.String))
    alone = cut.with_columns(customer=pl.format("r{}", count))  # every row under a pseudonym of its own
    for at, shown in enumerate((cut, alone)):
        release = Release.of_aligned(original, History(shown, schema), Statement("hand", {"k": 2}))
        Judged(original, release, spark, tmp_path / str(at)).same_score(measures.create("classes"))


def test_an_audit_asks_those_behind_first(by_count: Judged, monkeypatch: pytest.MonkeyPatch) -> None:
    evidence = ClusterEvidence(by_count.lying, by_count.released)
    monkeypatch.setattr(cluster_classes, "measure_classes", lambda *_, **__: pytest.fail("everybody was asked"))
    cluster_classes.audit(evidence, None)


def test_an_audit_finds_a_false_claim(spark: SparkSession, tmp_path: Path) -> None:
    """Two pseudonyms show the same, but only one of the customers behind them fits it."""

    def history(customers: list[str], prices: list[float]) -> History:
        rows = {"customer": customers, "date": ["2010/12/1"] * 2, "item": ["a"] * 2, "price": prices}
        return History.of(rows | {"quantity": [1] * 2}, Schema.preset("pwscup2018"))

    original = history(["ann", "bob"], [1.0, 2.0])
    release = Release.of_aligned(original, history(["7", "8"], [1.0, 1.0]), Statement("hand", {"k": 2}))
    judged = Judged(original, release, spark, tmp_path)
    with pytest.raises(CheckFailedError, match="claims k=2, but one pseudonym fits only 1"):
        cluster_classes.audit(ClusterEvidence(judged.lying, judged.released), None)
