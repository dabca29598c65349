"""How values are spread, before and after: the numbers behind histograms.

A released cell may say a range, a choice or nothing. Each row counts 1: an interval is spread evenly over the grid
points it holds, a set evenly over its values, and what is suppressed or deleted is counted apart as *not said*. The
bars come from the original alone, so that every release is drawn on the same axis.

A release may speak of other things than the original: of categories in place of items, of classes of numbers, of labels
of a hierarchy. Categories and classes are public, so the original is said in them. A label means the values that stand
under it, as for the measure ``table-loss``: a set of texts, or the interval from the least to the largest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from noren.data.arrays import numbers
from noren.data.categories import as_released
from noren.data.cells import cell_ends, is_generalised, is_set
from noren.data.frames import History, Records, Table
from noren.data.release import Release
from noren.data.schema import Column, Role, Scale, ValueType
from noren.i18n import _
from noren.judgement.page_text import printable
from noren.kernels.arrays import Real, Whole
from noren.retention.attributes import Attribute
from noren.retention.perturbation import Perturbation, perturbation_of

MOST_BARS = 40
MOST_COLUMNS = 10
MOST_VALUES = 20
"""Bars of a nominal column, one of them for all other values."""
_LONGEST_LABEL = 60
_MOST_CHARTS = 8
_TOP_VALUES = 10
_OUTER_BARS = 4
_MOST_DAYS = 31
# Purchases have a long tail to the right; beyond these shares of the rows one open bar is enough.
_TAILS = (0.01, 0.95)
_LONG_TAIL = 2.5
"""How many times wider bars would be for all values than without the tails, where these are long."""
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 12_000)

Unit = Literal["value", "number", "hour", "day", "month", "year"]
"""What bars are: values, ranges of numbers, or spans of time."""


@dataclass(frozen=True)
class Axis:
    """The bars of one column."""

    column: Column
    labels: tuple[str, ...]
    """What each bar means. Nominal: one for each value, most frequent first; ``displayed`` of them are drawn."""
    cuts: Real
    """Where one bar ends and the next begins, one fewer than there are bars; none for a nominal column."""
    unit: Unit = "value"
    width: float = 1.0
    """``unit``, ``width``: what a bar is, and how many of them or how much it spans."""

    @property
    def title(self) -> str:
        """The column, its unit and the width of a bar."""
        return axis_title(self.column.name, self.unit, self.width)

    @property
    def nominal(self) -> bool:
        """Whether the bars are values rather than ranges."""
        return self.column.scale == Scale.NOMINAL

    @property
    def displayed(self) -> int:
        """How many bars are drawn."""
        return min(len(self.labels), _TOP_VALUES) if self.nominal else len(self.labels)


@dataclass(frozen=True)
class BarCounts:
    """Rows per bar (fractions where cells are generalised), rows outside all bars, and rows without a value."""

    weights: Real
    elsewhere: float
    unsaid: float


def charted_columns(original: Records) -> tuple[Column, ...]:
    """Return the columns to compare in histograms: those that a release generalises."""
    if isinstance(original, History):
        return original.measured()
    linking = original.schema.with_role(Role.QUASI)
    return tuple(c for c in linking if c.type != ValueType.TIME)[:_MOST_CHARTS]


def axis_title(column: str, unit: Unit, width: float) -> str:
    """Return the title of an axis: the column, its unit and the width of a bar.

    >>> axis_title("date", "month", 1), axis_title("price", "number", 0.5)
    ('date, per month', 'price, bars of 0.5')
    """
    title = {
        "value": "{column}",
        "number": _("{column}, bars of {step}"),
        "hour": _("{column}, per hour"),
        "day": _("{column}, per day"),
        "month": _("{column}, per month") if width == 1 else _("{column}, per {months} months"),
        "year": _("{column}, per year") if width == 1 else _("{column}, per {years} years"),
    }[unit]
    return title.format(column=column, step=_plain(width), months=int(width), years=int(width))


def axis_of(values: pl.Series, column: Column, most: int = MOST_BARS) -> Axis | None:
    """Return the bars for exact ``values``; none where all are missing.

    A column of numbers or times has at most ``most`` bars, a nominal one a bar for each value.

    >>> months = pl.Series(["2010-12-24", "2011-02-01"]).str.to_date()
    >>> axis_of(months, Column(name="date", role="date")).labels
    ('2010-12', '2011-01', '2011-02')
    >>> axis_of(pl.Series([1, 1, 4]), Column(name="quantity", role="quantity")).labels
    ('1', '2', '3', '4')
    """
    if column.scale == Scale.NOMINAL:
        counted = values.drop_nulls().cast(pl.String).alias("value").value_counts(name="rows")
        labels = tuple(counted.sort(["rows", "value"], descending=[True, False])["value"])
        return Axis(column, labels, np.empty(0)) if labels else None
    finite = numbers(values)
    finite = finite[np.isfinite(finite)]
    if not len(finite):
        return None
    if column.type == ValueType.TIME:
        hours = np.arange(math.floor(finite.min() / 60), math.floor(finite.max() / 60) + 1)
        return Axis(column, tuple(f"{hour}:00" for hour in hours), hours[1:] * 60.0, "hour")
    if column.scale != Scale.INTERVAL:
        return _number_axis(finite, column, most)
    first, last = math.floor(finite.min()), math.floor(finite.max())
    if last - first < min(_MOST_DAYS, most):
        every = np.arange(first, last + 1)
        labels = tuple(str(day)[5:] for day in every.astype("datetime64[D]"))
        return Axis(column, labels, every[1:].astype(float), "day")
    first_month, last_month = (
        int(np.datetime64(day, "D").astype("datetime64[M]").astype(int)) for day in (first, last)
    )
    step = next(s for s in _MONTHS if last_month // s - first_month // s < most)
    months = np.arange(first_month // step * step, last_month + 1, step).astype("datetime64[M]")
    whole_years = step % 12 == 0
    labels = tuple(str(month)[:4] if whole_years else str(month) for month in months)
    cuts = months[1:].astype("datetime64[D]").astype(float)
    return Axis(column, labels, cuts, "year", step // 12) if whole_years else Axis(column, labels, cuts, "month", step)


def _number_axis(values: Real, column: Column, most: int) -> Axis:
    low, high = np.quantile(values, _TAILS[0], method="lower"), np.quantile(values, _TAILS[1], method="higher")
    bars = most - _OUTER_BARS
    step = _step(high - low, bars, values, column.grid)
    whole = _step(np.ptp(values), bars, values, column.grid)
    if whole <= _LONG_TAIL * step:  # no tail is long: an open bar would only look like a hump
        low, high, step = values.min(), values.max(), whole
    first, last = math.floor(round(low / step, 9)), math.floor(round(high / step, 9))
    starts = np.round(np.arange(first, last + 1) * step, 12)
    labels = [_plain(start) for start in starts]
    cuts = list(starts[1:])
    if values.min() < starts[0]:
        cuts.insert(0, starts[0])
        labels.insert(0, "<" + labels[0])
    stop = round((last + 1) * step, 12)
    if values.max() >= stop:
        cuts.append(stop)
        labels.append("≥" + _plain(stop))
    return Axis(column, tuple(labels), np.array(cuts, dtype=float), "number", float(step))


def _step(span: float, bars: int, values: Real, grid: float) -> float:
    """Return the width of bars: whole steps of the values, so that no bar holds more of them than its neighbours.

    Where each step of the grid can have a bar, it has; else values that are all multiples of something wider, as whole
    prices or rounded wages are, have bars that are multiples of it, too.

    >>> _step(100.0, 36, np.array([0.0, 40.0, 100.0]), 1.0), _step(100.0, 36, np.array([0.0, 7.0, 100.0]), 1.0)
    (20.0, 5.0)
    """
    if span <= bars * grid:
        return grid
    unit = max(int(np.gcd.reduce(np.unique(np.abs(np.round(values / grid))).astype(np.int64))), 1) * grid
    at_least = span / bars / unit
    if at_least <= 1:
        return unit
    power = int(10 ** math.floor(math.log10(at_least)))  # the next of 1, 2, 5, 10, 20, 50 … units
    return next(m * power for m in (1, 2, 5, 10) if m * power >= at_least) * unit


def _plain(number: float) -> str:
    return np.format_float_positional(round(float(number), 9), trim="-")


def spread(cells: pl.Series, axis: Axis, rows: int) -> BarCounts:
    """Spread ``cells``, exact or generalised, over the bars; rows up to ``rows`` that are missing have no value.

    >>> axis = axis_of(pl.Series([1, 2, 3, 4]), Column(name="quantity", role="quantity"))
    >>> spread(pl.Series([{"lo": 1, "hi": 2}, {"lo": 4, "hi": 4}, None]), axis, rows=4)
    BarCounts(weights=array([0.5, 0.5, 0. , 1. ]), elsewhere=0.0, unsaid=2.0)
    """
    if axis.nominal:
        cells_with_values = pl.DataFrame({"value": cells}).drop_nulls()
        if is_set(cells.dtype):
            cells_with_values = cells_with_values.filter(pl.col("value").list.len() > 0)
            cells_with_values = cells_with_values.with_columns(weight=1 / pl.col("value").list.len()).explode("value")
        else:
            cells_with_values = cells_with_values.with_columns(weight=pl.lit(1.0))
        total = cells_with_values.group_by(pl.col("value").cast(pl.String)).agg(pl.col("weight").sum())
        bars = pl.DataFrame({"value": list(axis.labels)}, schema={"value": pl.String})
        weights = bars.join(total, on="value", how="left", maintain_order="left")["weight"].fill_null(0.0).to_numpy()
        elsewhere = max(0.0, float(total["weight"].sum() - weights.sum()))
    else:
        alike = _ends(cells).drop_nulls().group_by("lo", "hi").len().sort("lo", "hi")
        times = alike["len"].to_numpy()
        # one pass per cut, not a matrix of rows by bars: memory stays that of the column
        below = (float(np.dot(times, share)) for share in _shares_below(alike, axis))
        weights, elsewhere = np.diff(np.array([0.0, *below, float(times.sum())])), 0.0
    return BarCounts(weights, elsewhere, max(0.0, rows - float(weights.sum()) - elsewhere))


def _ends(cells: pl.Series) -> pl.DataFrame:
    """Return the ends of cells as numbers, both null where a cell has no value."""
    pair = pl.DataFrame({name: numbers(end) for name, end in zip(("lo", "hi"), cell_ends(cells), strict=True)})
    finite = pl.all_horizontal(pl.col("lo", "hi").is_finite())
    return pair.select(pl.when(finite).then(pl.col("lo", "hi")))


def _shares_below(ends: pl.DataFrame, axis: Axis) -> Iterator[Real]:
    """Return for each cut which share of each cell's grid points lies below it."""
    lo, hi = (ends[name].to_numpy() for name in ("lo", "hi"))
    if axis.column.scale == Scale.INTERVAL:
        lo, hi = np.floor(lo), np.floor(hi)
    width = axis.column.grid
    points = np.maximum(np.round((hi - lo) / width), 0) + 1
    for cut in axis.cuts:
        yield np.clip(np.ceil(np.round((cut - lo) / width, 6)), 0, points) / points


