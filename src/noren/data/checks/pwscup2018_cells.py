"""The cells of PWS Cup 2018's anonymised table: what each may say of the original value it stands for.

Judging is done a column at a time and gives each cell a code; words are found for the few cells that are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import polars as pl

from noren.data.checks.one_to_one import one_to_one
from noren.data.checks.original import calendar_day
from noren.data.checks.report import Finding, broken_rows, inline
from noren.errors import Problem
from noren.i18n import _

__all__ = ["COLUMNS", "DELETED_ROW", "LARGEST_SET", "CheckedPair", "cell_findings", "hundredths", "pieces"]

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
    forms = {
        "date": _("a date is a day of 2010 or 2011 like 2010/12/1, a range of two like [2010/12/1;2010/12/9], or *"),
        "price": _(
            "a price is a number from 0.01 to 99999.99 with at most two decimals, a range like [1.25;2.1], or *"
        ),
        "quantity": _("a quantity is a whole number from 1 to 999999, a range of two like [2;12], or *"),
    }

    def tell(row: int) -> Problem:
        given, original = pair.given(row, column), pair.original(row, column)
        rule, cure = {
            _MALFORMED: (
                forms[column],
                _("write {original}, a range that contains it, or *").format(original=original),
            ),
            _REVERSED: (_("a range starts with its smaller end"), _("swap the two ends")),
            _OUTSIDE: (
                _("the range must contain the original {column} {original}").format(column=column, original=original),
                _("widen the range to include it, or delete the cell with *"),
            ),
            _CHANGED: (
                _("the cell must keep or widen the original {column} {original}").format(
                    column=column, original=original
                ),
                _("write {original}, a range that contains it, or *").format(original=original),
            ),
        }[code]
        return Problem(row, column, given, rule, cure)

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
                return _("every item of a set must occur in the original table; {item} does not").format(
                    item=inline(item)
                )
        twice = next(item for item in members if members.count(item) > 1)
        return _("a set names each item once; {item} is there twice").format(item=inline(twice))

    def tell(row: int) -> Problem:
        given, original = pair.given(row, "item"), inline(pair.original(row, "item"))
        members = given[1:-1].split(";")
        keep = _("write {original}, a set like {{{original};…}} that contains it, or *").format(original=original)
        if code == _MALFORMED:
            rule, cure = fault_of(members), _("correct the set, or delete the cell with *")
        elif code == _TOO_MANY:
            rule = _("a set has at most {most} items; this one has {found}").format(
                most=LARGEST_SET, found=len(members)
            )
            cure = _("name fewer items, or delete the cell with *")
        elif code == _OUTSIDE:
            rule = _("the set must contain the original item {original}").format(original=original)
            cure = _("add it to the set, or delete the cell with *")
        elif code == _NO_SET:
            rule = _("an item cell is an item, a set of items in braces like {a;b}, or *")
            cure = keep
        else:
            rule = _("the cell must keep or widen the original item {original}").format(original=original)
            cure = keep
        return Problem(row, "item", given, rule, cure)

    return tell


# --- customers and pseudonyms ----------------------------------------------------------------------------------------


def _customer_findings(pair: CheckedPair, kept: pl.DataFrame) -> Iterator[Finding]:
    """Find cells that are no pseudonym, and rows whose pseudonym breaks the one-to-one map."""
    pseudonym = pl.col("given_customer")
    formed = pseudonym.str.contains(PSEUDONYM)

    def malformed(row: int) -> Problem:
        return Problem(
            row,
            "customer",
            pair.given(row, "customer"),
            _("a pseudonym is a whole number from 1 to 999999999 without leading zeros"),
            _("write such a number, the same in all rows of the customer; to delete the row write {row}").format(
                row=DELETED_ROW
            ),
        )

    yield Finding(broken_rows(kept, ~formed), 1, malformed)

    named = kept.lazy().filter(formed).select("row", "customer", pseudonym="given_customer").collect()
    yield from one_to_one(named)
