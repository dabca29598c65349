"""Which class sizes survive, and which of them are worth trying (``docs/theory/survival.md``).

The best attacker names whom he is surest of: members of the smallest classes. By S0's rule fewer than seven people are
never enough and of seven all must be right, so what decides is, nearly always, the few smallest classes. A release can
therefore afford a handful of small classes if all others are larger. They serve best where there is most to lose: the
longest histories go into the smallest classes.

A *mixture* is a head, the sizes of the few small classes, and the size k of all others. Cutting a class in two never
lowers the attacker's chance. Heads are tried as if adding a small class never did either, which is not proved: for each
k only those that cannot be made longer are looked at, and they are few. What is yielded was judged itself, whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from noren.kernels.arrays import Real
from noren.kernels.sharing.grouping import group_sizes

Chance = Callable[[tuple[int, ...]], float]
"""The best attacker's chance against classes of these sizes."""

_WIDER = 2
"""How far the common size may lie above the smallest that passes by itself."""
_FIRST_LOOK = 12
"""Classes, the smallest, that a first look at the attacker's chance goes by; it never overrates him."""
_MOST_SMALL = 64
"""Most small classes of one size."""
_ERROR_SIZES = np.log([1.0, 2.0, 3.0, 4.0, 6.0, 10.0, 60.0])
_ERROR = np.array([0.0, 0.206, 0.295, 0.348, 0.404, 0.481, 0.75])
"""U of groups of 1, 2, 3, … on the PWS Cup 2018 final data: which mixtures to try first, and nothing else."""


@dataclass(frozen=True)
class Mixture:
    """Sizes of the small classes, smallest first, and the size of all others."""

    head: tuple[int, ...]
    k: int


def mixtures(worth: Real, smallest: int, allowed: float, chance: Chance) -> Iterator[Mixture]:
    """Yield mixtures in which the attacker's chance is at most ``allowed``, the one that promises most first.

    Parameters
    ----------
    worth
        What each customer's history has to lose, in cells.
    smallest
        No class is smaller.
    chance
        The best attacker's chance against given sizes; asked for all sizes only of mixtures that are yielded.

    Examples
    --------
    An attacker who needs luck against the three smallest classes: a pair, or two triples, among fours leave him 1/30.

    >>> lucky = lambda sizes: 1 / np.prod(np.sort(np.array(sizes, dtype=float))[:3])
    >>> [(m.head, m.k) for m in mixtures(np.arange(1.0, 25.0), 2, 1 / 30, lucky)][:2]
    [((3, 3), 4), ((2,), 4)]
    """
    count = len(worth)
    losses = np.sort(worth)[::-1]

    @cache
    def passes(sizes: tuple[int, ...]) -> bool:
        return chance(sizes) <= allowed

    def at_first_look(head: tuple[int, ...], k: int) -> bool:
        return passes(tuple(sorted(group_sizes(count, k, head).tolist())[:_FIRST_LOOK]))

    least = next((k for k in range(smallest, count + 1) if at_first_look((), k)), None)
    found = set()
    if least is not None:
        wider = range(least, min(least + _WIDER, count) + 1)
        found = {Mixture(head, k) for k in wider for head in _heads((), smallest, k, least, count, at_first_look)}

    def promise(mixture: Mixture) -> float:
        sizes = np.sort(group_sizes(count, mixture.k, mixture.head))
        of_customer = np.interp(np.log(np.repeat(sizes, sizes)), _ERROR_SIZES, _ERROR)
        return float(losses @ of_customer)

    for mixture in sorted(found, key=lambda m: (promise(m), m.k, m.head)):
        if passes(tuple(group_sizes(count, mixture.k, mixture.head).tolist())):
            yield mixture


def _heads(
    head: tuple[int, ...], size: int, k: int, least: int, count: int, passes: Callable[[tuple[int, ...], int], bool]
) -> Iterator[tuple[int, ...]]:
    """Yield heads that begin with ``head``, go on with classes of ``size`` to below ``least``, and cannot be longer."""
    if size >= least:
        yield head
        return
    longest = _most(lambda n: sum(head) + size * n + k <= count and passes((*head, *[size] * n), k))
    numbers = {longest}
    if size < least - 1:  # all numbers up to it, thinned out where there are many
        numbers = {*range(min(longest, 3) + 1), *(longest * i // 4 for i in range(5))}
    for number in sorted(numbers):
        yield from _heads((*head, *[size] * number), size + 1, k, least, count, passes)


def _most(passes: Callable[[int], bool]) -> int:
    """Return the largest number up to a limit that passes, if all smaller ones do."""
    low, high = 0, 1
    while high <= _MOST_SMALL and passes(high):
        low, high = high, 2 * high
    high = min(high, _MOST_SMALL + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if passes(middle) else (low, middle)
    return low
