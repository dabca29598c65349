"""Noise keeps within its bounds, and the mean of quantities where it was."""

import datetime as dt
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.methods.histories import SCHEMA, histories, history, known, owners

from noren.data.frames import History
from noren.data.periods import periods_of
from noren.data.schema import Schema
from noren.errors import ParameterError, SchemaError
from noren.methods import methods
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.methods.perturb import Perturb, usual_packs


@given(
    original=histories(),
    seed=st.integers(0, 2**64),
    period=st.sampled_from(["month", "week", "quarter"]),
    days=st.integers(0, 100),
    price=st.floats(0, 1),
    packs=st.integers(0, 3),
)
def test_noise_stays_within_its_bounds(
    original: History, seed: int, period, days: int, price: float, packs: int
) -> None:
    release = Perturb(period=period, days=days, price=price, packs=packs).protect(original, seed=seed)
    was, now = original.frame, release.aligned().frame
    assert now["item"].equals(was["item"])
    assert periods_of(now["date"], period).equals(periods_of(was["date"], period))
    assert ((now["date"] - was["date"]).dt.total_days().abs() <= days).all()
    ratio = (pl.DataFrame({"a": was["price"], "b": now["price"]})).select(
        low=pl.min_horizontal("a", "b") + 0.005, high=pl.max_horizontal("a", "b") - 0.005
    )
    assert (ratio["low"] * (1 + price) >= ratio["high"] - 1e-9).all()
    assert (now["price"] >= 0.01).all()
    assert np.allclose(now["price"] * 100, (now["price"] * 100).round())
    moved = (now["quantity"] - was["quantity"]).to_numpy()
    pack = usual_packs(was["item"], was["quantity"])
    assert (np.abs(moved) <= packs * pack).all()
    assert (moved % pack == 0).all()
    assert (now["quantity"] >= 1).all()
    assert owners(release) == original["customer"].to_list()
    assert sorted(known(release).values()) == sorted(original.customers)


def test_every_day_in_reach_is_as_likely_as_any_other() -> None:
    rows = history(*["ann 2010/12/30 a 1 1"] * 4000)
    moved = Perturb(days=3, price=0, packs=0).protect(rows, seed=1).public.frame["date"].dt.day()
    counts = moved.value_counts().sort("date")
    assert counts["date"].to_list() == [27, 28, 29, 30, 31]
    # five days of 4,000 rows: 800 each, standard deviation 25
    assert counts["count"].is_between(700, 900).all()


def test_quantities_keep_their_mean() -> None:
    rows = history(*["ann 2010/12/30 a 1 6"] * 3000, *["ann 2010/12/30 a 1 24"] * 2000)
    moved = Perturb(days=0, price=0, packs=2).protect(rows, seed=1).aligned().frame["quantity"]
    assert moved[:3000].unique().to_list() == [6]
    assert sorted(moved[3000:].unique()) == [12, 18, 24, 30, 36]
    assert moved[3000:].mean() == pytest.approx(24, abs=1)


def test_dates_prices_and_quantities_move_apart() -> None:
    """None tells how far another moved: of 1,000 rows a correlation by chance has a standard deviation of 0.032."""
    rows = history(*["ann 2010/12/15 a 100 60"] * 1000, *["ann 2010/12/15 a 100 6"] * 1001)  # the pack is 6
    moved = Perturb(days=10, price=0.5, packs=5).protect(rows, seed=1).aligned().frame[:1000]
    values = [moved[name].to_physical().to_numpy() for name in ("date", "price", "quantity")]
    assert abs(np.corrcoef(values)[np.triu_indices(3, 1)]).max() < 0.15


def test_nothing_asked_nothing_changed() -> None:
    rows = history("ann 2010/12/1 a 1.25 1", "bob 2010/12/31 b 2 24")
    release = Perturb(days=0, price=0, packs=0).protect(rows, seed=1)
    assert release.aligned().frame.drop("customer").equals(rows.frame.drop("customer"))


