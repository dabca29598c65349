"""The different cells of a column, and which of them each row has: a few bytes a row, and little more on the way."""

from __future__ import annotations

import polars as pl

__all__ = ["different"]

_BLOCK_ROWS = 1 << 20


def different(cells: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return the first row of each different cell, in the rows' order, and for each row which of these its cell is.

    A cell that says nothing is one of them.

    >>> rows, number = different(pl.Series(["b", None, "a", "b"]))
    >>> rows.to_list(), number.to_list()
    ([0, 1, 2], [0, 1, 2, 0])
    """
    if cells.dtype.is_integer() or cells.dtype.is_temporal() or isinstance(cells.dtype, pl.Enum | pl.Categorical):
        return _by_mark(cells.to_physical())
    # told apart by a hash, which takes less memory than cells do, and then compared with what it says
    rows, number = _by_mark(cells.hash())
    known = cells.gather(rows)
    for start in range(0, len(cells), _BLOCK_ROWS):
        block = cells[start : start + _BLOCK_ROWS]
        if not block.eq_missing(known.gather(number[start : start + _BLOCK_ROWS])).all():
            return _by_value(cells)
    return rows, number


def _by_mark(marks: pl.Series) -> tuple[pl.Series, pl.Series]:
    rows = marks.arg_unique()
    known = marks.gather(rows).to_frame("mark").with_row_index("number")
    # block by block, for a join writes its rows anew; each time it reads all that is known
    step = _BLOCK_ROWS if len(known) < _BLOCK_ROWS else max(len(marks), 1)
    blocks = [marks[start : start + step].to_frame("mark") for start in range(0, max(len(marks), 1), step)]
    found = [b.join(known, on="mark", how="left", maintain_order="left", nulls_equal=True)["number"] for b in blocks]
    return rows, pl.concat(found)


def _by_value(cells: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Do the same for cells of which two different ones have one hash."""
    given = pl.DataFrame({"cell": cells}).with_row_index("row")
    rows = given.unique("cell", keep="first", maintain_order=True).with_row_index("number")
    found = given.join(rows.drop("row"), on="cell", how="left", maintain_order="left", nulls_equal=True)
    return rows["row"], found["number"]
