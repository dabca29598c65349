"""Days and times as people write them, Japanese eras among them."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.data.formats.parse import parse_values
from noren.data.formats.render import file_text
from noren.data.guessing import Question
from noren.data.guessing.column_types import guess_type
from noren.data.schema import Column, Schema
from noren.data.value_formats import DATE_FORMATS, ERA_FORMATS, EXCEL, YEAR_LAST_FORMATS, moment_text, moment_value

DAY, MOMENT = dt.date(2018, 4, 1), dt.datetime(2024, 3, 1, 10, 22)


def understood(*texts: str) -> tuple[Column, list[object]]:
    """Guess a column and read it by the guess."""
    questions: list[Question] = []
    column = guess_type(pl.Series("x", texts), questions)
    assert not questions
    return column, parse_values(pl.DataFrame({"x": texts}), Schema(kind="table", columns=(column,)))["x"].to_list()


@pytest.mark.parametrize(
    ("texts", "pattern", "value"),
    [
        (["01-Apr-2018", "1-apr-2018"], "%d-%b-%Y", DAY),
        (["1 Apr 2018"], "%d %b %Y", DAY),
        (["Apr 1, 2018"], "%b %d, %Y", DAY),
        (["April 1, 2018", "Apr 1, 2018"], "%B %d, %Y", DAY),
        (["2018.4.1"], "%Y.%m.%d", DAY),
        (["２０１８／４／１"], "%Y/%m/%d", DAY),
        (["平成30年4月1日"], "%EY%m月%d日", DAY),
        (["平成３０年４月１日"], "%EY%m月%d日", DAY),
        (["H30.4.1", "h30.4.1", "H30/4/1"], "%Ey.%m.%d", DAY),
        (["㍻30.4.1"], "%EY%m月%d日", DAY),
        (["平成30年4月1日", "2018/4/1"], "%EY%m月%d日", DAY),
    ],
)
def test_days(texts: list[str], pattern: str, value: dt.date) -> None:
    column, values = understood(*texts)
    assert (str(column.type), column.format) == ("date", pattern)
    assert values == [value] * len(texts)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("明治元年10月23日", dt.date(1868, 10, 23)),
        ("T15.12.24", dt.date(1926, 12, 24)),
        ("昭和64年1月7日", dt.date(1989, 1, 7)),
        ("平成元年1月8日", dt.date(1989, 1, 8)),
        ("平成31年5月1日", dt.date(2019, 5, 1)),  # as forms printed earlier have it
        ("令和元年5月1日", dt.date(2019, 5, 1)),
        ("R6.4.1", dt.date(2024, 4, 1)),
        ("R6.2.30", None),
        ("令和0年1月1日", None),
        ("X6.4.1", None),
    ],
)
def test_eras(text: str, value: dt.date | None) -> None:
    assert pl.select(moment_value(pl.lit(text), "date", "%Ey.%m.%d")).item() == value


@pytest.mark.parametrize(
    ("texts", "kind", "pattern", "values"),
    [
        (["2024/3/1 10:22"], "datetime", "%Y/%m/%d %H:%M", [MOMENT]),
        (["2024-03-01T10:22:33.5Z"], "datetime", "%Y-%m-%dT%H:%M:%S%z", [dt.datetime(2024, 3, 1, 10, 22, 33, 500000)]),
        (["2024-03-01T10:22:00+09:00", "2024-03-01T10:22:00Z"], "datetime", "%Y-%m-%dT%H:%M:%S%z", [MOMENT] * 2),
        (["2024/3/1 10:22", "2024/3/1 10:22:33"], "datetime", "%Y/%m/%d %H:%M:%S", [MOMENT, MOMENT.replace(second=33)]),
        (["2024/3/1 10:22", "2024-03-01T10:22"], "datetime", None, [MOMENT] * 2),
        (["3/14/2024 10:22 AM"], "datetime", "%m/%d/%Y %I:%M %p", [MOMENT.replace(day=14)]),
        # offsets are left out, whatever they are: the clock on the wall counts
        (["Fri Mar 01 10:22:00 +0000 2024", "Fri Mar  1 10:22:00 +0900 2024"], "datetime",
         "%a %b %d %H:%M:%S %z %Y", [MOMENT] * 2),
        (["Fri Mar  1 10:22:00 JST 2024"], "datetime", "%a %b %d %H:%M:%S %z %Y", [MOMENT]),
        (["Fri Mar  1 10:22:00 2024"], "datetime", "%a %b %d %H:%M:%S %Y", [MOMENT]),
        (["Fri, 01 Mar 2024 10:22:00 +0000", "Fri, 1 Mar 2024 10:22:00 -0500 (EST)", "Fri, 01 Mar 2024 10:22:00 GMT"],
         "datetime", "%a, %d %b %Y %H:%M:%S%z", [MOMENT] * 3),
        (["1 Mar 2024 10:22:00 +0000"], "datetime", "%d %b %Y %H:%M:%S%z", [MOMENT]),
        (["Fri, 1 Mar 2024"], "date", "%a, %d %b %Y", [MOMENT.date()]),
        (["3:05 PM", "12:05 am"], "time", "%I:%M %p", [dt.time(15, 5), dt.time(0, 5)]),
        (["15時5分"], "time", "%H時%M分", [dt.time(15, 5)]),
        (["8:45", "8:45:30"], "time", "%H:%M:%S", [dt.time(8, 45), dt.time(8, 45, 30)]),
    ],
)  # fmt: skip
def test_moments_and_times(texts: list[str], kind: str, pattern: str | None, values: list[object]) -> None:
    column, found = understood(*texts)
    assert (str(column.type), column.format) == (kind, pattern)
    assert found == values


def test_a_weekday_that_the_date_does_not_have_makes_a_text() -> None:
    assert str(guess_type(pl.Series("when", ["Tue May 22 12:42:28 +0000 2012"]), []).type) == "datetime"
    assert str(guess_type(pl.Series("when", ["Mon May 22 12:42:28 +0000 2012"]), []).type) == "text"


@given(moments=st.lists(st.datetimes(dt.datetime(1000, 1, 1)), min_size=1, max_size=5))
def test_moments_with_the_year_last_are_written_as_they_are_read(moments: list[dt.datetime]) -> None:
    values = pl.DataFrame({"x": moments})
    for pattern in (*YEAR_LAST_FORMATS, "%a, %d %b %Y %H:%M:%S%z"):
        texts = values.select(moment_text(pl.col("x"), "datetime", pattern).alias("x"))
        assert texts.select(moment_value(pl.col("x"), "datetime", pattern)).to_series().to_list() == moments


def test_day_or_month_first_is_asked_of_moments_too() -> None:
    questions: list[Question] = []
    assert guess_type(pl.Series("when", ["3/4/2011 10:22"]), questions).format == "%d/%m/%Y %H:%M"
    assert [(q.about, [a.value for a in q.answers]) for q in questions] == [
        ("format", ["%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M"])
    ]


@given(days=st.lists(st.dates(dt.date(1900, 3, 1)), min_size=1, max_size=5))
def test_days_are_written_as_they_are_read(days: list[dt.date]) -> None:
    values = pl.DataFrame({"x": days})
    for pattern in (*DATE_FORMATS, *ERA_FORMATS, EXCEL):
        if "%y" in pattern:
            continue  # two digits tell no century
        texts = values.select(moment_text(pl.col("x"), "date", pattern).alias("x"))
        assert texts.select(moment_value(pl.col("x"), "date", pattern)).to_series().to_list() == days


@given(moments=st.lists(st.datetimes(dt.datetime(1000, 1, 1)), min_size=1, max_size=5))
def test_moments_with_and_without_seconds_are_guessed_back(moments: list[dt.datetime]) -> None:
    moments = [moments[0].replace(second=0, microsecond=0), *moments]
    column = Column(name="x", type="datetime")
    texts = pl.DataFrame({"x": moments}).select(file_text(pl.col("x"), column).alias("x"))
    found, values = understood(*texts["x"])
    assert str(found.type) == "datetime"
    assert values == moments


def test_days_as_numbers_in_typed_files() -> None:
    for values, name, pattern in (
        (pl.Series([20240301, None]), "x", "%Y%m%d"),
        (pl.Series([45352, None]), "購入日", EXCEL),
        (pl.Series([45352.0, None]), "InvoiceDate", EXCEL),
    ):
        column = guess_type(values.alias(name), [])
        assert (str(column.type), column.format) == ("date", pattern)
        frame = parse_values(values.to_frame(name), Schema(kind="table", columns=(column,)))
        assert frame[name].to_list() == [dt.date(2024, 3, 1), None]
    # a number of days is no day, and neither is a number that no calendar has
    assert str(guess_type(pl.Series("stock", [45352]), []).type) == "integer"
    assert str(guess_type(pl.Series("x", [20240301, 20240399]), []).type) == "integer"


def test_a_spreadsheets_moment_is_meant_to_the_millisecond() -> None:
    column = guess_type(pl.Series("date", ["45352.432291666664"]), [])
    assert (str(column.type), column.format) == ("datetime", EXCEL)
    read = pl.select(moment_value(pl.lit("45352.432291666664"), "datetime", EXCEL)).item()
    assert read == dt.datetime(2024, 3, 1, 10, 22, 30)


def test_two_digits_are_no_year_of_the_first_century() -> None:
    questions: list[Question] = []
    assert guess_type(pl.Series("x", ["4/1/18", "12/31/17"]), questions).format == "%m/%d/%y"
    assert guess_type(pl.Series("x", ["31/12/99"]), questions).format == "%d/%m/%y"
    assert questions == []
    assert guess_type(pl.Series("x", ["4/1/18"]), questions).format == "%d/%m/%y"
    assert [a.value for a in questions[0].answers] == ["%d/%m/%y", "%m/%d/%y"]
