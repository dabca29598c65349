"""Hierarchies of days and moments: weeks, months, quarters, years, and the eras of Japan.

Not every unit lies in every other: the week from 29 December 2008 lies in two years, and the year 1989 in two eras.
What is asked for is built where it nests on the values there are, and refused with an example where it does not.
Months, quarters and years always nest; so do weeks in years of weeks, and months, years and eras of the Japanese
calendar.

An era begins on the day of its proclamation (Meiji, which was reckoned back, on the first day of its first year,
25 January 1868); its first year is called 元年 and ends with December. Until 1872 Japan counted months by the moon, and
we do not: there a month of an era is that of the Gregorian calendar.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

import polars as pl

from noren.data.formats.render import value_text
from noren.data.hierarchies.builder import Builder, parts_of
from noren.data.hierarchies.column_values import ColumnValues
from noren.data.hierarchies.levels import Hierarchy
from noren.data.hierarchies.numbers import LONGEST_GRID
from noren.data.schema import Column, ValueType
from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.naming import suggestion

__all__ = ["ERAS", "UNITS", "Dates", "date_hierarchy", "era_year"]

ERAS: Final = (
    ("明治", dt.date(1868, 1, 25)),
    ("大正", dt.date(1912, 7, 30)),
    ("昭和", dt.date(1926, 12, 25)),
    ("平成", dt.date(1989, 1, 8)),
    ("令和", dt.date(2019, 5, 1)),
)
"""The eras of modern Japan with their first days."""
_BEFORE_ERAS: Final = "明治より前"
_FIRST_UNITS: Final = ("month", "quarter", "year")


def _of_era(day: pl.Expr, at_first: Callable[[str], pl.Expr]) -> pl.Expr:
    """Return what ``at_first`` makes of each era, for the days that lie in it."""
    found = pl.lit(_BEFORE_ERAS)
    for era, first in ERAS:
        found = pl.when(day >= first).then(at_first(era)).otherwise(found)
    return found


def era_year(day: pl.Expr) -> pl.Expr:
    """Return a day's year in the Japanese calendar.

    >>> days = pl.Series([dt.date(2019, 4, 30), dt.date(2019, 5, 1), dt.date(1989, 1, 7), dt.date(1926, 12, 25)])
    >>> days.to_frame("d").select(era_year(pl.col("d"))).to_series().to_list()
    ['平成31年', '令和元年', '昭和64年', '昭和元年']
    """
    first_years = {era: first.year for era, first in ERAS}

    def years(era: str) -> pl.Expr:
        number = day.dt.year() - first_years[era] + 1
        text = pl.when(number == 1).then(pl.lit("元")).otherwise(number.cast(pl.String))
        return pl.concat_str(pl.lit(era), text, pl.lit("年"))

    return _of_era(day, years)


def _era_month(day: pl.Expr) -> pl.Expr:
    before = day < ERAS[0][1]
    month = pl.concat_str(era_year(day), day.dt.month().cast(pl.String), pl.lit("月"))
    return pl.when(before).then(pl.lit(_BEFORE_ERAS)).otherwise(month)


def _quarter(day: pl.Expr) -> pl.Expr:
    return pl.concat_str(day.dt.to_string("%Y"), pl.lit("-Q"), day.dt.quarter().cast(pl.String))


def _fiscal_year(day: pl.Expr) -> pl.Expr:
    return pl.concat_str(pl.lit("FY"), day.dt.offset_by("-3mo").dt.to_string("%Y"))


def _decade(day: pl.Expr) -> pl.Expr:
    first = day.dt.year() // 10 * 10
    return pl.concat_str(first.cast(pl.String), pl.lit("-"), (first + 9).cast(pl.String))


UNITS: Final[Mapping[str, Callable[[pl.Expr], pl.Expr]]] = {
    "day": lambda day: day.dt.to_string("%Y/%-m/%-d"),
    "week": lambda day: day.dt.to_string("%G-W%V"),
    "week-year": lambda day: pl.concat_str(day.dt.to_string("%G"), pl.lit(" (weeks)")),
    "month": lambda day: day.dt.to_string("%Y-%m"),
    "quarter": _quarter,
    "fiscal-year": _fiscal_year,
    "year": lambda day: day.dt.to_string("%Y"),
    "decade": _decade,
    "era-month": _era_month,
    "era-year": era_year,
    "era": lambda day: _of_era(day, pl.lit),
}
"""What a day becomes: ISO weeks, months, quarters, years from April (fiscal) or January, eras."""


@dataclass(frozen=True)
class Dates(Builder):
    """Days by weeks, months, quarters, years or eras, as far as each lies whole in the next."""

    units: tuple[str, ...] = _FIRST_UNITS

    by: ClassVar[str] = "dates"
    summary: ClassVar[str] = N_("calendar units: week, month, quarter, year, Japanese era")
    asks: ClassVar[str] = N_(
        "day, week, week-year, month, quarter, fiscal-year, year, decade, era-month, era-year, era; from fine to wide"
    )
    example: ClassVar[str] = "month, era-year, era"
    types: ClassVar[frozenset[ValueType]] = frozenset({ValueType.DATE, ValueType.DATETIME})

    @classmethod
    def of_text(cls, text: str, other: str) -> Dates:
        """Return the builder of the units that somebody typed."""
        units = parts_of(text)
        for unit in units:
            if unit not in UNITS:
                known = ", ".join(UNITS)
                raise ParameterError(
                    _("there is no unit {unit!r} of days{near}").format(unit=unit, near=suggestion(unit, UNITS)),
                    _("use some of {names}").format(names=known),
                )
        return cls(tuple(units) or _FIRST_UNITS)

    def build(self, values: ColumnValues) -> Hierarchy:
        """Return the hierarchy of a column's values."""
        column = values.column
        is_day = column.type == ValueType.DATE
        typed = _days(column, values.typed) if is_day else values.typed
        shown = typed.to_frame("0").select(
            value_text(pl.col("0"), column),
            *(UNITS[unit](pl.col("0").cast(pl.Date)).alias(unit) for unit in self.units),
        )
        _stop_at_split(shown, self.units, column.name)
        return Hierarchy.of_labels(column.name, shown["0"], [shown[unit] for unit in self.units])


