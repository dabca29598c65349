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

from noren.data.checks.pwscup2017 import GUESS_COLUMNS, NAME
from noren.data.checks.report import Finding, Sheet, SheetRule, read_lines, read_sheet
from noren.data.formats.render import cell_text, file_text, lines_of
from noren.data.formats.source import Source
from noren.data.formats.text_files import arrangement, column_names, text_blocks
from noren.data.formats.text_layout import neutral_cells
from noren.data.frames import History, Records
from noren.data.release import Release
from noren.data.schema import Kind, Role, Schema, TextLayout
from noren.errors import FileError, SchemaError, listing
from noren.i18n import _
from noren.tables import Texts

say = Texts(__name__)
SUPPRESSED: Final = "*"
DELETED: Final = "DEL"
"""The customer cell of a deleted row in the formats of 2016 and 2017."""
_LAYOUT: Final = TextLayout(delimiter=",", header=True, encoding="utf-8")


def read_texts(path: Path, schema: Schema) -> tuple[pl.DataFrame, int]:
    """Return the cells of a submitted file as texts, by column, and the line of its first row.

    Columns must be those of the original; a table may omit identifying columns.
    """
    official = schema.official is not None
    source = Source.open(path)
    form = source.text_form(schema.text if official else _LAYOUT, schema.names, quoting=not official)
    if official:
        arrangement(source, form, schema)
        names = list(schema.names)
    else:
        names = column_names(form)
        needed = [c.name for c in schema.columns if schema.kind == Kind.HISTORY or c.role != Role.IDENTIFIER]
        for name in needed:
            if name not in names:
                raise SchemaError(say("no_column", name=name, names=listing(needed)))
        for name in names:
            if name not in schema.names:
                raise SchemaError(say("unknown_column"), column=name)
    blocks = [block for _row, block in text_blocks(source, form)]
    if not blocks:
        raise FileError(_("the file holds no rows; give a file with at least one row"), file=path)
    cells = pl.concat(blocks).rename({str(place): name for place, name in enumerate(names)})
    wanted = [name for name in schema.names if name in names]
    return cells.select(wanted), 1 + form.skipped_lines + form.header


def text_file(texts: pl.DataFrame, schema: Schema) -> bytes:
    """Return cells as a file for submission or publication: without header in an official format, else CSV."""
    if schema.official is None:
        return neutral_cells(texts).write_csv().encode()
    return "".join(f"{line}\n" for line in lines_of(texts)).encode()


def submission_of(release: Release) -> bytes:
    """Return a release as a file for submission: all rows in the original's order, then inserted rows.

    A pseudonym that is a customer's name would be rejected, except in the format of 2018; then all get a prefix. Their
    names have no other effect, because targets are renamed at random.
    """
    every = [release.aligned()]
    inserted = release.secret.origin.is_null().arg_true()
    if len(inserted):
        every.append(release.public.take(inserted))
    schema = release.public.schema
    if schema.official in ("pwscup2016", "pwscup2017"):
        customer = pl.col(schema.role(Role.CUSTOMER).name)
        texts = pl.concat(rows.texts("") for rows in every).with_columns(customer.replace("", DELETED))
    else:
        texts = pl.concat(spelled_as_original(rows, SUPPRESSED) for rows in every)
    if isinstance(release.public, History) and schema.official != "pwscup2018":
        name, pseudonyms = schema.role(Role.CUSTOMER).name, release.secret.pseudonyms.cast(pl.String)
        customers, names, letters = pseudonyms["customer"].unique().implode(), pseudonyms["pseudonym"].unique(), ""
        while (letters + names).is_in(customers).any():
            letters += "p"
        marked = texts[name].is_in([DELETED, SUPPRESSED])
        texts = texts.with_columns(pl.when(marked).then(pl.col(name)).otherwise(pl.lit(letters) + pl.col(name)))
    return text_file(texts, schema)


def spelled_as_original(rows: Records, suppressed: str) -> pl.DataFrame:
    """Return cells in the spelling of the original's file."""
    if rows.schema.official is not None:
        return rows.texts(suppressed)
    dtypes = rows.frame.schema
    cells = (cell_text(pl.col(c.name), c, dtypes[c.name], file_text).alias(c.name) for c in rows.schema.columns)
    return rows.frame.select(cells).fill_null(suppressed)


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
