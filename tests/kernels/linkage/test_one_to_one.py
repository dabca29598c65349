"""Chances and assignments when nobody has two pseudonyms."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.linkage.assignment import best_listed, best_pairs, fair_listed_shares, fair_shares, greedy_pairs


def tables(rows: st.SearchStrategy[int], columns: st.SearchStrategy[int]) -> st.SearchStrategy[np.ndarray]:
    return st.tuples(rows, columns, st.integers(0, 9999)).map(
        lambda about: np.random.Generator(np.random.PCG64(about[2])).normal(0, 2, about[:2])
    )


@given(tables(st.integers(1, 4), st.integers(4, 6)))
def test_rows_sum_to_one_and_columns_to_one_at_most(score: np.ndarray) -> None:
    share = fair_shares(score)
    assert share.sum(axis=1) == pytest.approx(np.ones(len(score)))
    assert (share.sum(axis=0) < 1.02).all()


def test_a_pair_that_cannot_be_has_no_chance() -> None:
    share = fair_shares(np.array([[0.0, -np.inf], [0.0, 0.0]]))
    assert share == pytest.approx(np.array([[1.0, 0.0], [0.0, 1.0]]), abs=0.03)
    assert fair_shares(np.full((1, 2), -np.inf)).tolist() == [[0.0, 0.0]]
    assert fair_shares(np.zeros((0, 3))).shape == (0, 3)


@given(tables(st.integers(1, 4), st.integers(1, 4)))
def test_the_best_pairs_are_the_best(gain: np.ndarray) -> None:
    row, column = best_pairs(gain)
    assert (gain[row, column] > 0).all()
    small, large = sorted(gain.shape)
    wide = gain if gain.shape[0] == small else gain.T
    best = max(sum(max(wide[r, c], 0) for r, c in enumerate(chosen)) for chosen in permutations(range(large), small))
    assert gain[row, column].sum() == pytest.approx(best)
    assert len(set(row)) == len(set(column)) == len(row)


@given(tables(st.integers(1, 4), st.integers(4, 6)))
def test_shares_of_a_full_list_are_those_of_the_table(score: np.ndarray) -> None:
    row, column = np.indices(score.shape).reshape(2, -1)
    share = fair_listed_shares(row, column, score.ravel(), np.full(len(score), -np.inf), score.shape)
    assert share.reshape(score.shape) == pytest.approx(fair_shares(score))


def test_who_is_not_listed_takes_a_share() -> None:
    # one listed customer, e times as likely as each of the three others, for whom nothing speaks
    share = fair_listed_shares(np.array([0]), np.array([1]), np.array([1.0]), np.log([3.0]), (1, 4))
    assert share == pytest.approx([np.e / (np.e + 3)])


@given(tables(st.integers(1, 5), st.integers(1, 5)), st.integers(0, 9999))
def test_the_best_of_a_list_are_the_best_of_its_table(gain: np.ndarray, seed: int) -> None:
    there = np.random.Generator(np.random.PCG64(seed)).random(gain.shape) < 0.6
    row, column = np.nonzero(there)
    at = best_listed(row, column, gain[there], gain.shape)
    assert len(set(row[at])) == len(set(column[at])) == len(at)
    expected = np.where(there, gain, 0.0)
    assert gain[there][at].sum() == pytest.approx(expected[best_pairs(expected)].sum(), abs=1e-4)
    assert (gain[there][at] > 0).all()


@pytest.mark.parametrize("names", [150, 300])
@pytest.mark.parametrize("whole", [True, False])
def test_long_lists_lose_little(whole: bool, names: int) -> None:
    draw = np.random.Generator(np.random.PCG64(names))
    gain = np.where(draw.random((300, names)) < 0.05, draw.exponential(1.0, (300, names)), 0.0)
    gain = np.ceil(gain) if whole else gain
    row, column = np.nonzero(gain)
    at = best_listed(row, column, gain[row, column], gain.shape)
    assert len(set(row[at])) == len(set(column[at])) == len(at)
    best, rate = gain[best_pairs(gain)].sum(), 300**2 / 2**26
    # prices are part of a bound that is at most so much above the sum
    lost = (300 * gain.max() / 2**20 + rate * best) / (1 - rate)
    assert best - lost <= gain[row, column][at].sum() <= best + 1e-9


@given(tables(st.integers(1, 5), st.integers(1, 5)))
def test_greedy_takes_the_largest_that_is_left(gain: np.ndarray) -> None:
    row, column = np.indices(gain.shape).reshape(2, -1)
    expected = []
    left = gain.copy()
    while left.max(initial=0.0) > 0:
        r, c = np.unravel_index(left.argmax(), left.shape)
        expected.append((int(r), int(c)))
        left[r], left[:, c] = -np.inf, -np.inf
    rows, columns = greedy_pairs(row, column, gain.ravel(), gain.shape)
    assert list(zip(rows.tolist(), columns.tolist(), strict=True)) == sorted(expected)
