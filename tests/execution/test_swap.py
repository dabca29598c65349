"""The rows that change hands on a cluster are those that do on one machine."""

from pathlib import Path

from tests.execution.histories import bare, wide
from tests.execution.sameness import same_release

from noren.methods.swap import Swap


def test_a_share_of_the_pairs(spark, tmp_path: Path) -> None:
    release = same_release(Swap(share=0.4), wide(), spark, tmp_path)
    assert release.statement.notes["changed_hands"] == 0.4


def test_without_dates_and_all_that_can_be(spark, tmp_path: Path) -> None:
    release = same_release(Swap(share=1), bare(), spark, tmp_path)
    assert release.statement.notes["missing_columns"] == ["date"]
