"""Histories laid on one another where each shared row says the median and the mode: what that costs exactly (S0).

A said value costs each member its distance from it, in standard deviations, and no value in sum costs less than the
median; a said item costs 1 to each member with another one, and no item less than the mode. A blank is a value of its
own: to say something costs a blank 1, to say nothing costs every known value 1. Whichever of the two is less is done;
where nothing is blank, only if cells may be suppressed. The proofs are in ``docs/theory/microaggregation.md``.

**Groups of any size: histories laid on one another k at a time, and what the generalised rows cost exactly (S0).**
A *table* says which rows have become one: a line for each member, a column for each generalised row, the entries being
positions of rows. A single customer is a table of one line. Two tables are joined by a linear assignment of their
columns; the cost of a joined column is the exact error of its members, every column of the data suppressed where that
is cheaper, or where one of them has no value in it: nothing is true of a blank but that nothing is said. The value of a
table is what its generalised rows cost less what deleting all of their rows would, so it is never positive, and the
cost of a group is the worth of all rows of its members plus the value of its table.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from noren.kernels.arrays import Codes, Real, Whole
from noren.kernels.compiling import kernel, part
from noren.kernels.linkage.assignment import EXACT, FAR, assign
from noren.kernels.sharing.alignment import COLUMNS, MISSING, RowArrays
from noren.kernels.sharing.near_rows import by_column, joined_value, near_assign

_NO_ITEM_HERE = -2
_NO_ITEM_THERE = -3
_ANYWHERE = 1e29
"""Where the median of no values may lie, either way."""


@part()
def _strata(rows: RowArrays, table: Whole) -> Real:
    """Return the stratum of each shared row: 0 where there is one for all, -1 where its rows are of several."""
    strata = np.zeros(table.shape[1])
    if len(rows.stratum):
        for r in range(table.shape[1]):
            strata[r] = rows.stratum[table[0, r]]
            for p in range(1, table.shape[0]):
                if rows.stratum[table[p, r]] != rows.stratum[table[0, r]]:
                    strata[r] = -1.0
    return strata


@part(fastmath=EXACT)
def _medians(rows: RowArrays, table: Whole, filler: int) -> tuple[Real, Real, Codes, Real, Real, Real]:
    """Return each shared row's known values in order, per ordered column count, lower and upper median and cost; its
    items, each once, how often each is there, and how often the mode, a blank being an item; and its worth."""
    members, length = table.shape
    value, middle = np.empty((COLUMNS, length, members)), np.empty((4 * COLUMNS, length))
    items, times = np.empty(table.shape, dtype=np.int32), np.ones(table.shape)
    most, worth = np.empty(length), np.zeros(length)
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
        for p in range(members):
            worth[r] += rows.worth[table[p, r]]
            item = rows.item[table[p, r]]
            items[p, r] = item
            for q in range(p):
                if items[q, r] == item:
                    times[q, r] += 1.0
                    items[p, r] = filler
        most[r] = times[:, r].max()
    return value, middle, items, times, most, worth


@part(fastmath=EXACT)
def _merged_cost(first: Real, n: int, second: Real, m: int) -> float:
    """Return the sum of distances from the median of all values of two sorted lists: the upper half less the lower."""
    total = 0.0
    i, j = 0, 0
    for step in range(n + m):
        if j >= m or (i < n and first[i] <= second[j]):
            x = first[i]
            i += 1
        else:
            x = second[j]
            j += 1
        if 2 * step + 1 < n + m:
            total -= x
        elif 2 * step + 1 > n + m:
            total += x
    return total


@part(fastmath=EXACT)
def fill_medians(rows: RowArrays, suppress: bool, few: Whole, many: Whole, cost: Real) -> None:
    """Write the value of every column of ``few`` joined with every column of ``many``, medians and modes said.

    Where the medians of the two sides can be one number, the cost is the sum of theirs. Where one side is a single
    value it is dearer by the gap between the medians, for the nearer end of the other side's is a median of all. Else
    the values are merged.
    """
    short, length = few.shape[1], many.shape[1]
    values_a, a, items_a, times_a, most_a, worth_a = _medians(rows, few, _NO_ITEM_HERE)
    values_b, b, items_b, times_b, most_b, worth_b = _medians(rows, many, _NO_ITEM_THERE)
    size = float(few.shape[0] + many.shape[0])
    merging = few.shape[0] > 1 and many.shape[0] > 1
    strata_a, strata_b = _strata(rows, few), _strata(rows, many)
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
            capped = suppress and c != rows.unsuppressed
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
                unsaid = n if capped or n < size - 0.5 else FAR
                line[j] += min(size - n + error[j], unsaid)
        for j in range(length):
            apart = worth_a[i] + worth_b[j]
            line[j] = min(line[j], apart) - apart
            if strata_a[i] < 0 or strata_a[i] != strata_b[j]:
                line[j] = 0.0


# --- Groups of any size: histories laid on one another k at a time, and what the generalised rows cost exactly (S0) ---


_EMPTY, _NARROW = 1e29, 1e-30  # a divisor is no less: a check for 0 in a loop keeps it from vectors
_BOTH = np.array([[0, 1]])
_NO_LIMIT = np.array([FAR])


@part(fastmath=EXACT)
def _summed(rows: RowArrays, table: Whole, filler: int) -> tuple[Real, Codes]:
    """Sum up each generalised row: per ordered column count, least, greatest, sum, sum of squares; items, each once."""
    members, length = table.shape
    known = np.empty((20, length))
    known[18] = _strata(rows, table)
    known[19] = rows.unsuppressed
    items = np.empty(table.shape, dtype=np.int32)
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
        distinct, filled = 0.0, 0.0
        for p in range(members):
            worth += rows.worth[table[p, r]]
            item = rows.item[table[p, r]]
            items[p, r] = filler
            if item >= 0:
                filled += 1.0
                new = True
                for q in range(p):
                    if items[q, r] == item:
                        new = False
                if new:
                    items[p, r] = item
                    distinct += 1.0
        known[15, r] = filled
        known[16, r] = distinct
        known[17, r] = worth
    return known, items


@part(fastmath=EXACT)
def _fill(rows: RowArrays, suppress: bool, few: Whole, many: Whole, cost: Real) -> None:
    """Write the value of every column of ``few`` joined with every column of ``many``."""
    a, items_a = _summed(rows, few, _NO_ITEM_HERE)
    b, items_b = _summed(rows, many, _NO_ITEM_THERE)
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
        filled, distinct, worth = a[15, i], a[16, i], a[17, i]
        for j in range(len(shared)):
            n = filled + b[15, j]
            error = n - n / max(distinct + b[16, j] - shared[j], 1.0)
            line[j] = error if n > size - 0.5 else n
        for c in range(COLUMNS):
            n0, lo0, hi0, sum0, sq0 = a[5 * c, i], a[5 * c + 1, i], a[5 * c + 2, i], a[5 * c + 3, i], a[5 * c + 4, i]
            bn, blo, bhi, bsum, bsq = b[5 * c], b[5 * c + 1], b[5 * c + 2], b[5 * c + 3], b[5 * c + 4]
            w, capped = rows.width[c], suppress and c != rows.unsuppressed
            for j in range(len(shared)):
                n = n0 + bn[j]
                lo = min(lo0, blo[j])
                hi = max(hi0, bhi[j])
                span = hi - lo
                both = n * (lo * lo + hi * hi + span * w) + 2.0 * (sq0 + bsq[j] - (lo + hi) * (sum0 + bsum[j]))
                error = both / max(2.0 * (span + w), _NARROW)
                error = min(error, n if capped else FAR) if n > size - 0.5 else n
                line[j] += error if n > 0.5 else 0.0
        for j in range(len(shared)):
            apart = worth + b[17, j]
            line[j] = min(line[j], apart) - apart
            if a[18, i] < 0 or a[18, i] != b[18, j]:
                line[j] = 0.0


@part()
def _value(
    rows: RowArrays,
    medians: bool | None,
    long: int | None,
    suppress: bool,
    first: Whole,
    second: Whole,
    limit: float,
    column_of: Whole,
) -> float:
    """Return the value of two tables joined and which column of the longer each of the shorter takes.

    What is said (hulls, or medians) and whether some tables are long is None where it is not so: then what it needs is
    not compiled.
    """
    few, many = first, second
    if few.shape[1] > many.shape[1]:
        few, many = second, first
    if long is not None and few.shape[1] > long:
        a, items_a = _summed(rows, few, _NO_ITEM_HERE)
        b, items_b = _summed(rows, many, _NO_ITEM_THERE)
        return near_assign(a, b, items_a, items_b, rows.width, suppress, limit, column_of)
    cost = np.empty((few.shape[1], many.shape[1]))
    if medians is None:
        _fill(rows, suppress, few, many, cost)
    else:
        fill_medians(rows, suppress, few, many, cost)
    return assign(cost, few.shape[1], many.shape[1], limit, column_of)


def _long(rows: RowArrays, columns: int) -> int | None:
    """Return beyond how many columns tables are joined over near rows only; None where none has as many."""
    return None if rows.medians or columns <= rows.long else rows.long


def join(rows: RowArrays, suppress: bool, first: Whole, second: Whole) -> tuple[float, Whole]:
    """Return the value of two tables joined as cheaply as can be, and the joined table, ``one``'s members first."""
    pool = np.concatenate([first.ravel(), second.ravel()])
    shapes = np.array([(0, *first.shape), (first.size, *second.shape)])
    columns = np.arange(min(first.shape[1], second.shape[1]))
    column_of = np.empty(max(len(columns), 1), dtype=np.int64)
    long = _long(rows, len(columns))
    value = _join_costs(rows, rows.medians or None, long, suppress, pool, shapes, _BOTH, _NO_LIMIT, column_of)
    here, there = columns, column_of[: len(columns)]
    if first.shape[1] > second.shape[1]:
        here, there = there, here
    table = np.empty((len(first) + len(second), len(columns)), dtype=np.int64)
    table[: len(first)], table[len(first) :] = first[:, here], second[:, there]
    return float(value[0]), table


