"""The format of PWS Cup 2018: the anonymised table A, and the guess F'.

A has one row for each row of T, in its order: pseudonym, date, item, price, quantity. A cell keeps its value, widens it
(`[a;b]`, for items `{a;b}`) or deletes it (`*`); a deleted row is `*,*,*,*,*`. F' has rows of pseudonym,customer. The
verdicts are those of the organisers' ``checker.jar`` (A) and ``check-f1`` (F'), and so are the rows and columns named.

Judging is done a column at a time and gives each cell a code; words are found for the few cells that are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

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
    split_cells,
    stop_at_null,
)
from noren.errors import Problem
from noren.i18n import _
from noren.tables import Texts

say = Texts(__name__)


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
    bearer_of: dict[str, str] = {}
    holds = []
    for customer, pseudonym in zip(disputed["customer"], disputed["pseudonym"], strict=True):
        holds.append(customer not in name_of and pseudonym not in bearer_of)
        if holds[-1]:
            name_of[customer], bearer_of[pseudonym] = pseudonym, customer
    refused = disputed.filter(~pl.Series(holds, dtype=pl.Boolean))
    refused_rows = named.join(refused, on=["customer", "pseudonym"], how="semi", maintain_order="left")

    def inconsistent(row: int) -> Problem:
        at = int(named["row"].search_sorted(row))
        customer, given = str(named["customer"][at]), str(named["pseudonym"][at])
        if customer in name_of:
            rule = say("customer_one_pseudonym_all", customer=inline(customer), pseudonym=inline(name_of[customer]))
            cure = _("write {pseudonym} here too, or delete the row").format(pseudonym=inline(name_of[customer]))
        else:
            rule = say("pseudonym_stands_one_customer", pseudonym=inline(given), customer=inline(bearer_of[given]))
            cure = _("give customer {customer} a pseudonym of its own").format(customer=inline(customer))
        return Problem(row, column, given, rule, cure)

    yield Finding(broken_rows(refused_rows, pl.lit(value=True)), rank, inconsistent)


COLUMNS = ("customer", "date", "item", "price", "quantity")
DELETED_ROW = "*,*,*,*,*"
LARGEST_SET = 100

PSEUDONYM = r"^[1-9][0-9]{0,8}$"
DATE = r"^(201[01])/([0-9]{1,2})/([0-9]{1,2})$"
PRICE = r"^(?:0|[1-9][0-9]{0,4})(?:\.[0-9]{1,2})?$"
QUANTITY = r"^[1-9][0-9]{0,5}$"

# What can be wrong with a cell; a cell breaks at most one rule, the first that applies.
_FINE, _MALFORMED, _REVERSED, _OUTSIDE, _CHANGED, _TOO_MANY, _NO_SET = range(7)


@dataclass(frozen=True)
class CheckedPair:
    """The original and the released lines, for wording what is wrong with one row."""

    table: pl.DataFrame
    lines: pl.Series

    def original(self, row: int, column: str) -> str:
        """Return the original text of a cell."""
        return str(self.table[column][row - 1])

    def given(self, row: int, column: str) -> str:
        """Return the released text of a cell, of a row that has five."""
        return str(self.lines[row - 1]).split(",")[COLUMNS.index(column)]


def cell_findings(pair: CheckedPair, kept: pl.DataFrame) -> Iterator[Finding]:
    """Find the broken rules of the rows that are not deleted: ``row``, T's columns and values, and ``given_`` cells."""
    yield from _customer_findings(pair, kept)
    for column, read in (("date", _days), ("price", hundredths), ("quantity", pieces)):
        judged = _judge_ranges(kept, column, read)
        for code in judged["code"].unique():
            rows = broken_rows(judged, pl.col("code") == code)
            yield Finding(rows, COLUMNS.index(column) + 1, _range_teller(pair, column, code))
    judged = _judge_items(kept, pair.table["item"])
    for code in judged["code"].unique():
        rows = broken_rows(judged, pl.col("code") == code)
        yield Finding(rows, COLUMNS.index("item") + 1, _item_teller(pair, code))


# --- date, price, quantity --------------------------------------------------------------------------------------------


def hundredths(text: pl.Expr, pattern: str = PRICE) -> pl.Expr:
    """Return prices as whole hundredths, so that 2.1 and 2.10 are one value; null where not a price above 0."""
    number = pl.when(text.str.contains(pattern)).then(text).cast(pl.Float64, strict=False)
    # Seven digits before the point leave a double nine to spare: rounding gives the hundredths that were written.
    whole = (number * 100).round().cast(pl.Int64)
    return pl.when(whole > 0).then(whole)


