"""From typed columns to text: the one canonical spelling of every value.

Dates are written ``2010/12/1``, numbers without idle zeros (``2.1``, ``3``), intervals ``[a;b]``, sets ``{a;b}``,
suppressed cells ``*``. A cell that says one value (``[a;a]``, ``{a}``) is written as that value. Files that spell a
value otherwise keep their spelling beside the data (:mod:`noren.data.formats.spelling`).
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from noren.data.cells import is_interval, is_set
from noren.data.schema import Column, ValueType
from noren.data.value_formats import decimal_text, moment_text, number_text

__all__ = ["cell_text", "file_text", "lines_of", "value_text"]

_READ_AS = {ValueType.DATE: "%Y/%m/%d", ValueType.TIME: "%H:%M", ValueType.DATETIME: "%Y/%m/%d %H:%M"}
"""Formats that read the canonical spelling."""
_TO_THE_SECOND = {ValueType.TIME: "%-H:%M:%S", ValueType.DATETIME: "%Y/%-m/%-d %-H:%M:%S"}


def value_text(value: pl.Expr, column: Column) -> pl.Expr:
    """Return the canonical text of exact values."""
    match column.type:
        case ValueType.TEXT:
            return value.cast(pl.String)
        case ValueType.INTEGER:
            return value.cast(pl.String)
        case ValueType.DECIMAL:
            return decimal_text(value)
        case ValueType.DATE:
            return value.dt.to_string("%Y/%-m/%-d")
        case ValueType.TIME:
            return _to_the_second(value, "%-H:%M")
        case ValueType.DATETIME:
            return _to_the_second(value, "%Y/%-m/%-d %-H:%M")


def file_text(value: pl.Expr, column: Column) -> pl.Expr:
    """Return the text of exact values as the column's spelling reads it back; canonical where that does.

    A guess reads it back as well: times of a column without a format have seconds, all of them or none.
    """
    if column.number is not None:
        return number_text(value, column.number)
    if column.type in _TO_THE_SECOND and column.format is None:
        odd = (value.dt.second() != 0) | (value.dt.nanosecond() != 0)
        full = moment_text(value, column.type, _TO_THE_SECOND[column.type])
        return pl.when(odd.any()).then(full).otherwise(value_text(value, column))
    if column.format is None or column.format == _READ_AS.get(column.type):
        return value_text(value, column)
    return moment_text(value, column.type, column.format)


def cell_text(
    cell: pl.Expr,
    column: Column,
    dtype: pl.DataType,
    spelled: Callable[[pl.Expr, Column], pl.Expr] = value_text,
) -> pl.Expr:
    """Return the text of cells, exact or generalised; null where suppressed.

    Values are ``spelled`` canonically, or as the column's own file has them (:func:`file_text`).
    """
    if is_interval(dtype):
        lo = spelled(cell.struct.field("lo"), column)
        hi = spelled(cell.struct.field("hi"), column)
        one = cell.struct.field("lo") == cell.struct.field("hi")
        return pl.when(one).then(lo).otherwise(pl.concat_str(pl.lit("["), lo, pl.lit(";"), hi, pl.lit("]")))
    if is_set(dtype):
        joined = cell.cast(pl.List(pl.String)).list.join(";")
        several = pl.concat_str(pl.lit("{"), joined, pl.lit("}"))
        return pl.when(cell.list.len() == 1).then(joined).otherwise(several)
    return spelled(cell, column)


def lines_of(texts: pl.DataFrame, delimiter: str = ",") -> pl.Series:
    """Join text columns into lines."""
    return texts.select(pl.concat_str(pl.all(), separator=delimiter).alias("line"))["line"]


def _to_the_second(value: pl.Expr, minutes: str) -> pl.Expr:
    """Write moments to the minute, and to the second or its fraction where they have any."""
    return (
        pl.when((value.dt.second() == 0) & (value.dt.nanosecond() == 0))
        .then(value.dt.to_string(minutes))
        .otherwise(value.dt.to_string(f"{minutes}:%S%.f"))
    )
