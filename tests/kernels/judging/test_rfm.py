"""Ranks and the table of ranks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.judging.statistics import rank_of, rank_table, table_error


def test_different_values_fill_the_ranks_equally() -> None:
    values = np.random.Generator(np.random.PCG64(1)).permutation(1000).astype(float)
    assert np.bincount(rank_of(values, 10)).tolist() == [100] * 10
    assert (rank_of(values, 10) == values // 100).all()


@given(st.lists(st.integers(0, 5), min_size=1, max_size=30), st.integers(2, 10))
def test_a_rank_is_the_share_of_smaller_values(values: list[int], ranks: int) -> None:
    expected = [sum(v < x for v in values) * ranks // len(values) for x in values]
    assert rank_of(np.array(values, dtype=float), ranks).tolist() == expected


def test_a_table_counts_everybody_once() -> None:
    views = [np.arange(20.0), np.arange(20.0)[::-1], np.ones(20)]
    table = rank_table(views, 10)
    assert table.shape == (10, 10, 10)
    assert table.sum() == 20
    assert [table[i, 9 - i, 0] for i in range(10)] == [2] * 10


def test_the_error_is_over_the_range_of_the_original() -> None:
    original, other = np.array([10, 2, 0, 0]), np.array([6, 2, 4, 0])
    assert table_error(original, other) == pytest.approx(np.sqrt((16 + 16) / 4) / 10)
    assert table_error(original, original) == 0
    assert table_error(np.array([1, 1]), np.array([1, 1])) == 0
    assert table_error(np.array([1, 1]), np.array([2, 0])) == 1
