"""How exactly columns are known: values worked by hand, and cells that hold what they held."""

import datetime as dt

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.data.categories import Categories
from noren.data.schema import Column, Schema
from noren.errors import ParameterError, SchemaError
from noren.inference.coarseness import KnownColumn, coarse_cells, coarse_values, known_columns

RETAIL = Schema.preset("online-retail")
CONTEST = Schema.preset("pwscup2018")
NUMBERS = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 2))


def known(word: str, **about: object) -> KnownColumn:
    return KnownColumn(Column(name="x", **about), word)


def words_of(schema: Schema, *given: object, **words: str) -> dict[str, str]:
    columns = [str(name) for name in given] or None
    return {one.name: one.precision for one in known_columns(schema, columns, words)}


def test_date_and_item_are_known_if_nothing_is_said() -> None:
    assert words_of(CONTEST) == {"date": "exact", "item": "exact"}
    assert words_of(RETAIL) == {"InvoiceDate": "day", "StockCode": "exact"}
    paid = Schema.of({"columns": {"who": {"role": "customer"}, "price": {"role": "price"}, "day": {"role": "date"}}})
    assert words_of(paid) == {"day": "exact", "price": "exact"}


def test_what_is_named_is_known_and_what_is_unknown_is_not() -> None:
    assert words_of(RETAIL, "Country", "item") == {"Country": "exact", "StockCode": "exact"}
    assert words_of(CONTEST, date="week", quantity="round:5") == {
        "date": "week", "item": "exact", "quantity": "round:5",
    }  # fmt: skip
    assert words_of(CONTEST, item="unknown") == {"date": "exact", "price": "exact"}
    assert words_of(CONTEST, "date", "item", item="unknown") == {"date": "exact"}


@pytest.mark.parametrize(
    ("columns", "words", "said"),
    [
        (["datum"], {}, "no column 'datum'"),
        (None, {"time": "hour"}, "no column has the role time"),
        (["customer"], {}, "customer identifies the customer; name columns of purchases"),
        (["date"], {"date": "unknown"}, "no column is known"),
        (None, {"date": "fortnight"}, "use one of exact, day, week"),
        (None, {"price": "round:0"}, "'round:0' is not a precision of price"),
        (None, {"price": "round:x"}, "'round:x' is not a precision of price"),
        (None, {"item": "prefix:0"}, "'prefix:0' is not a precision of item"),
        (None, {"price": "category"}, "'category' is not a precision of price"),
    ],
)
def test_what_cannot_be_known_is_said(columns: list[str] | None, words: dict[str, str], said: str) -> None:
    with pytest.raises((ParameterError, SchemaError), match=said):
        known_columns(CONTEST, columns, words)


@pytest.mark.parametrize(
    ("word", "about", "value", "coarse"),
    [
        ("week", {"role": "date"}, dt.date(2011, 1, 2), dt.date(2010, 12, 27)),
        ("month", {"role": "date"}, dt.date(2011, 1, 31), dt.date(2011, 1, 1)),
        ("quarter", {"role": "date"}, dt.date(2011, 5, 31), dt.date(2011, 4, 1)),
        ("day", {"role": "date", "type": "datetime"}, dt.datetime(2011, 1, 2, 13, 5), dt.datetime(2011, 1, 2)),
        ("hour", {"role": "time"}, dt.time(13, 59), dt.time(13)),
        ("prefix:2", {"role": "item"}, "85123A", "85"),
        ("round:10", {"role": "price"}, 14.9, 10.0),
        ("round:0.5", {"role": "price"}, -1.3, -1.5),
        ("round:10", {"role": "quantity"}, 17, 20.0),
        ("digits:2", {"role": "price"}, 1299.0, 1200.0),
        ("digits:2", {"role": "price"}, 0.0295, 0.029),
        ("digits:1", {"role": "price"}, 1000.0, 1000.0),
    ],
)
def test_a_value_as_far_as_it_is_known(word: str, about: dict[str, str], value: object, coarse: object) -> None:
    one = known(word, **about)
    assert coarse_values(pl.Series([value, None]), one).to_list() == [coarse, None]


def test_categories_of_values_and_of_sets() -> None:
    shelf = Categories({"cup": "kitchen", "pan": "kitchen", "lamp": "light"})
    one = known("category", role="item")
    assert coarse_values(pl.Series(["cup", "lamp", None]), one, shelf).to_list() == ["kitchen", "light", None]
    with pytest.raises(ParameterError, match="no category"):
        coarse_values(pl.Series(["spoon"]), one, shelf)
    cells = pl.Series([["cup", "pan"], ["cup", "lamp", "spoon"], None])
    assert [s if s is None else sorted(s) for s in coarse_cells(cells, one, shelf)] == [
        ["kitchen"], ["kitchen", "light", "unknown"], None,
    ]  # fmt: skip


@given(
    st.tuples(NUMBERS, NUMBERS, NUMBERS).map(sorted),
    st.sampled_from(["round:10", "round:0.05", "digits:1", "digits:3"]),
)
def test_an_interval_still_holds_what_it_held(numbers: list[float], word: str) -> None:
    lo, value, hi = numbers
    one = known(word, role="price")
    cell = coarse_cells(pl.Series([{"lo": lo, "hi": hi}]), one)[0]
    assert cell["lo"] <= coarse_values(pl.Series([value]), one)[0] <= cell["hi"]


def test_a_suppressed_interval_stays_suppressed() -> None:
    cells = pl.Series([{"lo": 14.0, "hi": 16.0}, None])
    assert coarse_cells(cells, known("round:10", role="price")).to_list() == [{"lo": 10.0, "hi": 20.0}, None]
