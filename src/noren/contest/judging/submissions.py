"""Files that teams submit: releases as tables of texts, guesses as pairs.

The texts of a release are checked before any cell is parsed.

Files of the cups' formats have neither header nor quotes; others are comma-separated UTF-8 with a header. A file that
cannot be split into cells is rejected by its reader at the first such row.

A guess assigns pseudonyms of a target to customers. 2018, 2016 and other histories: lines ``pseudonym,customer``.
Tables: ``row,person``, a row of the target and a row of the original, both counted from 1. 2017: F̂, a customer and its
pseudonym in each of twelve months.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import polars as pl
import polars.selectors as cs

from noren.data.checks.pwscup2017 import GUESS_COLUMNS, NAME
from noren.data.checks.report import Finding, Sheet, SheetRule, read_lines, read_sheet
from noren.data.contest_files import DELETED, SUPPRESSED
from noren.data.formats.parquet import parquet_blocks, parquet_names
from noren.data.formats.source import Source
from noren.data.formats.text_files import arrangement, column_names, text_blocks
from noren.data.frames import Records
from noren.data.release import schema_in
from noren.data.schema import Kind, Role, Schema, TextLayout
from noren.errors import FileError, FormatError, SchemaError, listing
from noren.i18n import _
from noren.tables import Texts

say = Texts(__name__)
_LAYOUT: Final = TextLayout(delimiter=",", header=True, encoding="utf-8")


def read_texts(path: Path, schema: Schema) -> tuple[pl.DataFrame, int]:
    """Return the cells of a submitted file as texts, by column, and the line of its first row.

    Columns must be those of the original; a table may omit identifying columns.
    """
    official = schema.official is not None
    source = Source.open(path)
    if source.kind == "parquet" and not official:
        return _parquet_texts(path, schema), 1
    form = source.text_form(schema.text if official else _LAYOUT, schema.names, quoting=not official)
    if official:
        arrangement(source, form, schema)
        names = list(schema.names)
    else:
        names = column_names(form)
        _require_columns(names, schema)
    blocks = [block for _row, block in text_blocks(source, form)]
    if not blocks:
        raise FileError(_("the file holds no rows; give a file with at least one row"), file=path)
    cells = pl.concat(blocks).rename({str(place): name for place, name in enumerate(names)})
    wanted = [name for name in schema.names if name in names]
    return cells.select(wanted), 1 + form.skipped_lines + form.header


def _parquet_texts(path: Path, schema: Schema) -> pl.DataFrame:
    """Return the cells of a Parquet file as a CSV would spell them; null is suppressed."""
    if schema_in(path) is not None:
        raise FormatError(say("public_part"))
    _require_columns(parquet_names(path), schema)
    if not (blocks := list(parquet_blocks(path))):
        raise FileError(_("the file holds no rows; give a file with at least one row"), file=path)
    cells = pl.concat(blocks).with_columns(cs.float().fill_nan(None))
    for column in cells:
        if column.dtype.is_nested():
            raise FormatError(say("nested"), column=column.name)
    # whole numbers with gaps are stored as floats
    whole = [c.name for c in cells if c.dtype.is_float() and (c.is_null() | (c.round() == c) & c.is_finite()).all()]
    texts = cells.with_columns(pl.col(whole).cast(pl.Int64)).cast(pl.String).fill_null(SUPPRESSED)
    return texts.select(name for name in schema.names if name in cells.columns)


def _require_columns(names: list[str], schema: Schema) -> None:
    needed = [c.name for c in schema.columns if schema.kind == Kind.HISTORY or c.role != Role.IDENTIFIER]
    for name in needed:
        if name not in names:
            raise SchemaError(say("no_column", name=name, names=listing(needed)))
    for name in names:
        if name not in schema.names:
            raise SchemaError(say("unknown_column"), column=name)


def pair_findings(path: Path, original: Records, known: pl.Series, people: pl.Series) -> Iterator[Finding]:
    """Find the problems of a guess of pairs; an empty file has none.

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
    yield from sheet.oddities()[0]
    name, who = sheet.columns
    whole = pl.col("cells") == len(sheet.columns)
    rows = sheet.rows.with_columns(again=pl.col("row") != pl.col("row").min().over(name))
    yield from sheet.findings(
        rows,
        SheetRule(None, ~whole, say("two_cells", columns=", ".join(sheet.columns))),
        SheetRule(name, whole & ~pl.col(name).is_in(known.implode()), say("not_in_target", column=name)),
        SheetRule(who, whole & ~pl.col(who).is_in(people.implode()), say("not_in_original", column=who)),
        SheetRule(name, whole & pl.col("again"), say("twice", column=name)),
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
        named = pl.col("pseudonym").str.contains(NAME) & (pl.col("pseudonym") != DELETED)
        return long.filter(named).select("pseudonym", "customer", "period")
    sheet = _pairs(path, original)
    pairs = sheet.rows.select(sheet.columns)
    return pairs.rename({"row number": "row"}) if original.schema.kind == Kind.TABLE else pairs


def row_numbers(count: int) -> pl.Series:
    """Return the numbers of rows as texts, from 1."""
    return pl.int_range(1, count + 1, eager=True).cast(pl.String)
