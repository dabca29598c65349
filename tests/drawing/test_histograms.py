"""Bars come from the original; released cells spread over them row by row, none counted twice or lost."""

import datetime as dt

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.data.cells import set_dtype
from noren.data.frames import History, Table
from noren.data.schema import Column, Schema
from noren.drawing.histograms import MOST_BARS, BarCounts, axis_of, charted_columns, net_shift, shares, spread

QUANTITY = Column(name="quantity", role="quantity")
PRICE = Column(name="price", role="price")
DATE = Column(name="date", role="date")
ITEM = Column(name="item", role="item")


def axis(values: list[object], column: Column):
    made = axis_of(pl.Series("x", values, dtype=column.dtype), column)
    assert made is not None
    return made


def test_a_year_has_a_bar_for_each_month() -> None:
    months = axis([dt.date(2010, 12, 1), dt.date(2011, 11, 30)], DATE)
    assert months.labels == ("2010-12", *(f"2011-{m:02}" for m in range(1, 12)))
    assert months.title == "date, per month"
    counted = spread(pl.Series([dt.date(2010, 12, 31), dt.date(2011, 1, 1)]), months, rows=2)
    assert counted.weights.tolist() == [1, 1] + [0] * 10


@pytest.mark.parametrize(
    ("first", "last", "labels", "title"),
    [
        ("2011-03-30", "2011-04-02", ("03-30", "03-31", "04-01", "04-02"), "date, per day"),
        ("2011-01-01", "2015-12-31", ("2011-01", "2011-03"), "date, per 2 months"),
        ("1990-01-01", "2019-12-31", ("1990", "1991"), "date, per year"),
        ("1900-01-01", "2019-12-31", ("1900", "1905"), "date, per 5 years"),
    ],
)
def test_longer_times_have_wider_bars(first: str, last: str, labels: tuple[str, ...], title: str) -> None:
    made = axis([dt.date.fromisoformat(first), dt.date.fromisoformat(last)], DATE)
    assert made.labels[: len(labels)] == labels
    assert made.title == title
    assert len(made.cuts) + 1 == len(made.labels) <= MOST_BARS


def test_a_datetime_counts_for_its_day() -> None:
    column = Column(name="when", role="date", type="datetime")
    made = axis([dt.datetime(2011, 1, 31, 23, 59), dt.datetime(2011, 6, 1)], column)
    cells = pl.Series([{"lo": dt.datetime(2011, 1, 31, 1), "hi": dt.datetime(2011, 2, 1, 2)}])
    assert spread(cells, made, rows=1).weights.tolist() == [0.5, 0.5, 0, 0, 0, 0]


def test_a_long_tail_is_one_open_bar() -> None:
    made = axis([*range(1, 100), 80_000], QUANTITY)
    assert made.labels[:2] == ("0", "5")
    assert made.labels[-1] == "≥100"
    counted = spread(pl.Series([1, 99, 100, 80_000]), made, rows=4)
    assert (counted.weights[0], counted.weights[-2], counted.weights[-1]) == (1, 1, 2)


def test_returns_below_zero_have_an_open_bar_too() -> None:
    made = axis([-50_000, *range(1, 401)], QUANTITY)
    assert made.labels[0] == "<0"
    assert spread(pl.Series([-50_000, -1, 0, 5]), made, rows=4).weights[:2].tolist() == [2, 2]


def test_prices_are_cut_on_their_grid() -> None:
    made = axis([0.1, 0.2, 0.3], PRICE)
    assert made.labels[:3] == ("0.1", "0.11", "0.12")
    assert spread(pl.Series([0.1, 0.2, 0.3]), made, rows=3).weights.nonzero()[0].tolist() == [0, 10, 20]
    assert made.title == "price, bars of 0.01"


def test_an_interval_spreads_over_its_grid_points() -> None:
    made = axis([1, 2, 3, 4], QUANTITY)
    cells = pl.Series([{"lo": 1, "hi": 4}, {"lo": 2, "hi": 3}, {"lo": 4, "hi": 4}, None])
    counted = spread(cells, made, rows=5)
    assert counted.weights.tolist() == [0.25, 0.75, 0.75, 1.25]
    assert (counted.elsewhere, counted.unsaid) == (0.0, 2.0)


