"""Rows that are added on a cluster are those that one machine adds."""

from pathlib import Path

from tests.execution.histories import bare, wide
from tests.execution.sameness import same_release

from noren.methods.pseudo_records import PseudoRecords


def test_rows_are_added_on_the_nearest_visit(spark, tmp_path: Path) -> None:
    release = same_release(PseudoRecords(clusters=8, effort="quick"), wide(), spark, tmp_path)
    assert release.inserted_rows == release.statement.notes["added_rows"] > 100


def test_likeness_and_no_dates(spark, tmp_path: Path) -> None:
    same_release(PseudoRecords(clusters=5, variant="repaired"), bare(), spark, tmp_path)
