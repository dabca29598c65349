"""Reading and writing of CSV, Parquet, workbooks, official text formats and release folders.

:func:`read` looks at the content, not only at the name, and reports what it chose (:attr:`ReadResult.notes`).
:func:`convert` passes a file of any size through in blocks.

Arguments of public functions (data, a release or public rows, of any make) become records or a release by
:func:`as_records`, :func:`as_public` and :func:`as_release`. Records stay as they are. Data frames of any make, Arrow
tables and columns by name are typed by a schema; a path is read as ``noren`` reads it on the command line.
:func:`check_contest` brings any of these to the contests' checkers, which read files.
"""

from __future__ import annotations

import codecs
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeGuard, TypeVar

import polars as pl
import pyarrow.parquet as pq

from noren.data.checks import check_guess, check_release
from noren.data.checks.report import Report
from noren.data.contest_files import published, read_master, read_rows, write_guess, write_rows
from noren.data.formats.files import writing_file
from noren.data.formats.parquet import parquet_blocks, parquet_names
from noren.data.formats.parse import CellPlace, Problems, parse_values
from noren.data.formats.render import file_text
from noren.data.formats.source import Source, SourceLike, limit_decoded_size
from noren.data.formats.text_files import BLOCK_BYTES, arrangement, column_names, reject_other_columns, text_blocks
from noren.data.formats.text_layout import neutral_cells
from noren.data.formats.workbooks import excel_sheet, write_excel
from noren.data.frames import History, Records, Table, frame_of, index_names, records_of
from noren.data.guessing import Question
from noren.data.guessing.schema_guess import Reading, SchemaGuess, Widening, guess_columns, guess_schema, read_block
from noren.data.periods import periods_of
from noren.data.release import Release, Secret, Statement
from noren.data.schema import Column, Kind, Role, Schema
from noren.engines.blocks import cores, map_blocks
from noren.errors import FileError, InputError, OutputError, ParameterError, SchemaError, listing, quoted, suggestion
from noren.i18n import _
from noren.tables import Texts

say = Texts(__name__)

TYPING_THREADS = 4
Made = TypeVar("Made")
SchemaLike = Schema | str | Path | Mapping[str, Any]
"""A schema, the name of a preset, a TOML file, or plain data such as roles by column (:meth:`Schema.of`)."""


@dataclass(frozen=True)
class ReadResult:
    """The data, notes on how they were read, and open questions."""

    data: Records
    notes: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()


def read(
    source: SourceLike,
    schema: SchemaLike | None = None,
    *,
    master: str | Path | None = None,
    kind: Kind | str | None = None,
    customer: str | None = None,
    roles: Mapping[str, Role] | None = None,
    stop_at: Callable[[Sequence[Question]], None] | None = None,
) -> ReadResult:
    """Read a history or a table from a file.

    Parameters
    ----------
    source
        CSV (plain or gzip), Parquet or a workbook.
    schema
        A :class:`Schema`, the name of a preset, a TOML file or roles by column; guessed by default. A guessed one
        rejects no row: the data's own schema is what holds for all of them.
    master
        The contest's ``M`` file: customer, sex, birthday, country.
    kind, customer, roles
        The user's decision on a file whose schema is guessed (:func:`~noren.data.guessing.schema_guess.guess_columns`).
    stop_at
        Gets the questions of the guess before any row is read, and may raise.
    """
    source = Source.open(source)
    limit_decoded_size(source)
    notes: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    declared = None if schema is None else Schema.load(schema)
    if declared is None or declared.untyped:
        decided = {"kind": kind, "customer": customer, "roles": roles} if declared is None else declared.decisions()
        guess = guess_schema(source, **decided)
        schema, notes, questions = guess.schema, guess.notes, guess.questions
        if stop_at is not None:
            stop_at(questions)
        schema = schema if declared is None else declared.typed_by(schema)
    else:
        schema = declared
    form = source.text_form(schema.text, schema.names) if source.kind == "text" else None
    if form is not None:
        notes = notes or (form.sentence(),)
    data: Records
    if schema.guessed:
        # what holds for the first rows may not hold for all of them: they are read again by a type that gave way
        widening = Widening(schema)
        blocks = [widening.look_at(block, row, typed) for row, block, typed in _looked_at(source, schema)]
        if not blocks:
            raise FileError(say("no_rows"), file=source.path)
        whole = widening.schema()
        if widening.types_changed:
            blocks = [typed for _row, _block, (typed, _lost) in _looked_at(source, whole)]
        data = records_of(pl.concat(blocks), whole)
        notes += widening.notes()
    elif form is not None and schema.official and not form.header:
        data = read_rows(source, schema)
    else:
        blocks = list(_typed_blocks(source, schema))
        if not blocks:
            raise FileError(say("no_rows"), file=source.path)
        data = records_of(pl.concat(blocks), schema)
    names = parquet_names(source) if source.kind == "parquet" else column_names(form) if form and form.header else ()
    extra = [name.strip() for name in names if name.strip() not in set(schema.names)]
    if extra:
        notes += (_("columns not read: {names}").format(names=listing(extra)),)
    if master is not None:
        if not isinstance(data, History):
            raise ParameterError(say("histories_only", option="--master"))
        data = replace(data, master=read_master(master))
    return ReadResult(data, notes, questions)


