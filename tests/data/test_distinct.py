"""The different cells of a column are those that a set would find, in order of first appearance."""

from __future__ import annotations

import datetime as dt

import polars as pl
import pytest

from noren.data import cells as cell_module
from noren.data.cells import different

COLUMNS = [
    pl.Series(["b", None, "a", "b", ""]),
    pl.Series([3, 1, None, 3, 1, 2]),
    pl.Series([1.5, None, 2.5, 1.5]),
    pl.Series([dt.date(2011, 1, 2), dt.date(2010, 1, 2), dt.date(2011, 1, 2)]),
    pl.Series([["a", "b"], ["a"], None, ["a", "b"], []], dtype=pl.List(pl.Enum(["a", "b"]))),
    pl.Series([{"lo": 1, "hi": 2}, None, {"lo": 1, "hi": 2}, {"lo": None, "hi": None}]),
    pl.Series(["y", "x", None, "y"], dtype=pl.Enum(["x", "y"])),
    pl.Series([], dtype=pl.String),
]


@pytest.mark.parametrize("block", [2, 1 << 20])
@pytest.mark.parametrize("cells", COLUMNS, ids=lambda cells: str(cells.dtype))
def test_different_cells(cells: pl.Series, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell_module, "_BLOCK_ROWS", block)
    rows, number = different(cells)
    texts = [repr(value) for value in cells.to_list()]
    once = list(dict.fromkeys(texts))
    assert rows.to_list() == [texts.index(text) for text in once]
    assert number.to_list() == [once.index(text) for text in texts]


def test_cells_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pl.Series, "hash", lambda self: pl.repeat(7, len(self), dtype=pl.UInt64, eager=True))
    rows, number = different(pl.Series(["b", None, "a", "b"]))
    assert (rows.to_list(), number.to_list()) == ([0, 1, 2], [0, 1, 2, 0])
