"""Typed columns as the plain arrays that kernels work on."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.data.cells import is_generalised
from noren.data.distinct import different
from noren.data.frames import Records
from noren.data.schema import Column
from noren.errors import SchemaError
from noren.i18n import _
from noren.kernels.linkage import last_match

__all__ = [
    "NOBODY",
    "exact_values",
    "must_be_exact",
    "numbered",
    "numbers",
    "people",
    "physical",
    "text_bytes",
    "text_views",
]

NOBODY = -1
_MICROSECONDS_PER_DAY = 86_400_000_000
_NANOSECONDS_PER_MINUTE = 60_000_000_000


def numbers(values: pl.Series) -> NDArray[np.float64]:
    """Return ordered values as numbers, NaN where missing: dates and times of day in days, clock times in minutes.

    >>> import datetime as dt
    >>> numbers(pl.Series([dt.datetime(1970, 1, 2, 12), None])).tolist()
    [1.5, nan]
    """
    if isinstance(values.dtype, pl.Datetime):
        counted = values.cast(pl.Datetime("us")).to_physical().cast(pl.Float64) / _MICROSECONDS_PER_DAY
    elif values.dtype == pl.Time:
        counted = values.to_physical().cast(pl.Float64) / _NANOSECONDS_PER_MINUTE
    else:
        counted = physical(values).cast(pl.Float64)
    return (counted.fill_null(float("nan")) if counted.null_count() else counted).to_numpy()


def physical(values: pl.Series) -> pl.Series:
    """Return values as the numbers they are kept as; a cast costs far less than an expression."""
    if values.dtype == pl.Date:
        return values.cast(pl.Int32)
    return values if values.dtype.is_numeric() else values.to_physical()


def people(customer: pl.Series) -> tuple[NDArray[np.int64], pl.Series]:
    """Return each row's customer as a code, and the customers the codes stand for, in order of first appearance.

    A row without a customer has the code :data:`NOBODY`.

    >>> codes, customers = people(pl.Series(["b", "a", None, "b"]))
    >>> codes.tolist(), customers.to_list()
    ([0, 1, -1, 0], ['b', 'a'])
    """
    rows, which = different(customer)
    shown = customer.gather(rows)
    known = shown.is_not_null()
    code = pl.Series(np.where(known.to_numpy(), known.cum_sum().cast(pl.Int64).to_numpy() - 1, NOBODY))
    return code.gather(which).to_numpy(), shown.filter(known)


def numbered(texts: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return texts as numbers 0, 1, … in order of first appearance, and the row in which each number comes first.

    >>> [found.tolist() for found in numbered(pl.Series(["b", "a", "b"]))]
    [[0, 1, 0], [0, 1]]
    """
    keys = _short_texts(texts)
    return last_match.numbered(*text_bytes(texts)) if keys is None else last_match.numbered_keys(keys)


def _short_texts(texts: pl.Series) -> NDArray[np.int64] | None:
    """Return texts of up to seven bytes as whole numbers, equal where they are; None if there is a longer one."""
    if texts.null_count():
        return None
    low, high = text_views(texts)
    if (low & 0xFFFFFFFF).max(initial=0) > 7:
        return None
    return ((low << 56) | (low >> 32) | (high << 32)).astype("<u8").view(np.int64)


def text_views(texts: pl.Series) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return texts where they lie, as two numbers each: length and first four bytes; the next eight, if there are.

    So Arrow lays out texts of up to twelve bytes, filled up with zeros; of longer ones the second number is no text.
    """
    laid = texts.rechunk().to_arrow(compat_level=pl.CompatLevel.newest())
    if not len(laid):
        return np.zeros(0, np.uint64), np.zeros(0, np.uint64)
    low, high = np.frombuffer(laid.buffers()[1], "<u8").reshape(-1, 2)[laid.offset : laid.offset + len(laid)].T
    return low, high


def text_bytes(texts: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return texts as UTF-8, one behind another, and where each starts and the last one ends."""
    laid = texts.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
    _valid, starts, content = laid.buffers()
    if not len(laid):
        return np.zeros(1, np.int64), np.zeros(0, np.uint8)
    places = np.frombuffer(starts, np.int64)[laid.offset : laid.offset + len(laid) + 1]
    return places, np.frombuffer(content or b"", np.uint8)


def exact_values(records: Records, column: Column) -> pl.Series:
    """Return a column of an original, which must hold exact values."""
    values = records.frame[column.name]
    if is_generalised(values.dtype):
        raise SchemaError(
            _("the original is generalised already"),
            _("give the data as they were before any protection"),
            column=column.name,
        )
    return values


def must_be_exact(records: Records, columns: Iterable[Column]) -> None:
    """Stop where one of the columns holds generalised cells, whether there are rows or not."""
    for column in columns:
        exact_values(records, column)
