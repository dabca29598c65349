"""The format of PWS Cup 2018: the anonymised table A, and the guess F'.

A has one row for each row of T, in its order: pseudonym, date, item, price, quantity. A cell keeps its value, widens it
(`[a;b]`, for items `{a;b}`) or deletes it (`*`); a deleted row is `*,*,*,*,*`. F' has rows of pseudonym,customer. The
verdicts are those of the organisers' ``checker.jar`` (A) and ``check-f1`` (F'), and so are the rows and columns named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

from noren.data.checks.lines import read_lines, split_cells
from noren.data.checks.original import calendar_day, read_columns, stop_at_null
from noren.data.checks.pwscup2018_cells import (
    COLUMNS,
    DELETED_ROW,
    LARGEST_SET,
    CheckedPair,
    cell_findings,
    hundredths,
    pieces,
)
from noren.data.checks.report import Finding, Report, broken_rows, gather
from noren.errors import Problem
from noren.i18n import _

__all__ = ["COLUMNS", "LARGEST_SET", "LONGEST_LINE", "check_guess", "check_release"]

LONGEST_LINE = 8_000
GUESS = r"^([0-9]+),([0-9]+)$"


def check_release(original: Path, release: Path, *, limit: int = 20) -> Report:
    """Check the anonymised table A against T.

    Parameters
    ----------
    original
        T: customer, date, item, price, quantity; no header.
    release
        A, before deleted rows are removed: row i anonymises row i of T.
    limit
        How many problems to describe; all are counted.

    Notes
    -----
    With T = ``17850,2010/12/1,85123A,2.55,6`` the row ``1,[2010/12/1;2010/12/9],{85123A;71053},*,6`` is valid where T
    has an item 71053, and ``1,[2010/12/2;2010/12/9],85123A,2.55,6`` is not: its range misses the original day.
    """
    table = _read_original(original)
    lines = read_lines(release)
    pair = CheckedPair(table, lines.text)
    rows = (
        table.head(len(lines.text))
        .with_columns(lines.text.head(table.height))
        .with_row_index("row", offset=1)
        .with_columns(_row_fault(pl.col("line")).alias("fault"))
    )
    kept = (
        rows.lazy()
        .filter((pl.col("fault") == "") & (pl.col("line") != DELETED_ROW))
        .with_columns(split_cells(pl.col("line"), [f"given_{name}" for name in COLUMNS]).alias("given"))
        .drop("line", "fault")
        .unnest("given")
        .collect()
    )
    return gather([*_row_findings(pair, rows), *cell_findings(pair, kept)], limit=limit)


def check_guess(original: Path, published: Path, guess: Path, *, limit: int = 20) -> Report:
    """Check a guess F' against T and the published table A'.

    Parameters
    ----------
    original
        T, whose customers may be named.
    published
        A' (A without its deleted rows, sorted), whose pseudonyms may be named; A itself does as well.
    guess
        F': rows ``pseudonym,customer``. A pseudonym is named once, a customer as often as one likes; an empty file
        names nobody and is valid.
    limit
        How many problems to describe; all are counted.
    """
    customers = _read_text(original)["customer"]
    first_cell = pl.col("line").str.splitn(",", 2).struct[0]
    # The F' checker reads with a tool that takes CR alone for a line end; the checker of A does not.
    pseudonyms = read_lines(published, carriage_return_ends_line=True).text.to_frame().select(first_cell).to_series()
    lines = read_lines(guess, carriage_return_ends_line=True).text
    groups = pl.col("line").str.extract_groups(GUESS)
    rows = (
        lines.to_frame()
        .with_row_index("row", offset=1)
        .with_columns(pseudonym=groups.struct[0], customer=groups.struct[1])
        .with_columns(formed=pl.col("pseudonym").is_not_null())
        .with_columns(
            known=pl.col("pseudonym").is_in(pseudonyms.unique().implode()),
            somebody=pl.col("customer").is_in(customers.unique().implode()),
            first=pl.col("row").min().over("pseudonym"),
        )
    )

    def told(column: str | None, rule: str, cure: str) -> Callable[[int], Problem]:
        return lambda row: Problem(row, column, str(rows[column or "line"][row - 1]), rule, cure)

    def named_before(row: int) -> Problem:
        return Problem(
            row,
            "pseudonym",
            str(rows["pseudonym"][row - 1]),
            _("a pseudonym is named once; row {first} names it already").format(first=rows["first"][row - 1]),
            _("keep one of the two rows"),
        )

    formed = pl.col("formed")
    return gather(
        [
            Finding(
                broken_rows(rows, ~formed),
                0,
                told(
                    None,
                    _("a row is a pseudonym and a customer, two whole numbers with one comma between"),
                    _("write it like 10001,12583, without header, spaces or blank lines"),
                ),
            ),
            Finding(
                broken_rows(rows, formed & ~pl.col("known")),
                1,
                told(
                    "pseudonym",
                    _("the pseudonym must occur in the published table"),
                    _("name a pseudonym of the published table, spelt as there; the pseudonym comes first in its row"),
                ),
            ),
            Finding(
                broken_rows(rows, formed & ~pl.col("somebody")),
                2,
                told(
                    "customer",
                    _("the customer must occur in the original table"),
                    _("name a customer of the original, or remove the row"),
                ),
            ),
            Finding(broken_rows(rows, formed & (pl.col("first") != pl.col("row"))), 1, named_before),
        ],
        limit=limit,
    )


# --- the original -----------------------------------------------------------------------------------------------------


def _read_text(path: Path) -> pl.DataFrame:
    return read_columns(path, read_lines(path, carriage_return_ends_line=True), COLUMNS)


def _read_original(path: Path) -> pl.DataFrame:
    """Return T as text columns, with the values of date, price and quantity as whole numbers beside them."""
    table = _read_text(path).with_columns(
        date_value=calendar_day(pl.col("date"), r"^([0-9]{4})/([0-9]{1,2})/([0-9]{1,2})$"),
        price_value=hundredths(pl.col("price"), r"^[0-9]{1,7}(?:\.[0-9]{1,2})?$"),
        quantity_value=pieces(pl.col("quantity"), r"^[0-9]{1,9}$"),
    )
    rules = {
        "date": _("a date of the original is a day of the calendar, written like 2010/12/1"),
        "price": _("a price of the original is more than 0 and has at most two decimals"),
        "quantity": _("a quantity of the original is a whole number from 1"),
    }
    for column, rule in rules.items():
        stop_at_null(path, table, column, table[f"{column}_value"], rule)
    return table


# --- rows ------------------------------------------------------------------------------------------------------------


def _cell_count(line: pl.Expr) -> pl.Expr:
    return pl.when(line == "").then(0).otherwise(line.str.count_matches(",", literal=True) + 1)


def _row_fault(line: pl.Expr) -> pl.Expr:
    """Name what keeps a line from being read as cells at all; such a row is not looked at any further."""
    return (
        pl.when(line.str.contains("\r", literal=True))
        .then(pl.lit("carriage return"))
        .when(line.str.len_chars() > LONGEST_LINE)
        .then(pl.lit("length"))
        .when(_cell_count(line) != len(COLUMNS))
        .then(pl.lit("cells"))
        .otherwise(pl.lit(""))
    )


def _row_findings(pair: CheckedPair, rows: pl.DataFrame) -> Iterator[Finding]:
    def carriage_return(row: int) -> Problem:
        return Problem(
            row,
            None,
            pair.lines[row - 1],
            _("a row ends with LF or CR LF; this one holds a carriage return of its own"),
            _("save the file with LF line ends"),
        )

    def length(row: int) -> Problem:
        return Problem(
            row,
            None,
            pair.lines[row - 1],
            _("a row has at most {most:,} characters; this one has {found:,}").format(
                most=LONGEST_LINE, found=len(pair.lines[row - 1])
            ),
            _("name fewer items in the set, or delete the cell with *"),
        )

    def cells(row: int) -> Problem:
        line = pair.lines[row - 1]
        return Problem(
            row,
            None,
            line,
            _("a row has {expected} cells ({columns}); this one has {found}").format(
                expected=len(COLUMNS), columns=", ".join(COLUMNS), found=line.count(",") + 1 if line else 0
            ),
            _("write one comma between cells, * for a deleted cell and {row} for a deleted row").format(
                row=DELETED_ROW
            ),
        )

    tellers = {"carriage return": carriage_return, "length": length, "cells": cells}
    faults = set(rows["fault"].unique())
    for fault in faults & set(tellers):
        yield Finding(broken_rows(rows, pl.col("fault") == fault), 0, tellers[fault])

    found, expected = len(pair.lines), pair.table.height
    count = _("the file has {found:,} rows, the original has {expected:,}").format(found=found, expected=expected)
    if found > expected:
        cure = _("remove what follows row {expected:,}; a blank line counts as a row").format(expected=expected)
        yield Finding.once(Problem(expected + 1, None, pair.lines[expected], count, cure))
    # Rows that end with CR alone run together into one; saying that some are missing would mislead.
    elif found < expected and "carriage return" not in faults:
        cure = _("write one row for each row of the original, in its order; {row} deletes a row").format(
            row=DELETED_ROW
        )
        yield Finding(
            np.array([found], dtype=np.int64), len(COLUMNS), lambda row: Problem(row or None, None, None, count, cure)
        )
