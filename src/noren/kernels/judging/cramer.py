"""Cramér's V: how much two columns of categories have to do with each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["cramers_v"]


def cramers_v(one: NDArray[np.integer], two: NDArray[np.integer]) -> float:
    """Return ``sqrt(χ² / (n·min(r-1, c-1)))``: 0 for independent columns, 1 where one tells the other.

    Values that do not occur do not count as rows or columns; a constant column has nothing to tell.

    >>> one = np.array([0, 0, 1, 1])
    >>> cramers_v(one, one), cramers_v(one, np.array([0, 1, 0, 1]))
    (1.0, 0.0)
    """
    if not len(one):
        return 0.0
    shape = int(one.max()) + 1, int(two.max()) + 1
    table = (
        np.bincount(one.astype(np.int64) * shape[1] + two, minlength=shape[0] * shape[1]).reshape(shape).astype(float)
    )
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    if min(table.shape) < 2:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    chi = float(((table - expected) ** 2 / expected).sum())
    return float(np.sqrt(chi / (table.sum() * (min(table.shape) - 1))))
