"""Small random histories as rows for alignment, and what they cost by the definition (S0), without any kernel of ours
that is fast."""

import itertools
from dataclasses import replace

import numpy as np

from noren.kernels.judging.cell_error import interval_error, set_error
from noren.kernels.sharing.alignment import RowArrays, row_arrays
from noren.kernels.sharing.shared_histories import SharedGroups, least_cost

WIDTHS = [1.0, 0.01, 1.0]
SDS = [2.0, 1.5, 0.7]


def histories(counts: list[int], seed: int, *, missing: float = 0.0, items: int = 4) -> RowArrays:
    generator = np.random.default_rng(seed)
    total = sum(counts)
    columns = [
        generator.integers(0, 9, total).astype(float),
        np.round(generator.exponential(2.0, total), 2),
        generator.integers(1, 4, total).astype(float),
    ]
    columns = [np.where(generator.random(total) < missing, np.nan, c) for c in columns]
    item = np.where(generator.random(total) < missing, -1, generator.integers(0, items, total))
    return row_arrays(np.concatenate([[0], np.cumsum(counts)]), columns, SDS, WIDTHS, item)


def row_cost(rows: RowArrays, together: list[int], *, suppress: bool) -> float:
    """What some rows cost that become one: cell by cell, suppressed beside a blank or where cheaper; or all deleted.

    Rows of several strata are deleted.
    """
    if len(set(rows.stratum[together].tolist() if len(rows.stratum) else ())) > 1:
        return float(rows.worth[together].sum())
    total = 0.0
    for c in range(3):
        x = rows.point[c, together]
        x = np.where(x > 1e29, np.nan, x)
        known = int(np.sum(~np.isnan(x)))
        if known < len(x):
            total += known
            continue
        lo, hi = np.full(len(x), x.min()), np.full(len(x), x.max())
        said = float(interval_error(x, lo, hi, width=rows.width[c], sd=1.0).sum())
        total += min(said, known) if suppress and c != rows.unsuppressed else said
    item = rows.item[together]
    known = int(np.sum(item >= 0))
    size = np.full(len(item), float(len(set(item.tolist()))))
    blank = np.full(len(item), known < len(item))
    total += float(set_error(item >= 0, size, missing=item < 0, suppressed=blank).sum())
    return min(total, float(rows.worth[together].sum()))


def cheapest_group(rows: RowArrays, members: list[int], *, suppress: bool) -> float:
    """The least cost of a group over all alignments, by trying every one."""
    lists = [list(range(rows.start[u], rows.start[u + 1])) for u in members]
    shortest, *others = sorted(lists, key=len)
    worth = sum(float(rows.worth[r]) for rows_of in lists for r in rows_of)
    saved = {
        key: row_cost(rows, list(key), suppress=suppress) - float(rows.worth[list(key)].sum())
        for key in itertools.product(shortest, *others)
    }
    choices = itertools.product(*(itertools.permutations(other, len(shortest)) for other in others))
    return worth + min(sum(saved[key] for key in zip(shortest, *choice, strict=True)) for choice in choices)


def partitions(people: list[int], k: int) -> list[list[list[int]]]:
    """All ways to put people into groups of k."""
    if not people:
        return [[]]
    first, *rest = people
    found = []
    for others in itertools.combinations(rest, k - 1):
        left = [p for p in rest if p not in others]
        found += [[[first, *others], *more] for more in partitions(left, k)]
    return found


def cheapest_partition(costs: dict[int, float], people: int) -> float:
    """The least cost of sets of people that hold everybody once; sets are numbers, a bit for each of their people."""
    best = {0: 0.0}
    for held in range(1, 1 << people):
        first = held & -held
        inside = (some for some in costs if some & first and some & held == some)
        best[held] = min((costs[some] + best[held ^ some] for some in inside), default=np.inf)
    return best[(1 << people) - 1]


def group_costs(rows: RowArrays, sizes: range, *, suppress: bool = True) -> dict[int, float]:
    """What every group of some sizes costs, by trying every alignment, and every customer deleted whole."""
    people = len(rows.counts)
    costs = {1 << u: float(rows.losses[u]) for u in range(people)}
    for size in sizes:
        for some in itertools.combinations(range(people), size):
            costs[sum(1 << u for u in some)] = cheapest_group(rows, list(some), suppress=suppress)
    return costs


def bounded(found: SharedGroups, rows: RowArrays, k: int, *, suppress: bool = True) -> SharedGroups:
    """The groups found, with their lower bound: pairs come with theirs."""
    return found if found.bound is not None else replace(found, bound=least_cost(rows, k, suppress=suppress))
