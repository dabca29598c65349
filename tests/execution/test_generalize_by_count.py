"""Histories made alike on a cluster are those of one machine."""

from pathlib import Path

import polars as pl
import pytest
from tests.execution.histories import bare, uneven, wide
from tests.execution.sameness import on_cluster, same_release

import noren
from noren.errors import ParameterError
from noren.execution.plans import plan_of
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.work.run import attack_folder


def test_blanks_ties_and_somebody_with_a_tenth_of_all_rows(spark, tmp_path: Path) -> None:
    release = same_release(GeneralizeByCount(k=3), uneven(), spark, tmp_path)
    assert release.deleted_rows > 60  # nobody is as long as the heaviest
    assert release.statement.notes == {"rows_without_customer": 7}


def test_cells_that_cost_more_than_nothing_are_suppressed(spark, tmp_path: Path) -> None:
    release = same_release(GeneralizeByCount(k=4, suppress_cells=True), wide(), spark, tmp_path)
    assert release.public.frame["price"].null_count() > 4
    assert release.statement.notes["suppressed_columns"] == ["invoice", "time", "country"]


def test_items_alone(spark, tmp_path: Path) -> None:
    same_release(GeneralizeByCount(k=2), bare(), spark, tmp_path, seed=7)


def test_categories(master, spark, tmp_path: Path) -> None:
    history = noren.sample(customers=20, rows=200, items=30, seed=3)
    file = tmp_path / "shelves.csv"
    lines = [f"{item},shelf{at % 4}" for at, item in enumerate(history.frame["item"].unique(maintain_order=True))]
    file.write_text("\n".join(lines) + "\n")
    release = same_release(GeneralizeByCount(k=3, categories=file), history, spark, tmp_path)
    assert set(release.statement.notes["categories"]) == {f"shelf{at}" for at in range(4)}
    # who attacks it compares categories with categories
    places = tmp_path / "original", tmp_path / "release"
    attack_folder(*places, "jaccard", tmp_path / "guesses", engine=master, schema=history.schema)
    found = pl.read_parquet(tmp_path / "guesses" / "jaccard.parquet")
    alone = noren.attack(history, release, "jaccard").pairs
    assert found.equals(alone.select(found.columns))
    assert (alone["score"] > 0).any()


def test_more_people_asked_for_than_there_are(spark, tmp_path: Path) -> None:
    method = GeneralizeByCount(k=400)
    lying = on_cluster(bare(), spark, tmp_path / "original")
    with pytest.raises(ParameterError, match="k = 400 needs at least 400 customers, but there are 41"):
        plan_of(method).run(method, lying, seed=1)
