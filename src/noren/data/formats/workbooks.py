"""Workbooks (Excel, OpenDocument): typed already, still checked against the schema.

They are read by native code that believes what a file says of itself, so a workbook is measured before it is opened:
one cell in the last corner of a sheet would make the reader ask for half a terabyte, and the process end. Of several
sheets the first that looks like a table is read, below any title; which one is said, and a schema may name another.
"""

from __future__ import annotations

import functools
import itertools
import logging
import re
import sys
import xml.parsers.expat
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from noren.data.formats.source import OLE, ZIP, Source, SourceLike, explain_damage
from noren.data.formats.text_files import unique_names
from noren.data.formats.text_layout import title_rows
from noren.data.schema import Schema, ValueType
from noren.errors import FileError, ParameterError, listing
from noren.i18n import _
from noren.tables import Texts

say = Texts(__name__)

LARGEST_WORKBOOK = 1 << 30
"""Bytes a workbook may unpack to, more than a full sheet of 20 columns; more is a bomb, or belongs in Parquet."""
LARGEST_SHEET = 50_000_000
"""Cells between the first and the last corner of a sheet, empty ones included."""
_CHUNK = 1 << 20
_WORKBOOKS = (".xlsx", ".xlsm", ".xls", ".ods")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_LOOKED_AT = 50
_LONGEST_CELL = 32_767


@dataclass(frozen=True)
class WorkbookSheet:
    """One sheet of a workbook: its rows below the header, where they start, and notes on the choice.

    ``first_row`` is the row of the sheet that holds the first row of the data, counted from 1.
    """

    frame: pl.DataFrame
    name: str
    first_row: int
    is_first: bool
    notes: tuple[str, ...] = ()


def excel_sheet(source: SourceLike, sheet: str | None = None, names: Sequence[str] | None = None) -> WorkbookSheet:
    """Return one sheet of a workbook, its header found below any titles.

    Parameters
    ----------
    source
        A workbook: ``.xlsx``, ``.xlsm``, ``.xls`` or ``.ods``.
    sheet
        The name of the sheet; left out, the first that looks like a table, unless another holds far more.
    names
        The columns that a schema expects: the header is the row that holds them.
    """
    source = Source.open(source)
    path = source.path
    book: Any = source.once("workbook", lambda: _workbook(source))
    with explain_damage(path, "Excel"):
        if sheet is not None and sheet not in book.sheet_names:
            raise FileError(say("no_such_sheet", name=sheet, names=listing(book.sheet_names)), file=path)
        candidates = [sheet] if sheet is not None else book.sheet_names
        tops = {name: source.once(("top", name), functools.partial(_top, book, name)) for name in candidates}
        chosen = _table_sheet(tops, names)
        rows, _height = tops[chosen]
        header = _header_row(rows, names)
        # all rows decide the type of a column: by default the first 1,000 do, and other values below them are lost
        load = functools.partial(book.load_sheet, chosen, header_row=header, schema_sample_rows=None)
        own = rows[header : header + 1]
        frame, notes = source.once(("sheet", chosen, header), lambda: _named(load().to_polars(), own))
    is_first = chosen == book.sheet_names[0]
    if frame.width == 0 or len(frame) == 0:
        raise FileError(say("sheet_empty", name=chosen), file=path)
    summary = say("read_sheet", form=f"Excel ({chosen})", columns=frame.width, rows=len(frame))
    if header:
        summary = _("{summary}; {count} lines above the table skipped").format(summary=summary, count=header)
    others = [name for name in book.sheet_names if name != chosen]
    if others:
        # which of them is meant can be said in the schema
        notes = (_("other sheets were not read: {names}").format(names=listing(others)), *notes)
    return WorkbookSheet(frame, chosen, header + 2, is_first, (summary, *notes))


def _workbook(source: Source) -> Any:
    """Open a workbook that is one, and no bomb."""
    import fastexcel

    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it warns of every empty column
    path = source.path
    known = _reject_other_archives(source)
    with explain_damage(path, "Excel"):
        if known != "xls":
            _reject_bomb(path)
        # the reader goes by the name's ending, and by the content where it has only that
        return fastexcel.read_excel(path if path.suffix.lower().startswith(f".{known[:3]}") else path.read_bytes())


_Top = tuple[list[list[str]], int]
"""The first rows of a sheet as texts, and how many it has."""


def _top(book: Any, name: str) -> _Top:
    sheet = book.load_sheet(name, header_row=None, skip_rows=0, n_rows=_LOOKED_AT, dtypes="string")
    return [[(cell or "").strip() for cell in row] for row in sheet.to_polars().rows()], int(sheet.total_height)


