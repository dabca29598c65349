"""Which columns of a purchase somebody knows, and how exactly.

Somebody remembers the week and not the day, the kind of thing and not the article, about what it cost. Each way of
knowing less maps values to coarser ones of the same type, never crossing: of two values the smaller one stays the
smaller or becomes equal. So a released interval that holds a value holds, its two ends mapped too, the coarse value.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from noren.data.categories import UNKNOWN, Categories, in_categories
from noren.data.cells import is_interval, is_set
from noren.data.schema import Column, Role, Schema, ValueType
from noren.errors import ParameterError, suggestion
from noren.i18n import _

EXACT, NOT_KNOWN, CATEGORY = "exact", "unknown", "category"
_UNITS = {"hour": "1h", "day": "1d", "week": "1w", "month": "1mo", "quarter": "1q", "year": "1y"}
_USUAL = (Role.DATE, Role.ITEM, Role.PRICE, Role.QUANTITY)
_USUALLY_KNOWN = 2
_WORDS = {
    ValueType.DATE: ("exact", "day", "week", "month", "quarter", "year", "unknown"),
    ValueType.DATETIME: ("exact", "hour", "day", "week", "month", "quarter", "year", "unknown"),
    ValueType.TIME: ("exact", "hour", "unknown"),
    ValueType.INTEGER: ("exact", "round:10", "digits:2", "unknown"),
    ValueType.DECIMAL: ("exact", "round:10", "digits:2", "unknown"),
    ValueType.TEXT: ("exact", "prefix:2", "unknown"),
}


@dataclass(frozen=True)
class KnownColumn:
    """A column that is known, and how exactly: ``exact``, ``week``, ``category``, ``prefix:2``, ``round:10``, …"""

    column: Column
    precision: str

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @property
    def step(self) -> float:
        """The number of a word that has one: 10 in ``round:10``."""
        return float(self.precision.partition(":")[2])


def known_columns(
    schema: Schema, columns: Sequence[str] | None = None, words: Mapping[str, str] | None = None
) -> tuple[KnownColumn, ...]:
    """Return what is known of a purchase.

    Parameters
    ----------
    columns
        Names or roles of columns. Left out: the first two there are of date, item, price and quantity.
    words
        How exactly columns are known, by role or name. A column that is named here is known too, unless its word is
        ``unknown``. Others are known exactly, dates by the day.

    Examples
    --------
    >>> schema = Schema.preset("pwscup2018")
    >>> [(one.name, one.precision) for one in known_columns(schema, words={"date": "week", "price": "round:10"})]
    [('date', 'week'), ('item', 'exact'), ('price', 'round:10')]
    """
    precisions = {_column_name(schema, name): word for name, word in (words or {}).items()}
    if columns is None:
        usual = [c for role in _USUAL for c in schema.with_role(role)]
        chosen = [c.name for c in usual if precisions.get(c.name) != NOT_KNOWN][:_USUALLY_KNOWN]
    else:
        chosen = [_column_name(schema, name) for name in columns]
    known = [
        KnownColumn(schema[name], _checked(schema[name], precisions.get(name)))
        for name in dict.fromkeys([*chosen, *precisions])
        if precisions.get(name) != NOT_KNOWN
    ]
    if not known:
        raise ParameterError(_("no column is known; at least one must be"))
    return tuple(known)


def _column_name(schema: Schema, name: str) -> str:
    """Return the name of a column that is called so, or has that role."""
    named = name in schema.names or name not in list(Role)
    column = schema[name] if named else schema.role(name)
    if column.role == Role.CUSTOMER:
        names = ", ".join(c.name for c in schema.columns if c.role != Role.CUSTOMER)
        message = _("{column} identifies the customer; name columns of purchases: {names}")
        raise ParameterError(message.format(column=name, names=names))
    return column.name


def _checked(column: Column, precision: str | None) -> str:
    """Return how exactly a column is known; ``day`` and ``item`` are the words for exact where nothing is finer."""
    if precision is None:
        return "day" if column.type == ValueType.DATETIME else EXACT
    allowed = [*_WORDS[column.type], *([CATEGORY] if column.role == Role.ITEM else [])]
    if (precision == "day" and column.type == ValueType.DATE) or (precision == "item" and column.role == Role.ITEM):
        return EXACT
    kind, colon, number = precision.partition(":")
    patterns = {pattern.partition(":")[0] for pattern in allowed if ":" in pattern}
    fits = number.isascii() and number.isdigit() and 1 <= int(number) <= 15
    if kind == "round":
        with contextlib.suppress(ValueError):
            fits = 0 < float(number) < float("inf")
    if precision in allowed or (colon and kind in patterns and fits):
        return precision
    message = _("{word!r} is not a precision of {column}{hint}; use one of {names}")
    hint = suggestion(precision, allowed)
    raise ParameterError(message.format(column=column.name, word=precision, hint=hint, names=", ".join(allowed)))


# --- values and cells ------------------------------------------------------------------------------------------------


def coarse_values(values: pl.Series, known: KnownColumn, categories: Categories | None = None) -> pl.Series:
    """Return exact values as far as they are known.

    >>> import datetime as dt
    >>> from noren.data.schema import Schema
    >>> words = {"date": "week", "price": "digits:1"}
    >>> date, price = known_columns(Schema.preset("pwscup2018"), ("date", "price"), words)
    >>> coarse_values(pl.Series([dt.date(2010, 12, 31)]), date).to_list()
    [datetime.date(2010, 12, 27)]
    >>> coarse_values(pl.Series([0.37, 25.4, -18.0, 0.0]), price).to_list()
    [0.3, 20.0, -10.0, 0.0]
    """
    if known.precision == CATEGORY and categories is not None:
        return in_categories(values, categories.of_item).alias(values.name)
    return values.to_frame("x").select(_coarse(pl.col("x"), known)).to_series().alias(values.name)


def coarse_cells(cells: pl.Series, known: KnownColumn, categories: Categories | None = None) -> pl.Series:
    """Return released cells in the same coarse words: the ends of intervals, each member of a set.

    An item that has no category is in :data:`~noren.data.categories.UNKNOWN`: a release may show items that nobody
    bought.
    """
    if known.precision == EXACT:
        return cells
    if is_interval(cells.dtype):
        ends = (_coarse(pl.col("x").struct.field(end), known).alias(end) for end in ("lo", "hi"))
        coarse: pl.Expr = pl.when(pl.col("x").is_not_null()).then(pl.struct(*ends))
    elif is_set(cells.dtype):
        coarse = pl.col("x").list.eval(_coarse_text(pl.element(), known, categories)).list.unique()
    elif known.column.type == ValueType.TEXT:
        coarse = _coarse_text(pl.col("x"), known, categories)
    else:
        coarse = _coarse(pl.col("x"), known)
    return cells.to_frame("x").select(coarse.alias("x")).to_series().alias(cells.name)


def _coarse_text(text: pl.Expr, known: KnownColumn, categories: Categories | None) -> pl.Expr:
    text = text.cast(pl.String)
    if known.precision == CATEGORY and categories is not None:
        named = text.replace_strict(dict(categories.of_item), default=UNKNOWN, return_dtype=pl.String)
        return pl.when(text.is_not_null()).then(named)
    return _coarse(text, known)


def _coarse(value: pl.Expr, known: KnownColumn) -> pl.Expr:
    kind = known.precision.partition(":")[0]
    if kind == "prefix":
        return value.cast(pl.String).str.slice(0, int(known.step))
    if kind == "round":
        number = value.cast(pl.Float64)
        return (number / known.step).round() * known.step
    if kind == "digits":  # cut after the first digits, towards 0; what rounding took from 2.999… is given back first
        number, digits = value.cast(pl.Float64), int(known.step)
        # log10 of 1000 is 2.9999999999999996
        order = (number.abs().log10() + 1e-12).floor()
        unit = pl.lit(10.0).pow(order - (digits - 1))
        cut = ((number.abs() / unit) * (1 + 1e-12)).floor() * unit
        # nearest decimal, so that 3 · 0.1 is 0.3
        return pl.when(number == 0).then(0.0).otherwise(number.sign() * cut.round_sig_figs(digits))
    if known.column.type == ValueType.TIME and kind == "hour":
        return pl.when(value.is_not_null()).then(pl.time(value.dt.hour()))
    if kind in _UNITS:
        return value.dt.truncate(_UNITS[kind])
    return value