def _mapped(source: Source, schema: Schema, kernel: Callable[[int, pl.DataFrame], Made]) -> Iterator[Made]:
    """Yield ``kernel(number of its first row, block of the schema's columns as they stand)``, in order."""
    if source.kind == "text":
        form = source.text_form(schema.text, schema.names)
        renaming = dict(zip(schema.names, map(str, arrangement(source, form, schema)), strict=True))

        def named(numbered: tuple[int, pl.DataFrame]) -> Made:
            row, block = numbered
            return kernel(row, block.select(pl.col(place).alias(name) for name, place in renaming.items()))

        # Typing outruns the one reader from two threads on; more threads would only hold more blocks in memory.
        workers = min(cores(), TYPING_THREADS)
        yield from map_blocks(named, text_blocks(source, form, strip=schema.text.strip), workers=workers)
        return
    row, blocks = 1, parquet_blocks(source) if source.kind == "parquet" else iter(())
    if source.kind == "excel":
        sheet = excel_sheet(source, schema.text.sheet, schema.names)
        row, blocks = sheet.first_row, iter([sheet.frame])
    for block in blocks:
        reject_other_columns(source.path, block.columns, schema)
        yield kernel(row, block.select(schema.names))
        row += len(block)


def _looked_at(source: Source, schema: Schema) -> Iterator[tuple[int, pl.DataFrame, Reading]]:
    """Yield ``(number of its first row, block as it stands, block as the schema's types read it)``."""
    yield from _mapped(source, schema, lambda row, block: (row, block, read_block(block, schema.columns)))


def _typed_blocks(source: Source, schema: Schema) -> Iterator[pl.DataFrame]:
    """Yield typed blocks, in order; where a cell breaks a rule, count all that do and say them."""

    def kernel(row: int, block: pl.DataFrame) -> tuple[pl.DataFrame, Problems]:
        own = Problems()
        return parse_values(block, schema, CellPlace(source.path, row), own), own

    problems = Problems()
    try:
        for typed, own in _mapped(source, schema, kernel):
            problems.merge(own)
            if not problems:
                yield typed
    except InputError:
        problems.stop(source.path)  # they came first
        raise
    problems.stop(source.path)


def fit_schema(source: SourceLike, schema: Schema) -> Schema:
    """Return what a guessed schema must be to hold every row of a file of any size; one that is not guessed as it is.

    The file is looked at once, block by block.
    """
    if not schema.guessed:
        return schema
    widening = Widening(schema)
    for row, block, typed in _looked_at(Source.open(source), schema):
        widening.look_at(block, row, typed)
    return widening.schema()


