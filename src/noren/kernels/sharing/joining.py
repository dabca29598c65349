"""Groups of any size: histories laid on one another k at a time, and what the generalised rows cost exactly (S0).

A *table* says which rows have become one: a line for each member, a column for each generalised row, the entries being
positions of rows. A single customer is a table of one line. Two tables are joined by a linear assignment of their
columns; the cost of a joined column is the exact error of its members, every column of the data suppressed where that
is cheaper, or where one of them has no value in it: nothing is true of a blank but that nothing is said. The value of a
table is what its generalised rows cost less what deleting all of their rows would, so it is never positive, and the
cost of a group is the worth of all rows of its members plus the value of its table.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from noren.kernels.arrays import Codes, Real, Whole
from noren.kernels.linkage.assignment import EXACT, FAR, assign
from noren.kernels.sharing.alignment import COLUMNS, MISSING, LaidRows
from noren.kernels.sharing.medians import fill_medians

__all__ = ["aligned_histories", "join", "join_costs", "settled", "without_members", "worth_keeping"]

_NO_ITEM_HERE = -2
_NO_ITEM_THERE = -3
_EMPTY = 1e29


@njit(cache=True, nogil=True, fastmath=EXACT)
def _summary(rows: LaidRows, table: Whole, filler: int, known: Real, items: Codes) -> None:
    """Sum up each generalised row: per ordered column count, least, greatest, sum, sum of squares; items, each once."""
    members, length = table.shape
    for r in range(length):
        worth = 0.0
        for c in range(COLUMNS):
            count, total, squares = 0.0, 0.0, 0.0
            lo, hi = _EMPTY, -_EMPTY
            for p in range(members):
                x = rows.point[c, table[p, r]]
                if x < 0.5 * MISSING:
                    count += 1.0
                    total += x
                    squares += x * x
                    lo = min(lo, x)
                    hi = max(hi, x)
            known[5 * c, r] = count
            known[5 * c + 1, r] = lo
            known[5 * c + 2, r] = hi
            known[5 * c + 3, r] = total
            known[5 * c + 4, r] = squares
        distinct, said = 0.0, 0.0
        for p in range(members):
            worth += rows.worth[table[p, r]]
            item = rows.item[table[p, r]]
            items[p, r] = filler
            if item >= 0:
                said += 1.0
                new = True
                for q in range(p):
                    if items[q, r] == item:
                        new = False
                if new:
                    items[p, r] = item
                    distinct += 1.0
        known[15, r] = said
        known[16, r] = distinct
        known[17, r] = worth


@njit(cache=True, nogil=True, fastmath=EXACT)
def _fill(rows: LaidRows, suppress: bool, few: Whole, many: Whole, cost: Real) -> None:
    """Write the value of every column of ``few`` joined with every column of ``many``."""
    if rows.medians:
        fill_medians(rows, suppress, few, many, cost)
        return
    a = np.empty((18, few.shape[1]))
    b = np.empty((18, many.shape[1]))
    items_a = np.empty(few.shape, dtype=np.int32)
    items_b = np.empty(many.shape, dtype=np.int32)
    _summary(rows, few, _NO_ITEM_HERE, a, items_a)
    _summary(rows, many, _NO_ITEM_THERE, b, items_b)
    size = float(few.shape[0] + many.shape[0])
    shared = np.empty(many.shape[1])
    for i in range(few.shape[1]):
        line = cost[i]
        shared[:] = 0.0
        for p in range(few.shape[0]):
            item = items_a[p, i]
            for q in range(many.shape[0]):
                other = items_b[q]
                for j in range(len(shared)):
                    shared[j] += 1.0 if other[j] == item else 0.0
        said, distinct, worth = a[15, i], a[16, i], a[17, i]
        for j in range(len(shared)):
            n = said + b[15, j]
            error = n - n / max(distinct + b[16, j] - shared[j], 1.0)
            line[j] = error if n > size - 0.5 else n
        for c in range(COLUMNS):
            n0, lo0, hi0, sum0, sq0 = a[5 * c, i], a[5 * c + 1, i], a[5 * c + 2, i], a[5 * c + 3, i], a[5 * c + 4, i]
            bn, blo, bhi, bsum, bsq = b[5 * c], b[5 * c + 1], b[5 * c + 2], b[5 * c + 3], b[5 * c + 4]
            w = rows.width[c]
            for j in range(len(shared)):
                n = n0 + bn[j]
                lo = min(lo0, blo[j])
                hi = max(hi0, bhi[j])
                span = hi - lo
                both = n * (lo * lo + hi * hi + span * w) + 2.0 * (sq0 + bsq[j] - (lo + hi) * (sum0 + bsum[j]))
                error = both / (2.0 * (span + w))
                error = min(error, n if suppress else FAR) if n > size - 0.5 else n
                line[j] += error if n > 0.5 else 0.0
        for j in range(len(shared)):
            apart = worth + b[17, j]
            line[j] = min(line[j], apart) - apart


@njit(cache=True, nogil=True)
def _value(rows: LaidRows, suppress: bool, one: Whole, other: Whole, limit: float, column_of: Whole) -> float:
    """Return the value of two tables joined and which column of the longer each of the shorter takes."""
    few, many = one, other
    if few.shape[1] > many.shape[1]:
        few, many = other, one
    cost = np.empty((few.shape[1], many.shape[1]))
    _fill(rows, suppress, few, many, cost)
    return assign(cost, few.shape[1], many.shape[1], limit, column_of)


@njit(cache=True, nogil=True)
def join(rows: LaidRows, suppress: bool, one: Whole, other: Whole) -> tuple[float, Whole]:
    """Return the value of two tables joined as cheaply as can be, and the joined table, ``one``'s members first."""
    length = min(one.shape[1], other.shape[1])
    column_of = np.empty(length, dtype=np.int64)
    value = _value(rows, suppress, one, other, FAR, column_of)
    table = np.empty((one.shape[0] + other.shape[0], length), dtype=np.int64)
    swapped = one.shape[1] > other.shape[1]
    for r in range(length):
        i, j = r, column_of[r]
        if swapped:
            i, j = j, i
        table[: one.shape[0], r] = one[:, i]
        table[one.shape[0] :, r] = other[:, j]
    return value, table


