"""Numbers, days and times as people write them: ``1.249,00``, ``(5.00)``, ``１，２８０円``, ``平成30年4月1日``.

A column writes its numbers in one way, and a schema names that way by an example, ``number = "1.234,56"``: which sign
groups the thousands, which one starts the fraction, and whether a percent sign follows. Around the digits every way
allows a currency (``$5``, ``5 EUR``, ``1,280円``), brackets or a sign for negative numbers, spaces, and full-width
signs. A group has three digits, so ``1,28`` is no number where commas group; what does not fit is never guessed at.

A column's ``format`` of days and times is a pattern of ``%`` codes, with four additions. ``%EY`` and ``%Ey`` at the
start are a year of a Japanese era in words (``平成30年``) or by its letter (``H30``). ``%z`` at the end, or before a
year at the end (``Tue May 22 12:42:28 +0000 2012``), is a time zone; it is left out, for a shop's day ends at its own
midnight: the clock on the wall counts. ``excel`` is the number of the day in spreadsheets (45352 is 1 March 2024),
``unix`` the seconds since 1970 that programs count, or the milliseconds. Where a pattern has seconds, a value may lack
them or have a fraction.
"""

from __future__ import annotations

import datetime as dt
import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from noren.tables import table_of

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?$"
INTEGER = r"^[+-]?[0-9]{1,18}$"

_GROUPED = ("1,234.56", "1.234,56", "1 234,56", "1 234.56", "1'234.56")
NUMBER_FORMATS = (*_GROUPED, *(f"{example}%" for example in _GROUPED))
"""The ways to write numbers, each named by an example."""

_WORDS = table_of(__name__)
CURRENCIES = _WORDS["currencies"].split()
"""Signs, words and codes of money that may stand before or after a number."""

# full-width forms of ASCII, and the spaces, dashes and apostrophes of typesetting
_FOREIGN = {chr(code + 0xFEE0): chr(code) for code in range(0x21, 0x7F)}
_FOREIGN |= {sign: plain for signs, plain in _WORDS["plain_signs"].items() for sign in signs}
_MICRO = 1_000_000  # cells are cut in millionths of a degree, about 0.1 m, so that they nest
_MONEY = "|".join(re.escape(sign) for sign in sorted(CURRENCIES, key=len, reverse=True))


@dataclass(frozen=True)
class NumberFormat:
    """Which sign groups thousands, which one starts the fraction, and whether the numbers are percentages."""

    name: str
    group: str
    point: str
    percent: bool

    @property
    def agrees_with_plain(self) -> bool:
        """Whether a number written plainly (``1234.5``) means the same in this way."""
        return self.point == "." and not self.percent


@functools.cache
def number_format(name: str) -> NumberFormat:
    """Return the way to write numbers that an example names.

    >>> number_format("1.234,56")
    NumberFormat(name='1.234,56', group='.', point=',', percent=False)
    """
    return NumberFormat(name, group=name[1], point=name[5], percent=name.endswith("%"))


def plain_signs(text: pl.Expr) -> pl.Expr:
    """Return texts with full-width letters, digits and signs as ASCII, and every kind of space as one.

    >>> pl.select(plain_signs(pl.lit("１，２８０円"))).item()
    '1,280円'
    """
    return text.str.replace_many(list(_FOREIGN), list(_FOREIGN.values())).str.strip_chars(" \t")