def shares(cells: pl.Series, axis: Axis) -> tuple[Whole, Real]:
    """Return for each row the number of its cell, -1 without a value, and each cell's shares of the bars.

    Equal cells have one number. A nominal axis has one share more, of values that have no bar.

    >>> axis = axis_of(pl.Series([1, 2, 3, 4]), Column(name="quantity", role="quantity"))
    >>> numbers_of, of_bars = shares(pl.Series([{"lo": 1, "hi": 2}, None, {"lo": 4, "hi": 4}]), axis)
    >>> numbers_of.tolist(), of_bars.tolist()
    ([0, -1, 1], [[0.5, 0.5, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    """
    if not axis.nominal:
        ends = _ends(cells)
        alike = ends.drop_nulls().unique(maintain_order=True).with_row_index("number")
        number = ends.join(alike, on=["lo", "hi"], how="left", maintain_order="left")["number"]
        below = np.array([np.zeros(len(alike)), *_shares_below(alike, axis), np.ones(len(alike))])
        return number.cast(pl.Int64).fill_null(-1).to_numpy(), np.diff(below, axis=0).T
    set_cells = is_set(cells.dtype)
    texts = cells.cast(pl.List(pl.String)).list.join("\0") if set_cells else cells.cast(pl.String)
    has_value = (cells.list.len() > 0) if set_cells else cells.is_not_null()
    cell_texts = pl.DataFrame({"text": texts, "has_value": has_value})
    cell_texts = cell_texts.select(pl.when("has_value").then("text").alias("text"))
    alike = cell_texts.drop_nulls().unique(maintain_order=True).with_row_index("number")
    number = cell_texts.join(alike, on="text", how="left", maintain_order="left")["number"]
    listed = alike.with_columns(pl.col("text").str.split("\0") if set_cells else pl.concat_list("text"))
    listed = listed.with_columns(share=1 / pl.col("text").list.len()).explode("text")
    bars = pl.DataFrame({"text": list(axis.labels)}, schema={"text": pl.String}).with_row_index("bar")
    placed = listed.join(bars, on="text", how="left", maintain_order="left").with_columns(
        pl.col("bar").fill_null(len(axis.labels))
    )
    bar_shares = np.zeros((len(alike), len(axis.labels) + 1))
    np.add.at(bar_shares, (placed["number"].to_numpy(), placed["bar"].to_numpy()), placed["share"].to_numpy())
    return number.cast(pl.Int64).fill_null(-1).to_numpy(), bar_shares


