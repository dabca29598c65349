"""Guesses as files: which pseudonym of a target is whose.

2018, 2016 and other histories: lines ``pseudonym,customer``. Tables: ``row,person``, a row of the target and a row of
the original, both counted from 1. 2017: F̂, a customer and its pseudonym in each of twelve months.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from noren.data.checks.lines import read_lines
from noren.data.checks.pwscup2017_guess import GUESS_COLUMNS, NAME
from noren.data.checks.report import Finding
from noren.data.checks.sheet import Sheet, SheetRule, read_sheet
from noren.data.frames import Records
from noren.data.schema import Kind
from noren.i18n import _

__all__ = ["pair_findings", "read_guess_file"]

_DELETED = "DEL"


def pair_findings(path: Path, original: Records, known: pl.Series, people: pl.Series) -> Iterator[Finding]:
    """Find the broken rules of a guess of pairs; an empty file names nobody and breaks none.

    Parameters
    ----------
    known
        The pseudonyms of the target; of a table, its row numbers.
    people
        The customers of the original; of a table, its row numbers.
    """
    sheet = _pairs(path, original)
    if sheet.rows.is_empty() and sheet.lines.not_utf8 is None:
        return
    yield from sheet.problems()
    name, who = sheet.columns
    whole = pl.col("cells") == len(sheet.columns)
    rows = sheet.rows.with_columns(again=pl.col("row") != pl.col("row").min().over(name))
    is_table = original.schema.kind == Kind.TABLE
    yield from sheet.findings(
        rows,
        SheetRule(
            None,
            ~whole,
            _("a row has two cells: {columns}").format(columns=", ".join(sheet.columns)),
            _("write one comma between the two, without header or blank lines"),
        ),
        SheetRule(
            name,
            whole & ~pl.col(name).is_in(known.implode()),
            _("the target has no such row") if is_table else _("the pseudonym must occur in the target"),
            _("name a row of the target, the first being 1") if is_table else _("name a pseudonym of the target"),
        ),
        SheetRule(
            who,
            whole & ~pl.col(who).is_in(people.implode()),
            _("the original has no such row") if is_table else _("the customer must occur in the original table"),
            _("name a row of the original, the first being 1")
            if is_table
            else _("name a customer of the original, or remove the row"),
        ),
        SheetRule(
            name,
            whole & pl.col("again"),
            _("each is named once; a row before this one names it already"),
            _("keep one of the two rows"),
        ),
    )


def _pairs(path: Path, original: Records) -> Sheet:
    """Read lines of two cells; a customer's name may hold commas, and quotes around it are dropped."""
    columns = ("row number", "person") if original.schema.kind == Kind.TABLE else ("pseudonym", "customer")
    lines = read_lines(path, utf8=True, carriage_return_ends_line=True)
    line = pl.col("line")
    parts = line.str.splitn(",", 2)
    unquoted = parts.struct[1].str.replace(r'^"(.*)"$', "$1").str.replace_all('""', '"', literal=True)
    rows = (
        lines.text.to_frame()
        .with_row_index("row", offset=1)
        .filter(line.str.strip_chars(" \t") != "")
        .with_columns(
            parts.struct[0].fill_null("").alias(columns[0]),
            unquoted.fill_null("").alias(columns[1]),
            cells=1 + line.str.contains(",", literal=True).cast(pl.UInt32),
        )
    )
    return Sheet(lines, rows, columns)


def read_guess_file(path: Path, original: Records) -> pl.DataFrame:
    """Return the pairs of a valid guess, surest first: pseudonym, customer and, in F̂, period; of a table row, person.

    F̂ holds cells that its checker accepts and that can match nothing; they name nobody.
    """
    if original.schema.official == "pwscup2017":
        months = read_sheet(path, GUESS_COLUMNS).rows
        long = months.unpivot(GUESS_COLUMNS[1:], index="customer", variable_name="period", value_name="pseudonym")
        named = pl.col("pseudonym").str.contains(NAME) & (pl.col("pseudonym") != _DELETED)
        return long.filter(named).select("pseudonym", "customer", "period")
    sheet = _pairs(path, original)
    pairs = sheet.rows.select(sheet.columns)
    return pairs.rename({"row number": "row"}) if original.schema.kind == Kind.TABLE else pairs