def _stop_at_split(shown: pl.DataFrame, units: tuple[str, ...], column: str) -> None:
    """Stop where a label of one unit lies in two of the next, and show one."""
    for here, above in itertools.pairwise(units):
        two = shown.group_by(here, maintain_order=True).agg(pl.col(above).unique(maintain_order=True))
        split = two.filter(pl.col(above).list.len() > 1)
        if len(split):
            label, over = split.row(0)
            raise ParameterError(
                _("{here} does not nest in {above}: {label} lies in {one} and in {other}").format(
                    here=here, above=above, label=label, one=over[0], other=over[1]
                ),
                _("month, quarter, year nest; so do week, week-year, and era-month, era-year, era"),
                column=column,
            )


def _days(column: Column, typed: pl.Series) -> pl.Series:
    """Return the days that a hierarchy lists: all between the ends where they are few, so that it says little."""
    low = column.minimum if isinstance(column.minimum, dt.date) else typed.min()
    high = column.maximum if isinstance(column.maximum, dt.date) else typed.max()
    if isinstance(low, dt.date) and isinstance(high, dt.date) and (high - low).days < LONGEST_GRID:
        return pl.date_range(low, high, eager=True)
    return typed


def date_hierarchy(name: str, values: Iterable[dt.date]) -> Hierarchy:
    """Return a hierarchy of days: day, month, quarter, year.

    >>> date_hierarchy("born", [dt.date(1990, 5, 17)]).labels.rows()
    [('1990/5/17', '1990-05', '1990-Q2', '1990', '*')]
    """
    days = pl.Series("0", sorted(set(values)), dtype=pl.Date)
    units = [UNITS[unit](pl.col("0")).alias(unit) for unit in _FIRST_UNITS]
    shown = days.to_frame().select(UNITS["day"](pl.col("0")), *units)
    return Hierarchy.of_labels(name, shown["0"], [shown[unit] for unit in _FIRST_UNITS])
