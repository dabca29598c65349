"""Schemas: what the presets say, what a TOML file may say, and back to the same TOML."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from tests.data.strategies import schemas

from noren.data.schema import PRESETS, Column, Kind, Role, Scale, Schema, TextLayout, ValueType
from noren.errors import FileError, SchemaError, UnknownNameError

COLUMNS = {
    "pwscup2016": "customer invoice date time item price quantity",
    "pwscup2017": "customer invoice date time item price quantity",
    "pwscup2018": "customer date item price quantity",
    "online-retail": "InvoiceNo StockCode Description Quantity InvoiceDate UnitPrice CustomerID Country",
    "adult": "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country salary-class",
}


@pytest.mark.parametrize("name", COLUMNS)
def test_the_columns_of_the_presets(name: str) -> None:
    assert Schema.preset(name).names == tuple(COLUMNS[name].split())


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_a_schema_like_any_other(name: str) -> None:
    schema = Schema.preset(name)
    assert schema.name == name
    assert schema.official == (name if name.startswith("pwscup") else None)
    assert Schema.load(name) == schema
    assert Schema.from_toml(schema.to_toml()) == schema


def test_a_preset_of_a_contest() -> None:
    schema = Schema.preset("pwscup2018")
    assert [c.scale for c in schema.columns] == ["nominal", "interval", "nominal", "ratio", "ratio"]
    assert [c.grid for c in schema.columns] == [1.0, 1.0, 1.0, 0.01, 1.0]
    assert [c.dtype for c in schema.columns] == [pl.String, pl.Date, pl.String, pl.Float64, pl.Int64]
    assert schema.text == TextLayout(delimiter=",", header=False, encoding="utf-8")
    assert schema.role("price").name == "price"
    assert [c.name for c in schema.with_role("item", Role.DATE)] == ["date", "item"]
    assert schema.without(["price", "quantity"]).names == ("customer", "date", "item")


def test_the_preset_of_a_table() -> None:
    schema = Schema.preset("adult")
    assert schema.kind == Kind.TABLE
    assert schema.role("sensitive").name == "salary-class"
    assert len(schema.with_role("quasi")) == 9
    assert schema["sex"].domain == ("Female", "Male")
    assert (schema["age"].minimum, schema["age"].maximum) == (17, 90)


@pytest.mark.parametrize(
    ("about", "kind", "scale", "grid"),
    [
        ({"role": "price"}, ValueType.DECIMAL, Scale.RATIO, 0.01),
        ({"role": "quantity"}, ValueType.INTEGER, Scale.RATIO, 1.0),
        ({"role": "date"}, ValueType.DATE, Scale.INTERVAL, 1.0),
        ({"role": "time"}, ValueType.TIME, Scale.INTERVAL, 1.0),
        ({"role": "customer"}, ValueType.TEXT, Scale.NOMINAL, 1.0),
        ({"role": "quasi"}, ValueType.TEXT, Scale.NOMINAL, 1.0),
        ({"role": "quasi", "scale": "ratio"}, ValueType.DECIMAL, Scale.RATIO, 0.01),
        ({"role": "quasi", "scale": "interval"}, ValueType.DATE, Scale.INTERVAL, 1.0),
        ({"role": "quasi", "scale": "nominal"}, ValueType.TEXT, Scale.NOMINAL, 1.0),
        ({"role": "date", "type": "datetime", "scale": "interval"}, ValueType.DATETIME, Scale.INTERVAL, 1.0),
        ({"type": "decimal", "width": 0.5}, ValueType.DECIMAL, Scale.RATIO, 0.5),
        ({}, ValueType.TEXT, Scale.NOMINAL, 1.0),
    ],
)
def test_the_role_decides_the_type_and_the_scale_stands_for_it(
    about: dict[str, object], kind: ValueType, scale: Scale, grid: float
) -> None:
    column = Column(name="x", **about)
    assert (column.type, column.scale, column.grid) == (kind, scale, grid)


def test_bounds_of_every_type() -> None:
    text = """
    kind = "table"
    [columns]
    a = { type = "integer", minimum = 0, maximum = 10 }
    b = { type = "decimal", minimum = 0.5 }
    c = { type = "date", minimum = 2010-12-01, maximum = 2010-12-01 }
    d = { type = "time", maximum = 08:30:00 }
    e = { type = "datetime", minimum = 2010-12-01T08:30:00 }
    """
    schema = Schema.from_toml(text)
    assert [c.minimum for c in schema.columns] == [
        0.0,
        0.5,
        dt.date(2010, 12, 1),
        None,
        dt.datetime(2010, 12, 1, 8, 30),
    ]
    assert [c.maximum for c in schema.columns] == [10.0, None, dt.date(2010, 12, 1), dt.time(8, 30), None]
    assert Schema.from_toml(schema.to_toml()) == schema


@given(schema=schemas())
def test_a_schema_comes_back_from_its_toml(schema: Schema) -> None:
    assert Schema.from_toml(schema.to_toml()) == schema


def test_columns_as_a_list_keep_their_order() -> None:
    given_ = {"kind": "table", "columns": [{"name": "b"}, {"name": "a", "role": "quasi"}]}
    assert Schema.of(given_).names == ("b", "a")
    with pytest.raises(SchemaError, match=r"^column a: type: "):
        Schema.of({"kind": "table", "columns": [{"name": "b"}, {"name": "a", "type": "x"}]})
    with pytest.raises(SchemaError, match="two columns are named 'a'; rename one"):
        Schema.of({"kind": "table", "columns": [{"name": "a"}, {"name": "a"}]})
    with pytest.raises(SchemaError, match=r"^column : "):
        Schema.of({"kind": "table", "columns": [3]})


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("pwscup2028", "there is no schema 'pwscup2028' (did you mean pwscup2018?); use one of pwscup2016, "),
        ("online_retail", "(did you mean online-retail?)"),
        ("zzz", "there is no schema 'zzz'; use one of "),
        ("a\nb", r"there is no schema 'a\nb'; "),
    ],
)
def test_an_unknown_schema_is_answered_with_the_nearest(name: str, says: str) -> None:
    for find in (Schema.preset, Schema.load):
        with pytest.raises(UnknownNameError) as caught:
            find(name)
        assert says in str(caught.value)
        assert str(caught.value).isprintable()


def test_an_unknown_column_is_answered_with_the_nearest() -> None:
    schema = Schema.preset("pwscup2018")
    with pytest.raises(
        SchemaError, match=r"has no column 'prize' \(did you mean price\?\); its columns are customer, date"
    ):
        schema["prize"]
    with pytest.raises(SchemaError, match='no column has the role invoice; give one column role = "invoice"'):
        schema.role("invoice")


def test_a_schema_file_is_found_by_its_path(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text(Schema.preset("adult").to_toml(), encoding="utf-8")
    assert Schema.load(tmp_path / "mine").name == "adult"
    with pytest.raises(FileError, match="the schema cannot be read"):
        Schema.load(tmp_path)
    with pytest.raises(FileError, match="the schema cannot be read"):
        Schema.load("a\0b.toml")


def test_thousands_of_columns_are_no_trouble() -> None:
    columns = {f"c{i}": {"type": "integer"} for i in range(10_000)}
    schema = Schema.of({"kind": "table", "columns": columns})
    assert len(schema.columns) == 10_000
    with pytest.raises(SchemaError, match=r"its columns are c0, c1, .* and 9,980 more"):
        schema["x"]
