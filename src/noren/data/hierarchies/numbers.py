"""Hierarchies of numbers (ranges by width, by rows, by cuts) and of days (weeks to years, and the eras of Japan).

Not every unit of days lies in every other: the week from 29 December 2008 lies in two years, and the year 1989 in two
eras. What is asked for is built where it nests on the values there are, and refused with an example where it does not.
Months, quarters and years always nest; so do weeks in years of weeks, and months, years and eras of the Japanese
calendar.

An era begins on the day of its proclamation (Meiji, which was reckoned back, on the first day of its first year,
25 January 1868); its first year is called 元年 and ends with December. Until 1872 Japan counted months by the moon, and
we do not: there a month of an era is that of the Gregorian calendar.
"""

from __future__ import annotations

import datetime as dt
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.data.formats.render import value_text
from noren.data.hierarchies.builder import Builder, ColumnValues, parts_of
from noren.data.hierarchies.levels import SAYS_NOTHING, Hierarchy, texts
from noren.data.schema import Column, ValueType
from noren.data.value_formats import ERAS, grid_cell
from noren.errors import ParameterError, suggestion
from noren.kernels.arrays import Real, Whole
from noren.tables import Texts

say = Texts(__name__)

LONGEST_GRID: Final = 5_000
_FIRST_RANGES: Final = 16
_MOST_WIDTHS: Final = 6
_MOST_LEVELS: Final = 20
_LARGEST: Final = 1e15


class Widths(Builder, by="widths"):
    """Ranges that grow: 17 → 15-19 → 10-19 → 0-19. Without widths, some sixteen ranges first, then half as many."""

    @classmethod
    def _read(cls, text: str) -> tuple[Any, ...]:
        widths = cls._numbers(text)
        if len(widths) > _MOST_LEVELS or not all(0 < width <= _LARGEST for width in widths):
            raise cls._misread(text)
        return tuple(widths)

    def _build(self, values: ColumnValues) -> Hierarchy:
        widths = self.parameters or default_widths(values.typed, values.column)
        return number_hierarchy(values.column, values.typed, widths)


class Grid(Widths, by="grid"):
    """Cells of degrees, by default of 0.01, 0.1 and 1 (1.1, 11 and 111 km from south to north)."""

    def _build(self, values: ColumnValues) -> Hierarchy:
        degrees = self.parameters or (0.01, 0.1, 1.0)
        for finer, coarser in itertools.pairwise(degrees):
            if coarser <= finer or not math.isclose(coarser / finer, round(coarser / finer), rel_tol=1e-9):
                raise ParameterError(say("widths_not_multiples", coarser=coarser, finer=finer))
        cells = values.typed.cast(pl.Float64).to_frame("0")
        return values.hierarchy([*cells.select(grid_cell(pl.col("0"), width).alias(str(width)) for width in degrees)])


class Cuts(Builder, by="cuts"):
    """Ranges between given cuts; a coarser level keeps some of the cuts of the finer one.

    Whole numbers become ``<18``, ``18-29``, ``65+``; numbers beside a grid ``[18, 30[``.
    """

    @classmethod
    def _read(cls, text: str) -> tuple[Any, ...]:
        levels = [_bounded(cls._numbers(part)) for part in text.replace("／", "/").split("/")]
        for cuts in levels:
            if not cuts or any(after <= before for before, after in itertools.pairwise(cuts)):
                raise cls._misread(text)
        for finer, coarser in itertools.pairwise(levels):
            extra = [cut for cut in coarser if cut not in finer]
            if extra:
                raise ParameterError(say("new_cuts", cuts=", ".join(f"{cut:.15g}" for cut in extra)))
        return tuple(levels)

    def _build(self, values: ColumnValues) -> Hierarchy:
        return _between_cuts(values, self.parameters)