def number_value(text: pl.Expr, name: str) -> pl.Expr:
    """Return numbers as plain text (``-1249.5``, a percentage as ``12.5e-2``), null where they are written otherwise.

    >>> pl.select(number_value(pl.lit("(¥1,280)"), "1,234.56")).item()
    '-1280'
    """
    way = number_format(name)
    group, point = re.escape(way.group), re.escape(way.point)
    between = "[0-9]{2,3}" if way.group == "," else "[0-9]{3}"  # in India 1,00,000
    digits = rf"([0-9]{{1,3}}(?:{group}{between})*{group}[0-9]{{3}}|[0-9]+)?({point}[0-9]*)?"
    money = rf"(?:{_MONEY})?"
    percent = " ?%" if way.percent else ""
    cell = rf"^([+-]?) ?{money} ?([+-]?) ?{digits}(?:[eE]([+-]?[0-9]{{1,3}}))?{percent} ?{money}(-?)$"
    bare = plain_signs(text)
    bracketed = bare.str.contains(r"^\(.*\)$")
    inside = pl.when(bracketed).then(bare.str.strip_chars("() ")).otherwise(bare)
    parts = inside.str.extract_groups(cell)
    whole = parts.struct.field("3").fill_null("").str.replace_all(way.group, "", literal=True)
    fraction = parts.struct.field("4").fill_null("").str.slice(1)
    signs = pl.concat_str((parts.struct.field(part) for part in "126"), ignore_nulls=True).str.strip_chars("+")
    power = parts.struct.field("5").cast(pl.Int32, strict=False).fill_null(0) - (2 if way.percent else 0)
    minus = pl.when((signs == "-") | bracketed).then(pl.lit("-")).otherwise(pl.lit(""))
    value = pl.concat_str(
        minus,
        pl.when(whole == "").then(pl.lit("0")).otherwise(whole),
        pl.when(fraction == "").then(pl.lit("")).otherwise(pl.concat_str(pl.lit("."), fraction)),
        pl.when(power != 0).then(pl.concat_str(pl.lit("e"), power)).otherwise(pl.lit("")),
    )
    good = (
        ((whole != "") | (fraction != ""))
        & (signs.str.len_chars() <= 1)
        & ~(bracketed & (signs == "-"))
        & (bracketed | ~bare.str.contains(r"[()]"))
    )
    return pl.when(good).then(value)


def currencies_of(texts: pl.Series) -> set[str]:
    """Return the kinds of money that a column names, each in one spelling."""
    money = plain_signs(pl.col("text")).str.extract_all(_MONEY).list.explode(empty_as_null=False).drop_nulls()
    signs = texts.to_frame("text").select(money.unique()).to_series()
    return {_WORDS["same_money"].get(sign, sign) for sign in signs}


def number_text(value: pl.Expr, name: str) -> pl.Expr:
    """Write numbers so that :func:`number_value` reads them back, without groups.

    A fraction of three digits gets a fourth where it could be taken for a group: ``1,2490``.

    >>> pl.select(number_text(pl.lit(-1.249), "1.234,56")).item()
    '-1,2490'
    """
    way = number_format(name)
    plain = decimal_text(value.cast(pl.Float64))
    if way.percent:
        # a share in percent, with the fewest digits that read back as itself
        times = value * 100
        texts = [decimal_text(rounded) for rounded in (times.round(10), times.round_sig_figs(15))]
        read = [pl.concat_str(text, pl.lit("e-2")).cast(pl.Float64, strict=False) for text in texts]
        same = [pl.when(rounded == value).then(text) for rounded, text in zip(read, texts, strict=True)]
        plain = pl.coalesce(*same, decimal_text(times))
    if way.point == ",":
        plain = plain.str.replace(r"^([+-]?[1-9][0-9]{0,2}\.[0-9]{3})$", "${1}0").str.replace(".", ",", literal=True)
    return pl.concat_str(plain, pl.lit("%")) if way.percent else plain


def decimal_text(value: pl.Expr) -> pl.Expr:
    """Write a number with the fewest digits that read back as itself: 2.1, 3, 0.001."""
    plain = value.cast(pl.String).str.strip_suffix(".0")
    # shortest notation turns to exponents for small and large numbers; there, fixed notation where it says the same
    small = value.cast(pl.Decimal(38, 12), strict=False).cast(pl.String).str.strip_chars_end("0").str.strip_suffix(".")
    fixed = pl.when(value.abs() < 1).then(small).otherwise(value.cast(pl.Int64, strict=False).cast(pl.String))
    same = plain.str.contains("e", literal=True) & (fixed.cast(pl.Float64, strict=False) == value)
    return pl.when(same).then(fixed).otherwise(plain)


def grid_cell(degrees: pl.Expr, width: float) -> pl.Expr:
    """Return the cell of a grid of degrees that a coordinate lies in, from its lower to its upper edge.

    >>> pl.select(grid_cell(pl.lit(pl.Series([35.6586, -0.001, 35.65])), 0.01)).to_series().to_list()
    ['35.65-35.66', '-0.01-0', '35.65-35.66']
    """
    step = round(width * _MICRO)
    low = (degrees * _MICRO).round().cast(pl.Int64) // step * step
    ends = (decimal_text(((low + more).cast(pl.Float64) / _MICRO).round(6)) for more in (0, step))
    return pl.concat_str(*ends, separator="-")


