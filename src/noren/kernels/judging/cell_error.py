"""What a released cell costs: the expected error of drawing a value from it (S0 §2.4.2).

A missing value or a suppressed cell is NaN. Nothing here knows dates, files or frames.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from noren.kernels.arrays import Real, Whole


def interval_error(value: Real, lo: Real, hi: Real, *, width: float, sd: float) -> Real:
    """Return the expected ``|x - y| / sd`` for ``y`` uniform on the grid ``lo, lo + width, …, hi``.

    With ``x = lo + i·w`` and ``hi = lo + N·w`` inside the interval, the N + 1 distances are ``i·w, …, w, 0, w, …,
    (N - i)·w``; they sum to ``w·(i(i+1) + (N-i)(N-i+1))/2``, so the mean is S0's
    ``((lo-x)² + (hi-x)² + (hi-lo)·w) / (2·(hi-lo+w))``. Outside, every ``y`` lies on one side of ``x``, so the mean
    distance is that from the middle: ``|x - (lo+hi)/2|``. The two agree at both ends, and an exact value (``lo = hi``)
    costs ``|x - lo|``.

    A suppressed cell costs 1, and so does a cell that is said where the original has none; both missing costs 0. In a
    constant column (``sd = 0``) no error can be scaled: the one right value costs 0, everything else 1.

    >>> x, lo, hi = np.array([3.0, 3.0, 3.0]), np.array([2.0, 3.0, 6.0]), np.array([4.0, 3.0, 8.0])
    >>> interval_error(x, lo, hi, width=1, sd=2).round(4).tolist()
    [0.3333, 0.0, 2.0]
    """
    if sd > 0:
        inside = ((lo - value) ** 2 + (hi - value) ** 2 + (hi - lo) * width) / (2 * (hi - lo + width))
        outside = np.abs(value - (lo + (hi - lo) / 2))
        error = np.where((lo <= value) & (value <= hi), inside, outside) / sd
    else:
        error = np.where((lo == value) & (value == hi), 0.0, 1.0)
    return _with_missing(error, np.isnan(value), np.isnan(lo) | np.isnan(hi))


def set_error(
    holds: NDArray[np.bool_], size: Real, *, missing: NDArray[np.bool_], suppressed: NDArray[np.bool_]
) -> Real:
    """Return the chance that a value drawn from a set is not the true one: ``1 - 1/size``, or 1 where it is not in it.

    ``missing`` tells where the original has no value, ``suppressed`` where the release says none.

    >>> no = np.zeros(3, dtype=bool)
    >>> set_error(np.array([True, True, False]), np.array([1.0, 4.0, 2.0]), missing=no, suppressed=no).tolist()
    [0.0, 0.75, 1.0]
    """
    error = np.where(holds & (size > 0), 1 - 1 / np.maximum(size, 1), 1.0)
    return _with_missing(error, missing, suppressed)


def _with_missing(error: Real, missing: NDArray[np.bool_], suppressed: NDArray[np.bool_]) -> Real:
    return np.where(missing | suppressed, np.where(missing & suppressed, 0.0, 1.0), error)


def population_sd(values: Real) -> float:
    """Return the population standard deviation of the values there are; 0 where there are none.

    Equal values give exactly 0, which a rounded mean would not.

    >>> population_sd(np.array([1.0, 3.0, np.nan]))
    1.0
    """
    known = values[~np.isnan(values)]
    if not len(known) or known.min() == known.max():
        return 0.0
    return float(np.std(known))


def counted(values: Real) -> tuple[Real, Whole]:
    """Return the values there are, each once and in rising order, and how often each is there.

    >>> [part.tolist() for part in counted(np.array([3.0, 1.0, np.nan, 3.0]))]
    [[1.0, 3.0], [1, 2]]
    """
    value, count = np.unique(values[~np.isnan(values)], return_counts=True)
    return value, count.astype(np.int64)


def counted_sd(value: Real, count: Whole) -> float:
    """Return the population standard deviation of counted values; sums are rounded once, so no order of rows shows.

    >>> counted_sd(np.array([1.0, 3.0]), np.array([1, 1]))
    1.0
    """
    if len(value) < 2:
        return 0.0
    rows = int(count.sum())
    mean = math.fsum((value * count).tolist()) / rows
    return math.sqrt(math.fsum((count * (value - mean) ** 2).tolist()) / rows)


def exact_sum(errors: Real) -> float:
    """Return the sum, rounded once: the same for every order of the rows and every cut into blocks.

    Numbers are cut into three whole numbers of 30 bits after the point each; they add up without rounding. What
    does not fit, because it is larger than 2^32 or has digits beyond 2^-90, is summed number by number.

    >>> exact_sum(np.array([0.1] * 10)), exact_sum(np.array([1e100, 1.0, -1e100, 1.0]))
    (1.0, 2.0)
    """
    largest = float(np.abs(errors).max(initial=0.0))
    if not largest * max(len(errors), 1) < 2.0**32:
        return math.fsum(errors.tolist())
    rest, total = errors, 0
    for _level in range(3):
        scaled = rest * 2.0**30
        whole = np.floor(scaled)
        rest = scaled - whole
        total = (total << 30) + int(whole.astype(np.int64).sum())
    return math.fsum(errors.tolist()) if rest.any() else total / 2**90
