"""Which classes of alike rows may be shown: enough rows (k), enough sensitive values (ℓ), close enough to all (t).

A class comes as entries: one for each sensitive value that occurs in it, with the number of its rows. Without a rule
on sensitive values a class is a single entry, and its rows alone count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from noren.kernels.arrays import Flags, Real, Whole
from noren.kernels.compiling import kernel
from noren.kernels.lattice.keys import Keys, Layout, ScratchMemory, entries_by_class

NO_DIVERSITY, DISTINCT, ENTROPY, RECURSIVE, EACH = 0, 1, 2, 3, 4
_ROUNDING = 1e-12
_ONE_COLUMN = np.zeros((0, 0), dtype=np.int64)


class ClassRule(NamedTuple):
    """What a class must be to be shown, and how many rows may be left out."""

    k: int
    """The least rows of a class."""
    most_suppressed: int
    """How many rows may stand in classes that are not shown."""
    diversity: int = NO_DIVERSITY
    ell: int = 1
    c: float = 1.0
    """``diversity``, ``ell``, ``c``: the kind of ℓ-diversity (:data:`NO_DIVERSITY`, :data:`DISTINCT`, :data:`ENTROPY`,
    :data:`RECURSIVE`), ℓ, and the factor of the recursive kind. :data:`EACH` asks for ℓ distinct values of each of
    several columns.
    """
    t: float = -1.0
    ordered: bool = False
    """``t``, ``ordered``: the greatest distance of a class's sensitive values from everybody's, below 0 for none;
    whether the values have an order, so that moving to a neighbour costs less than moving far.
    """
    parts: Whole = _ONE_COLUMN
    """For :data:`EACH`, whose codes are combinations of values: ``parts[column, code]`` is a value's code."""


@kernel()
def class_passes(rule: ClassRule, counts: Whole, values: Whole, everybody: Real, histogram: Real) -> bool:
    """Tell whether one class may be shown.

    ``counts`` and ``values`` are the entries of the class, each sensitive value once; ``everybody`` is the share of
    each value in the whole table; ``histogram`` is room for a number per value, all 0, and left so.

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
    if rule.diversity == RECURSIVE:
        # the most frequent value has fewer rows than c times those of the ell-th and all rarer ones
        falling = np.sort(counts)[::-1]
        if falling[0] >= rule.c * falling[rule.ell - 1 :].sum():
            return False
    if rule.t >= 0:
        for i in range(len(counts)):
            histogram[values[i]] = counts[i] / size
        distance = _distance(histogram, everybody, rule.ordered)
        for value in values:
            histogram[value] = 0.0
        return bool(distance <= rule.t + _ROUNDING)
    return True


@kernel()
def _each_passes(ell: int, values: Whole, parts: Whole) -> bool:
    """Tell whether each column has ``ell`` distinct values among these combinations."""
    seen = np.empty(ell, dtype=np.int64)
    for column in range(parts.shape[0]):
        distinct = 0
        for code in values:
            value, known = parts[column, code], False
            for i in range(distinct):
                known = known or seen[i] == value
            if not known:
                seen[distinct] = value
                distinct += 1
                if distinct == ell:
                    break
        if distinct < ell:
            return False
    return True


@kernel()
def _entropy_passes(ell: int, counts: Whole, size: int) -> bool:
    entropy = 0.0
    for count in counts:
        entropy -= count / size * np.log(count / size)
    return bool(entropy >= np.log(ell) - _ROUNDING)


@kernel()
def _distance(shares: Real, everybody: Real, ordered: bool) -> float:
    """Return the earth mover's distance: all moves cost the same or, if ordered, one from first to last costs 1."""
    distance, carried, moves = 0.0, 0.0, len(shares) - 1
    if not ordered:
        for i in range(len(shares)):
            distance += abs(shares[i] - everybody[i])
        return distance / 2
    for i in range(moves):
        carried += shares[i] - everybody[i]
        distance += abs(carried)
    return distance / max(moves, 1)


# --- What a node of the lattice loses, what nodes above it must lose, and which of its classes may be shown -----------


DISCERNIBILITY, CLASS_SIZE, GEOMETRIC, SUM = 0, 1, 2, 3
"""What is made small: the sum of squared class sizes, the mean class size, or costs of cells, put together by geometric
mean or by sum."""
ROUNDING = 1e-10
"""Costs of cells this near, relatively, are equal; counts are exact."""