def _aligned(rows: RowArrays, suppress: bool, lists: Sequence[Whole]) -> Whole:
    """Return the table of some lists of rows, the shortest list first, then one after the other by length."""
    order = np.argsort([len(places) for places in lists], kind="stable")
    table = lists[order[0]].reshape(1, -1)
    for at in order[1:]:
        table = join(rows, suppress, table, lists[at].reshape(1, -1))[1]
    back: Whole = np.empty_like(table)
    back[order] = table
    return back


def aligned_histories(rows: RowArrays, suppress: bool, members: Whole) -> Whole:
    """Return a table of whole histories: each laid on those before it, the shortest first; lines as ``members``."""
    return _aligned(rows, suppress, [np.arange(rows.start[u], rows.start[u + 1]) for u in members])


def without_members(rows: RowArrays, suppress: bool, members: Whole, table: Whole, keep: NDArray[np.bool_]) -> Whole:
    """Return the table of the members kept.

    Rows that had been deleted because another member was short, and that no kept member lacks, are aligned anew among
    themselves and appended.
    """
    remaining, left = members[keep], table[keep]
    if not (rows.start[remaining + 1] - rows.start[remaining] > table.shape[1]).all():
        return left
    lists = []
    for u, used in zip(remaining, left, strict=True):
        free = np.ones(rows.start[u + 1] - rows.start[u], dtype=np.bool_)
        free[used - rows.start[u]] = False
        lists.append(rows.start[u] + np.flatnonzero(free))
    return np.ascontiguousarray(np.concatenate([left, _aligned(rows, suppress, lists)], axis=1))


