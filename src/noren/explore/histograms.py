"""How a column's values are spread, before and after: the numbers behind the pairs of histograms.

A released cell may say a range, a choice or nothing. Each row counts 1: an interval is spread evenly over the grid
points it holds, a set evenly over its values, and what is suppressed or deleted is counted apart as *not said*. The
bars come from the original alone, so that every release is drawn on the same axis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.data.arrays import numbers
from noren.data.cells import is_interval, is_set
from noren.data.frames import History, Records
from noren.data.schema import Column, Role, Scale, ValueType
from noren.i18n import _

__all__ = ["MOST_BARS", "Axis", "Spread", "axis_of", "charted_columns", "net_shift", "spread"]

MOST_BARS = 40
_MOST_CHARTS = 8
_TOP_VALUES = 10
_INNER_BARS = 36
_MOST_DAYS = 31
# Purchases have a long tail to the right; beyond these shares of the rows one open bar is enough.
_TAILS = (0.01, 0.95)
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 12_000)

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Axis:
    """The bars of one column.

    Attributes
    ----------
    labels
        What each bar stands for. A nominal column has one for each value, the most frequent first; ``shown`` of them
        are drawn.
    cuts
        Where one bar ends and the next begins, one fewer than there are bars; none for a nominal column.
    title
        The column, its unit and the width of a bar.
    """

    column: Column
    labels: tuple[str, ...]
    cuts: Numbers
    title: str

    @property
    def nominal(self) -> bool:
        """Whether the bars are values rather than ranges."""
        return self.column.scale == Scale.NOMINAL

    @property
    def shown(self) -> int:
        """How many bars are drawn."""
        return min(len(self.labels), _TOP_VALUES) if self.nominal else len(self.labels)


@dataclass(frozen=True)
class Spread:
    """Rows per bar (fractions where cells are generalised), rows beside every bar, and rows that say nothing."""

    weights: Numbers
    elsewhere: float
    unsaid: float


def charted_columns(original: Records) -> tuple[Column, ...]:
    """Return the columns worth a pair of histograms: what a release generalises."""
    if isinstance(original, History):
        return original.measured()
    linking = original.schema.with_role(Role.QUASI)
    return tuple(c for c in linking if c.type != ValueType.TIME)[:_MOST_CHARTS]


def axis_of(values: pl.Series, column: Column) -> Axis | None:
    """Return the bars for exact ``values``, at most :data:`MOST_BARS` of them drawn; none where nothing is said.

    >>> months = pl.Series(["2010-12-24", "2011-02-01"]).str.to_date()
    >>> axis_of(months, Column(name="date", role="date")).labels
    ('2010-12', '2011-01', '2011-02')
    >>> axis_of(pl.Series([1, 1, 4]), Column(name="quantity", role="quantity")).labels
    ('1', '2', '3', '4')
    """
    if column.scale == Scale.NOMINAL:
        counted = values.drop_nulls().cast(pl.String).alias("value").value_counts(name="rows")
        labels = tuple(counted.sort(["rows", "value"], descending=[True, False])["value"])
        return Axis(column, labels, np.empty(0), column.name) if labels else None
    said = numbers(values)
    said = said[np.isfinite(said)]
    if not len(said):
        return None
    return _time_axis(said, column) if column.scale == Scale.INTERVAL else _number_axis(said, column)


def _time_axis(days: Numbers, column: Column) -> Axis:
    first, last = math.floor(days.min()), math.floor(days.max())
    if last - first < _MOST_DAYS:
        every = np.arange(first, last + 1)
        labels = tuple(str(day)[5:] for day in every.astype("datetime64[D]"))
        return Axis(column, labels, every[1:].astype(float), _("{column}, per day").format(column=column.name))
    first_month, last_month = (
        int(np.datetime64(day, "D").astype("datetime64[M]").astype(int)) for day in (first, last)
    )
    step = next(s for s in _MONTHS if last_month // s - first_month // s < MOST_BARS)
    months = np.arange(first_month // step * step, last_month + 1, step).astype("datetime64[M]")
    whole_years = step % 12 == 0
    title = (
        _("{column}, per month").format(column=column.name)
        if step == 1
        else _("{column}, per {years} years").format(column=column.name, years=step // 12)
        if step > 12
        else _("{column}, per year").format(column=column.name)
        if whole_years
        else _("{column}, per {months} months").format(column=column.name, months=step)
    )
    labels = tuple(str(month)[:4] if whole_years else str(month) for month in months)
    return Axis(column, labels, months[1:].astype("datetime64[D]").astype(float), title)


def _number_axis(said: Numbers, column: Column) -> Axis:
    grid = column.grid
    low, high = np.quantile(said, _TAILS[0], method="lower"), np.quantile(said, _TAILS[1], method="higher")
    step = _nice((high - low) / _INNER_BARS / grid) * grid
    first, last = math.floor(round(low / step, 9)), math.floor(round(high / step, 9))
    starts = np.round(np.arange(first, last + 1) * step, 12)
    labels = [_plain(start) for start in starts]
    cuts = list(starts[1:])
    if said.min() < starts[0]:
        cuts.insert(0, starts[0])
        labels.insert(0, "<" + labels[0])
    stop = round((last + 1) * step, 12)
    if said.max() >= stop:
        cuts.append(stop)
        labels.append("≥" + _plain(stop))
    title = _("{column}, bars of {step}").format(column=column.name, step=_plain(step))
    return Axis(column, tuple(labels), np.array(cuts, dtype=float), title)


def _nice(at_least: float) -> int:
    """Return the smallest of 1, 2, 5, 10, 20, 50 … that is not below ``at_least``."""
    if at_least <= 1:
        return 1
    power = int(10 ** math.floor(math.log10(at_least)))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= at_least)


def _plain(number: float) -> str:
    return np.format_float_positional(round(float(number), 9), trim="-")


def spread(cells: pl.Series, axis: Axis, rows: int) -> Spread:
    """Spread ``cells``, exact or generalised, over the bars; rows up to ``rows`` that are not there say nothing.

    >>> axis = axis_of(pl.Series([1, 2, 3, 4]), Column(name="quantity", role="quantity"))
    >>> spread(pl.Series([{"lo": 1, "hi": 2}, {"lo": 4, "hi": 4}, None]), axis, rows=4)
    Spread(weights=array([0.5, 0.5, 0. , 1. ]), elsewhere=0.0, unsaid=2.0)
    """
    if axis.nominal:
        weights, elsewhere = _spread_values(cells, axis)
    else:
        weights, elsewhere = _spread_ranges(cells, axis), 0.0
    return Spread(weights, elsewhere, max(0.0, rows - float(weights.sum()) - elsewhere))


def _spread_values(cells: pl.Series, axis: Axis) -> tuple[Numbers, float]:
    said = pl.DataFrame({"value": cells}).drop_nulls()
    if is_set(cells.dtype):
        said = said.filter(pl.col("value").list.len() > 0)
        said = said.with_columns(weight=1 / pl.col("value").list.len()).explode("value")
    else:
        said = said.with_columns(weight=pl.lit(1.0))
    total = said.group_by(pl.col("value").cast(pl.String)).agg(pl.col("weight").sum())
    bars = pl.DataFrame({"value": list(axis.labels)}, schema={"value": pl.String})
    weights = bars.join(total, on="value", how="left", maintain_order="left")["weight"].fill_null(0.0).to_numpy()
    return weights, max(0.0, float(total["weight"].sum() - weights.sum()))


def _spread_ranges(cells: pl.Series, axis: Axis) -> Numbers:
    ends = [cells.struct.field(end) for end in ("lo", "hi")] if is_interval(cells.dtype) else [cells, cells]
    pair = pl.DataFrame({name: numbers(end) for name, end in zip(("lo", "hi"), ends, strict=True)})
    alike = pair.filter(pl.all_horizontal(pl.all().is_finite())).group_by("lo", "hi").len().sort("lo", "hi")
    lo, hi, rows = (alike[name].to_numpy() for name in ("lo", "hi", "len"))
    if axis.column.scale == Scale.INTERVAL:
        lo, hi = np.floor(lo), np.floor(hi)
    width = axis.column.grid
    points = np.maximum(np.round((hi - lo) / width), 0) + 1
    # one pass per cut, not a matrix of rows by bars: memory stays that of the column
    below = [np.clip(np.ceil(np.round((cut - lo) / width, 6)), 0, points) / points for cut in axis.cuts]
    shares = [0.0, *(float(np.dot(rows, share)) for share in below), float(rows.sum())]
    return np.diff(np.array(shares))


def net_shift(original: Spread, released: Spread, rows: int) -> float:
    """Return the share of rows by which bars grew: 0 where every bar kept its height or lost to *not said* alone."""
    grown = np.maximum(released.weights - original.weights, 0).sum() + max(0.0, released.elsewhere - original.elsewhere)
    return float(grown) / max(rows, 1)
