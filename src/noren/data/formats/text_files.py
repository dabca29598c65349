"""Text files with delimiters (CSV and its kind): read in blocks, strictly, with row numbers in errors; written whole.

The text is cut into blocks of some megabytes by Arrow's reader, every cell still text; a kernel types one block at a
time (:mod:`noren.data.formats.parse`), on as many cores as the engine has. So a file far larger than memory passes
through.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal

import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv

from noren.data.formats.source import Source, SourceLike
from noren.data.formats.text_layout import TextForm, plain_cells
from noren.data.schema import Kind, Schema, reject_missing
from noren.errors import FileError, FormatError, SchemaError
from noren.tables import Texts

say = Texts(__name__)

LONGEST_FIELD = 100_000
"""Characters a field may hold; longer ones come from damaged files or unclosed quotes."""
BLOCK_BYTES = 8 << 20


def text_blocks(
    source: SourceLike, form: TextForm, *, strip: bool = False, empty_lines: Literal["last", "none", "all"] = "last"
) -> Iterator[tuple[int, pl.DataFrame]]:
    """Yield ``(row number of its first line, block of text columns named 0, 1, …)``.

    Raises :class:`~noren.errors.FormatError` at the first ragged row, over-long field or empty line, unless it is one
    of the ``last``, which are dropped; ``all`` are kept as rows.
    """
    source = Source.open(source)
    row = 1 + form.skipped_lines + form.header
    yield from _checked(_batches(source, form), source.path, form, row, strip=strip, empty_lines=empty_lines)


def cells_of_lines(lines: pl.Series, path: str | Path, form: TextForm, first: int, *, strip: bool) -> pl.DataFrame:
    """Return the cells of lines that are rows each, the first of which has ``first`` lines of the file before it."""
    text = lines.str.join("\n").item() + "\n"
    batches = _arrow_batches(pa.BufferReader(text.encode()), form, 0, 0)
    return pl.concat(
        block for _row, block in _checked(batches, path, form, first + 1, strip=strip, empty_lines="all", before=first)
    )


def _checked(
    batches: Iterable[pa.RecordBatch],
    path: str | Path,
    form: TextForm,
    row: int,
    *,
    strip: bool,
    empty_lines: Literal["last", "none", "all"],
    before: int = 0,
) -> Iterator[tuple[int, pl.DataFrame]]:
    """Yield batches as :func:`text_blocks` does; ``before`` rows lie before those that Arrow counts."""
    empty_at: int | None = None
    try:
        for batch in batches:
            block = pl.from_arrow(batch)
            if not isinstance(block, pl.DataFrame):  # pragma: no cover - Arrow batches are frames
                raise TypeError(type(block))
            if strip:
                block = block.with_columns(pl.all().str.strip_chars(" \t"))
            for name, length in block.select(pl.all().str.len_bytes().max()).row(0, named=True).items():
                if (length or 0) > LONGEST_FIELD:
                    at = int((block[name].str.len_bytes() > LONGEST_FIELD).arg_true()[0])
                    value = block[name][at]
                    message = say("field_too_long", length=len(value.encode()), most=LONGEST_FIELD)
                    raise FormatError(message, file=path, row=row + at, column=str(int(name) + 1), value=value)
            last_row = len(block)
            if block.width > 1 and empty_lines != "all":
                empty = block.select(pl.all_horizontal(pl.all() == "")).to_series()
                full = (~empty).arg_true()
                last_row = int(full[-1]) + 1 if len(full) else 0
                if last_row and (empty_at is not None or empty[:last_row].any()):
                    at = empty_at if empty_at is not None else row + int(empty.arg_true()[0])
                    raise FormatError(say("empty_line"), file=path, row=at)
                if last_row < len(block) and empty_at is None:
                    empty_at = row + last_row
            if empty_at is not None and empty_lines == "none":
                raise FormatError(say("empty_line"), file=path, row=empty_at)
            if last_row:
                yield row, plain_cells(block[:last_row]) if form.neutralised else block[:last_row]
            row += len(block)
    except pa.ArrowInvalid as error:
        raise _arrow_error(error, path, first_row=before) from None
    except UnicodeDecodeError as error:
        bad = error.object[error.start : error.end].hex(" ")
        raise FormatError(say("wrong_encoding", encoding=form.encoding), file=path, value=bad) from None
    except OSError as error:
        raise FileError(say("cannot_read", reason=str(error).splitlines()[0][:200]), file=path) from None


def _batches(source: Source, form: TextForm) -> Iterator[pa.RecordBatch]:
    """Cut a text file into Arrow batches of cells.

    Arrow reads ahead in threads of its own. Handed a Python file, or a function for bad rows, these threads wait for
    the interpreter, and where it has ended meanwhile they end the process with SIGABRT. So Arrow is given native files
    and memory alone: a plain UTF-8 file by its name; others are unpacked and decoded here, in pieces of whole rows.
    """
    # a name in the header may hold a line end: then Arrow must skip it as a row, not as a line
    as_row = form.header and any(end in name for name in form.first_line for end in "\r\n")
    lines, rows = form.skipped_lines + (form.header and not as_row), int(as_row)
    if form.encoding.startswith("utf-8") and not source.compressed and form.delimiter != " ":
        with pa.OSFile(str(source.path)) as file:
            yield from _arrow_batches(file, form, lines, rows)
        return
    done = 0  # rows before the piece, those above the first row included once they are passed
    for piece in _pieces(source, form):
        before = done
        if form.delimiter == " ":  # spaces that set columns apart, however many, as one, and none around lines
            piece = re.sub(r"(?m)^ +| +(?=\r?$)", "", re.sub(r" +", " ", piece))
        try:
            for batch in _arrow_batches(pa.BufferReader(piece.encode()), form, lines, rows):
                done += len(batch)
                yield batch
        except pa.ArrowInvalid as error:
            raise _arrow_error(error, source.path, first_row=before) from None
        done += lines + rows
        lines = rows = 0


def _arrow_batches(file: pa.NativeFile, form: TextForm, skip_lines: int, skip_rows: int) -> Iterator[pa.RecordBatch]:
    names = [str(i) for i in range(form.columns)]
    read = pa_csv.ReadOptions(
        use_threads=False,
        block_size=BLOCK_BYTES,
        column_names=names,
        skip_rows=skip_lines,
        skip_rows_after_names=skip_rows,
        encoding="utf8",
    )
    parse = pa_csv.ParseOptions(
        delimiter=form.delimiter,
        quote_char='"' if form.quoted else False,
        double_quote=form.quoted,
        escape_char=False,
        newlines_in_values=form.quoted,
        ignore_empty_lines=False,
    )
    convert = pa_csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.large_string()), strings_can_be_null=False, check_utf8=True
    )
    yield from pa_csv.open_csv(file, read_options=read, parse_options=parse, convert_options=convert)


def _pieces(source: Source, form: TextForm) -> Iterator[str]:
    """Yield the text of a compressed or foreign file in pieces that end where a row ends."""
    left = ""
    with source.unpacked() as raw:
        decoder = codecs.getincrementaldecoder(form.encoding)()
        while True:
            chunk = raw.read(BLOCK_BYTES)
            left += decoder.decode(chunk, final=not chunk)
            if not chunk:
                break
            cut = _last_row_end(left, form.delimiter, quoted=form.quoted)
            if cut:
                piece, left = left[:cut], left[cut:]
                yield piece
            elif len(left) > 4 * BLOCK_BYTES:
                break  # a row past all bounds: Arrow says so
    if left:
        yield left


def _last_row_end(text: str, delimiter: str, *, quoted: bool) -> int:
    """Return where the last whole row of a text ends; 0 where none does.

    >>> _last_row_end('a,b\\n"c\\nd",e\\n"f\\n', ",", quoted=True)
    12
    """
    end = len(text) - text.endswith("\r")  # its line feed may follow
    spans: list[tuple[int, int]] = []
    if quoted:
        sign = re.escape(delimiter)
        cells = re.finditer(rf'(?:\A|(?<=[{sign}\r\n]))"(?:[^"]|"")*("(?!")|\Z)', text)
        spans = [(cell.start(), cell.end() if cell[1] else end + 1) for cell in cells]
    while end > 0:
        at = max(text.rfind("\n", 0, end), text.rfind("\r", 0, end))
        while spans and spans[-1][0] > at:
            spans.pop()
        if at < 0 or not spans or spans[-1][1] <= at:
            return at + 1
        end = spans[-1][0]
    return 0


_RAGGED = re.compile(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+): (.*)", re.DOTALL)


def _arrow_error(error: pa.ArrowInvalid, path: str | Path, first_row: int) -> FormatError | FileError:
    """Return our error for one of Arrow; ``first_row`` rows lie before those that it counted."""
    text = str(error)
    ragged = _RAGGED.search(text)
    if ragged:
        row, expected, actual, line = ragged.groups()
        at = None if row is None else int(row) + first_row
        return FormatError(say("ragged_row", actual=actual, expected=expected), file=path, row=at, value=line)
    if "straddling" in text or "block_size" in text:
        return FormatError(say("row_too_long", size=BLOCK_BYTES), file=path)
    if "Empty CSV" in text or "Could not skip" in text:
        return FileError(say("no_rows"), file=path)
    return FormatError(text.splitlines()[0][:200], file=path)


def column_names(form: TextForm) -> list[str]:
    """Return the names in the header, or column1, column2, … where there is none; see :func:`unique_names`."""
    if not form.header:
        return [f"column{i}" for i in range(1, form.columns + 1)]
    return unique_names(form.first_line)[0]


def unique_names(header: Sequence[str | None]) -> tuple[list[str], tuple[str, ...]]:
    """Return a unique name for every column, and a note for every column that was renamed.

    A column without a name is named after its position; a repeated name gets a number.

    >>> unique_names(["a", "", "a"])[0]
    ['a', 'column2', 'a_2']
    """
    header_names = {(name or "").strip() for name in header}
    names: list[str] = []
    notes = []
    for place, cell in enumerate(header, 1):
        name = (cell or "").strip()
        called = base = name or f"column{place}"
        number = 1
        while called in names or (called != name and called in header_names):
            number += 1
            called = f"{base}_{number}"
        if called != name:
            notes.append(say("renamed_column", old=name, number=place, name=called))
        names.append(called)
    return names, tuple(notes)


def arrangement(source: Source, form: TextForm, schema: Schema) -> list[int]:
    """Return, for each column of ``schema``, which column of the file holds it."""
    if form.header:
        names = column_names(form)
        reject_other_columns(source.path, names, schema)
        where = {name: i for i, name in enumerate(names)}
        return [where[n] for n in schema.names]
    if form.columns != len(schema.columns):
        message = say("wrong_width", actual=form.columns, schema=schema.name, expected=len(schema.columns))
        line = form.delimiter.join(form.first_line)
        raise FormatError(message, file=source.path, row=1 + form.skipped_lines, value=line)
    return list(range(form.columns))


def reject_other_columns(
    path: str | Path | None, names: Sequence[str], schema: Schema, index: Sequence[str] = ()
) -> None:
    """Stop where data lack a column of the schema, or a table has one more; in a history others are left out."""
    reject_missing(schema.names, names, index, path)
    expected = set(names if schema.kind == Kind.HISTORY else schema.names)
    for extra in (name for name in names if name not in expected):
        raise SchemaError(say("column_not_in_schema", schema=schema.name), file=path, column=extra)
