"""Texts and foreign types become the schema's types, or the first cell that does not fit is named."""

from __future__ import annotations

import datetime as dt
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.data.strategies import FORMATS, values

from noren.data.formats.parse import CellPlace, in_calendar, parse_values
from noren.data.formats.render import file_text, value_text
from noren.data.schema import Column, Schema, ValueType
from noren.errors import ValueInCellError


def one(about: dict[str, object]) -> Schema:
    return Schema.of({"kind": "table", "columns": {"x": about}})


def text(kind: str, *texts: str | None, **about: object) -> list[Any]:
    schema = one({"type": kind, "optional": True, **about})
    return parse_values(pl.DataFrame({"x": texts}, schema={"x": pl.String}), schema)["x"].to_list()


def foreign(kind: str, given_: pl.Series, **about: object) -> list[Any]:
    return parse_values(given_.to_frame("x"), one({"type": kind, "optional": True, **about}))["x"].to_list()


def test_texts() -> None:
    assert text("text", "a", "", None, " ", "007", "*") == ["a", None, None, " ", "007", "*"]


def test_whole_numbers() -> None:
    assert text("integer", "12", "-3", "+4", "007", "12.0", "12.000", "", "9" * 18) == [
        12,
        -3,
        4,
        7,
        12,
        12,
        None,
        10**18 - 1,
    ]
    for bad in ("1.5", "1e3", "12.", "1,000", " 1", "1 ", "0x1F", "--1", "9" * 19, "१", "１", ".0", "nan", "true"):
        with pytest.raises(ValueInCellError, match="this is not a whole number; write it like 12"):
            text("integer", bad)


def test_decimal_numbers() -> None:
    assert text("decimal", "2.10", "2.", ".5", "-1e3", "+1E-2", "007", "", "1e308") == [
        2.1,
        2.0,
        0.5,
        -1000.0,
        0.01,
        7.0,
        None,
        1e308,
    ]
    for bad in ("1,5", "1_000", "NaN", "inf", "1e", "e5", ".", "1e1000", "１.５", "1.2.3"):
        with pytest.raises(ValueInCellError, match=r"this is not a finite number; write it like 2\.10"):
            text("decimal", bad)
    with pytest.raises(ValueInCellError, match="'inf': this is not a finite number"):
        text("decimal", "1e999")


def test_days() -> None:
    day = dt.date(2010, 12, 1)
    assert text("date", "2010/12/1", "2010/12/01", "2010-12-1", "2010-12-01", "") == [day] * 4 + [None]
    assert text("date", "01.12.2010", format="%d.%m.%Y") == [day]
    assert text("date", "2010年12月1日", format="%Y年%m月%d日") == [day]
    assert text("date", "0001/1/1", "9999/12/31") == [dt.date.min, dt.date.max]
    for bad in ("2010/13/1", "2011/2/29", "0000/1/1", "2010/12/1 8:00", "12/1/2010", "20101201", "10000/1/1", "-1/1/1"):
        with pytest.raises(ValueInCellError, match="not a valid date written as YYYY/MM/DD or YYYY-MM-DD; write"):
            text("date", bad)
    with pytest.raises(ValueInCellError, match=r"written as DD\.MM\.YYYY"):
        text("date", "2010/12/1", format="%d.%m.%Y")


def test_times() -> None:
    assert text("time", "8:45", "08:45:30", "23:59:59.5") == [
        dt.time(8, 45),
        dt.time(8, 45, 30),
        dt.time(23, 59, 59, 500_000),
    ]
    for bad in ("24:00", "8:60", "8", "8.45", "845"):
        with pytest.raises(ValueInCellError, match="this is not a valid time written as HH:MM or HH:MM:SS"):
            text("time", bad)


def test_moments() -> None:
    moment = dt.datetime(2010, 12, 1, 8, 45)
    spelled = ("2010/12/1 8:45", "2010-12-01 08:45", "2010-12-01T08:45:00", "2010/12/01T8:45:00.000")
    assert text("datetime", *spelled) == [moment] * 4
    with pytest.raises(ValueInCellError, match="this is not a valid datetime written as YYYY-MM-DD HH:MM:SS"):
        text("datetime", "2010-12-01")


