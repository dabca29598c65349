"""The periods a ledger counts: which one a name means, and which one comes next."""

from __future__ import annotations

import re
from datetime import date, timedelta

import polars as pl

from noren.data.periods import Calendar, period_key, periods_of
from noren.errors import ParameterError
from noren.i18n import _

__all__ = ["CALENDARS", "folder_name", "named", "next_period"]

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
    """Return the name of the period that a person means by ``text``.

    >>> named("2011-01", "month"), named("2011w5", "week")
    ('2011/1', '2011/W5')
    """
    match = _FORMS[by].fullmatch(text.strip())
    try:
        if match is None:
            raise ValueError(text)
        return _name(_first_day(int(match[1]), int(match[2]), by), by)
    except ValueError:
        raise ParameterError(
            _("{text!r} names no period of the ledger").format(text=text),
            _("write it like {example}").format(example=CALENDARS[by]),
        ) from None


def next_period(name: str, by: Calendar) -> str:
    """Return the period that follows.

    >>> next_period("2010/12", "month"), next_period("2010/W52", "week"), next_period("2010/Q4", "quarter")
    ('2011/1', '2011/W1', '2011/Q1')
    """
    year, number = period_key(name)
    first = _first_day(year, number, by)
    days = {"month": _LONGEST, "week": 7, "quarter": 3 * _LONGEST}[by]
    return _name(first + timedelta(days=days), by)


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


def _name(day: date, by: Calendar) -> str:
    return str(periods_of(pl.Series([day]), by)[0])