def net_shift(original: BarCounts, released: BarCounts, rows: int) -> float:
    """Return the share of rows by which bars grew: 0 where every bar kept its height or lost to *not said* alone."""
    grown = np.maximum(released.weights - original.weights, 0).sum() + max(0.0, released.elsewhere - original.elsewhere)
    return float(grown) / max(rows, 1)


# --- whole numbers ---------------------------------------------------------------------------------------------------


def count_bars(values: Whole) -> dict[str, Any]:
    """Return a histogram of whole numbers from 1 on, with what is least, middle and largest.

    Small ranges have a bar for each number; larger ones bars that widen tenfold with the numbers, so that a long tail
    keeps its shape.

    >>> bars = count_bars(np.array([1, 1, 3]))
    >>> bars["labels"], bars["counts"], bars["median"]
    (['1', '2', '3'], [2, 0, 1], 1.0)
    """
    if not len(values):
        lists: dict[str, Any] = {name: [] for name in ("labels", "from", "to", "counts")}
        return lists | {"total": 0, "minimum": None, "median": None, "mean": None, "maximum": None}
    starts = bar_starts(int(values.min()), int(values.max()))
    ends = np.append(starts[1:] - 1, max(int(values.max()), int(starts[-1])))
    return {
        "labels": [str(a) if a == b else f"{a}–{b}" for a, b in zip(starts, ends, strict=True)],
        "from": starts.tolist(),
        "to": ends.tolist(),
        "counts": np.bincount(np.searchsorted(starts, values, side="right") - 1, minlength=len(starts)).tolist(),
        "total": len(values),
        "minimum": int(values.min()),
        "median": float(np.median(values)),
        "mean": float(values.mean()),
        "maximum": int(values.max()),
    }