def pieces(text: pl.Expr, pattern: str = QUANTITY) -> pl.Expr:
    """Return quantities as whole numbers; null where not a whole number from 1."""
    number = pl.when(text.str.contains(pattern)).then(text).cast(pl.Int64, strict=False)
    return pl.when(number > 0).then(number)


def _days(text: pl.Expr) -> pl.Expr:
    return calendar_day(text, DATE)


def _judge_ranges(kept: pl.DataFrame, column: str, read: Callable[[pl.Expr], pl.Expr]) -> pl.DataFrame:
    """Give each cell of an ordered column its fault: malformed, reversed, outside the original, changed, or none."""
    cell = pl.col(f"given_{column}")
    ends = cell.str.strip_prefix("[").str.strip_suffix("]").str.splitn(";", 2)
    ranged = cell.str.starts_with("[") & cell.str.ends_with("]")
    low, high, value = pl.col("low"), pl.col("high"), pl.col(f"{column}_value")
    return (
        kept.lazy()
        .select("row", cell, value, ranged=ranged)
        .filter(cell != "*")
        .with_columns(
            low=pl.when("ranged").then(ends.struct[0]).otherwise(cell),
            high=pl.when("ranged").then(ends.struct[1]).otherwise(cell),
        )
        .with_columns(low=read(low), high=read(high))
        .select(
            "row",
            code=pl.when(low.is_null() | high.is_null())
            .then(_MALFORMED)
            .when(low > high)
            .then(_REVERSED)
            .when(value.is_between(low, high))
            .then(_FINE)
            .when("ranged")
            .then(_OUTSIDE)
            .otherwise(_CHANGED),
        )
        .filter(pl.col("code") != _FINE)
        .collect()
    )


def _range_teller(pair: CheckedPair, column: str, code: int) -> Callable[[int], Problem]:
    names = {_MALFORMED: f"malformed_{column}", _REVERSED: "reversed", _OUTSIDE: "outside", _CHANGED: "changed"}

    def tell(row: int) -> Problem:
        about = say.problem(names[code], column=column, original=pair.original(row, column))
        return Problem(row, column, pair.given(row, column), *about)

    return tell


# --- item -------------------------------------------------------------------------------------------------------------


def _judge_items(kept: pl.DataFrame, items: pl.Series) -> pl.DataFrame:
    """Give each item cell its fault: a set too large, malformed, without the original; an exact item changed."""
    cell, members = pl.col("given_item"), pl.col("members")
    is_set = cell.str.starts_with("{") & cell.str.ends_with("}") & (cell.str.len_chars() > 2)
    cells = kept.lazy().select("row", "item", "given_item").filter((cell != "*") & (cell != pl.col("item")))
    exact = cells.filter(~is_set).select(
        "row", code=pl.when(cell.str.contains(r"^[{\[]|[}\]]$")).then(_NO_SET).otherwise(_CHANGED)
    )
    # A set over the limit is not taken apart, so no more than a hundred elements a row are looked at.
    size = cell.str.count_matches(";", literal=True) + 1
    large = cells.filter(is_set & (size > LARGEST_SET)).select("row", code=pl.lit(_TOO_MANY))
    sets = (
        cells.filter(is_set & (size <= LARGEST_SET))
        .select("row", "item", members=cell.str.strip_prefix("{").str.strip_suffix("}").str.split(";"))
        .collect()
    )
    unknown = sets.select("row", "members").explode("members").filter(~members.is_in(items.unique().implode()))
    malformed = pl.col("row").is_in(unknown["row"].unique().implode()) | (members.list.n_unique() < members.list.len())
    small = sets.lazy().select(
        "row",
        code=pl.when(malformed)
        .then(_MALFORMED)
        .when(members.list.contains(pl.col("item")))
        .then(_FINE)
        .otherwise(_OUTSIDE),
    )
    return pl.concat([exact, large, small]).filter(pl.col("code") != _FINE).sort("row").collect()


