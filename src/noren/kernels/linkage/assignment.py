"""The cheapest way to give every row of a matrix a column of its own: rectangular linear assignment.

Shortest augmenting paths after an auction-like start (Jonker and Volgenant 1987, without their column reduction, which
a matrix with more columns than rows does not allow). Compiled on first use and kept in Numba's cache. The cache looks
at the file of the function that is called and no other: whoever changes this file must touch ``alignment.py`` and
``joining.py`` too.
"""

from __future__ import annotations

import numpy as np

from noren.kernels.arrays import Real, Whole
from noren.kernels.compiling import kernel, part

__all__ = ["EXACT", "FAR", "assign"]

FAR = 1e290
"""More than any cost: stands for infinity, which the arithmetic of these kernels does not know."""

EXACT = {"nnan", "ninf", "nsz"}
"""Arithmetic without NaN, infinity and the sign of zero, for loops over vectors; no sum is rearranged and no product
fused, which would give other last digits on another machine, or once a kernel comes from the cache."""


@part(fastmath=EXACT)
def _auction(cost: Real, rows: int, columns: int, column_of: Whole, row_of: Whole, price: Real) -> int:
    """Let free rows bid for columns, two rounds; return how many rows stay free.

    Prices (the dual values of columns) fall only where a column has a row, so columns without one keep 0.
    """
    free = np.empty(rows, dtype=np.int64)
    for i in range(rows):
        free[i] = i
    waiting = rows
    for _ in range(2):
        k = 0
        ahead = waiting
        waiting = 0
        bids = 0
        most = 4 * rows + 16  # rounding can make two rows outbid each other for ever
        while k < ahead:
            i = free[k]
            k += 1
            first = FAR
            second = FAR
            j1 = 0
            j2 = 0
            for j in range(columns):
                reduced = cost[i, j] - price[j]
                if reduced < second:
                    if reduced < first:
                        second = first
                        j2 = j1
                        first = reduced
                        j1 = j
                    else:
                        second = reduced
                        j2 = j
            if columns == 1:
                second = first
            bids += 1
            loser = row_of[j1]
            strictly = second - first > 1e-12
            if strictly:
                price[j1] -= second - first
            elif loser >= 0 and columns > 1:
                j1 = j2
                loser = row_of[j1]
            row_of[j1] = i
            column_of[i] = j1
            if loser >= 0:
                column_of[loser] = -1
                if strictly and bids < most:
                    k -= 1
                    free[k] = loser
                else:
                    free[waiting] = loser
                    waiting += 1
    return waiting


@kernel(fastmath=EXACT)
def assign(cost: Real, rows: int, columns: int, limit: float, column_of: Whole) -> float:
    """Return the least total of ``cost[i, column_of[i]]`` over distinct columns, and fill in ``column_of``.

    Stops early once the total is known to exceed ``limit``: the value returned is then a lower bound above the limit
    and ``column_of`` means nothing. The bound is the dual value ``Σ_i min_j (cost_ij − price_j) + Σ_j price_j`` with
    ``price ≤ 0``, zero where a column has no row; each augmenting path raises it by its length.

    >>> column_of = np.empty(2, dtype=np.int64)
    >>> assign(np.array([[1.0, 2.0, 9.0], [1.0, 5.0, 9.0]]), 2, 3, 1e9, column_of), column_of.tolist()
    (3.0, [1, 0])

    Parameters
    ----------
    cost
        At least ``rows`` × ``columns``; ``rows ≤ columns``.
    """
    bound = 0.0
    for i in range(rows):
        least = FAR
        for j in range(columns):
            if cost[i, j] < least:
                least = cost[i, j]
        bound += least
    if bound > limit:
        return bound

    row_of = np.full(columns, -1, dtype=np.int64)
    price = np.zeros(columns)
    for i in range(rows):
        column_of[i] = -1
    _auction(cost, rows, columns, column_of, row_of, price)
    bound = 0.0
    for j in range(columns):
        bound += price[j]
    for i in range(rows):
        least = FAR
        for j in range(columns):
            reduced = cost[i, j] - price[j]
            if reduced < least:
                least = reduced
        bound += least
    if bound > limit:
        return bound

    reach = np.empty(columns)  # length of the shortest path to a column not yet scanned
    open_price = np.empty(columns)  # the price, out of reach where a column is scanned
    before = np.empty(columns, dtype=np.int64)
    scanned = np.empty(columns, dtype=np.int64)
    length = np.empty(columns)
    for start in range(rows):
        if column_of[start] >= 0:
            continue
        shortest = FAR
        for j in range(columns):
            open_price[j] = price[j]
            reach[j] = cost[start, j] - price[j]
            before[j] = start
            if reach[j] < shortest:
                shortest = reach[j]
        begin = shortest
        count = 0
        while True:
            # a column without a row ends the path, so among equals take one
            sink = -1
            for j in range(columns):
                if reach[j] <= shortest:
                    sink = j
                    if row_of[j] < 0:
                        break
            if row_of[sink] < 0:
                break
            scanned[count] = sink
            length[count] = shortest
            count += 1
            reach[sink] = FAR
            open_price[sink] = -FAR
            i = row_of[sink]
            offset = cost[i, sink] - price[sink] - shortest
            shortest = FAR
            for j in range(columns):
                through = cost[i, j] - open_price[j] - offset
                closer = through < reach[j]
                reach[j] = through if closer else reach[j]
                before[j] = i if closer else before[j]
                shortest = min(shortest, reach[j])
        bound += shortest - begin
        if bound > limit:
            return bound
        for at in range(count):
            price[scanned[at]] += length[at] - shortest
        while True:
            i = before[sink]
            row_of[sink] = i
            column_of[i], sink = sink, column_of[i]
            if i == start:
                break
    total = 0.0
    for i in range(rows):
        total += cost[i, column_of[i]]
    return total