@njit(cache=True, nogil=True)
def _aligned(rows: LaidRows, suppress: bool, lists: Whole, bounds: Whole) -> Whole:
    """Return the table of some lists of rows, the shortest list first, then one after the other by length."""
    lengths = bounds[1:] - bounds[:-1]
    order = np.argsort(lengths, kind="mergesort")
    at = order[0]
    table = lists[bounds[at] : bounds[at + 1]].copy().reshape(1, lengths[at])
    for step in range(1, len(order)):
        at = order[step]
        other = lists[bounds[at] : bounds[at + 1]].copy().reshape(1, lengths[at])
        table = join(rows, suppress, table, other)[1]
    back = np.empty_like(table)
    for step in range(len(order)):
        back[order[step]] = table[step]
    return back


@njit(cache=True, nogil=True)
def aligned_histories(rows: LaidRows, suppress: bool, members: Whole) -> Whole:
    """Return a table of whole histories: each laid on those before it, the shortest first; lines as ``members``."""
    bounds = np.zeros(len(members) + 1, dtype=np.int64)
    for p in range(len(members)):
        bounds[p + 1] = bounds[p] + rows.start[members[p] + 1] - rows.start[members[p]]
    lists = np.empty(bounds[-1], dtype=np.int64)
    for p in range(len(members)):
        lists[bounds[p] : bounds[p + 1]] = np.arange(rows.start[members[p]], rows.start[members[p] + 1])
    return _aligned(rows, suppress, lists, bounds)


