"""Conversion of text columns to typed columns, with an error for every kind of value that does not fit.

One block of text columns goes in, one block of typed columns comes out: whole-column expressions, no row loop. Numbers
and dates are read in the plain way first, and by the column's own spelling (:mod:`~noren.data.value_formats`) where
that fails. A value that is no number, no day of the calendar, off its grid or outside its domain stops the block with a
:class:`~noren.errors.ValueInCellError` that names file, row, column, value, rule and cure, for every column and rule
that is broken, with the number of cells. A guessed schema rejects nothing but what cannot be read at all: what it says
of grids, domains and empty cells widens (:mod:`noren.data.guessing.schema_guess`).

:func:`parse_cells` types the cells of releases: ``x``, ``[a;b]``, ``{a;b}`` and ``*``.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from noren.data.cells import set_dtype
from noren.data.schema import Column, Kind, Role, Scale, Schema, ValueType
from noren.data.value_formats import (
    EXCEL,
    INTEGER,
    NUMBER,
    UNIX,
    fitting_formats,
    moment_value,
    number_format,
    number_value,
    spelled,
)
from noren.errors import Problem, ValueInCellError
from noren.i18n import _, split_remedy
from noren.tables import Texts

say = Texts(__name__)


_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # 1 January of year 1 and 31 December 9999, counted from 1970
_TICKS_PER_DAY = {"ms": 86_400_000, "us": 86_400_000_000}
_EXCEL_DAY_ZERO = dt.datetime(1899, 12, 31, 23, 59, 59, 999_999)
_MOST_OTHERS = 4

Lost = dict[str, pl.Series]
"""For each column of which cells could not be read, which ones."""


@dataclass(frozen=True)
class CellPlace:
    """Where a block came from, so that an error can name the row."""

    file: str | Path | None = None
    first_row: int = 1


class Problems:
    """Every kind of problem of a file (column and rule): its first cell, and how many cells have it."""

    def __init__(self) -> None:
        self._problems: dict[tuple[str, str], Problem] = {}

    def __bool__(self) -> bool:
        return bool(self._problems)

    def add(self, bad: pl.Series, values: pl.Series, column: Column, place: CellPlace, rule: str, cure: str) -> None:
        """Remember the cells of a block that break a rule."""
        first = int(bad.arg_max() or 0)
        value = str(printable_value(values[first : first + 1]))
        others = values.filter(bad)
        more = others.unique(maintain_order=True)[: _MOST_OTHERS + 1] if holds_plain_values(others) else others[:0]
        texts = [str(printable_value(more[i : i + 1])) for i in range(len(more))]
        different = tuple(text for text in texts if text not in ("", value))[:_MOST_OTHERS]
        row, cells = place.first_row + first, int(bad.sum())
        self._remember(Problem(row, column.name, value, rule, cure, cells=cells, others=different))

    def merge(self, later: Problems) -> None:
        """Take over what a later block of the same file has."""
        for problem in later._problems.values():
            self._remember(problem)

    def _remember(self, problem: Problem) -> None:
        key = (problem.column or "", problem.rule)
        first = self._problems.get(key)
        if first is not None:
            new = [v for v in (problem.value or "", *problem.others) if v not in ("", first.value, *first.others)]
            others = (*first.others, *new)[:_MOST_OTHERS]
            problem = replace(first, cells=first.cells + problem.cells, others=others)
        self._problems[key] = problem

    def stop(self, file: str | Path | None) -> None:
        """Raise one error that tells them all, where there are any: the first met, then the others by row."""
        if self._problems:
            first, *rest = self._problems.values()
            raise ValueInCellError.of([first, *sorted(rest, key=lambda problem: problem.row or 0)], file)


def parse_values(
    block: pl.DataFrame, schema: Schema, place: CellPlace | None = None, problems: Problems | None = None
) -> pl.DataFrame:
    """Type every column of a block, texts or values that are typed already (Parquet, Excel, a frame), by ``schema``.

    What does not fit is added to ``problems`` where that is given, and raised otherwise.
    """
    place, collected = place or CellPlace(), Problems() if problems is None else problems
    typed, lost = read_values(block, schema.columns, nan_is_missing=schema.guessed)
    for name, cells in lost.items():
        collected.add(cells, block[name], schema[name], place, *unreadable(schema[name], block[name].filter(cells)))
    rules = [
        (column, bad.fill_null(value=False), rule, cure)
        for column in schema.columns
        for bad, rule, cure in column_rules(column, guessed=schema.guessed)
    ]
    # one query for all rules: a query each would look at every column of a wide file each time
    broken = typed.select(bad.any().alias(str(i)) for i, (_column, bad, _rule, _cure) in enumerate(rules))
    for (column, bad, rule, cure), is_broken in zip(rules, broken.row(0) if rules else (), strict=True):
        if is_broken:
            cells = typed.select(bad).to_series()
            if column.name in lost:
                cells &= ~lost[column.name]  # a cell that cannot be read is not missing
            if cells.any():
                collected.add(cells, typed[column.name], column, place, rule, cure)
    if problems is None:
        collected.stop(place.file)
    return typed


# --- text to values --------------------------------------------------------------------------------------------------


def read_text(block: pl.DataFrame, columns: Sequence[Column]) -> tuple[pl.DataFrame, Lost]:
    """Return the typed values of text columns, null where empty or unreadable, and which cells were unreadable."""
    typed = block.select(_typed(pl.col(c.name), c, plainly=True) for c in columns)
    empty = block.select((pl.col(c.name).is_null() | (pl.col(c.name) == "")).sum() for c in columns).row(0)
    lost: Lost = {}
    for column, left_empty, nulls in zip(columns, empty, typed.null_count().row(0), strict=True):
        if nulls > left_empty:
            typed = typed.with_columns(block.select(_typed(pl.col(column.name), column)))
            cells = _lost(block[column.name], typed[column.name])
            if cells.any():
                lost[column.name] = cells
    return typed, lost


def read_values(
    block: pl.DataFrame, columns: Sequence[Column], *, nan_is_missing: bool = False
) -> tuple[pl.DataFrame, Lost]:
    """Return the values of columns, texts or typed already, as the columns' types, and which cells were unreadable."""
    typed: dict[str, pl.Series] = {}
    texts: dict[str, pl.Series] = {}
    lost: Lost = {}
    for column in columns:
        values = block[column.name]
        if isinstance(values.dtype, pl.Categorical | pl.Enum):
            values = values.cast(pl.String)
        if values.dtype.is_float() and (nan_is_missing or column.type != ValueType.DECIMAL):
            values = values.fill_nan(None)  # pandas writes a missing whole number or text as NaN
        if column.format in (EXCEL, UNIX, "%Y%m%d") and values.dtype.is_numeric():
            values = values.cast(pl.String).str.strip_suffix(".0")
        if values.dtype == pl.String:
            texts[column.name] = values
            continue
        typed[column.name] = _convert(in_calendar(values), column)
        cells = _lost(values, typed[column.name])
        if cells.any():
            lost[column.name] = cells
    if texts:
        read, unread = read_text(pl.DataFrame(list(texts.values())), [c for c in columns if c.name in texts])
        typed |= read.to_dict()
        lost |= unread
    names = [column.name for column in columns]
    return pl.DataFrame([typed[name] for name in names]), {name: lost[name] for name in names if name in lost}


