"""One customer for each pseudonym: against brute force, and where pairs are too many for a table."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from noren.attacks import assignment
from noren.attacks.assignment import assigned
from noren.errors import ParameterError


def test_the_sum_is_the_largest_there_is() -> None:
    for seed in range(20):
        score = np.random.Generator(np.random.PCG64(seed)).normal(size=(5, 6))
        row, column, margin = assigned("one", score.shape, score.__getitem__, seed=1)
        assert row.tolist() == list(range(5))
        assert score[row, column].sum() == max(score[row, list(c)].sum() for c in permutations(range(6), 5))
        others = [np.delete(score[r], c).max() for r, c in zip(row, column, strict=True)]
        assert margin == pytest.approx(score[row, column] - others)


def test_blocks_and_lists_change_nothing_where_the_best_is_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.Generator(np.random.PCG64(1))
    score = draw.random((300, 300))
    truth = draw.permutation(300)
    score[np.arange(300), truth] += 1
    for most, rows in ((90_000, 4096), (90_000, 7), (0, 4096), (0, 7)):
        row, column, margin = assigned("one", score.shape, score.__getitem__, seed=1, most=most, rows=rows)
        assert (row.tolist(), column.tolist()) == (list(range(300)), truth.tolist())
        assert (margin > 0).all()
    listed = np.stack([truth, (truth + 1) % 300], axis=1)
    scored = np.take_along_axis(score, listed, axis=1)
    _row, column, _margin = assigned("one", score.shape, scored.__getitem__, seed=1, listed=listed)
    assert column.tolist() == truth.tolist()
    monkeypatch.setattr(assignment, "MOST_PAIRS", 89_999)
    with pytest.raises(
        ParameterError, match="one would compare 90,000 pairs, which is too many; use jaccard, or attack"
    ):
        assigned("one", score.shape, score.__getitem__, seed=1)


def test_pairs_that_nobody_scored_are_not_named() -> None:
    # both rows list the first column alone: one of them is left without a name
    row, column, margin = assigned(
        "one", (2, 2), np.array([[2.0], [3.0]]).__getitem__, seed=1, listed=np.zeros((2, 1), np.int64)
    )
    assert (row.tolist(), column.tolist(), margin.tolist()) == ([1], [0], [1.0])


def test_seeds_decide_between_equals_and_repeat() -> None:
    draws = [tuple(assigned("one", (3, 3), np.zeros((3, 3)).__getitem__, seed=seed)[1]) for seed in range(30)]
    assert len(set(draws)) > 3
    assert draws[0] == tuple(assigned("one", (3, 3), np.zeros((3, 3)).__getitem__, seed=0)[1])
