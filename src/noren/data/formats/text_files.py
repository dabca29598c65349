"""CSV and its cousins: read in blocks, strictly, with the row of every complaint; written whole.

The text is cut into blocks of some megabytes by Arrow's reader, every cell still text; a kernel types one block at a
time (:mod:`noren.data.formats.parse`), on as many cores as the engine has. So a file far larger than memory passes
through.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv

from noren.data.formats.files import open_bytes
from noren.data.formats.parse import Place, parse_text
from noren.data.formats.scan import TextForm, scan_text
from noren.data.schema import Kind, Schema
from noren.engines.blocks import cores, map_blocks
from noren.errors import FileError, FormatError, SchemaError
from noren.i18n import _
from noren.naming import listing

__all__ = [
    "LONGEST_FIELD",
    "arrangement",
    "column_names",
    "read_csv",
    "stop_at_other_columns",
    "text_blocks",
    "typed_blocks",
]

LONGEST_FIELD = 100_000
"""Characters a field may hold; longer ones come from damaged files or unclosed quotes."""
BLOCK_BYTES = 8 << 20
TYPING_THREADS = 4


def text_blocks(
    path: str | Path, form: TextForm, *, quoting: bool = True, strip: bool = False, last_empty_lines: bool = True
) -> Iterator[tuple[int, pl.DataFrame]]:
    """Yield ``(row number of its first line, block of text columns named 0, 1, …)``.

    Raises :class:`~noren.errors.FormatError` at the first ragged row, over-long field or empty line in the middle.
    """
    quoted = form.quoted and quoting
    names = [str(i) for i in range(form.columns)]
    ragged: list[pa_csv.InvalidRow] = []

    def keep_first(row: pa_csv.InvalidRow) -> str:
        if not ragged:
            ragged.append(row)
        return "skip"

    # a name in the header may hold a line end: then Arrow must skip it as a row, not as a line
    as_row = form.header and any(end in name for name in form.first_line for end in "\r\n")
    read = pa_csv.ReadOptions(
        use_threads=False,
        block_size=BLOCK_BYTES,
        column_names=names,
        skip_rows=form.skipped_lines + (form.header and not as_row),
        skip_rows_after_names=int(as_row),
        encoding="utf8" if form.encoding.startswith("utf-8") else form.encoding,
    )
    parse = pa_csv.ParseOptions(
        delimiter=form.delimiter,
        quote_char='"' if quoted else False,
        double_quote=quoted,
        escape_char=False,
        newlines_in_values=quoted,
        ignore_empty_lines=False,
        invalid_row_handler=keep_first,
    )
    convert = pa_csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.large_string()), strings_can_be_null=False, check_utf8=True
    )
    row = 1 + form.skipped_lines + form.header
    empty_at: int | None = None
    try:
        with open_bytes(path) as raw:
            reader = pa_csv.open_csv(raw, read_options=read, parse_options=parse, convert_options=convert)
            while True:
                try:
                    batch = reader.read_next_batch()
                except StopIteration:
                    break
                if ragged:
                    break
                block = pl.from_arrow(batch)
                if not isinstance(block, pl.DataFrame):  # pragma: no cover - Arrow batches are frames
                    raise TypeError(type(block))
                if strip:
                    block = block.with_columns(pl.all().str.strip_chars(" \t"))
                _stop_at_long_field(block, path, row)
                kept, empty_at = _without_last_empty_lines(block, row, empty_at, path)
                if empty_at is not None and not last_empty_lines:
                    raise FormatError(_("the line is empty"), _("remove it"), file=path, row=empty_at)
                if len(kept):
                    yield row, kept
                row += len(block)
    except pa.ArrowInvalid as error:
        raise _said_by_arrow(error, path) from None
    except UnicodeDecodeError as error:
        raise FormatError(
            _("the bytes are not {encoding}").format(encoding=form.encoding),
            _("name the right encoding, or leave it out to have it detected"),
            file=path,
            value=error.object[error.start : error.end].hex(" "),
        ) from None
    if ragged:
        first = ragged[0]
        raise FormatError(
            _("the row has {actual} cells, the others {expected}").format(
                actual=first.actual_columns, expected=first.expected_columns
            ),
            _("mend the row; a cell that holds the delimiter needs double quotes around it"),
            file=path,
            row=first.number,
            value=first.text,
        )


def _without_last_empty_lines(
    block: pl.DataFrame, row: int, empty_at: int | None, path: str | Path
) -> tuple[pl.DataFrame, int | None]:
    """Drop empty lines at the end of the file; complain of one in the middle."""
    if block.width == 1:
        return block, None
    empty = block.select(pl.all_horizontal(pl.all() == "")).to_series()
    if not empty.any():
        last_empty = len(block)
    else:
        full = (~empty).arg_true()
        last_empty = int(full[-1]) + 1 if len(full) else 0
    if last_empty and (empty_at is not None or empty[:last_empty].any()):
        at = empty_at if empty_at is not None else row + int(empty.arg_true()[0])
        raise FormatError(_("the line is empty"), _("remove it"), file=path, row=at)
    if last_empty < len(block) and empty_at is None:
        empty_at = row + last_empty
    return block[:last_empty], empty_at


def _stop_at_long_field(block: pl.DataFrame, path: str | Path, row: int) -> None:
    longest = block.select(pl.all().str.len_bytes().max())
    for name, length in longest.row(0, named=True).items():
        if (length or 0) > LONGEST_FIELD:
            lengths = block[name].str.len_bytes()
            at = int((lengths > LONGEST_FIELD).arg_true()[0])
            raise FormatError(
                _("the field holds {length:,} bytes, more than {most:,}").format(
                    length=lengths[at], most=LONGEST_FIELD
                ),
                _("check for a missing quote or line end"),
                file=path,
                row=row + at,
                column=str(int(name) + 1),
                value=block[name][at],
            )


def _said_by_arrow(error: pa.ArrowInvalid, path: str | Path) -> FormatError | FileError:
    said = str(error)
    if "straddling" in said or "block_size" in said:
        return FormatError(
            _("a row is longer than {size:,} bytes").format(size=BLOCK_BYTES),
            _("check for a missing quote or line end"),
            file=path,
        )
    if "Empty CSV" in said:
        return FileError(_("the file holds no rows"), _("give a file with at least one row"), file=path)
    if "Could not skip" in said:
        return FileError(_("the file holds a header and no rows"), _("give a file with at least one row"), file=path)
    return FormatError(said.splitlines()[0][:200], _("mend the row"), file=path)


def column_names(path: str | Path, form: TextForm) -> list[str]:
    """Return the names in the header, or column1, column2, … where there is none."""
    if not form.header:
        return [f"column{i}" for i in range(1, form.columns + 1)]
    names = [name.strip() for name in form.first_line]
    seen: set[str] = set()
    for i, name in enumerate(names):
        if not name:
            raise FormatError(
                _("column {number} has no name").format(number=i + 1),
                _("name it in the header"),
                file=path,
                row=1 + form.skipped_lines,
            )
        if name in seen:
            raise FormatError(
                _("two columns are called {name!r}").format(name=name),
                _("give each column a name of its own"),
                file=path,
                row=1 + form.skipped_lines,
                column=name,
            )
        seen.add(name)
    return names


def arrangement(path: str | Path, form: TextForm, schema: Schema) -> list[int]:
    """Return, for each column of ``schema``, which column of the file holds it."""
    if form.header:
        names = column_names(path, form)
        stop_at_other_columns(path, names, schema)
        where = {name: i for i, name in enumerate(names)}
        return [where[n] for n in schema.names]
    if form.columns != len(schema.columns):
        raise FormatError(
            _("the row has {actual} cells, the schema {schema} has {expected} columns").format(
                actual=form.columns, schema=schema.name, expected=len(schema.columns)
            ),
            _("choose the schema that fits, or mend the file"),
            file=path,
            row=1 + form.skipped_lines,
            value=form.delimiter.join(form.first_line),
        )
    return list(range(form.columns))


def stop_at_other_columns(path: str | Path, names: Sequence[str], schema: Schema) -> None:
    """Stop where a file lacks a column of the schema, or a table has one more; in a history others are left out."""
    missing = set(schema.names).difference(names)
    if missing:
        raise SchemaError(
            _("the file has no column {name!r}").format(name=next(n for n in schema.names if n in missing)),
            _("its columns are {names}; mend the schema or the file").format(names=listing(names)),
            file=path,
        )
    extra = set(names).difference(schema.names)
    if extra and schema.kind == Kind.TABLE:
        raise SchemaError(
            _("the schema {schema} does not say what the column is").format(schema=schema.name),
            _("add it to the schema with its role, or take it out of the file"),
            file=path,
            column=next(n for n in names if n in extra),
        )


def typed_blocks(path: str | Path, schema: Schema, form: TextForm) -> Iterator[pl.DataFrame]:
    """Yield typed blocks of a text file, in order."""
    order = arrangement(path, form, schema)
    renaming = {str(where): name for name, where in zip(schema.names, order, strict=True)}

    def kernel(numbered: tuple[int, pl.DataFrame]) -> pl.DataFrame:
        row, block = numbered
        return parse_text(block.select(pl.col(w).alias(n) for w, n in renaming.items()), schema, Place(path, row))

    # Typing outruns the one reader from two threads on; more threads would only hold more blocks in memory.
    workers = min(cores(), TYPING_THREADS)
    yield from map_blocks(kernel, text_blocks(path, form, strip=schema.text.strip), workers=workers)


def read_csv(path: str | Path, schema: Schema, form: TextForm | None = None) -> pl.DataFrame:
    """Read a whole text file into typed columns."""
    form = form or scan_text(path, schema.text, schema.names)
    blocks = list(typed_blocks(path, schema, form))
    if not blocks:
        raise FileError(
            _("the file holds a header and no rows") if form.header else _("the file holds no rows"),
            _("give a file with at least one row"),
            file=path,
        )
    return pl.concat(blocks)
