"""Roles that a user declares, by keyword or by column: they decide the kind, and the data decide the types."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

from noren.data.reading import as_records, roles_by_column
from noren.data.schema import Kind, Role, Schema
from noren.errors import FileError, NorenError, ParameterError, SchemaError

ROWS = {
    "会員": ["c1", "c2", "c1", "c3", "c2", "c3"],
    "いつ": [f"2024-01-0{day}" for day in (1, 2, 3, 4, 5, 6)],
    "code": [10, 11, 10, 12, 11, 10],
    "yen": [100, 250, 100, 80, 250, 100],
    "memo": list("abcabc"),
}


def described(data: Any, schema: Any = None, **decided: Any) -> list[tuple[str, str, str]]:
    return [(c.name, str(c.role), str(c.type)) for c in as_records(data, schema, **decided).schema.columns]


def test_roles_by_keyword_override_the_guess() -> None:
    roles = roles_by_column({"customer": "memo", "item": "code", "identifier": ["会員"]})
    assert described(ROWS, roles=roles) == [
        ("会員", "identifier", "text"),
        ("いつ", "date", "date"),
        ("code", "item", "text"),
        ("yen", "price", "decimal"),
        ("memo", "customer", "text"),
    ]


BY_COLUMN = {"会員": "customer", "いつ": "date", "yen": "price"}
TYPED = [("会員", "customer", "text"), ("いつ", "date", "date"), ("yen", "price", "decimal")]


def test_roles_by_column_are_a_schema_of_frames_and_files(tmp_path: Path) -> None:
    pl.DataFrame(ROWS).write_csv(tmp_path / "rows.csv")
    for data in (
        ROWS,
        pd.DataFrame(ROWS),
        pl.DataFrame(ROWS).lazy(),
        pl.DataFrame(ROWS).to_arrow(),
        tmp_path / "rows.csv",
    ):
        for schema in (BY_COLUMN, Schema.of(BY_COLUMN)):
            assert described(data, schema) == TYPED
    assert as_records(ROWS, BY_COLUMN)["date"][0] == dt.date(2024, 1, 1)


def test_a_table_takes_types_from_the_data_unless_one_is_declared() -> None:
    people = {"age": [31, 44], "zip": [12345, 54321], "ill": ["flu", "none"]}
    schema = Schema.of({"age": "quasi", "zip": {"role": "quasi", "type": "text"}, "ill": "sensitive"})
    assert schema.kind == Kind.TABLE
    assert schema.untyped == ("age", "ill")
    assert described(people, schema) == [
        ("age", "quasi", "integer"),
        ("zip", "quasi", "text"),
        ("ill", "sensitive", "text"),
    ]
    assert Schema.from_toml(schema.to_toml()) == schema
    with pytest.raises(SchemaError, match="column zip: the schema custom does not describe this column; add it"):
        as_records(people, {"age": "quasi", "ill": "sensitive"})


def test_a_column_may_be_called_like_a_setting() -> None:
    assert Schema.of({"name": "identifier", "kind": "quasi"}).names == ("name", "kind")
    with pytest.raises(SchemaError, match="columns: Field required"):
        Schema.of({"name": "people", "kind": "table"})


def test_a_guess_from_python(tmp_path: Path) -> None:
    assert Schema.guess(ROWS, customer="会員").role(Role.CUSTOMER).name == "会員"
    assert Schema.guess(ROWS, kind="table", sensitive="yen")["yen"].role == Role.SENSITIVE
    pl.DataFrame(ROWS).write_csv(tmp_path / "rows.csv")
    assert Schema.guess(tmp_path / "rows.csv", customer="会員").guessed


@pytest.mark.parametrize(
    ("roles", "message"),
    [
        ({"custmer": "会員"}, r"there is no role 'custmer' \(did you mean customer\?\); name columns by their roles"),
        ({"customer": "会"}, "the data has no column '会'"),
        ({"customer": "会員", "price": ["yen", "nothing"]}, "the data has no column 'nothing'"),
        (
            {"customer": "会員", "date": "code"},
            "column code: the values are read as integer and cannot be the date; convert",
        ),
        (
            {"customer": "会員", "quantity": "memo"},
            "column memo: the values are read as text and cannot be the quantity",
        ),
        (
            {"customer": "会員", "item": "会員"},
            "column '会員' is named for the roles customer and item; name it for one",
        ),
    ],
)
def test_a_wrong_role_is_said(roles: dict[str, Any], message: str) -> None:
    with pytest.raises(NorenError, match=message):
        as_records(ROWS, roles=roles_by_column(roles))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"schema": {"会員": "custmer"}}, r"column 会員: role: there is no role 'custmer' \(did you mean customer\?\)"),
        ({"schema": {"会員": "customer", "yenn": "price"}}, "the data has no column 'yenn'"),
        ({"schema": 5}, "int is not a schema; give a preset's name, a TOML file, roles by column"),
        ({"schema": {}}, "columns: .*; correct the schema"),
        ({"kind": "tabel"}, "there is no kind 'tabel'; use one of history, table"),
        (
            {"kind": "table", "roles": {"会員": Role.CUSTOMER}},
            "rows that are people have no customer column; omit the customer",
        ),
    ],
)
def test_a_wrong_schema_is_said(how: dict[str, Any], message: str) -> None:
    with pytest.raises(SchemaError, match=message):
        as_records(ROWS, **how)


def test_the_index_of_pandas_is_named() -> None:
    with pytest.raises(
        SchemaError, match="'会員' is the index of the pandas frame, which is not read; make it a column"
    ):
        as_records(pd.DataFrame(ROWS).set_index("会員"), roles={"会員": Role.CUSTOMER})


def test_lengths_of_time_are_refused_with_their_column() -> None:
    frame = pd.DataFrame(ROWS).assign(stay=pd.to_timedelta(range(6), unit="h"))
    with pytest.raises(NorenError, match=r"column stay, .*: this is neither a text nor a number"):
        as_records(frame, roles={"会員": Role.CUSTOMER})


def test_a_path_that_is_not_there() -> None:
    with pytest.raises(FileError, match="there is no such file"):
        as_records("nowhere.csv", BY_COLUMN)
    with pytest.raises(ParameterError, match="there is no role 'rows'"):
        Schema.guess(ROWS, rows="x")


def test_a_column_that_has_a_role_is_not_taken_for_the_customer() -> None:
    rows = {"customer": ["a", "a", "b"], "client": ["x", "y", "x"], "price": [1.5, 2.0, 3.0]}
    assert described(rows, roles={"customer": Role.ITEM})[:2] == [
        ("customer", "item", "text"),
        ("client", "customer", "text"),
    ]
    with pytest.raises(SchemaError, match="no column can be the customer"):
        as_records({"customer": ["a", "a", "b"], "price": [1.5, 2.0, 3.0]}, roles={"customer": Role.ITEM})
