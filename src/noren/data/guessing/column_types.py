"""Guess of a column's type, format and grid from its values.

Plain numbers and the common dates are tried first; the ways people write them otherwise (``1.249,00``, ``¥1,280``,
``H30.4.1``, ``3:05 PM``) only where those fail. Where two ways fit every value and mean different things, the likelier
is taken and the other asked about. What was understood is told beside an example (:class:`ParsedColumn`).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import polars as pl

from noren.data.formats.parse import holds_plain_values, read_values
from noren.data.formats.render import value_text
from noren.data.guessing import Answer, Question
from noren.data.schema import Column, Scale, ValueType
from noren.data.value_formats import (
    DATE_FORMATS,
    ERA_FORMATS,
    EXCEL,
    INTEGER,
    NUMBER,
    TIME_FORMATS,
    UNIX,
    YEAR_LAST_FORMATS,
    currencies_of,
    fitting_formats,
    moment_value,
    number_format,
    number_value,
    plain_signs,
    spelled,
)
from noren.errors import quoted
from noren.i18n import _

GRIDS = (1.0, 0.01, 0.001, 0.0001)
"""The steps that decimal numbers are looked at for, widest first."""

_COMPACT_DATE: Mapping[str, object] = {"type": ValueType.DATE, "format": "%Y%m%d", "width": 1.0}
_DATE_NAME = re.compile(r"date|日付|年月日|[買入文生録]日|(^|[_\W])day$", re.IGNORECASE)
_FIRST_SERIAL, _LAST_SERIAL = 20_000, 73_050  # October 1954 to the end of 2099
_MOMENT_NAME = re.compile(r"time|epoch|date|(^|[_\W])ts$|[_\W]at$|日時|時刻", re.IGNORECASE)
_FIRST_SECOND, _LAST_SECOND = 631_152_000, 4_102_444_800  # 1990 to 2099
_SHORT_YEAR = r"^[0-9]{1,2}[/.-][0-9]{1,2}[/.-][0-9]{2}([^0-9]|$)"
_LARGEST_WHOLE = 10**18
_LONGEST_EXAMPLE = 40
_WITHOUT_FRACTIONS = {"¥", "₩"}
_MOMENT_FORMATS = [
    f"{date}{gap}{time}{zone}"
    for zone in ("", "%z")
    for date in DATE_FORMATS
    for gap in ((" ", "T") if date.startswith("%Y") else (" ",))
    for time in TIME_FORMATS[: 3 if zone else None]
] + list(YEAR_LAST_FORMATS)
"""Patterns of days with times, the plain ones first, those with a zone last."""


@dataclass(frozen=True)
class ParsedColumn:
    """How a column was read: its type, its format in words, and an example cell with its value."""

    column: str
    type: str
    written: str
    example: str
    value: str


def guess_type(values: pl.Series, questions: list[Question]) -> Column:
    """Guess the type, format and grid of one column."""
    dtype = values.dtype
    missing = bool(values.is_null().any()) or (dtype == pl.String and bool((values == "").any()))
    about: dict[str, object] = {"name": values.name, "optional": missing}
    if dtype == pl.String:
        about |= _text_type(values, questions)
    elif dtype in (pl.Date, pl.Time):
        about |= {"type": ValueType.DATE if dtype == pl.Date else ValueType.TIME, "width": 1.0}
    elif isinstance(dtype, pl.Datetime):
        # Excel knows no days but at midnight
        days = bool((values.dt.time() == dt.time()).all())
        about |= {"type": ValueType.DATE if days else ValueType.DATETIME, "width": 1.0}
    elif dtype.is_integer():
        known = values.drop_nulls().cast(pl.Int128)
        if not known.is_between(1 - _LARGEST_WHOLE, _LARGEST_WHOLE - 1).all():
            about |= {"type": ValueType.TEXT}  # more digits than a whole number of ours holds: a name
        elif known.is_between(19_000_101, 20_991_231).all() and _is_compact_date(known.cast(pl.String)):
            about |= _COMPACT_DATE
        else:
            about |= _whole_type(known.cast(pl.Int64))
    elif dtype.is_decimal() and (values.cast(pl.Float64).cast(dtype, strict=False).ne_missing(values)).any():
        about |= {"type": ValueType.TEXT}  # a binary number would change an exact one
    elif dtype.is_float() or dtype.is_decimal():
        numbers = values.cast(pl.Float64)
        about |= {"type": ValueType.DECIMAL, "width": width_of(numbers)}
        known = numbers.fill_nan(None)
        if bool(((known.abs() < _LARGEST_WHOLE) & (known == known.round())).all()):
            # Excel, and pandas where some are missing, hold whole numbers so
            about |= {"type": ValueType.INTEGER, "optional": missing or bool(numbers.is_nan().any())}
        about |= _serial_type(known) or {}
    else:
        about |= {"type": ValueType.TEXT}
    return Column.model_validate(about)


# --- typed columns ---------------------------------------------------------------------------------------------------


def _whole_type(known: pl.Series) -> dict[str, object]:
    """Return the type of whole numbers: days as spreadsheets count them, moments as programs do, or numbers."""
    if (serial := _serial_type(known)) is not None:
        return serial
    if _MOMENT_NAME.search(known.name) and len(known):
        for factor in (1, 1_000):  # seconds or milliseconds since 1970
            if known.is_between(factor * _FIRST_SECOND, factor * _LAST_SECOND, closed="left").all():
                return {"type": ValueType.DATETIME, "format": UNIX, "width": 1.0}
    return {"type": ValueType.INTEGER, "width": 1.0}


def _is_compact_date(texts: pl.Series) -> bool:
    written = len(texts) > 0 and bool(texts.str.contains(r"^(19|20)[0-9]{6}$").all())
    return written and _reads(texts, "date", "%Y%m%d")


def _serial_type(numbers: pl.Series) -> dict[str, object] | None:
    """Return the type of a column that is called a date and holds the numbers by which spreadsheets count days."""
    known = numbers.drop_nulls()
    if not _DATE_NAME.search(numbers.name) or not len(known) or not known.is_between(_FIRST_SERIAL, _LAST_SERIAL).all():
        return None
    days = bool((known.cast(pl.Float64) % 1 == 0).all())
    return {"type": ValueType.DATE if days else ValueType.DATETIME, "format": EXCEL, "width": 1.0}


# --- texts -----------------------------------------------------------------------------------------------------------


def _text_type(values: pl.Series, questions: list[Question]) -> dict[str, object]:
    filled = values.filter((values != "") & values.is_not_null())
    if len(filled) == 0:
        return {"type": ValueType.TEXT}
    if _is_compact_date(filled):
        return dict(_COMPACT_DATE)
    # numbers that a number type would not give back as written are names: 007, or a serial number of 20 digits
    if filled.str.contains(NUMBER).all():
        if filled.str.contains(r"^[+-]?0[0-9]|^[+-]?[0-9]{19,}").any():
            return {"type": ValueType.TEXT}
        if filled.str.contains(INTEGER).all():
            return _whole_type(filled.cast(pl.Int64))
        if (serial := _serial_type(filled.cast(pl.Float64))) is not None:
            return serial
        if filled.str.contains(r"^[+-]?[1-9][0-9]{0,2}\.[0-9]{3}$").all():
            questions.append(_number_question(filled, ("1,234.56", "1.234,56")))
        return {"type": ValueType.DECIMAL, "width": width_of(filled.cast(pl.Float64))}
    if not filled[:50].str.contains(r"[0-9０-９元]").all():
        return {"type": ValueType.TEXT}
    if (moment := _moment_type(filled, questions)) is not None:
        return moment
    # all numbers in one way of writing them, and of one currency
    ways = fitting_formats(filled)
    money = currencies_of(filled) if ways else set()
    if not ways or len(money) > 1:
        return {"type": ValueType.TEXT}
    read = {way: filled.to_frame("x").select(number_value(pl.col("x"), way)).to_series() for way in ways}
    numbers = {way: texts.cast(pl.Float64) for way, texts in read.items()}
    chosen = ways[0]
    if read[chosen].str.contains(r"^-?0[0-9]|^-?[0-9]{19,}").any():
        return {"type": ValueType.TEXT}
    different = [way for way in ways[1:] if not bool((numbers[way] == numbers[chosen]).all())]
    if different and not money & _WITHOUT_FRACTIONS:
        questions.append(_number_question(filled, (chosen, different[0])))
    if not number_format(chosen).percent and read[chosen].str.contains(INTEGER).all():
        return {"number": chosen, "type": ValueType.INTEGER, "width": 1.0}
    return {"number": chosen, "type": ValueType.DECIMAL, "width": width_of(numbers[chosen])}


def _moment_type(filled: pl.Series, questions: list[Question]) -> dict[str, object] | None:
    """Return the type and format of texts that are all days, times or moments."""
    plain = filled.to_frame("x").select(plain_signs(pl.col("x")).alias(filled.name)).to_series()
    short = bool(plain[:50].str.contains(_SHORT_YEAR).all())
    head = plain[:50]
    for kind, formats in (
        (ValueType.DATE, [f for f in DATE_FORMATS if f != "%Y%m%d"]),
        (ValueType.TIME, list(TIME_FORMATS)),
        (ValueType.DATETIME, _MOMENT_FORMATS),
    ):
        if not head.str.contains(r"[0-9].*[:時]" if kind != ValueType.DATE else r"[0-9][^0-9]+[0-9]|[0-9]年").all():
            continue
        if short:
            # Years of two digits, the likelier pattern first: 4/1/18 is no day of the year 18. A year stands last,
            # unless the last number changes more than the first, as in 18/04/01, 18/04/23.
            parts = plain.str.extract_groups(r"^([0-9]{1,2})[/.-][0-9]{1,2}[/.-]([0-9]{2})").struct.unnest()
            first, last = (parts[name].n_unique() for name in parts.columns)
            ahead = [f.replace("%Y", "%y") for f in formats if f.startswith(("%Y/", "%Y-", "%Y."))]
            behind = [f.replace("%Y", "%y") for f in formats if f.startswith(("%d/", "%m/", "%d.", "%d-", "%m-"))]
            formats = list(dict.fromkeys([*ahead, *behind] if first < last else [*behind, *ahead]))
        frame = plain.to_frame("x")
        for part in (frame.head(5), frame.head(50), frame):  # the first values rule most formats out
            read = part.select(_sensible(kind, f).all().alias(f) for f in formats)
            formats = [f for f, fits in zip(formats, read.row(0) if formats else (), strict=True) if fits]
        if formats:
            question = _format_question(plain, kind, formats, short=short)
            questions += [] if question is None else [question]
            return {"type": kind, "format": formats[0], "width": 1.0}
        # each value in one of the usual ways: with and without seconds, with slashes and with dashes
        if _reads(plain, kind, None):
            return {"type": kind, "width": 1.0}
    letters = bool(plain.str.contains("^[A-Za-z]").all())
    era = ERA_FORMATS[1] if letters else ERA_FORMATS[0]
    if plain[:50].str.contains(r"^[明大昭平令MTSHRmtshr㍾㍽㍼㍻㋿]").any() and _reads(plain, "date", era):
        return {"type": ValueType.DATE, "format": era, "width": 1.0}
    return None


def _format_question(values: pl.Series, kind: str, formats: Sequence[str], *, short: bool) -> Question | None:
    """Ask whether days or months stand first, or which end of 18/04/01 is the year, where both may be.

    Every value fits all ``formats``, of which the first is taken.
    """
    chosen, name = formats[0], values.name
    other = swapped_format(chosen)
    if other is not None and other in formats:
        text = _("{column}: day first or month first? Every value allows both; {format} was chosen")
        day, month = (chosen, other) if chosen.startswith("%d") else (other, chosen)
        answers = Answer(day, _("day first")), Answer(month, _("month first"))
        return Question("format", text.format(column=name, format=chosen), chosen, answers, name)
    other = next((f for f in formats if f.startswith("%y") != chosen.startswith("%y")), None) if short else None
    if other is None:
        return None
    days = (moment_value(pl.lit(values[0]), kind, way).dt.to_string("%Y-%m-%d").alias(way) for way in (chosen, other))
    return _which_question("format", name, values[0], pl.select(days).row(0, named=True))


def _sensible(kind: str, pattern: str | None) -> pl.Expr:
    """Tell which values a format reads; 4/1/18 is no day of the year 18."""
    value = moment_value(pl.col("x"), kind, pattern)
    return value.is_not_null() if kind == "time" else (value.dt.year() >= 1000).fill_null(value=False)


def _reads(values: pl.Series, kind: str, pattern: str | None) -> bool:
    frame = values.to_frame("x")
    return all(part.select(_sensible(kind, pattern).all()).item() for part in (frame.head(50), frame))


def swapped_format(pattern: str) -> str | None:
    """Return the pattern with day and month the other way round, where values may fit both.

    >>> swapped_format("%d/%m/%Y %H:%M"), swapped_format("%Y/%m/%d")
    ('%m/%d/%Y %H:%M', None)
    """
    swapped = re.sub(r"^(%d|%m)([/-])(?!\1)(%d|%m)(?=\2%[Yy])", r"\3\2\1", pattern)
    return swapped if swapped != pattern else None


def _number_question(filled: pl.Series, ways: tuple[str, str]) -> Question:
    """Ask which of two ways a column writes its numbers in; the first is taken."""
    # the example is one that the two ways read differently
    cells = filled.to_frame("x").select(
        "x", *(number_value(pl.col("x"), way).cast(pl.Float64).alias(way) for way in ways)
    )
    cell, *values = cells.filter(pl.col(ways[0]) != pl.col(ways[1])).row(0)
    readings = [f"{value:,.6g}" if value < 1000 else f"{value:,.0f}" for value in values]
    return _which_question("number", filled.name, cell[:_LONGEST_EXAMPLE], dict(zip(ways, readings, strict=True)))


def _which_question(
    about: Literal["format", "number"], column: str, cell: str, meanings: Mapping[str, str]
) -> Question:
    """Ask what a cell means, by two ways of reading it; the first is taken."""
    chosen, other = meanings
    text = _("{column}: is {example} {first} or {second}? Every value allows both; {first} was chosen")
    text = text.format(column=column, example=cell, first=meanings[chosen], second=meanings[other])
    answers = (Answer(way, f"{cell} = {value}") for way, value in meanings.items())
    return Question(about, text, chosen, tuple(answers), column)


def width_of(values: pl.Series) -> float | None:
    """Choose the widest of 1, 0.01, 0.001, 0.0001 whose grid holds every value.

    Prices seldom keep to whole tenths for long: money has hundredths.
    """
    finite = values.filter(values.is_finite())
    return next((width for width in GRIDS if on_grid(finite, width)), None)


def on_grid(values: pl.Series, width: float) -> bool:
    """Tell whether every value is a multiple of ``width``, as exactly as a schema's width is checked."""
    steps = values / width
    return bool(((steps - steps.round()).abs() <= 1e-6 * (steps.abs() * 1e-6).clip(1.0)).all())