def mended(rows: RowArrays, suppress: bool, members: Whole, table: Whole) -> Whole:
    """Return a table in which rows that met nothing worth keeping are laid on one another anew, stratum by stratum.

    Who is re-aligned alone finds only what the others have in common: rows of several strata keep one another apart.
    """
    good = table[:, worth_keeping(rows, suppress, table)]
    free = [
        np.setdiff1d(np.arange(rows.start[u], rows.start[u + 1]), line) for u, line in zip(members, good, strict=True)
    ]
    common = set.intersection(*(set(rows.stratum[places].tolist()) for places in free))
    anew = [_aligned(rows, suppress, [p[rows.stratum[p] == stratum] for p in free]) for stratum in sorted(common)]
    whole = np.concatenate([good, *anew], axis=1)
    left = rows.counts[members].min() - whole.shape[1]
    rest = [np.setdiff1d(places, line)[:left] for places, line in zip(free, whole, strict=True)]
    return np.ascontiguousarray(np.concatenate([whole, np.stack(rest)], axis=1))


def settled(rows: RowArrays, suppress: bool, members: Whole, table: Whole, passes: int) -> float:
    """Re-align each member against the rest, in place, until nothing moves; return the value.

    The table must be as long as the shortest member's history; a long one is re-aligned over near rows.
    """
    how = _long(rows, table.shape[1])
    value: float = _settled(rows, rows.medians or None, how, suppress, members, table, passes)
    return value