def _lost(values: pl.Series, typed: pl.Series) -> pl.Series:
    lost = typed.is_null() & values.is_not_null()
    return lost & (values != "") if values.dtype == pl.String else lost


def _typed(text: pl.Expr, column: Column, *, plainly: bool = False) -> pl.Expr:
    """Return the typed value of a text, null where it cannot be read or is empty.

    ``plainly`` does so where values are written plainly, in a third of the time, and gives null elsewhere.
    """
    filled: pl.Expr = pl.when(text != "").then(text)
    agrees = column.number is None or number_format(column.number).agrees_with_plain
    plainly = plainly and agrees
    if column.number is not None and not plainly:
        by_spelling = number_value(filled, column.number)
        plain = pl.when(filled.str.contains(NUMBER)).then(filled)
        filled = pl.coalesce(plain, by_spelling) if agrees else by_spelling
    value: pl.Expr
    match column.type:
        case ValueType.TEXT:
            value = filled
        case ValueType.INTEGER if plainly:
            value = text.cast(pl.Int64, strict=False)
        case ValueType.INTEGER:
            # spreadsheets write whole numbers as 12.0
            whole = filled.str.replace(r"\.0+$", "")
            value = pl.when(whole.str.contains(INTEGER)).then(whole).cast(pl.Int64, strict=False)
        case ValueType.DECIMAL if plainly:
            number = text.cast(pl.Float64, strict=False)
            value = pl.when(number.is_finite()).then(number)
        case ValueType.DECIMAL:
            value = pl.when(filled.str.contains(NUMBER)).then(filled).cast(pl.Float64, strict=False)
        case _:
            value = moment_value(filled, column.type, column.format, plainly=plainly)
    return value.alias(column.name)


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
    unfit = isinstance(dtype, pl.Struct | pl.List | pl.Array | pl.Object | pl.Binary | pl.Duration)
    unfit |= column.scale == Scale.INTERVAL and not dtype.is_temporal()
    unfit |= column.scale == Scale.RATIO and not (dtype.is_numeric() or dtype in (pl.Boolean, pl.Null))
    if not unfit:
        with contextlib.suppress(pl.exceptions.PolarsError):
            return values.cast(column.dtype, strict=False)
    return pl.repeat(None, len(values), dtype=column.dtype, eager=True).alias(values.name)


