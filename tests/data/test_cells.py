"""Generalised cells as typed columns."""

from __future__ import annotations

import datetime as dt

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from noren.data.cells import contains, generalised_dtype, is_generalised, is_interval, is_set, kind, lift, set_dtype
from noren.data.schema import Column

PRICE, ITEM, DATE = Column(name="x", role="price"), Column(name="x", role="item"), Column(name="x", role="date")
RANGES = pl.Series("x", [{"lo": 1.0, "hi": 2.0}, {"lo": 3.0, "hi": 3.0}, None])
SETS = pl.Series("x", [["a", "b"], ["b"], None], dtype=set_dtype(["a", "b", "c"]))
EXACT = pl.Series("x", ["a", None])


def test_the_type_tells_what_a_column_holds() -> None:
    assert [is_interval(s.dtype) for s in (RANGES, SETS, EXACT)] == [True, False, False]
    assert [is_set(s.dtype) for s in (RANGES, SETS, EXACT)] == [False, True, False]
    assert [is_generalised(s.dtype) for s in (RANGES, SETS, EXACT)] == [True, True, False]
    assert not is_interval(pl.Struct({"hi": pl.Int64, "lo": pl.Int64}))
    assert generalised_dtype(PRICE) == pl.Struct({"lo": pl.Float64, "hi": pl.Float64})
    assert generalised_dtype(DATE) == pl.Struct({"lo": pl.Date, "hi": pl.Date})
    assert generalised_dtype(ITEM) == pl.List(pl.Enum([]))


def test_the_kind_of_each_cell() -> None:
    assert kind(RANGES).to_list() == ["interval", "exact", "suppressed"]
    assert kind(SETS).to_list() == ["set", "exact", "suppressed"]
    assert kind(EXACT).to_list() == ["exact", "suppressed"]


def test_lifting_says_the_same() -> None:
    assert lift(pl.Series("x", [1.5, None]), PRICE).to_list() == [{"lo": 1.5, "hi": 1.5}, None]
    day = dt.date(2010, 12, 1)
    assert lift(pl.Series("x", [day]), DATE).to_list() == [{"lo": day, "hi": day}]
    lifted = lift(pl.Series("x", ["b", None, "a"]), ITEM)
    assert lifted.to_list() == [["b"], None, ["a"]]
    assert lifted.dtype == set_dtype(["a", "b"])
    assert lift(RANGES, PRICE) is RANGES
    assert lift(SETS, ITEM) is SETS


def test_what_a_cell_allows() -> None:
    assert contains(RANGES, pl.Series([1.5, 2.0, 9.0])).to_list() == [True, False, True]
    assert contains(RANGES, pl.Series([2.0, None, None])).to_list() == [True, False, True]
    assert contains(SETS, pl.Series(["a", "a", "z"])).to_list() == [True, False, True]
    assert contains(EXACT, pl.Series(["b", "b"])).to_list() == [False, True]


@given(st.lists(st.none() | st.integers(-5, 5), min_size=1), st.integers(-5, 5))
def test_a_lifted_cell_allows_its_value_alone(given_: list[int | None], other: int) -> None:
    column = Column(name="x", role="quantity")
    cells = lift(pl.Series("x", given_, dtype=pl.Int64), column)
    tried = pl.Series([other] * len(given_))
    assert contains(cells, tried).to_list() == [value is None or value == other for value in given_]
    assert (kind(cells) == "suppressed").to_list() == [value is None for value in given_]