@kernel()
def _settled(
    rows: RowArrays, medians: bool | None, long: int | None, suppress: bool, members: Whole, table: Whole, passes: int
) -> float:
    value = 0.0
    k = len(members)
    if long is not None and k > 1:  # what near rows give need not be better than what there is
        a, items_a = _summed(rows, table[:1], _NO_ITEM_HERE)
        b, items_b = _summed(rows, table[1:], _NO_ITEM_THERE)
        a, b, items_a, items_b = by_column(a), by_column(b), by_column(items_a), by_column(items_b)
        for r in range(table.shape[1]):
            value += joined_value(a, b, items_a, items_b, r, r, rows.width, suppress)
    length = table.shape[1]
    column_of = np.empty(length, dtype=np.int64)
    rest = np.empty((k - 1, length), dtype=np.int64)
    last = -1  # the member moved last: after a whole round without a better place the table is settled
    for step in range(max(passes * k, k if k > 1 else 0)):
        p = step % k
        if p == last or (last < 0 and step >= k):
            break
        for q in range(k - 1):
            for r in range(length):
                rest[q, r] = table[q + 1 if q >= p else q, r]
        first = rows.start[members[p]]
        mine = np.empty((1, rows.start[members[p] + 1] - first), dtype=np.int64)
        for r in range(mine.shape[1]):
            mine[0, r] = first + r
        new = _value(rows, medians, long, suppress, rest, mine, FAR, column_of)
        if (step == 0 and long is None) or new < value - 1e-9:
            last = p
            value = new
            for r in range(length):
                table[p, r] = first + column_of[r]
    return value


def join_costs(rows: RowArrays, suppress: bool, pool: Whole, shapes: Whole, pairs: Whole, limits: Real) -> Real:
    """Return the value of each pair of tables joined; beyond its limit a lower bound that exceeds the limit.

    ``pool`` has all tables one after the other, ``shapes`` the place, members and length of each.
    """
    column_of = np.empty(max(1, shapes[:, 2].max(initial=1)), dtype=np.int64)
    longest = int(shapes[pairs, 2].min(axis=1).max(initial=0))
    how = _long(rows, longest)
    return _join_costs(rows, rows.medians or None, how, suppress, pool, shapes, pairs, limits, column_of)


@kernel()
def _join_costs(
    rows: RowArrays,
    medians: bool | None,
    long: int | None,
    suppress: bool,
    pool: Whole,
    shapes: Whole,
    pairs: Whole,
    limits: Real,
    column_of: Whole,
) -> Real:
    values = np.empty(len(pairs))
    for at in range(len(pairs)):
        p, q = pairs[at, 0], pairs[at, 1]
        first = pool[shapes[p, 0] : shapes[p, 0] + shapes[p, 1] * shapes[p, 2]].reshape(shapes[p, 1], shapes[p, 2])
        second = pool[shapes[q, 0] : shapes[q, 0] + shapes[q, 1] * shapes[q, 2]].reshape(shapes[q, 1], shapes[q, 2])
        values[at] = _value(rows, medians, long, suppress, first, second, limits[at], column_of)
    return values


def worth_keeping(rows: RowArrays, suppress: bool, table: Whole) -> NDArray[np.bool_]:
    """Tell for each generalised row whether it costs less than deleting its rows."""
    members, length = table.shape
    first = members * np.arange(length)
    ones = np.ones_like(first)
    head, tail = np.stack([first, ones, ones], axis=1), np.stack([first + 1, (members - 1) * ones, ones], axis=1)
    pairs = np.stack([np.arange(length), length + np.arange(length)], axis=1)
    shapes, no_limits = np.concatenate([head, tail]), np.full(length, FAR)
    return join_costs(rows, suppress, table.T.ravel(), shapes, pairs, no_limits) < -1e-12
