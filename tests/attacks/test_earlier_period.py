"""Earlier period: habits known from one time, recognised in another."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from noren import api
from noren.attacks.earlier_period import EarlierPeriod
from noren.data.frames import History
from noren.data.schema import Schema

COLUMNS: dict[str, dict[str, Any]] = {
    "customer": {"role": "customer"},
    "date": {"role": "date", "type": "datetime"},
    "item": {"role": "item", "optional": True},
    "price": {"role": "price", "optional": True},
    "shop": {"role": "other", "optional": True},
}
SCHEMA = Schema.of({"columns": COLUMNS})


def habitual(customers: int, weeks: range, seed: int, *, own: float = 0.6, items: int = 200) -> History:
    """Return weekly visits of people with favourite items, a shop and an hour of their own; the rest is anybody's."""
    draw = np.random.Generator(np.random.PCG64(seed))
    taste = np.random.Generator(np.random.PCG64(1))
    favourites, shops, hours = (
        taste.integers(0, top, size) for top, size in ((items, (customers, 8)), (6, customers), (12, customers))
    )
    rows: list[tuple[Any, ...]] = []
    for who in range(customers):
        for week in weeks:
            at = dt.datetime(2020, 1, 1) + dt.timedelta(days=7 * week + who % 7, hours=8 + int(hours[who]))
            for _row in range(3):
                item = favourites[who, draw.integers(0, 8)] if draw.random() < own else draw.integers(0, items)
                rows.append((f"c{who}", at, f"i{item}", float(1 + item % 9), f"s{shops[who]}"))
    return History(pl.DataFrame(rows, schema=list(COLUMNS), orient="row"), SCHEMA)


def right(known: History, public: History, **parameters: Any) -> float:
    pairs = EarlierPeriod(**parameters).attack(known, public, seed=1).pairs
    return sum(pairs["pseudonym"] == pairs["customer"]) / max(len(pairs), 1)


def test_habits_are_recognised_in_a_period_without_a_common_purchase() -> None:
    known, public = habitual(60, range(8), 1), habitual(60, range(20, 28), 2)
    assert right(known, public) > 0.9
    guess = EarlierPeriod().attack(known, public, seed=1)
    # shop and hour are exactly kept, so the rehearsal among known rows finds that they tell people apart
    assert guess.notes["weights"]["shop"] > guess.notes["weights"]["price"]
    assert guess.pairs["score"].is_sorted(descending=True)


def test_what_has_no_habit_is_not_recognised() -> None:
    flat = [habitual(60, weeks, seed, own=0.0) for weeks, seed in ((range(8), 1), (range(20, 28), 2))]
    alike = [
        History(one.frame.with_columns(pl.col("date").dt.truncate("1mo"), shop=pl.lit("s")), SCHEMA) for one in flat
    ]
    assert right(*alike) < 0.15


def test_columns_declared_unknown_are_not_used() -> None:
    hidden = Schema.of({"columns": COLUMNS | {"shop": COLUMNS["shop"] | {"known": False}}})
    known = History(habitual(20, range(4), 1).frame, hidden)
    weights = EarlierPeriod().attack(known, known, seed=1).notes["weights"]
    assert set(weights) == {"item", "price", "visit: weekday", "visit: hour", "visit: basket", "visit: gap"}


def test_too_few_to_learn_from_all_kinds_count_alike() -> None:
    known = habitual(5, range(4), 1)
    assert set(EarlierPeriod().attack(known, known, seed=1).notes["weights"].values()) == {1.0}


def test_a_habit_that_nobody_shows_in_the_rehearsal_counts_nothing() -> None:
    # with two days each there is no gap inside a half
    known, public = habitual(20, range(2), 1), habitual(20, range(20, 26), 2)
    weights = EarlierPeriod().attack(known, public, seed=1).notes["weights"]
    assert weights["visit: gap"] == 0
    assert max(weights.values()) < 50


def test_blanks_intervals_sets_and_nobody() -> None:
    known, public = habitual(12, range(6), 1), habitual(12, range(20, 26), 2)
    blank = pl.when(pl.int_range(pl.len()) % 4 > 0).then(pl.all().exclude("customer", "date")).name.keep()
    thin = History(public.frame.with_columns(blank), SCHEMA)
    assert right(known, thin) > 0.5
    items = public["item"].unique().sort()
    wide = public.frame.with_columns(
        date=pl.struct(lo="date", hi=pl.col("date") + pl.duration(days=3)),
        price=pl.struct(lo="price", hi=pl.col("price") + 1),
        item=pl.concat_list("item", pl.lit(items[0])).list.unique().cast(pl.List(pl.Enum(items))),
    )
    assert right(known, History(wide, SCHEMA)) > 0.5
    assert len(EarlierPeriod().attack(known, History(public.frame.clear(), SCHEMA), seed=1)) == 0
    assert len(EarlierPeriod().attack(History(public.frame.clear(), SCHEMA), public, seed=1)) == 0


@pytest.mark.parametrize("columns", [("item",), ("price",), ("item", "price", "shop")])
def test_fewer_columns_will_do(columns: tuple[str, ...]) -> None:
    schema = SCHEMA.without([name for name in SCHEMA.names[1:] if name not in columns])
    known, public = (
        History(habitual(30, weeks, seed).frame, schema) for weeks, seed in ((range(8), 1), (range(20, 28), 2))
    )
    assert right(known, public) > 3 / 30


def test_the_first_half_as_knowledge_of_the_second(noren: Any, tmp_path: Path) -> None:
    first, second = habitual(30, range(8), 1), habitual(30, range(20, 28), 2)
    release = api.protect(second, "pseudonymize", seed=7)
    guess = api.attack(second, release, "earlier-period", known=first, seed=1)
    truth = dict(release.secret.pseudonyms.select("pseudonym", "customer").rows())
    found = sum(truth[pseudonym] == who for pseudonym, who in guess.pairs.select("pseudonym", "customer").rows())
    assert found > 20
    (tmp_path / "shop.toml").write_text(SCHEMA.to_toml(), encoding="utf-8")
    for name, one in (("first", first), ("second", second)):
        one.to_polars().write_csv(tmp_path / f"{name}.csv", datetime_format="%Y-%m-%d %H:%M:%S")
    schema = ("--schema", tmp_path / "shop.toml")
    noren("protect", tmp_path / "second.csv", *schema, "--method", "pseudonymize", "--seed", 7, "--out", tmp_path / "r")
    words = ("--known", tmp_path / "first.csv", "--attacks", "earlier-period", "--out", tmp_path / "g", "--json")
    answer = noren("attack", tmp_path / "second.csv", tmp_path / "r", *schema, *words)
    assert answer.json["results"]["earlier-period"]["right"] > 20