def test_values_beyond_the_original_fall_into_the_outer_bars() -> None:
    made = axis([5, 6, 7], QUANTITY)
    assert spread(pl.Series([1, 6, 900]), made, rows=3).weights.tolist() == [1, 1, 1]


def test_a_set_spreads_over_its_values() -> None:
    made = axis(["a", "a", "b", "c"], ITEM)
    assert made.labels == ("a", "b", "c")
    cells = pl.Series([["a", "b"], ["c"], ["z"], [], None], dtype=set_dtype(["a", "b", "c", "z"]))
    counted = spread(cells, made, rows=5)
    assert (counted.weights.tolist(), counted.elsewhere, counted.unsaid) == ([0.5, 0.5, 1.0], 1.0, 2.0)


def test_ten_items_are_drawn_and_all_are_counted() -> None:
    made = axis([f"i{i:02}" for i in range(25) for _ in range(30 - i)], ITEM)
    assert (made.displayed, len(made.labels), made.labels[0]) == (10, 25, "i00")


def test_a_column_that_says_nothing_has_no_bars() -> None:
    assert axis_of(pl.Series([None], dtype=pl.Int64), QUANTITY) is None
    assert axis_of(pl.Series([float("nan")]), PRICE) is None
    assert axis_of(pl.Series([None], dtype=pl.String), ITEM) is None


def test_a_column_of_one_value_is_one_bar() -> None:
    assert axis([3, 3], QUANTITY).labels == ("3",)
    assert spread(pl.Series([3, 9, None]), axis([3, 3], QUANTITY), rows=3).weights.tolist() == [2]


def test_net_shift_is_what_bars_gained() -> None:
    before = BarCounts(np.array([2.0, 2.0]), 0.0, 0.0)
    assert net_shift(before, BarCounts(np.array([1.0, 3.0]), 0.0, 0.0), 4) == 0.25
    assert net_shift(before, BarCounts(np.array([1.0, 2.0]), 0.0, 1.0), 4) == 0.0
    assert net_shift(before, BarCounts(np.array([1.0, 2.0]), 1.0, 0.0), 4) == 0.25


def test_the_example_of_the_documentation() -> None:
    made = axis([1, 2, 3, 4], QUANTITY)
    both = {"lo": 1, "hi": 2}
    before = spread(pl.Series([1, 2, 3, 4]), made, rows=4)
    after = spread(pl.Series([both, both, None, {"lo": 4, "hi": 4}]), made, rows=4)
    assert after.weights.tolist() == [1, 1, 0, 1]
    assert (net_shift(before, after, 4), after.unsaid / 4) == (0.0, 0.25)


def test_histories_chart_what_a_release_generalises(history: History) -> None:
    assert [c.name for c in charted_columns(history)] == ["date", "item", "price", "quantity"]


def test_tables_chart_what_links() -> None:
    columns = {f"q{i}": {"role": "quasi"} for i in range(12)} | {"income": {"role": "sensitive"}}
    people = Table.of({name: ["x"] for name in columns}, Schema.of({"kind": "table", "columns": columns}))
    assert [c.name for c in charted_columns(people)] == [f"q{i}" for i in range(8)]


ends = st.tuples(st.integers(-60, 160), st.integers(0, 90)).map(lambda e: (e[0], e[0] + e[1]))


@given(st.lists(st.integers(-50, 150), min_size=1, max_size=40), st.lists(st.none() | ends, max_size=12))
def test_numbers_agree_with_counting_point_by_point(original: list[int], cells: list[tuple[int, int] | None]) -> None:
    made = axis(list(original), QUANTITY)
    assert 1 <= len(made.labels) == len(made.cuts) + 1 <= MOST_BARS
    assert len(set(made.labels)) == len(made.labels)
    expected = np.zeros(len(made.labels))
    for cell in cells:
        if cell is not None:
            points = np.arange(cell[0], cell[1] + 1)
            np.add.at(expected, np.searchsorted(made.cuts, points, side="right"), 1 / len(points))
    series = pl.Series(
        [None if c is None else {"lo": c[0], "hi": c[1]} for c in cells],
        dtype=pl.Struct({"lo": pl.Int64, "hi": pl.Int64}),
    )
    counted = spread(series, made, rows=len(cells))
    np.testing.assert_allclose(counted.weights, expected, atol=1e-9)
    assert counted.unsaid == pytest.approx(cells.count(None))