def fitting_formats(texts: pl.Series) -> Sequence[str]:
    """Return the ways in which every one of some filled texts is a number, the likeliest first.

    >>> fitting_formats(pl.Series(["1.249,50"])), fitting_formats(pl.Series(["1,280"]))
    (('1.234,56',), ('1,234.56', '1.234,56', '1 234,56'))
    """
    percent = texts.str.contains(r"[%％]").any()
    names = [name for name in NUMBER_FORMATS if name.endswith("%") == percent]
    frame = texts.to_frame("text")
    for part in (frame.head(50), frame):  # a few texts rule most ways out
        read = part.select(number_value(pl.col("text"), name).is_not_null().all().alias(name) for name in names)
        names = [name for name in names if read[name][0]]
    return tuple(names)


DATE_FORMATS, YEAR_LAST_FORMATS, TIME_FORMATS = map(tuple, _WORDS["patterns"].values())
_DEFAULT_DATES = DATE_FORMATS[:2]
ERA_FORMATS = ("%EY%m月%d日", "%Ey.%m.%d")
EXCEL = "excel"
UNIX = "unix"

_DTYPES: dict[str, Any] = {"date": pl.Date(), "time": pl.Time(), "datetime": pl.Datetime("us")}
_TIMES = ("%H:%M", "%H:%M:%S%.f")
_DEFAULTS: dict[str, tuple[str, ...]] = {
    "date": _DEFAULT_DATES,
    "time": _TIMES,
    "datetime": tuple(f"{d}{gap}{t}" for d in _DEFAULT_DATES for gap in (" ", "T") for t in _TIMES),
}
_PATTERNS = {"date": _DEFAULT_DATES, "time": ("%H:%M", "%H:%M:%S"), "datetime": ("%Y-%m-%d %H:%M:%S",)}
ERAS: Mapping[str, dt.date] = _WORDS["eras"]
"""The eras of modern Japan with their first days."""
_ERAS = {era: first.year - 1 for era, first in ERAS.items()}
_LETTERS = dict(zip("MTSHRmtshr㍾㍽㍼㍻㋿", 3 * tuple(_ERAS.values()), strict=True))
_ERA_DAY = (
    r"^(明治|大正|昭和|平成|令和|[MTSHRmtshr㍾㍽㍼㍻㋿])\.? ?(元|[0-9]{1,2}) ?[年./-] ?"
    r"([0-9]{1,2}) ?[月./-] ?([0-9]{1,2}) ?日?$"
)
_ZONE = r" ?(?:z|Z|[A-Z]{3,5}|[+-][0-9]{2}(?::?[0-9]{2})?)(?: \([^()]*\))?( [0-9]{4})?$"  # EST, +0000 (UTC)
_EXCEL_DAY_ZERO = dt.datetime(1899, 12, 30)
_EXCEL_LAST_DAY = 2_958_465
_FEWEST_MILLISECONDS = 100_000_000_000  # as seconds the year 5138
_DAY_MICROSECONDS = 86_400_000_000
_SOME_MOMENT = dt.datetime(2009, 8, 7, 16, 45)


