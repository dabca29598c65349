"""Days and times as people write them: ``01-Dec-2009``, ``平成30年4月1日``, ``H30.4.1``, ``3:05 PM``, ``T10:22Z``.

A column's ``format`` is a pattern of ``%`` codes, with four additions. ``%EY`` and ``%Ey`` at the start are a year of
a Japanese era in words (``平成30年``) or by its letter (``H30``). ``%z`` at the end is a time zone; it is left out, for
a shop's day ends at its own midnight: the clock on the wall counts. ``excel`` is the number of the day in spreadsheets
(45352 is 1 March 2024), ``unix`` the seconds since 1970 that programs count, or the milliseconds. Where a pattern has
seconds, a value may lack them or have a fraction.
"""

from __future__ import annotations

import datetime as dt
import functools
import re
from collections.abc import Iterator, Sequence

import polars as pl

from noren.data.formats.numbers import NUMBER, plain_signs

__all__ = [
    "DATE_FORMATS",
    "ERA_FORMATS",
    "EXCEL",
    "TIME_FORMATS",
    "UNIX",
    "format_reads_back",
    "moment_text",
    "moment_value",
    "plain_moment_value",
    "spelled",
]

_DEFAULT_DATES = ("%Y/%m/%d", "%Y-%m-%d")
DATE_FORMATS = (
    *_DEFAULT_DATES,
    *("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y%m%d", "%Y年%m月%d日"),
    *("%Y.%m.%d", "%d-%m-%Y", "%m-%d-%Y", "%d-%b-%Y", "%d %b %Y", "%b %d, %Y", "%b %d %Y"),
    *("%d %B %Y", "%B %d, %Y", "%d-%B-%Y", "%d-%b-%y", "%d/%m/%y", "%m/%d/%y"),
)
TIME_FORMATS = ("%H:%M", "%H:%M:%S", "%H:%M:%S%.f", "%I:%M %p", "%I:%M:%S %p", "%H時%M分", "%H時%M分%S秒")
ERA_FORMATS = ("%EY%m月%d日", "%Ey.%m.%d")
EXCEL = "excel"
UNIX = "unix"

_DTYPES: dict[str, pl.Date | pl.Time | pl.Datetime] = {
    "date": pl.Date(),
    "time": pl.Time(),
    "datetime": pl.Datetime("us"),
}
_TIMES = ("%H:%M", "%H:%M:%S%.f")
_DEFAULTS: dict[str, tuple[str, ...]] = {
    "date": _DEFAULT_DATES,
    "time": _TIMES,
    "datetime": tuple(f"{d}{gap}{t}" for d in _DEFAULT_DATES for gap in (" ", "T") for t in _TIMES),
}
_SAID = {"date": _DEFAULT_DATES, "time": ("%H:%M", "%H:%M:%S"), "datetime": ("%Y-%m-%d %H:%M:%S",)}
# the year before the first of each era
_ERAS = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018}
_LETTERS = {
    **dict(zip("MTSHR", _ERAS.values(), strict=True)),
    **dict(zip("mtshr", _ERAS.values(), strict=True)),
    **dict(zip("㍾㍽㍼㍻㋿", _ERAS.values(), strict=True)),
}
_ERA_DAY = (
    r"^(明治|大正|昭和|平成|令和|[MTSHRmtshr㍾㍽㍼㍻㋿])\.? ?(元|[0-9]{1,2}) ?[年./-] ?"
    r"([0-9]{1,2}) ?[月./-] ?([0-9]{1,2}) ?日?$"
)
_ZONE = r" ?(Z|z|UTC|GMT|[+-][0-9]{2}(:?[0-9]{2})?)$"
_EXCEL_DAY_ZERO = dt.datetime(1899, 12, 30)
_EXCEL_LAST_DAY = 2_958_465
_FEWEST_MILLISECONDS = 100_000_000_000  # as seconds the year 5138
_DAY_MICROSECONDS = 86_400_000_000
_SOME_MOMENT = dt.datetime(2009, 8, 7, 16, 45)


def plain_moment_value(text: pl.Expr, kind: str, pattern: str | None) -> pl.Expr:
    """Return days or times that are written by the very pattern, null elsewhere: the fast way, to be tried first."""
    if pattern is not None and _is_special(pattern):
        return moment_value(text, kind, pattern)
    return _first_fit(text, kind, _DEFAULTS[kind] if pattern is None else (pattern,))


def moment_value(text: pl.Expr, kind: str, pattern: str | None) -> pl.Expr:
    """Return the day or time of each text, null where it is written otherwise or no calendar has it.

    >>> pl.select(moment_value(pl.lit("平成30年4月1日"), "date", "%EY%m月%d日")).item()
    datetime.date(2018, 4, 1)
    >>> pl.select(moment_value(pl.lit("2024-03-01T10:22:33.5+09:00"), "datetime", "%Y-%m-%dT%H:%M:%S%z")).item()
    datetime.datetime(2024, 3, 1, 10, 22, 33, 500000)
    """
    bare = plain_signs(text)
    if pattern is None:
        return _first_fit(bare, kind, _DEFAULTS[kind])
    if pattern == EXCEL:
        return pl.coalesce(_of_serial(bare, kind), _first_fit(bare, kind, _DEFAULTS[kind]))
    if pattern == UNIX:
        return pl.coalesce(_of_unix(bare), _first_fit(bare, kind, _DEFAULTS[kind]))
    if pattern in ERA_FORMATS:
        return pl.coalesce(_of_era(bare), _first_fit(bare, kind, ("%Y年%m月%d日", *_DEFAULTS[kind])))
    if pattern.endswith("%z"):
        bare, pattern = bare.str.replace(_ZONE, ""), pattern.removesuffix("%z")
    return _first_fit(bare, kind, tuple(_with_and_without_seconds(pattern)))