# --- rules -----------------------------------------------------------------------------------------------------------


def column_rules(column: Column, *, guessed: bool = False) -> list[tuple[pl.Expr, str, str]]:
    """Return (is bad, rule, cure) for everything the schema says of this column's values."""
    value = pl.col(column.name)
    rules = []
    if guessed:
        # what was guessed from some rows binds no others
        column = Column(name=column.name, type=column.type, optional=True)
    if not column.optional:
        rules.append((value.is_null(), *split_remedy(say("missing"))))
    if column.type == ValueType.DECIMAL:
        rules.append((~value.is_finite(), *split_remedy(say("not_finite", example="2.10"))))
    if column.type in (ValueType.DECIMAL, ValueType.INTEGER) and column.width is not None:
        steps = value / column.width
        # 1e-6 of a step: what text of up to nine digits can be off by once it is a binary number
        off = (steps - steps.round()).abs() > 1e-6 * pl.max_horizontal(pl.lit(1.0), steps.abs() * 1e-6)
        rules.append((off, *split_remedy(say("off_grid", width=column.width))))
    for sign, beyond, bound in (("≥", operator.lt, column.minimum), ("≤", operator.gt, column.maximum)):
        if bound is not None:
            limit = f"{sign} {bound:g}" if isinstance(bound, float) else f"{sign} {bound}"
            rules.append((beyond(value, pl.lit(bound)), *split_remedy(say("out_of_bounds", bound=limit))))
    if column.domain is not None:
        rules.append((~value.is_in(list(column.domain)), *split_remedy(say("not_in_domain", count=len(column.domain)))))
    return rules


# --- saying where ----------------------------------------------------------------------------------------------------


