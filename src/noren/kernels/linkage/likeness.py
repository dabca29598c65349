"""How near one number is to another in proportion: the smaller over the larger (S3: attacks S7 and S8, measure E5)."""

from __future__ import annotations

import numpy as np

from noren.kernels.arrays import Real

__all__ = ["likeness"]


def likeness(one: Real, other: Real) -> Real:
    """Return min/max of two positive numbers: 1 where they are equal, near 0 where they are far apart.

    Negative numbers, which the contest does not have, are compared by size; numbers of different sign, or one of them
    0, are not alike at all.

    >>> likeness(np.array([2.0, 0.0, 0.0, -2.0, -2.0]), np.array([4.0, 0.0, 4.0, -4.0, 4.0])).tolist()
    [0.5, 1.0, 0.0, 0.5, 0.0]
    """
    small, large = np.minimum(np.abs(one), np.abs(other)), np.maximum(np.abs(one), np.abs(other))
    ratio = np.divide(small, large, out=np.ones_like(large), where=large > 0)
    return np.where(np.signbit(one) == np.signbit(other), ratio, np.where(large > 0, 0.0, 1.0))