def bar_starts(low: int, high: int) -> Whole:
    """Return where bars begin that hold the numbers from ``low`` to ``high``, at most :data:`MOST_BARS` of them.

    >>> bar_starts(1, 4).tolist(), bar_starts(8, 120).tolist()
    ([1, 2, 3, 4], [8, 9, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100])
    """
    if high - low < MOST_BARS:
        return np.arange(low, high + 1)
    powers = 10 ** np.arange(len(str(high)))
    # by the first digit, or where that is too many, by 1, 2 and 5: of 18 digits, 54 at most
    for digits in ((1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 5), (1,)):
        starts = np.sort(np.outer(powers, digits).ravel())
        starts_in_range = starts[(starts <= high) & (np.append(starts[1:], high + 1) > low)]
        if len(starts_in_range) <= MOST_BARS:
            break
    return starts_in_range.astype(np.int64)


# --- original beside release -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ColumnComparison:
    """A column before and after; of a table perturbed by retention also the attribute that it was perturbed as."""

    column: Column
    original: pl.Series
    released: pl.Series
    attribute: Attribute | None = None


def perturbed_by(release: Release) -> Perturbation | None:
    """Return how a release by retention was perturbed; none for others."""
    if not isinstance(release.public, Table) or release.statement.method != "retention":
        return None
    return perturbation_of(release.public.schema, release.statement)


