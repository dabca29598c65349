"""A first schema for a file nobody has described, to be read and mended by a person.

Types come from the values (what every value of the sample can be read as), roles from the columns' names in ten
languages (:mod:`~noren.data.guessing.column_words`) and from how values come again (:mod:`~noren.data.guessing.kinds`).
Every choice is said; one that could go either way is asked, and where a wrong answer would count the wrong people
nothing is protected before somebody answers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from noren.data.formats.binary_files import excel_sheet, parquet_head
from noren.data.formats.parse import in_calendar
from noren.data.formats.source import Source, SourceLike
from noren.data.formats.text_files import column_names, own_names, text_blocks
from noren.data.guessing.column_types import Understanding, guess_type, understanding
from noren.data.guessing.kinds import decide
from noren.data.guessing.questions import Question
from noren.data.guessing.shop_roles import as_purchases
from noren.data.guessing.table_roles import as_attributes
from noren.data.schema import Kind, Schema, name_problem
from noren.errors import SchemaError
from noren.i18n import _
from noren.naming import listing

__all__ = ["SchemaGuess", "guess_columns", "guess_schema"]

SAMPLE_ROWS = 50_000


@dataclass(frozen=True)
class SchemaGuess:
    """A guessed schema, what was chosen and why, what a person should look at, and what was made of each column."""

    schema: Schema
    said: tuple[str, ...]
    questions: tuple[Question, ...]
    understood: tuple[Understanding, ...] = ()


def guess_schema(source: SourceLike, *, kind: Kind | None = None, customer: str | None = None) -> SchemaGuess:
    """Guess the schema of a CSV or Parquet file or a workbook; ``kind`` and ``customer`` are what somebody said."""
    source = Source.open(source)
    path = source.path
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.name.split(".")[0]).strip("-._") or "custom"
    if source.kind == "parquet":
        head, total = parquet_head(source, SAMPLE_ROWS)
        said = _("read as Parquet, {columns} columns, {rows:,} rows").format(columns=head.width, rows=total)
        return guess_columns(head, name, said=said, file=path, kind=kind, customer=customer)
    if source.kind == "excel":
        sheet = excel_sheet(source)
        guess = guess_columns(
            sheet.frame[:SAMPLE_ROWS], name, said=sheet.said[0], file=path, kind=kind, customer=customer
        )
        layout = guess.schema.text.model_copy(update={"sheet": None if sheet.is_first else sheet.name})
        return replace(
            guess,
            schema=guess.schema.model_copy(update={"text": layout}),
            said=(guess.said[0], *sheet.said[1:], *guess.said[1:]),
        )
    form = source.text_form()
    names = column_names(form)
    head_blocks: list[pl.DataFrame] = []
    strip = _spaced(form.first_line)
    for _row, block in text_blocks(source, form, strip=strip):
        head_blocks.append(block)
        if sum(map(len, head_blocks)) >= SAMPLE_ROWS:
            break
    if head_blocks:
        head = pl.concat(head_blocks)[:SAMPLE_ROWS]
        head = head.rename(dict(zip(head.columns, names, strict=True)))
    else:
        head = pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    guess = guess_columns(head, name, said=form.sentence(), file=path, kind=kind, customer=customer)
    layout = guess.schema.text.model_copy(
        update={"delimiter": form.delimiter, "header": form.header, "encoding": form.encoding, "strip": strip}
    )
    made_up = own_names(form.first_line)[1] if form.header else ()
    return replace(
        guess,
        schema=guess.schema.model_copy(update={"text": layout}),
        said=(guess.said[0], *made_up, *guess.said[1:]),
    )


def _spaced(cells: tuple[str, ...]) -> bool:
    """Tell whether the file writes a space after each delimiter, as UCI's files do."""
    return len(cells) > 1 and all(cell.startswith(" ") for cell in cells[1:])


def guess_columns(
    head: pl.DataFrame,
    name: str = "custom",
    *,
    said: str = "",
    file: str | Path | None = None,
    kind: Kind | str | None = None,
    customer: str | None = None,
) -> SchemaGuess:
    """Guess the schema of a data frame from its first rows.

    Parameters
    ----------
    said, file
        How the rows were read, and from where.
    kind, customer
        What somebody said: whether rows are purchases (``history``) or people (``table``), and which column tells who
        bought. It is taken, all other roles are guessed under it, and it is not asked again.

    Examples
    --------
    >>> rows = pl.DataFrame({"Member_number": [7, 7, 9], "Date": ["2015-07-01"] * 3, "itemDescription": list("aba")})
    >>> [str(column.role) for column in guess_columns(rows).schema.columns]
    ['customer', 'date', 'item']
    """
    for given in head.columns:
        problem = name_problem(given)
        if problem:
            raise SchemaError(problem, _("rename the column"), file=file, value=given)
    head = pl.DataFrame([in_calendar(head[n]) for n in head.columns])
    questions: list[Question] = []
    columns = [guess_type(head[n], questions) for n in head.columns]
    try:
        decision = decide(columns, head, kind=None if kind is None else Kind(kind), customer=customer)
    except SchemaError as error:
        wrong = error.problem
        raise SchemaError(wrong.rule, wrong.cure, file=file, column=wrong.column, value=wrong.value) from None
    told = [said] if said else []
    if decision.kind == Kind.HISTORY:
        columns, asked = as_purchases(columns, head, decision.roles)
    else:
        columns, asked = as_attributes(columns, head)
    told.append(
        _("guessed a {kind}: {roles}").format(
            kind=_("history") if decision.kind == Kind.HISTORY else _("table"),
            roles=listing([f"{c.name} = {c.role}" for c in columns]),
        )
    )
    schema = Schema(name=name[:100], kind=decision.kind, guessed=True, columns=tuple(columns))
    understood = tuple(understanding(head[column.name], column) for column in columns)
    return SchemaGuess(schema, (*told, *decision.said), (*decision.questions, *questions, *asked), understood)