class Quantiles(Builder, by="quantiles"):
    """Ranges with about as many rows each; the cuts come from the data, and show where its people are.

    Equal numbers stay together, so ranges differ in size where many rows have one number.
    """

    @classmethod
    def _read(cls, text: str) -> tuple[Any, ...]:
        counts = _bounded(cls._numbers(text or cls.example))
        if not counts or any(count != int(count) or not 2 <= count <= 10_000 for count in counts):
            raise cls._misread(text)
        if any(coarser >= finer or finer % coarser for finer, coarser in itertools.pairwise(counts)):
            raise cls._misread(text)
        return tuple(map(int, counts))

    def _build(self, values: ColumnValues) -> Hierarchy:
        counted = values.records.frame[values.name].drop_nulls().alias("0").value_counts(name="rows")
        rows = values.typed.to_frame("0").join(counted, on="0", how="left", maintain_order="left")["rows"]
        before = rows.cum_sum() - rows
        # the middle row of each number decides, so that many equal rows fall where most of them lie
        middle = ((before + rows / 2) / max(int(rows.sum()), 1)).to_numpy()
        finest = np.minimum((middle * self.parameters[0]).astype(np.int64), self.parameters[0] - 1)
        numbers = values.typed.to_numpy()
        levels = []
        for count in self.parameters:
            group = finest // (self.parameters[0] // count)
            levels.append(tuple(numbers[1:][group[1:] != group[:-1]].tolist()))
        return _between_cuts(values, levels)


def _bounded(numbers: list[float]) -> tuple[float, ...]:
    if len(numbers) > _MOST_LEVELS or not all(abs(number) <= _LARGEST for number in numbers):
        raise ParameterError(say("too_many_numbers", most=_MOST_LEVELS, largest=_LARGEST))
    return tuple(numbers)


def _between_cuts(values: ColumnValues, levels: Sequence[Sequence[float]]) -> Hierarchy:
    """Return the hierarchy whose levels have ranges between cuts."""
    column, grid = values.column, values.column.grid
    points = _grid_points(column, values.typed)
    labels = []
    for cuts in map(np.asarray, levels):
        starts, names = _cut_texts(cuts), [SAYS_NOTHING]
        if len(cuts) and points.on_grid and np.allclose(cuts / grid, np.rint(cuts / grid), rtol=0, atol=1e-6):
            ends = _cut_texts(cuts - (int(grid) if grid == int(grid) else grid))
            inner = [low if low == high else f"{low}-{high}" for low, high in zip(starts, ends[1:], strict=False)]
            names = [f"<{starts[0]}", *inner, f"{starts[-1]}+"]
        elif len(cuts):
            inner = [f"[{low}, {high}[" for low, high in itertools.pairwise(starts)]
            names = [f"<{starts[0]}", *inner, f"≥{starts[-1]}"]
        labels.append(pl.Series(names).gather(np.searchsorted(cuts, points.numbers, side="right")))
    return Hierarchy.of_labels(column.name, _texts(points.numbers, column), labels)


def _cut_texts(cuts: NDArray[Any]) -> list[str]:
    numbers = [_number(cut) for cut in cuts.tolist()]
    return [str(number) if isinstance(number, int) else f"{number:.15g}" for number in numbers]


# --- ranges of growing width -----------------------------------------------------------------------------------------


def interval_hierarchy(name: str, values: Iterable[int], widths: Sequence[int]) -> Hierarchy:
    """Return a hierarchy of whole numbers by ranges, each level's ranges made of whole ones below.

    >>> interval_hierarchy("age", [17, 21], [5, 10]).labels.rows()
    [('17', '15-19', '10-19', '*'), ('21', '20-24', '20-29', '*')]
    """
    for finer, coarser in zip((1, *widths), widths, strict=False):
        if finer < 1 or coarser <= finer or coarser % finer:
            raise ParameterError(say("widths_not_multiples", coarser=coarser, finer=finer))
    known = sorted(set(values))
    rows = ((str(v), *(f"{v // w * w}-{v // w * w + w - 1}" for w in widths), SAYS_NOTHING) for v in known)
    return Hierarchy.of(name, rows)


def default_widths(typed: pl.Series, column: Column) -> list[float]:
    """Return widths of ranges that double: some sixteen ranges first, then half as many, as long as there are two.

    >>> default_widths(pl.Series([17, 90]), Column(name="age", role="quasi", type="integer"))
    [5, 10, 20, 40]
    """
    steps = _grid_points(column, typed).places
    span = int(steps.max() - steps.min()) if len(steps) else 0
    # the first of 1, 2, 5, 10, 20, 50 … that is not smaller
    at_least = span / _FIRST_RANGES
    power = int(10 ** max(0, math.floor(math.log10(max(at_least, 1)))))
    width = max(2, next(digit * power for digit in (1, 2, 5, 10) if digit * power >= at_least))
    widths: list[float] = []
    while width < max(span, 3) and len(widths) < _MOST_WIDTHS:
        widths.append(_number(width * column.grid))
        width *= 2
    return widths


