"""How likely the best attacker is to be effective against a release made of classes (``docs/theory/survival.md``).

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
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from math import comb, factorial
from operator import le
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from noren.errors import ParameterError
from noren.i18n import _
from noren.kernels.threshold import ALPHA, Bound, P, thresholds

__all__ = ["DEEPEST", "MOST_NAMED", "Naming", "Plan", "best_plan", "fixed_points", "plans", "satisfies_h0"]

Naming = Literal["any", "whole"]
Chances = NDArray[np.float64]

DEEPEST = 64
"""No plan names more members of one class: the chance of so many hits in it is below 1/64!."""
MOST_NAMED = 2000
"""No plan names more people: a limit of the search. Classes that yield barely more than r(n) may need more."""
_MOST_SPLIT = 12


@dataclass(frozen=True)
class Plan:
    """What an attacker does, and what comes of it.

    Attributes
    ----------
    named
        How many people he names.
    needed
        How many hits make that effective, r(n).
    chance
        The probability that he gets them.
    depths
        How many members he names in how many classes of which size: ``((size, members, classes), …)``.
    sure
        Whether each class is named by one customer alone, so that one hit in it is sure.
    """

    named: int
    needed: int
    chance: float
    depths: tuple[tuple[int, int, int], ...]
    sure: bool = False


@cache
def _avoiding(a: int, b: int) -> int:
    """Return how many permutations of ``a`` fix none of ``b`` given places."""
    return factorial(a) if b == 0 else _avoiding(a, b - 1) - _avoiding(a - 1, b - 1)


@lru_cache(maxsize=4096)
def fixed_points(k: int, j: int) -> tuple[Fraction, ...]:
    """Return the chances of 0, 1, …, j hits when j members of a class of k are named apart.

    >>> [str(chance) for chance in fixed_points(2, 2)], [str(chance) for chance in fixed_points(3, 3)]
    (['1/2', '0', '1/2'], ['1/3', '1/2', '0', '1/6'])
    """
    if not 0 <= j <= k:
        raise ParameterError(_("{j} of {k} members cannot be named").format(j=j, k=k), _("use 0 <= j <= k"))
    return tuple(Fraction(comb(j, i) * _avoiding(k - i, j - i), factorial(k)) for i in range(j + 1))


@lru_cache(maxsize=4096)
def _chances(k: int, j: int) -> Chances:
    return np.array([float(chance) for chance in fixed_points(k, j)])


def satisfies_h0(sizes: Sequence[int], p: Fraction = P) -> bool:
    """Tell whether no set of people is named rightly with a chance above p to the number of them.

    m members of a class of k are all right with the chance (k-m)!/k!, and classes are independent, so every class must
    keep (k-m)!/k! <= p^m for each m up to k.

    >>> satisfies_h0([7, 8]), satisfies_h0([7, 6])
    (True, False)
    """
    return all(
        Fraction(factorial(k - m), factorial(k)) <= p**m for k in set(sizes) for m in range(1, min(k, DEEPEST) + 1)
    )


def best_plan(
    sizes: Sequence[int],
    bound: Bound = "paper",
    p: Fraction = P,
    alpha: Fraction = ALPHA,
    naming: Naming = "any",
) -> Plan:
    """Return the plan with the highest chance of being effective; of equal ones that which names the fewest.

    Parameters
    ----------
    sizes
        The size of each class; 1 for a customer whose history nobody shares.
    bound, p, alpha
        How r(n) is found, see :func:`noren.kernels.threshold.threshold`.
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
    best = Plan(0, 1, 0.0, ())
    for plan in plans(sizes, bound, p, alpha, naming):
        # rounding must not decide between plans of equal chance
        if plan.chance > best.chance * (1 + 1e-12):
            best = plan
    return best


def plans(
    sizes: Sequence[int],
    bound: Bound = "paper",
    p: Fraction = P,
    alpha: Fraction = ALPHA,
    naming: Naming = "any",
) -> Iterator[Plan]:
    """Yield the best plan for each number of people named, from 1 to their number or :data:`MOST_NAMED`.

    The plans looked at: classes are named whole, the smallest first, up to any one of them; the members still to be
    named are of one further class, or, where they are at most twelve, split in any way over the next classes, the
    largest part in the smallest class; and the sure plans, again the smallest classes first.
    """
    if any(size < 1 for size in sizes):
        raise ParameterError(_("a class has no members"), _("give sizes of 1 or more"))
    ordered = sorted(sizes)
    most = min(sum(ordered), MOST_NAMED)
    needed = thresholds(most, bound, p, alpha)
    found: dict[int, Plan] = {}

    def offer(chance: float, depths: Sequence[tuple[int, int]], named: int, *, sure: bool = False) -> None:
        if named <= most and chance > (found[named].chance * (1 + 1e-12) if named in found else -1.0):
            found[named] = Plan(named, needed[named], min(chance, 1.0), _counted(depths), sure)

    before, whole = np.ones(1), 0
    for at in range(len(ordered) + 1):
        # before: the chances of 0, 1, … hits when the first `at` classes are named whole
        reach = np.concatenate((np.cumsum(before[::-1])[::-1], [0.0]))
        done = [(size, min(size, DEEPEST)) for size in ordered[:at]]
        for parts in _leftovers(ordered, at, most - whole, naming):
            named = whole + sum(part for _size, part in parts)
            hits = _together(parts)
            missing = np.clip(needed[named] - np.arange(len(hits)), 0, len(reach) - 1)
            offer(float(hits @ reach[missing]), [*done, *parts], named)
        if at == len(ordered) or whole >= most:
            break
        deep = min(ordered[at], DEEPEST)
        before, whole = np.convolve(before, _chances(ordered[at], deep)), whole + deep
    if naming == "any":
        named = 0
        for at, size in enumerate(ordered):
            named += size
            if named > most:
                break
            if at + 1 >= needed[named]:
                offer(1.0, [(s, s) for s in ordered[: at + 1]], named, sure=True)
    yield from (found[named] for named in sorted(found) if named)


@lru_cache(maxsize=65536)
def _together(parts: tuple[tuple[int, int], ...]) -> Chances:
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
    # a class of any size may be the partial one: a member of a larger one is worth less, but its depth may fit better
    for size in sorted(set(ordered[at:])):
        for part in range(1, min(size - 1, DEEPEST, room) + 1):
            yield ((size, part),)
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


def _counted(depths: Sequence[tuple[int, int]]) -> tuple[tuple[int, int, int], ...]:
    return tuple((size, part, classes) for (size, part), classes in sorted(Counter(depths).items()))
