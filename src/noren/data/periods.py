"""Periods of time: the months, weeks or quarters at whose turn pseudonyms change (S3).

A period has a name that people read and programs can order: months ``2010/12`` and ``2011/1`` as the contest writes
them, quarters ``2010/Q4``, weeks ``2010/W48`` (ISO 8601: the week belongs to the year of its Thursday), and, where the
steward gives the days on which periods begin, the first day ``2010/12/1``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Literal

import polars as pl

from noren.errors import ParameterError
from noren.i18n import _

Calendar = Literal["month", "week", "quarter"]


def periods_of(dates: pl.Series, by: Calendar | Sequence[date] = "month") -> pl.Series:
    """Return the name of the period each date falls in; null for no date.

    ``by`` is ``month``, ``week``, ``quarter``, or the first days of the periods; nothing may come before the first.

    >>> days = pl.Series([date(2010, 12, 31), date(2011, 1, 1), None])
    >>> [periods_of(days, by).to_list()[:2] for by in ("month", "week", "quarter")]
    [['2010/12', '2011/1'], ['2010/W52', '2010/W52'], ['2010/Q4', '2011/Q1']]
    >>> periods_of(days, [date(2010, 12, 1), date(2011, 1, 1)]).to_list()
    ['2010/12/1', '2011/1/1', None]
    """
    day = pl.col("day")
    frame = dates.to_frame("day")
    if isinstance(by, str):
        name = {
            "month": pl.format("{}/{}", day.dt.year(), day.dt.month()),
            "week": pl.format("{}/W{}", day.dt.iso_year(), day.dt.week()),
            "quarter": pl.format("{}/Q{}", day.dt.year(), day.dt.quarter()),
        }[by]
        return frame.select(pl.when(day.is_not_null()).then(name).alias("period")).to_series()
    starts, first = sorted(by), dates.min()
    if not starts or len(set(starts)) < len(starts):
        raise ParameterError(_("periods need different first days"))
    if isinstance(first, date) and first < starts[0]:
        message = _("{day} lies before the first period; start it on that day or earlier")
        raise ParameterError(message.format(day=first.isoformat()))
    names = pl.Series([f"{d.year}/{d.month}/{d.day}" for d in starts], dtype=pl.String)
    places = pl.Series(starts).search_sorted(dates.drop_nulls(), side="right") - 1
    rows = dates.is_not_null().arg_true()
    empty = pl.Series("period", [None], dtype=pl.String).new_from_index(0, len(dates))
    return empty.scatter(rows, names.gather(places)) if len(rows) else empty


def period_key(name: str) -> tuple[int, ...]:
    """Return what periods of one kind are ordered by: the numbers in the name.

    >>> sorted(["2011/10", "2011/2", "2010/12"], key=period_key)
    ['2010/12', '2011/2', '2011/10']
    """
    return tuple(int(number) for number in re.findall(r"\d+", name))


def of_one_kind(names: Iterable[str], others: Iterable[str]) -> bool:
    """Tell whether names of periods are of one kind: all months, or all weeks, quarters, or days that begin periods.

    >>> of_one_kind(["2010/12"], ["2011/1", "2011/2"]), of_one_kind(["2010/12"], ["2010/W48"])
    (True, False)
    """
    return len({re.sub(r"\d+", "0", name) for name in (*names, *others)}) <= 1


def in_order(names: Iterable[str]) -> list[str]:
    """Return the names of periods in order of time, each once."""
    return sorted(set(names), key=period_key)
