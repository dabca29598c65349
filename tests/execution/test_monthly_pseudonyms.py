"""Names that change with the period are the same on a cluster as on one machine."""

from datetime import date, timedelta
from pathlib import Path

import polars as pl
import pytest
from tests.execution.histories import uneven
from tests.execution.sameness import on_cluster, same_release

from noren.data.frames import History
from noren.data.periods import periods_of
from noren.errors import ParameterError
from noren.execution.edits import period_of
from noren.execution.plans import plan_of
from noren.methods.monthly_pseudonyms import MonthlyPseudonyms


def test_blanks_and_nobodys_rows(spark, tmp_path: Path) -> None:
    release = same_release(MonthlyPseudonyms(), uneven(), spark, tmp_path)
    assert release.secret.pseudonyms["period"].null_count() > 1  # rows without a date are a period of their own


def test_periods_have_the_same_names(spark, tmp_path: Path) -> None:
    history = uneven()
    days = pl.Series("date", [date(2008, 12, 25) + timedelta(days=2 * at) for at in range(len(history))])
    dated = History(history.frame.with_columns(days), history.schema)
    lying = on_cluster(dated, spark, tmp_path / "original")
    starts = (date(2008, 12, 1), date(2009, 3, 5), date(2011, 1, 1))
    methods = [MonthlyPseudonyms(period=period) for period in ("month", "week", "quarter")]
    methods.append(MonthlyPseudonyms(period="custom", starts=starts))
    named = lying.frame.select("noren_row", *(period_of(m, lying).alias(m.period) for m in methods)).toArrow()
    names = pl.DataFrame(pl.from_arrow(named)).sort("noren_row")
    for by in ("month", "week", "quarter"):
        assert names[by].to_list() == periods_of(days, by).to_list()
    assert names["custom"].to_list() == periods_of(days, list(starts)).to_list()


def test_a_period_in_which_nothing_happens(spark, tmp_path: Path) -> None:
    method = MonthlyPseudonyms(period="custom", starts=[date(2000, 1, 1), date(2001, 1, 1)])
    lying = on_cluster(uneven(), spark, tmp_path / "original")
    with pytest.raises(ParameterError, match="no row falls in the period that begins on 2000-01-01"):
        plan_of(method).run(method, lying, seed=1)
