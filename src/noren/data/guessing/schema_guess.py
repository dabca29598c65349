"""Guess of a schema for a file without one, to be checked and corrected by a person.

Types come from the values (what every value of the sample can be read as), roles from the columns' names in ten
languages (:mod:`~noren.data.guessing.column_words`) and from how values come again (:mod:`~noren.data.guessing.kinds`).
Every choice is said; one that could go either way is asked, and where a wrong answer would count the wrong people
nothing is protected before somebody answers.

What was guessed from the first rows widens to hold them all, and rejects nothing.

A guess looks at some thousand rows; row 54,907 may name a country that none of them did, leave a cell empty that none
of them left empty, or write ``A12`` where they had numbers. A schema that a person wrote rejects such a row. A guessed
one (:attr:`Schema.guessed`) takes it in: empty cells become allowed, grids finer, domains larger (or unlisted, past a
hundred values), and a type gives way to the next one that reads every value before it too, in the end to text. So one
look at a file, block by block, settles what holds for all of it; every type that gave way is said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from noren.data.formats.parquet import parquet_blocks, parquet_rows
from noren.data.formats.parse import Lost, in_calendar, printable_value, read_values
from noren.data.formats.source import Source, SourceLike
from noren.data.formats.text_files import column_names, text_blocks, unique_names
from noren.data.formats.workbooks import excel_sheet
from noren.data.guessing import Question
from noren.data.guessing.column_types import (
    GRIDS,
    ParsedColumn,
    guess_type,
    on_grid,
    swapped_format,
    understanding,
    width_of,
)
from noren.data.guessing.column_words import is_code
from noren.data.guessing.kinds import decide
from noren.data.guessing.roles import as_attributes, as_purchases
from noren.data.schema import Column, Kind, Role, Scale, Schema, ValueType, name_problem
from noren.data.value_formats import NUMBER_FORMATS, number_format
from noren.errors import FileError, SchemaError, listing, quoted
from noren.i18n import _

SAMPLE_ROWS = 50_000


@dataclass(frozen=True)
class SchemaGuess:
    """A guessed schema, with notes on what was chosen, questions to the user, and how each column was read."""

    schema: Schema
    notes: tuple[str, ...]
    questions: tuple[Question, ...]
    understood: tuple[ParsedColumn, ...] = ()


def guess_schema(
    source: SourceLike,
    *,
    kind: Kind | str | None = None,
    customer: str | None = None,
    roles: Mapping[str, Role] | None = None,
) -> SchemaGuess:
    """Guess the schema of a CSV or Parquet file or a workbook; the user's decisions are as in :func:`guess_columns`."""
    source = Source.open(source)
    path = source.path
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.name.split(".")[0]).strip("-._") or "custom"
    layout: dict[str, object] = {}
    more: Sequence[str] = ()
    head: pl.DataFrame | None
    if source.kind == "parquet":
        head = _first_rows(parquet_blocks(source))
        if head is None:
            raise FileError(_("the file has no rows; give a file with at least one row"), file=path)
        rows = parquet_rows(source)
        layout_note = _("read as {form}, {columns} columns, {rows:,} rows")
        layout_note = layout_note.format(form="Parquet", columns=head.width, rows=rows)
    elif source.kind == "excel":
        sheet = excel_sheet(source)
        head, (layout_note, *more) = sheet.frame[:SAMPLE_ROWS], sheet.notes
        layout = {"sheet": None if sheet.is_first else sheet.name}
    else:
        form = source.text_form()
        names, layout_note = column_names(form), form.sentence()
        # UCI's files have a space after each delimiter
        strip = form.columns > 1 and all(cell.startswith(" ") for cell in form.first_line[1:])
        head = _first_rows(block for _row, block in text_blocks(source, form, strip=strip))
        if head is None:
            head = pl.DataFrame(schema=dict.fromkeys(names, pl.String))
        head = head.rename(dict(zip(head.columns, names, strict=True)))
        more = unique_names(form.first_line)[1] if form.header else ()
        layout = {"delimiter": form.delimiter, "header": form.header, "encoding": form.encoding, "strip": strip}
    guess = guess_columns(head, name, layout_note=layout_note, file=path, kind=kind, customer=customer, roles=roles)
    schema = guess.schema.model_copy(update={"text": guess.schema.text.model_copy(update=layout)})
    return replace(guess, schema=schema, notes=(guess.notes[0], *more, *guess.notes[1:]))


def _first_rows(blocks: Iterable[pl.DataFrame]) -> pl.DataFrame | None:
    head: list[pl.DataFrame] = []
    for block in blocks:
        head.append(block)
        if sum(map(len, head)) >= SAMPLE_ROWS:
            break
    return pl.concat(head)[:SAMPLE_ROWS] if head else None