def _table_sheet(tops: Mapping[str, _Top], names: Sequence[str] | None) -> str:
    """Choose the sheet with the expected columns, else the first table, unless another is far larger."""
    cells: dict[str, int] = {}
    for name, (rows, height) in tops.items():
        if names is not None and any(set(names) <= set(row) for row in rows):
            return name
        # a table has a row of names, and rows below it that fill half of it
        filled = [sum(map(bool, row)) for row in rows[_header_row(rows, None) :]]
        is_table = len(filled) > 1 and max(filled[1:]) * 2 >= filled[0] >= 2
        cells[name] = filled[0] * height if is_table else 0
    largest = max(cells, key=lambda name: cells[name])
    first = next((name for name in tops if cells[name]), None)
    if first is None:  # no table at all: the first sheet that holds something
        return next((name for name, (_rows, height) in tops.items() if height), next(iter(tops)))
    return first if cells[first] * 5 >= cells[largest] else largest


def _header_row(rows: Sequence[Sequence[str]], names: Sequence[str] | None) -> int:
    if names is not None:
        for at, row in enumerate(rows):
            if set(names) <= set(row):
                return at
    # cells of a sheet all have a row's length: what is empty at the end is not there
    return title_rows([list(row) if sum(map(bool, row)) > 1 else [cell for cell in row if cell] for row in rows])


def _named(frame: pl.DataFrame, header: Sequence[Sequence[str]]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Give each column a name of its own, without the columns and last rows that hold nothing."""
    if not header:
        return frame, ()
    cells = list(header[0])[: frame.width]
    empty = [i for i, name in enumerate(cells) if not name and frame.to_series(i).null_count() == len(frame)]
    filled = [i for i in range(frame.width) if i not in empty]
    names, notes = unique_names([cells[i] if i < len(cells) else "" for i in filled])
    frame = frame.select(frame.to_series(i).alias(name) for i, name in zip(filled, names, strict=True))
    if len(frame):
        rows = frame.select(pl.any_horizontal(pl.all().is_not_null())).to_series().arg_true()
        frame = frame[: int(rows[-1]) + 1 if len(rows) else 0]
    return frame, notes


def _reject_other_archives(source: Source) -> str:
    """Return which kind of workbook this is; say what to do with what only looks like one."""
    path, head = source.path, source.head
    if head.startswith(OLE):
        with source.unpacked() as file:
            if _ENCRYPTED in file.read(_CHUNK):
                raise FileError(say("password"), file=path)
        return "xls"
    if head.lstrip().startswith(b"<"):
        raise FileError(say("other_format", form="XML"), file=path)
    if not head.startswith(ZIP):
        return "xlsx"  # which says why it is not
    with explain_damage(path, "Excel"), zipfile.ZipFile(path) as archive:
        members = set(archive.namelist())
    if "xl/workbook.bin" in members:
        raise FileError(say("other_format", form=".xlsb"), file=path)
    if "content.xml" in members:
        return "ods"
    if "xl/workbook.xml" not in members and path.suffix.lower() not in _WORKBOOKS:
        raise FileError(say("zip_archive"), file=path)
    return "xlsx"


def write_excel(blocks: Iterator[pl.DataFrame], schema: Schema, path: Path, aside: Path) -> None:
    """Write blocks of exact values as the first sheet of a workbook ``path``, for now under the name ``aside``."""
    import xlsxwriter
    from xlsxwriter.exceptions import XlsxWriterException

    frames = list(blocks)
    frame = pl.concat(frames) if frames else pl.DataFrame(schema={c.name: c.dtype for c in schema.columns})
    # stop before values would be cut or rounded in silence
    if len(frame) >= 1 << 20 or frame.width > 1 << 14:
        raise ParameterError(say("sheet_limits"), file=path)
    for column in schema.columns:
        value = pl.col(column.name)
        too_old = value.dt.year() < 1900
        bad = {ValueType.TEXT: value.str.len_chars() > _LONGEST_CELL, ValueType.INTEGER: value.abs() > 10**15}
        bad |= {ValueType.DATE: too_old, ValueType.DATETIME: too_old}
        rows = frame.select(bad.get(column.type, pl.lit(value=False)).fill_null(value=False)).to_series().arg_true()
        if len(rows):
            at = int(rows[0])
            cell = frame[column.name][at]
            raise ParameterError(say("sheet_limits"), file=path, row=at + 2, column=column.name, value=cell)
    formats = {
        ValueType.DATE: "yyyy-mm-dd",
        ValueType.TIME: "hh:mm:ss.000",
        ValueType.DATETIME: "yyyy-mm-dd hh:mm:ss.000",
    }
    try:
        with xlsxwriter.Workbook(str(aside)) as book:
            sheet = book.add_worksheet()
            # texts as they are: no formulas, no links
            sheet.add_write_handler(str, lambda sheet, *cell: sheet.write_string(*cell))
            sheet.write_row(0, 0, frame.columns)
            for i, column in enumerate(schema.columns):
                shape = book.add_format({"num_format": formats[column.type]}) if column.type in formats else None
                sheet.write_column(1, i, frame[column.name].to_list(), shape)
    except XlsxWriterException as error:
        raise OSError(*getattr(error.args[0], "args", error.args)) from None


def _reject_bomb(path: Path) -> None:
    """Stop at a workbook that says it is too large; then measure whether it told the truth, and how far sheets reach.

    What a part says of its size is taken at its word only to refuse it. It is read to the true end of its stream, and
    no further than a chunk past the size that it said: most bombs end there.
    """
    with zipfile.ZipFile(path) as archive:
        if sum(member.file_size for member in archive.infolist()) > LARGEST_WORKBOOK:
            raise FileError(say("workbook_too_large", most=LARGEST_WORKBOOK), file=path)
        for member in archive.infolist():
            name, left, member.file_size = member.filename, member.file_size + 1, sys.maxsize
            extent: _Extent | _OpenDocumentExtent
            extent = _OpenDocumentExtent() if name == "content.xml" else _Extent()
            with archive.open(member) as part:
                # the last tag of a part is whole where another one begins behind it
                for chunk in itertools.chain(iter(functools.partial(part.read, _CHUNK), b""), [b"<"]):
                    left -= len(chunk)
                    if left < 0:
                        raise zipfile.BadZipFile(f"{name} is larger than it says")
                    extent.look_at(chunk)
                    if extent.cells > LARGEST_SHEET:
                        about = {"name": name, "cells": extent.cells, "most": LARGEST_SHEET}
                        raise FileError(say("sheet_too_large", **about), file=path)


class _Extent:
    """How many rows and columns a sheet spans, found from the places that the cells of its XML give themselves."""

    _PLACE = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{0,9})0*([0-9]{1,18})["']""")
    _ROW = re.compile(rb"<(?:\w+:)?row[\s/>]")
    _CELL = re.compile(rb"<(?:\w+:)?c[\s/>]")

    def __init__(self) -> None:
        self._rows = self._columns = 0
        self._more_rows = self._more_columns = self._cells_in_row = 0
        self._left = b""

    @property
    def cells(self) -> int:
        """The cells between the first and the last corner; those that give no place follow those that do."""
        return (self._rows + self._more_rows) * (self._columns + self._more_columns)

    def look_at(self, chunk: bytes) -> None:
        """Measure what a part adds, up to the last tag that it holds whole."""
        data = self._left + chunk
        cut = max(data.rfind(b"<"), 0)
        data, self._left = data[:cut], data[cut:]
        if len(self._left) > _CHUNK:
            # no honest tag is that long, but a picture may be: go on, so that a place stays whole at the seam
            squeezed = re.sub(rb"\s+", b" ", self._left)
            data, self._left = data + squeezed[:-64], squeezed[-64:]
        places = self._PLACE.findall(data)
        letters, numbers = zip(*places, strict=True) if places else ((), ())
        self._rows = max([self._rows, *map(int, set(numbers))])
        # A is column 1, Z is 26, AA is 27
        columns = (functools.reduce(lambda n, letter: n * 26 + letter - 64, name.upper(), 0) for name in set(letters))
        self._columns = max([self._columns, *columns])
        rows = letters.count(b"")
        # tags are counted where there may be more of them than places: a plain count is many times as fast
        if data.count(b"<row") + data.count(b":row") > rows:
            self._more_rows += max(0, len(self._ROW.findall(data)) - rows)
        many = data.count(b"<c") + data.count(b":c") > len(places) - rows
        if many and len(self._CELL.findall(data)) > len(places) - rows:
            first, *others = (len(self._CELL.findall(row)) for row in self._ROW.split(data))
            self._cells_in_row += first
            self._more_columns = max(self._more_columns, self._cells_in_row, *others)
            self._cells_in_row = others[-1] if others else self._cells_in_row


