"""Whole records from parts of records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["whole_cells"]


def whole_cells(table: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the table in whole numbers that add up to its own sum: the largest remainders are rounded up.

    No cell moves by 1 or more. Of equal remainders the first cell's comes first.

    >>> whole_cells(np.array([1.5, 0.3, 1.2])).tolist()
    [2, 0, 1]
    """
    flat = np.maximum(table.ravel(), 0.0)
    down = np.floor(flat).astype(np.int64)
    missing = round(float(flat.sum())) - int(down.sum())
    order = np.argsort(down - flat, kind="stable")
    down[order[: max(missing, 0)]] += 1
    return down.reshape(table.shape)