class CellCosts(NamedTuple):
    """What cells cost: column by column, level by level."""

    full: Real
    """``full[column, level]``: the cost of all the column's cells, none suppressed; growing with the level."""
    extra: Real
    """The cost that one suppressed row adds to its cell's, by the cell's code; all columns and levels in one array."""
    place: Whole
    """``place[column, level]``: where the codes of this column and level start in ``extra``."""
    least: Real
    scale: Real
    """``least``, ``scale``: per column: a cost x counts as ``(x - least) * scale``."""


def no_costs(columns: int) -> CellCosts:
    """Return costs for a search that minds classes alone."""
    nothing = np.zeros((columns, 1))
    return CellCosts(nothing, np.zeros(1), nothing.astype(np.int64), np.zeros(columns), np.zeros(columns))


@kernel()
def better(goal: int, score: float, lost: int, level: Whole, best: Real, best_level: Whole) -> bool:
    """Tell whether a node is better than the best so far: it loses less, then suppresses less, then is lower."""
    if not np.isfinite(best[0]):
        return True
    near = ROUNDING * best[0] if goal >= GEOMETRIC else 0.0
    if abs(score - best[0]) > near:
        return bool(score < best[0])
    if lost != best[1]:
        return bool(lost < best[1])
    return bool(level.sum() < best_level.sum())


@kernel()
def classes_bound(goal: int, sizes: Whole, classes: int, k: int, total: int) -> float:
    """Return what no node above can fall below: classes only merge, and a kept one has k rows or more."""
    small = large = squares = 0
    for i in range(classes):
        if sizes[i] < k:
            small += sizes[i]
        else:
            large += 1
            squares += sizes[i] * sizes[i]
    if goal == DISCERNIBILITY:
        return float(squares + min(k, total) * small)
    return total / (large + small // k + 1)


@kernel()
def score_of(
    goal: int, total: int, lost: int, classes: int, squares: int, costs: CellCosts, level: Whole, extra: Real
) -> float:
    """Return the loss of a node."""
    if goal == DISCERNIBILITY:
        return float(squares + lost * total)
    if goal == CLASS_SIZE:
        return total / max(classes + (1 if lost > 0 else 0), 1)
    return float(cells_score(goal, costs, level, extra))


@kernel()
def cells_score(goal: int, costs: CellCosts, level: Whole, extra: Real) -> float:
    """Return what cells cost on these levels and, by column, in suppressed rows."""
    product, added = 1.0, 0.0
    for column in range(len(level)):
        cost = (costs.full[column, level[column]] + extra[column] - costs.least[column]) * costs.scale[column]
        product *= 1.0 + cost
        added += cost
    return product ** (1.0 / len(level)) - 1.0 if goal == GEOMETRIC else added


@kernel()
def extra_costs(
    keys: Keys, rows: Whole, n: int, layout: Layout, costs: CellCosts, level: Whole, failing: Flags
) -> Real:
    """Return per column what the rows of suppressed classes add."""
    extra = np.zeros(len(level))
    for i in range(n):
        if failing[i]:
            for column in range(len(level)):
                code = (keys[i, layout.word[column]] >> layout.shift[column]) & layout.mask[column]
                extra[column] += rows[i] * costs.extra[costs.place[column, level[column]] + np.int64(code)]
    return extra


@kernel()
def judge(
    keys: Keys,
    rows: Whole,
    n: int,
    layout: Layout,
    rule: ClassRule,
    everybody: Real,
    room: ScratchMemory,
    failing: Flags,
) -> tuple[int, int, int]:
    """Mark the entries of classes that break the rule; return rows lost, classes kept, sum of their squared sizes."""
    lost = passing = squares = 0
    if layout.mask[-1] == 0 and rule.diversity == NO_DIVERSITY and rule.t < 0:  # every entry is a class, and k the rule
        for i in range(n):
            failing[i] = rows[i] < rule.k
            if failing[i]:
                lost += rows[i]
            else:
                passing += 1
                squares += rows[i] * rows[i]
        return lost, passing, squares
    classes = entries_by_class(keys, n, layout, room)
    histogram = np.zeros(len(everybody))
    counts, values = np.empty(len(everybody), dtype=np.int64), np.empty(len(everybody), dtype=np.int64)
    for number in range(classes):
        first, last = room.start[number], room.start[number + 1]
        size = 0
        for j in range(first, last):
            entry = room.member[j]
            counts[j - first] = rows[entry]
            values[j - first] = np.int64((keys[entry, layout.word[-1]] >> layout.shift[-1]) & layout.mask[-1])
            size += rows[entry]
        passes = class_passes(rule, counts[: last - first], values[: last - first], everybody, histogram)
        for j in range(first, last):
            failing[room.member[j]] = not passes
        if passes:
            passing += 1
            squares += size * size
        else:
            lost += size
    return lost, passing, squares
