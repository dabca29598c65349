"""Which classes of alike rows may be shown: enough rows (k), enough sensitive values (ℓ), close enough to all (t).

A class comes as entries: one for each sensitive value that occurs in it, with the number of its rows. Without a rule
on sensitive values a class is a single entry, and its rows alone count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from noren.kernels.arrays import Real, Whole
from noren.kernels.compiling import kernel

__all__ = ["DISTINCT", "EACH", "ENTROPY", "NO_DIVERSITY", "RECURSIVE", "ClassRule", "class_passes"]


NO_DIVERSITY, DISTINCT, ENTROPY, RECURSIVE, EACH = 0, 1, 2, 3, 4
_ROUNDING = 1e-12
_ONE_COLUMN = np.zeros((0, 0), dtype=np.int64)


class ClassRule(NamedTuple):
    """What a class must be to be shown, and how many rows may be left out.

    Attributes
    ----------
    k
        The least rows of a class.
    most_suppressed
        How many rows may stand in classes that are not shown.
    diversity, ell, c
        The kind of ℓ-diversity (:data:`NO_DIVERSITY`, :data:`DISTINCT`, :data:`ENTROPY`, :data:`RECURSIVE`), ℓ, and
        the factor of the recursive kind. :data:`EACH` asks for ℓ distinct values of each of several columns.
    t, ordered
        The greatest distance of a class's sensitive values from everybody's, below 0 for none; whether the values have
        an order, so that moving to a neighbour costs less than moving far.
    parts
        For :data:`EACH`, where a code stands for a combination of values: ``parts[column, code]`` is the value's code.
    """

    k: int
    most_suppressed: int
    diversity: int = NO_DIVERSITY
    ell: int = 1
    c: float = 1.0
    t: float = -1.0
    ordered: bool = False
    parts: Whole = _ONE_COLUMN


@kernel()
def class_passes(rule: ClassRule, counts: Whole, values: Whole, everybody: Real, histogram: Real) -> bool:
    """Tell whether one class may be shown.

    Parameters
    ----------
    counts, values
        The entries of the class: how many rows, and the code of their sensitive value; each value once.
    everybody
        The share of each sensitive value in the whole table.
    histogram
        Room for one number per sensitive value, all 0; left so.

    Examples
    --------
    Three of one value and one of another: 2 distinct values, but an entropy of 0.56 where log 2 = 0.69 is asked.

    >>> entries, room = (np.array([3, 1]), np.array([0, 1]), np.array([0.5, 0.5])), np.zeros(2)
    >>> bool(class_passes(ClassRule(4, 0, DISTINCT, 2), *entries, room))
    True
    >>> bool(class_passes(ClassRule(4, 0, ENTROPY, 2), *entries, room))
    False
    """
    size = 0
    for count in counts:
        size += count
    if size < rule.k:
        return False
    if rule.diversity != NO_DIVERSITY and len(counts) < rule.ell:
        return False  # every kind of diversity asks for ell distinct values at least
    if rule.diversity == EACH and not _each_passes(rule.ell, values, rule.parts):
        return False
    if rule.diversity == ENTROPY and not _entropy_passes(rule.ell, counts, size):
        return False
    if rule.diversity == RECURSIVE and not _recursive_passes(rule.c, rule.ell, counts):
        return False
    if rule.t >= 0:
        for i in range(len(counts)):
            histogram[values[i]] = counts[i] / size
        distance = _ordered_distance(histogram, everybody) if rule.ordered else _equal_distance(histogram, everybody)
        for value in values:
            histogram[value] = 0.0
        return bool(distance <= rule.t + _ROUNDING)
    return True


@kernel()
def _each_passes(ell: int, values: Whole, parts: Whole) -> bool:
    """Tell whether each column has ``ell`` distinct values among these combinations."""
    seen = np.empty(ell, dtype=np.int64)
    for column in range(parts.shape[0]):
        found = 0
        for code in values:
            value, known = parts[column, code], False
            for i in range(found):
                known = known or seen[i] == value
            if not known:
                seen[found] = value
                found += 1
                if found == ell:
                    break
        if found < ell:
            return False
    return True


@kernel()
def _entropy_passes(ell: int, counts: Whole, size: int) -> bool:
    entropy = 0.0
    for count in counts:
        entropy -= count / size * np.log(count / size)
    return bool(entropy >= np.log(ell) - _ROUNDING)


@kernel()
def _recursive_passes(c: float, ell: int, counts: Whole) -> bool:
    """Tell whether the most frequent value has fewer rows than c times those of the ell-th and all rarer ones."""
    falling = np.sort(counts)[::-1]
    rare = 0
    for i in range(ell - 1, len(falling)):
        rare += falling[i]
    return bool(falling[0] < c * rare)


@kernel()
def _equal_distance(shares: Real, everybody: Real) -> float:
    """Return the earth mover's distance where every move costs the same."""
    distance = 0.0
    for i in range(len(shares)):
        distance += abs(shares[i] - everybody[i])
    return distance / 2


@kernel()
def _ordered_distance(shares: Real, everybody: Real) -> float:
    """Return the earth mover's distance where a move from the first to the last value costs 1."""
    if len(shares) < 2:
        return 0.0
    distance, carried = 0.0, 0.0
    for i in range(len(shares) - 1):
        carried += shares[i] - everybody[i]
        distance += abs(carried)
    return distance / (len(shares) - 1)
