"""The one canonical spelling of every value and cell."""

from __future__ import annotations

import datetime as dt
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.data.formats.render import cell_text, file_text, lines_of, value_text
from noren.data.schema import Column


def spelled(values: list[Any], **about: Any) -> list[str | None]:
    column = Column(name="x", **about)
    frame = pl.DataFrame({"x": pl.Series(values, dtype=column.dtype)})
    return frame.select(value_text(pl.col("x"), column))["x"].to_list()


def test_numbers_have_no_idle_zeros() -> None:
    numbers = [2.1, 2.10, 3.0, 0.001, 0.1 + 0.2, 100.0, -0.5, 1e-7, 1.2345678e-8, 1e16, -1e17, 1e22, 5e-324, None]
    assert spelled(numbers, type="decimal") == [
        *("2.1", "2.1", "3", "0.001", "0.30000000000000004", "100", "-0.5"),
        *("0.0000001", "1.2345678e-8", "10000000000000000", "-100000000000000000", "1e+22", "5e-324", None),
    ]
    assert spelled([12, -3, None], type="integer") == ["12", "-3", None]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_spelling_of_a_number_is_that_number(number: float) -> None:
    [text] = spelled([number], type="decimal")
    assert text is not None
    assert float(text) == number


def test_days_and_times() -> None:
    assert spelled([dt.date(2010, 12, 1), dt.date(2011, 1, 31), None], type="date") == ["2010/12/1", "2011/1/31", None]
    assert spelled([dt.time(8, 45), dt.time(0), dt.time(8, 5, 9), dt.time(8, 5, 0, 250_000)], type="time") == [
        *("8:45", "0:00", "8:05:09", "8:05:00.250")
    ]
    moments = [dt.datetime(2010, 12, 1, 8, 45), dt.datetime(2010, 12, 1, 8, 45, 1), dt.datetime(5, 1, 1)]
    assert spelled(moments, type="datetime") == ["2010/12/1 8:45", "2010/12/1 8:45:01", "0005/1/1 0:00"]


@pytest.mark.parametrize(
    ("value", "about", "text"),
    [
        (dt.date(2010, 12, 1), {"type": "date", "format": "%d.%m.%Y"}, "01.12.2010"),
        (dt.date(2010, 12, 1), {"type": "date", "format": "%Y/%m/%d"}, "2010/12/1"),
        (dt.date(2010, 12, 1), {"type": "date"}, "2010/12/1"),
        (dt.time(8, 45), {"type": "time", "format": "%H:%M"}, "8:45"),
        (dt.time(8, 45), {"type": "time", "format": "%H:%M:%S"}, "08:45:00"),
        (dt.datetime(2010, 12, 1, 8, 45), {"type": "datetime", "format": "%Y-%m-%dT%H:%M"}, "2010-12-01T08:45"),
        (2.1, {"type": "decimal"}, "2.1"),
        ("x", {}, "x"),
    ],
)
def test_a_file_spells_dates_by_the_format_of_its_schema(value: object, about: dict[str, Any], text: str) -> None:
    column = Column(name="x", **about)
    assert pl.DataFrame({"x": [value]}).select(file_text(pl.col("x"), column)).item() == text


def test_cells() -> None:
    price, item = Column(name="x", role="price"), Column(name="x", role="item")

    def spelled_cells(cells: pl.Series, column: Column) -> list[str | None]:
        return cells.to_frame("x").select(cell_text(pl.col("x"), column, cells.dtype)).to_series().to_list()

    ranges = pl.Series([{"lo": 2.1, "hi": 2.5}, {"lo": 3.0, "hi": 3.0}, None])
    sets = pl.Series([["b", "a"], ["a"], None], dtype=pl.List(pl.Enum(["a", "b"])))
    assert spelled_cells(ranges, price) == ["[2.1;2.5]", "3", None]
    assert spelled_cells(sets, item) == ["{b;a}", "a", None]
    assert spelled_cells(pl.Series(["a", None]), item) == ["a", None]


def test_lines() -> None:
    assert lines_of(pl.DataFrame({"a": ["1", "2"], "b": ["x", "y"]})).to_list() == ["1,x", "2,y"]
    assert lines_of(pl.DataFrame({"a": ["1"], "b": ["x"]}), "\t").to_list() == ["1\tx"]