def _item_teller(pair: CheckedPair, code: int) -> Callable[[int], Problem]:
    def fault_of(members: list[str]) -> str:
        """Say which of a set's elements breaks which rule, the most telling first."""
        if "" in members:
            return _("a set has one semicolon between items and none at its ends")
        known = set(pair.table["item"].filter(pair.table["item"].is_in(members)))
        for item in members:
            if item not in known:
                return say("every_item_set_must", item=inline(item))
        twice = next(item for item in members if members.count(item) > 1)
        return _("a set names each item once; {item} is there twice").format(item=inline(twice))

    def tell(row: int) -> Problem:
        given, original = pair.given(row, "item"), inline(pair.original(row, "item"))
        members = given[1:-1].split(";")
        if code == _MALFORMED:
            rule, cure = fault_of(members), _("correct the set, or delete the cell with *")
        else:
            name = {_TOO_MANY: "set_too_large", _OUTSIDE: "set_without_original", _NO_SET: "no_set"}.get(
                code, "other_item"
            )
            rule, cure = say.problem(name, original=original, most=LARGEST_SET, found=len(members))
        return Problem(row, "item", given, rule, cure)

    return tell


# --- customers and pseudonyms ----------------------------------------------------------------------------------------


def _customer_findings(pair: CheckedPair, kept: pl.DataFrame) -> Iterator[Finding]:
    """Find cells that are no pseudonym, and rows whose pseudonym breaks the one-to-one map."""
    pseudonym = pl.col("given_customer")
    formed = pseudonym.str.contains(PSEUDONYM)

    def malformed(row: int) -> Problem:
        return Problem(
            row, "customer", pair.given(row, "customer"), *say.problem("pseudonym_whole_number_from", row=DELETED_ROW)
        )

    yield Finding(broken_rows(kept, ~formed), 1, malformed)

    named = kept.lazy().filter(formed).select("row", "customer", pseudonym="given_customer").collect()
    yield from one_to_one(named)


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

    formed = pl.col("formed")
    found = findings(
        rows,
        ("pseudonym", "customer"),
        SheetRule(None, ~formed, *say.problem("not_two_numbers")),
        SheetRule("pseudonym", formed & ~pl.col("known"), *say.problem("unknown_pseudonym")),
        SheetRule("customer", formed & ~pl.col("somebody"), *say.problem("unknown_customer")),
        SheetRule(
            "pseudonym",
            formed & (pl.col("first") != pl.col("row")),
            lambda row: say.problem("named_before", first=row["first"]),
        ),
    )
    return gather(found, limit=limit)


# --- the original -----------------------------------------------------------------------------------------------------


def _read_text(path: Path) -> pl.DataFrame:
    return read_columns(path, COLUMNS)


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


def _row_fault(line: pl.Expr) -> pl.Expr:
    """Name what keeps a line from being read as cells at all; such a row is not looked at any further."""
    cells = pl.when(line == "").then(0).otherwise(line.str.count_matches(",", literal=True) + 1)
    return (
        pl.when(line.str.contains("\r", literal=True))
        .then(pl.lit("carriage_return"))
        .when(line.str.len_chars() > LONGEST_LINE)
        .then(pl.lit("length"))
        .when(cells != len(COLUMNS))
        .then(pl.lit("cells"))
        .otherwise(pl.lit(""))
    )


def _row_findings(pair: CheckedPair, rows: pl.DataFrame) -> Iterator[Finding]:
    def tell(fault: str, row: int) -> Problem:
        line = pair.lines[row - 1]
        found = len(line) if fault == "length" else line.count(",") + 1 if line else 0
        values = {"expected": len(COLUMNS), "columns": ", ".join(COLUMNS), "row": DELETED_ROW}
        return Problem(row, None, line, *say.problem(fault, most=LONGEST_LINE, found=found, **values))

    faults = set(rows["fault"].unique()) - {""}
    for fault in faults:
        yield Finding(broken_rows(rows, pl.col("fault") == fault), 0, partial(tell, fault))

    found, expected = len(pair.lines), pair.table.height
    count = _("the file has {found:,} rows, the original has {expected:,}").format(found=found, expected=expected)
    if found > expected:
        cure = _("remove what follows row {expected:,}; a blank line counts as a row").format(expected=expected)
        yield Finding.once(Problem(expected + 1, None, pair.lines[expected], count, cure))
    # Rows that end with CR alone run together into one; saying that some are missing would mislead.
    elif found < expected and "carriage_return" not in faults:
        cure = say("write_one_row_each", row=DELETED_ROW)
        yield Finding(
            np.array([found], dtype=np.int64), len(COLUMNS), lambda row: Problem(row or None, None, None, count, cure)
        )
