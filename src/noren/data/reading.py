"""One door for everything that can be read: CSV, Parquet, workbooks, official text formats, release folders.

:func:`read` looks at the content, not only at the name, and says what it chose (:attr:`Read.said`). :func:`convert`
passes a file of any size through in blocks.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeGuard, TypeVar

import polars as pl
import pyarrow.parquet as pq

from noren.data.contest_files import published, read_master, read_rows, write_rows
from noren.data.formats.files import writing_file
from noren.data.formats.parquet import parquet_blocks, parquet_names
from noren.data.formats.parse import CellPlace, Problems, parse_values
from noren.data.formats.render import file_text
from noren.data.formats.source import Source, SourceLike, stop_at_large
from noren.data.formats.text_files import BLOCK_BYTES, column_names, mapped_blocks, stop_at_other_columns
from noren.data.formats.workbooks import excel_sheet, write_excel
from noren.data.frames import History, Records, Table
from noren.data.guessing import Question
from noren.data.guessing.schema_guess import Reading, Widening, guess_schema, read_block
from noren.data.periods import periods_of
from noren.data.release import Release, Secret, Statement
from noren.data.schema import Column, Kind, Role, Schema
from noren.errors import FileError, InputError, OutputError, ParameterError, listing, shown
from noren.i18n import _
from noren.tables import Texts

say = Texts(__name__)


Made = TypeVar("Made")


@dataclass(frozen=True)
class Read:
    """What was read, and what was chosen on the way."""

    data: Records
    said: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()


def read(
    source: SourceLike,
    schema: Schema | str | Path | None = None,
    *,
    master: str | Path | None = None,
    kind: Kind | None = None,
    customer: str | None = None,
    stop_at: Callable[[Sequence[Question]], None] | None = None,
) -> Read:
    """Read a history or a table from a file.

    Parameters
    ----------
    source
        CSV (plain or gzip), Parquet or a workbook.
    schema
        A :class:`Schema`, the name of a preset or a TOML file; guessed where left out. A guessed one rejects no row:
        the data's own schema is what holds for all of them.
    master
        The contest's ``M`` file: customer, sex, birthday, country.
    kind, customer
        What somebody said of a file whose schema is guessed (:func:`~noren.data.guessing.schema_guess.guess_schema`).
    stop_at
        Hears what the guess could not decide before any row is read, and may raise.
    """
    source = Source.open(source)
    stop_at_large(source)
    said: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    if schema is None:
        guess = guess_schema(source, kind=kind, customer=customer)
        schema, said, questions = guess.schema, guess.said, guess.questions
        if stop_at is not None:
            stop_at(questions)
    elif not isinstance(schema, Schema):
        schema = Schema.load(schema)
    form = source.text_form(schema.text, schema.names) if source.kind == "text" else None
    if form is not None:
        said = said or (form.sentence(),)
    data: Records
    if schema.guessed:
        # what holds for the first rows may not hold for all of them: they are read again by a type that gave way
        widening = Widening(schema)
        blocks = [widening.look_at(block, row, typed) for row, block, typed in _looked_at(source, schema)]
        if not blocks:
            raise FileError(*say.problem("file_holds_header_no"), file=source.path)
        whole = widening.schema()
        if widening.types_changed:
            blocks = [typed for _row, _block, (typed, _lost) in _looked_at(source, whole)]
        data = _records(pl.concat(blocks), whole)
        said += widening.said()
    elif form is not None and schema.official and not form.header:
        data = read_rows(source, schema)
    else:
        blocks = list(_typed_blocks(source, schema))
        if not blocks:
            rule = _("the file holds a header and no rows") if form and form.header else _("the file holds no rows")
            raise FileError(rule, _("give a file with at least one row"), file=source.path)
        data = _records(pl.concat(blocks), schema)
    names = parquet_names(source) if source.kind == "parquet" else column_names(form) if form and form.header else ()
    extra = [name.strip() for name in names if name.strip() not in set(schema.names)]
    if extra:
        said += (_("left out: {names}").format(names=listing(extra)),)
    if master is not None:
        if not isinstance(data, History):
            raise ParameterError(*say.problem("table_no_master"))
        data = replace(data, master=read_master(master))
    return Read(data, said, questions)


def _mapped(source: Source, schema: Schema, kernel: Callable[[int, pl.DataFrame], Made]) -> Iterator[Made]:
    """Yield ``kernel(number of its first row, block of the schema's columns as they stand)``, in order."""
    if source.kind == "text":
        yield from mapped_blocks(source, schema, kernel)
        return
    row, blocks = 1, parquet_blocks(source) if source.kind == "parquet" else iter(())
    if source.kind == "excel":
        sheet = excel_sheet(source, schema.text.sheet, schema.names)
        row, blocks = sheet.first_row, iter([sheet.frame])
    for block in blocks:
        stop_at_other_columns(source.path, block.columns, schema)
        yield kernel(row, block.select(schema.names))
        row += len(block)


def _looked_at(source: Source, schema: Schema) -> Iterator[tuple[int, pl.DataFrame, Reading]]:
    """Yield ``(number of its first row, block as it stands, block as the schema's types read it)``."""
    yield from _mapped(source, schema, lambda row, block: (row, block, read_block(block, schema.columns)))


def _typed_blocks(source: Source, schema: Schema) -> Iterator[pl.DataFrame]:
    """Yield typed blocks, in order; where a cell breaks a rule, count all that do and say them."""

    def kernel(row: int, block: pl.DataFrame) -> tuple[pl.DataFrame, Problems]:
        found = Problems()
        return parse_values(block, schema, CellPlace(source.path, row), found), found

    problems = Problems()
    try:
        for typed, found in _mapped(source, schema, kernel):
            problems.merge(found)
            if not problems:
                yield typed
    except InputError:
        problems.stop(source.path)  # they came first
        raise
    problems.stop(source.path)


def settled(source: SourceLike, schema: Schema) -> Schema:
    """Return what a guessed schema must be to hold every row of a file of any size; one that is not guessed as it is.

    The file is looked at once, block by block.
    """
    if not schema.guessed:
        return schema
    widening = Widening(schema)
    for row, block, typed in _looked_at(Source.open(source), schema):
        widening.look_at(block, row, typed)
    return widening.schema()


def _records(frame: pl.DataFrame, schema: Schema) -> Records:
    return History(frame, schema) if schema.kind == Kind.HISTORY else Table(frame, schema)


def read_release(path: str | Path, original: Records) -> Release:
    """Read a release: a folder that ``noren protect`` wrote, or a file in the original's row order (``A``, ``AT``)."""
    path = Path(path)
    if path.is_dir():
        return Release.load(path)
    return _aligned_release(path, _released_rows(path, original), original)


def _aligned_release(path: Path, aligned: Records, original: Records) -> Release:
    statement = Statement(method="unknown", notes={"file": path.name})
    if len(aligned) != len(original):
        raise FileError(*say.problem("file_rows_original", released=len(aligned), original=len(original)), file=path)
    # the contest of 2017 gives a pseudonym for each month, the month being the original's
    monthly = original.schema.official == "pwscup2017"
    periods = periods_of(original[Role.DATE]) if monthly else None
    return Release.of_aligned(original, aligned, statement, periods=periods, scan=False)


def read_public(path: str | Path, original: Records) -> Records:
    """Read what an attacker sees: the public part of a release folder, a published file (``A'``, ``S``) as it stands,
    or of a file in the original's order (``A``, ``AT``) what would be published.
    """
    path = Path(path)
    if path.is_dir():
        return Release.load(path).public
    rows = _released_rows(path, original)
    return published(rows) if _has_deleted(rows) else rows


def read_any_release(path: str | Path, original: Records) -> Release:
    """Read a release to judge: a folder, a file in the original's order, or a published file, which has no secret.

    A file of as many rows as the original may be a published one whose order says nothing: only deleted rows show that
    it keeps the original's.
    """
    path = Path(path)
    if path.is_dir():
        return Release.load(path)
    rows = _released_rows(path, original)
    if _has_deleted(rows) and len(rows) == len(original):
        return _aligned_release(path, rows, original)
    public = published(rows) if _has_deleted(rows) else rows
    return Release(public, Secret.nobodys(), Statement("unknown", notes={"file": path.name}))


def _released_rows(path: Path, original: Records) -> Records:
    """Read a file by the schema of the original that it was made of: the types of a release are the original's."""
    return read(path, original.schema.model_copy(update={"guessed": False})).data


def _has_deleted(rows: Records) -> TypeGuard[History]:
    return isinstance(rows, History) and bool(rows[Role.CUSTOMER].is_null().any())


# --- writing and converting ---------------------------------------------------------------------------------


def write(data: Records, path: str | Path) -> None:
    """Write records as CSV, Parquet or Excel, by the name's ending; official text formats for contest schemas."""
    path = Path(path)
    kind = _format_of(path)
    if kind == "csv" and isinstance(data, History) and data.schema.official:
        write_rows(data, path)
        return
    schema, frame = data.schema, data.frame.select(data.schema.names)
    if data.generalised and kind == "parquet":
        with writing_file(path) as aside:
            pq.write_table(frame.to_arrow(), aside, compression="zstd")
        return
    if data.generalised:
        # text files and sheets hold generalised cells as their text
        texts = tuple(Column(name=n) for n in schema.names)
        schema, frame = schema.model_copy(update={"columns": texts}), data.texts()
    write_blocks(iter([frame]), schema, path)


def convert(
    source: SourceLike,
    target: str | Path,
    schema: Schema | str | Path | None = None,
    progress: Callable[[float, int], None] | None = None,
) -> int:
    """Pass a file of any size into another format, block by block, and return the number of rows.

    A text file is written as the schema's ``[text]`` says: delimiter, header, encoding; UTF-8 with commas and a header
    where it says nothing. By a guessed schema the file is read twice: once to see what holds for all rows.
    """
    source, target = Source.open(source), Path(target)
    _format_of(target)
    if schema is None:
        schema = guess_schema(source).schema
    elif not isinstance(schema, Schema):
        schema = Schema.load(schema)
    schema = settled(source, schema)
    rows = 0

    def counted() -> Iterator[pl.DataFrame]:
        nonlocal rows
        expected = 0.0
        for block in _typed_blocks(source, schema):
            # a text block is BLOCK_BYTES long but for the last, so the first tells how many rows to expect
            expected = expected or max(1.0, len(block) * source.size / BLOCK_BYTES)
            rows += len(block)
            if progress is not None:
                progress(min(1.0, rows / expected), rows)
            yield block
        if rows == 0:
            raise FileError(*say.problem("file_holds_no_rows"), file=source.path)

    write_blocks(counted(), schema, target)
    return rows


def read_blocks(source: SourceLike, schema: Schema) -> Iterator[pl.DataFrame]:
    """Yield the rows of a file of any size, block by block, typed by ``schema``; a guessed one as :func:`settled`."""
    source = Source.open(source)
    yield from _typed_blocks(source, settled(source, schema))


def _format_of(path: Path) -> str:
    endings = {".parquet": "parquet", ".csv": "csv", ".tsv": "tsv", ".txt": "csv", ".xlsx": "excel"}
    kind = endings.get(path.suffix.lower())
    if kind is None:
        raise ParameterError(*say.problem("no_format_ends", suffix=path.suffix, endings=", ".join(endings)), file=path)
    return kind


def write_blocks(blocks: Iterator[pl.DataFrame], schema: Schema, path: Path) -> None:
    """Write blocks of exact values one after another, by the name's ending; the file appears whole or not at all."""
    kind = _format_of(path)
    with writing_file(path) as aside:
        if kind == "parquet":
            empty = pl.DataFrame(schema={c.name: c.dtype for c in schema.columns}).to_arrow()
            with pq.ParquetWriter(aside, empty.schema, compression="zstd") as writer:
                for block in blocks:
                    writer.write_table(block.to_arrow().cast(empty.schema))
        elif kind == "excel":
            write_excel(blocks, schema, path, aside)
        else:
            _write_text(blocks, schema, path, aside, delimiter="\t" if kind == "tsv" else None)


def _write_text(
    blocks: Iterator[pl.DataFrame], schema: Schema, path: Path, aside: Path, *, delimiter: str | None
) -> None:
    layout = schema.text
    header = bool(layout.header if layout.header is not None else not schema.official)
    encoding = (layout.encoding or "utf-8").lower()
    with aside.open("wb") as file:
        if encoding == "utf-8-sig":
            file.write(codecs.BOM_UTF8)
        if encoding == "utf-16":
            file.write(codecs.BOM_UTF16_LE)
            encoding = "utf-16-le"
        for block in blocks:
            texts = block.select(file_text(pl.col(c.name), c).alias(c.name) for c in schema.columns)
            content = texts.write_csv(separator=delimiter or layout.delimiter or ",", include_header=header)
            header = False
            try:
                file.write(content.encode("utf-8" if encoding.startswith("utf-8") else encoding))
            except (UnicodeEncodeError, LookupError) as error:
                said = shown(error.object[error.start]) if isinstance(error, UnicodeEncodeError) else error
                raise OutputError(say("was_not_written_not", path=path, said=said, encoding=encoding)) from None
