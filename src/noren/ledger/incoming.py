"""Rows of the next period in a file, and the check that released periods are unchanged."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path

import polars as pl

from noren.data.arrays import exact_values
from noren.data.formats.render import Spelling
from noren.data.frames import History
from noren.data.periods import Calendar, in_order, period_key, periods_of
from noren.data.schema import Role, Schema
from noren.errors import InputError, ParameterError, SchemaError
from noren.i18n import _
from noren.tables import Texts

say = Texts(__name__)


@dataclass(frozen=True)
class PastPeriod:
    """A released period: the number of its original rows, and their digest."""

    rows: int
    digest: str


@dataclass(frozen=True)
class PeriodRows:
    """The rows of one period, and notes about rows that were left out."""

    period: str
    rows: History
    notes: tuple[str, ...] = ()


def content_digest(rows: History) -> str:
    """Return the SHA-256 of rows in whatever order they stand.

    >>> cells = {"customer": ["a", "b"], "date": "2011/1/1", "item": "x", "price": 1.0, "quantity": 1}
    >>> history = History.of(cells, Schema.preset("pwscup2018"))
    >>> content_digest(history) == content_digest(history.take(pl.Series([1, 0])))
    True
    """
    content = hashlib.sha256()
    for start in range(0, len(lines := rows.lines().sort()), 1 << 18):
        content.update(("\n".join(lines[start : start + (1 << 18)].to_list()) + "\n").encode())
    return content.hexdigest()


def periods_to_come(history: History, by: Calendar, past: Mapping[str, PastPeriod]) -> list[str]:
    """Return the periods of a file that are later than all that was released, in order."""
    last = max(past, key=period_key, default=None)
    periods = in_order(_periods(history, by))
    return [name for name in periods if last is None or period_key(name) > period_key(last)]


def incoming(
    history: History,
    schema: Schema,
    by: Calendar,
    past: Mapping[str, PastPeriod],
    *,
    wanted: str | None = None,
    allow_gap: bool = False,
    source: str | Path | None = None,
) -> PeriodRows:
    """Return the rows of the period to add: the one ``wanted``, else the first that was not released.

    ``past`` are the periods released. A file must contain all their rows unchanged, or none of them. Errors name the
    file ``source``.
    """
    try:
        if history.schema != schema:
            raise SchemaError(say("other_schema", own=history.schema.name, schema=schema.name))
        plain = replace(history, frame=history.frame.select(schema.names), spelling=Spelling())
        periods = _periods(plain, by)
        held = in_order(periods)
        period = _chosen(held, by, past, None if wanted is None else named(wanted, by), allow_gap=allow_gap)
        for name in (name for name in held if name in past):
            rows = plain.take((periods == name).arg_true())
            if content_digest(rows) != past[name].digest:
                raise ParameterError(say("past_changed", period=name, then=past[name].rows, now=len(rows)))
    except InputError as error:
        problem = error.problem
        raise type(error)(problem.rule, problem.cure, file=source, column=problem.column) from None
    later = int(periods.is_in([name for name in held if period_key(name) > period_key(period)]).sum())
    earlier = [name for name in held if name not in past and period_key(name) < period_key(period)]
    never = int(periods.is_in(earlier).sum())
    notes = []
    if later:
        notes.append(_("rows of later periods, not added: {count:,}").format(count=later))
    if never:
        notes.append(_("rows of earlier, unreleased periods, ignored: {count:,}").format(count=never))
    return PeriodRows(period, plain.take((periods == period).arg_true()), tuple(notes))


def _periods(history: History, by: Calendar) -> pl.Series:
    """Return the period of every row; stop at rows without a date or a customer."""
    column = history.schema.role(Role.DATE)
    dates = exact_values(history, column)
    for part, values in ((column, dates), (history.schema.role(Role.CUSTOMER), history[Role.CUSTOMER])):
        if missing := values.null_count():
            raise ParameterError(say("no_value", count=missing), column=part.name)
    return periods_of(dates.cast(pl.Date), by)


def _chosen(
    held: list[str], by: Calendar, past: Mapping[str, PastPeriod], wanted: str | None, *, allow_gap: bool
) -> str:
    """Return the period to add; stop at one that was released, has no rows, or is not the next."""
    last = max(past, key=period_key, default=None)
    expected = None if last is None else next_period(last, by)
    if not held:
        raise ParameterError(say("no_rows"))
    if wanted in past:
        raise ParameterError(say("already_released", period=wanted, expected=expected))
    if wanted is None:
        later = [name for name in held if last is None or period_key(name) > period_key(last)]
        if not later:
            raise ParameterError(say("ends_before", period=held[-1], last=last, expected=expected))
        wanted = later[0]
    if last is not None and period_key(wanted) < period_key(last):
        raise ParameterError(say("before_last", period=wanted, last=last, expected=expected))
    if wanted not in held:
        raise ParameterError(say("not_in_file", period=wanted, first=held[0], last=held[-1]))
    if expected is not None and wanted != expected and not allow_gap:
        raise ParameterError(say("gap", last=last, expected=expected, period=wanted))
    return wanted


# --- the periods a ledger counts --------------------------------------------------------------------------------------

CALENDARS: dict[Calendar, str] = {"month": "2011/1", "week": "2011/W5", "quarter": "2011/Q1"}
"""The periods there are, each with an example of its names."""

_FORMS = {
    "month": re.compile(r"(\d{4})[/-](\d{1,2})"),
    "week": re.compile(r"(\d{4})[/-]?W(\d{1,2})", re.IGNORECASE),
    "quarter": re.compile(r"(\d{4})[/-]?Q(\d)", re.IGNORECASE),
}
_LONGEST = 31
"""Days from the first day of a month, and less than two, to a day of the next."""


def named(text: str, by: Calendar) -> str:
    """Return the name of the period that a user writes as ``text``.

    >>> named("2011-01", "month"), named("2011w5", "week")
    ('2011/1', '2011/W5')
    """
    match = _FORMS[by].fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError(text)
        return str(periods_of(pl.Series([_first_day(int(match[1]), int(match[2]), by)]), by)[0])
    except ValueError:
        raise ParameterError(say("unknown_period", text=text, example=CALENDARS[by])) from None


def next_period(name: str, by: Calendar) -> str:
    """Return the period that follows.

    >>> next_period("2010/12", "month"), next_period("2010/W52", "week"), next_period("2010/Q4", "quarter")
    ('2011/1', '2011/W1', '2011/Q1')
    """
    year, number = period_key(name)
    first = _first_day(year, number, by)
    days = {"month": _LONGEST, "week": 7, "quarter": 3 * _LONGEST}[by]
    return str(periods_of(pl.Series([first + timedelta(days=days)]), by)[0])


def folder_name(period: str) -> str:
    """Return the name of the folder that holds a period's release.

    >>> folder_name("2011/1")
    '2011-1'
    """
    return period.replace("/", "-")


def _first_day(year: int, number: int, by: Calendar) -> date:
    if by == "week":
        return date.fromisocalendar(year, number, 1)
    return date(year, number if by == "month" else 3 * number - 2, 1)