def read_release(path: str | Path, original: Records) -> Release:
    """Read a release: a folder that ``noren protect`` wrote, or a file in the original's row order (``A``, ``AT``)."""
    path = Path(path)
    if path.is_dir():
        return Release.load(path)
    return _aligned_release(path, _read_released(path, original), original)


def _aligned_release(path: Path, aligned: Records, original: Records) -> Release:
    statement = Statement(method="unknown", notes={"file": path.name})
    if len(aligned) != len(original):
        raise FileError(say("other_row_count", rows=len(aligned), original=len(original)), file=path)
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
    rows = _read_released(path, original)
    return published(rows) if _has_deleted(rows) else rows


def read_any_release(path: str | Path, original: Records) -> Release:
    """Read a release to judge: a folder, a file in the original's order, or a published file, which has no secret.

    A file of as many rows as the original may be a published one whose order says nothing: only deleted rows show that
    it keeps the original's.
    """
    path = Path(path)
    if path.is_dir():
        return Release.load(path)
    rows = _read_released(path, original)
    if _has_deleted(rows) and len(rows) == len(original):
        return _aligned_release(path, rows, original)
    public = published(rows) if _has_deleted(rows) else rows
    return Release(public, Secret.empty(), Statement("unknown", notes={"file": path.name}))


def _read_released(path: Path, original: Records) -> Records:
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
    schema: SchemaLike | None = None,
    progress: Callable[[float, int], None] | None = None,
) -> int:
    """Pass a file of any size into another format, block by block, and return the number of rows.

    A text file is written as the schema's ``[text]`` says: delimiter, header, encoding; UTF-8 with commas and a header
    where it says nothing. By a guessed schema the file is read twice: once to see what holds for all rows.
    """
    source, target = Source.open(source), Path(target)
    _format_of(target)
    schema = fit_schema(source, guess_schema(source).schema if schema is None else Schema.load(schema))
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
            raise FileError(say("no_rows"), file=source.path)

    write_blocks(counted(), schema, target)
    return rows


def read_blocks(source: SourceLike, schema: Schema) -> Iterator[pl.DataFrame]:
    """Yield the rows of a file of any size, block by block, typed by ``schema`` (see :func:`fit_schema`)."""
    source = Source.open(source)
    yield from _typed_blocks(source, fit_schema(source, schema))


ENDINGS = {".parquet": "parquet", ".csv": "csv", ".tsv": "tsv", ".txt": "csv", ".xlsx": "excel"}
"""The endings of files that can be written, and their formats."""


def _format_of(path: Path) -> str:
    kind = ENDINGS.get(path.suffix.lower())
    if kind is None:
        raise ParameterError(say("unknown_ending", suffix=path.suffix, endings=", ".join(ENDINGS)), file=path)
    return kind


def write_blocks(blocks: Iterator[pl.DataFrame], schema: Schema, path: Path) -> None:
    """Write blocks of exact values one after another, by the name's ending; the file appears whole or not at all."""
    kind, layout = _format_of(path), schema.text
    if kind == "excel":
        with writing_file(path) as aside:
            write_excel(blocks, schema, path, aside)
        return
    if kind == "parquet":
        empty = pl.DataFrame(schema={c.name: c.dtype for c in schema.columns}).to_arrow()
        with writing_file(path) as aside, pq.ParquetWriter(aside, empty.schema, compression="zstd") as writer:
            for block in blocks:
                writer.write_table(block.to_arrow().cast(empty.schema))
        return
    header = bool(layout.header if layout.header is not None else not schema.official)
    encoding = (layout.encoding or "utf-8").lower()
    mark = {"utf-8-sig": codecs.BOM_UTF8, "utf-16": codecs.BOM_UTF16_LE}.get(encoding, b"")
    encoding = "utf-16-le" if encoding == "utf-16" else encoding
    with writing_file(path) as aside, aside.open("wb") as file:
        file.write(mark)
        for block in blocks:
            texts = block.select(file_text(pl.col(c.name), c).alias(c.name) for c in schema.columns)
            separator = "\t" if kind == "tsv" else layout.delimiter or ","
            texts = texts if schema.official else neutral_cells(texts)
            content = texts.write_csv(separator=separator, include_header=header)
            header = False
            try:
                file.write(content.encode("utf-8" if encoding.startswith("utf-8") else encoding))
            except (UnicodeEncodeError, LookupError) as error:
                sign = quoted(error.object[error.start]) if isinstance(error, UnicodeEncodeError) else error
                raise OutputError(say("not_in_encoding", path=path, character=sign, encoding=encoding)) from None


