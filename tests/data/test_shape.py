"""The shape of a history: hand-worked, against brute force, and as published for PWS Cup 2016."""

import itertools
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.data.samples import shape as module
from noren.data.samples.generator import generate
from noren.data.samples.shape import HistoryShape, ShapeCounter, shape


def history(sets: dict[str, str]) -> pl.DataFrame:
    rows = [(customer, item) for customer, items in sets.items() for item in items]
    return pl.DataFrame(rows, schema={"customer": pl.String, "item": pl.String}, orient="row")


def test_by_hand() -> None:
    # {x, y}, {x, z, v}, {x, y, z}: overlaps 1, 2, 2; unions 4, 3, 4
    it = shape(history({"a": "xyyx", "b": "xzv", "c": "xyz"}))
    assert (it.n, it.m, it.mu_is_exact, it.mu_error, it.mu_pairs) == (3, 10, True, 0.0, 3)
    assert it.b == pytest.approx(8 / 3)
    assert it.h == pytest.approx(5 / 3)
    assert it.mu == pytest.approx((1 / 4 + 2 / 3 + 2 / 4) / 3)


def test_customers_with_nothing_in_common() -> None:
    it = shape(history({"a": "xy", "b": "z"}))
    assert (it.mu, it.h) == (0.0, 0.0)


def test_equal_customers() -> None:
    it = shape(history({"a": "xy", "b": "yx", "c": "xyx"}))
    assert (it.mu, it.h) == (1.0, 2.0)


def test_no_pairs() -> None:
    assert shape(history({"a": "xyx"})) == HistoryShape(n=1, m=3, b=2.0, mu=0.0, h=0.0)
    assert shape(history({})) == HistoryShape(n=0, m=0, b=0.0, mu=0.0, h=0.0)


def test_columns_of_any_name_and_type() -> None:
    frame = pl.DataFrame({"who": [1, 1, 2], "what": [7, 8, 7]})
    assert shape(frame, customer="who", item="what").mu == pytest.approx(1 / 2)


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 12)), min_size=1, max_size=120), st.integers(1, 40))
def test_against_brute_force_in_one_piece_and_in_blocks(rows: list[tuple[int, int]], height: int) -> None:
    frame = pl.DataFrame(rows, schema={"customer": pl.Int64, "item": pl.Int64}, orient="row")
    sets: dict[int, set[int]] = {}
    for customer, item in rows:
        sets.setdefault(customer, set()).add(item)
    pairs = list(itertools.combinations(sets.values(), 2))
    it = shape(frame)
    assert (it.n, it.m) == (len(sets), len(rows))
    assert it.b == pytest.approx(np.mean([len(items) for items in sets.values()]))
    assert it.h == pytest.approx(np.mean([len(u & v) for u, v in pairs]) if pairs else 0)
    assert it.mu == pytest.approx(np.mean([len(u & v) / len(u | v) for u, v in pairs]) if pairs else 0)
    counter = ShapeCounter()
    for block in frame.iter_slices(height):
        counter.add(block)
    assert counter.shape() == it
    assert counter.shape() == it  # asking does not use it up


def test_more_items_than_fit_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.concat(generate(60, 3_000, 200, seed=1))
    in_one = shape(frame)
    monkeypatch.setattr(module, "_ITEMS_AT_A_TIME", 7)
    monkeypatch.setattr(module, "_CUSTOMERS_AT_A_TIME", 11)
    assert shape(frame).mu == pytest.approx(in_one.mu, rel=1e-12)


def test_many_customers_are_sampled_with_an_honest_error(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pl.concat(generate(300, 20_000, 1_000, seed=2))
    exact = shape(frame)
    monkeypatch.setattr(module, "EXACT_CUSTOMERS", 10)
    monkeypatch.setattr(module, "_LOOKUPS_AT_A_TIME", 100_000)
    estimates = [shape(frame, seed=seed) for seed in range(12)]
    for it in estimates:
        assert (it.mu_is_exact, it.mu_pairs) == (False, 100_000)
        assert (it.n, it.m, it.b, it.h) == (exact.n, exact.m, exact.b, exact.h)
        assert 0 < it.mu_error < 0.01 * exact.mu
        assert abs(it.mu - exact.mu) < 4 * it.mu_error
    spread = np.std([it.mu for it in estimates])
    assert 0.4 < spread / estimates[0].mu_error < 1.8
    assert shape(frame, seed=3) == estimates[3]


def test_pwscup_2016_as_published(shared: Path) -> None:
    columns = ["customer", "invoice", "date", "time", "item", "price", "quantity"]
    frame = pl.read_csv(shared / "data" / "pwscup2016_T.csv", has_header=False, new_columns=columns, infer_schema=False)
    it = shape(frame)
    assert (it.n, it.m) == (400, 38_087)
    assert round(it.b, 1) == 65.7
    assert round(it.mu, 4) == 0.0300
    assert round(it.h, 2) == 4.41