def test_baskets_move_together() -> None:
    days = [f"{who} 2010/12/{day} a 1 1" for who in ("ann", "bob") for day in range(8, 24) for _row in range(3)]
    moved = Perturb(days=5, whole_baskets=True).protect(history(*days), seed=2).aligned().frame
    baskets = moved.with_columns(basket=pl.int_range(len(days)) // 3, day=pl.int_range(len(days)) // 3 % 16 + 8)
    assert (baskets.group_by("basket").agg(pl.col("date").n_unique())["date"] == 1).all()
    assert (baskets["date"].dt.day() - baskets["day"]).n_unique() > 5
    apart = (
        Perturb(days=5)
        .protect(history(*days), seed=2)
        .aligned()
        .frame.with_columns(basket=pl.int_range(len(days)) // 3)
    )
    assert apart.group_by("basket").agg(pl.col("date").n_unique())["date"].mean() > 2  # type: ignore[operator]


def test_custom_periods_and_the_columns_own_bounds() -> None:
    rows = history(*["ann 2010/12/10 a 1 1"] * 200, *["ann 2010/12/20 a 1 1"] * 200)
    method = methods.create("perturb", period="custom", starts=["2010-12-08", "2010-12-15"], days=30)
    moved = method.protect(rows, seed=1).aligned().frame["date"].dt.day()
    assert (moved[:200].min(), moved[:200].max()) == (8, 14)
    # the last period ends with the data
    assert (moved[200:].min(), moved[200:].max()) == (15, 20)
    bounded = SCHEMA.model_copy(
        update={
            "columns": tuple(
                c.model_copy(update={"minimum": dt.date(2010, 12, 9), "maximum": dt.date(2010, 12, 21)})
                if c.name == "date"
                else c
                for c in SCHEMA.columns
            )
        }
    )
    kept = Perturb(days=30).protect(History(rows.frame, bounded), seed=1).public.frame["date"].dt.day()
    assert (kept.min(), kept.max()) == (9, 21)


def test_returns_moments_and_rows_of_nobodys() -> None:
    schema = Schema.preset("online-retail")
    rows = {
        "InvoiceNo": ["1", "2", "3", "4"],
        "StockCode": ["x"] * 4,
        "Description": ["X"] * 4,
        "Quantity": [-24, 12, 12, 12],
        "InvoiceDate": ["2010-12-01 08:26:30"] * 4,
        "UnitPrice": [0.0, 1.0, 0.001, 5.0],
        "CustomerID": ["a", None, "b", "b"],
        "Country": ["UK"] * 4,
    }
    moved = Perturb(days=9, price=0.5).protect(History.of(rows, schema), seed=4).aligned().frame
    assert moved.row(1) == (None,) * 8  # nobody's
    assert moved["Quantity"].to_list()[2:] == [12, 12]
    assert moved["Quantity"][0] in (-36, -24, -12)
    assert moved["UnitPrice"][0] == 0
    assert moved["UnitPrice"][2] >= 0.001
    assert moved["UnitPrice"][3] != 5
    moments = moved["InvoiceDate"].drop_nulls()
    assert set(moments.dt.time()) == {dt.time(8, 26, 30)}
    assert moments.dt.day().is_between(1, 10).all()


def test_unchanged_columns_keep_their_spelling(tmp_path: Path) -> None:
    from noren.data.contest_files import read_rows

    (tmp_path / "T.csv").write_text("a,2010/12/01,x,1.50,1\nb,2010/12/02,x,2.0,1\n", encoding="ascii")
    rows = read_rows(tmp_path / "T.csv", SCHEMA)
    lines = Perturb(days=0, price=0.05).protect(rows, seed=1).public.lines().to_list()
    assert all("2010/12/0" in line for line in lines)
    assert not any(line.split(",")[3] in ("1.50", "2.0") for line in lines)


def test_same_seed_same_bytes(small: History, tmp_path: Path) -> None:
    for folder, seed in (("one", 5), ("two", 5), ("other", 7)):
        Perturb().protect(small, seed=seed).save(tmp_path / folder)
    same = [p.relative_to(tmp_path / "one") for p in (tmp_path / "one").rglob("*") if p.is_file()]
    assert all((tmp_path / "one" / f).read_bytes() == (tmp_path / "two" / f).read_bytes() for f in same)
    assert (tmp_path / "one/public.parquet").read_bytes() != (tmp_path / "other/public.parquet").read_bytes()


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"days": -1}, "days = -1 is not valid for perturb: .*; Maximum number of days by which a date moves"),
        ({"price": -0.1}, "price = -0.1 is not valid for perturb"),
        ({"packs": -1}, "packs = -1 is not valid for perturb"),
        ({"price": float("inf")}, "price = inf is not valid for perturb"),
    ],
)
def test_noise_that_is_none(parameters, said) -> None:
    with pytest.raises(ParameterError, match=said):
        methods.create("perturb", **parameters)


def test_generalised_data_are_refused() -> None:
    public = GeneralizeByCount(k=2).protect(history("a 2010/12/1 x 1 1", "b 2010/12/2 x 2 1"), seed=1).public
    assert isinstance(public, History)
    with pytest.raises(SchemaError, match="the original is already generalised"):
        Perturb(days=0, packs=0).protect(public, seed=1)
