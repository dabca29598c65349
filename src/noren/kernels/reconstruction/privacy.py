"""Differential privacy of retention and bounded noise, for one row and after shuffling.

One row has ``ε = Σ -ln b`` of its attributes (see :mod:`noren.kernels.reconstruction.retention`). Rows without an order
hide among each other: with ``p = e^ε`` of all attributes and p' of two values of one row, any other row is a clone of
either with the probability ``1/(p + p/p')``. Then no more can be told than (A + Δ, C - A + 1 - Δ) from its mirror
image, where ``C ~ Bin(R-1, 2/(p + p/p'))``, ``A ~ Bin(C, 1/2)`` and ``Δ ~ Bern(p'/(p'+1))``. Proof:
docs/theory/differential-privacy.md; brute force: tests/kernels/reconstruction/test_privacy.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import bdtr, bdtrc, gammaln

from noren.kernels.arrays import Real, Whole
from noren.kernels.reconstruction.retention import Channel

_HOPELESS = 300.0
"""ε of one row from which on nobody can hide it."""


def local_epsilon(channels: Sequence[Channel], sizes: Sequence[int]) -> float:
    """Return ε of one perturbed row: of any two rows, each outcome is at most e^ε times likelier for one.

    >>> from noren.kernels.reconstruction.retention import laplace
    >>> round(local_epsilon([0.5], [2]), 4), round(local_epsilon([laplace(3, 0.5)], [3]), 4)
    (1.0986, 1.3863)
    """
    epsilon = 0.0
    with np.errstate(divide="ignore"):
        for channel, size in zip(channels, sizes, strict=True):
            if isinstance(channel, np.ndarray):
                epsilon += float((np.log(channel.max(axis=0)) - np.log(channel.min(axis=0))).max())
            else:
                epsilon += float(np.log1p((size - 1) * channel) - np.log1p(-np.float64(channel)))
    return epsilon


def shuffled_epsilon(local: float, rows: int, delta: float) -> float:
    """Return ε of shuffled rows at ``delta`` when one of them is replaced, rounded up to four decimals.

    Adult at k = 2:

    >>> shuffled_epsilon(5.195, 32561, 1e-6), shuffled_epsilon(0.5, 1, 1e-6), shuffled_epsilon(np.inf, 9, 1e-6)
    (0.4244, 0.5, inf)
    """
    if local > _HOPELESS:
        return local
    epsilon = 0.0
    for pair, clones in _pairs(local):
        if pair > epsilon and _delta(epsilon, pair, rows, clones) > delta:
            low, high = epsilon, pair
            while high - low > 1e-5:
                middle = (low + high) / 2
                low, high = (low, middle) if _delta(middle, pair, rows, clones) <= delta else (middle, high)
            epsilon = high
    return min(float(np.ceil(epsilon * 1e4) / 1e4), local)


def shuffled_delta(epsilon: float, local: float, rows: int) -> float:
    """Return a bound on δ of shuffled rows at ``epsilon``.

    >>> shuffled_delta(0.0, 0.0, 5), shuffled_delta(1.0, 1.0, 5), round(shuffled_delta(0.0, np.log(3), 1), 4)
    (0.0, 0.0, 0.5)
    """
    return max(_delta(epsilon, pair, rows, clones) for pair, clones in _pairs(local))


def true_rate_ceiling(epsilon: float, delta: float, false_rate: float) -> float:
    """Return the highest true positive rate of any test at a false positive rate, such as one for membership.

    A test and its opposite both are bounded: ``TPR ≤ e^ε·FPR + δ`` and ``1 - FPR ≤ e^ε·(1 - TPR) + δ``.

    >>> round(true_rate_ceiling(np.log(2), 0.0, 0.1), 4), true_rate_ceiling(np.inf, 0.0, 0.1)
    (0.2, 1.0)
    """
    return float(min(np.exp(epsilon) * false_rate + delta, 1 - np.exp(-epsilon) * (1 - delta - false_rate), 1.0))


def _pairs(local: float) -> Iterator[tuple[float, float]]:
    """Yield how far two values are apart at most, in steps of a factor of 2 of p', and the clones that are sure."""
    for step in range(int(local / np.log(2)) + 1):
        pair = local - step * np.log(2)
        yield pair, float(2 * np.exp(-local) / (1 + np.exp(-max(pair - np.log(2), 0.0))))


def _delta(epsilon: float, pair: float, rows: int, clones: float) -> float:
    """Return the hockey-stick divergence of the counts of clones: an upper bound, however sums are rounded.

    Given C = c, and T = c + 1, outcome i counts from ``i ≥ T·(e^ε p' - 1) / ((p' - 1)(1 + e^ε))`` on, and from there
    the sum is ``(p' - e^ε)/(p' + 1)·Pr(X = i - 1) - (e^ε - 1)·Pr(X ≥ i)`` with X ~ Bin(c, 1/2).
    """
    if pair <= epsilon:
        return 0.0
    others = rows - 1
    middle, spread = others * clones, 8 * np.sqrt(others * clones * (1 - clones)) + 40
    first, last = max(int(middle - spread), 0), min(int(middle + spread), others)
    tails = (bdtr(first - 1, others, clones) if first else 0.0) + bdtrc(last, others, clones)
    c = np.arange(first, last + 1)
    grown, ratio = np.exp(epsilon), np.exp(-pair)  # 1/p', so that a large p' does not overflow
    start = np.ceil((c + 1) * (grown - ratio) / ((1 - ratio) * (1 + grown)) * (1 - 1e-15))
    gained = (1 - grown * ratio) / (1 + ratio) * np.exp(_log_binomial(c, start - 1, 0.5))
    lost = np.expm1(epsilon) * np.where(start > c, 0.0, bdtrc(start - 1, c, 0.5))
    # what logarithms of factorials lose to rounding
    slack = 1e-9 + 1e-15 * others * np.log(others + 2)
    each = np.maximum(gained * (1 + slack) - lost * (1 - slack), 0.0)
    return float(min(np.exp(_log_binomial(others, c, clones)) @ each * (1 + slack) + tails, 1.0))


def _log_binomial(trials: Whole | int, hits: Real | Whole, chance: float) -> Real:
    with np.errstate(divide="ignore", invalid="ignore"):
        log = gammaln(trials + 1) - gammaln(hits + 1) - gammaln(trials - hits + 1)
        log += hits * np.log(chance) + np.where(hits == trials, 0.0, (trials - hits) * np.log1p(-chance))
    answer: Real = np.where((hits < 0) | (hits > trials), -np.inf, log)
    return answer