def number_hierarchy(column: Column, typed: pl.Series, widths: Sequence[float]) -> Hierarchy:
    """Return a hierarchy of numbers by ranges of growing ``widths``, in the column's own unit.

    >>> price = Column(name="price", role="quasi", type="decimal", width=0.5)
    >>> number_hierarchy(price, pl.Series([0.5, 2.0]), [1, 2]).labels.rows()[::3]
    [('0.5', '0-0.5', '0-1.5', '*'), ('2', '2-2.5', '2-3.5', '*')]
    """
    grid = column.grid
    steps = [round(width / grid) for width in widths]
    for finer, coarser, width in zip((1, *steps), steps, widths, strict=False):
        if coarser <= finer or coarser % finer or not math.isclose(coarser * grid, width, rel_tol=1e-9):
            about = {"coarser": _number(width), "finer": _number(finer * grid)}
            raise ParameterError(say("widths_not_multiples", **about))
    points = _grid_points(column, typed)
    levels = []
    for width in steps:
        low = points.places // width * width
        # beside the grid a range ends where the next begins
        high = low + width - (1 if points.on_grid else 0)
        ends = [_texts(_times(end, grid), column) for end in (low, high)]
        levels.append(pl.select(pl.concat_str(*ends, separator="-")).to_series())
    return Hierarchy.of_labels(column.name, _texts(points.numbers, column), levels)


class _Points(NamedTuple):
    """Numbers, their places on the grid, and whether all of them lie on it."""

    places: Whole
    numbers: Whole | Real
    on_grid: bool


def _grid_points(column: Column, typed: pl.Series) -> _Points:
    """Return the numbers that a hierarchy lists.

    Where the grid is short every point of it is listed, as far as the schema's bounds go: so the list says little of
    the data.
    """
    grid = column.grid
    own = typed.to_numpy()
    if column.type == ValueType.INTEGER and grid == 1:
        places, on_grid = own.astype(np.int64), True  # a float would not hold 18 digits
    else:
        steps = own / grid
        on_grid = bool((np.abs(steps - np.rint(steps)) < 1e-6 * np.maximum(1.0, np.abs(steps))).all())
        places = (np.rint(steps) if on_grid else np.floor(steps)).astype(np.int64)
    ends = [round(bound / grid) for bound in (column.minimum, column.maximum) if isinstance(bound, float)]
    edges = [*ends, *([int(places.min()), int(places.max())] if len(places) else [])]
    if on_grid and edges and max(edges) - min(edges) < LONGEST_GRID:
        places = np.arange(min(edges), max(edges) + 1)
        return _Points(places, _times(places, grid), on_grid)
    return _Points(places, own, on_grid)


def _times(places: Whole, grid: float) -> Whole | Real:
    return places * int(grid) if grid == int(grid) else np.round(places * grid, 9)


def _texts(numbers: Whole | Real, column: Column) -> pl.Series:
    return texts(pl.Series(numbers).cast(column.dtype, strict=False), column)


def _number(value: float) -> float | int:
    rounded = round(value, 9)
    return int(rounded) if rounded == int(rounded) else rounded


_BEFORE_ERAS: Final = "明治より前"
_FIRST_UNITS: Final = ("month", "quarter", "year")


def _of_era(day: pl.Expr, label: Callable[[str], pl.Expr]) -> pl.Expr:
    """Return the label that ``label`` makes of each era, for the days that lie in it."""
    labels = pl.lit(_BEFORE_ERAS)
    for era, first in ERAS.items():
        labels = pl.when(day >= first).then(label(era)).otherwise(labels)
    return labels


