"""A total over many blocks, estimated from some of them, with an interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import t

from noren.kernels.arrays import Real

__all__ = ["SampledTotal", "sampled_total"]

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
