"""Differences of statistics by hand."""

import pytest

from noren.data.frames import History
from noren.data.schema import Schema
from noren.measures.utility.purchases import purchases
from noren.measures.utility.statistics import Statistics

ROWS = {
    "customer": ["1", "1", "2", "2"], "date": ["2010/1/1", "2010/1/3", "2010/1/3", "2010/1/5"],
    "item": ["a", "b", "b", "c"], "price": [1.0, 2.0, 3.0, 2.0], "quantity": [2, 4, 4, 10],
}  # fmt: skip


def test_by_hand() -> None:
    one = purchases(History.of(ROWS, Schema.preset("pwscup2018")))
    moved = ROWS | {"quantity": [2, 4, 4, 2], "item": ["a", "c", "a", "c"]}
    other = purchases(History.of(moved, Schema.preset("pwscup2018")), one.items)
    error = Statistics(top=1).against(one)(other)
    # quantities 2 4 4 10 have mean 5, variance 9; 2 4 4 2 have mean 3, variance 1
    quantity = {"sum": 8, "mean": 2, "variance": 8, "sd": 2, "max": 6, "min": 0, "median": 1}
    assert {s: error[f"quantity.{s}"] for s in quantity} == quantity
    assert all(error[f"{c}.{s}"] == 0 for c in ("date", "price") for s in quantity)
    # b had two buyers and has none; c is on top, being the later of a and c with two each
    assert (error["items"], error["rows"]) == (1, 0)
    assert Statistics(top=1).value_of(error) == 1


def test_units() -> None:
    one = purchases(History.of(ROWS, Schema.preset("pwscup2018")))
    assert one.day.tolist() == [0, 2, 2, 4], "days from 2010/1/1"
    assert one.price.tolist() == pytest.approx([100, 200, 300, 200]), "pence"
