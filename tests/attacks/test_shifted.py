"""Shifted: gaps between days, by hand, against brute force over shifts, and in the setting that hid people before."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.attacks.recodings import recoded, sampled, share_named

from noren.attacks import shifted
from noren.attacks.shifted import Shifted
from noren.data.frames import History
from noren.data.schema import Schema
from noren.kernels.linkage.row_layout import best_shifts
from noren.protocols import Recoding

DATED = Schema.of({"columns": {"customer": {"role": "customer"}, "date": {"role": "date"}}})
SECRET = {Recoding.SHIFTED_DATES, Recoding.RENAMED_ITEMS, Recoding.NOISED_NUMBERS, Recoding.DELETED_ROWS}


def on_days(**days: list[int]) -> History:
    """Return a history of people who bought on days, counted from the first of a year."""
    first = dt.date(2020, 1, 1)
    rows = [(who, first + dt.timedelta(days=day)) for who, some in days.items() for day in some]
    return History(pl.DataFrame(rows, schema={"customer": pl.String, "date": pl.Date}, orient="row"), DATED)


def names(known: History, public: History, seed: int = 1) -> dict[str, str]:
    return dict(Shifted().attack(known, public, seed=seed).pairs.select("pseudonym", "customer").rows())


def test_gaps_tell_people_apart_and_dates_alone_are_enough() -> None:
    known = on_days(ann=[0, 3, 40], bob=[0, 5, 40], cem=[0, 3, 35])
    public = on_days(x=[1100, 1105, 1140], y=[700, 703, 740], z=[-900, -897, -865])
    assert names(known, public) == {"x": "bob", "y": "ann", "z": "cem"}


def test_a_day_that_was_deleted_and_one_that_was_added() -> None:
    known = on_days(ann=[0, 3, 40, 90, 95], bob=[0, 5, 47, 80, 99], cem=[1, 11, 31, 61, 71])
    public = on_days(x=[200, 203, 290, 295], y=[500, 505, 547, 580, 590, 599], z=[1, 11, 31, 71])
    assert names(known, public) == {"x": "ann", "y": "bob", "z": "cem"}


def test_the_votes_are_the_best_of_all_shifts() -> None:
    draw = np.random.Generator(np.random.PCG64(1))
    for _turn in range(10):
        known, public = (np.sort(draw.choice(60, size, replace=False)) for size in (7, 5))
        value, said = draw.normal(size=(7, 2)), draw.normal(size=(5, 2))
        gain, more, cost = draw.random(7), draw.random(5), draw.random((5, 2)) / 4
        sides = (np.array([0, 7]), known, gain, value, value), (np.array([0, 5]), public, more, said, cost)
        best = 0.0
        for shift in range(-60, 61):
            met = [(a, b) for a in range(7) for b in range(5) if known[a] + shift == public[b]]
            match = [gain[a] + more[b] - (cost[b] * (said[b] - value[a]) ** 2).sum() for a, b in met]
            best = max(best, sum(max(one, 0.0) for one in match))
        assert best_shifts(*sides, np.array([0]), np.array([[0]])).item() == pytest.approx(best)


def test_people_are_found_where_dates_items_and_prices_changed_and_rows_were_dropped() -> None:
    known, public, truth = recoded(sampled(60, 5, rows=90), SECRET, 5)
    assert share_named("shifted", known, public, truth) > 0.6
    assert max(share_named(name, known, public, truth) for name in ("profile", "linkage", "s1", "jaccard")) < 0.2


def test_few_candidates_and_the_busiest_days_find_nearly_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    known, public, truth = recoded(sampled(60, 5, rows=90), SECRET, 5)
    whole = share_named("shifted", known, public, truth)
    monkeypatch.setattr(shifted, "_MOST_VOTES", 1)
    monkeypatch.setattr(shifted, "_FEWEST", 20)
    monkeypatch.setattr(shifted, "_MOST_DAYS", 8)
    assert share_named("shifted", known, public, truth) > whole - 0.15


def test_blanks_intervals_and_nobody() -> None:
    known = on_days(ann=[0, 3, 40], bob=[0, 5, 40])
    blank = pl.DataFrame(
        {"customer": ["x", None, "z"], "date": [None, dt.date(2020, 1, 1), None]}, schema=known.frame.schema
    )
    public = on_days(y=[10, 13, 50])
    mixed = History(pl.concat([public.frame, blank]), DATED)
    assert names(known, mixed) == {"y": "ann"}
    day = pl.col("date")
    wide = public.frame.with_columns(date=pl.struct(lo=day - pl.duration(days=2), hi=day + pl.duration(days=2)))
    assert names(known, History(wide, DATED)) == {"y": "ann"}
    assert names(known, History(blank.head(1), DATED)) == {}
    assert names(History(known.frame.clear(), DATED), public) == {}


def test_equal_people_are_drawn_and_seeds_repeat() -> None:
    known, public = on_days(ann=[0, 3], bob=[5, 8]), on_days(x=[7, 10], y=[7, 10])
    found: list[Any] = [sorted(names(known, public, seed).items()) for seed in range(20)]
    assert len({tuple(one) for one in found}) == 2
    assert found[3] == sorted(names(known, public, 3).items())


def test_one_customer_with_most_rows_takes_nobody_elses_name() -> None:
    days = {f"c{at}": [at, at + 7 + at, at + 40 + 3 * at] for at in range(8)}
    known = on_days(big=list(range(365)), **days)
    public = on_days(big=list(range(100, 465)), **{who: [day + 50 for day in some] for who, some in days.items()})
    assert names(known, public) == {who: who for who in ("big", *days)}