# --- arguments of public functions ------------------------------------------------------------------------------------


def checked_seed(seed: Any) -> int:
    """Return ``seed`` as a plain whole number; anything else is an error.

    >>> checked_seed(7)
    7
    """
    try:
        number = None if isinstance(seed, bool) else operator.index(seed)
    except TypeError:
        number = None
    if number is None or not 0 <= number < 2**64:
        raise ParameterError.out_of_range("seed", quoted(seed)[1:-1], "0 <= seed < 2^64")
    return number


def as_records(data: Any, schema: SchemaLike | None = None, **decided: Any) -> Records:
    """Return ``data`` as records, typed by ``schema``: a schema, a preset's name, a TOML file or roles by column.

    Left out, the schema is guessed, with the ``kind`` and ``roles`` that were decided. A guess that could go either way
    (3/4/2011, or purchases of which no column looks like the customer) is not taken:
    :class:`~noren.errors.SchemaError` says what is asked.

    >>> as_records({"age": [31, 44], "city": ["Kyoto", "Nara"]})
    Table(rows=2, schema='custom', columns='age, city')
    """
    if isinstance(data, Records):
        return data
    schema = None if schema is None else Schema.load(schema)
    if isinstance(data, str | PathLike):
        path = Path(data)
        return read(path, schema, stop_at=lambda questions: _reject_open_questions(questions, path), **decided).data
    frame = frame_of(data)
    if schema is None or schema.untyped:
        guess = guess_of(data, **(decided if schema is None else schema.decisions()))
        _reject_open_questions(guess.questions)
        schema = guess.schema if schema is None else schema.typed_by(guess.schema)
    reject_other_columns(None, frame.columns, schema, index_names(data))
    return History.of(frame, schema) if schema.kind == Kind.HISTORY else Table.of(frame, schema)


def guess_of(
    data: Any, *, kind: Kind | str | None = None, roles: Mapping[str, Role] | None = None, **_reading: Any
) -> SchemaGuess:
    """Guess the schema of a data frame of any make, or of a file."""
    if isinstance(data, str | PathLike):
        return guess_schema(Path(data), kind=kind, roles=roles)
    frame = frame_of(data, [name for name in roles or () if name in index_names(data)])
    return guess_columns(frame, kind=kind, roles=roles)


def roles_by_column(columns: Mapping[str, str | Sequence[str]]) -> dict[str, Role]:
    """Return the role of each column from the columns of each role, as keyword arguments give them.

    >>> roles_by_column({"customer": "client", "quasi": ["age", "city"]})["city"]
    <Role.QUASI: 'quasi'>
    """
    roles: dict[str, Role] = {}
    for role, names in columns.items():
        if role not in set(Role):
            raise ParameterError(say("no_role", role=role, hint=suggestion(role, list(Role)), roles=", ".join(Role)))
        for name in [names] if isinstance(names, str) else names:
            if name in roles:
                raise ParameterError(say("two_roles", name=name, first=roles[name], second=role))
            roles[name] = Role(role)
    return roles


