"""Dates that stay within a month or a week, items within a category: what may meet, the optimum, k, what is stated."""

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.awkward_histories import AWKWARD, history, plain_rows
from tests.kernels.sharing.laid_examples import bounded, cheapest_partition, group_costs, histories, row_cost
from tests.kernels.sharing.test_grouping import found
from tests.kernels.sharing.test_near_rows import own
from tests.methods.test_generalize import assert_shared, some_history

from noren import api
from noren.data.frames import History
from noren.data.release import Release
from noren.errors import InputError, ParameterError, SchemaError
from noren.kernels.sharing.alignment import LONG, RowArrays
from noren.kernels.sharing.joining import join, settled
from noren.methods.generalize import Generalize

PERIODS = {"month": "%Y-%m", "week": "%G-%V"}
CATEGORIES = {"a": "fruit", "b": "fruit", "c": "bread", "d": "bread", "e": "bread"}


def of_strata(counts: list[int], seed: int, strata: int, **kinds: Any) -> RowArrays:
    """Return random rows, each of one of some strata, whose first column is never suppressed."""
    rows = histories(counts, seed, **kinds)
    stratum = np.random.default_rng(seed + 99).integers(0, strata, sum(counts))
    return rows._replace(stratum=stratum, unsuppressed=0, point=rows.point * np.array([[3.0], [1.0], [1.0]]))


def assert_within(original: History, release: Release, part: str) -> None:
    """No date interval crosses a period, and a date is published wherever there was one."""
    dates, truth = release.public.frame["date"], original.frame["date"].gather(release.secret.origin)
    ends = [dates.struct.field(end) for end in ("lo", "hi")] if dates.dtype == pl.Struct else [dates, dates]
    periods = [end.dt.strftime(PERIODS[part]) for end in (*ends, truth)]
    assert periods[0].equals(periods[1])
    assert periods[0].equals(periods[2])  # so the sales of a period are those of the rows that stay


# --- the search ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("strata", [1, 2, 3])
@pytest.mark.parametrize("k", [2, 3])
def test_the_optimum_of_few_customers_is_found_and_never_beaten(k: int, strata: int) -> None:
    excess = []
    for seed in range(6):
        rows = of_strata(np.random.default_rng(seed).integers(1, 3, 6).tolist(), seed, strata)
        best = cheapest_partition(group_costs(rows, range(k, 7)), 6)
        answer = bounded(found(rows, k), rows, k)
        assert answer.bound is not None
        assert answer.bound <= answer.cost + 1e-7
        assert answer.cost >= best - 1e-7
        excess.append(answer.cost / best - 1)
    assert min(excess) < 1e-7
    assert np.mean(excess) < 0.05


@pytest.mark.parametrize("length", [9, LONG + 30])
def test_only_rows_of_one_stratum_are_joined(length: int) -> None:
    rows = of_strata([length, length + 5, length + 9], length, 4, items=20)._replace(unsuppressed=-1)
    table = join(rows, True, join(rows, True, own(rows, 0), own(rows, 1))[1], own(rows, 2))[1]
    value = settled(rows, True, np.arange(3), table, 8)
    saved = [row_cost(rows, column.tolist(), suppress=True) - rows.worth[column].sum() for column in table.T]
    assert value == pytest.approx(sum(saved), abs=1e-9)
    # nearly as many rows stay as can: the fewest that a member has of each stratum
    each = np.array([np.bincount(rows.stratum[own(rows, who)[0]], minlength=4) for who in range(3)])
    kept = sum(len(set(rows.stratum[column].tolist())) == 1 for column in table.T)
    assert kept >= 0.9 * each.min(axis=0).sum()


# --- releases --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["generalize", "microaggregate"])
@pytest.mark.parametrize("part", PERIODS)
@pytest.mark.parametrize("k", [2, 3])
def test_no_date_interval_crosses_a_period_and_k_and_u_hold(method: str, part: str, k: int) -> None:
    original = some_history(25, k)
    release = api.protect(original, method, k=k, effort="quick", within=[part], seed=1)  # the audit counts k
    assert_within(original, release, part)
    if method == "generalize":
        assert_shared(original, release, k)
    u = release.statement.notes["U"]
    assert u == pytest.approx(api.measure(original, release, "cell-error").value, abs=1e-9)
    assert u > api.protect(original, method, k=k, effort="quick", seed=1).statement.notes["U"]
    assert release.statement.parameters["within"] == [part]
    assert "lower_bound_any" not in release.statement.notes


@pytest.mark.parametrize("kind", AWKWARD)
def test_awkward_histories_stay_within_or_say_what_they_lack(kind: str) -> None:
    original = AWKWARD[kind]()
    for part in PERIODS:
        try:
            release = api.protect(original, "generalize", k=2, effort="quick", within=[part], seed=1)
        except InputError as error:
            if "date" in original.schema.names and kind not in ("one row", "one customer"):
                pytest.fail(str(error))
            continue
        assert_within(original, release, part)
        assert release.statement.notes["U"] == pytest.approx(api.measure(original, release, "cell-error").value)


def test_dates_of_one_month_are_published_even_where_suppression_costs_less() -> None:
    rows = plain_rows(4)
    count = len(rows["customer"])
    days = [dt.date(2010, 12, 30 if at == 1 else 1) for at in range(count)]  # a month apart: over two deviations
    original = history(rows | {"date": days, "item": ["a"] * count, "price": [1.0] * count, "quantity": [1] * count})
    free = api.protect(original, "generalize", k=4, effort="quick", seed=1)
    kept = api.protect(original, "generalize", k=4, effort="quick", within=["month"], seed=1)
    assert_within(original, kept, "month")
    assert free.statement.notes["U"] <= kept.statement.notes["U"]


def test_sets_stay_within_a_category(tmp_path: Path) -> None:
    file = tmp_path / "categories.csv"
    file.write_text("item,category\n" + "".join(f"{i},{c}\n" for i, c in CATEGORIES.items()), encoding="utf-8")
    original = history(plain_rows())
    release = api.protect(
        original, "generalize", k=2, effort="quick", within=["category", "month"], categories=file, seed=1
    )
    assert_within(original, release, "month")
    truth = original.frame["item"].gather(release.secret.origin).replace_strict(CATEGORIES)
    cells = release.public.frame["item"]
    assert cells.list.len().to_list() == [1] * len(truth)
    assert cells.list.first().cast(pl.String).to_list() == truth.to_list()
    with pytest.raises(ParameterError, match="--within category needs the categories of the items; give them with"):
        api.protect(original, "generalize", k=2, within=["category"], seed=1)


def test_without_dates_and_without_within() -> None:
    with pytest.raises(SchemaError, match="--within week needs a column with the role date, of dates; give it"):
        api.protect(AWKWARD["no date"](), "generalize", k=2, within=["week"], seed=1)
    assert "within" not in Generalize(k=2).parameters()
    with pytest.raises(ParameterError, match="within"):
        api.protect(AWKWARD["plain"](), "generalize", k=2, within=["year"], seed=1)