def side_by_side(original: Records, release: Release) -> list[ColumnComparison]:
    """Return the columns of both sides to compare: those that a release generalises, and sensitive ones."""
    made = perturbed_by(release)
    if made is not None:
        return [
            ColumnComparison(
                a.column,
                original.frame[a.name] if a.numeric else a.values(a.codes(original.frame[a.name])),
                release.public.frame[a.name],
                a,
            )
            for a in made.attributes[:MOST_COLUMNS]
        ]
    comparable = as_released(original, release.statement) if isinstance(original, History) else original
    sensitive = () if isinstance(original, History) else original.schema.with_role(Role.SENSITIVE)
    columns = (*charted_columns(original), *(c for c in sensitive if c.type != ValueType.TIME))
    comparisons = []
    for column in columns[:MOST_COLUMNS]:
        if column.name not in release.public.frame.columns or is_generalised(comparable.frame[column.name].dtype):
            continue
        before, after = comparable.frame[column.name], release.public.frame[column.name]
        meant = meant_by(before, after, column, release)
        if meant is not None:
            comparisons.append(ColumnComparison(column, before, meant))
    return comparisons


def meant_by(values: pl.Series, cells: pl.Series, column: Column, release: Release) -> pl.Series | None:
    """Return the cells, labels replaced by the values that they cover; none where that is unknown."""
    if is_generalised(cells.dtype) or (column.scale != Scale.NOMINAL and cells.dtype != pl.String):
        return cells
    labels = cells.cast(pl.String)
    if column.scale == Scale.NOMINAL:
        known = values.cast(pl.String).drop_nulls().unique()
        strange = labels.drop_nulls().unique()
        strange = strange.filter(~strange.is_in(known.implode()))
        if not len(strange):
            return cells
    methods = {step.method for step in release.statement.steps}
    if release.secret.original_rows != len(values) or "retention" in methods:
        return cells if column.scale == Scale.NOMINAL else None
    seen = pl.DataFrame({"label": labels, "value": values.gather(release.secret.origin)}).drop_nulls()
    value = pl.col("value")
    if column.scale == Scale.NOMINAL:
        seen = seen.filter(pl.col("label").is_in(strange.implode())).with_columns(value.cast(pl.String))
        under = seen.unique().sort("label", "value").group_by("label", maintain_order=True).agg(cell=value)
        own = pl.DataFrame({"label": known}).select("label", cell=pl.concat_list("label"))
        meanings = pl.concat([own, under])
    else:
        meanings = seen.group_by("label").agg(cell=pl.struct(lo=value.min(), hi=value.max()))
    return pl.DataFrame({"label": labels}).join(meanings, on="label", how="left", maintain_order="left")["cell"]


@dataclass(frozen=True)
class Bars:
    """The bars of a column: a whole axis, and how many of its labels have a bar of their own."""

    axis: Axis
    displayed: int

    def facts(self, *, others: bool) -> dict[str, Any]:
        """Return the facts of an axis for a chart, as plain data; ``others`` adds a bar for all other values."""
        labels = [printable(label, _LONGEST_LABEL) for label in self.axis.labels[: self.displayed]]
        return {
            "column": printable(self.axis.column.name),
            "nominal": self.axis.nominal,
            "unit": self.axis.unit,
            "width": float(self.axis.width),
            "labels": [*labels, ""] if others else labels,
            "others": others,
            "values": len(self.axis.labels),
        }


def bars_of(
    values: pl.Series, column: Column, most: int = MOST_BARS, attribute: Attribute | None = None
) -> Bars | None:
    """Return the bars for exact values: at most ``most``, and of a nominal column :data:`MOST_VALUES` with the last.

    Classes of numbers stand in their own order.
    """
    if attribute is not None and attribute.ends and attribute.size <= most:
        return Bars(Axis(column, tuple(attribute.labels()), np.empty(0)), attribute.size)
    axis = axis_of(values, column, most)
    if axis is None:
        return None
    if axis.nominal and len(axis.labels) > MOST_VALUES:
        return Bars(axis, MOST_VALUES - 1)
    return Bars(axis, len(axis.labels))
