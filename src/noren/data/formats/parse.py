"""From text to typed columns, naming the first cell that does not fit.

One block of text columns goes in, one block of typed columns comes out: whole-column expressions, no row loop. A value
that is no number, no day of the calendar, off its grid or outside its domain stops the block with a
:class:`~noren.errors.ValueInCellError` that names file, row, column, value, rule and cure.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from noren.data.schema import Column, Scale, Schema, ValueType
from noren.errors import ValueInCellError
from noren.i18n import _

__all__ = ["DATE_FORMATS", "TIME_FORMATS", "Place", "in_calendar", "parse_text", "parse_values", "validate_values"]

DATE_FORMATS = ("%Y/%m/%d", "%Y-%m-%d", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y%m%d", "%Y年%m月%d日")
TIME_FORMATS = ("%H:%M", "%H:%M:%S")
_TIMES = ("%H:%M", "%H:%M:%S%.f")  # with or without a fraction of the second

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
INTEGER = r"^[+-]?[0-9]{1,18}$"
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # 1 January of year 1 and 31 December 9999, counted from 1970
_TICKS_PER_DAY = {"ms": 86_400_000, "us": 86_400_000_000}
_EXCEL_DAY_ZERO = dt.datetime(1899, 12, 31, 23, 59, 59, 999_999)


@dataclass(frozen=True)
class Place:
    """Where a block came from, so that an error can name the row."""

    file: str | Path | None = None
    first_row: int = 1


def parse_text(block: pl.DataFrame, schema: Schema, place: Place | None = None) -> pl.DataFrame:
    """Type every column of a block of text columns by ``schema``."""
    place = place or Place()
    typed = block.select(_plainly_typed(pl.col(c.name), c) for c in schema.columns)
    empty = block.select((pl.col(n).is_null() | (pl.col(n) == "")).sum() for n in schema.names).row(0)
    for column, left_empty, nulls in zip(schema.columns, empty, typed.null_count().row(0), strict=True):
        if nulls > left_empty:
            typed = typed.with_columns(block.select(_typed(pl.col(column.name), column)))
            _stop_at_unreadable(block[column.name], typed[column.name], column, place)
    return validate_values(typed, schema, place)


def parse_values(block: pl.DataFrame, schema: Schema, place: Place | None = None) -> pl.DataFrame:
    """Type every column of a block that is typed already (Parquet, Excel, a data frame) by ``schema``."""
    place = place or Place()
    columns = []
    for column in schema.columns:
        values = block[column.name]
        if isinstance(values.dtype, pl.Categorical | pl.Enum):
            values = values.cast(pl.String)
        if values.dtype.is_float() and column.type != ValueType.DECIMAL:
            values = values.fill_nan(None)  # pandas writes a missing whole number or text as NaN
        if values.dtype == pl.String:
            typed = values.to_frame().select(_typed(pl.col(column.name), column))[column.name]
        else:
            typed = _convert(in_calendar(values), column)
        _stop_at_unreadable(values, typed, column, place)
        columns.append(typed)
    return validate_values(pl.DataFrame(columns), schema, place)


def validate_values(typed: pl.DataFrame, schema: Schema, place: Place | None = None) -> pl.DataFrame:
    """Check what a schema says of values: required, finite, on the grid, within bounds and domain."""
    place = place or Place()
    rules = [
        (column, bad.fill_null(value=False), rule, cure)
        for column in schema.columns
        for bad, rule, cure in _rules(column)
    ]
    # one query for all rules: a query each would look at every column of a wide file each time
    broken = typed.select(bad.any().alias(str(i)) for i, (_column, bad, _rule, _cure) in enumerate(rules))
    for (column, bad, rule, cure), is_broken in zip(rules, broken.row(0) if rules else (), strict=True):
        if is_broken:
            _stop(typed.select(bad).to_series(), typed[column.name], column, place, rule, cure)
    return typed


# --- text to values --------------------------------------------------------------------------------------------------


def _plainly_typed(text: pl.Expr, column: Column) -> pl.Expr:
    """Return what :func:`_typed` does where numbers are written plainly, in a third of the time; null elsewhere."""
    match column.type:
        case ValueType.INTEGER:
            return text.cast(pl.Int64, strict=False).alias(column.name)
        case ValueType.DECIMAL:
            number = text.cast(pl.Float64, strict=False)
            return pl.when(number.is_finite()).then(number).alias(column.name)
        case _:
            return _typed(text, column)


def _typed(text: pl.Expr, column: Column) -> pl.Expr:
    """Return the typed value of a text, null where it cannot be read or is empty."""
    filled = pl.when(text != "").then(text)
    name = column.name
    match column.type:
        case ValueType.TEXT:
            return filled.alias(name)
        case ValueType.INTEGER:
            # spreadsheets write whole numbers as 12.0
            whole = filled.str.replace(r"\.0+$", "")
            return pl.when(whole.str.contains(INTEGER)).then(whole).cast(pl.Int64, strict=False).alias(name)
        case ValueType.DECIMAL:
            return pl.when(filled.str.contains(NUMBER)).then(filled).cast(pl.Float64, strict=False).alias(name)
        case ValueType.DATE:
            return _first_fit(filled, pl.Date(), _formats(column, DATE_FORMATS[:2])).alias(name)
        case ValueType.TIME:
            return _first_fit(filled, pl.Time(), _formats(column, _TIMES)).alias(name)
        case ValueType.DATETIME:
            both = [f"{d}{gap}{t}" for d in DATE_FORMATS[:2] for gap in (" ", "T") for t in _TIMES]
            return _first_fit(filled, pl.Datetime("us"), _formats(column, both)).alias(name)


def _formats(column: Column, known: Sequence[str]) -> Sequence[str]:
    return (column.format,) if column.format else known


def _first_fit(text: pl.Expr, dtype: pl.Date | pl.Time | pl.Datetime, formats: Sequence[str]) -> pl.Expr:
    value = pl.coalesce(text.str.strptime(dtype, f, strict=False, exact=True) for f in formats)
    # years have four digits: Polars reads -2010 and +12010 as well, which no one can write back
    return value if dtype == pl.Time else pl.when(value.dt.year().is_between(1, 9999)).then(value)


def in_calendar(values: pl.Series) -> pl.Series:
    """Take out days outside the years 1 to 9999: a damaged file can hold them, and Polars panics when it shows one."""
    if values.dtype == pl.Date:
        ticks = 1
    elif isinstance(values.dtype, pl.Datetime) and values.dtype.time_unit in _TICKS_PER_DAY:
        ticks = _TICKS_PER_DAY[values.dtype.time_unit]
    else:
        return values
    inside = values.to_physical().is_between(_FIRST_DAY * ticks, (_LAST_DAY + 1) * ticks - 1)
    return _where(inside, values)


def _where(condition: pl.Series, values: pl.Series) -> pl.Series:
    return pl.select(pl.when(condition).then(values).alias(values.name))[values.name]


def _convert(values: pl.Series, column: Column) -> pl.Series:
    """Convert typed values, null where they do not fit."""
    if isinstance(values.dtype, pl.Datetime) and values.dtype.time_zone is not None:
        # a shop's day ends at its own midnight: keep the clock on the wall
        values = in_calendar(values.dt.replace_time_zone(None))
    dtype = values.dtype
    if isinstance(dtype, pl.Struct | pl.List | pl.Array | pl.Object | pl.Binary | pl.Duration):
        return _nothing(values, column)
    if (dtype.is_float() or dtype.is_decimal()) and column.type in (ValueType.TEXT, ValueType.INTEGER):
        # 12583.0 in a float column (pandas with missing values) is customer 12583
        number = values.cast(pl.Int64, strict=False)
        whole = _where(number == values, number)
        if column.type == ValueType.INTEGER:
            return whole
        return pl.select(pl.coalesce(whole.cast(pl.String), values.cast(pl.String)).alias(values.name))[values.name]
    if isinstance(dtype, pl.Datetime) and column.type == ValueType.DATE:
        day = values.dt.date()
        return _where(day.cast(dtype) == values, day)
    if isinstance(dtype, pl.Datetime) and column.type == ValueType.TIME:
        return _where(values <= _EXCEL_DAY_ZERO, values.dt.time())
    if column.scale == Scale.INTERVAL and not dtype.is_temporal():
        return _nothing(values, column)
    if column.scale == Scale.RATIO and not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null)):
        return _nothing(values, column)
    try:
        return values.cast(column.dtype, strict=False)
    except pl.exceptions.PolarsError:
        return _nothing(values, column)


def _nothing(values: pl.Series, column: Column) -> pl.Series:
    return pl.repeat(None, len(values), dtype=column.dtype, eager=True).alias(values.name)


# --- rules -----------------------------------------------------------------------------------------------------------


def _rules(column: Column) -> list[tuple[pl.Expr, str, str]]:
    """Return (is bad, rule, cure) for everything the schema says of this column's values."""
    value = pl.col(column.name)
    rules = []
    if not column.optional:
        rules.append(
            (
                value.is_null(),
                _("the value is missing"),
                _("fill it in, drop the row, or set optional = true for this column in the schema"),
            )
        )
    if column.type == ValueType.DECIMAL:
        rules.append((~value.is_finite(), _("the value must be a finite number"), _("mend or drop the row")))
    if column.type in (ValueType.DECIMAL, ValueType.INTEGER) and column.width is not None:
        steps = value / column.width
        # 1e-6 of a step: what text of up to nine digits can be off by once it is a binary number
        rules.append(
            (
                (steps - steps.round()).abs() > 1e-6 * pl.max_horizontal(pl.lit(1.0), steps.abs() * 1e-6),
                _("the value must be a multiple of {width:g}").format(width=column.width),
                _("round it, or give the column a smaller width in the schema"),
            )
        )
    if column.minimum is not None:
        rules.append(
            (
                value < pl.lit(column.minimum),
                _("the value must be at least {bound}").format(bound=_bound(column.minimum)),
                _("mend or drop the row, or lower the minimum in the schema"),
            )
        )
    if column.maximum is not None:
        rules.append(
            (
                value > pl.lit(column.maximum),
                _("the value must be at most {bound}").format(bound=_bound(column.maximum)),
                _("mend or drop the row, or raise the maximum in the schema"),
            )
        )
    if column.domain is not None:
        rules.append(
            (
                ~value.is_in(list(column.domain)),
                _("the value is not in the declared domain ({count} values)").format(count=len(column.domain)),
                _("mend it, or add it to the domain in the schema"),
            )
        )
    return rules


