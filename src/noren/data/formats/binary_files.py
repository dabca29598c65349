"""Parquet and Excel: typed already, still checked against the schema.

Both are read by native code that believes what a file says of itself. So texts are checked to be UTF-8 before Polars
sees them, and a workbook is measured before it is opened: one cell in the last corner of a sheet would make the reader
ask for half a terabyte, and the process end.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from noren.data.formats.files import readable
from noren.data.formats.parse import Place, parse_values
from noren.data.formats.text_files import stop_at_other_columns
from noren.data.schema import Schema, ValueType
from noren.errors import FileError, FormatError, NorenError, ParameterError
from noren.i18n import _

__all__ = [
    "LARGEST_SHEET",
    "LARGEST_WORKBOOK",
    "checked_frame",
    "excel_frame",
    "is_excel",
    "is_parquet",
    "parquet_blocks",
    "parquet_head",
    "read_excel",
    "read_parquet",
    "saying_damage",
    "write_excel",
]

LARGEST_WORKBOOK = 2 << 30
"""Bytes a workbook may unpack to; more is a bomb, or belongs in Parquet."""
LARGEST_SHEET = 50_000_000
"""Cells between the first and the last corner of a sheet, empty ones included."""
_BLOCK_ROWS = 1 << 18
_CHUNK = 1 << 20
_WORKBOOKS = (".xlsx", ".xlsm")
_LONGEST_CELL = 32_767


def is_parquet(path: Path) -> bool:
    """Tell whether the file starts as Parquet files do."""
    with path.open("rb") as file:
        return file.read(4) == b"PAR1"


def is_excel(path: Path) -> bool:
    """Tell whether the file is named as a workbook and starts as a zip archive, which workbooks are."""
    with path.open("rb") as file:
        return path.suffix.lower() in _WORKBOOKS or (
            path.suffix.lower() not in (".csv", ".tsv", ".txt", ".parquet") and file.read(4) == b"PK\x03\x04"
        )


# --- Parquet ---------------------------------------------------------------------------------------------------------


def parquet_blocks(path: str | Path, columns: list[str] | None = None) -> Iterator[pl.DataFrame]:
    """Yield blocks of a Parquet file as it stands."""
    path = readable(path)
    with saying_damage(path, "Parquet"), pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=_BLOCK_ROWS, columns=columns):
            yield checked_frame(batch)


def checked_frame(data: pa.RecordBatch | pa.Table) -> pl.DataFrame:
    """Return Arrow data as a frame; Arrow does not check texts on reading, and Polars takes them as checked."""
    data.validate(full=True)
    for field in data.schema:
        _stop_at_undecodable(field)
    frame = pl.from_arrow(data.replace_schema_metadata(None))
    if not isinstance(frame, pl.DataFrame):  # pragma: no cover - batches and tables are frames
        raise TypeError(type(frame))
    return frame


def _stop_at_undecodable(field: pa.Field) -> None:
    """Decode the names and notes of a column and its parts, as Polars will, which panics where they are not UTF-8."""
    for note in [(field.name.encode(),), *(field.metadata or {}).items()]:
        b" ".join(note).decode()
    for i in range(field.type.num_fields):
        _stop_at_undecodable(field.type.field(i))


def parquet_head(path: str | Path, rows: int) -> tuple[pl.DataFrame, int]:
    """Return the first rows of a Parquet file and how many it has."""
    path = readable(path)
    head: list[pl.DataFrame] = []
    for block in parquet_blocks(path):
        head.append(block)
        if sum(map(len, head)) >= rows:
            break
    with saying_damage(path, "Parquet"):
        total = int(pq.read_metadata(path).num_rows)
    if not head:
        raise FileError(_("the file holds no rows"), _("give a file with at least one row"), file=path)
    return pl.concat(head)[:rows], total


def read_parquet(path: str | Path, schema: Schema) -> pl.DataFrame:
    """Read a Parquet file into columns typed by ``schema``."""
    blocks = []
    row = 1
    for block in parquet_blocks(path):
        stop_at_other_columns(path, block.columns, schema)
        blocks.append(parse_values(block, schema, Place(path, row)))
        row += len(block)
    if not blocks:
        raise FileError(_("the file holds no rows"), _("give a file with at least one row"), file=path)
    return pl.concat(blocks)


# --- Excel -----------------------------------------------------------------------------------------------------------


def excel_frame(path: str | Path) -> pl.DataFrame:
    """Return the first sheet of a workbook, its first row taken as the header."""
    import fastexcel

    logging.getLogger("fastexcel").setLevel(logging.ERROR)  # it warns of every empty column
    path = readable(path)
    if path.suffix.lower() not in _WORKBOOKS:
        raise FileError(_("this is a zip archive"), _("unpack it; a workbook is named .xlsx"), file=path)
    with saying_damage(path, "Excel"):
        _stop_at_bomb(path)
        book = fastexcel.read_excel(path)
        # all rows decide the type of a column: by default the first 1,000 do, and other values below them are lost
        sheet: Any = book.load_sheet(0, schema_sample_rows=None)
        frame = sheet.to_polars()
        _stop_at_bad_names(path, book, frame)
    if not isinstance(frame, pl.DataFrame) or frame.width == 0 or len(frame) == 0:
        raise FileError(
            _("the first sheet holds no rows"), _("give a sheet with a header and at least one row"), file=path
        )
    return frame


def read_excel(path: str | Path, schema: Schema) -> pl.DataFrame:
    """Read the first sheet of a workbook into columns typed by ``schema``."""
    frame = excel_frame(path)
    stop_at_other_columns(path, frame.columns, schema)
    return parse_values(frame, schema, Place(path, 2))


def write_excel(blocks: Iterator[pl.DataFrame], schema: Schema, path: Path, aside: Path) -> None:
    """Write blocks of exact values as the first sheet of a workbook ``path``, for now under the name ``aside``."""
    import xlsxwriter
    from xlsxwriter.exceptions import XlsxWriterException

    frames = list(blocks)
    frame = pl.concat(frames) if frames else pl.DataFrame(schema={c.name: c.dtype for c in schema.columns})
    _stop_at_what_no_sheet_holds(frame, schema, path)
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


def _stop_at_what_no_sheet_holds(frame: pl.DataFrame, schema: Schema, path: Path) -> None:
    """Stop before values would be cut or rounded in silence."""
    cure = _("write Parquet or CSV instead")
    if len(frame) >= 1 << 20:
        raise ParameterError(_("a sheet holds at most 1,048,575 rows"), cure, file=path)
    if frame.width > 1 << 14:
        raise ParameterError(_("a sheet holds at most 16,384 columns"), cure, file=path)
    for column in schema.columns:
        value = pl.col(column.name)
        match column.type:
            case ValueType.TEXT:
                bad, rule = value.str.len_chars() > _LONGEST_CELL, _("a cell of a sheet holds 32,767 characters")
            case ValueType.INTEGER:
                bad, rule = value.abs() > 10**15, _("a sheet keeps 15 digits of a number")
            case ValueType.DATE | ValueType.DATETIME:
                bad, rule = value.dt.year() < 1900, _("a sheet knows no days before 1900")
            case _:
                continue
        rows = frame.select(bad.fill_null(value=False)).to_series()
        if rows.any():
            at = int(rows.arg_true()[0])
            raise ParameterError(rule, cure, file=path, row=at + 2, column=column.name, value=frame[column.name][at])


def _stop_at_bad_names(path: Path, book: Any, frame: pl.DataFrame) -> None:
    """Stop at a column without a name, or two of one name: the workbook reader makes names up for them."""
    if not any(re.search(r"^__UNNAMED__\d+$|_\d+$", name) for name in frame.columns):
        return
    header = book.load_sheet(0, header_row=None, n_rows=1, dtypes="string").to_polars().row(0)
    for i, name in enumerate(header):
        if name is None:
            raise FormatError(
                _("column {number} has no name").format(number=i + 1), _("name it in the header"), file=path, row=1
            )
        if name in header[:i]:
            raise FormatError(
                _("two columns are called {name!r}").format(name=name),
                _("give each column a name of its own"),
                file=path,
                row=1,
                column=name,
            )


def _stop_at_bomb(path: Path) -> None:
    """Measure what a workbook unpacks to, byte by byte, and how far its sheets reach."""
    unpacked = 0
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            # read to the true end of the stream: a bomb understates its size
            member.file_size = sys.maxsize
            extent = _Extent()
            with archive.open(member) as part:
                while chunk := part.read(_CHUNK):
                    unpacked += len(chunk)
                    if unpacked > LARGEST_WORKBOOK:
                        raise FileError(
                            _("the workbook unpacks to more than {size:,} bytes").format(size=LARGEST_WORKBOOK),
                            _("export it as CSV or Parquet"),
                            file=path,
                        )
                    extent.look_at(chunk)
                extent.look_at(b"<")
            if extent.cells > LARGEST_SHEET:
                raise FileError(
                    _("the sheet {name} reaches over {cells:,} cells, more than {most:,}").format(
                        name=member.filename, cells=extent.cells, most=LARGEST_SHEET
                    ),
                    _("delete what lies far from the data, or export it as CSV or Parquet"),
                    file=path,
                )


class _Extent:
    """How many rows and columns a sheet spans, found from the places that the cells of its XML give themselves."""

    _ROW_PLACE = re.compile(rb"""\br\s*=\s*["']0*([0-9]{1,18})["']""")
    _CELL_PLACE = re.compile(rb"""\br\s*=\s*["']([A-Za-z]{1,9})0*([0-9]{1,18})["']""")
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
        rows, places = self._ROW_PLACE.findall(data), self._CELL_PLACE.findall(data)
        letters, numbers = zip(*places, strict=True) if places else ((), ())
        self._rows = max([self._rows, *map(int, {*rows, *numbers})])
        self._columns = max([self._columns, *map(_column_number, set(letters))])
        self._more_rows += max(0, len(self._ROW.findall(data)) - len(rows))
        if len(self._CELL.findall(data)) > len(places):
            first, *others = (len(self._CELL.findall(row)) for row in self._ROW.split(data))
            self._cells_in_row += first
            self._more_columns = max(self._more_columns, self._cells_in_row, *others)
            self._cells_in_row = others[-1] if others else self._cells_in_row


def _column_number(letters: bytes) -> int:
    """Return which column is called ``letters``: A is 1, Z is 26, AA is 27."""
    return functools.reduce(lambda number, letter: number * 26 + letter - 64, letters.upper(), 0)


@contextlib.contextmanager
def saying_damage(path: Path, form: str) -> Iterator[None]:
    """Turn what a native reader says of a damaged file into one line with a cure."""
    try:
        yield
    except NorenError:
        raise
    except Exception as error:
        raise _damaged(path, form, error) from None
    except BaseException as error:
        # the readers are Rust code in part: a panic on a damaged file must not pass for an interrupt
        if type(error).__name__ != "PanicException":
            raise
        raise _damaged(path, form, error) from None


def _damaged(path: Path, form: str, error: BaseException) -> FileError:
    reason = (str(error).splitlines() or [type(error).__name__])[0][:160]
    return FileError(
        _("this is not a readable {form} file ({reason})").format(form=form, reason=reason),
        _("export it again"),
        file=path,
    )
