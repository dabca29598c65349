"""Purchases with empty cells, and purchases of very few people."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from tests.zoo.animal import Reading, animal
from tests.zoo.rows import GOODS, purchases, write_csv

DAY = dt.date(2018, 4, 1)
FIVE = ["customer", "date", "item", "price", "quantity"]
COLUMNS = {
    "customer": "customer text",
    "date": "date date",
    "item": "item text",
    "price": "price decimal",
    "quantity": "quantity integer",
}


def _reading(hole: str | None = None, *, rows: int = 160, people: int = 24) -> Reading:
    cells: tuple[tuple[int, str, object], ...] = ((1, "date", DAY), (1, "price", 1249.0), (1, "quantity", 3))
    if hole:
        cells += ((10, hole, None), (20, hole, None))
    return Reading("history", COLUMNS, rows=rows, people=people, cells=cells)


def _holed(folder: Path, hole: str, seed: int) -> Path:
    """Leave one cell in ten of a column empty: rows 10, 20, 30 …"""
    place = FIVE.index(hole)
    rows = []
    for number, p in enumerate(purchases(seed), start=1):
        row: list[object] = [p.member, p.when.date(), p.good.name, f"{p.price:.2f}", p.quantity]
        if number % 10 == 0:
            row[place] = None
        rows.append(row)
    return write_csv(folder, f"blank_{hole}.csv", FIVE, rows)


@animal("holes", "every tenth quantity is blank", _reading("quantity"))
def blank_quantity(folder: Path) -> Path:
    return _holed(folder, "quantity", 61)


@animal("holes", "every tenth date is blank", _reading("date"))
def blank_date(folder: Path) -> Path:
    return _holed(folder, "date", 62)


@animal("holes", "every tenth price is blank", _reading("price"))
def blank_price(folder: Path) -> Path:
    return _holed(folder, "price", 63)


@animal("holes", "every tenth item is blank", _reading("item"))
def blank_item(folder: Path) -> Path:
    return _holed(folder, "item", 64)


@animal("holes", "every tenth customer is blank: cash, without a card", _reading("customer"))
def blank_customer(folder: Path) -> Path:
    return _holed(folder, "customer", 165)


@animal("few", "a single customer", _reading(rows=30, people=1))
def one_customer(folder: Path) -> Path:
    return _few(folder, 1)


@animal("few", "two customers", _reading(rows=30, people=2), may_ask="customer")
def two_customers(folder: Path) -> Path:
    rows = [(f"C{10_000 + 37 * n}", day, good, price, q) for n, day, good, price, q in _turns(2)]
    return write_csv(folder, "two.csv", FIVE, rows)


@animal("few", "three customers", _reading(rows=30, people=3))
def three_customers(folder: Path) -> Path:
    rows = [(f"C{10_000 + 37 * n}", day, good, price, q) for n, day, good, price, q in _turns(3)]
    return write_csv(folder, "three.csv", FIVE, rows)


def _few(folder: Path, customers: int) -> Path:
    rows = [(p.member, p.when.date(), p.good.name, p.price, p.quantity) for p in purchases(66, customers, 30)]
    return write_csv(folder, "few.csv", FIVE, rows)


def _turns(customers: int) -> list[tuple[int, dt.date, str, float, int]]:
    """Let customers buy in turn; the first row is the known one."""
    made = purchases(67, rows=30)
    return [(n % customers, p.when.date(), p.good.name, p.price, p.quantity) for n, p in enumerate(made)]


@animal("few", "twelve customers with the very same purchases", _reading(rows=60, people=12))
def equal_histories(folder: Path) -> Path:
    bought = [(DAY + dt.timedelta(days=40 * n), GOODS[n], 3 - n % 3) for n in range(5)]
    rows = [
        (f"C{10_000 + 37 * n}", day, good.name, good.price, quantity)
        for day, good, quantity in bought
        for n in range(12)
    ]
    return write_csv(folder, "equal.csv", FIVE, rows)
