"""Columns as arrays: numbers, people, exact values."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

from noren.data.arrays import exact_values, numbers, people
from noren.data.frames import History
from noren.data.schema import Schema
from noren.errors import SchemaError


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pl.Series([dt.date(1970, 1, 3), None]), [2.0, np.nan]),
        (pl.Series([dt.datetime(1970, 1, 1, 6), None]), [0.25, np.nan]),
        (pl.Series([dt.datetime(1970, 1, 1, 6)]).cast(pl.Datetime("ms")), [0.25]),
        (pl.Series([dt.time(1, 30)]), [90.0]),
        (pl.Series([3, None]), [3.0, np.nan]),
        (pl.Series([2.5]), [2.5]),
        (pl.Series([None], dtype=pl.Float64), [np.nan]),
    ],
)
def test_ordered_values_as_numbers(values: pl.Series, expected: list[float]) -> None:
    np.testing.assert_array_equal(numbers(values), expected)


def test_people_are_coded_by_first_appearance() -> None:
    codes, customers = people(pl.Series(["z", None, "a", "z", "m"]))
    assert codes.tolist() == [0, -1, 1, 0, 2]
    assert customers.to_list() == ["z", "a", "m"]


def test_an_original_holds_exact_values() -> None:
    schema = Schema.of({"columns": {"who": {"role": "customer"}, "when": {"role": "date"}, "what": {"role": "item"}}})
    sets = pl.Series("what", [["x", "y"]], dtype=pl.List(pl.Enum(["x", "y"])))
    history = History(pl.DataFrame({"who": ["a"], "when": [dt.date(2011, 1, 1)], "what": sets}), schema)
    assert exact_values(history, schema["when"]).to_list() == [dt.date(2011, 1, 1)]
    with pytest.raises(SchemaError, match="column what: the original is already generalised"):
        exact_values(history, schema["what"])
