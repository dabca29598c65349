"""Histories and tables."""

from __future__ import annotations

import datetime as dt
import hashlib

import pandas as pd
import polars as pl
import pytest

from noren.data.formats.render import Spelling
from noren.data.frames import History, Table
from noren.data.schema import Role, Schema
from noren.errors import SchemaError, ValueInCellError

SCHEMA = Schema.preset("pwscup2018")
ROWS = {
    "customer": ["b", "a", "b"],
    "date": ["2010/12/1", "2010/12/2", "2010/12/3"],
    "item": ["x", "y", "z"],
    "price": [1.5, 2.0, 2.25],
    "quantity": [1, 2, 3],
}
PEOPLE = Schema.of(
    {"kind": "table", "columns": {"id": {"role": "identifier"}, "age": {"role": "quasi", "type": "integer"}}}
)


def test_a_history_from_plain_data() -> None:
    history = History.of(ROWS, SCHEMA)
    assert len(history) == 3
    assert history.customers.to_list() == ["b", "a"]
    assert history[Role.DATE].to_list() == [dt.date(2010, 12, day) for day in (1, 2, 3)]
    assert history["price"].to_list() == [1.5, 2.0, 2.25]
    assert [c.name for c in history.measured()] == ["date", "item", "price", "quantity"]
    assert history.lines().to_list() == ["b,2010/12/1,x,1.5,1", "a,2010/12/2,y,2,2", "b,2010/12/3,z,2.25,3"]
    assert not history.generalised


def test_a_history_from_pandas() -> None:
    frame = pd.DataFrame(ROWS | {"customer": [12583.0, 7.0, 7.0], "quantity": [1.0, 2.0, 3.0]})
    history = History.of(frame, SCHEMA)
    assert history.customers.to_list() == ["12583", "7"]
    assert history["quantity"].dtype == pl.Int64
    optional = SCHEMA.model_copy(
        update={"columns": tuple(c.model_copy(update={"optional": c.role == Role.CUSTOMER}) for c in SCHEMA.columns)}
    )
    unknown = History.of(frame.assign(customer=[12583.0, None, 7.0]), optional)
    assert unknown["customer"].to_list() == ["12583", None, "7"]
    assert unknown.customers.to_list() == ["12583", "7"]
    with pytest.raises(ValueInCellError, match="row 2, column customer, '': the value is missing"):
        History.of(frame.assign(customer=[12583.0, None, 7.0]), SCHEMA)


def test_customers_that_differ_by_a_zero_are_different_people() -> None:
    history = History.of(ROWS | {"customer": ["007", "7", "07"]}, SCHEMA)
    assert history.customers.to_list() == ["007", "7", "07"]


def test_what_is_missing_is_named() -> None:
    with pytest.raises(SchemaError, match="the data has no column 'item'; its columns are customer, date"):
        History.of({name: ROWS[name] for name in ("customer", "date")}, SCHEMA)
    with pytest.raises(SchemaError, match="the data has no column 'item'"):
        History(pl.DataFrame({"customer": ["a"], "date": ["b"]}), SCHEMA)


def test_shapes_are_not_mixed_up() -> None:
    with pytest.raises(SchemaError, match="the schema custom is of kind table; use a schema of kind history"):
        History(pl.DataFrame({"id": ["a"], "age": [1]}), PEOPLE)
    with pytest.raises(SchemaError, match="the schema pwscup2018 is of kind history; use a schema of kind table"):
        Table(History.of(ROWS, SCHEMA).frame, SCHEMA)


def test_a_table() -> None:
    table = Table.of({"id": ["a", "b"], "age": [30, 31]}, PEOPLE)
    assert table.with_role("quasi", "sensitive").columns == ["age"]
    assert table.lines().to_list() == ["a,30", "b,31"]


def test_generalised_cells_and_deleted_rows_as_text() -> None:
    frame = pl.DataFrame(
        {
            "customer": ["p", None],
            "date": [{"lo": dt.date(2010, 12, 1), "hi": dt.date(2010, 12, 3)}, None],
            "item": pl.Series([["x", "y"], None], dtype=pl.List(pl.Enum(["x", "y"]))),
            "price": pl.Series([None, None], dtype=pl.Float64),
            "quantity": [{"lo": 1, "hi": 1}, None],
        }
    )
    history = History(frame, SCHEMA)
    assert history.generalised
    assert history.lines().to_list() == ["p,[2010/12/1;2010/12/3],{x;y},*,1", "*,*,*,*,*"]
    assert history.lines(suppressed="?").to_list()[1] == "?,?,?,?,?"


def test_rows_are_taken_with_their_spelling() -> None:
    history = History.of(ROWS, SCHEMA)
    odd = {"price": pl.DataFrame({"row": [0], "text": ["1.50"]}, schema_overrides={"row": pl.UInt32})}
    spelled = History(history.frame, SCHEMA, Spelling(exceptions=odd))
    assert spelled.take(pl.Series([2, 0])).lines().to_list() == ["b,2010/12/3,z,2.25,3", "b,2010/12/1,x,1.50,1"]


def test_the_digest_is_that_of_the_lines_whatever_their_spelling() -> None:
    history = History.of(ROWS, SCHEMA)
    expected = hashlib.sha256("".join(f"{line}\n" for line in history.lines()).encode()).hexdigest()
    assert history.digest() == expected
    odd = {"price": pl.DataFrame({"row": [0], "text": ["1.50"]}, schema_overrides={"row": pl.UInt32})}
    assert History(history.frame, SCHEMA, Spelling("\r\n", exceptions=odd)).digest() == expected


def test_the_digest_of_more_rows_than_it_takes_at_once() -> None:
    rows = 2**18 + 3
    table = Table(pl.DataFrame({"id": pl.repeat("a", rows, eager=True), "age": pl.int_range(rows, eager=True)}), PEOPLE)
    lines = "".join(f"a,{i}\n" for i in range(rows)).encode()
    assert table.digest() == hashlib.sha256(lines).hexdigest()
