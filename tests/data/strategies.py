"""Examples that properties of readers and writers are tried on: tables, layouts, schemas, official files.

An official file is drawn together with what it says: :class:`Drawn` holds the bytes and the typed values, so that a
test can ask for both.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

import polars as pl
from hypothesis import strategies as st

from noren.data.contest_files import MONTHS
from noren.data.frames import Table
from noren.data.schema import Column, Schema, TextLayout, ValueType, name_problem

__all__ = [
    "Drawn",
    "drawn_master",
    "drawn_months",
    "drawn_pairs",
    "drawn_purchases",
    "drawn_releases",
    "excel_tables",
    "schemas",
    "tables",
    "text_tables",
]

JAPANESE = "顧客商品日本語のれんをくぐるとカタカナ・ー、。「」①㈱～髙"
TRICKY = " \t\n\r\"',;|=+-@#*[]{}\\%_<>&" + "é€ß\xa0\x85\u2028\u3000\u200b𝄞👪"
CP932 = [c for c in map(chr, range(1, 0x10000)) if c.encode("cp932", "ignore").decode("cp932", "ignore") == c]
LATIN = [chr(i) for i in range(1, 256)]
ENCODINGS = (None, "utf-8", "utf-8-sig", "cp932", "iso-8859-1")


def alphabet(encoding: str | None = None) -> st.SearchStrategy[str]:
    """Return characters that ``encoding`` can hold, the tricky ones often; never NUL, which no text file holds."""
    if encoding == "cp932":
        return st.sampled_from([c for c in TRICKY + JAPANESE if c in CP932]) | st.sampled_from(CP932)
    if encoding == "iso-8859-1":
        return st.sampled_from([c for c in TRICKY if c in LATIN]) | st.sampled_from(LATIN)
    every = st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff")
    return st.sampled_from(TRICKY + JAPANESE + "abc019") | every


def names(encoding: str | None = None) -> st.SearchStrategy[str]:
    """Return column names; a header's names are read without the spaces around them."""
    text = st.text(alphabet(encoding), min_size=1, max_size=8)
    return text.filter(lambda name: name == name.strip() and name_problem(name) is None)


# --- tables of any types ---------------------------------------------------------------------------------------------


def values(kind: ValueType, encoding: str | None = None) -> st.SearchStrategy[Any]:
    """Return values of a type."""
    match kind:
        case ValueType.TEXT:
            return st.text(alphabet(encoding), min_size=1, max_size=8)
        case ValueType.INTEGER:
            return st.integers(-(10**18) + 1, 10**18 - 1)
        case ValueType.DECIMAL:
            return st.floats(allow_nan=False, allow_infinity=False)
        case ValueType.DATE:
            return st.dates()
        case ValueType.TIME:
            return st.times()
        case ValueType.DATETIME:
            return st.datetimes()


def excel_values(kind: ValueType) -> st.SearchStrategy[Any]:
    """Return values that a sheet can hold: 15 digits, milliseconds, days from 1900 on, no lone surrogates."""
    match kind:
        case ValueType.INTEGER:
            return st.integers(-(10**15), 10**15)
        case ValueType.DECIMAL:
            return st.integers(-(10**14), 10**14).map(lambda n: n / 1000)
        case ValueType.DATE:
            return st.dates(min_value=dt.date(1900, 1, 1))
        case ValueType.TIME:
            return st.times().map(lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000))
        case ValueType.DATETIME:
            since = st.datetimes(min_value=dt.datetime(1900, 1, 1))
            return since.map(lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000))
        case _:
            return values(kind)


FORMATS = {
    ValueType.DATE: (None, "%Y/%m/%d", "%Y-%m-%d", "%d.%m.%Y", "%Y%m%d", "%Y年%m月%d日"),
    ValueType.TIME: (None, "%H:%M:%S%.f"),
    ValueType.DATETIME: (None, "%Y-%m-%d %H:%M:%S%.f", "%d/%m/%YT%H:%M:%S%.f"),
}


@st.composite
def tables(
    draw: st.DrawFn, *, encoding: str | None = None, layout: TextLayout | None = None, excel: bool = False
) -> Table:
    """Draw a table of 2 to 5 columns and 1 to 6 rows; no row is all empty."""
    unique_by = (lambda name: name.casefold()) if excel else (lambda name: name)
    called = draw(st.lists(names(encoding), min_size=2, max_size=5, unique_by=unique_by))
    columns = []
    for name in called:
        kind = draw(st.sampled_from(ValueType))
        formats = [f for f in FORMATS.get(kind, (None,)) if encoding != "iso-8859-1" or f is None or f.isascii()]
        pattern = None if excel else draw(st.sampled_from(formats))
        columns.append(Column(name=name, type=kind, format=pattern, optional=draw(st.booleans())))
    columns[0] = columns[0].model_copy(update={"optional": False})
    height = draw(st.integers(1, 6))
    content = {}
    for column in columns:
        one = excel_values(column.type) if excel else values(column.type, encoding)
        cell = st.none() | one if column.optional else one
        cells = draw(st.lists(cell, min_size=height, max_size=height))
        content[column.name] = pl.Series(column.name, cells, dtype=column.dtype)
    schema = Schema(kind="table", text=layout or TextLayout(), columns=tuple(columns))
    return Table(pl.DataFrame(content), schema)


