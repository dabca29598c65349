"""Periods have names that people may write in several ways, and each has one that follows."""

from datetime import date, timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.data.periods import Calendar, periods_of
from noren.errors import ParameterError
from noren.ledger.incoming import CALENDARS, folder_name, named, next_period

BY = st.sampled_from(list(CALENDARS))


@given(st.dates(date(1990, 1, 1), date(2090, 1, 1)), BY)
def test_the_next_period_is_the_first_other_one_that_comes(day: date, by: Calendar) -> None:
    days = pl.Series([day + timedelta(days=n) for n in range(100)])
    names = periods_of(days, by).unique(maintain_order=True).to_list()
    assert next_period(names[0], by) == names[1]


@given(st.dates(date(1990, 1, 1), date(2090, 1, 1)), BY)
def test_a_name_means_itself(day: date, by: Calendar) -> None:
    name = periods_of(pl.Series([day]), by)[0]
    assert named(name, by) == name
    assert named(folder_name(name), by) == name


@pytest.mark.parametrize(
    ("text", "by", "name"),
    [("2011/01", "month", "2011/1"), (" 2011-1 ", "month", "2011/1"), ("2011-q4", "quarter", "2011/Q4"),
     ("2011W05", "week", "2011/W5")],
)  # fmt: skip
def test_other_spellings(text: str, by: Calendar, name: str) -> None:
    assert named(text, by) == name


@pytest.mark.parametrize(
    ("text", "by"),
    [("2011/13", "month"), ("2011/0", "month"), ("2011/W5", "month"), ("January", "month"), ("2011/Q5", "quarter"),
     ("2011/W53", "week"), ("0000/1", "month"), ("", "week")],
)  # fmt: skip
def test_what_is_no_period(text: str, by: Calendar) -> None:
    with pytest.raises(ParameterError, match=r"is not a period.* write it like 2011/"):
        named(text, by)
