"""Customers deleted whole: against brute force over all groups and all deletions, in the search and in the bounds."""

import numpy as np
import pytest
from tests.kernels.sharing.laid_examples import bounded, cheapest_partition, group_costs, histories

from noren.kernels.sharing.alignment import RowArrays, row_arrays
from noren.kernels.sharing.grouping import GroupSearch
from noren.kernels.sharing.pairing import PairTable, cheapest_factor, pair_tariff
from noren.kernels.sharing.partitioning import resized
from noren.kernels.sharing.shared_histories import Budget, Effort, SharedGroups, share_histories

SHORT = Effort(rounds=6, starts=2, tries=6, heat=0.06)


def found(rows: RowArrays, k: int, *, suppress: bool = True) -> SharedGroups:
    answer = share_histories(
        rows, k, SHORT, suppress=suppress, generator=np.random.default_rng(1), budget=Budget(), spread=map
    )
    return bounded(answer, rows, k, suppress=suppress)


def equal_rows(*counts: int) -> RowArrays:
    """Customers with so many rows each, all of them equal; a row has four cells."""
    total = sum(counts)
    columns = [np.zeros(total) for _ in range(3)]
    return row_arrays(np.concatenate([[0], np.cumsum(counts)]), columns, [1.0] * 3, [1.0] * 3, np.zeros(total, int))


@pytest.mark.parametrize(
    ("counts", "k", "lost"),
    [
        ((10, 10, 1), 2, 1),  # the pair, and the third deleted
        ((10, 10, 10, 1), 2, 1),  # a group of three is better than two pairs
        ((10, 10, 10, 10, 1, 2), 4, 3),
        ((10, 10, 10, 3, 3, 3, 1), 3, 1),
        ((10, 10, 10, 9), 3, 3),  # nobody is deleted where all may stay
        ((5, 5, 5, 5, 5), 3, 0),
    ],
)
def test_deleting_a_customer_where_that_is_cheapest(counts: tuple[int, ...], k: int, lost: int) -> None:
    rows = equal_rows(*counts)
    answer = found(rows, k)
    assert answer.cost == 4 * lost
    assert answer.bound is not None
    assert answer.bound <= 4 * lost + 1e-9
    inside = np.concatenate([group.members for group in answer.groups])
    assert (
        answer.cost
        == sum(group.cost for group in answer.groups) + rows.losses[np.setdiff1d(np.arange(len(counts)), inside)].sum()
    )


@pytest.mark.parametrize("people", [3, 4, 5, 6, 7])
@pytest.mark.parametrize("suppress", [True, False])
def test_pairs_and_deletions_are_the_best_there_are(people: int, suppress: bool) -> None:
    for seed in range(5):
        rows = histories(np.random.default_rng(seed).integers(1, 4, people).tolist(), seed)
        pairs = cheapest_partition(group_costs(rows, range(2, 3), suppress=suppress), people)
        best = cheapest_partition(group_costs(rows, range(2, min(people, 4) + 1), suppress=suppress), people)
        answer = found(rows, 2, suppress=suppress)
        assert best - 1e-7 <= answer.cost <= pairs + 1e-7
        assert answer.bound is not None
        assert answer.bound <= answer.cost + 1e-7
        if answer.proved:
            assert answer.bound == pytest.approx(pairs, abs=1e-7)
        if answer.anything is not None:
            assert answer.anything <= best + 1e-7


@pytest.mark.parametrize(("people", "k"), [(4, 3), (5, 3), (7, 3), (8, 3), (7, 4), (8, 4)])
def test_larger_groups_and_deletions_by_brute_force(people: int, k: int) -> None:
    excess = []
    for seed in range(5):
        # a few long histories among short ones: now and then it pays to be rid of one
        counts = np.random.default_rng(seed).choice([1, 2, 2], people).tolist()
        rows = histories(counts, seed, items=2)
        best = cheapest_partition(group_costs(rows, range(k, min(people, 2 * k - 1, 6) + 1)), people)
        answer = found(rows, k)
        assert answer.bound is not None
        assert answer.bound - 1e-7 <= best
        assert min(len(group.members) for group in answer.groups) >= k
        excess.append(answer.cost / best - 1)
    assert min(excess) >= -1e-9 or people > 6
    assert np.mean(excess) < 0.02


def test_no_more_than_k_less_one_deletions_are_priced_in() -> None:
    rows = equal_rows(1, 2, 4)
    free = cheapest_factor(PairTable(rows, pair_tariff(2, suppress=True)), 1)
    # the first deleted, or in part with both others: 4 at least; without deletion the pairs of three cost (4+8+12)/2
    assert free.bound == pytest.approx(12.0)
    alone = equal_rows(9, 9, 1)
    assert cheapest_factor(PairTable(alone, pair_tariff(2, suppress=True)), 1).bound == pytest.approx(4.0)


def test_a_deleted_customer_comes_back_where_there_is_a_place() -> None:
    rows = equal_rows(5, 5, 5, 5)
    search = GroupSearch(
        rows, [np.array([0, 1])], suppress=True, affinity=np.zeros((4, 4)), generator=np.random.default_rng(1)
    )
    search.replace([*search.groups, search.alone(2), search.alone(3)])
    assert search.cost == 40
    assert resized(search, 2, 4)
    assert search.cost == 0
    assert [len(group.members) for group in search.groups] == [4]
