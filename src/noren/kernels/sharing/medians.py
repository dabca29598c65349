"""Histories laid on one another where each shared row says the median and the mode: what that costs exactly (S0).

A said value costs each member its distance from it, in standard deviations, and no value in sum costs less than the
median; a said item costs 1 to each member with another one, and no item less than the mode. A blank is a value of its
own: to say something costs a blank 1, to say nothing costs every known value 1. Whichever of the two is less is done;
where nothing is blank, only if cells may be suppressed. The proofs are in ``docs/theory/microaggregation.md``.
"""

from __future__ import annotations

import numpy as np

from noren.kernels.arrays import Codes, Real, Whole
from noren.kernels.compiling import part
from noren.kernels.linkage.assignment import EXACT, FAR
from noren.kernels.sharing.alignment import COLUMNS, MISSING, LaidRows

__all__ = ["fill_medians"]

_NO_ITEM_HERE = -2
_NO_ITEM_THERE = -3
_ANYWHERE = 1e29
"""Where the median of no values may lie, either way."""


@part(fastmath=EXACT)
def _sorted_cells(rows: LaidRows, table: Whole, value: Real, middle: Real) -> None:
    """Write each shared row's known values in order, and per ordered column: count, lower and upper median, cost."""
    members, length = table.shape
    for r in range(length):
        for c in range(COLUMNS):
            n = 0
            for p in range(members):
                x = rows.point[c, table[p, r]]
                if x < 0.5 * MISSING:
                    at = n
                    while at > 0 and value[c, r, at - 1] > x:
                        value[c, r, at] = value[c, r, at - 1]
                        at -= 1
                    value[c, r, at] = x
                    n += 1
            middle[4 * c, r] = n
            middle[4 * c + 1, r] = value[c, r, (n - 1) // 2] if n else -_ANYWHERE
            middle[4 * c + 2, r] = value[c, r, n // 2] if n else _ANYWHERE
            cost = 0.0
            for low in range(n // 2):
                cost += value[c, r, n - 1 - low] - value[c, r, low]
            middle[4 * c + 3, r] = cost


@part(fastmath=EXACT)
def _counted_items(rows: LaidRows, table: Whole, filler: int, items: Codes, times: Real, most: Real) -> None:
    """Write each shared row's items, each once, how often each is there, and how often the mode; a blank is an item."""
    members, length = table.shape
    for r in range(length):
        for p in range(members):
            item = rows.item[table[p, r]]
            items[p, r] = item
            times[p, r] = 1.0
            for q in range(p):
                if items[q, r] == item:
                    times[q, r] += 1.0
                    items[p, r] = filler
        most[r] = times[:, r].max()


@part(fastmath=EXACT)
def _merged_cost(one: Real, n: int, other: Real, m: int) -> float:
    """Return the sum of distances from the median of all values of two sorted lists: the upper half less the lower."""
    total = 0.0
    i, j = 0, 0
    for step in range(n + m):
        if j >= m or (i < n and one[i] <= other[j]):
            x = one[i]
            i += 1
        else:
            x = other[j]
            j += 1
        if 2 * step + 1 < n + m:
            total -= x
        elif 2 * step + 1 > n + m:
            total += x
    return total


@part(fastmath=EXACT)
def fill_medians(rows: LaidRows, suppress: bool, few: Whole, many: Whole, cost: Real) -> None:
    """Write the value of every column of ``few`` joined with every column of ``many``, medians and modes said.

    Where the medians of the two sides can be one number, the cost is the sum of theirs. Where one side is a single
    value it is dearer by the gap between the medians, for the nearer end of the other side's is a median of all. Else
    the values are merged.
    """
    short, length = few.shape[1], many.shape[1]
    values_a = np.empty((COLUMNS, short, few.shape[0]))
    values_b = np.empty((COLUMNS, length, many.shape[0]))
    a, b = np.empty((4 * COLUMNS, short)), np.empty((4 * COLUMNS, length))
    _sorted_cells(rows, few, values_a, a)
    _sorted_cells(rows, many, values_b, b)
    items_a, items_b = np.empty(few.shape, dtype=np.int32), np.empty(many.shape, dtype=np.int32)
    times_a, times_b = np.empty(few.shape), np.empty(many.shape)
    most_a, most_b = np.empty(short), np.empty(length)
    _counted_items(rows, few, _NO_ITEM_HERE, items_a, times_a, most_a)
    _counted_items(rows, many, _NO_ITEM_THERE, items_b, times_b, most_b)
    worth_a, worth_b = np.zeros(short), np.zeros(length)
    for p in range(few.shape[0]):
        for i in range(short):
            worth_a[i] += rows.worth[few[p, i]]
    for q in range(many.shape[0]):
        for j in range(length):
            worth_b[j] += rows.worth[many[q, j]]
    size = float(few.shape[0] + many.shape[0])
    merging = few.shape[0] > 1 and many.shape[0] > 1
    mode, error = np.empty(length), np.empty(length)
    for i in range(short):
        line = cost[i]
        mode[:] = np.maximum(most_b, most_a[i])
        for p in range(few.shape[0]):
            item, often = items_a[p, i], times_a[p, i]
            for q in range(many.shape[0]):
                other, times = items_b[q], times_b[q]
                for j in range(length):
                    mode[j] = max(mode[j], often + times[j] if other[j] == item else 0.0)
        for j in range(length):
            line[j] = size - mode[j]
        for c in range(COLUMNS):
            n0, lo0, hi0, cost0 = a[4 * c, i], a[4 * c + 1, i], a[4 * c + 2, i], a[4 * c + 3, i]
            count, lo, hi, costs = b[4 * c], b[4 * c + 1], b[4 * c + 2], b[4 * c + 3]
            for j in range(length):
                error[j] = cost0 + costs[j] + max(lo[j] - hi0, lo0 - hi[j], 0.0)
            if merging:
                for j in range(length):
                    if lo[j] > hi0 or lo0 > hi[j]:
                        error[j] = _merged_cost(values_a[c, i], int(n0), values_b[c, j], int(count[j]))
            for j in range(length):
                n = n0 + count[j]
                unsaid = n if suppress or n < size - 0.5 else FAR
                line[j] += min(size - n + error[j], unsaid)
        for j in range(length):
            apart = worth_a[i] + worth_b[j]
            line[j] = min(line[j], apart) - apart
