"""What naming n people can yield at most, whatever the plan: a bound that spares the search all but a few numbers.

For any t > 0, by Markov, ``Pr(X >= r) <= E[(1+t)^X] / (1+t)^r``. Classes are independent, and of all ways to name j
members of a class of k, naming them apart has the largest factorial moments, so

    E[(1+t)^X] <= Π over classes of G_{k,j}(t),    G_{k,j}(t) = Σ_m C(j,m)·t^m·(k-m)!/k!.

A member of a class of k thus adds at most ``g_k = max_j ln G_{k,j}(t) / j`` to the logarithm. The n members that add
most, those of the largest g_k first, add no less than any n others (a knapsack filled in fractions), and r(n) is at
least the number that follows from logarithms. So for every n

    Pr(X >= r(n)) <= min_t exp(Σ of the n largest g - r(n)·ln(1+t)).

Between numbers that are looked at the exponent is taken at the right end, r(n) at the left one: both grow with n.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from functools import lru_cache

import numpy as np
from scipy.special import gammaln

from noren.kernels.arrays import Real, Whole
from noren.kernels.judging.threshold import Bound

__all__ = ["SLACK", "ChanceBound", "least_needed"]


SLACK = 1e-12
"""Chances that differ by less, as a share, are equal but for rounding."""
_ONE_BY_ONE = 4096
"""Up to here every n has its own bound; beyond, numbers stand ever further apart, by a fraction of their root."""
_ROOTS = 24.0
_TILTS = np.geomspace(0.005, 1e9, 100)
_COARSE = 1.1
"""Sizes beyond the deepest plan are told apart by this factor."""
_ROUNDING = 1e-6
"""By how much logarithms of binomials of millions may be off."""


def least_needed(n: Whole, bound: Bound, p: Fraction, alpha: Fraction) -> Whole:
    """Return for each n a number that r(n) is not below, and nearly always is: by logarithms, for any n.

    The paper's sum is at least its first term, and both fall as s grows from where the first term is largest.

    >>> least_needed(np.array([7, 99]), "paper", Fraction(1, 3), Fraction(1, 2000)).tolist()
    [7, 63]
    >>> least_needed(np.array([7, 99]), "sharp", Fraction(1, 3), Fraction(1, 2000)).tolist()
    [7, 52]
    """
    n = np.asarray(n, dtype=np.int64)
    log_p, log_alpha, chance = float(np.log(float(p))), float(np.log(float(alpha))), float(p)

    def log_comb(a: Real, b: Real) -> Real:
        return np.asarray(gammaln(a + 1) - gammaln(b + 1) - gammaln(a - b + 1))

    def log_chance(s: Whole) -> Real:
        a, b = n.astype(np.float64), s.astype(np.float64)
        if bound == "paper":
            return log_comb(a, b) + b * log_p
        j = np.clip(np.ceil((b - chance * a) / (1 - chance) - 1e-9), 0, b)
        return log_comb(a, j) + j * log_p - log_comb(b, j)

    low = np.floor((n + 1) * chance / (1 + chance)).astype(np.int64) + 1 if bound == "paper" else np.ones_like(n)
    low, high = np.minimum(low, n + 1), n + 1
    while np.any(low < high):
        middle = (low + high) // 2
        # s = n + 1 is beyond all binomials, and surely rare
        rare = log_chance(np.minimum(middle, n)) < log_alpha + _ROUNDING
        rare |= middle > n
        open_ = low < high
        high = np.where(open_ & rare, middle, high)
        low = np.where(open_ & ~rare, middle + 1, low)
    return low


class ChanceBound:
    """Bounds what any plan that names n people can yield against classes of these sizes.

    >>> from noren.kernels.judging.threshold import ALPHA, P
    >>> triples = ChanceBound([3] * 700, "paper", P, ALPHA, 64)
    >>> triples.greatest(7, 7) >= 1 / 108 > triples.greatest(40, 2100)
    True
    """

    def __init__(self, sizes: list[int], bound: Bound, p: Fraction, alpha: Fraction, deepest: int) -> None:
        self._rule = (bound, p, alpha)
        total = sum(sizes)
        near = np.arange(min(total, _ONE_BY_ONE) + 1, dtype=np.int64)
        # n with steps of √n/_ROOTS: √n grows evenly
        roots = np.arange(np.sqrt(near[-1]), np.sqrt(total) + 1 / _ROOTS, 0.5 / _ROOTS)
        far = np.unique(np.minimum(np.ceil(roots**2).astype(np.int64), total))
        self._n: Whole = np.concatenate((near, far[far > near[-1]]))
        """Where bounds stand; that at place i holds for all n from ``_n[i - 1] + 1`` to ``_n[i]``."""
        self._chance = np.ones(len(self._n))
        if total:
            log_chance = self._exponents(sizes, deepest, self.least_needed(np.append(0, self._n[:-1] + 1)))
            self._chance = np.minimum(np.exp(np.minimum(log_chance, 0.0)) * (1 + _ROUNDING), 1.0)

    def least_needed(self, n: Whole) -> Whole:
        """Return a number that r(n) is not below."""
        return least_needed(n, *self._rule)

    def _exponents(self, sizes: list[int], deepest: int, needed: Whole) -> Real:
        kinds: Counter[int] = Counter()
        for size, classes in Counter(sizes).items():
            kinds[_rounded(size, deepest)] += size * classes
        members = np.array(list(kinds.values()))
        gain = np.array([_gain(size, deepest) for size in kinds])
        least = np.full(len(self._n), np.inf)
        for at, tilt in enumerate(_TILTS):
            order = np.argsort(-gain[:, at], kind="stable")
            corner = np.concatenate(([0], np.cumsum(members[order])))
            worth = np.concatenate(([0.0], np.cumsum(members[order] * gain[order, at])))
            np.minimum(least, np.interp(self._n, corner, worth) - needed * np.log1p(tilt), out=least)
        return least

    def greatest(self, first: int, last: int) -> float:
        """Return a bound for every plan that names from ``first`` to ``last`` people."""
        begin, end = np.searchsorted(self._n, [first, last])
        return float(self._chance[begin : end + 1].max(initial=0.0)) if first <= last else 0.0

    def last_above(self, chance: float, most: int) -> int:
        """Return the largest number named, up to ``most``, for which a plan may have a higher chance."""
        above = np.flatnonzero(self._chance > chance)
        return min(int(self._n[above[-1]]), most) if len(above) else 0


@lru_cache(maxsize=512)
def _gain(size: int, deepest: int) -> Real:
    """Return what a member of a class adds to the logarithm at most, for each tilt."""
    deep = min(size, deepest)
    named, hit = np.arange(1, deep + 1)[:, None], np.arange(deep + 1)[None, :]
    log_perm = np.cumsum(np.log(np.concatenate(([1.0], size - np.arange(deep, dtype=np.float64)))))
    some = np.where(hit <= named, gammaln(named + 1) - gammaln(hit + 1) - gammaln(np.abs(named - hit) + 1), -np.inf)
    logs = (some - log_perm)[:, :, None] + hit[0][None, :, None] * np.log(_TILTS)[None, None, :]
    return np.asarray((np.logaddexp.reduce(logs, axis=1) / named).max(axis=0))


def _rounded(size: int, deepest: int) -> int:
    """Return a size that is not larger, one of few: a member of a smaller class adds no less."""
    if size <= deepest:
        return size
    return max(int(deepest * _COARSE ** int(np.log(size / deepest) / np.log(_COARSE))), deepest)
