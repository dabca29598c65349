"""Rows in the order of their text: the same as by writing every line, with blanks, commas and spellings."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples

from noren.data.formats import render
from noren.data.formats.render import Spelling, order_by_text, same_rows, text_numbers
from noren.data.frames import Table
from noren.data.schema import Column, Schema

SCHEMA = Schema.of(
    {
        "kind": "table",
        "columns": {
            "word": {"role": "other", "optional": True},
            "price": {"role": "other", "type": "decimal", "optional": True},
            "day": {"role": "other", "type": "date", "optional": True},
            "last": {"role": "other", "optional": True},
        },
    }
)
WORDS = ["a", "a,", "a,b", "b", "", "!", "a!", "é", "*", None, "a b", "+"]
PRICES = [1.0, 10.0, 2.0, None, -0.0, 0.0, 1.5]
DAYS = ["2010/12/1", "2010/2/11", None, "2009/11/30"]
ROWS = st.lists(
    st.tuples(*(st.sampled_from(values) for values in (WORDS, PRICES, DAYS, WORDS))), min_size=1, max_size=12
)


def table_of(rows: list[tuple[str | None, float | None, str | None, str | None]]) -> Table:
    word, price, day, last = zip(*rows, strict=True)
    types = {"word": pl.String, "price": pl.Float64, "day": pl.String, "last": pl.String}
    frame = pl.DataFrame({"word": word, "price": price, "day": day, "last": last}, schema=types)
    return Table(frame.with_columns(pl.col("day").str.to_date("%Y/%m/%d")), SCHEMA)


def by_lines(table: Table) -> list[int]:
    lines = pl.DataFrame({"line": table.lines()}).with_row_index("row")
    return lines.sort("line", maintain_order=True)["row"].to_list()


@given(ROWS)
@examples(60)
def test_the_order_is_that_of_the_lines(rows: list[tuple[str | None, float | None, str | None, str | None]]) -> None:
    table = table_of(rows)
    assert order_by_text(table.frame, SCHEMA.columns, table.spelling).to_list() == by_lines(table)


def test_cells_stand_as_the_file_spells_them() -> None:
    spelled = Spelling(exceptions={"price": pl.DataFrame({"row": [0], "text": ["05.0"]})})
    prices = table_of([("a", 5.0, None, "x"), ("a", 10.0, None, "x"), ("a", 1.0, None, "x")])
    table = Table(prices.frame, SCHEMA, spelled)
    assert order_by_text(table.frame, SCHEMA.columns, spelled).to_list() == by_lines(table) == [0, 2, 1]


def test_intervals_and_sets_stand_by_their_text() -> None:
    columns = {"age": {"role": "quasi", "type": "integer"}, "town": {"role": "quasi"}}
    schema = Schema.of({"kind": "table", "columns": columns})
    told = {"age": ["[20;29]", "31", "*", "[3;4]", "31"], "town": ["{b;c}", "*", "a", "{a;c}", "{a;b}"]}
    table = Table.of_release(told, schema)
    found = order_by_text(table.frame, schema.columns, table.spelling)
    assert found.to_list() == by_lines(table) == [2, 1, 4, 0, 3]


def test_nothing_told_keeps_the_order() -> None:
    blank = pl.DataFrame({"word": [None, None]}, schema={"word": pl.String})
    assert order_by_text(blank, [SCHEMA["word"]], Spelling()).to_list() == [0, 1]


def test_many_values_need_several_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(render, "_MOST", 4)
    table = table_of([("b", 2.0, "2010/12/1", "x"), ("a", 2.0, "2010/2/11", "y"), ("a", 1.0, "2010/2/11", "z")])
    assert order_by_text(table.frame, SCHEMA.columns, table.spelling).to_list() == by_lines(table) == [2, 1, 0]


def test_sets_that_say_the_same_have_one_number() -> None:
    sets = pl.Series([["b", "a"], ["a", "b"], ["a"], [], None, ["a", "a"]], dtype=pl.List(pl.Enum(["a", "b"])))
    first, second, one, none, suppressed, twice = text_numbers(sets, Column(name="item"))
    assert first == second
    assert one == twice
    assert len({first, one, none, suppressed}) == 4


def test_cells_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pl.Series, "hash", lambda self: pl.Series([7] * len(self), dtype=pl.UInt64))
    assert text_numbers(pl.Series(["b", "a", None, "b"]), Column(name="item")).to_list() == [2, 1, 0, 2]


def test_equal_rows_have_equal_numbers() -> None:
    numbers = [pl.Series([0, 1, 0, 0], dtype=pl.UInt32), pl.Series([2, 2, 2, 1], dtype=pl.UInt32)]
    first, second, third, fourth = same_rows(numbers, 4)
    assert first == third
    assert len({first, second, fourth}) == 3
    assert same_rows([pl.Series([0, 0], dtype=pl.UInt32)], 2).to_list() == [0, 0]
