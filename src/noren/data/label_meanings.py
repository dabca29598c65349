"""What a label of a generalised column means, as anybody reads it: a range of numbers, a part of a code, a month.

Hierarchies write ``20-29`` and ``80**``, ARX ``[20, 30[``. A label that says nothing of this kind, such as
``Undergraduate``, has a meaning in its hierarchy alone.
"""

from __future__ import annotations

import calendar
import datetime as dt
import math
import re
from typing import NamedTuple

__all__ = ["date_range", "number_range", "prefix"]

_NUMBER = r"(-?\d+(?:\.\d+)?)"
_BETWEEN = re.compile(rf"^{_NUMBER}\s*[-–—~]\s*{_NUMBER}$")
_BRACKETS = re.compile(rf"^([\[\](]){_NUMBER}\s*[,;]\s*{_NUMBER}([\[\])])$")
_BELOW = re.compile(rf"^(<|<=|≤){_NUMBER}$")
_ABOVE = re.compile(rf"^(>|>=|≥){_NUMBER}$|^{_NUMBER}\+$")
_DAYS = re.compile(r"^(\d{4})(?:-(\d{2})|-Q([1-4]))?$")
_MASKED = re.compile(r"^([^*]+)\*+$")


class Range(NamedTuple):
    """The values from ``low`` to ``high``; an end is left out where it is open."""

    low: float
    high: float
    open_low: bool = False
    open_high: bool = False


def number_range(label: str) -> Range | None:
    """Return the range of numbers that a label means; None where it means none.

    >>> number_range("[20, 30[")
    Range(low=20.0, high=30.0, open_low=False, open_high=True)
    >>> number_range("20-29")[:2]
    (20.0, 29.0)
    >>> number_range("≤20").high, number_range("80+").low, number_range("young")
    (20.0, 80.0, None)
    """
    text = label.strip()
    if found := _BETWEEN.match(text):
        return Range(float(found[1]), float(found[2]))
    if found := _BRACKETS.match(text):
        return Range(float(found[2]), float(found[3]), found[1] in "](", found[4] in "[)")
    if found := _BELOW.match(text):
        return Range(-math.inf, float(found[2]), open_high=found[1] == "<")
    if found := _ABOVE.match(text):
        return Range(float(found[2] or found[3]), math.inf, open_low=found[1] == ">")
    return None


def date_range(label: str) -> tuple[dt.date, dt.date] | None:
    """Return the first and the last day of a year, a quarter or a month.

    >>> date_range("1990-Q2")
    (datetime.date(1990, 4, 1), datetime.date(1990, 6, 30))
    """
    found = _DAYS.match(label.strip())
    if found is None or int(found[1]) == 0 or not 1 <= int(found[2] or 1) <= 12:
        return None
    year, quarter = int(found[1]), int(found[3] or 0)
    first, last = (3 * quarter - 2, 3 * quarter) if quarter else (1, 12)
    if found[2]:
        first = last = int(found[2])
    return dt.date(year, first, 1), dt.date(year, last, calendar.monthrange(year, last)[1])


def prefix(label: str) -> str | None:
    """Return what a masked label begins with.

    >>> prefix("80**"), prefix("Bern")
    ('80', None)
    """
    found = _MASKED.match(label.strip())
    return found[1] if found else None
