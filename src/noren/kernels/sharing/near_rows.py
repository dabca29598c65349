"""Long histories laid on one another: an assignment over near rows only, in time that grows with the rows.

The cheapest way to join two tables of n columns each looks at n × n pairs, and at each many times: a wholesaler of
thousands of rows costs more than a thousand others. Nearly all of these pairs are far apart. Here each column of the
shorter table looks at few of the longer one, those with an item of its own and those next to it by date and by price,
and keeps the best; an auction (Bertsekas 1988) deals these out. A column may also stay without a partner, which keeps
nothing of it and is worth 0, so there is always an answer; who is left takes what is left, in the order of dates.

What comes out is a way to join the tables and what it costs: never less than the cheapest way, and little more.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from noren.kernels.arrays import Codes, Real, Whole
from noren.kernels.compiling import kernel, part
from noren.kernels.linkage.assignment import EXACT, FAR, assign
from noren.kernels.ordered import first_from

_KEPT = 16
"""Candidates kept for each column."""
_BESIDE = 10
"""Columns looked at on either side, by date and by price."""
_SAME_ITEM = 4
"""Columns with an item of one's own looked at on either side, by date, for each item."""
_STEPS = (0.5, 0.1, 0.02)
"""By how much a bid exceeds the second best, in cells; coarse at first, so that prices are soon about right."""
_BY_PRICE, _BY_DATE = 1 << 60, 1 << 61
_FEW = 64
"""Columns left over that are dealt out by an assignment over all pairs."""
_MOST_BIDS = 60
"""Bids to a column after which no more are made: rows still waiting are left over."""


@part()
def by_column(known: NDArray[Any]) -> NDArray[Any]:
    """Return what is known of a table's columns with a line for each of them: what one joins lies side by side."""
    return np.ascontiguousarray(known.T)


@part(fastmath=EXACT)
def joined_value(
    a: Real, b: Real, items_a: Codes, items_b: Codes, i: int, j: int, width: Real, suppress: bool
) -> float:
    """Return the value of column i of one table joined with column j of another: a cell of what all pairs are worth.

    The tables are given as :func:`by_column` lays them.
    """
    if a[i, 18] < 0 or a[i, 18] != b[j, 18]:  # not of one stratum
        return 0.0
    size = float(items_a.shape[1] + items_b.shape[1])
    shared = 0.0
    for p in range(items_a.shape[1]):
        for q in range(items_b.shape[1]):
            shared += 1.0 if items_b[j, q] == items_a[i, p] else 0.0
    n = a[i, 15] + b[j, 15]
    total = n
    if n > size - 0.5:
        total = n - n / max(a[i, 16] + b[j, 16] - shared, 1.0)
    for c in range(3):
        n = a[i, 5 * c] + b[j, 5 * c]
        if n < 0.5:
            continue
        if n < size - 0.5:
            total += n
            continue
        lo = min(a[i, 5 * c + 1], b[j, 5 * c + 1])
        hi = max(a[i, 5 * c + 2], b[j, 5 * c + 2])
        span = hi - lo
        both = n * (lo * lo + hi * hi + span * width[c])
        both += 2.0 * (a[i, 5 * c + 4] + b[j, 5 * c + 4] - (lo + hi) * (a[i, 5 * c + 3] + b[j, 5 * c + 3]))
        error = both / (2.0 * (span + width[c]))
        total += min(error, n if suppress and c != a[i, 19] else FAR)
    apart = a[i, 17] + b[j, 17]
    value: float = min(total, apart) - apart
    return value


@part()
def _place(known: Real, column: int, r: int) -> int:
    """Return the middle of a generalised row's values as a whole number of 20 bits, to sort by; blanks last."""
    if known[r, 5 * column] < 0.5:
        return (1 << 20) - 1
    middle = 0.5 * (known[r, 5 * column + 1] + known[r, 5 * column + 2])
    return int(min(max(middle, -50.0), 50.0) * 1e4) + 500_000


@part()
def _keep(near: Codes, value: Real, count: int, j: int, new: float) -> int:
    """Keep a candidate among the best, in order; return how many there are."""
    if count == len(near) and new >= value[count - 1]:
        return count
    at = count if count < len(near) else count - 1
    while at > 0 and value[at - 1] > new:
        value[at], near[at] = value[at - 1], near[at - 1]
        at -= 1
    value[at], near[at] = new, j
    return min(count + 1, len(near))


