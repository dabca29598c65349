"""What naming n people can yield at most, whatever the plan: a bound that spares the search all but a few numbers.

For any t > 0, by Markov, ``Pr(X >= r) <= E[(1+t)^X] / (1+t)^r``. Classes are independent, and of all ways to name j
members of a class of k, naming them apart has the largest factorial moments, so

    E[(1+t)^X] <= Π over classes of G_{k,j}(t),    G_{k,j}(t) = Σ_m C(j,m)·t^m·(k-m)!/k!.

A member of a class of k thus adds at most ``g_k = max_j ln G_{k,j}(t) / j`` to the logarithm. The n members that add
most, those of the largest g_k first, add no less than any n others (a knapsack filled in fractions), and r(n) is at
least the number that follows from logarithms. So for every n

    Pr(X >= r(n)) <= min_t exp(Σ of the n largest g - r(n)·ln(1+t)).

Between numbers that are looked at the exponent is taken at the right end, r(n) at the left one: both grow with n.

**How likely the best attacker is to be effective against a release made of classes (``docs/theory/survival.md``).**
A class is a group of k pseudonyms whose public histories are equal. The attacker of maximum knowledge can tell which k
customers are behind it, but inside it every bijection is equally likely. So a strategy is how many members of each
class to name, and how:

**Apart.** j of the k pseudonyms are given j different customers. The number X of hits is the number of fixed points
among j places of a random permutation of k, so ``Pr(X = i) = C(j,i)·d(k-i, j-i)/k!``, where ``d(a,b)`` counts the
permutations of a that fix none of b places: ``d(a,0) = a!``, ``d(a,b) = d(a,b-1) - d(a-1,b-1)``.

**Sure.** All k pseudonyms are given one customer. Exactly one hit, whatever the truth.

Both have the mean j/k; of all ways to name j, apart has the largest factorial moments and sure no spread at all. So the
attacker gambles (apart) where r(n) lies above what he gets on average, and is sure where it does not.

Hits of different classes are independent; their sum is a convolution of non-negative numbers, each the nearest float to
an exact fraction, so a probability is right to about ``2·n·2^-53`` of itself.

A release of a million customers is judged as exactly as one of seven: what naming many people could yield at most is
bounded (:class:`ChanceBound`), and plans are looked at only where that bound is above the best found.

**How many hits prove a release unsafe when the number of answers is chosen afterwards, with the truth at hand.**
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

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import comb, perm
from operator import le
from typing import Literal

import numpy as np
from scipy.special import gammaln

from noren.errors import ParameterError
from noren.kernels.arrays import Real, Whole
from noren.kernels.judging.threshold import ALPHA, Bound, P, sharp_probability, threshold, thresholds

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


def log_comb(n: Real | Whole, k: Real | int) -> Real:
    """Return the logarithm of C(n, k)."""
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))


def least_needed(n: Whole, bound: Bound, p: Fraction, alpha: Fraction) -> Whole:
    """Return for each n a number that r(n) is not below, and nearly always is: by logarithms, for any n.

    The paper's sum is at least its first term, and both fall as s grows from where the first term is largest.

    >>> least_needed(np.array([7, 99]), "paper", Fraction(1, 3), Fraction(1, 2000)).tolist()
    [7, 64]
    >>> least_needed(np.array([7, 99]), "sharp", Fraction(1, 3), Fraction(1, 2000)).tolist()
    [7, 52]
    """
    n = np.asarray(n, dtype=np.int64)
    log_p, log_alpha, chance = float(np.log(float(p))), float(np.log(float(alpha))), float(p)

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
        total = sum(sizes)
        near = np.arange(min(total, _ONE_BY_ONE) + 1, dtype=np.int64)
        # n with steps of √n/_ROOTS: √n grows evenly
        roots = np.arange(np.sqrt(near[-1]), np.sqrt(total) + 1 / _ROOTS, 0.5 / _ROOTS)
        far = np.unique(np.minimum(np.ceil(roots**2).astype(np.int64), total))
        self._n: Whole = np.concatenate((near, far[far > near[-1]]))
        """Where bounds stand; that at place i holds for all n from ``_n[i - 1] + 1`` to ``_n[i]``."""
        self._chance = np.ones(len(self._n))
        if total:
            needed = least_needed(np.append(0, self._n[:-1] + 1), bound, p, alpha)
            kinds: Counter[int] = Counter()
            for size, classes in Counter(sizes).items():
                kind = size
                if size > deepest:  # not larger, and one of few: a member of a smaller class adds no less
                    kind = max(int(deepest * _COARSE ** int(np.log(size / deepest) / np.log(_COARSE))), deepest)
                kinds[kind] += size * classes
            members = np.array(list(kinds.values()))
            gain = np.array([_gain(size, deepest) for size in kinds])
            least = np.full(len(self._n), np.inf)
            for at, tilt in enumerate(_TILTS):
                order = np.argsort(-gain[:, at], kind="stable")
                corner = np.concatenate(([0], np.cumsum(members[order])))
                worth = np.concatenate(([0.0], np.cumsum(members[order] * gain[order, at])))
                np.minimum(least, np.interp(self._n, corner, worth) - needed * np.log1p(tilt), out=least)
            self._chance = np.minimum(np.exp(np.minimum(least, 0.0)) * (1 + _ROUNDING), 1.0)

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


# --- How likely the best attacker is to be effective against a release made of classes --------------------------------


Naming = Literal["any", "whole"]

DEEPEST = 64
"""No plan names more members of one class: the chance of so many hits in it is below 1/64!."""
MOST_NAMED = 2000
"""Up to so many people named, every plan of the family is looked at."""
MOST_SEARCHED = 8_000
"""Where the bound leaves room beyond :data:`MOST_NAMED`, the search ends here; see ``AttackPlan.at_most``."""
_MOST_SPLIT = 12


@dataclass(frozen=True)
class AttackPlan:
    """What an attacker does, and what comes of it."""

    named: int
    """How many people he names."""
    needed: int
    """How many hits make that effective, r(n)."""
    chance: float
    """The probability that he gets them."""
    depths: tuple[tuple[int, int, int], ...]
    """How many members he names in how many classes of which size: ``((size, members, classes), …)``."""
    sure: bool = False
    """Whether each class is named by one customer alone, so that one hit in it is sure."""
    at_most: float = 0.0
    """No plan of the family has a higher chance. Above ``chance`` only where plans that name more than
    :data:`MOST_SEARCHED` people could not be ruled out.
    """


@lru_cache(maxsize=4096)
def fixed_points(k: int, j: int) -> tuple[Fraction, ...]:
    """Return the chances of 0, 1, …, j hits when j members of a class of k are named apart.

    >>> [str(chance) for chance in fixed_points(2, 2)], [str(chance) for chance in fixed_points(3, 3)]
    (['1/2', '0', '1/2'], ['1/3', '1/2', '0', '1/6'])
    """
    if not 0 <= j <= k:
        raise ParameterError.out_of_range("j", j, f"0 <= j <= {k}")
    # d(k-i, j-i) = Σ_m (-1)^m·C(j-i,m)·(k-i-m)!, all of it over (k-j)!, so that a class of a million costs no more
    ways = (
        comb(j, i) * sum((-1) ** m * comb(j - i, m) * perm(k - i - m, j - i - m) for m in range(j - i + 1))
        for i in range(j + 1)
    )
    return tuple(Fraction(way, perm(k, j)) for way in ways)


@lru_cache(maxsize=4096)
def _chances(k: int, j: int) -> Real:
    return np.array([float(chance) for chance in fixed_points(k, j)])


def satisfies_h0(sizes: Sequence[int], p: Fraction = P) -> bool:
    """Tell whether no set of people is re-identified with a probability above p to the number of them.

    m members of a class of k are all right with the chance (k-m)!/k!, and classes are independent, so every class must
    keep (k-m)!/k! <= p^m for each m up to k.

    >>> satisfies_h0([7, 8]), satisfies_h0([7, 6])
    (True, False)
    """
    return all(Fraction(1, perm(k, m)) <= p**m for k in set(sizes) for m in range(1, min(k, DEEPEST) + 1))


def best_plan(
    sizes: Sequence[int], bound: Bound = "paper", p: Fraction = P, alpha: Fraction = ALPHA, naming: Naming = "any"
) -> AttackPlan:
    """Return the plan with the highest chance of being effective; of equal ones that which names the fewest.

    Parameters
    ----------
    sizes
        The size of each class; 1 for a customer whose history nobody shares.
    bound, p, alpha
        How r(n) is found, see :func:`noren.kernels.judging.threshold.threshold`.
    naming
        ``any``: members may be named singly; ``whole``: whole classes alone, each member another customer (as S0 does).

    Examples
    --------
    Twelve pairs: nine of them right, each with one half.

    >>> plan = best_plan([2] * 500)
    >>> plan.named, plan.needed, plan.chance == 299 / 4096
    (24, 18, True)

    Two triples and one member of a third: 1/6·1/6·1/3. Naming three triples, as a whole, would halve it.

    >>> plan = best_plan([3] * 300)
    >>> plan.depths, round(1 / plan.chance), round(1 / best_plan([3] * 300, naming="whole").chance)
    (((3, 1, 1), (3, 3, 2)), 108, 216)
    """
    ordered = sorted(sizes)
    if ordered and ordered[0] < 1:
        raise ParameterError.out_of_range("size", ordered[0], "size >= 1")
    total = sum(ordered)
    limits = ChanceBound(ordered, bound, p, alpha, DEEPEST)
    most = min(total, MOST_NAMED)
    while True:
        plans = _search(ordered, most, bound, p, alpha, naming, limits)
        best = max((plan.chance for plan in plans.values()), default=0.0)
        reach = limits.last_above(best, total)
        if best >= 1 or reach <= most or most >= MOST_SEARCHED:
            break
        most = min(max(2 * most, reach), total, MOST_SEARCHED)
    chosen = AttackPlan(0, 1, 0.0, ())
    for named in sorted(plans):
        # rounding must not decide between plans of equal chance
        if plans[named].chance > chosen.chance * (1 + SLACK):
            chosen = plans[named]
    beyond = limits.greatest(most + 1, total) if reach > most else 0.0
    return replace(chosen, at_most=max(chosen.chance, min(beyond, 1.0)))


def _search(
    ordered: list[int],
    most: int,
    bound: Bound,
    p: Fraction,
    alpha: Fraction,
    naming: Naming,
    limits: ChanceBound | None,
) -> dict[int, AttackPlan]:
    """Return the best plan for each number of people named up to ``most``; with limits, only where it may be the best.

    The plans looked at: classes are named whole, the smallest first, up to any one of them; the members still to be
    named are of one further class, or, where they are at most twelve, split in any way over the next classes, the
    largest part in the smallest class; and the sure plans, again the smallest classes first, whatever the number.
    """
    needed = thresholds(most, bound, p, alpha)
    plans: dict[int, AttackPlan] = {}
    best = 0.0

    def offer(chance: float, depths: Sequence[tuple[int, int]], named: int, need: int, *, sure: bool = False) -> None:
        nonlocal best
        if chance > (plans[named].chance * (1 + SLACK) if named in plans else -1.0):
            counted = tuple((size, part, classes) for (size, part), classes in sorted(Counter(depths).items()))
            plans[named] = AttackPlan(named, need, min(chance, 1.0), counted, sure)
            best = max(best, chance)

    sure = list(_sure(ordered, needed, bound, p, alpha, limits)) if naming == "any" else []
    last = min(most, sure[0][0]) if limits is not None and sure else most  # nothing is better than what is sure
    before, whole = np.ones(1), 0
    for at in range(len(ordered) + 1):
        if limits is not None and limits.greatest(whole, last) < best:
            break
        # before: the chances of 0, 1, … hits when the first `at` classes are named whole
        if limits is None or limits.greatest(whole, min(whole + DEEPEST, last)) >= best:
            reach = np.concatenate((np.cumsum(before[::-1])[::-1], [0.0]))
            done = [(size, min(size, DEEPEST)) for size in ordered[:at]]
            for parts in _leftovers(ordered, at, most - whole, naming):
                named = whole + sum(part for _size, part in parts)
                hits = _together(parts)
                missing = np.clip(needed[named] - np.arange(len(hits)), 0, len(reach) - 1)
                offer(float(hits @ reach[missing]), [*done, *parts], named, needed[named])
        if at == len(ordered) or whole + min(ordered[at], DEEPEST) > last:
            break
        deep = min(ordered[at], DEEPEST)
        before, whole = np.convolve(before, _chances(ordered[at], deep)), whole + deep
    for named, classes, need in sure:
        offer(1.0, [(s, s) for s in ordered[:classes]], named, need, sure=True)
    return plans


def _sure(
    ordered: list[int], needed: list[int], bound: Bound, p: Fraction, alpha: Fraction, limits: ChanceBound | None
) -> Iterator[tuple[int, int, int]]:
    """Yield the sure plans up to the number that r(n) is tabled for; with limits the first alone, wherever it is.

    Each is the number named, of how many classes, and r(n).
    """
    named = np.cumsum(np.array(ordered, dtype=np.int64))
    inside = int(np.searchsorted(named, len(needed) - 1, side="right"))
    for at in range(inside):
        if at + 1 >= needed[named[at]]:
            yield int(named[at]), at + 1, needed[named[at]]
            if limits is not None:
                return
    if limits is None or inside == len(ordered):
        return
    hits = np.arange(inside + 1, len(ordered) + 1)
    for place in np.flatnonzero(hits >= least_needed(named[inside:], bound, p, alpha)).tolist():
        at = inside + place
        need = threshold(int(named[at]), bound, p, alpha)
        if at + 1 >= need:
            yield int(named[at]), at + 1, need
            return


@lru_cache(maxsize=65536)
def _together(parts: tuple[tuple[int, int], ...]) -> Real:
    """Return the chances of 0, 1, … hits in some classes, given as sizes and members named."""
    hits = np.ones(1)
    for size, part in parts:
        hits = np.convolve(hits, _chances(size, part))
    return hits


def _leftovers(ordered: list[int], at: int, room: int, naming: Naming) -> Iterator[tuple[tuple[int, int], ...]]:
    """Yield what may be named besides the first ``at`` classes, as sizes and members; nothing at all is the first."""
    yield ()
    following = ordered[at : at + _MOST_SPLIT]
    if naming == "whole" or not following:
        return
    # the partial class may be a later one, whose depth fits better; of those deep enough the smallest yields most
    for part in range(1, min(ordered[-1] - 1, DEEPEST, room) + 1):
        yield ((ordered[bisect_right(ordered, part, at)], part),)
    for total in range(2, min(_MOST_SPLIT, room) + 1):
        for parts in _splits(total, total):
            if 1 < len(parts) <= len(following) and all(map(le, parts, following)):
                yield tuple(zip(following, parts, strict=False))


@lru_cache(maxsize=256)
def _splits(total: int, largest: int) -> tuple[tuple[int, ...], ...]:
    """Return the ways to write ``total`` as a sum of parts up to ``largest``, the largest first."""
    if total == 0:
        return ((),)
    return tuple((part, *rest) for part in range(min(total, largest), 0, -1) for rest in _splits(total - part, part))


# --- How many hits prove a release unsafe when the number of answers is chosen afterwards ----------------------------


LONGEST_PREFIX = 10_000
"""Longer beginnings of a list of answers are not looked at, all of it apart."""
_GROWTHS = (1.15, 1.4, 2.0)
_PREFIX_ROUNDING = 1e-9
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
        return (crossing_bound(line, p) + extra) * (1 + _PREFIX_ROUNDING) <= float(alpha)

    high = 1
    while not holds(high):
        high *= 2
    low = high // 2 + 1
    return low + bisect_left(range(low, high), x=True, key=holds)


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
