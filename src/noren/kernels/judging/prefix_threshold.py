"""How many hits prove a release unsafe when the number of answers is chosen afterwards, with the truth at hand.

An attack names people in order, the surest first. Looking back, somebody picks the n first answers that tell most
against the release. Each n has its chance of a false alarm, so r(n) of :mod:`noren.kernels.judging.threshold`, made for
one n fixed beforehand, would raise far more than a share ``alpha`` of them. What is needed is a line r*(n) that the
hits X_n of the first n cross anywhere with a chance of at most alpha, under everything that H0 allows.

**Bound.** Let r* never fall, let j >= 1, and look at the n of a block (a, b]. Put ``w_m = 1/C(r*(max(m, a+1)), j)``,
which never rises, and ``f = Σ_{m<=b} w_m·x_m·C(X_{m-1}, j-1)``, x_m being 1 where answer m is right. The terms
``x_m·C(X_{m-1}, j-1)`` count the j-sets of right answers whose last is m, and up to n they add up to C(X_n, j). So
where X_n >= r*(n) for an n of the block, ``f >= w_n·C(X_n, j) >= 1``. H0 gives each such set a chance of p^j at most:

    Pr(X crosses r* in the block) <= E[f] <= p^j·( C(a+1,j)/C(r*(a+1),j) + Σ_{m=a+2..b} C(m-1,j-1)/C(r*(m),j) ).

Every block may have its own j; blocks add up. With blocks that grow like powers the sum is a few times the chance at
single n, where adding up over all n would be hundreds of times: c grows about like the root of the number of answers.

**Line.** ``r*(n)`` is r(n) for ``alpha/c``, c being the least whole number for which the bound is at most alpha. The
contest's own rule, r(n) of the paper for n all answers handed in, stays as it is: its chance is taken from alpha first.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from noren.kernels.arrays import Whole
from noren.kernels.judging.survival import least_needed, log_comb
from noren.kernels.judging.threshold import ALPHA, Bound, P, sharp_probability, threshold, thresholds

LONGEST_PREFIX = 10_000
"""Longer beginnings of a list of answers are not looked at, all of it apart."""
_GROWTHS = (1.15, 1.4, 2.0)
_ROUNDING = 1e-9
_NEVER = 2**62
_MUCH = 500.0


def prefix_thresholds(last: int, bound: Bound = "paper", p: Fraction = P, alpha: Fraction = ALPHA) -> list[int]:
    """Return r*(0), …, r*(last): so many of the first n answers right refute H0, whichever n is chosen afterwards.

    For n = ``last``, all answers, the contest's own rule does so too. Beginnings longer than :data:`LONGEST_PREFIX` can
    not be chosen.

    >>> prefix_thresholds(8), prefix_thresholds(99)[-1], prefix_thresholds(99, "sharp")[-1]
    ([1, 2, 3, 4, 5, 6, 7, 8, 8], 64, 56)
    """
    longest = min(last, LONGEST_PREFIX)
    each = alpha / prefix_correction(last, p, alpha)
    needed = thresholds(longest, bound, p, each) + [_NEVER] * (last - longest)
    needed[last] = min(needed[last], threshold(last, "paper", p, alpha))
    return needed


@lru_cache(maxsize=256)
def prefix_correction(last: int, p: Fraction = P, alpha: Fraction = ALPHA) -> int:
    """Return c: r(n) for alpha/c is crossed anywhere up to ``last``, or the contest's rule met, in alpha of all cases.

    >>> prefix_correction(0), prefix_correction(35)
    (1, 10)
    """
    longest = np.arange(min(last, LONGEST_PREFIX) + 1)
    own = threshold(last, "paper", p, alpha)
    of_own = float(sharp_probability(last, own, p)) if own <= last else 0.0

    def holds(c: int) -> bool:
        line = least_needed(longest, "sharp", p, alpha / c)
        extra = 0.0 if len(line) == last + 1 and line[-1] <= own else of_own
        return (crossing_bound(line, p) + extra) * (1 + _ROUNDING) <= float(alpha)

    high = 1
    while not holds(high):
        high *= 2
    low = high // 2 + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return high


def crossing_bound(line: Whole, p: Fraction = P) -> float:
    """Return what the chance of ``X_n >= line[n]`` for any n cannot exceed under H0.

    Seven of seven: 1/3^7, and nothing else can happen below it.

    >>> round(crossing_bound(np.array([1, 2, 3, 4, 5, 6, 7, 7])) * 3**7, 9)
    1.0
    """
    open_ = np.flatnonzero(line <= np.arange(len(line)))
    if not len(open_):
        return 0.0
    totals, last, chance = [], len(line) - 1, float(p)
    for growth in _GROWTHS:
        total, start = 0.0, int(open_[0])
        while start <= last:
            stop = min(max(int(start * growth), start), last)
            # some j that are near the best for one n of the block
            least, some = int(line[start]), {start, (start + stop) // 2, stop}
            best = {int(np.clip(np.ceil((line[n] - chance * n) / (1 - chance)), 1, least)) for n in some}
            near = sorted(best | {least, max(min(best) - 2, 1), min(max(best) + 2, least)})
            total += min(_block(line, start, stop, chance, j) for j in near)
            start = stop + 1
        totals.append(total)
    return min(totals)


def _block(line: Whole, start: int, stop: int, p: float, j: int) -> float:
    """Return the bound for one block and one j."""
    later = np.arange(start + 1, stop + 1)
    first = log_comb(np.array([start]), j) - log_comb(line[start : start + 1], j)
    rest = log_comb(later - 1, j - 1) - log_comb(line[start + 1 : stop + 1], j)
    return float(np.exp(np.minimum(np.concatenate([first, rest]) + j * np.log(p), _MUCH)).sum())