@part()
def _candidates(
    a: Real,
    b: Real,
    items_a: Codes,
    items_b: Codes,
    width: Real,
    suppress: bool,
    mine: Whole,
    theirs: Whole,
    near: Codes,
    value: Real,
) -> Whole:
    """Fill in the best candidates of some columns, among some of the other table; return how many each has.

    Three lists, sorted by item and date, by price and date, and by date; a column looks at its neighbours in each.
    """
    few, many, members = len(mine), len(theirs), items_b.shape[1]
    keys = np.empty((members + 2) * many, dtype=np.int64)
    for at in range(many):
        j = theirs[at]
        date = _place(b, 0, j)
        for q in range(members):
            keys[q * many + at] = (np.int64(items_b[j, q]) + 3) << 20 | date
        keys[members * many + at] = _BY_PRICE | np.int64(_place(b, 1, j)) << 20 | date
        keys[(members + 1) * many + at] = _BY_DATE | date
    order = np.argsort(keys, kind="mergesort")
    keys = keys[order]
    for at in range(len(order)):
        order[at] %= many
    seen = np.full(many, -1, dtype=np.int64)
    counts = np.zeros(few, dtype=np.int64)
    wanted = items_a.shape[1] + 2
    for at in range(few):
        i = mine[at]
        date = _place(a, 0, i)
        count = 0
        for p in range(wanted):
            reach, shift = _BESIDE, 60
            key: Any = 0
            if p < wanted - 2:
                if items_a[i, p] < 0:
                    continue
                key = (np.int64(items_a[i, p]) + 3) << 20 | date
                reach, shift = _SAME_ITEM, 20
            elif p == wanted - 2:
                key = _BY_PRICE | np.int64(_place(a, 1, i)) << 20 | date
            else:
                key = _BY_DATE | date
            middle = first_from(keys, 0, len(keys), key)
            for place in range(max(middle - reach, 0), min(middle + reach, len(keys))):
                other = order[place]
                if keys[place] >> shift == key >> shift and seen[other] != at:
                    seen[other] = at
                    new = joined_value(a, b, items_a, items_b, i, theirs[other], width, suppress)
                    count = _keep(near[at], value[at], count, other, new)
        counts[at] = count
    return counts


@part()
def _auction(near: Codes, value: Real, counts: Whole, many: int, takes: Whole) -> None:
    """Deal out candidates by auction; whom nothing is left that pays gets -1."""
    few = len(counts)
    price = np.zeros(many)
    row_of = np.empty(many, dtype=np.int64)
    waiting = np.empty(few, dtype=np.int64)
    for step in _STEPS:
        row_of[:] = -1
        takes[:] = -1
        for i in range(few):
            waiting[i] = few - 1 - i
        left, bids = few, 0
        while left > 0 and bids < _MOST_BIDS * few:
            left -= 1
            i = waiting[left]
            bids += 1
            best, second, at = 0.0, 0.0, -1  # to stay without a partner is worth 0
            for c in range(counts[i]):
                if -value[i, c] <= second:  # the best come first, and no price is below 0
                    break
                gain = -value[i, c] - price[near[i, c]]
                if gain > best:
                    best, second, at = gain, best, near[i, c]
                elif gain > second:
                    second = gain
            if at < 0:
                continue
            price[at] += best - second + step
            loser = row_of[at]
            row_of[at] = i
            takes[i] = at
            if loser >= 0:
                takes[loser] = -1
                waiting[left] = loser
                left += 1
        for j in range(many):
            if row_of[j] < 0:
                price[j] = 0.0  # what nobody takes costs nothing


@kernel()
def near_assign(
    a: Real, b: Real, items_a: Codes, items_b: Codes, width: Real, suppress: bool, limit: float, column_of: Whole
) -> float:
    """Return the value of two tables joined, and fill in which column of the longer each of the shorter takes.

    Those left over are dealt what is left over, as often as that takes, the last few by an assignment over all pairs.
    Stops early where even everybody's best candidate, taken by all who want it, comes to more than ``limit``.

    ``a`` and ``b`` are what :mod:`noren.kernels.sharing.joining` sums up of the columns of the shorter and the longer
    table, ``items_a`` and ``items_b`` their items, each once.
    """
    a, b, items_a, items_b = by_column(a), by_column(b), by_column(items_a), by_column(items_b)
    mine, theirs = np.arange(len(a)), np.arange(len(b))
    total, met = 0.0, True
    while len(mine):
        takes = np.empty(len(mine), dtype=np.int64)
        if len(mine) <= _FEW or not met:
            cost = np.empty((len(mine), len(theirs)))
            for i in range(len(mine)):
                for j in range(len(theirs)):
                    cost[i, j] = joined_value(a, b, items_a, items_b, mine[i], theirs[j], width, suppress)
            assign(cost, len(mine), len(theirs), FAR, takes)
        else:
            near = np.empty((len(mine), _KEPT), dtype=np.int32)
            value = np.empty((len(mine), _KEPT))
            counts = _candidates(a, b, items_a, items_b, width, suppress, mine, theirs, near, value)
            if len(mine) == len(a):
                least = 0.0
                for i in range(len(mine)):
                    least += value[i, 0]
                if least > limit:
                    return least
            _auction(near, value, counts, len(theirs), takes)
        free = np.ones(len(theirs), dtype=np.bool_)
        met = False
        for i in range(len(mine)):
            if takes[i] >= 0:
                met = True
                free[takes[i]] = False
                column_of[mine[i]] = theirs[takes[i]]
                total += joined_value(a, b, items_a, items_b, mine[i], theirs[takes[i]], width, suppress)
        mine, theirs = mine[takes < 0], theirs[free]
    return total