def excel_tables() -> st.SearchStrategy[Table]:
    """Return tables that a sheet can hold."""
    return tables(excel=True)


@st.composite
def text_tables(draw: st.DrawFn) -> Table:
    """Draw a table and how its text file is laid out."""
    layout = TextLayout(
        encoding=draw(st.sampled_from(ENCODINGS)),
        delimiter=draw(st.sampled_from((None, ",", ";", "\t", "|", ":"))),
        header=draw(st.sampled_from((None, True, False))),
    )
    return draw(tables(encoding=layout.encoding, layout=layout))


# --- schemas ---------------------------------------------------------------------------------------------------------

BOUNDS: dict[ValueType, st.SearchStrategy[Any]] = {
    ValueType.INTEGER: st.integers(-1000, 1000).map(float),
    ValueType.DECIMAL: st.floats(-1e6, 1e6),
    ValueType.DATE: st.dates(),
    ValueType.TIME: st.times(),
    ValueType.DATETIME: st.datetimes(),
}


@st.composite
def columns(draw: st.DrawFn, name: str, role: str) -> Column:
    """Draw a column of a personal table with anything a schema can say."""
    kind = draw(st.sampled_from(ValueType))
    about: dict[str, Any] = {"name": name, "role": role, "type": kind, "optional": draw(st.booleans())}
    about["width"] = draw(st.none() | st.floats(1e-6, 1e6))
    about["format"] = draw(st.sampled_from(FORMATS.get(kind, (None,))))
    if kind == ValueType.TEXT:
        domain = st.lists(st.text(alphabet(), min_size=1, max_size=5), min_size=1, max_size=4, unique=True)
        about["domain"] = draw(st.none() | domain.map(tuple))
    else:
        low, high = sorted(draw(st.lists(BOUNDS[kind], min_size=2, max_size=2)))
        about |= {"minimum": draw(st.sampled_from((None, low))), "maximum": draw(st.sampled_from((None, high)))}
    return Column(**about)


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """Draw a schema of a history or a table."""
    called = draw(st.lists(names(), min_size=4, max_size=7, unique=True))
    roles = ["identifier", "quasi", "sensitive", "other"]
    drawn = [draw(columns(name, draw(st.sampled_from(roles)))) for name in called]
    kind = "table"
    if draw(st.booleans()):
        kind = "history"
        needed = [Column(name=n, role=r) for n, r in zip(called, ("customer", "date", "item", "price"), strict=False)]
        drawn = needed + [c.model_copy(update={"role": "other"}) for c in drawn[4:]]
    layout = TextLayout(
        delimiter=draw(st.sampled_from((None, ",", ";", "\t", " "))),
        header=draw(st.sampled_from((None, True, False))),
        encoding=draw(st.sampled_from(ENCODINGS)),
        strip=draw(st.booleans()),
        comment=draw(st.sampled_from((None, "#", "|", "、"))),
    )
    title = draw(st.text(alphabet(), max_size=10))
    name = draw(st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,8}", fullmatch=True))
    return Schema(name=name, title=title, kind=kind, text=layout, columns=tuple(drawn))


# --- official files --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Drawn:
    """An official file and what it says: one list of cells per row, ``None`` for a suppressed cell or deleted row."""

    content: bytes
    rows: list[list[Any]]


LETTERS = st.sampled_from("abcXYZ0189-_.' \"") | st.sampled_from(JAPANESE)
WORD = st.text(LETTERS, min_size=1, max_size=6).filter(lambda word: word.strip() and word not in ("*", "DEL"))
NEWLINES = st.sampled_from(("\n", "\r\n", "\r"))


def padded(number: int, draw: st.DrawFn) -> str:
    """Spell a whole number with or without a leading zero."""
    return draw(st.sampled_from(("", "0"))) + str(number)


@st.composite
def days(draw: st.DrawFn) -> tuple[dt.date, str]:
    """Draw a day and a spelling: 2010/12/1, 2010/12/01."""
    day = draw(st.dates(dt.date(2010, 12, 1), dt.date(2011, 12, 31)))
    month = draw(st.sampled_from((f"{day.month}", f"{day.month:02}")))
    return day, f"{day.year}/{month}/{draw(st.sampled_from((f'{day.day}', f'{day.day:02}')))}"


@st.composite
def times(draw: st.DrawFn) -> tuple[dt.time, str]:
    """Draw a time and a spelling: 8:45, 08:45."""
    time = draw(st.times()).replace(second=0, microsecond=0)
    return time, f"{draw(st.sampled_from((f'{time.hour}', f'{time.hour:02}')))}:{time.minute:02}"