# --- telling what was understood -------------------------------------------------------------------------------------


def understanding(values: pl.Series, column: Column) -> ParsedColumn:
    """Return how a column was read, with the first cell whose value differs from its text, else the first cell."""
    head = values.drop_nulls()[:1000]
    if head.dtype == pl.String:
        head = head.filter(head != "")
    raw = value = ""
    if len(head) and holds_plain_values(head):
        typed, _lost = read_values(head.to_frame(column.name), (column,), nan_is_missing=True)
        values = typed.select(value_text(pl.col(column.name), column)).to_series()
        texts = pl.DataFrame({"raw": head.cast(pl.String, strict=False), "value": values}).drop_nulls()
        odd = texts.filter(pl.col("raw") != pl.col("value"))
        for cells in (odd if len(odd) else texts).head(1).iter_rows():
            short = (text if len(text) <= _LONGEST_EXAMPLE else f"{text[: _LONGEST_EXAMPLE - 1]}…" for text in cells)
            raw, value = (quoted(text)[1:-1] for text in short)
    return ParsedColumn(column.name, str(column.type), how_written(column), raw, value)


def how_written(column: Column) -> str:
    """Return the format of a column's cells in words."""
    if column.number is not None:
        way = number_format(column.number)
        if way.percent:
            return _("percentages like {example}").format(example=column.number)
        return _("numbers like {example}").format(example=column.number)
    if column.format == EXCEL:
        return _("spreadsheet date numbers")
    if column.format == UNIX:
        return _("seconds or milliseconds since 1970")
    if column.format in ERA_FORMATS:
        return _("dates in Japanese eras")
    if column.scale == Scale.INTERVAL:
        patterns = _(" or ").join(spelled(column.format, column.type))
        if "%z" in (column.format or ""):
            return _("{format}, without time zone").format(format=patterns)
        return patterns
    words = {ValueType.TEXT: _("unchanged"), ValueType.INTEGER: _("whole numbers"), ValueType.DECIMAL: _("numbers")}
    return words[column.type]
