"""The statistics of a column by which S0 compares a release with its original (§6.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["STATISTICS", "column_statistics"]

STATISTICS = ("sum", "mean", "variance", "sd", "max", "min", "median")


def column_statistics(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the :data:`STATISTICS` of the values, variance and standard deviation being the population's.

    No values give zeros: their sum is 0, and a release with nothing in it is as wrong as the statistic is large.

    >>> column_statistics(np.array([1.0, 2.0, 2.0, 7.0])).tolist()
    [12.0, 3.0, 5.5, 2.345207879911715, 7.0, 1.0, 2.0]
    """
    if not len(values):
        return np.zeros(len(STATISTICS))
    variance = float(np.var(values))
    return np.array(
        [values.sum(), values.mean(), variance, np.sqrt(variance), values.max(), values.min(), np.median(values)]
    )
