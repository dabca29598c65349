"""Sets of items from rows: duplicates, weights, items without a code."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.items.packed_sets import CERTAIN, item_sets, shared_weights, weight_of_one_in


def test_rows_in_any_order() -> None:
    owner, item = np.array([2, 0, 2, 0, -1, 2]), np.array([1, 3, 0, 3, 2, 9])
    found = item_sets(owner, item, 4, 4)
    assert found.first.tolist() == [0, 1, 1, 3, 3]
    assert found.item.tolist() == [3, 0, 1]
    assert found.weight.tolist() == [1, 1, 1]
    assert found.total.tolist() == [1, 0, 3, 0]  # item 9 has no code, and counts
    assert found.sizes.tolist() == [1, 0, 2, 0]


def test_the_larger_weight_stays() -> None:
    owner, item, weight = np.array([0, 0, 0, 0]), np.array([1, 1, 1, 0]), np.array([7, CERTAIN, 5, 3])
    found = item_sets(owner, item, 1, 2, weight)
    assert (found.item.tolist(), found.weight.tolist()) == ([0, 1], [3, CERTAIN])
    assert (found.total.tolist(), found.unit) == ([CERTAIN + 3], CERTAIN)


def test_no_rows_and_rows_without_an_item() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert item_sets(none, none, 2, 3).first.tolist() == [0, 0, 0]
    assert item_sets(none, none, 0, 0, none).first.tolist() == [0]
    assert item_sets(np.array([0, 0]), np.array([-1, 2]), 1, 3).item.tolist() == [2]


@given(st.integers(1, 10**9))
def test_a_share_is_right_to_half_a_unit(size: int) -> None:
    weight = int(weight_of_one_in(np.array([size]))[0])
    assert weight >= 1
    assert abs(weight * size - CERTAIN) * 2 <= size or weight == 1
    assert size > 16 or weight * size == CERTAIN


def test_what_pairs_of_sets_share() -> None:
    first, start = np.array([0, 3, 3, 5]), np.array([0, 2, 4, 5])
    item, known = np.array([1, 4, 7, 2, 9], dtype=np.int32), np.array([4, 7, 1, 2, 8], dtype=np.int32)
    weight = np.array([6, 3, 2, 6, 6])
    # {1, 4, 7} with {4, 7}; nothing with {1, 2}; {2, 9} with {8}
    assert shared_weights(first[:-1], first[1:], item, weight, start[:-1], start[1:], known).tolist() == [5, 0, 0]
