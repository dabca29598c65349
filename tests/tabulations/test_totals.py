"""Totals of a shop: what they count, which tables there are without some columns, and what is suppressed."""

from datetime import date

import polars as pl
import pytest

import noren
from noren.data.categories import Categories
from noren.errors import ParameterError
from noren.tabulations.totals import OTHER, history_of, protected_totals, shop_tables, totals

ROLES = {"customer": "customer", "date": "date", "item": "item", "price": "price", "quantity": "quantity"}


def shop(customers, **columns):
    """Everybody buys an apple in January and a pear in May."""
    rows = [
        {"customer": f"c{who}", "date": day, "item": item, "price": 2.5, "quantity": 2} | columns
        for who in range(customers)
        for day, item in ((date(2011, 1, 31), "apple"), (date(2011, 5, 1), "pear"))
    ]
    frame = pl.DataFrame(rows)
    return noren.read(frame, noren.Schema.of({name: ROLES.get(name, "other") for name in frame.columns}))


def by_name(tables):
    return {table.name: table for table in tables}


def test_cells_and_margins_of_a_small_shop():
    fruit = Categories({"apple": "fruit", "pear": "fruit"})
    tables = by_name(totals(shop(6), tables=["month-category", "item-quarter", "rfm"], categories=fruit))
    assert tables["month-category"].frame.rows() == [
        ("2011-01", "fruit", 6, 12, 30.0),
        ("2011-01", "*", 6, 12, 30.0),
        ("2011-05", "fruit", 6, 12, 30.0),
        ("2011-05", "*", 6, 12, 30.0),
        ("*", "fruit", 12, 24, 60.0),
        ("*", "*", 12, 24, 60.0),
    ]
    assert tables["item-quarter"].frame.filter(item="pear").rows() == [
        ("pear", "2011-Q1", 0), ("pear", "2011-Q2", 6), ("pear", "*", 6),
    ]  # fmt: skip
    # 30 days to the end of May, two days with purchases, 10 of money
    assert tables["rfm"].frame.rows() == [("≤30", "2", "≤10", 6), ("*", "*", "*", 6)]
    assert tables["rfm"].notes == {"kind": "exact", "k": 5, "p": 10.0}


def test_beside_categories_items_are_counted_only_if_named():
    fruit = Categories({"apple": "fruit", "pear": "fruit"})
    for history, categories in ((shop(6), fruit), (shop(6, category="fruit"), None)):
        assert list(by_name(totals(history, categories=categories))) == ["month-category", "rfm"]
    assert list(by_name(totals(shop(6), tables=["item-quarter"], categories=fruit))) == ["item-quarter"]
    assert list(by_name(totals(shop(6)))) == ["month", "item-quarter", "rfm"]


def test_months_beside_months_by_category_are_its_margin():
    (table,) = totals(shop(6, category="fruit"), tables=["month", "month-category"])
    assert table.keys == ("month", "category")
    (table,) = totals(shop(6, category="fruit"), tables=["month"])
    assert table.keys == ("month",)


@pytest.mark.parametrize(
    ("missing", "names"),
    [
        (("price",), ["item-quarter", "month", "rfm"]),
        (("item",), ["month", "rfm"]),
        (("quantity", "price"), ["item-quarter", "month", "rfm"]),
    ],
)
def test_tables_without_some_columns(missing, names):
    history = shop(6).without(missing)
    tables = by_name(totals(history))
    assert sorted(tables) == names
    values = [v for v, column in (("rows", "date"), ("quantity", "quantity"), ("revenue", "price"))
              if column not in missing]  # fmt: skip
    assert list(tables["month"].values) == values


def test_without_dates_there_is_no_table():
    with pytest.raises(ParameterError, match="purchases with a date"):
        totals(shop(6).without(["date"]))
    with pytest.raises(ParameterError, match="use month, month-category"):
        totals(shop(6), tables=["sales"])


@pytest.mark.parametrize("customers", [1, 2, 4, 5])
def test_a_shop_of_few_customers(customers):
    for table in totals(shop(customers)):
        counted = table.frame[table.values[0]].drop_nulls()
        assert (counted.filter(counted > 0).len() > 0) == (customers >= 5)


def test_who_buys_most_of_a_month_hides_it():
    history = shop(9)
    big = pl.DataFrame(
        {"customer": ["big"], "date": [date(2011, 1, 5)], "item": ["apple"], "price": [2.5], "quantity": [10**6]}
    )
    with_big = noren.History(pl.concat([history.frame, big.cast(history.frame.schema)]), history.schema)
    (month,) = totals(with_big, tables=["month"])
    # January, and the total, which is about one customer as well
    assert month.frame.select(month.values).null_count().row(0) == (2, 2, 2)
    (counts,) = totals(with_big.without(["price", "quantity"]), tables=["month"])
    assert counts.frame["rows"].to_list() == [10, 9, 19]


def test_rare_items_are_one_row_and_nobody_stays_unknown():
    history = shop(9)
    rare = history.frame.head(4).with_columns(
        item=pl.Series(["kiwi", "kiwi", "fig", None]), customer=pl.Series(["c0", "c1", "c2", None])
    )
    both = noren.History(pl.concat([history.frame, rare]), history.schema)
    (table,) = totals(both, k=3, tables=["item-quarter"])
    assert table.frame["item"].unique().sort().to_list() == [OTHER, "*", "apple", "pear"]
    assert table.frame.row(-1) == ("*", "*", 21)


def test_months_hide_what_their_quarter_would_tell():
    frame = pl.DataFrame(
        [(f"c{who}", date(2011, month, 1), "apple", 1.0, 1)
         for month, people in ((1, 2), (2, 9), (3, 8), (4, 9), (5, 7)) for who in range(people)],
        schema=["customer", "date", "item", "price", "quantity"], orient="row",
    )  # fmt: skip
    tables = by_name(totals(noren.read(frame, noren.Schema.of(ROLES)), k=5, p=0))
    assert tables["item-quarter"].frame["rows"].null_count() == 0
    hidden = tables["month"].frame.filter(pl.col("rows").is_null())["month"].to_list()
    assert hidden == ["2011-01", "2011-03"]


def test_returns_and_ties_of_a_generated_shop_add_up():
    history = noren.sample(customers=200, rows=6000, items=30, seed=2)
    for table, reasons in protected_totals(history, k=2, p=0):
        inner = table.frame.filter(pl.all_horizontal(pl.col(table.keys) != "*"))
        if not reasons.any():
            assert inner[table.values[0]].sum() == table.frame[table.values[0]][-1]
        assert table.frame[table.values[0]][-1] == (200 if table.name == "rfm" else 6000)


def test_tables_of_people_and_generalised_rows_are_refused():
    with pytest.raises(ParameterError, match="dp-counts"):
        totals({"age": [31, 44], "city": ["Kyoto", "Nara"]})
    history = history_of(shop(6))
    cells = history.frame.with_columns(quantity=pl.struct(lo=pl.col("quantity"), hi=pl.col("quantity")))
    with pytest.raises(ParameterError, match="already generalised"):
        totals(noren.History(cells, history.schema))


def test_a_column_of_categories_is_used():
    names = [table.name for table in shop_tables(shop(6, category="fruit"))]
    assert names == ["month-category", "item-quarter", "rfm"]
