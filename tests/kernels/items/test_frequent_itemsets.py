"""Frequent itemsets against brute force."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.items import item_similarity as itemsets
from noren.kernels.items.item_similarity import basket_matrix, frequent_sets, support

BASKETS = st.lists(st.sets(st.integers(0, 6), min_size=1), min_size=1, max_size=12)


def matrix(baskets: list[set[int]]):
    pairs = [(b, i) for b, items in enumerate(baskets) for i in items]
    return basket_matrix(np.array([b for b, _i in pairs]), np.array([i for _b, i in pairs]), 7)


def counted(baskets: list[set[int]], size: int) -> dict[tuple[int, ...], int]:
    return {sets: sum(set(sets) <= b for b in baskets) for sets in combinations(range(7), size)}


@given(BASKETS, st.integers(1, 4), st.integers(1, 4))
def test_all_frequent_sets_and_no_others(baskets: list[set[int]], least: int, largest: int) -> None:
    found = [tuple(s) for sets in frequent_sets(matrix(baskets), least, largest) for s in sets.tolist()]
    expected = [s for size in range(1, largest + 1) for s, n in counted(baskets, size).items() if n >= least]
    assert found == sorted(expected, key=lambda s: (len(s), s))


@given(BASKETS, st.integers(1, 3))
def test_support(baskets: list[set[int]], size: int) -> None:
    wanted = counted(baskets, size)
    assert support(matrix(baskets), np.array(list(wanted))).tolist() == list(wanted.values())


def test_many_sets_are_counted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(itemsets, "_SETS_AT_A_TIME", 2)
    both = matrix([{0, 1, 2}, {0, 1}, {2}])
    assert support(both, np.array([[0, 1], [0, 2], [1, 2], [3, 4], [0, 1]])).tolist() == [2, 1, 1, 0, 2]


def test_too_many_candidates_end_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    baskets = matrix([{0, 1, 2, 3}, {0, 1, 2, 3}])
    assert [len(sets) for sets in frequent_sets(baskets, 2, 4)] == [4, 6, 4, 1]
    monkeypatch.setattr(itemsets, "MOST_SETS", 3)
    assert [len(sets) for sets in frequent_sets(baskets, 2, 4)] == [4, 6]