def guess_columns(
    head: pl.DataFrame,
    name: str = "custom",
    *,
    layout_note: str = "",
    file: str | Path | None = None,
    kind: Kind | str | None = None,
    customer: str | None = None,
    roles: Mapping[str, Role] | None = None,
) -> SchemaGuess:
    """Guess the schema of a data frame from its first rows.

    Parameters
    ----------
    layout_note, file
        How the rows were read, and from where.
    kind, customer
        The user's decision: whether rows are purchases (``history``) or people (``table``), and which column tells who
        bought. All other roles are guessed under it, and there is no question about it.
    roles
        The roles of columns that the user knows; they say the kind, too.

    Examples
    --------
    >>> rows = pl.DataFrame({"Member_number": [7, 7, 9], "Date": ["2015-07-01"] * 3, "itemDescription": list("aba")})
    >>> [str(column.role) for column in guess_columns(rows).schema.columns]
    ['customer', 'date', 'item']
    """
    for column_name in head.columns:
        problem = name_problem(column_name)
        if problem:
            raise SchemaError(problem, file=file, value=column_name)
    head = pl.DataFrame([in_calendar(head[n]) for n in head.columns])
    questions: list[Question] = []
    columns = [guess_type(head[n], questions) for n in head.columns]
    for i, column in enumerate(columns):
        whole = column.type == ValueType.INTEGER and column.number is None
        if whole and is_code(column.name, head[column.name].n_unique()):
            columns[i] = column.model_copy(update={"type": ValueType.TEXT, "width": None})
    try:
        decided = dict(roles or {}) | ({} if customer is None else {customer: Role.CUSTOMER})
        decision = decide(columns, head, kind=kind, roles=decided)
    except SchemaError as error:
        wrong = error.problem
        raise SchemaError(wrong.rule, wrong.cure, file=file, column=wrong.column, value=wrong.value) from None
    notes = [layout_note] if layout_note else []
    if decision.kind == Kind.HISTORY:
        columns, role_questions = as_purchases(columns, head, decision.roles)
    else:
        columns, role_questions = as_attributes(columns, head)
        columns = [column.model_copy(update={"role": decided.get(column.name, column.role)}) for column in columns]
    role_questions = [question for question in role_questions if question.column not in decided]
    name_of_kind = _("history") if decision.kind == Kind.HISTORY else _("table")
    listed = listing([f"{c.name} = {c.role}" for c in columns])
    notes.append(_("guessed a {kind}: {roles}").format(kind=name_of_kind, roles=listed))
    schema = Schema(name=name[:100], kind=decision.kind, guessed=True, columns=tuple(columns))
    questions = [*decision.questions, *questions, *role_questions]
    understood = tuple(understanding(head[column.name], column) for column in columns)
    return SchemaGuess(schema, (*notes, *decision.notes), tuple(questions), understood)


LARGEST_DOMAIN = 100
"""Values that a guessed domain lists; a column with more is left without one."""

_TYPES_OF_ROLE = {
    Role.DATE: {ValueType.DATE, ValueType.DATETIME},
    Role.TIME: {ValueType.TIME},
    Role.PRICE: {ValueType.INTEGER, ValueType.DECIMAL},
    Role.QUANTITY: {ValueType.INTEGER, ValueType.DECIMAL},
}

_TOO_LONG = r"^[+-]?[0-9]{19,}$"

Reading = tuple[pl.DataFrame, Lost]


def read_block(block: pl.DataFrame, columns: Sequence[Column]) -> Reading:
    """Read a block of texts or of typed values, and tell which cells could not be read; infinite numbers cannot."""
    typed, lost = read_values(block, columns, nan_is_missing=True)
    numbers = [c.name for c in columns if c.type == ValueType.DECIMAL]
    infinite = typed.select(pl.col(numbers).is_infinite().fill_null(value=False))
    for cells in (cells for cells in infinite if cells.any()):
        lost[cells.name] = lost[cells.name] | cells if cells.name in lost else cells
    return typed, lost