@njit(cache=True, nogil=True)
def without_members(rows: LaidRows, suppress: bool, members: Whole, table: Whole, keep: NDArray[np.bool_]) -> Whole:
    """Return the table of the members kept.

    Rows that had been deleted because another member was short, and that no kept member lacks, are aligned anew among
    themselves and appended.
    """
    length = table.shape[1]
    kept = np.flatnonzero(keep)
    bounds = np.zeros(len(kept) + 1, dtype=np.int64)
    spare = len(rows.item)
    for p in range(len(kept)):
        u = members[kept[p]]
        left = rows.start[u + 1] - rows.start[u] - length
        bounds[p + 1] = bounds[p] + left
        spare = min(spare, left)
    base = np.empty((len(kept), length + spare), dtype=np.int64)
    for p in range(len(kept)):
        base[p, :length] = table[kept[p]]
    if spare == 0:
        return base
    lists = np.empty(bounds[-1], dtype=np.int64)
    for p in range(len(kept)):
        u = members[kept[p]]
        used = np.zeros(rows.start[u + 1] - rows.start[u], dtype=np.bool_)
        for r in range(length):
            used[table[kept[p], r] - rows.start[u]] = True
        at = bounds[p]
        for r in range(len(used)):
            if not used[r]:
                lists[at] = rows.start[u] + r
                at += 1
    base[:, length:] = _aligned(rows, suppress, lists, bounds)
    return base


@njit(cache=True, nogil=True)
def settled(rows: LaidRows, suppress: bool, members: Whole, table: Whole, passes: int) -> float:
    """Re-align each member against the rest, in place, until nothing moves; return the value.

    The table must be as long as the shortest member's history.
    """
    value = 0.0
    k = len(members)
    length = table.shape[1]
    column_of = np.empty(length, dtype=np.int64)
    last = -1  # the member moved last: after a whole round without a better place the table is settled
    for step in range(max(passes * k, k if k > 1 else 0)):
        p = step % k
        if p == last:
            break
        u = members[p]
        rest = np.empty((k - 1, length), dtype=np.int64)
        rest[:p] = table[:p]
        rest[p:] = table[p + 1 :]
        mine = np.arange(rows.start[u], rows.start[u + 1]).reshape(1, rows.start[u + 1] - rows.start[u])
        new = _value(rows, suppress, rest, mine, FAR, column_of)
        if step == 0 or new < value - 1e-9:
            last = p
            value = new
            for r in range(length):
                table[p, r] = mine[0, column_of[r]]
    return value


@njit(cache=True, nogil=True)
def join_costs(
    rows: LaidRows,
    suppress: bool,
    pool: Whole,
    shapes: Whole,
    pairs: Whole,
    limits: Real,
    values: Real,
) -> None:
    """Write the value of each pair of tables joined; beyond its limit a lower bound that exceeds the limit.

    Parameters
    ----------
    pool, shapes
        All tables one after the other, and for each its place in the pool, its members and its length.
    """
    column_of = np.empty(max(1, shapes[:, 2].max()), dtype=np.int64)
    for at in range(len(pairs)):
        p0, pk, pl = shapes[pairs[at, 0]]
        q0, qk, ql = shapes[pairs[at, 1]]
        one = pool[p0 : p0 + pk * pl].reshape(pk, pl)
        other = pool[q0 : q0 + qk * ql].reshape(qk, ql)
        values[at] = _value(rows, suppress, one, other, limits[at], column_of)


@njit(cache=True, nogil=True)
def worth_keeping(rows: LaidRows, suppress: bool, table: Whole) -> NDArray[np.bool_]:
    """Tell for each generalised row whether it costs less than deleting its rows."""
    kept = np.zeros(table.shape[1], dtype=np.bool_)
    cost = np.empty((1, 1))
    for r in range(table.shape[1]):
        _fill(rows, suppress, table[:1, r : r + 1].copy(), table[1:, r : r + 1].copy(), cost)
        kept[r] = cost[0, 0] < -1e-12
    return kept