@st.composite
def prices(draw: st.DrawFn) -> tuple[float, str]:
    """Draw a price and a spelling: 2.1, 2.10, 02.1, +2.1."""
    cents = draw(st.integers(1, 10**7))
    plain = f"{cents // 100}.{cents % 100:02}"
    spelled = [plain, plain + "0", "0" + plain, "+" + plain, plain.rstrip("0").rstrip(".")]
    return cents / 100, draw(st.sampled_from(spelled))


@st.composite
def quantities(draw: st.DrawFn) -> tuple[int, str]:
    """Draw a quantity and a spelling: 3, 03, +3, 3.0."""
    number = draw(st.integers(1, 10**6))
    return number, draw(st.sampled_from((f"{number}", f"0{number}", f"+{number}", f"{number}.0")))


@st.composite
def cells(draw: st.DrawFn, one: st.SearchStrategy[tuple[Any, str]]) -> tuple[Any, str]:
    """Draw a released cell: an exact value or a range as (lo, hi), or ``None`` for a star."""
    kind = draw(st.sampled_from(("exact", "range", "star")))
    if kind == "star":
        return None, "*"
    low, high = sorted((draw(one), draw(one)), key=lambda spelled: spelled[0])
    if kind == "exact":
        return (low[0], low[0]), low[1]
    return (low[0], high[0]), f"[{low[1]};{high[1]}]"


ITEM = st.text("abcXYZ0189-. 商品", min_size=1, max_size=4).filter(str.strip)


@st.composite
def item_cells(draw: st.DrawFn) -> tuple[list[str] | None, str]:
    """Draw a released item: one, a set, or ``None`` for a star."""
    items = draw(st.lists(ITEM, max_size=4, unique=True))
    if not items:
        return None, "*"
    braced = len(items) > 1 or draw(st.booleans())
    return items, f"{{{';'.join(items)}}}" if braced else items[0]


def lines(draw: st.DrawFn, rows: list[list[str]]) -> bytes:
    """Join cells into a file with one kind of line end, at the end or not."""
    newline = draw(NEWLINES)
    return (newline.join(",".join(row) for row in rows) + draw(st.sampled_from((newline, "")))).encode()


@st.composite
def drawn_releases(draw: st.DrawFn) -> Drawn:
    """Draw a table ``A`` of 2018: exact cells, ranges, sets, stars and deleted rows, oddly spelled."""
    said: list[list[Any]] = []
    spelled: list[list[str]] = []
    for _ in range(draw(st.integers(1, 5))):
        if draw(st.integers(0, 4)) == 0:
            said.append([None] * 5)
            spelled.append(["*"] * 5)
            continue
        drawn = [draw(cells(days())), draw(item_cells()), draw(cells(prices())), draw(cells(quantities()))]
        customer = draw(WORD)
        said.append([customer, *(value for value, _text in drawn)])
        spelled.append([customer, *(text for _value, text in drawn)])
    return Drawn(lines(draw, spelled), said)


@st.composite
def drawn_purchases(draw: st.DrawFn, *, deleted: bool = False) -> Drawn:
    """Draw rows of 2016 and 2017: customer, invoice, date, time, item, price, quantity; some deleted."""
    said: list[list[Any]] = []
    spelled: list[list[str]] = []
    for _ in range(draw(st.integers(1, 5))):
        if deleted and draw(st.booleans()):
            said.append([None] * 7)
            spelled.append(["DEL"] + [""] * 6)
            continue
        customer, invoice, item = draw(WORD), draw(WORD), draw(WORD)
        (day, a), (time, b), (price, c), (number, d) = draw(days()), draw(times()), draw(prices()), draw(quantities())
        said.append([customer, invoice, day, time, item, price, number])
        spelled.append([customer, invoice, a, b, item, c, d])
    return Drawn(lines(draw, spelled), said)


@st.composite
def drawn_pairs(draw: st.DrawFn) -> Drawn:
    """Draw ``F``: pseudonym, customer; it may be empty."""
    rows = draw(st.lists(st.tuples(WORD, WORD), max_size=5))
    return Drawn(lines(draw, [list(row) for row in rows]) if rows else b"", [list(row) for row in rows])


@st.composite
def drawn_months(draw: st.DrawFn) -> Drawn:
    """Draw ``F`` of 2017: customer and twelve pseudonyms or DEL, with or without the count line."""
    wide = st.lists(st.none() | WORD, min_size=len(MONTHS), max_size=len(MONTHS))
    rows = draw(st.lists(st.tuples(WORD, wide), min_size=1, max_size=3))
    spelled = [[customer, *(month or "DEL" for month in months)] for customer, months in rows]
    counted = [[str(len(rows))], *spelled] if draw(st.booleans()) else spelled
    return Drawn(lines(draw, counted), [[customer, *months] for customer, months in rows])


@st.composite
def drawn_master(draw: st.DrawFn) -> Drawn:
    """Draw ``M``: customer, sex, birthday, country."""
    rows = draw(st.lists(st.tuples(WORD, WORD, days(), WORD), min_size=1, max_size=4))
    spelled = [[who, sex, text, country] for who, sex, (_day, text), country in rows]
    return Drawn(lines(draw, spelled), [[who, sex, day, country] for who, sex, (day, _text), country in rows])