def unreadable(column: Column, values: pl.Series) -> tuple[str, str]:
    """Return the rule that unreadable cells break, and its cure."""
    patterns = _(" or ").join(spelled(column.format, column.type)) if column.scale == Scale.INTERVAL else ""
    example = column.number or ("12" if column.type == ValueType.INTEGER else "2.10")
    rule, cure = split_remedy(say(f"not_{column.type}", type=column.type, format=patterns, example=example))
    ways = fitting_formats(values) if column.scale == Scale.RATIO and values.dtype == pl.String else ()
    if ways:
        cure = say("or_set_number", cure=cure, number=ways[0])
    return rule, cure


def holds_plain_values(values: pl.Series) -> bool:
    """Tell whether a column has values that can be compared: no lists, no bytes, no objects, no lengths of time."""
    return not (values.dtype.is_nested() or values.dtype in (pl.Object, pl.Binary, pl.Duration))


def printable_value(cell: pl.Series) -> object:
    """Return the one value of ``cell`` for a message; its type where it is no plain value."""
    if not holds_plain_values(cell) and cell.dtype != pl.Duration:
        return cell.dtype
    if cell.is_not_null().all() and in_calendar(cell).is_null().all():
        return cell.to_physical()[0]
    return "" if cell[0] is None else cell[0]


def parse_column(values: pl.Series, column: Column, file: str | Path | None = None) -> pl.Series:
    """Type one column by itself; values may be missing."""
    alone = column.model_copy(update={"role": Role.OTHER, "optional": True})
    schema = Schema(kind=Kind.TABLE, columns=(alone,))
    return parse_values(values.to_frame(column.name), schema, CellPlace(file))[column.name]


def parse_cells(values: pl.Series, column: Column, file: str | Path | None = None) -> pl.Series:
    """Type a column of ``x``, ``[a;b]`` or ``{a;b}``, and ``*``; stop at the first cell that is none of them.

    >>> parse_cells(pl.Series("quantity", ["3", "[1;4]", "*"]), Column(name="quantity", role="quantity")).to_list()
    [{'lo': 3, 'hi': 3}, {'lo': 1, 'hi': 4}, None]
    """
    name = column.name
    cell = pl.col(name)
    live = values.set(values == "*", None).to_frame()
    if column.scale == Scale.NOMINAL:
        braced = cell.str.extract(r"^\{(.*)\}$")
        inside = pl.coalesce(braced, cell)
        broken = inside.str.contains(r"[{}]") | (braced.is_null() & cell.str.contains(";", literal=True))
        split = live.select(inside.str.split(";").alias(name))[name]
        bad = (split.list.contains("") | (split.list.n_unique() != split.list.len())).fill_null(value=False)
        bad |= live.select(broken.fill_null(value=False)).to_series()
        _stop_if(bad, values, column, file, *split_remedy(say("not_a_set")))
        domain = split.drop_nulls().explode(empty_as_null=False).unique().sort().to_list()
        return split.cast(set_dtype(domain))
    ends = live.select(
        cell.str.extract(r"^\[([^;]*);[^;]*\]$").fill_null(cell).alias("lo"),
        cell.str.extract(r"^\[[^;]*;([^;]*)\]$").fill_null(cell).alias("hi"),
    )
    typed = {end: parse_column(ends[end].fill_null(""), column, file) for end in ("lo", "hi")}
    missing = (typed["lo"].is_null() | typed["hi"].is_null()) & live[name].is_not_null()
    _stop_if(missing, values, column, file, *split_remedy(say("end_missing")))
    crossed = (typed["lo"] > typed["hi"]).fill_null(value=False)
    _stop_if(crossed, values, column, file, *split_remedy(say("reversed_range")))
    both = pl.DataFrame(typed).select(pl.when(pl.col("lo").is_not_null()).then(pl.struct("lo", "hi")).alias(name))
    return both[name]


def _stop_if(bad: pl.Series, values: pl.Series, column: Column, file: str | Path | None, rule: str, cure: str) -> None:
    if bad.any():
        at = int(bad.arg_true()[0])
        raise ValueInCellError(rule, cure, file=file, row=at + 1, column=column.name, value=values[at])
