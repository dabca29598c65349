"""The format of PWS Cup 2017: the anonymised table AT, and the guess F̂.

AT has one row for each row of T, in its order: pseudonym, invoice, date, time, item, price, quantity; a deleted row is
`DEL,,,,,,`. A customer has one pseudonym a month and at least half of the rows stay. F̂ has one row for each customer
in ascending order: the customer, then the pseudonym of each month from 2010/12 to 2011/11 (`DEL`: none). The verdicts
are those of the participant's checker in the published judge system; what it accepts only because it does not look
comes back as a warning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from noren.data.checks.report import (
    Finding,
    Report,
    Sheet,
    SheetRule,
    calendar_day,
    gather,
    inline,
    read_columns,
    read_sheet,
    reject_null,
)
from noren.tables import Texts

say = Texts(__name__)

GUESS_COLUMNS = ("customer", "2010/12", *(f"2011/{month}" for month in range(1, 12)))
NAME = r"^[\w-]+$"
"""Pseudonyms and invoices: letters, digits, ``_`` and ``-``."""
COLUMNS = ("customer", "invoice", "date", "time", "item", "price", "quantity")
DELETED = "DEL"
DELETED_ROW = "DEL,,,,,,"

DATE_FORM = r"^[0-9]{4}/1?[0-9]/[1-3]?[0-9]$"
DATE_PARTS = r"^([0-9]{4})/([0-9]{1,2})/([0-9]{1,2})$"
TIME_FORM = r"^([0-9]{1,2}):([0-9]{1,2})$"
PRICE = r"^[0-9]{1,5}(?:\.[0-9]{1,2})?$"
QUANTITY = r"^[0-9]{1,6}$"
ZERO = r"^0+(?:\.0+)?$"


def check_release(original: Path, release: Path, *, limit: int = 20) -> Report:
    """Check the anonymised table AT, of which row i anonymises row i of T; the customers' table M is not needed.

    T has the columns customer, invoice, date, time, item, price and quantity, and no header.
    With T = ``12967,0,2010/12/3,9:30,84836,1.25,12`` the row ``p1,0,2010/12/9,15:00,84836,1.4,12`` is valid, and
    ``p1,0,2011/1/9,15:00,84836,1.4,12`` is not: a date stays in its month.
    """
    table = read_columns(original, COLUMNS, utf8=True)
    table = table.with_columns(month=calendar_day(pl.col("date"), DATE_PARTS) // 100)  # as yyyymm
    reject_null(original, table, "date", table["month"])
    sheet = read_sheet(release, COLUMNS)
    problems, warnings = sheet.oddities()
    if not sheet.rows.is_empty():
        # the rows whose cells can be judged, each with its customer and month in T
        judged = ~_IS_DELETED & (pl.col("cells") >= len(COLUMNS)) & (pl.col("place") < table.height)
        live = sheet.rows.filter(judged)
        live = live.hstack(table.select(original_customer="customer", month="month")[live["place"]])
        problems += _release_problems(sheet, live, table)
        # what the official checker accepts only because it does not look
        rows, expected = sheet.rows, table.height
        if sheet.width > len(COLUMNS):
            first_row = rows.select("row", "line").row(0)
            warnings.append(Finding.once(say("ignored_cells", expected=len(COLUMNS)), *first_row))
        if sheet.width >= len(COLUMNS):  # else every row is one cell short, which is a problem told already
            other = _IS_DELETED & (pl.col("line") != DELETED_ROW)
            warnings += sheet.findings(rows, SheetRule(None, other, say("deleted_row_form", row=DELETED_ROW)))
        if rows.height < expected:
            warnings.append(Finding.once(say("too_few_rows", rows=rows.height, expected=expected, row=DELETED_ROW)))
        beyond = rows.filter(pl.col("place") >= expected)
        for own, told in ((~_IS_DELETED, problems), (_IS_DELETED, warnings)):  # the first row of each kind
            for row in beyond.filter(own).head(1).select("row", "line").iter_rows():
                told.append(Finding.once(say("too_many_rows", rows=rows.height, expected=expected), *row))
        price, quantity = pl.col("price"), pl.col("quantity")
        warnings += sheet.findings(
            live,
            SheetRule("customer", pl.col("customer") == "", say("empty_cell")),
            SheetRule("invoice", pl.col("invoice") == "", say("empty_cell")),
            SheetRule("price", price.str.contains(ZERO), say("zero")),
            SheetRule("quantity", quantity.str.contains(ZERO), say("zero")),
        )
    return gather(problems, warnings, limit=limit)


def check_guess(original: Path, guess: Path, *, limit: int = 20) -> Report:
    """Check a guess F̂: rows of a customer and twelve pseudonyms; no count line, no header.

    The customers of T must all be answered for, in ascending order.
    """
    table = read_columns(original, COLUMNS, utf8=True)
    number = table["customer"].str.extract(r"^([0-9]{1,18})$")
    reject_null(original, table, "customer", number)
    customers, sheet = table["customer"].unique(), read_sheet(guess, GUESS_COLUMNS)
    problems, warnings = sheet.oddities()
    if sheet.rows.is_empty():
        return gather(problems, warnings, limit=limit)
    rows, cells, wanted = sheet.rows, pl.col("cells"), len(GUESS_COLUMNS)
    # rows that are only short break no rule where the first row has thirteen cells
    misshapen = cells > wanted if sheet.width == wanted else cells != wanted
    narrow = misshapen & (cells <= max(sheet.width, wanted))  # the sheet itself reports wider ones
    problems += sheet.findings(rows, SheetRule(None, narrow, say("guess_form", cells=wanted)))

    named = rows.filter(~misshapen | (cells > 1)).select("row", "customer")
    order = (
        named.with_columns(
            known=pl.col("customer").is_in(customers.implode()), first=pl.col("row").min().over("customer")
        )
        .with_columns(number=pl.when("known").then("customer").cast(pl.Int64))
        .with_columns(behind=pl.col("number") < pl.col("number").forward_fill().cum_max().shift(1))
    )
    known, again = pl.col("known"), pl.col("row") != pl.col("first")
    problems += sheet.findings(
        order,
        SheetRule("customer", ~known, say("unknown_customer")),
        SheetRule("customer", known & again, lambda row: say("repeated_customer", first=row["first"])),
        SheetRule("customer", known & ~again & pl.col("behind"), say("unsorted_customers")),
    )
    missing = customers.filter(~customers.is_in(named["customer"].implode())).cast(pl.Int64).sort()
    if len(missing):
        message = say("customers_missing", count=len(missing), customer=missing[0])
        problems.append(Finding.once(message, value=str(missing[0]), column="customer"))
    if sheet.width == wanted:  # cells that the official checker does not look at and that can match nothing
        rules = [SheetRule(None, cells < wanted, say("guess_form", cells=wanted))]
        for month in GUESS_COLUMNS[1:]:
            unknown = (cells == wanted) & ~pl.col(month).str.contains(NAME)
            rules.append(SheetRule(month, unknown, say("unknown_pseudonym")))
        warnings += sheet.findings(rows, *rules)
    return gather(problems, warnings, limit=limit)


# --- AT ---------------------------------------------------------------------------------------------------------------

_IS_DELETED = pl.col("customer") == DELETED


def _release_problems(sheet: Sheet, live: pl.DataFrame, table: pl.DataFrame) -> Iterator[Finding]:
    rows = sheet.rows
    short = (pl.col("cells") < len(COLUMNS)) & (~_IS_DELETED | (pl.col("place") == 0))
    yield from sheet.findings(rows, SheetRule(None, short, sheet.width_message))
    remaining, least = rows.filter(~_IS_DELETED).height, rows.height // 2
    if remaining < least:
        yield Finding.once(say("too_many_deleted", least=least, rows=rows.height, remaining=remaining))
    name, date, time = pl.col("customer"), pl.col("date"), pl.col("time")
    hour, minute = (time.str.extract(TIME_FORM, group).cast(pl.Int32, strict=False) for group in (1, 2))
    # The empty text is a missing value to the official reader, which it then takes for a name: a warning, see below.
    no_name = ~name.str.contains(NAME) & (name != "")
    a_customer = name.is_in(table["customer"].unique().implode())
    judged = live.with_columns(
        first_name=name.first().over("original_customer", pl.col("month") % 100),
        day=calendar_day(date, DATE_PARTS),
        formed_date=date.str.contains(DATE_FORM),
        real_time=(hour <= 23) & (minute <= 59),
        no_name=no_name,
        a_customer=a_customer & ~no_name,
    )
    clash = ~pl.col("no_name") & ~pl.col("a_customer") & (name != pl.col("first_name"))
    real_day = pl.col("day").is_not_null()
    moved = pl.col("formed_date") & real_day & (pl.col("day") // 100 != pl.col("month"))
    yield from sheet.findings(
        judged,
        SheetRule("customer", clash, lambda row: say("two_pseudonyms", **_about(row))),
        SheetRule("date", moved, lambda row: say("moved_date", **_about(row))),
        SheetRule("customer", pl.col("no_name"), say("name_form")),
        SheetRule("customer", pl.col("a_customer"), say("pseudonym_is_customer")),
        SheetRule("invoice", ~pl.col("invoice").str.contains(NAME) & (pl.col("invoice") != ""), say("name_form")),
        SheetRule("date", ~(pl.col("formed_date") & real_day), say("date_form")),
        SheetRule("time", ~pl.col("real_time").fill_null(value=False), say("time_form")),
        SheetRule("item", ~pl.col("item").is_in(table["item"].unique().implode()), say("unknown_item")),
        SheetRule("price", ~pl.col("price").str.contains(PRICE), say("price_form")),
        SheetRule("quantity", ~pl.col("quantity").str.contains(QUANTITY), say("quantity_form")),
    )


def _about(row: Mapping[str, Any]) -> dict[str, object]:
    month = {"year": row["month"] // 100, "month": row["month"] % 100}
    return month | {"customer": inline(row["original_customer"]), "pseudonym": inline(row["first_name"])}
