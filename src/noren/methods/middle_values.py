"""What rows that have become one say where one exact value stands for all: the median, or the mode."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.data.arrays import numbers
from noren.data.schema import Column, Scale
from noren.kernels.judging.cell_error import population_sd
from noren.kernels.sharing.rows import DELETED

__all__ = ["middle_values"]

Whole = NDArray[np.int64]


def middle_values(values: pl.Series, column: Column, row: Whole, *, suppress_cells: bool) -> pl.Series:
    """Return what every row's shared row says; null where the row is deleted or saying nothing costs less.

    Of names the most frequent one is said, of several the first by text; of dates and numbers the lower median, so what
    is said stands in the column, with its decimals. No other value has a lower error in sum. A blank is a value of its
    own: it is what is said where it is the most frequent name, or where the known values are further from one another
    than from nothing. At a tie a cell says more than nothing.

    >>> quantity = Column(name="quantity", role="quantity")
    >>> middle_values(pl.Series("quantity", [9, 1, 2, 5, 6]), quantity, np.array([0, 0, 0, 1, 1]), suppress_cells=True)
    shape: (5,)
    Series: 'quantity' [i64]
    [
        2
        2
        2
        5
        5
    ]
    """
    every = pl.DataFrame({"row": row, "value": values}).filter(pl.col("row") != DELETED)
    if column.scale == Scale.NOMINAL:
        cells = _modes(every)
    else:
        cells = _medians(every, population_sd(numbers(values)), suppress_cells=suppress_cells)
    placed = pl.DataFrame({"row": row}).join(cells, on="row", how="left", maintain_order="left")
    return placed["value"].alias(column.name)


def _modes(every: pl.DataFrame) -> pl.DataFrame:
    """Return the most frequent name of each shared row: of several the first by text, a blank the last."""
    counted = every.group_by("row", "value").len("times").with_columns(text=pl.col("value").cast(pl.String))
    order = counted.sort("row", "times", "text", descending=[False, True, False], nulls_last=True)
    return order.unique("row", keep="first", maintain_order=True).select("row", "value")


def _medians(every: pl.DataFrame, sd: float, *, suppress_cells: bool) -> pl.DataFrame:
    """Return the lower median of each shared row's known values, where saying it costs no more than saying nothing."""
    known = every.drop_nulls("value").sort("row", "value")
    counts = known.group_by("row", maintain_order=True).len("known")
    begin = counts["known"].cast(pl.Int64).cum_sum() - counts["known"]
    middle = known[begin + (counts["known"].cast(pl.Int64) - 1) // 2]
    size = int(every["row"].max() or 0) + 1  # type: ignore[arg-type]
    at, there = known["row"].to_numpy(), middle["row"].to_numpy()
    said = np.zeros(size)
    said[there] = numbers(middle["value"])
    blank = np.bincount(every.filter(pl.col("value").is_null())["row"].to_numpy(), minlength=size)
    error = np.abs(numbers(known["value"]) - said[at]) / (sd or 1.0)
    saying = np.bincount(at, weights=error, minlength=size) + blank
    nothing = np.bincount(at, minlength=size) * (1 + 1e-12)
    unsaid = (saying > nothing) & (suppress_cells | (blank > 0))
    return middle.filter(pl.Series(~unsaid[there]))