@given(kind=st.sampled_from(ValueType), data=st.data())
def test_what_is_written_is_read_back(kind: ValueType, data: st.DataObject) -> None:
    column = Column(name="x", type=kind, format=data.draw(st.sampled_from(FORMATS.get(kind, (None,)))))
    given_ = data.draw(st.lists(values(kind), min_size=1, max_size=5))
    frame = pl.DataFrame({"x": pl.Series(given_, dtype=column.dtype)})
    schema = Schema(kind="table", columns=(column,))
    assert parse_values(frame.select(file_text(pl.col("x"), column).alias("x")), schema)["x"].to_list() == given_
    if column.format is None:
        assert parse_values(frame.select(value_text(pl.col("x"), column).alias("x")), schema)["x"].to_list() == given_


# --- rules -----------------------------------------------------------------------------------------------------------


def test_the_first_bad_cell_is_named_with_its_row() -> None:
    schema = Schema.of({"kind": "table", "columns": {"a": {"type": "integer", "minimum": 0}, "b": {"type": "decimal"}}})
    block = pl.DataFrame({"a": ["1", "-2", "-3"], "b": ["x", "y", "1"]})
    with pytest.raises(ValueInCellError, match=r"^T\.csv, row 101, column b, 'x': this is not a finite number"):
        parse_values(block, schema, CellPlace("T.csv", 101))
    with pytest.raises(ValueInCellError, match=r"^T\.csv, row 102, column a, '-2': the value must be ≥ 0; correct"):
        parse_values(block.with_columns(b=pl.lit("1")), schema, CellPlace("T.csv", 101))


@pytest.mark.parametrize(
    ("about", "good", "bad", "says"),
    [
        ({"type": "integer"}, 1, None, "the value is missing"),
        ({"type": "decimal", "width": 0.01}, 123456.78, 0.005, "the value must be a multiple of 0.01; round it"),
        ({"type": "decimal", "width": 0.25}, 1e12 + 0.25, 0.3, "a multiple of 0.25"),
        ({"type": "integer", "width": 12}, 24, 25, "a multiple of 12"),
        ({"type": "integer", "minimum": 1}, 1, 0, "must be ≥ 1;"),
        ({"type": "integer", "maximum": 9}, 9, 10, "must be ≤ 9;"),
        (
            {"type": "date", "maximum": dt.date(2011, 1, 1)},
            dt.date(2011, 1, 1),
            dt.date(2011, 1, 2),
            "must be ≤ 2011-01-01",
        ),
        ({"type": "time", "minimum": dt.time(9)}, dt.time(9), dt.time(8, 59), "must be ≥ 09:00:00"),
        ({"domain": ["a", "b"]}, "a", "c", "the value is not in the declared domain (2 values)"),
        ({"type": "decimal"}, -1.5, float("nan"), "this is not a finite number"),
    ],
)
def test_rules(about: dict[str, object], good: object, bad: object, says: str) -> None:
    schema = one(about)
    dtype = schema["x"].dtype
    parse_values(pl.DataFrame({"x": pl.Series([good] * 3, dtype=dtype)}), schema)
    with pytest.raises(ValueInCellError) as caught:
        parse_values(pl.DataFrame({"x": pl.Series([good, bad, bad], dtype=dtype)}), schema)
    assert caught.value.problem.row == 2
    assert says in str(caught.value)


def test_an_optional_cell_may_be_empty() -> None:
    schema = one({"type": "decimal", "minimum": 0, "width": 0.01, "optional": True})
    assert parse_values(pl.DataFrame({"x": [None, 1.5]}), schema)["x"].to_list() == [None, 1.5]


# --- values that are typed already -----------------------------------------------------------------------------------


def test_names_from_numbers() -> None:
    assert foreign("text", pl.Series([12583.0, None, float("nan"), 1.5])) == ["12583", None, None, "1.5"]
    assert foreign("text", pl.Series([7, 8])) == ["7", "8"]
    assert foreign("text", pl.Series(["7", "8.5"]).cast(pl.Decimal(4, 2))) == ["7", "8.50"]
    assert foreign("text", pl.Series(["u", None], dtype=pl.Categorical)) == ["u", None]
    assert foreign("text", pl.Series(["u", "v"], dtype=pl.Enum(["u", "v"]))) == ["u", "v"]
    assert foreign("text", pl.Series(["007", "7", ""])) == ["007", "7", None]
    assert foreign("text", pl.Series([True])) == ["true"]
    assert foreign("text", pl.Series([None, None])) == [None, None]


