"""Purchase histories that come in real files and in no paper: columns that are not there, cells that are blank, one
customer, one row each, all rows equal, returns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any

import polars as pl

from noren.data.frames import History
from noren.data.schema import Schema

_COLUMNS = ("customer", "date", "item", "price", "quantity")
MEASURED = ("date", "item", "price", "quantity")


def schema_of(*names: str, **further: str) -> Schema:
    """Return a schema of a customer and some of date, item, price and quantity, and further roles; any may be blank."""
    roles = {name: name for name in ("customer", *names)} | further
    columns = {name: {"role": role, "optional": True} for name, role in roles.items()}
    return Schema.of({"name": "awkward", "columns": columns})


def plain_rows(customers: int = 8) -> dict[str, list[Any]]:
    """Return rows of ``customers`` people, two to four each, in three months and of five items."""
    rows: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
    for who in range(customers):
        for at in range(2 + who % 3):
            rows["customer"].append(f"c{who}")
            rows["date"].append(dt.date(2010, 10 + at % 3, 1 + (3 * who + 5 * at) % 28))
            rows["item"].append("abcde"[(who // 2 + at) % 5])
            rows["price"].append(1.5 + (who * at) % 4)
            rows["quantity"].append(1 + (who + 2 * at) % 3)
    return rows


def history(rows: dict[str, list[Any]], names: Sequence[str] = MEASURED) -> History:
    """Return rows as a history of a customer and the columns ``names``."""
    columns = schema_of(*names)
    return History.of(pl.DataFrame({name: rows[name] for name in columns.names}, strict=False), columns)


def blank(rows: dict[str, list[Any]], name: str, every: int = 3) -> dict[str, list[Any]]:
    """Return rows with every third cell of a column blank; so are a whole customer's in a column other than theirs."""
    cells = [None if at % every == 0 else cell for at, cell in enumerate(rows[name])]
    if name != "customer":
        cells = [None if who == "c1" else cell for who, cell in zip(rows["customer"], cells, strict=True)]
    return rows | {name: cells}


def _without(name: str) -> History:
    return history(plain_rows(), [other for other in MEASURED if other != name])


def _further_columns() -> History:
    rows = plain_rows()
    count = len(rows["customer"])
    further = {
        "invoice": [f"i{at // 2}" for at in range(count)],
        "time": [dt.time(8 + at % 9, 30) for at in range(count)],
        "description": [f"the {item}" for item in rows["item"]],
        "country": [None if at % 5 == 0 else "UK" for at in range(count)],
    }
    roles = {"invoice": "invoice", "time": "time", "description": "description", "country": "other"}
    columns = schema_of(*MEASURED, **roles)
    return History.of(rows | further, columns)


def _everything_blank_somewhere() -> History:
    rows = plain_rows()
    for shift, name in enumerate(MEASURED):
        rows[name] = [None if (at + shift) % 4 == 0 else cell for at, cell in enumerate(rows[name])]
    rows["customer"][3] = None
    return history(rows)


def _all_equal() -> History:
    rows = plain_rows()
    return history({name: [cells[0]] * len(cells) if name != "customer" else cells for name, cells in rows.items()})


def _one_row_each() -> History:
    rows = plain_rows()
    first = [rows["customer"].index(who) for who in dict.fromkeys(rows["customer"])]
    return history({name: [cells[at] for at in first] for name, cells in rows.items()})


def _one_row() -> History:
    return history({name: cells[:1] for name, cells in plain_rows().items()})


def _returns() -> History:
    rows = plain_rows()
    back = [-n if at % 3 == 0 else n for at, n in enumerate(rows["quantity"])]
    free = [0.0 if at % 4 == 0 else price for at, price in enumerate(rows["price"])]
    return history(rows | {"quantity": back, "price": free})


def _one_big_customer() -> History:
    rows = plain_rows(12)
    more = plain_rows(2) | {"customer": ["c0"] * 5}
    return history({name: cells + 2 * more[name] for name, cells in rows.items()})


AWKWARD: dict[str, Callable[[], History]] = {
    "plain": lambda: history(plain_rows()),
    "no date": lambda: _without("date"),
    "no item": lambda: _without("item"),
    "no price": lambda: _without("price"),
    "no quantity": lambda: _without("quantity"),
    "only dates": lambda: history(plain_rows(), ["date"]),
    "only items": lambda: history(plain_rows(), ["item"]),
    "only prices": lambda: history(plain_rows(), ["price"]),
    "only quantities": lambda: history(plain_rows(), ["quantity"]),
    "dates and items": lambda: history(plain_rows(), ["date", "item"]),
    "further columns": _further_columns,
    "blank customers": lambda: history(blank(plain_rows(), "customer")),
    "blank dates": lambda: history(blank(plain_rows(), "date")),
    "blank items": lambda: history(blank(plain_rows(), "item")),
    "blank prices": lambda: history(blank(plain_rows(), "price")),
    "blank quantities": lambda: history(blank(plain_rows(), "quantity")),
    "blanks everywhere": _everything_blank_somewhere,
    "no item at all": lambda: history(plain_rows() | {"item": [None] * len(plain_rows()["item"])}),
    "one row": _one_row,
    "one customer": lambda: history(plain_rows(1)),
    "two customers": lambda: history(plain_rows(2)),
    "all equal": _all_equal,
    "one row each": _one_row_each,
    "returns and gifts": _returns,
    "one big customer": _one_big_customer,
}
