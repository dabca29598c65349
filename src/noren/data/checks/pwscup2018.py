"""The format of PWS Cup 2018: the anonymised table A, and the guess F'.

A has one row for each row of T, in its order: pseudonym, date, item, price, quantity. A cell keeps its value, widens it
(`[a;b]`, for items `{a;b}`) or deletes it (`*`); a deleted row is `*,*,*,*,*`. F' has rows of pseudonym,customer. The
verdicts are those of the organisers' ``checker.jar`` (A) and ``check-f1`` (F'), and so are the rows and columns named.

Whole columns are judged at once and the fault of each cell is named; messages are made for the reported cells alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from noren.data.checks.report import (
    Finding,
    Report,
    SheetRule,
    broken_rows,
    calendar_day,
    findings,
    gather,
    inline,
    read_columns,
    read_lines,
    reject_null,
    split_cells,
)
from noren.errors import Problem
from noren.tables import Texts

say = Texts(__name__)


COLUMNS = ("customer", "date", "item", "price", "quantity")
DELETED_ROW = "*,*,*,*,*"
LARGEST_SET = 100
LONGEST_LINE = 8_000

PSEUDONYM = r"^[1-9][0-9]{0,8}$"
GUESS = r"^([0-9]+),([0-9]+)$"
FORMS = {
    "date": (r"^(201[01])/([0-9]{1,2})/([0-9]{1,2})$", r"^([0-9]{4})/([0-9]{1,2})/([0-9]{1,2})$"),
    "price": (r"^(?:0|[1-9][0-9]{0,4})(?:\.[0-9]{1,2})?$", r"^[0-9]{1,7}(?:\.[0-9]{1,2})?$"),
    "quantity": (r"^[1-9][0-9]{0,5}$", r"^[0-9]{1,9}$"),
}
"""How the values of ordered columns are written in a release, and in the original."""


def one_to_one(named: pl.DataFrame, column: str = "customer", rank: int = 1) -> Iterator[Finding]:
    """Find the rows whose pseudonym breaks the map of those before it; ``named`` has row, customer and pseudonym.

    A pair holds if both were free when it first came, else all its rows break the map. This is the official checker's
    order of events, which decides *which* of two clashing rows it names. It is one pass over the distinct clashing
    pairs, in order of first appearance, and only for tables that are invalid anyway.
    """
    pairs = named.group_by("customer", "pseudonym").agg(pl.col("row").min()).sort("row")
    alone = (pl.len().over("customer") == 1) & (pl.len().over("pseudonym") == 1)
    disputed = pairs.filter(~alone)
    if disputed.is_empty():
        return
    name_of: dict[str, str] = {}
    owner_of: dict[str, str] = {}
    holds = []
    for customer, pseudonym in zip(disputed["customer"], disputed["pseudonym"], strict=True):
        holds.append(customer not in name_of and pseudonym not in owner_of)
        if holds[-1]:
            name_of[customer], owner_of[pseudonym] = pseudonym, customer
    refused = disputed.filter(~pl.Series(holds, dtype=pl.Boolean))
    refused_rows = named.join(refused, on=["customer", "pseudonym"], how="semi", maintain_order="left")

    def inconsistent(row: int) -> Problem:
        at = int(named["row"].search_sorted(row))
        customer, pseudonym = str(named["customer"][at]), str(named["pseudonym"][at])
        about = {"customer": inline(customer)}
        if customer in name_of:
            message = say("two_pseudonyms", **about, pseudonym=inline(name_of[customer]))
        else:
            message = say("shared_pseudonym", **about, pseudonym=inline(pseudonym), owner=inline(owner_of[pseudonym]))
        return Problem(row, column, pseudonym, message)

    yield Finding(broken_rows(refused_rows, pl.lit(value=True)), rank, inconsistent)


# --- cells -----------------------------------------------------------------------------------------------------------


def _whole(column: str, text: pl.Expr, *, original: bool = False) -> pl.Expr:
    """Return days, prices in hundredths (2.1 and 2.10 are one value) or quantities as whole numbers; null where none.

    Prices and quantities are more than 0.
    """
    pattern = FORMS[column][original]
    if column == "date":
        return calendar_day(text, pattern)
    number = pl.when(text.str.contains(pattern)).then(text).cast(pl.Float64, strict=False)
    # Seven digits before the point leave a double nine to spare: rounding gives the hundredths that were written.
    whole = (number * (100 if column == "price" else 1)).round().cast(pl.Int64)
    return pl.when(whole > 0).then(whole)


def _range_fault(column: str) -> pl.Expr:
    """Name the fault of each cell of an ordered column; a cell breaks at most one rule, the first that applies."""
    cell = pl.col(column)
    ranged = cell.str.starts_with("[") & cell.str.ends_with("]")
    ends = cell.str.strip_prefix("[").str.strip_suffix("]").str.splitn(";", 2)
    low, high = (_whole(column, pl.when(ranged).then(ends.struct[i]).otherwise(cell)) for i in (0, 1))
    return (
        pl.when(cell == "*")
        .then(None)
        .when(low.is_null() | high.is_null())
        .then(pl.lit(f"malformed_{column}"))
        .when(low > high)
        .then(pl.lit("reversed"))
        .when(~pl.col(f"{column}_value").is_between(low, high))
        .then(pl.lit("without_original"))
    )


def _cell_message(column: str, fault: str, items: pl.Series, row: Mapping[str, Any]) -> str:
    members = row["item"][1:-1].split(";")
    if fault == "malformed_set" and "" in members:
        fault = "no_set"
    if fault != "malformed_set":
        original = inline(row[f"original_{column}"])
        return say(fault, column=column, original=original, most=LARGEST_SET, count=len(members))
    # which of the set's elements breaks which rule
    known = set(items.filter(items.is_in(members)))
    for item in members:
        if item not in known:
            return say("unknown_item_in_set", item=inline(item))
    return say("item_twice_in_set", item=inline(next(item for item in members if members.count(item) > 1)))


# --- files -----------------------------------------------------------------------------------------------------------


def check_release(original: Path, release: Path, *, limit: int = 20) -> Report:
    """Check the anonymised table A, before deleted rows are removed: row i anonymises row i of T.

    T has the columns customer, date, item, price and quantity, and no header.
    With T = ``17850,2010/12/1,85123A,2.55,6`` the row ``1,[2010/12/1;2010/12/9],{85123A;71053},*,6`` is valid where T
    has an item 71053, and ``1,[2010/12/2;2010/12/9],85123A,2.55,6`` is not: its range misses the original day.
    """
    table = read_columns(original, COLUMNS)
    table = table.with_columns(_whole(c, pl.col(c), original=True).alias(f"{c}_value") for c in FORMS)
    for column in FORMS:
        reject_null(original, table, column, table[f"{column}_value"])
    lines = read_lines(release).text
    line = pl.col("line")
    cells = pl.when(line == "").then(0).otherwise(line.str.count_matches(",", literal=True) + 1)
    rows = (
        table.rename({name: f"original_{name}" for name in COLUMNS})
        .head(len(lines))
        .with_columns(lines.head(table.height))
        .with_row_index("row", offset=1)
        .with_columns(
            # what keeps a line from being read as cells at all; such a row is not looked at any further
            fault=pl.when(line.str.contains("\r", literal=True))
            .then(pl.lit("carriage_return"))
            .when(line.str.len_chars() > LONGEST_LINE)
            .then(pl.lit("length"))
            .when(cells != len(COLUMNS))
            .then(pl.lit("cells"))
        )
    )
    present = (
        rows.lazy()
        .filter(pl.col("fault").is_null() & (line != DELETED_ROW))
        .with_columns(split_cells(line, COLUMNS).alias("cells"))
        .drop("line", "fault")
        .unnest("cells")
        .with_columns(_range_fault(column).alias(f"{column}_fault") for column in FORMS)
        .collect()
    )
    return gather([*_row_findings(rows, lines, table.height), *_cell_findings(present, table["item"])], limit=limit)


def _row_findings(rows: pl.DataFrame, lines: pl.Series, expected: int) -> Iterator[Finding]:
    def message(fault: str, row: Mapping[str, Any]) -> str:
        line = row["line"]
        count = len(line) if fault == "length" else line.count(",") + 1 if line else 0
        return say(fault, most=LONGEST_LINE, count=count, expected=len(COLUMNS), columns=", ".join(COLUMNS))

    faults = list(rows["fault"].drop_nulls().unique())
    yield from findings(rows, COLUMNS, *(SheetRule(None, pl.col("fault") == f, partial(message, f)) for f in faults))
    count = len(lines)
    if count > expected:
        yield Finding.once(say("too_many_rows", rows=count, expected=expected), expected + 1, lines[expected])
    # Rows that end with CR alone run together into one; saying that some are missing would mislead.
    elif count < expected and "carriage_return" not in faults:
        few = say("too_few_rows", rows=count, expected=expected, row=DELETED_ROW)
        at = np.array([count], dtype=np.int64)
        yield Finding(at, len(COLUMNS), lambda row: Problem(row or None, None, None, few))


def _cell_findings(present: pl.DataFrame, items: pl.Series) -> Iterator[Finding]:
    """Find the broken rules of the rows that are not deleted."""
    # the fault of each item cell: a set too large, malformed, without the original; an exact item changed
    cell, original, members = pl.col("item"), pl.col("original_item"), pl.col("members")
    is_set = cell.str.starts_with("{") & cell.str.ends_with("}") & (cell.str.len_chars() > 2)
    is_large = cell.str.count_matches(";", literal=True) >= LARGEST_SET
    # A set over the limit is not taken apart, so no more than a hundred elements a row are looked at.
    listed = cell.str.strip_prefix("{").str.strip_suffix("}").str.split(";")
    present = present.with_columns(members=pl.when(is_set & ~is_large & (cell != original)).then(listed))
    unknown = present.select("row", "members").explode("members").filter(~members.is_in(items.unique().implode()))
    malformed = pl.col("row").is_in(unknown["row"].unique().implode()) | (members.list.n_unique() < members.list.len())
    present = present.with_columns(
        item_fault=pl.when((cell == "*") | (cell == original))
        .then(None)
        .when(~is_set)
        .then(pl.when(cell.str.contains(r"^[{\[]|[}\]]$")).then(pl.lit("no_set")).otherwise(pl.lit("without_original")))
        .when(is_large)
        .then(pl.lit("set_too_large"))
        .when(malformed)
        .then(pl.lit("malformed_set"))
        .when(~members.list.contains(original))
        .then(pl.lit("without_original"))
    )
    formed = pl.col("customer").str.contains(PSEUDONYM)
    rules = [SheetRule("customer", ~formed, say("pseudonym_form"))]
    for column in COLUMNS[1:]:
        faults = present[f"{column}_fault"]
        for fault in faults.drop_nulls().unique():
            message = partial(_cell_message, column, fault, items)
            rules.append(SheetRule(column, pl.col(faults.name) == fault, message))
    yield from findings(present, COLUMNS, *rules)
    yield from one_to_one(present.filter(formed).select("row", customer="original_customer", pseudonym="customer"))


def check_guess(original: Path, published: Path, guess: Path, *, limit: int = 20) -> Report:
    """Check a guess F', rows ``pseudonym,customer``, against T and the published table A'; A itself does as well.

    A pseudonym is named once, a customer as often as one likes; an empty file names nobody and is valid.
    """
    customers = read_columns(original, COLUMNS)["customer"]
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

    formed = pl.col("formed")
    again = formed & (pl.col("first") != pl.col("row"))
    problems = findings(
        rows,
        ("pseudonym", "customer"),
        SheetRule(None, ~formed, say("not_two_numbers")),
        SheetRule("pseudonym", formed & ~pl.col("known"), say("unknown_pseudonym")),
        SheetRule("customer", formed & ~pl.col("somebody"), say("unknown_customer")),
        SheetRule("pseudonym", again, lambda row: say("repeated_pseudonym", first=row["first"])),
    )
    return gather(problems, limit=limit)
