"""The middle of values that were counted."""

from __future__ import annotations

import numpy as np

from noren.kernels.arrays import Whole

__all__ = ["weighted_median"]


def weighted_median(values: Whole, weights: Whole) -> float:
    """Return the median of values each of which comes so many times.

    >>> weighted_median(np.array([5, 1]), np.array([2, 2])), weighted_median(np.array([5, 1]), np.array([3, 2]))
    (3.0, 5.0)
    """
    order = np.argsort(values, kind="stable")
    values, until = values[order], np.cumsum(weights[order])
    total = int(until[-1])
    low, high = (values[np.searchsorted(until, place, side="right")] for place in ((total - 1) // 2, total // 2))
    return float((low + high) / 2)