class Widening:
    """What a guessed schema must become to hold every row that was looked at."""

    def __init__(self, schema: Schema) -> None:
        self._guess = schema
        self._columns = {column.name: column for column in schema.columns}
        self._domains = {c.name: None if c.domain is None else set(c.domain) for c in schema.columns}
        # row, text and type of the first cell that a guessed type could not read
        self._gave_way: dict[str, tuple[int, str, ValueType]] = {}
        self._missing: set[str] = set()
        # another type that has read every value so far as well
        self._others = {
            c.name: c.model_copy(update={"format": other})
            for c in schema.columns
            if c.format and (other := swapped_format(c.format)) is not None
        }

    @property
    def types_changed(self) -> bool:
        """Whether a type gave way: rows before it must be read again."""
        return bool(self._gave_way)

    def look_at(self, block: pl.DataFrame, first_row: int, read: Reading | None = None) -> pl.DataFrame:
        """Widen by a block of the schema's columns; return it typed by what holds so far.

        ``read`` is the block as the schema's first types read it, where somebody has done that already.
        """
        columns = tuple(self._columns[name] for name in self._guess.names)
        typed, lost = read if read is not None and not self.types_changed else read_block(block, columns)
        for name, other in list(self._others.items()):
            if read_block(block.select(name), (other,))[1]:
                del self._others[name]
        for name, cells in lost.items():
            # the next type that reads every value
            values, before = block[name], self._columns[name]
            at = int(cells.arg_max() or 0)
            self._gave_way.setdefault(name, (first_row + at, str(printable_value(values[at : at + 1])), before.type))
            candidates = [self._others.pop(name)] if name in self._others else []
            candidates += _wider(before)
            if values.dtype == pl.String and values.filter(cells).str.contains(_TOO_LONG).any():
                candidates = candidates[-1:]  # a number would not give it back as written: it is a name
            for wider in candidates:
                again, unread = read_block(values.to_frame(), (wider,))
                if name not in unread:
                    self._columns[name] = wider
                    typed = typed.with_columns(again[name])
                    break
            else:  # lists and bytes: nothing reads them, and a schema can say so
                typed = typed.with_columns(pl.repeat(None, len(values), dtype=before.dtype, eager=True).alias(name))
        self._missing |= {name for name, count in typed.null_count().row(0, named=True).items() if count}
        for name, column in self._columns.items():
            if column.width is not None and column.type == ValueType.DECIMAL:
                # steps may be finer than the grid
                values = typed[name].drop_nulls()
                finest = width_of(values)
                if finest is None or (finest < column.width and not on_grid(values, column.width)):
                    self._columns[name] = column.model_copy(update={"width": finest})
            domain = self._domains[name]
            if domain is not None:
                new = set(typed[name].drop_nulls().unique())
                many = len(new) > LARGEST_DOMAIN or len(domain | new) > max(LARGEST_DOMAIN, len(column.domain or ()))
                self._domains[name] = None if many else domain | new
        return typed

    def schema(self) -> Schema:
        """Return the schema that holds for every row looked at; still a guess."""
        columns = []
        for name, column in self._columns.items():
            domain = self._domains[name]
            update: dict[str, object] = {
                "optional": column.optional or name in self._missing,
                "domain": tuple(sorted(domain)) if domain and column.type == ValueType.TEXT else None,
                "minimum": None,
                "maximum": None,
            }
            if domain is not None and set(column.domain or ()) == domain:
                update["domain"] = column.domain
            if name in self._gave_way and column.type not in _TYPES_OF_ROLE.get(column.role, {column.type}):
                update["role"] = Role.OTHER
            columns.append(column.model_copy(update=update))
        whole = self._guess.model_copy(update={"columns": tuple(columns)})
        if whole.kind == Kind.HISTORY and not whole.with_role(Role.DATE, Role.ITEM, Role.PRICE, Role.QUANTITY):
            # nothing else tells of a purchase: the role stays, on texts
            texts = [c.model_copy(update={"role": self._guess[c.name].role}) for c in columns]
            whole = whole.model_copy(update={"columns": tuple(texts)})
        return whole

    def notes(self) -> tuple[str, ...]:
        """Return a note for each column whose type was widened."""
        notes = []
        for name, (row, value, guessed) in self._gave_way.items():
            now = str(self._columns[name].type)
            if now != guessed:
                note = _("{column}: read as {type}, because row {row} has {value}")
                notes.append(note.format(column=name, type=now, row=row, value=quoted(value)))
        return tuple(notes)


def _wider(column: Column) -> Iterator[Column]:
    """Yield columns that read all that ``column`` reads, to the same values, and more; texts last."""
    changed: Callable[..., Column] = lambda **update: column.model_copy(update=update)  # noqa: E731
    as_decimal = {"type": ValueType.DECIMAL, "width": GRIDS[0]}
    if column.type == ValueType.DATE and column.format == "%Y%m%d":
        yield changed(type=ValueType.INTEGER, format=None, width=1.0)
        yield changed(**as_decimal, format=None)
    elif column.scale == Scale.INTERVAL:
        usual = column.format is not None and column.format.startswith(("%Y/%m/%d", "%Y-%m-%d", "%H:%M"))
        if column.format is not None and "%M" in column.format and "%S" not in column.format:
            yield changed(format=column.format.replace("%M分", "%M分%S秒").replace("%H:%M", "%H:%M:%S"))
            yield changed(format=column.format.replace("%I:%M", "%I:%M:%S"))
        if usual:
            yield changed(format=None)
        if column.type == ValueType.DATETIME and "%z" not in (column.format or ""):
            for pattern in (column.format,) if column.format else ("%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"):
                yield changed(format=f"{pattern}%z")
    elif column.scale == Scale.RATIO and column.number is None:
        if column.type == ValueType.INTEGER:
            yield changed(**as_decimal)
        for name in NUMBER_FORMATS:
            way = number_format(name)
            if way.percent or (column.type == ValueType.DECIMAL and not way.agrees_with_plain):
                continue
            yield changed(number=name)
            if column.type == ValueType.INTEGER:
                yield changed(number=name, **as_decimal)
    elif column.type == ValueType.INTEGER:
        yield changed(**as_decimal)
    yield changed(type=ValueType.TEXT, width=None, format=None, number=None)
