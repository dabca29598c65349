"""Noise on a cluster is the noise of one machine."""

from datetime import date
from pathlib import Path

from tests.execution.histories import uneven, wide
from tests.execution.sameness import same_release

from noren.methods.perturb import Perturb


def test_whole_baskets_blanks_and_packs(spark, tmp_path: Path) -> None:
    same_release(Perturb(days=5, whole_baskets=True, packs=2), wide(), spark, tmp_path)


def test_periods_of_ones_own(spark, tmp_path: Path) -> None:
    history = uneven()
    days = history.frame["date"].drop_nulls().sort()
    starts = [date(2000, 1, 1), days[len(days) // 2]]
    same_release(Perturb(days=40, period="custom", starts=starts), history, spark, tmp_path)
