"""The best of a pool of groups: never dearer, everybody once, and the optimum of small cases."""

import itertools

import numpy as np
import pytest
from tests.kernels.sharing.laid_examples import cheapest_partition, group_costs, histories

from noren.kernels.sharing import partitioning
from noren.kernels.sharing.alignment import LONG, RowArrays, row_arrays
from noren.kernels.sharing.grouping import Group, GroupSearch
from noren.kernels.sharing.partitioning import GroupPool, _cheapest, repartitioned


def search_of(rows: RowArrays, groups: list[list[int]]) -> GroupSearch:
    count = len(rows.counts)
    return GroupSearch(
        rows,
        [np.array(group) for group in groups],
        suppress=True,
        affinity=np.abs(np.subtract.outer(rows.point[0, rows.start[:-1]], rows.point[0, rows.start[:-1]])),
        generator=np.random.default_rng(count),
    )


def test_crossed_groups_are_set_right() -> None:
    # three clusters of three on a line, every group across all of them
    rows = row_arrays(
        np.arange(10), [np.repeat([0.0, 5.0, 9.0], 3)], [4.0], [1.0], np.repeat(np.arange(3), 3).astype(np.int64)
    )
    search = search_of(rows, [[0, 3, 6], [1, 4, 7], [2, 5, 8]])
    assert search.cost > 6
    gain = repartitioned(search, 3, search.affinity, 12, 8)
    assert search.cost == pytest.approx(0.0, abs=1e-9)
    assert gain > 6
    assert sorted(sorted(g.members.tolist()) for g in search.groups) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert repartitioned(search, 3, search.affinity, 12, 8) == 0


@pytest.mark.parametrize(("people", "k"), [(24, 3), (25, 4), (23, 5)])
def test_nothing_is_lost_and_everybody_is_there_once(people: int, k: int) -> None:
    rows = histories(np.random.default_rng(people).geometric(0.2, people).tolist(), people, items=8)
    groups = [group.tolist() for group in np.array_split(np.arange(people), people // k)]
    search = search_of(rows, groups)
    before = search.cost
    gain = repartitioned(search, k, search.affinity, 10, 10)
    assert gain > 0
    assert search.cost == pytest.approx(before - gain, abs=1e-9)
    assert sorted(np.concatenate([g.members for g in search.groups]).tolist()) == list(range(people))
    assert all(len(g.members) >= k or g.deleted for g in search.groups)
    again = search_of(rows, groups)
    repartitioned(again, k, again.affinity, 10, 10)
    assert [g.table.tolist() for g in again.groups] == [g.table.tolist() for g in search.groups]


@pytest.mark.parametrize("k", [2, 3])
def test_the_best_of_a_pool_of_all_groups_is_the_best_partition(k: int) -> None:
    people = 8
    for seed in range(6):
        rows, generator = histories([2] * people, seed), np.random.default_rng(seed)
        search = search_of(rows, [list(range(people))])
        pool = GroupPool(search, k, search.affinity)
        costs = {1 << u: float(rows.losses[u]) for u in range(people)}
        for size in range(k, 2 * k):
            for some in itertools.combinations(range(people), size):
                costs[sum(1 << u for u in some)] = cost = float(generator.uniform(0, rows.losses[list(some)].sum()))
                pool.add(Group(np.array(some), np.empty((size, 0), dtype=np.int64), cost))
        _groups, holds, prices = pool.columns()
        chosen = _cheapest(holds, prices, search.cost, np.array([people]), len(prices))
        assert prices[chosen].sum() == pytest.approx(cheapest_partition(costs, people), abs=1e-9)
        assert holds[:, chosen].sum(axis=1).tolist() == [1] * people


def test_seven_customers_are_shared_as_cheaply_as_can_be() -> None:
    excess = []
    for seed in range(6):
        rows = histories([2, 1, 3, 2, 1, 2, 3], seed)
        best = cheapest_partition(group_costs(rows, range(3, 6)), 7)
        search = search_of(rows, [[0, 1, 2], [3, 4, 5, 6]])
        before = search.cost
        repartitioned(search, 3, search.affinity, 10, 7)
        assert best - 1e-7 <= search.cost <= before + 1e-9
        excess.append(search.cost / best - 1)
    assert np.mean(excess) < 0.02


def test_an_interruption_leaves_the_groups_chosen_last() -> None:
    rows = histories(np.random.default_rng(24).geometric(0.2, 24).tolist(), 24, items=8)
    costs: list[float] = []

    def report(share: float) -> None:
        costs.append(search.cost)
        if len(costs) > 1 and share:
            raise KeyboardInterrupt

    search = search_of(rows, [group.tolist() for group in np.array_split(np.arange(24), 8)])
    with pytest.raises(KeyboardInterrupt):
        repartitioned(search, 3, search.affinity, 10, 10, report=report)
    assert search.cost == costs[-1] < costs[0]
    assert sorted(np.concatenate([g.members for g in search.groups]).tolist()) == list(range(24))


def test_a_full_pool_lets_go_of_what_is_dear_and_keeps_the_present_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitioning, "_KEPT", 40)
    rows = histories(np.random.default_rng(24).geometric(0.2, 24).tolist(), 24, items=8)
    search = search_of(rows, [group.tolist() for group in np.array_split(np.arange(24), 8)])
    pool, before = GroupPool(search, 3, search.affinity), search.cost
    sizes = [pool.vary(10) and len(pool.groups) for _time in range(5)]
    assert any(later < earlier for earlier, later in itertools.pairwise(sizes))
    assert {tuple(sorted(group.members.tolist())) for group in search.groups} <= set(pool.groups)
    assert pool.choose(12) == pytest.approx(before - search.cost, abs=1e-9)
    assert sorted(np.concatenate([g.members for g in search.groups]).tolist()) == list(range(24))


def test_long_histories_are_laid_over_all_rows() -> None:
    rows = histories([LONG + 20, LONG + 10, LONG + 40], 4, items=60)
    search = search_of(rows, [[0, 1, 2]])
    coarse = search.cost
    assert repartitioned(search, 3, search.affinity, 1, 3) == pytest.approx(coarse - search.cost, abs=1e-9)
    assert search.cost < 0.99 * coarse
    assert repartitioned(search, 3, search.affinity, 0, 3) == 0
