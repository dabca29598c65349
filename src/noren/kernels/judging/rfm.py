"""The table of an RFM analysis: how many customers have each combination of ranks (S0 §6.1.2)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from noren.kernels.arrays import Real, Whole

__all__ = ["rank_of", "rank_table", "table_error"]


def rank_of(values: Real, ranks: int) -> Whole:
    """Return each value's rank 0 … ``ranks - 1`` among all: the share of values that are smaller, cut into equal parts.

    Equal values have equal ranks, so a rank may be empty.

    >>> rank_of(np.array([5.0, 1.0, 1.0, 9.0]), 2).tolist()
    [1, 0, 0, 1]
    """
    smaller = np.searchsorted(np.sort(values), values, side="left")
    return smaller * ranks // max(len(values), 1)


def rank_table(views: Sequence[Real], ranks: int) -> Whole:
    """Return how many customers have each combination of ranks in the ``views`` (recency, frequency, money).

    >>> rank_table([np.array([1.0, 2.0]), np.array([8.0, 7.0])], 2).tolist()
    [[0, 1], [1, 0]]
    """
    place = np.zeros(len(views[0]), dtype=np.int64)
    for view in views:
        place = place * ranks + rank_of(view, ranks)
    shape = (ranks,) * len(views)
    return np.bincount(place, minlength=ranks ** len(views)).reshape(shape)


def table_error(original: Whole, other: Whole) -> float:
    """Return the root of the mean squared difference of two tables over the range of the original's counts.

    >>> table_error(np.array([[0, 4], [4, 0]]), np.array([[2, 2], [2, 2]]))
    0.5
    """
    spread = original.max() - original.min()
    distance = float(np.sqrt(np.mean((original.astype(np.float64) - other) ** 2)))
    return distance / float(spread) if spread else (0.0 if distance == 0 else 1.0)
