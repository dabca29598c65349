"""Numbers of rows as evidence."""

import numpy as np
import pytest

from noren.kernels.linkage.row_layout import Counts, first_counts, kept_share


def test_equal_numbers_speak_most_where_numbers_are_kept() -> None:
    public, known = np.array([1, 7, 30]), np.array([30, 1, 7])
    assert kept_share(public, known) == 3
    counts = first_counts(public, known, 1.0)
    said, level, usual = counts.evidence(public, known)
    assert (said.argmax(axis=1) == [1, 2, 0]).all()
    assert ((level == 0) == (public[:, None] == known[None, :])).all()
    assert usual.sum() == pytest.approx(1)


def test_the_rate_and_the_levels_are_learnt_from_trusted_pairs() -> None:
    counts = first_counts(np.array([10, 20]), np.array([10, 20]), 0.0)
    public, known = np.array([5, 10, 99]), np.array([10, 20, 1])
    usual = np.full(6, 1 / 6)
    learnt = counts.learnt(public, known, counts.levels(public, known), np.array([1.0, 1.0, 0.0]), usual)
    assert learnt.rate == pytest.approx(0.5)
    assert learnt.levels(np.array([5]), np.array([10])).tolist() == [1]
    assert learnt.chance.sum() == pytest.approx(1)
    assert (np.diff(learnt.chance) <= 1e-12).all()
    assert counts.learnt(public, known, counts.levels(public, known), np.zeros(3), usual) is counts


def test_beside_whom_all_have_the_same_number_it_says_little() -> None:
    said, _level, _usual = Counts(1.0, np.full(6, 1 / 6)).evidence(np.array([4, 4, 4]), np.array([4, 400]))
    assert said[0, 0] == pytest.approx(np.log((1 / 6) / ((3 + 3 * 0.5) / 6)))
    assert (said == said[0]).all()


def test_equal_numbers_may_be_said_once() -> None:
    counts = Counts(0.8, np.array([0.3, 0.4, 0.2, 0.05, 0.03, 0.02]))
    public, known = np.array([3, 1, 3, 7]), np.array([4, 4, 1, 9, 4])
    (p, row, many), (k, column, held) = (
        np.unique(side, return_inverse=True, return_counts=True) for side in (public, known)
    )
    table, level, usual = counts.evidence(p, k, many, held)
    whole = counts.evidence(public, known)
    assert np.array_equal(table[row][:, column], whole[0])
    assert np.array_equal(level[row][:, column], whole[1])
    assert np.array_equal(usual, whole[2])
