"""Added rows look like the item's own and stand where the customer was."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from noren.data.frames import History
from noren.data.schema import Schema
from noren.methods.pseudo_records import believable_rows

SCHEMA = Schema.preset("sample")
NAMES = ("customer", "invoice", "date", "time", "item", "description", "price", "quantity", "country")


def history(rows: list[tuple[Any, ...]], schema: Schema = SCHEMA, names: tuple[str, ...] = NAMES) -> History:
    return History.of(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), schema)


def codes(released: History, customers: str, items: list[str]) -> tuple[Any, Any]:
    who = [customers.find(c) if c is not None else -1 for c in released.frame[released.schema.role("customer").name]]
    what = [items.index(i) if i is not None else -1 for i in released.frame[released.schema.role("item").name]]
    return np.array(who), np.array(what)


ROWS = [
    ("a", "1", "2011/1/5", "9:00", "tea", "TEA", 2.0, 6, "France"),
    ("a", "2", "2011/6/5", "9:00", "jam", "JAM", 5.0, 1, "France"),
    ("b", "3", "2011/1/4", "8:00", "jam", "JAM", 5.5, 2, "Japan"),
    ("b", "4", "2011/6/1", "8:00", "jam", "JAM", 5.0, 2, "Japan"),
]


def test_the_item_gives_price_quantity_and_name_and_the_visit_the_rest() -> None:
    released = history(ROWS)
    who, what = codes(released, "ab", ["tea", "jam"])
    added = believable_rows(released, who, what, np.array([1]), np.array([0]), seed=1)
    # the one tea was bought on January 5th; of b's invoices that of January 4th is nearest
    assert History(added, SCHEMA).lines().to_list() == ["b,3,2011/1/4,8:00,tea,TEA,2,6,Japan"]
    assert added.schema == released.frame.schema


def test_prices_come_with_their_quantities_and_in_their_proportions() -> None:
    rows = [("a", "1", "2011/1/5", "9:00", "tea", "TEA", 2.0, 6, "France")] * 30
    rows += [("a", "1", "2011/1/5", "9:00", "tea", "TEA", 1.5, 60, "France")] * 10
    rows += [("b", "2", "2011/1/5", "9:00", "jam", "JAM", 9.0, 1, "France")]
    released = history(rows)
    who, what = codes(released, "ab", ["tea", "jam"])
    count = 4000
    added = believable_rows(released, who, what, np.full(count, 1), np.full(count, 0), seed=5)
    found = added.group_by("price", "quantity").len().sort("price")
    assert found.select("price", "quantity").rows() == [(1.5, 60), (2.0, 6)]
    assert found["len"][0] == pytest.approx(1000, abs=4 * (count * 0.25 * 0.75) ** 0.5)


def test_a_column_follows_what_it_depends_on() -> None:
    about = {
        "customer": {"role": "customer"},
        "date": {"role": "date"},
        "item": {"role": "item"},
        "shelf": {"role": "other"},
        "shop": {"role": "other"},
        "weight": {"role": "other", "type": "decimal"},
    }
    schema = Schema.model_validate({"columns": about})
    rows = [
        ("a", "2011-01-01", "tea", "drinks", "Kobe", 0.5),
        ("a", "2011-01-01", "jam", "sweets", "Kobe", 0.25),
        ("b", "2011-02-01", "jam", "sweets", "Nara", 0.25),
        ("b", "2011-02-01", "rice", "staples", "Nara", 5.0),
    ]
    released = history(rows, schema, tuple(about))
    who, what = codes(released, "ab", ["tea", "jam", "rice"])
    added = believable_rows(released, who, what, np.array([0, 1]), np.array([2, 0]), seed=1)
    assert added.select("customer", "item", "shelf", "shop", "weight").rows() == [
        ("a", "rice", "staples", "Kobe", 5.0),
        ("b", "tea", "drinks", "Nara", 0.5),
    ]


def test_rows_of_nobody_are_never_copied_nor_missing_dates_a_hindrance() -> None:
    columns = [c.model_copy(update={"optional": True}) for c in Schema.preset("online-retail").columns]
    schema = Schema(columns=tuple(columns))
    names = ("InvoiceNo", "StockCode", "Description", "Quantity", "InvoiceDate", "UnitPrice", "CustomerID", "Country")
    rows = [
        ("1", "tea", "TEA", 1, "2010-12-01 08:26:00", 2.0, "a", "UK"),
        ("2", "tea", "stolen?", 99, "2010-12-01 08:26:00", 0.0, None, "UK"),
        ("3", "jam", None, 3, None, 5.0, "b", "UK"),
        ("4", None, None, 3, "2010-12-09 08:26:00", 5.0, "b", "UK"),
    ]
    released = history(rows, schema, names)
    who, what = codes(released, "ab", ["tea", "jam"])
    for seed in range(20):
        added = believable_rows(released, who, what, np.array([1, 0]), np.array([0, 1]), seed=seed)
        assert added["Description"].to_list() == ["TEA", None]
        assert added["UnitPrice"].to_list() == [2.0, 5.0]
        assert added["InvoiceNo"].to_list() == ["4", "1"]


def test_a_date_that_is_a_name_is_no_moment() -> None:
    about = {"who": {"role": "customer"}, "day": {"role": "date", "type": "text"}, "what": {"role": "item"}}
    schema = Schema.model_validate({"columns": about})
    released = history([("a", "Mon", "x"), ("b", "Tue", "y"), ("b", "Wed", "y")], schema, tuple(about))
    who, what = codes(released, "ab", ["x", "y"])
    days = {believable_rows(released, who, what, np.array([1]), np.array([0]), seed=seed).row(0) for seed in range(20)}
    assert days == {("b", "Tue", "x"), ("b", "Wed", "x")}


def test_nothing_is_missing() -> None:
    released = history(ROWS)
    who, what = codes(released, "ab", ["tea", "jam"])
    nothing = np.zeros(0, dtype=np.int64)
    added = believable_rows(released, who, what, nothing, nothing, seed=1)
    assert len(added) == 0
    assert isinstance(added.schema["price"], pl.Float64)