def moment_text(value: pl.Expr, kind: str, pattern: str) -> pl.Expr:
    """Write days or times by a pattern so that they are read back; special ones in the usual way, ``2018/04/01``."""
    if pattern in (*ERA_FORMATS, EXCEL, UNIX):
        pattern = {"date": "%Y/%m/%d", "time": "%H:%M:%S", "datetime": "%Y/%m/%d %H:%M:%S"}[kind]
    pattern = pattern.removesuffix("%z")
    if "%S" not in pattern or "%.f" in pattern:
        return value.dt.to_string(pattern)
    exact = value.dt.to_string(pattern.replace("%S", "%S%.f"))
    return pl.when(value.dt.nanosecond() == 0).then(value.dt.to_string(pattern)).otherwise(exact)


@functools.cache
def format_reads_back(pattern: str, kind: str) -> bool:
    """Tell whether a value written by a date or time pattern is read back as itself."""
    if pattern in ERA_FORMATS:
        return kind == "date"
    if pattern == EXCEL:
        return kind in ("date", "datetime")
    if pattern == UNIX:
        return kind == "datetime"
    if pattern.endswith("%z") and kind != "datetime":
        return False
    moment = {"date": _SOME_MOMENT.date(), "time": _SOME_MOMENT.time()}.get(kind, _SOME_MOMENT)
    cell = pl.lit(moment, dtype=_DTYPES[kind])
    try:
        return bool(pl.select(moment_value(moment_text(cell, kind, pattern), kind, pattern) == cell).item())
    except pl.exceptions.PolarsError:
        return False


def spelled(pattern: str | None, kind: str) -> tuple[str, ...]:
    """Return how a format reads in a message: ``YYYY/MM/DD``.

    >>> spelled(None, "date"), spelled("%EY%m月%d日", "date")
    (('YYYY/MM/DD', 'YYYY-MM-DD'), ('平成YY年MM月DD日',))
    """
    names = {
        "%EY": "平成YY年",
        "%Ey": "HYY",
        "%Y": "YYYY",
        "%y": "YY",
        "%m": "MM",
        "%d": "DD",
        "%H": "HH",
        "%I": "HH",
        "%M": "MM",
        "%S": "SS",
        "%.f": ".fff",
        "%b": "Mon",
        "%B": "Month",
        "%p": "PM",
        "%z": "+hh:mm",
    }
    said = []
    for one in (pattern,) if pattern else _SAID[kind]:
        for code, name in names.items():
            one = one.replace(code, name)
        said.append(one)
    return tuple(said)


def _is_special(pattern: str) -> bool:
    return pattern in (*ERA_FORMATS, EXCEL, UNIX) or pattern.endswith("%z")


def _with_and_without_seconds(pattern: str) -> Iterator[str]:
    yield pattern
    if "%S" in pattern:
        whole = pattern.replace("%.f", "")
        yield whole.replace("%S", "%S%.f")
        yield re.sub(r":%S|%S秒", "", whole)


def _first_fit(text: pl.Expr, kind: str, formats: Sequence[str]) -> pl.Expr:
    value = pl.coalesce(text.str.strptime(_DTYPES[kind], f, strict=False, exact=True) for f in formats)
    # years have four digits: Polars reads -2010 and +12010 as well, which no one can write back
    return value if kind == "time" else pl.when(value.dt.year().is_between(1, 9999)).then(value)


def _of_era(text: pl.Expr) -> pl.Expr:
    """Read days of Japanese eras; a year after the era's end is counted on, as printed forms do (平成31年5月1日)."""
    parts = text.str.extract_groups(_ERA_DAY)
    before = parts.struct.field("1").replace_strict(_ERAS | _LETTERS, default=None, return_dtype=pl.Int32)
    number = parts.struct.field("2").replace("元", "1").cast(pl.Int32, strict=False)
    day = pl.concat_str(
        (before + number).cast(pl.String), parts.struct.field("3"), parts.struct.field("4"), separator="/"
    )
    return pl.when(number >= 1).then(day.str.strptime(pl.Date(), "%Y/%m/%d", strict=False, exact=True))


def _of_serial(text: pl.Expr, kind: str) -> pl.Expr:
    """Read the number of a day as spreadsheets count: 1 is 1 January 1900, and a leap day that never was is counted."""
    days = pl.when(text.str.contains(NUMBER)).then(text).cast(pl.Float64, strict=False)
    # before 1 March 1900 the count is off by that day
    inside = (days > 60) & (days < _EXCEL_LAST_DAY + 1)
    if kind == "date":
        whole = inside & (days == days.floor())
        since = pl.when(whole).then(days).cast(pl.Int64) * _DAY_MICROSECONDS
        return (pl.lit(_EXCEL_DAY_ZERO) + since.cast(pl.Duration("us"))).cast(pl.Date)
    # a double holds a moment of our days to some microseconds: what was meant is the millisecond
    since = (pl.when(inside).then(days) * 86_400_000).round().cast(pl.Int64) * 1000
    return (pl.lit(_EXCEL_DAY_ZERO) + since.cast(pl.Duration("us"))).cast(pl.Datetime("us"))


def _of_unix(text: pl.Expr) -> pl.Expr:
    """Read seconds since 1970, as the world counts them; numbers too large for that are milliseconds."""
    count = pl.when(text.str.contains(r"^[0-9]{1,15}$")).then(text).cast(pl.Int64, strict=False)
    thousands = pl.when(count >= _FEWEST_MILLISECONDS).then(1_000).otherwise(1_000_000)
    return (count * thousands).cast(pl.Datetime("us"))