def _era_year(day: pl.Expr, era: str) -> pl.Expr:
    """Return a day's year in the Japanese calendar.

    >>> days = pl.Series([dt.date(1989, 1, 8), dt.date(2019, 4, 30)]).to_frame("d")
    >>> days.select(_era_year(pl.col("d"), "平成")).to_series().to_list()
    ['平成元年', '平成31年']
    """
    number = day.dt.year() - ERAS[era].year + 1
    return pl.format(f"{era}{{}}年", pl.when(number == 1).then(pl.lit("元")).otherwise(number.cast(pl.String)))


UNITS: Final[Mapping[str, Callable[[pl.Expr], pl.Expr]]] = {
    "day": lambda day: day.dt.to_string("%Y/%-m/%-d"),
    "week": lambda day: day.dt.to_string("%G-W%V"),
    "week-year": lambda day: pl.concat_str(day.dt.to_string("%G"), pl.lit(" (weeks)")),
    "month": lambda day: day.dt.to_string("%Y-%m"),
    "quarter": lambda day: pl.format("{}-Q{}", day.dt.to_string("%Y"), day.dt.quarter()),
    "fiscal-year": lambda day: day.dt.offset_by("-3mo").dt.to_string("FY%Y"),
    "year": lambda day: day.dt.to_string("%Y"),
    "decade": lambda day: pl.format("{}-{}", day.dt.year() // 10 * 10, day.dt.year() // 10 * 10 + 9),
    "era-month": lambda day: _of_era(day, lambda era: pl.format("{}{}月", _era_year(day, era), day.dt.month())),
    "era-year": lambda day: _of_era(day, lambda era: _era_year(day, era)),
    "era": lambda day: _of_era(day, pl.lit),
}
"""What a day becomes: ISO weeks, months, quarters, years from April (fiscal) or January, eras."""


class Dates(Builder, by="dates"):
    """Days by weeks, months, quarters, years or eras, as far as each lies whole in the next."""

    @classmethod
    def _read(cls, text: str) -> tuple[Any, ...]:
        units = parts_of(text)
        for unit in units:
            if unit not in UNITS:
                near, known = suggestion(unit, UNITS), ", ".join(UNITS)
                raise ParameterError(say("unknown_unit", setting="unit", value=unit, hint=near, names=known))
        return tuple(units) or _FIRST_UNITS

    def _build(self, values: ColumnValues) -> Hierarchy:
        column, typed = values.column, values.typed
        if column.type == ValueType.DATE:  # all days between the ends where they are few, so that the list says little
            low = column.minimum if isinstance(column.minimum, dt.date) else typed.min()
            high = column.maximum if isinstance(column.maximum, dt.date) else typed.max()
            if isinstance(low, dt.date) and isinstance(high, dt.date) and (high - low).days < LONGEST_GRID:
                typed = pl.date_range(low, high, eager=True)
        labels = [UNITS[unit](pl.col("0").cast(pl.Date)).alias(unit) for unit in self.parameters]
        labelled = typed.to_frame("0").select(value_text(pl.col("0"), column), *labels)
        for here, above in itertools.pairwise(self.parameters):
            two = labelled.group_by(here, maintain_order=True).agg(pl.col(above).unique(maintain_order=True))
            for label, over in two.filter(pl.col(above).list.len() > 1).head(1).iter_rows():
                about = {"here": here, "above": above, "label": label, "first": over[0], "second": over[1]}
                raise ParameterError(say("not_nested", **about), column=column.name)
        return Hierarchy.of_labels(column.name, labelled["0"], [labelled[unit] for unit in self.parameters])


class Hours(Builder, by="hours"):
    """Times of day by the hour: ``8:26`` → ``8:00-8:59``."""

    def _build(self, values: ColumnValues) -> Hierarchy:
        return values.hierarchy([values.typed.dt.to_string("%-H:00-%-H:59")])


def date_hierarchy(name: str, values: Iterable[dt.date]) -> Hierarchy:
    """Return a hierarchy of days: day, month, quarter, year.

    >>> date_hierarchy("born", [dt.date(1990, 5, 17)]).labels.rows()
    [('1990/5/17', '1990-05', '1990-Q2', '1990', '*')]
    """
    days = pl.Series("0", sorted(set(values)), dtype=pl.Date).to_frame()
    own, *levels = days.select(UNITS[unit](pl.col("0")).alias(unit) for unit in ("day", *_FIRST_UNITS))
    return Hierarchy.of_labels(name, own, levels)
