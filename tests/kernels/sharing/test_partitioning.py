"""The best of a pool of groups: never dearer, everybody once, and the optimum of small cases."""

import numpy as np
import pytest
from tests.kernels.sharing.laid_examples import histories

from noren.kernels.sharing.alignment import RowArrays, row_arrays
from noren.kernels.sharing.grouping import GroupSearch
from noren.kernels.sharing.partitioning import repartitioned


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
    gain = repartitioned(search, 3, 12, 8)
    assert search.cost == pytest.approx(0.0, abs=1e-9)
    assert gain > 6
    assert sorted(sorted(g.members.tolist()) for g in search.groups) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert repartitioned(search, 3, 12, 8) == 0


@pytest.mark.parametrize(("people", "k"), [(24, 3), (25, 4), (23, 5)])
def test_nothing_is_lost_and_everybody_is_there_once(people: int, k: int) -> None:
    rows = histories(np.random.default_rng(people).geometric(0.2, people).tolist(), people, items=8)
    groups = [group.tolist() for group in np.array_split(np.arange(people), people // k)]
    search = search_of(rows, groups)
    before = search.cost
    gain = repartitioned(search, k, 10, 10)
    assert gain > 0
    assert search.cost == pytest.approx(before - gain, abs=1e-9)
    assert sorted(np.concatenate([g.members for g in search.groups]).tolist()) == list(range(people))
    assert all(len(g.members) >= k or g.deleted for g in search.groups)
    again = search_of(rows, groups)
    repartitioned(again, k, 10, 10)
    assert [g.table.tolist() for g in again.groups] == [g.table.tolist() for g in search.groups]