@given(st.lists(st.integers(1, 5000), min_size=1, max_size=30), st.integers(0, 3000), st.integers(0, 3000))
def test_prices_agree_with_counting_point_by_point(original: list[int], low: int, more: int) -> None:
    made = axis([cents / 100 for cents in original], PRICE)
    cuts = np.round(made.cuts * 100).astype(int)
    np.testing.assert_allclose(made.cuts * 100, cuts, atol=1e-6)
    points = np.arange(low, low + more + 1)
    expected = np.zeros(len(made.labels))
    np.add.at(expected, np.searchsorted(cuts, points, side="right"), 1 / len(points))
    cells = pl.Series([{"lo": low / 100, "hi": (low + more) / 100}])
    np.testing.assert_allclose(spread(cells, made, rows=1).weights, expected, atol=1e-9)


def test_clock_times_have_a_bar_for_each_hour() -> None:
    column = Column(name="time", role="time")
    made = axis([dt.time(8, 30), dt.time(8, 59, 59), dt.time(10, 0)], column)
    assert (made.labels, made.title) == (("8:00", "9:00", "10:00"), "time, per hour")
    counted = spread(pl.Series([dt.time(8, 30), dt.time(8, 59, 59), dt.time(10, 0)]), made, rows=3)
    assert counted.weights.tolist() == [2, 0, 1]


@pytest.mark.parametrize("most", [12, 20, 40])
def test_fewer_bars_on_demand(most: int) -> None:
    for values, column in (
        ([*range(1000), -9, 90_000], QUANTITY),
        ([dt.date(1990 + i, 1, 1) for i in range(30)], DATE),
    ):
        made = axis_of(pl.Series("x", values, dtype=column.dtype), column, most)
        assert made is not None
        assert most / 4 <= len(made.labels) <= most


@given(st.lists(st.none() | ends, min_size=1, max_size=12))
def test_shares_of_cells_add_up_to_the_spread(cells: list[tuple[int, int] | None]) -> None:
    made = axis(list(range(1, 60)), QUANTITY)
    dtype = pl.Struct({"lo": pl.Int64, "hi": pl.Int64})
    series = pl.Series([None if c is None else {"lo": c[0], "hi": c[1]} for c in cells], dtype=dtype)
    number, of_bars = shares(series, made)
    assert [n < 0 for n in number] == [c is None for c in cells]
    total = of_bars[number[number >= 0]].sum(axis=0)
    np.testing.assert_allclose(total, spread(series, made, rows=len(cells)).weights, atol=1e-9)


def test_whole_numbers_have_bars_of_whole_width() -> None:
    whole = axis([float(n) for n in range(60)], Column(name="hours", role="other", type="decimal"))
    assert (whole.width, whole.labels[:3]) == (2.0, ("0", "2", "4"))
    assert spread(pl.Series([float(n) for n in range(60)]), whole, rows=60).weights.tolist() == [2.0] * 30


def test_rounded_values_leave_no_bar_empty() -> None:
    wages = [1000 * n for n in range(1, 101)]
    made = axis([*wages], QUANTITY)
    assert made.width % 1000 == 0
    assert min(spread(pl.Series(wages), made, rows=100).weights) > 0


def test_a_short_tail_is_drawn_as_it_is() -> None:
    ages = [*range(17, 66)] * 3 + list(range(66, 91))
    made = axis(ages, QUANTITY)
    assert made.width == 5
    assert [label for label in made.labels if label[0] in "<≥"] == []
    counted = spread(pl.Series(ages), made, rows=len(ages)).weights
    assert counted[-1] <= counted[0]  # where all beyond the tail were one bar, it would be the longest