def moment_value(text: pl.Expr, kind: str, pattern: str | None, *, plainly: bool = False) -> pl.Expr:
    """Return the day or time of each text, null where it is written otherwise or no calendar has it.

    ``plainly`` takes only what is written by the very pattern: the fast way, to be tried first.

    >>> pl.select(moment_value(pl.lit("平成30年4月1日"), "date", "%EY%m月%d日")).item()
    datetime.date(2018, 4, 1)
    >>> pl.select(moment_value(pl.lit("2024-03-01T10:22:33.5+09:00"), "datetime", "%Y-%m-%dT%H:%M:%S%z")).item()
    datetime.datetime(2024, 3, 1, 10, 22, 33, 500000)
    >>> tweeted = pl.lit("Tue May 22 12:42:28 +0900 2012")
    >>> pl.select(moment_value(tweeted, "datetime", "%a %b %d %H:%M:%S %z %Y")).item()
    datetime.datetime(2012, 5, 22, 12, 42, 28)
    """
    special = pattern is not None and (pattern in (*ERA_FORMATS, EXCEL, UNIX) or "%z" in pattern)
    if plainly and not special:
        return _first_fit(text, kind, _DEFAULTS[kind] if pattern is None else (pattern,))
    bare = plain_signs(text)
    if pattern is None:
        return _first_fit(bare, kind, _DEFAULTS[kind])
    if pattern == EXCEL:
        days = pl.when(bare.str.contains(NUMBER)).then(bare).cast(pl.Float64, strict=False)
        # 1 is 1 January 1900, and a leap day that never was is counted: before 1 March 1900 the count is off by it
        inside = (days > 60) & (days < _EXCEL_LAST_DAY + 1)
        if kind == "date":
            since = pl.when(inside & (days == days.floor())).then(days).cast(pl.Int64) * _DAY_MICROSECONDS
        else:  # a double holds a moment of our days to some microseconds: what was meant is the millisecond
            since = (pl.when(inside).then(days) * 86_400_000).round().cast(pl.Int64) * 1000
        moment = (pl.lit(_EXCEL_DAY_ZERO) + since.cast(pl.Duration("us"))).cast(_DTYPES[kind])
        return pl.coalesce(moment, _first_fit(bare, kind, _DEFAULTS[kind]))
    if pattern == UNIX:  # seconds as the world counts them; numbers too large for that are milliseconds
        count = pl.when(bare.str.contains(r"^[0-9]{1,15}$")).then(bare).cast(pl.Int64, strict=False)
        thousands = pl.when(count >= _FEWEST_MILLISECONDS).then(1_000).otherwise(1_000_000)
        return pl.coalesce((count * thousands).cast(pl.Datetime("us")), _first_fit(bare, kind, _DEFAULTS[kind]))
    if pattern in ERA_FORMATS:  # a year after the era's end is counted on, as printed forms do (平成31年5月1日)
        era, number, *day = (bare.str.extract_groups(_ERA_DAY).struct.field(part) for part in "1234")
        before = era.replace_strict(_ERAS | _LETTERS, default=None, return_dtype=pl.Int32)
        number = number.replace("元", "1").cast(pl.Int32, strict=False)
        written = pl.concat_str((before + number).cast(pl.String), *day, separator="/")
        moment = pl.when(number >= 1).then(written.str.strptime(pl.Date(), "%Y/%m/%d", strict=False, exact=True))
        return pl.coalesce(moment, _first_fit(bare, kind, ("%Y年%m月%d日", *_DEFAULTS[kind])))
    if "%z" in pattern:
        bare, pattern = bare.str.replace(_ZONE, "$1"), re.sub(" ?%z", "", pattern)
    formats = [pattern]
    if "%S" in pattern:  # a value may have a fraction, or lack the seconds
        whole = pattern.replace("%.f", "")
        formats += [whole.replace("%S", "%S%.f"), re.sub(r":%S|%S秒", "", whole)]
    return _first_fit(bare, kind, formats)


def moment_text(value: pl.Expr, kind: str, pattern: str) -> pl.Expr:
    """Write days or times by a pattern so that they are read back; special ones in the usual way, ``2018/04/01``."""
    if pattern in (*ERA_FORMATS, EXCEL, UNIX):
        pattern = {"date": "%Y/%m/%d", "time": "%H:%M:%S", "datetime": "%Y/%m/%d %H:%M:%S"}[kind]
    pattern = re.sub(" ?%z", "", pattern)
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
    if "%z" in pattern and kind != "datetime":
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
    code = "|".join(map(re.escape, _WORDS["codes"]))
    patterns = (pattern,) if pattern else _PATTERNS[kind]
    return tuple(re.sub(code, lambda match: str(_WORDS["codes"][match[0]]), text) for text in patterns)


def _first_fit(text: pl.Expr, kind: str, formats: Sequence[str]) -> pl.Expr:
    value = pl.coalesce(text.str.strptime(_DTYPES[kind], f, strict=False, exact=True) for f in formats)
    # years have four digits: Polars reads -2010 and +12010 as well, which no one can write back
    return value if kind == "time" else pl.when(value.dt.year().is_between(1, 9999)).then(value)