def test_numbers() -> None:
    assert foreign("integer", pl.Series([1.0, float("nan"), None])) == [1, None, None]
    assert foreign("integer", pl.Series([3], dtype=pl.UInt8)) == [3]
    assert foreign("integer", pl.Series(["12", "3.0"])) == [12, 3]
    assert foreign("decimal", pl.Series([1, 2], dtype=pl.Int32)) == [1.0, 2.0]
    assert foreign("decimal", pl.Series(["2.5"]).cast(pl.Decimal(4, 2))) == [2.5]
    assert foreign("decimal", pl.Series(["2.5"], dtype=pl.Categorical)) == [2.5]


def test_days_and_times() -> None:
    moments = pl.Series([dt.datetime(2010, 12, 1), None])
    assert foreign("date", moments) == [dt.date(2010, 12, 1), None]
    assert foreign("datetime", pl.Series([dt.date(2010, 12, 1)])) == [dt.datetime(2010, 12, 1)]
    assert foreign("datetime", moments.cast(pl.Datetime("ns"))) == [dt.datetime(2010, 12, 1), None]
    assert foreign("time", pl.Series([dt.datetime(1899, 12, 31, 8, 45)])) == [dt.time(8, 45)]  # as Excel has it
    assert foreign("time", pl.Series([dt.time(8, 45)])) == [dt.time(8, 45)]
    assert foreign("date", pl.Series(["2010/12/1"])) == [dt.date(2010, 12, 1)]


def test_the_clock_on_the_wall_is_meant() -> None:
    late = pl.Series([dt.datetime(2010, 12, 1, 0, 30)]).dt.replace_time_zone(
        "Asia/Tokyo"
    )  # the day before in Greenwich
    assert foreign("datetime", late) == [dt.datetime(2010, 12, 1, 0, 30)]
    midnight = pl.Series([dt.datetime(2010, 12, 1)]).dt.replace_time_zone("Asia/Tokyo")
    assert foreign("date", midnight) == [dt.date(2010, 12, 1)]


@pytest.mark.parametrize(
    ("kind", "given_", "shown"),
    [
        ("date", pl.Series([dt.datetime(2010, 12, 1, 8)]), "2010-12-01 08:00:00"),
        ("date", pl.Series([20101201]), "20101201"),
        ("date", pl.Series([dt.time(8)]), "08:00:00"),
        ("time", pl.Series([dt.datetime(2010, 12, 1, 8)]), "2010-12-01 08:00:00"),
        ("integer", pl.Series([1.5]), "1.5"),
        ("integer", pl.Series([1e300]), "1e+300"),
        ("integer", pl.Series([2**64 - 1], dtype=pl.UInt64), "18446744073709551615"),
        ("integer", pl.Series([dt.date(2010, 12, 1)]), "2010-12-01"),
        ("decimal", pl.Series([dt.timedelta(1)]), "1 day, 0:00:00"),
        ("text", pl.Series([["a"]]), "List(String)"),
        ("text", pl.Series([{"lo": 1, "hi": 2}]), "Struct({'lo': Int64, 'hi': Int64})"),
        ("text", pl.Series([b"a"]), "Binary"),
        ("date", pl.Series([2**31 - 1], dtype=pl.Int32).cast(pl.Date), "2147483647"),
        ("date", pl.Series([-719_163], dtype=pl.Int32).cast(pl.Date), "-719163"),
        ("datetime", pl.Series([2**62]).cast(pl.Datetime("us")), "4611686018427387904"),
        ("datetime", pl.Series([-(2**62)]).cast(pl.Datetime("ms", "Asia/Tokyo")), "-4611686018427387904"),
    ],
)
def test_what_does_not_fit_is_named(kind: str, given_: pl.Series, shown: str) -> None:
    with pytest.raises(ValueInCellError) as caught:
        foreign(kind, given_)
    assert caught.value.problem.value == shown
    assert caught.value.problem.row == 1


def test_the_calendar_ends_where_years_have_four_digits() -> None:
    days = pl.Series("x", [-719_163, -719_162, 2_932_896, 2_932_897], dtype=pl.Int32).cast(pl.Date)
    assert in_calendar(days).to_list() == [None, dt.date.min, dt.date.max, None]
    ticks = pl.Series("x", [-62_135_596_800_001, -62_135_596_800_000, 253_402_300_799_999, 253_402_300_800_000])
    kept = in_calendar(ticks.cast(pl.Datetime("ms"))).to_list()
    assert kept == [None, dt.datetime.min, dt.datetime(9999, 12, 31, 23, 59, 59, 999_000), None]
    nanoseconds = pl.Series("x", [-(2**63), 2**63 - 1]).cast(pl.Datetime("ns"))
    assert in_calendar(nanoseconds).null_count() == 0
