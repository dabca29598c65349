"""Who is left after each known point, against sets in plain Python."""

import numpy as np
import pytest

from noren.kernels.linkage.feasibility import KnownRows, PublicRows
from noren.kernels.linkage.known_points import NOT_ASKED, Holders, equal_histories, fitting_holders, narrowed


def lists(sets: list[set[int]], points: int) -> Holders:
    pairs = sorted((point, who) for who, own in enumerate(sets) for point in own)
    point, who = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return Holders.of(point, who, points, np.ones(len(sets), dtype=np.int64))


def every(first, point, own, holders) -> tuple[np.ndarray, np.ndarray]:
    _done, left, right = zip(*narrowed(first, point, own, holders), strict=True)
    return np.concatenate(left), np.concatenate(right)


@pytest.mark.parametrize("seed", range(5))
def test_what_is_left_is_the_intersection(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = 30
    # common and rare points, so that both sides of a pair of lists are the shorter one
    sets = [{p for p in range(points) if rng.random() < 1 / (1 + p % 7)} | {points + who % 3} for who in range(150)]
    known = [rng.permutation(sorted(own))[: rng.integers(0, 9)] for own in sets]
    first = np.concatenate(([0], np.cumsum([len(k) for k in known]))).astype(np.int64)
    own = np.arange(len(sets))
    left, right = every(first, np.concatenate(known).astype(np.int64), own, lists(sets, points + 3))
    for who, order in enumerate(known):
        for step in range(left.shape[1]):
            if step >= len(order):
                assert left[who, step] == NOT_ASKED
                continue
            fitting = {other for other, theirs in enumerate(sets) if set(order[: step + 1].tolist()) <= theirs}
            assert left[who, step] == len(fitting)
            assert right[who, step] == (fitting == {who})
    asked = left >= 0
    assert (left[:, 1:] <= left[:, :-1])[asked[:, 1:]].all()


@pytest.mark.parametrize("seed", range(3))
def test_coarser_points_in_the_same_order_never_leave_fewer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 8, size=24)
    sets = [set(rng.choice(24, size=6, replace=False).tolist()) for _who in range(80)]
    order = np.concatenate([rng.permutation(sorted(own)) for own in sets])
    first, own = np.arange(81) * 6, np.arange(80)
    fine, _right = every(first, order, own, lists(sets, 24))
    less, _right = every(first, coarse[order], own, lists([set(coarse[list(s)].tolist()) for s in sets], 8))
    assert (less >= fine).all()
    assert (less > fine).any()


def test_sharing_counts_people_and_a_shared_history_is_nobodys() -> None:
    holders = Holders.of(np.array([0]), np.array([0]), 1, np.array([2]))
    left, right = every(np.array([0, 1]), np.array([0]), np.array([0]), holders)
    assert (left.tolist(), right.tolist()) == ([[2]], [[False]])


def test_none_is_left_where_nobody_holds_a_point() -> None:
    holders = Holders.of(np.array([0]), np.array([0]), 2, np.array([1]))
    left, right = every(np.array([0, 2]), np.array([0, 1]), np.array([0]), holders)
    assert (left.tolist(), right.tolist()) == ([[1, 0]], [[True, True]])


def test_who_passes_over_what_nobody_left_holds_goes_on() -> None:
    """Points 0 and 3 are held by nobody; 1 by both, 2 by the second alone."""
    holders = Holders.of(np.array([1, 1, 2]), np.array([0, 1, 1]), 4, np.array([1, 1]))
    left, found = every(np.array([0, 4]), np.array([0, 1, 3, 2]), np.array([1]), holders)
    assert left.tolist() == [[0, 0, 0, 0]]
    assert found.tolist() == [[False, False, False, True]]


def test_equal_histories_are_equal_sets() -> None:
    rng = np.random.default_rng(3)
    sets = [frozenset(rng.integers(0, 4, size=rng.integers(0, 4)).tolist()) for _who in range(60)]
    pairs = np.array([(p, who) for who, own in enumerate(sets) for p in own], dtype=np.int64)
    number, who = equal_histories(pairs[:, 0], pairs[:, 1], len(sets), 4)
    assert [[number[a] == number[b] for b in range(60)] for a in range(60)] == [[a == b for b in sets] for a in sets]
    assert all(sets[who[number[a]]] == sets[a] for a in range(60))


@pytest.mark.parametrize("seed", range(4))
def test_rows_that_allow_a_point(seed: int) -> None:
    """Sets, intervals, suppressed cells, blanks, and a set that lists nothing, each cell against plain Python."""
    rng = np.random.default_rng(seed)
    rows, items, histories = 80, 5, 9
    cells = []
    for _row in range(rows):
        listed = sorted(rng.choice(items, size=rng.integers(0, 4), replace=False).tolist())
        cells.append((None if rng.random() < 0.1 else listed, *sorted(rng.integers(0, 12, size=2).tolist())))
    free = rng.random(rows) < 0.1
    size = np.array([0 if listed is None else len(listed) for listed, *_ends in cells])
    members = np.array([item for listed, *_ends in cells for item in listed or ()], dtype=np.float64)
    lo = np.array([[-np.inf if one is None else (one[0] if one else np.inf), a] for one, a, _b in cells], dtype=float)
    hi = np.array([[np.inf if one is None else (one[-1] if one else -np.inf), b] for one, _a, b in cells], dtype=float)
    lo[free, 1], hi[free, 1] = -np.inf, np.inf
    first, stop = np.zeros((rows, 2), dtype=np.int64), np.zeros((rows, 2), dtype=np.int64)
    stop[:, 0] = np.cumsum(size)
    first[:, 0] = stop[:, 0] - size
    whose = rng.integers(0, histories, size=rows)
    points = np.column_stack((rng.integers(0, items, 40), rng.integers(0, 12, 40))).astype(float)
    points[:3, 0], points[2:5, 1] = np.nan, np.nan
    known = KnownRows.of(points, np.arange(40), 40, items)
    public = PublicRows.of(lo, hi, first, stop, members, whose, histories, known)
    found = fitting_holders(points, public, np.ones(histories, dtype=np.int64))
    for at, (item, value) in enumerate(points):
        wanted = {
            int(whose[row])
            for row, (listed, a, b) in enumerate(cells)
            if (listed is None or item in listed) and (free[row] or a <= value <= b)
        }
        assert found.history[found.first[at] : found.first[at + 1]].tolist() == sorted(wanted)