def _bound(bound: object) -> str:
    return f"{bound:g}" if isinstance(bound, float) else str(bound)


# --- saying where ----------------------------------------------------------------------------------------------------


def _stop_at_unreadable(given: pl.Series, typed: pl.Series, column: Column, place: Place) -> None:
    lost = typed.is_null() & given.is_not_null()
    if given.dtype == pl.String:
        lost &= given != ""
    if not lost.any():
        return
    rules = {
        ValueType.TEXT: (_("this is not a text"), _("give texts or numbers")),
        ValueType.INTEGER: (_("this is not a whole number"), _("write it like 12")),
        ValueType.DECIMAL: (_("this is not a finite number"), _("write it like 2.10")),
        ValueType.DATE: (
            _("this is not a day of the calendar written as {format}").format(format=_spelled(column)),
            _("write all dates of the column in one way, or set its format in the schema"),
        ),
        ValueType.TIME: (
            _("this is not a time of day written as {format}").format(format=_spelled(column)),
            _("write all times of the column in one way, or set its format in the schema"),
        ),
        ValueType.DATETIME: (
            _("this is not a moment written as {format}").format(format=_spelled(column)),
            _("write all moments of the column in one way, or set its format in the schema"),
        ),
    }
    _stop(lost, given, column, place, *rules[column.type])


def _spelled(column: Column) -> str:
    known = {
        ValueType.DATE: DATE_FORMATS[:2],
        ValueType.TIME: TIME_FORMATS,
        ValueType.DATETIME: ("%Y-%m-%d %H:%M:%S",),
    }
    names = {"%Y": "YYYY", "%m": "MM", "%d": "DD", "%H": "HH", "%M": "MM", "%S": "SS"}
    said = _(" or ").join(_formats(column, known.get(column.type, ())))
    for code, name in names.items():
        said = said.replace(code, name)
    return said


def _stop(mask: pl.Series, values: pl.Series, column: Column, place: Place, rule: str, cure: str) -> None:
    first = int(mask.arg_max() or 0)
    raise ValueInCellError(
        rule,
        cure,
        file=place.file,
        row=place.first_row + first,
        column=column.name,
        value=_shown(values[first : first + 1]),
    )


def _shown(cell: pl.Series) -> object:
    """Return the one value of ``cell`` for a message; its type where it is no plain value."""
    if cell.dtype.is_nested() or cell.dtype in (pl.Object, pl.Binary):
        return cell.dtype
    if cell.is_not_null().all() and in_calendar(cell).is_null().all():
        return cell.to_physical()[0]
    return "" if cell[0] is None else cell[0]
