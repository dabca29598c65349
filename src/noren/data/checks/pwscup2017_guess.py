"""The guess of PWS Cup 2017, F̂: a customer and twelve pseudonyms a row, in ascending order of customers."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from noren.data.checks.report import Finding
from noren.data.checks.sheet import Sheet, SheetRule
from noren.errors import Problem
from noren.i18n import _

__all__ = ["GUESS_COLUMNS", "NAME", "guess_problems", "guess_warnings"]

GUESS_COLUMNS = ("customer", "2010/12", *(f"2011/{month}" for month in range(1, 12)))
NAME = r"^[\w-]+$"
"""Pseudonyms and invoices: letters, digits, ``_`` and ``-``."""


def _misshapen(sheet: Sheet) -> pl.Expr:
    """Rows without thirteen cells; those that are only short break no rule where the first row has thirteen."""
    cells, wanted = pl.col("cells"), len(GUESS_COLUMNS)
    return cells > wanted if sheet.width == wanted else cells != wanted


def guess_problems(sheet: Sheet, customers: pl.Series) -> Iterator[Finding]:
    """Find the broken rules of a guess about ``customers``, whole numbers as text, each once."""
    rows, wanted = sheet.rows, len(GUESS_COLUMNS)
    misshapen = _misshapen(sheet)
    count_line = sheet.width == 1 and str(rows["customer"][0]).isdecimal()
    shape = SheetRule(
        None,
        misshapen & (pl.col("cells") <= max(sheet.width, wanted)),  # wider ones are told by the sheet
        _("a row has {wanted} cells: a customer and twelve months").format(wanted=wanted),
        _("remove the count line") if count_line else _("write a pseudonym or DEL for each of the twelve months"),
    )
    yield from sheet.findings(rows, shape)

    named = rows.filter(~misshapen | (pl.col("cells") > 1)).select("row", "customer")
    known = pl.col("customer").is_in(customers.implode())
    order = (
        named.with_columns(known=known, again=pl.col("row") != pl.col("row").min().over("customer"))
        .with_columns(number=pl.when("known").then("customer").cast(pl.Int64))
        .with_columns(behind=pl.col("number") < pl.col("number").forward_fill().cum_max().shift(1))
    )
    yield from sheet.findings(
        order,
        SheetRule(
            "customer",
            ~pl.col("known"),
            _("the customer must occur in the original table"),
            _("write one row for each customer of the original and no other"),
        ),
        SheetRule(
            "customer",
            pl.col("known") & pl.col("again"),
            _("each customer has one row; this one has another before"),
            _("keep one of the two rows"),
        ),
        SheetRule(
            "customer",
            pl.col("known") & ~pl.col("again") & pl.col("behind"),
            _("customers stand in ascending order; a larger one stands before this one"),
            _("sort the rows by customer"),
        ),
    )
    missing = customers.filter(~customers.is_in(named["customer"].implode())).cast(pl.Int64).sort()
    if len(missing):
        rule = _("each customer of the original has a row; missing: {count:,}, the first is {customer}").format(
            count=len(missing), customer=missing[0]
        )
        cure = _("add a row for it; DEL stands for a month without a guess")
        yield Finding.once(Problem(None, "customer", str(missing[0]), rule, cure))


def guess_warnings(sheet: Sheet) -> Iterator[Finding]:
    """Find cells that the official checker does not look at and that can match nothing."""
    wanted, cells = len(GUESS_COLUMNS), pl.col("cells")
    if sheet.width != wanted:
        return
    short = _("the row has fewer than {wanted} cells; the missing ones match nothing").format(wanted=wanted)
    cell = _("a month is a pseudonym or DEL; this cell can match nothing")
    cure = _("write DEL for a month without a guess")
    yield from sheet.findings(
        sheet.rows,
        SheetRule(None, cells < wanted, short, cure),
        *(
            SheetRule(month, (cells == wanted) & ~pl.col(month).str.contains(NAME), cell, cure)
            for month in GUESS_COLUMNS[1:]
        ),
    )
