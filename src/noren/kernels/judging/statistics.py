"""Statistics that measures compare: of a column, of two columns, of customers, of a sampled total."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit
from scipy.stats import rankdata, t

from noren.errors import ParameterError
from noren.i18n import _
from noren.kernels.arrays import Real, Whole

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


# --- The middle of values that were counted ---------------------------------------------------------------------------


def weighted_median(values: Real | Whole, weights: Whole) -> float:
    """Return the median of values each of which comes so many times; 0 where there are none.

    >>> weighted_median(np.array([5, 1]), np.array([2, 2])), weighted_median(np.array([5, 1]), np.array([3, 2]))
    (3.0, 5.0)
    """
    order = np.argsort(values, kind="stable")
    values, until = values[order], np.cumsum(weights[order])
    if not len(until) or not (total := int(until[-1])):
        return 0.0
    low, high = (values[np.searchsorted(until, place, side="right")] for place in ((total - 1) // 2, total // 2))
    return float((low + high) / 2)


# --- A total over many blocks, estimated from some of them, with an interval ------------------------------------------


_SURE = 0.95


@dataclass(frozen=True)
class SampledTotal:
    """The total, the ends of its 95 % interval, and how many blocks were looked at; all of them: the ends are it."""

    value: float
    low: float
    high: float
    sampled: int


def sampled_total(values: Real, sizes: Real, all_sizes: float, blocks: int) -> SampledTotal:
    """Return the total of a value over all blocks from those of blocks drawn at random without replacement.

    Large blocks have large values, so what is estimated is the value to a unit of size, by the ratio of the sums, and
    the interval comes from the blocks' differences from it: Student's t, less the share of blocks that is known
    (Cochran, Sampling Techniques, 1977, section 6.4). With all blocks the total is exact.

    >>> sampled_total(np.array([1.0, 2.0]), np.array([2.0, 4.0]), 12.0, 4)
    SampledTotal(value=6.0, low=6.0, high=6.0, sampled=2)
    >>> sampled_total(np.array([1.0, 3.0]), np.array([2.0, 4.0]), 6.0, 2).value
    4.0
    """
    count = len(values)
    total = float(values.sum())
    if count == blocks:
        return SampledTotal(total, total, total, count)
    ratio = total / max(float(sizes.sum()), 1e-300)
    estimate = ratio * all_sizes
    if count < 2:
        return SampledTotal(estimate, 0.0, all_sizes, count)
    spread = float(np.sum((values - ratio * sizes) ** 2)) / (count - 1)
    error = blocks * float(np.sqrt((1 - count / blocks) * spread / count))
    reach = float(t.ppf((1 + _SURE) / 2, count - 1)) * error
    return SampledTotal(estimate, max(estimate - reach, 0.0), min(estimate + reach, all_sizes), count)


# --- How surely two measures move together: correlations, their intervals, and where chance ends ----------------------


def pearson(x: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    """Return Pearson's correlation, or None where one side is constant and there is none.

    >>> x = np.array([1.0, 2.0, 3.0])
    >>> pearson(x, 2 * x), pearson(x, np.ones(3))
    (1.0, None)
    """
    if x.min() == x.max() or y.min() == y.max():
        return None
    dx, dy = x - x.mean(), y - y.mean()
    r = float((dx @ dy) / np.sqrt((dx @ dx) * (dy @ dy)))
    return max(-1.0, min(1.0, r))


def spearman(x: NDArray[np.float64], y: NDArray[np.float64]) -> float | None:
    """Return Spearman's correlation: Pearson's of the ranks, equals sharing the mean of theirs.

    >>> spearman(np.array([1.0, 2.0, 9.0]), np.array([2.0, 4.0, 5.0]))
    1.0
    >>> round(spearman(np.array([1.0, 1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0, 4.0])), 4)
    0.9487
    """
    return pearson(rankdata(x), rankdata(y))


def correlation_interval(r: float, samples: int, error: float = 0.05) -> tuple[float, float]:
    """Return the interval of a rank correlation, of 95 % if not said otherwise; of fewer than 4 samples all there is.

    Fisher's z with the variance of Bonett and Wright (2000) for Spearman's correlation: (1 + r²/2)/(n - 3).

    >>> [round(end, 3) for end in correlation_interval(0.31, 21)], correlation_interval(1.0, 3)
    ([-0.151, 0.66], (-1.0, 1.0))
    """
    if samples < 4:
        return -1.0, 1.0
    if abs(r) == 1:
        return r, r
    reach = float(ndtri(1 - error / 2)) * float(np.sqrt((1 + r * r / 2) / (samples - 3)))
    z = float(np.arctanh(r))
    return float(np.tanh(z - reach)), float(np.tanh(z + reach))


def rejection_limit(samples: int, alpha: float = 0.05) -> float:
    """Return how large a correlation of so many samples must be, either way, to be no accident at level ``alpha``.

    Without correlation ``t = r·√((n-2)/(1-r²))`` follows Student's t with n - 2 degrees of freedom; solved for r at the
    two-sided limit that is ``t/√(n - 2 + t²)``. S0 gives 0.552… for 13 samples.

    >>> round(rejection_limit(13), 4)
    0.5529
    """
    if samples < 3:
        raise ParameterError(
            _("a correlation of {count} releases says nothing; compare at least 3").format(count=samples)
        )
    if not 0 < alpha < 1:
        raise ParameterError.out_of_range("alpha", alpha, "0 < alpha < 1")
    t = float(stdtrit(samples - 2, 1 - alpha / 2))
    return float(t / np.sqrt(samples - 2 + t * t))


# --- Cramér's V: how much two columns of categories have to do with each other ----------------------------------------


def cramers_v(a: NDArray[np.integer], b: NDArray[np.integer]) -> float:
    """Return ``sqrt(χ² / (n·min(r-1, c-1)))``: 0 for independent columns, 1 where one tells the other.

    Values that do not occur do not count as rows or columns; a constant column has nothing to tell.

    >>> one = np.array([0, 0, 1, 1])
    >>> cramers_v(one, one), cramers_v(one, np.array([0, 1, 0, 1]))
    (1.0, 0.0)
    """
    if not len(a):
        return 0.0
    shape = int(a.max()) + 1, int(b.max()) + 1
    table = np.bincount(a.astype(np.int64) * shape[1] + b, minlength=shape[0] * shape[1]).reshape(shape).astype(float)
    table = table[table.any(axis=1)][:, table.any(axis=0)]
    if min(table.shape) < 2:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    chi = float(((table - expected) ** 2 / expected).sum())
    return float(np.sqrt(chi / (table.sum() * (min(table.shape) - 1))))


# --- The table of an RFM analysis: how many customers have each combination of ranks (S0 §6.1.2) ----------------------


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