def _reject_open_questions(questions: Sequence[Question], file: Path | None = None) -> None:
    """Stop where a guess is undecided: unlike the command line, a function call cannot ask."""
    # a column that may identify people is left out, asked about or not
    undecided = [question for question in questions if question.about != "role"]
    if undecided:
        remedy = _("give a schema that answers it (schema=…); noren schema guess writes a draft")
        raise SchemaError(str(undecided[0]), remedy, file=file)


def open_release(release: Any) -> Any:
    """Return the release in a folder, and anything else as it is."""
    if isinstance(release, str | PathLike) and Path(release).is_dir():
        return Release.load(Path(release))
    return release


def original_of(original: Any, release: Any, schema: SchemaLike | None = None) -> Records:
    """Return the original of a release, by the schema of the one it remembers, else with the release's customer."""
    if isinstance(original, Records) or schema is not None or not isinstance(release, Release):
        return as_records(original, schema)
    known: Records | None = getattr(release, "original", None)
    if known is not None:
        return as_records(original, known.schema)
    public = release.public.schema
    return as_records(original, kind=public.kind, roles={c.name: c.role for c in public.with_role(Role.CUSTOMER)})


def as_public(release: Any, original: Records) -> Records:
    """Return what an attacker sees: a release's public part, public rows, or what a folder, file or frame shows."""
    if isinstance(release, Release):
        return release.public
    if isinstance(release, Records):
        return release
    if isinstance(release, str | PathLike):
        return read_public(Path(release), original)
    return _released_rows(release, original)


def as_release(release: Any, original: Records) -> Release:
    """Return a release; rows in the original's order are one that says nothing of how it was made."""
    if isinstance(release, Release):
        return release
    if isinstance(release, str | PathLike):
        return read_release(Path(release), original)
    aligned = release if isinstance(release, Records) else _released_rows(release, original)
    return Release.of_aligned(original, aligned, Statement(method="unknown"), scan=False)


def _released_rows(data: Any, original: Records) -> Records:
    """Return a frame of released rows; a table may lack columns of the original, as identifiers are dropped."""
    schema = original.schema
    if isinstance(original, History):
        return History.of_release(data, schema)
    frame = frame_of(data)
    released = schema.without([name for name in schema.names if name not in frame.columns])
    reject_other_columns(None, frame.columns, released)
    return Table.of_release(frame, released)


def check_contest(original: Any, release: Any, guess: Any, schema: str, limit: int) -> Report:
    """Check a guess (a path or a frame of pairs) where there is one, else a release in the original's order.

    Paths are checked as they are; the rest is written to a folder that goes away with the check.
    """
    if all(data is None or isinstance(data, str | PathLike) for data in (original, release, guess)):
        file = None if release is None else Path(release)
        if guess is not None:
            return check_guess(schema, Path(original), Path(guess), published=file, limit=limit)
        if file is None:
            raise ParameterError(say("nothing_to_check"))
        return check_release(schema, Path(original), file, limit=limit)
    rows = as_records(original, schema)

    def as_written(data: Any, make: Callable[[], Records], name: str) -> Any:
        if data is None or isinstance(data, str | PathLike):
            return data
        history = make()
        if not isinstance(history, History):
            raise ParameterError(say("no_official_format", schema=rows.schema.name))
        write_rows(history, Path(folder, name))
        return Path(folder, name)

    def public() -> Records:
        seen = as_public(release, rows)
        return published(seen) if isinstance(seen, History) else seen

    if not isinstance(rows, History):
        raise ParameterError(say("no_official_format", schema=rows.schema.name))
    with TemporaryDirectory(prefix="noren-") as folder:
        first = as_written(original, lambda: rows, "T.csv")
        if guess is None:
            aligned = as_written(release, lambda: as_release(release, rows).aligned(), "A.csv")
            return check_contest(first, aligned, None, schema, limit)
        second = as_written(release, public, "public.csv")
        if not isinstance(guess, str | PathLike):
            seen = rows if release is None else as_public(release, rows)
            guess = write_guess(guess, Path(folder, "guess.csv"), rows, seen)
        return check_contest(first, second, guess, schema, limit)
