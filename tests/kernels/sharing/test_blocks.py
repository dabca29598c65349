"""Who is searched together: every customer once, whole groups, and like with like, from four numbers a customer."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import examples
from tests.kernels.sharing.laid_examples import histories

from noren.kernels.sharing.alignment import FEATURES, blocks_of, customer_features

COUNTS = st.lists(st.integers(1, 9), min_size=2, max_size=60)


@examples(60)
@given(COUNTS, st.integers(2, 5), st.integers(2, 20))
def test_blocks_hold_everybody_once_in_whole_groups(counts: list[int], k: int, size: int) -> None:
    blocks = blocks_of(customer_features(histories(counts, 1)), k, size)
    assert sorted(np.concatenate(blocks).tolist()) == list(range(len(counts)))
    if len(blocks) > 1:
        assert min(map(len, blocks)) >= k
        assert sum(len(block) % k > 0 for block in blocks) <= 1
        assert max(map(len, blocks)) < 2 * size + k


@pytest.mark.parametrize(
    ("people", "k", "size", "expected"), [(8, 3, 6, [3, 5]), (13, 3, 6, [3, 6, 4]), (8, 2, 4, [4, 4])]
)
def test_by_row_count_alone_the_longest_are_last(people: int, k: int, size: int, expected: list[int]) -> None:
    rows = histories(np.random.default_rng(people).integers(1, 5, people).tolist(), people)
    blocks = blocks_of(customer_features(rows)[:, :1], k, size)
    assert [len(block) for block in blocks] == expected
    ends = [(rows.counts[block].min(), rows.counts[block].max()) for block in blocks]
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(ends))


def test_customers_of_one_length_are_cut_where_their_dates_lie_apart() -> None:
    features = np.zeros((8, FEATURES))
    features[:, 0] = 10
    features[:, 1] = [1, -1, 1, -1, 1, -1, 1, -1]
    assert [sorted(block.tolist()) for block in blocks_of(features, 2, 4)] == [[1, 3, 5, 7], [0, 2, 4, 6]]
    features[:, 0] = [10, 10, 10, 10, 90, 90, 90, 90]  # 80 rows of four cells outweigh two deviations of 90 rows
    assert [sorted(block.tolist()) for block in blocks_of(features, 2, 4)] == [[0, 1, 2, 3], [4, 5, 6, 7]]


@settings(max_examples=20, deadline=None)
@given(COUNTS, st.floats(0.0, 0.9))
def test_features_are_those_of_each_customer_alone(counts: list[int], missing: float) -> None:
    """Bit for bit: another engine may compute them customer by customer."""
    rows = histories(counts, 2, missing=missing)
    whole = customer_features(rows)
    alone = [customer_features(rows.of(np.array([u])))[0] for u in range(len(counts))]
    assert whole.tobytes() == np.array(alone).tobytes()
    for u in range(len(counts)):
        point = rows.point[:, rows.start[u] : rows.start[u + 1]]
        known = [column[column < 1e29].clip(-2, 2) for column in point]
        means = [float(column.mean()) if len(column) else 0.0 for column in known]
        assert whole[u].tolist() == pytest.approx([counts[u], *means], abs=1e-12)
