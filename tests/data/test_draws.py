"""Draws from a release: consistent with it, uniform, numbered, by S0's rules for what is suppressed."""

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from noren.api import protect, sample
from noren.data.cells import contains, set_dtype
from noren.data.draws import Draws, write_draws
from noren.data.frames import History
from noren.data.schema import Schema
from noren.errors import ParameterError, SchemaError

SCHEMA = Schema.preset("pwscup2018")


def history(**columns: list[object]) -> History:
    rows = len(next(iter(columns.values())))
    usual: dict[str, list[object]] = {
        "customer": ["1"] * rows, "date": ["2010/12/1"] * rows, "item": ["a"] * rows, "price": [1.0] * rows,
        "quantity": [1] * rows,
    }  # fmt: skip
    return History.of(usual | columns, SCHEMA)


@pytest.fixture(scope="module")
def pair() -> tuple[History, History]:
    original = sample(customers=30, rows=900, items=60, seed=3, schema="pwscup2018")
    release = protect(original, "generalize-by-count", k=3, suppress_cells=True, seed=1)
    assert isinstance(release.public, History)
    return original, release.public


def test_every_draw_is_consistent_with_the_release(pair: tuple[History, History]) -> None:
    original, public = pair
    assert public.frame.select(c.name for c in original.measured()).null_count().sum_horizontal()[0] > 0
    for draw in Draws(original, public, seed=5).first(3):
        assert draw.frame["customer"].equals(public.frame["customer"])
        for column in original.measured():
            values = draw.frame[column.name]
            assert values.dtype == original.frame[column.name].dtype
            assert values.null_count() == 0
            assert contains(public.frame[column.name], values).all()
            known = original.frame[column.name]
            assert values.is_in(known.implode()).all() if column.role == "item" else True
            assert (values >= known.min()).all()
            assert (values <= known.max()).all()


def test_draws_are_numbered(pair: tuple[History, History]) -> None:
    draws = Draws(*pair, seed=5)
    seventh = draws[7].frame
    assert list(draws.first(9))[7].frame.equals(seventh)
    assert Draws(*pair, seed=5)[7].frame.equals(seventh)
    assert not draws[8].frame.equals(seventh)
    assert not Draws(*pair, seed=6)[7].frame.equals(seventh)


def test_exact_cells_stay_and_sets_are_drawn_uniformly() -> None:
    original = history(item=["a", "b", "c"] * 1000)
    cells = pl.Series("item", [["a"], ["a", "b"], ["a", "b", "c"]] * 1000, dtype=set_dtype("abc"))
    public = History(original.frame.with_columns(cells), SCHEMA)
    found = Draws(original, public, seed=1)[0].frame["item"]
    assert set(found.gather_every(3)) == {"a"}
    two, three = (found.gather_every(3, offset).value_counts(sort=True)["count"].to_list() for offset in (1, 2))
    # five standard deviations of a binomial count
    assert two == pytest.approx([500, 500], abs=80)
    assert three == pytest.approx([333, 333, 333], abs=75)


def test_what_is_suppressed_is_drawn_from_the_whole_original() -> None:
    original = history(
        date=["2010/12/1", "2010/12/3"] * 600, item=["a", "b"] * 600, price=[0.98, 1.01] * 600, quantity=[2, 4] * 600
    )
    nothing = [pl.lit(None).cast(original.frame.schema[c.name]).alias(c.name) for c in original.measured()]
    found = Draws(original, History(original.frame.with_columns(nothing), SCHEMA), seed=1)[0].frame
    days = [dt.date(2010, 12, day) for day in (1, 2, 3)]
    expected = {"date": days, "item": ["a", "b"], "price": [0.98, 0.99, 1.0, 1.01], "quantity": [2, 3, 4]}
    for name, values in expected.items():
        counts = found[name].value_counts().sort(name)
        assert counts[name].to_list() == values
        assert counts["count"].to_list() == pytest.approx([1200 / len(values)] * len(values), abs=90)


def test_a_set_of_categories_stands_for_all_their_items() -> None:
    original = history(item=["a", "b", "c", "d"] * 300)
    cells = pl.Series("item", [["one", "three"]] * 1200, dtype=set_dtype(["one", "three"]))
    public = History(original.frame.with_columns(cells), SCHEMA)
    groups = {"one": ["a"], "three": ["b", "c", "d"]}
    found = Draws(original, public, seed=1, categories=groups)[0].frame["item"].value_counts().sort("item")
    assert found["item"].to_list() == ["a", "b", "c", "d"]
    assert found["count"].to_list() == pytest.approx([300] * 4, abs=75)


def test_dates_with_a_time_of_day() -> None:
    schema = Schema.preset("online-retail")
    rows: dict[str, list[Any]] = {
        "InvoiceNo": ["1", "2"], "StockCode": ["a", "b"], "Description": ["x", "y"], "Quantity": [1, 2],
        "InvoiceDate": [dt.datetime(2010, 12, 1, 8, 26), dt.datetime(2010, 12, 4, 8, 26)], "UnitPrice": [1.001, 1.003],
        "CustomerID": ["7", "8"], "Country": ["UK", "UK"],
    }  # fmt: skip
    original = History.of(rows, schema)
    cell = {"lo": rows["InvoiceDate"][0], "hi": rows["InvoiceDate"][1]}
    wide = pl.Series(
        "InvoiceDate", [cell, cell], dtype=pl.Struct(dict.fromkeys(("lo", "hi"), schema["InvoiceDate"].dtype))
    )
    draws = Draws(original, History(original.frame.with_columns(wide), schema), seed=1)
    found = {value for draw in draws.first(30) for value in draw.frame["InvoiceDate"]}
    assert found == {dt.datetime(2010, 12, day, 8, 26) for day in (1, 2, 3, 4)}


def test_an_original_without_values_leaves_cells_empty() -> None:
    schema = Schema.preset("online-retail")
    frame = pl.DataFrame({c.name: pl.Series([None], dtype=c.dtype) for c in schema.columns})
    found = Draws(History(frame, schema), History(frame, schema), seed=1)[0]
    assert found.frame["StockCode"].to_list() == [None]
    assert found.frame["UnitPrice"].to_list() == [None]


def test_one_file(pair: tuple[History, History], tmp_path: Path) -> None:
    draws = Draws(*pair, seed=2)
    path = write_draws(draws, 3, tmp_path / "draws.parquet")
    frame = pl.read_parquet(path)
    assert frame.columns == ["draw", *SCHEMA.names]
    assert frame["draw"].value_counts().sort("draw").rows() == [(i, len(pair[1])) for i in range(3)]
    assert frame.filter(draw=1).drop("draw").equals(draws[1].frame.select(SCHEMA.names))
    again = write_draws(draws, 3, tmp_path / "again.parquet")
    assert path.read_bytes() == again.read_bytes()


def test_bad_wishes(pair: tuple[History, History], tmp_path: Path) -> None:
    draws = Draws(*pair, seed=2)
    with pytest.raises(ParameterError, match="draws = 0 is out of range; use draws >= 1"):
        draws.first(0)
    with pytest.raises(ParameterError, match=r"use a file name that ends in \.parquet"):
        write_draws(draws, 1, tmp_path / "draws.csv")
    assert list(tmp_path.iterdir()) == []
    taken = History(pair[1].frame.with_columns(draw=1), SCHEMA)
    with pytest.raises(SchemaError, match="two columns are named 'draw'; rename one"):
        write_draws(Draws(pair[0], taken, seed=1), 1, tmp_path / "draws.parquet")