class _OpenDocumentExtent:
    """How many rows and columns the sheets of an OpenDocument span: a cell may say that it stands for a million."""

    def __init__(self) -> None:
        self.cells = 0
        self._row = self._column = self._rows = self._columns = 0
        self._repeated = 0
        self._parser = xml.parsers.expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EntityDeclHandler = self._entity

    def look_at(self, chunk: bytes) -> None:
        """Measure what a part adds."""
        if chunk != b"<":  # which ends the parts of a sheet
            self._parser.Parse(chunk, False)

    def _start(self, name: str, about: dict[str, str]) -> None:
        kind = name.rpartition(":")[2]
        if kind == "table":
            self._row = self._rows = self._columns = self._repeated = 0
        elif kind == "table-row":
            self._row += self._repeated
            self._repeated = int(about.get("table:number-rows-repeated", "1"))
            self._column = 0
        elif kind in ("table-cell", "covered-table-cell"):
            self._column += int(about.get("table:number-columns-repeated", "1"))
            if "office:value-type" in about:
                self._rows = max(self._rows, self._row + self._repeated)
                self._columns = max(self._columns, self._column)
                self.cells = max(self.cells, self._rows * self._columns)

    def _entity(self, *_about: object) -> None:
        raise ValueError("an entity is declared")
