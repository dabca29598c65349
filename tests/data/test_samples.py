"""The sample generator: exact sizes, the same bytes for the same seed, and the shape of the contest's data."""

import hashlib
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import date, time
from statistics import NormalDist

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples

from noren.data.samples import generator as samples
from noren.data.samples.baskets import CATEGORIES, MOST_ITEMS, POSTAGE_FROM, catalogue
from noren.data.samples.generator import generate, master, shape
from noren.errors import ParameterError

COLUMNS = {
    "customer": pl.String,
    "invoice": pl.String,
    "date": pl.Date,
    "time": pl.Time,
    "item": pl.String,
    "description": pl.String,
    "price": pl.Float64,
    "quantity": pl.Int64,
    "country": pl.String,
}


def whole(*sizes: int, **more: int) -> pl.DataFrame:
    return pl.concat(generate(*sizes, **more))


def digest(blocks: Iterator[pl.DataFrame]) -> str:
    total = hashlib.sha256()
    for block in blocks:
        total.update(block.write_csv(include_header=False).encode())
    return total.hexdigest()


def moments(sample: pl.DataFrame) -> pl.Series:
    return sample.select(pl.col("date").dt.combine(pl.col("time"))).to_series()


@pytest.fixture(scope="module")
def default() -> pl.DataFrame:
    return whole(seed=1)


def check_promises(sample: pl.DataFrame, customers: int, rows: int, items: int) -> None:
    assert dict(sample.schema) == COLUMNS
    assert sample.null_count().sum_horizontal().item() == 0
    assert sample.height == rows
    assert sample["customer"].n_unique() == customers
    assert sample["item"].n_unique() <= items
    assert sample["customer"].str.len_chars().n_unique() == 1
    assert sample["invoice"].str.len_chars().n_unique() == 1
    assert sample["item"].str.contains(r"^[1-9]\d{4}[A-H]?$").all()
    assert sample.select("item", "description").n_unique() == sample["item"].n_unique()
    assert sample["description"].n_unique() == sample["item"].n_unique()
    assert sample.select("customer", "country").n_unique() == customers
    # one invoice is one customer at one minute, and the other way round
    visits = sample.select("invoice", "customer", "date", "time").unique()
    assert visits.height == visits["invoice"].n_unique() == visits.select("customer", "date", "time").n_unique()
    assert sample["date"].is_between(date(2010, 12, 1), date(2011, 11, 30)).all()
    assert sample["time"].is_between(time(7, 0), time(20, 59)).all()
    assert (sample["price"] > 0).all()
    assert sample["price"].cast(pl.String).str.contains(r"^\d+\.\d{1,2}$").all()
    assert (sample["quantity"] >= 1).all()


@pytest.mark.parametrize(
    ("customers", "rows", "items"),
    [
        (1, 1, 1),
        (1, 20_000, 1),
        (1, 5_000, 3_000),
        (2, 40_000, 2),
        (20, 200, 50),
        (10, 5_000, POSTAGE_FROM - 1),
        (10, 5_000, POSTAGE_FROM),
        (400, 38_000, 2_800),
        (1_000, 89_000, 3_000),
        (50, 1_000, MOST_ITEMS),
        (100_000, 100_000, 300),
    ],
)
def test_every_size_is_exact(customers: int, rows: int, items: int) -> None:
    check_promises(whole(customers, rows, items, seed=3), customers, rows, items)


@examples(40)
@given(st.data())
def test_small_sizes_are_exact(data: st.DataObject) -> None:
    customers = data.draw(st.integers(1, 30))
    rows = data.draw(st.integers(customers, 600))
    items = data.draw(st.integers(1, 60))
    seed = data.draw(st.integers(0, 2**70))
    check_promises(whole(customers, rows, items, seed), customers, rows, items)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"customers": 0}, "customers = 0 is out of range; use customers >= 1"),
        ({"items": 0}, "items = 0 is out of range; use items >= 1"),
        ({"seed": -1}, "seed = -1 is out of range; use seed >= 0"),
        ({"block_rows": 0}, "block_rows = 0 is out of range; use block_rows >= 1"),
        ({"customers": 10, "rows": 9}, "rows = 9 is out of range; use 10 <= rows <= 200000 (customers = 10)"),
        ({"customers": 2, "rows": 40_001}, "rows = 40001 is out of range; use 2 <= rows <= 40000 (customers = 2)"),
        ({"items": 90_001}, "items = 90001 is out of range; use items <= 90000"),
    ],
)
def test_impossible_requests_are_refused_at_the_call(asked: dict[str, int], said: str) -> None:
    with pytest.raises(ParameterError) as refusal:
        generate(**asked)
    assert str(refusal.value) == said


