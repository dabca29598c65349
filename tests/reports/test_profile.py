"""A profile says what a person would count by hand, and cannot be hurt by what cells hold."""

import datetime as dt
import json

import polars as pl
import pytest

from noren import api
from noren.data.frames import History, Table
from noren.data.samples.shape import shape
from noren.data.schema import Schema
from noren.reports.profile import profile

FOUR = History.of(
    {
        "customer": ["ann", "ann", "bob", "ann"],
        "date": ["2010/12/1", "2010/12/2", "2011/2/3", "2011/1/3"],
        "item": ["a", "b", "c", "b"],
        "price": [9.0, 2.5, 1.0, 7.0],
        "quantity": [1, 1, 5, 1],
    },
    Schema.preset("pwscup2018"),
)


def test_four_rows_by_hand() -> None:
    found = profile(FOUR)
    assert (found["rows"], found["kind"], found["schema"]) == (4, "history", "pwscup2018")
    date = found["columns"][1]
    assert date | {"bars": None} == {
        "name": "date",
        "role": "date",
        "type": "date",
        "scale": "interval",
        "optional": False,
        "domain": None,
        "missing": 0,
        "distinct": 4,
        "minimum": "2010/12/1",
        "maximum": "2011/2/3",
        "examples": ["2010/12/1", "2010/12/2", "2011/2/3", "2011/1/3"],
        "bars": None,
    }
    assert date["bars"] == {
        "column": "date",
        "nominal": False,
        "unit": "month",
        "width": 1.0,
        "labels": ["2010-12", "2011-01", "2011-02"],
        "others": False,
        "values": 3,
        "weights": [2.0, 1.0, 1.0],
        "unsaid": 0.0,
    }
    item = found["columns"][2]
    assert (item["distinct"], item["minimum"], item["bars"]["labels"]) == (3, None, ["b", "a", "c"])
    assert item["bars"]["weights"] == [2.0, 1.0, 1.0]
    price = found["columns"][3]
    assert (price["minimum"], price["maximum"], price["bars"]["unit"]) == ("1", "9", "number")


def test_customers_by_hand() -> None:
    found = profile(FOUR)["history"]
    assert (found["customers"], found["items"], found["first"], found["last"]) == (2, 3, "2010/12/1", "2011/2/3")
    assert (found["rows_per_customer"]["from"], found["rows_per_customer"]["counts"]) == ([1, 2, 3], [1, 0, 1])
    assert (found["months_active"]["from"], found["months_active"]["counts"]) == ([1, 2], [1, 1])
    # {a, b} and {c}: nothing in common
    assert found["shape"] == {"n": 2, "m": 4, "b": 1.5, "mu": 0.0, "h": 0.0, "mu_is_exact": True, "mu_error": 0.0}


def test_every_bar_adds_up_to_the_rows() -> None:
    history = api.sample(customers=50, rows=2_000, items=90, seed=2)
    found = profile(history)
    for column in found["columns"]:
        assert len(column["bars"]["labels"]) == len(column["bars"]["weights"]) <= 40
        assert sum(column["bars"]["weights"]) + column["bars"]["unsaid"] == pytest.approx(2_000)
        assert column["missing"] == history.frame[column["name"]].null_count()
        assert column["distinct"] == history.frame[column["name"]].drop_nulls().n_unique()
    told = found["history"]
    assert sum(told["rows_per_customer"]["counts"]) == told["customers"] == 50
    same = shape(history.frame)
    assert (told["shape"]["mu"], told["shape"]["h"], told["shape"]["b"]) == (same.mu, same.h, same.b)
    clock = next(c for c in found["columns"] if c["type"] == "time")
    assert clock["bars"]["unit"] == "hour"
    hours = history.frame["time"].dt.hour()
    assert clock["bars"]["labels"] == [f"{hour}:00" for hour in range(hours.min(), hours.max() + 1)]  # type: ignore
    assert clock["bars"]["weights"][0] == (hours == hours.min()).sum()


def test_nothing_said_hurtful_texts_and_many_values() -> None:
    columns = {
        "who": {"role": "identifier"},
        "age": {"role": "quasi", "type": "integer", "optional": True},
        "when": {"role": "other", "type": "date", "optional": True},
        "town": {"role": "quasi", "domain": ["<b>", "\x1b[2J\u202e" + "x" * 300]},
    }
    schema = Schema.of({"kind": "table", "columns": columns})
    frame = pl.DataFrame(
        {
            "who": [f"p{i:02}" for i in range(25)],
            "age": pl.Series([None] * 25, dtype=pl.Int64),
            "when": [dt.date(2020, 1, 1), *[None] * 24],
            "town": ["\x1b[2J\u202e" + "x" * 300] * 25,
        }
    )
    found = profile(Table(frame, schema))
    assert found["history"] is None
    who, age, when, town = found["columns"]
    assert (who["distinct"], len(who["bars"]["labels"]), who["bars"]["others"]) == (25, 20, True)
    assert who["bars"]["weights"] == [1.0] * 19 + [6.0]
    assert (age["missing"], age["distinct"], age["bars"], age["minimum"]) == (25, 0, None, None)
    assert (when["missing"], when["bars"]["weights"], when["bars"]["unsaid"]) == (24, [1.0], 24.0)
    assert town["domain"] == 2
    assert town["examples"] == ["�[2J�" + "x" * 194 + "…"]
    assert len(town["bars"]["labels"][0]) == 60
    json.dumps(found, allow_nan=False)


def test_an_empty_history_has_a_profile() -> None:
    found = profile(History(FOUR.frame.clear(), FOUR.schema))
    assert (found["rows"], found["history"]["customers"], found["history"]["first"]) == (0, 0, None)
    json.dumps(found, allow_nan=False)
