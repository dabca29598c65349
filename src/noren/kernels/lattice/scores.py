"""What a node of the lattice loses, what nodes above it must lose, and which of its classes may be shown."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from noren.kernels.arrays import Flags, Real, Whole
from noren.kernels.compiling import kernel
from noren.kernels.lattice.class_rules import NO_DIVERSITY, ClassRule, class_passes
from noren.kernels.lattice.keys import Keys, Layout, Room, entries_by_class

__all__ = [
    "CLASS_SIZE",
    "DISCERNIBILITY",
    "GEOMETRIC",
    "ROUNDING",
    "SUM",
    "CellCosts",
    "better",
    "cells_score",
    "classes_bound",
    "extra_costs",
    "judge",
    "no_costs",
    "score_of",
]


DISCERNIBILITY, CLASS_SIZE, GEOMETRIC, SUM = 0, 1, 2, 3
"""What is made small: the sum of squared class sizes, the mean class size, or costs of cells, put together by geometric
mean or by sum."""
ROUNDING = 1e-10
"""Costs of cells this near, relatively, are equal; counts are exact."""


class CellCosts(NamedTuple):
    """What cells cost: column by column, level by level.

    Attributes
    ----------
    shown
        ``shown[column, level]``: the cost of all the column's cells, none suppressed; growing with the level.
    extra
        The cost that one suppressed row adds to its cell's, by the cell's code; all columns and levels in one array.
    place
        ``place[column, level]``: where the codes of this column and level start in ``extra``.
    least, scale
        Per column: a cost x counts as ``(x - least) * scale``.
    """

    shown: Real
    extra: Real
    place: Whole
    least: Real
    scale: Real


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
    goal: int, total: int, lost: int, kept: int, squares: int, costs: CellCosts, level: Whole, extra: Real
) -> float:
    """Return the loss of a node."""
    if goal == DISCERNIBILITY:
        return float(squares + lost * total)
    if goal == CLASS_SIZE:
        return total / max(kept + (1 if lost > 0 else 0), 1)
    return float(cells_score(goal, costs, level, extra))


@kernel()
def cells_score(goal: int, costs: CellCosts, level: Whole, extra: Real) -> float:
    """Return what cells cost on these levels and, by column, in suppressed rows."""
    product, added = 1.0, 0.0
    for column in range(len(level)):
        cost = (costs.shown[column, level[column]] + extra[column] - costs.least[column]) * costs.scale[column]
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
    keys: Keys, rows: Whole, n: int, layout: Layout, rule: ClassRule, everybody: Real, room: Room, failing: Flags
) -> tuple[int, int, int]:
    """Mark the entries of classes that break the rule; return rows lost, classes kept, sum of their squared sizes."""
    lost = kept = squares = 0
    if layout.mask[-1] == 0 and rule.diversity == NO_DIVERSITY and rule.t < 0:  # every entry is a class, and k the rule
        for i in range(n):
            failing[i] = rows[i] < rule.k
            if failing[i]:
                lost += rows[i]
            else:
                kept += 1
                squares += rows[i] * rows[i]
        return lost, kept, squares
    classes = entries_by_class(keys, n, layout, room)
    histogram = np.zeros(len(everybody))
    counts, values = np.empty(len(everybody), dtype=np.int64), np.empty(len(everybody), dtype=np.int64)
    for one in range(classes):
        first, last = room.start[one], room.start[one + 1]
        size = 0
        for j in range(first, last):
            entry = room.member[j]
            counts[j - first] = rows[entry]
            values[j - first] = np.int64((keys[entry, layout.word[-1]] >> layout.shift[-1]) & layout.mask[-1])
            size += rows[entry]
        shown = class_passes(rule, counts[: last - first], values[: last - first], everybody, histogram)
        for j in range(first, last):
            failing[room.member[j]] = not shown
        if shown:
            kept += 1
            squares += size * size
        else:
            lost += size
    return lost, kept, squares