# --- same seed, same bytes ---------------------------------------------------------------------------------------


def test_same_seed_same_bytes_whatever_the_block_size() -> None:
    sizes = {"customers": 60, "rows": 3_001, "items": 200}
    one = digest(generate(**sizes, seed=5))
    for block_rows in (7, 1_000, 3_000, 3_001, 10_000):
        assert digest(generate(**sizes, seed=5, block_rows=block_rows)) == one
    assert digest(generate(**sizes, seed=6)) != one
    assert digest(generate(5, 40, 20, seed=5, block_rows=1)) == digest(generate(5, 40, 20, seed=5))
    assert [block.height for block in generate(**sizes, block_rows=1_000)] == [1_000, 1_000, 1_000, 1]


def test_same_bytes_in_another_process() -> None:
    code = (
        "import hashlib, polars as pl; from noren.data.samples.generator import generate; "
        "text = pl.concat(generate(30, 900, 80, seed=2)).write_csv(include_header=False); "
        "print(hashlib.sha256(text.encode()).hexdigest())"
    )
    environment = os.environ | {"PYTHONHASHSEED": "77"}
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert other.stdout.strip() == digest(generate(30, 900, 80, seed=2))


def test_large_samples_come_in_chunks_and_hold_the_same_purchases(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = {"customers": 100, "rows": 6_000, "items": 300, "seed": 4}
    monkeypatch.setattr(samples, "_CHUNK_ROWS", 500)
    in_time = whole(**sizes)
    monkeypatch.setattr(samples, "SORTED_ROWS", 0)
    chunked = whole(**sizes)
    check_promises(chunked, 100, 6_000, 300)
    assert digest(generate(**sizes, block_rows=333)) == digest(generate(**sizes)) != digest(iter([in_time]))
    # the invoices' numbers follow the order of the rows; all else is the same
    others = [name for name in COLUMNS if name != "invoice"]
    assert chunked.select(others).sort(others).equals(in_time.select(others).sort(others))
    assert chunked["invoice"].is_sorted()
    # a customer's rows lie within one chunk, in the order of time
    for _customer, rows in chunked.group_by("customer"):
        assert moments(rows).is_sorted()


def test_rows_are_in_the_order_of_time_and_invoices_rise(default: pl.DataFrame) -> None:
    assert moments(default).is_sorted()
    assert default["invoice"].is_sorted()
    assert default["invoice"][0] == "536365"


def test_more_customers_get_wider_labels() -> None:
    assert master(87_654)["customer"].str.len_chars().unique().to_list() == [5]
    assert master(87_655)["customer"].str.len_chars().unique().to_list() == [6]


def test_master_knows_the_same_customers(default: pl.DataFrame) -> None:
    table = master(400, seed=1)
    assert table.schema == {"customer": pl.String, "sex": pl.String, "birthday": pl.Date, "country": pl.String}
    assert table["customer"].is_sorted()
    assert table["customer"].n_unique() == 400
    seen = default.select("customer", "country").unique().sort("customer")
    assert table.select("customer", "country").equals(seen)
    assert set(table["sex"]) == {"f", "m"}
    assert table["birthday"].is_between(date(1940, 1, 1), date(1993, 12, 31)).all()
    assert 0.8 < (table["country"] == "United Kingdom").mean() < 0.97  # type: ignore[operator]
    assert master(400, seed=1).equals(table)
    assert not master(400, seed=2).equals(table)


# --- the shape of the contest's data -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(1, 11))
def test_defaults_have_the_shape_of_pwscup_2016(seed: int) -> None:
    sample = whole(seed=seed)
    it = shape(sample)
    assert (it.n, it.m, it.mu_is_exact) == (400, 38_000, True)
    assert it.b == pytest.approx(65, rel=0.10)
    assert it.mu == pytest.approx(0.03, rel=0.20)
    assert it.h == pytest.approx(4.41, rel=0.25)
    assert sample["item"].n_unique() >= 0.92 * 2_800


@pytest.mark.parametrize(("customers", "rows", "items"), [(500, 45_000, 3_000), (1_000, 89_000, 3_200)])
def test_other_sizes_keep_the_shape(customers: int, rows: int, items: int) -> None:
    it = shape(whole(customers, rows, items, seed=1))
    assert it.b == pytest.approx(62, rel=0.10)
    assert it.mu == pytest.approx(0.03, rel=0.25)


def share(values: pl.Series) -> dict[object, float]:
    return dict(values.value_counts(normalize=True).iter_rows())


def test_customers_are_heavy_tailed(default: pl.DataFrame) -> None:
    rows = np.sort(default.group_by("customer").len()["len"].to_numpy())[::-1]
    # PWSCUP 2016: the top tenth holds 0.471 of the rows, the median is 45, the largest customer has 4,595
    assert 0.43 < rows[:40].sum() / 38_000 < 0.53
    assert 38 < np.median(rows) < 52
    assert rows[0] > 10 * rows[20]


def test_items_follow_zipf_and_families(default: pl.DataFrame) -> None:
    goods = default.filter(pl.col("description") != "POSTAGE")
    rows = np.sort(goods.group_by("item").len()["len"].to_numpy())[::-1]
    rank = np.arange(10, rows.size // 3)
    slope = np.polyfit(np.log(rank), np.log(rows[rank - 1]), 1)[0]
    assert -0.7 < slope < -0.45
    assert 0.36 < rows[: rows.size // 10].sum() / rows.sum() < 0.5
    assert 0.15 < goods["item"].unique().str.contains("[A-H]$").mean() < 0.5  # type: ignore[operator]


def test_customers_buy_again_but_seldom_twice_on_an_invoice(default: pl.DataFrame) -> None:
    bought = default.group_by("customer", "item").agg(pl.col("date").n_unique())
    assert 0.17 < (bought["date"] >= 2).mean() < 0.27  # type: ignore[operator]
    assert 1 - default.select("invoice", "item").n_unique() / default.height < 0.03


def test_seasons_weekdays_and_empty_months(default: pl.DataFrame) -> None:
    weekdays = share(default["date"].dt.weekday())
    assert set(weekdays) == {1, 2, 3, 4, 5, 7}
    months = share(default["date"].dt.month())
    assert len(months) == 12
    assert max(months, key=lambda month: months[month]) == 11
    assert months[11] > 2 * months[2]
    cells = default.select("customer", pl.col("date").dt.month()).n_unique()
    assert 0.70 < 1 - cells / 4_800 < 0.82
    closed = {date(2010, 12, 25), date(2010, 12, 31), date(2011, 1, 3), date(2011, 4, 22), date(2011, 8, 29)}
    assert not closed & set(default["date"])


def test_christmas_sells_in_autumn(default: pl.DataFrame) -> None:
    nouns = next(entry.nouns for entry in CATEGORIES if entry.name == "christmas")
    is_christmas = pl.any_horizontal(*(pl.col("description").str.ends_with(noun) for noun in nouns))
    autumn = pl.col("date").dt.month().is_in([9, 10, 11, 12])
    shares = default.group_by(is_christmas.alias("christmas")).agg(pl.len(), autumn.mean().alias("autumn"))
    (_others, all_others, usual), (_christmas, decorations, in_season) = shares.sort("christmas").iter_rows()
    assert decorations > 100
    assert all_others > 30_000
    assert usual < 0.55
    assert in_season > 0.65


def test_prices_are_few_and_quantities_are_packs(default: pl.DataFrame) -> None:
    prices = default.group_by("item").agg(pl.col("price").n_unique())["price"]
    assert 1.3 < prices.to_numpy().mean() < 2.0
    assert prices.to_numpy().max() <= 5
    quantities = share(default["quantity"])
    commonest = sorted(quantities, key=lambda quantity: -quantities[quantity])
    assert set(commonest[:8]) <= {1, 2, 3, 4, 6, 8, 10, 12, 24}
    assert sum(quantities[pack] for pack in (12, 24, 48)) > 0.18
    # who buys much pays no more for a piece
    wholesale = default.filter(pl.col("quantity") >= 48).group_by("item").agg(bulk=pl.col("price").min())
    single = default.filter(pl.col("quantity") <= 2).group_by("item").agg(one=pl.col("price").max())
    both = wholesale.join(single, on="item")
    assert both.height > 50
    # less a twentieth and a penny: the price before the year's price change
    assert (0.94 * both["bulk"] - 0.01 <= both["one"]).all()
    assert (both["bulk"] < both["one"]).mean() > 0.5  # type: ignore[operator]


def test_invoices_are_of_sensible_size(default: pl.DataFrame) -> None:
    size = default.group_by("invoice").len()["len"].to_numpy()
    quarter, half, three_quarters = np.quantile(size, [0.25, 0.5, 0.75])
    # PWSCUP 2016: 8, 16, 28
    assert 4 <= quarter <= 10
    assert 12 <= half <= 19
    assert 23 <= three_quarters <= 34


# --- the shelf ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("items", [1, 2, POSTAGE_FROM - 1, POSTAGE_FROM, 2_800, MOST_ITEMS])
def test_a_catalogue_has_exactly_its_items_each_with_its_own_code_and_name(items: int) -> None:
    shelf = catalogue(items, np.random.Generator(np.random.PCG64(items)), top=0.6, bend=4.0, floor=0.2)
    assert len(set(shelf.codes)) == len(set(shelf.names)) == items
    assert (shelf.goods < items) is (items >= POSTAGE_FROM)
    chance = np.diff(shelf.popularity)
    assert chance.sum() == pytest.approx(1)
    assert (chance[: shelf.goods] > 0).all()
    for column in (shelf.price, shelf.early_price, shelf.bulk_price, shelf.counter_price, shelf.pack):
        assert column.size == items
        assert (column > 0).all()
    assert (2 * shelf.bulk_price > shelf.price).all()
    assert (shelf.bulk_price <= shelf.price).all()


def test_a_name_ends_with_a_noun_of_its_category() -> None:
    shelf = catalogue(3_000, np.random.Generator(np.random.PCG64(1)), top=0.6, bend=4.0, floor=0.2)
    assert shelf.names[-1] == "POSTAGE"
    for name, number in zip(shelf.names[:-1], shelf.category[:-1], strict=True):
        assert name.endswith(CATEGORIES[number].nouns), name
    nouns = list(itertools.chain.from_iterable(entry.nouns for entry in CATEGORIES))
    assert len(set(nouns)) == len(nouns)


def test_a_catalogue_lies_in_families_within_categories() -> None:
    shelf = catalogue(500, np.random.Generator(np.random.PCG64(2)), top=0.6, bend=4.0, floor=0.2)
    assert (np.diff(shelf.category[: shelf.goods]) >= 0).all()
    article = np.arange(500)
    assert ((shelf.family_start <= article) & (article < shelf.family_end)).all()
    assert (shelf.family_end - shelf.family_start).max() <= 8
    # colours of one article share the number, the noun and the price
    by_number: dict[str, list[int]] = {}
    for place, code in enumerate(shelf.codes):
        by_number.setdefault(code[:5], []).append(place)
    coloured = [places for places in by_number.values() if len(places) > 1]
    assert len(coloured) > 10
    for places in coloured:
        assert [shelf.codes[place][5:] for place in places] == list("ABCDEFGH"[: len(places)])
        assert len({shelf.names[place].split()[-1] for place in places}) == 1
        assert len({int(shelf.price[place]) for place in places}) == 1


def test_the_bell_is_the_normal_quantile() -> None:
    u = np.linspace(0.001, 0.999, 999)
    normal = np.array([NormalDist().inv_cdf(float(p)) for p in u])
    assert np.abs(samples._bell(u) - normal).max() < 0.03


@given(st.integers(0, 10**9), st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=50))
def test_shares_add_up(total: int, weight: list[float]) -> None:
    parts = samples._shared_out(total, np.array(weight))
    assert parts.sum() == total
    assert (parts >= 0).all()
    exact = total * np.array(weight) / sum(weight)
    assert (np.abs(parts - exact) <= 1 + 1e-6 * total).all()
