"""Two histories laid on one another: what it costs to make them equal, row by row.

Customers' rows are points: up to three ordered columns in units of their standard deviations, one nominal column. Two
rows that become one cost something in each column, a row left over costs as many cells as it has. The cheapest way to
lay a shorter history on a longer one is a linear assignment. :class:`AlignmentCosts` states what differences cost; the
one for pairs gives the exact error (S0) of a group of two, others give lower bounds for larger groups.

**Which customers are searched together: blocks of those that will be cheap together, from four numbers a customer.**
The cost of a search grows with the square of the customers in it, so many are cut into blocks. Who is in one is decided
from small numbers alone, a row of features for each customer, so any engine that can count and add up by customer cuts
the same blocks. Nothing here is random.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from noren.kernels.arrays import Real, Whole
from noren.kernels.compiling import kernel
from noren.kernels.linkage.assignment import EXACT, FAR, assign

COLUMNS = 3
"""How many ordered columns a row has here; columns that a history lacks are constant and cost nothing."""
LONG = 150
"""Columns of the shorter table beyond which tables are joined over near rows only."""
MISSING = 1e30
"""Stands for a missing number. The difference of two missing ones is 0, of a missing and a known one enormous."""
_NOT_A_DISTANCE = 1e29


_EVERYWHERE = np.empty(0, dtype=np.int64)


class RowArrays(NamedTuple):
    """The rows of all customers as arrays, customer after customer."""

    start: Whole
    """Where each customer's rows begin; one entry more than there are customers."""
    point: Real
    """3 × rows: date, price, quantity in standard deviations; :data:`MISSING` where there is none."""
    item: Whole
    """The code of each row's item; -1 where there is none."""
    worth: Real
    """How many known cells each row has: what deleting it costs."""
    width: Real
    """The grid widths of the three columns, in standard deviations."""
    medians: bool = False
    """Whether rows that become one say the median and the mode, not an interval and a set."""
    stratum: Whole = _EVERYWHERE
    """The code of each row's stratum: only rows of one stratum become one. Empty where there is one for all."""
    unsuppressed: int = -1
    """The ordered column whose cells are never suppressed, if any."""
    long: int = LONG
    """Columns of the shorter table beyond which tables are joined over near rows only."""

    @property
    def counts(self) -> Whole:
        """How many rows each customer has."""
        return np.diff(self.start)

    @property
    def losses(self) -> Real:
        """What it costs to delete each customer whole: the known cells of all its rows."""
        who = np.repeat(np.arange(len(self.counts)), self.counts)
        return np.bincount(who, self.worth, len(self.counts)).astype(np.float64)

    @property
    def histories(self) -> list[Whole]:
        """The positions of each customer's rows: tables of one line."""
        return [np.arange(first, stop).reshape(1, -1) for first, stop in pairwise(self.start.tolist())]

    @property
    def has_blanks(self) -> bool:
        """Whether some row has no value in an ordered column."""
        return bool((self.point > _NOT_A_DISTANCE).any())

    def of(self, customers: Whole) -> RowArrays:
        """Return the rows of some customers, in that order."""
        counts = self.counts[customers]
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        at = np.arange(start[-1]) + np.repeat(self.start[customers] - start[:-1], counts)
        point = np.ascontiguousarray(self.point[:, at])
        stratum = self.stratum[at] if len(self.stratum) else self.stratum
        return self._replace(start=start, point=point, item=self.item[at], worth=self.worth[at], stratum=stratum)

    def and_nobody(self) -> RowArrays:
        """Return the rows of all customers, and one more who has none: whoever goes with him is deleted."""
        return self._replace(start=np.append(self.start, self.start[-1]))


class AlignmentCosts(NamedTuple):
    """What two rows cost that become one, and a row left over.

    A known ordered column costs ``min(slope·|Δ|, ceiling)``, different items ``item``, a known cell beside a missing
    one ``half_missing``, a row left over ``deletion`` times its worth. Rows that cost more together than apart are left
    over both.
    """

    slope: float
    ceiling: float
    item: float
    half_missing: float
    deletion: float


def row_arrays(
    start: Whole,
    columns: list[Real],
    sds: list[float],
    widths: list[float],
    item: Whole,
    origins: list[float] | None = None,
) -> RowArrays:
    """Return rows for alignment from plain columns (NaN where missing), sorted by customer.

    A constant column (``sd = 0``) keeps its unit: all its known values are equal, so nothing ever differs in it. Each
    row is laid by itself, so some customers' rows are laid as all are where ``origins`` are those of the whole columns:
    the medians, which keep sums of squares small. Items need equal numbers where they are equal, no more.

    >>> rows = row_arrays(np.array([0, 1, 2]), [np.array([3.0, 7.0])], [2.0], [1.0], np.array([4, -1]))
    >>> rows.point[0].tolist(), rows.worth.tolist(), rows.width.tolist()
    ([-1.0, 1.0], [2.0, 1.0], [0.5, 1.0, 1.0])
    """
    point = np.zeros((COLUMNS, len(item)))
    width = np.ones(COLUMNS)
    worth = (item >= 0).astype(np.float64)
    if origins is None:
        known_values = [values[~np.isnan(values)] for values in columns]
        origins = [float(np.median(values)) if len(values) else 0.0 for values in known_values]
    for at, (values, sd, w, origin) in enumerate(zip(columns, sds, widths, origins, strict=True)):
        known = ~np.isnan(values)
        unit = sd if sd > 0 else 1.0
        point[at] = np.where(known, (np.where(known, values, 0.0) - origin) / unit, MISSING)
        width[at] = w / unit
        worth += known
    return RowArrays(start.astype(np.int64), point, item.astype(np.int64), worth, width)


@kernel(fastmath=EXACT)
def _fill(rows: RowArrays, tariff: AlignmentCosts, few: int, many: int, cost: Real) -> float:
    """Write what each row of ``few`` adds that takes a row of ``many``; return what ``many`` costs left over whole."""
    a0, a1 = rows.start[few], rows.start[few + 1]
    b0, b1 = rows.start[many], rows.start[many + 1]
    left = 0.0
    for j in range(b0, b1):
        left += rows.worth[j]
    x, y, z = rows.point[0, b0:b1], rows.point[1, b0:b1], rows.point[2, b0:b1]
    item, worth = rows.item[b0:b1], rows.worth[b0:b1]
    slope, half, deletion = tariff.slope, tariff.half_missing, tariff.deletion
    top_x = FAR if rows.unsuppressed == 0 else tariff.ceiling
    top_y = FAR if rows.unsuppressed == 1 else tariff.ceiling
    top_z = FAR if rows.unsuppressed == 2 else tariff.ceiling
    for i in range(a0, a1):
        xi, yi, zi, ii = rows.point[0, i], rows.point[1, i], rows.point[2, i], rows.item[i]
        apart = rows.worth[i] * deletion
        otherwise = tariff.item if ii >= 0 else half
        line = cost[i - a0]
        for j in range(b1 - b0):
            dx, dy, dz = abs(x[j] - xi), abs(y[j] - yi), abs(z[j] - zi)
            cx = min(slope * dx, top_x) if dx < _NOT_A_DISTANCE else half
            cy = min(slope * dy, top_y) if dy < _NOT_A_DISTANCE else half
            cz = min(slope * dz, top_z) if dz < _NOT_A_DISTANCE else half
            ci = 0.0 if item[j] == ii else (otherwise if item[j] >= 0 else half)
            alone = worth[j] * deletion
            line[j] = min(cx + cy + cz + ci, apart + alone) - alone
        if len(rows.stratum):
            for j in range(b1 - b0):
                if rows.stratum[b0 + j] != rows.stratum[i]:
                    line[j] = apart
    return left * deletion


@kernel()
def pair_costs(rows: RowArrays, tariff: AlignmentCosts, pairs: Whole, limits: Real) -> Real:
    """Return what each pair of customers costs; beyond its limit a lower bound that exceeds the limit.

    ``pairs`` are customers, two to a line; up to ``limits`` each cost is wanted exactly.
    """
    values, counts = np.empty(len(pairs)), rows.start[1:] - rows.start[:-1]
    most, longest = 0, 0
    for at in range(len(pairs)):
        nu, nv = counts[pairs[at, 0]], counts[pairs[at, 1]]
        most = max(most, nu * nv)
        longest = max(longest, min(nu, nv))
    room = np.empty(most)
    column_of = np.empty(longest, dtype=np.int64)
    for at in range(len(pairs)):
        few, many = pairs[at, 0], pairs[at, 1]
        if counts[few] > counts[many]:
            few, many = many, few
        nu, nv = counts[few], counts[many]
        cost = room[: nu * nv].reshape(nu, nv)
        left = _fill(rows, tariff, few, many, cost)
        values[at] = left + assign(cost, nu, nv, limits[at] - left, column_of)
    return values


def aligned_pair(rows: RowArrays, tariff: AlignmentCosts, u: int, v: int) -> tuple[float, Whole]:
    """Return what a pair costs, and its matched rows: positions of ``u``'s and ``v``'s rows, two to a line.

    Rows that cost as much together as apart are left over.

    >>> rows = row_arrays(np.array([0, 1, 3]), [np.array([0.0, 4.0, 1.0])], [1.0], [1.0], np.array([0, 0, 0]))
    >>> cost, matched = aligned_pair(rows, AlignmentCosts(1.0, 2.0, 1.0, 1.0, 1.0), 0, 1)
    >>> cost, matched.tolist()
    (3.0, [[0, 2]])
    """
    counts = rows.counts
    few, many = (u, v) if counts[u] <= counts[v] else (v, u)
    cost = np.empty((counts[few], counts[many]))
    left = _fill(rows, tariff, few, many, cost)
    column_of = np.empty(counts[few], dtype=np.int64)
    total = left + assign(cost, counts[few], counts[many], FAR, column_of)
    mine = np.arange(counts[few])
    worth_matching = cost[mine, column_of] < rows.worth[rows.start[few] :][mine] * tariff.deletion
    matched = np.stack([rows.start[few] + mine, rows.start[many] + column_of], axis=1)[worth_matching]
    return float(total), matched if few == u else matched[:, ::-1]


# --- Which customers are searched together: blocks of those that will be cheap together ------------------------------


FEATURES = 1 + COLUMNS
"""The features of a customer: the number of rows, and the mean of each ordered column."""
_FURTHEST = 2.0
"""Standard deviations from the middle at which a value counts as no further off: the cell is better suppressed."""
_ROW = 4.0
"""Cells lost with a row left over: an item and three ordered values."""


def customer_features(rows: RowArrays) -> Real:
    """Return the features of each customer, one to a line: its number of rows, and the means of its ordered columns.

    Values are those of the laid rows, in standard deviations from the middle, 2 at most; blanks do not count, and a
    column of blanks has the mean 0. A line depends on that customer's rows and their order alone: sums run row by row.

    >>> rows = RowArrays(np.array([0, 2, 3]), np.array([[1, 0.5, -7], [0] * 3, [0] * 3]), np.zeros(3), np.ones(3), None)
    >>> customer_features(rows).tolist()
    [[2.0, 0.75, 0.0, 0.0], [1.0, -2.0, 0.0, 0.0]]
    """
    people = len(rows.counts)
    who = np.repeat(np.arange(people), rows.counts)
    features = np.empty((people, FEATURES))
    features[:, 0] = rows.counts
    for column in range(COLUMNS):
        known = rows.point[column] < _NOT_A_DISTANCE
        value = np.where(known, np.clip(rows.point[column], -_FURTHEST, _FURTHEST), 0.0)
        count = np.bincount(who, known, people)
        features[:, 1 + column] = np.bincount(who, value, people) / np.maximum(count, 1.0)
    return features


def blocks_of(features: Real, k: int, size: int) -> list[Whole]:
    """Cut customers into blocks of at most about ``size``, each a multiple of k but for the last one.

    Customers are halved, and the halves halved, where they differ most in cells: in the number of rows, a row being
    four, or in the mean of a column, which all rows of a customer lie apart. Neighbours along that feature stay
    together; equals stand by their number. With the number of rows as the only feature blocks stand by row count, the
    longest histories in the last.

    >>> counts = np.array([[2.0], [1.0], [5.0], [4.0], [1.0]])
    >>> [block.tolist() for block in blocks_of(counts, 2, 2)]
    [[1, 4], [0, 3, 2]]
    """
    count = len(features)
    parts = max(min(-(-count // size), count // k), 1)
    if parts > 1 and count // parts < max(k, size // 2):
        parts -= 1
    waiting = [(np.arange(count), parts)]
    blocks = []
    while waiting:
        members, parts = waiting.pop()
        if parts == 1:
            blocks.append(members)
            continue
        mine = features[members]
        apart = np.abs(mine - np.median(mine, axis=0))
        cells = np.where(np.arange(mine.shape[1]) == 0, _ROW, mine[:, :1])
        widest = int(np.argmax((apart * cells).sum(axis=0)))
        order = np.lexsort((members, mine[:, widest]))
        first = parts // 2
        at = max(round(len(members) * first / parts / k), first) * k
        waiting += [(members[order[at:]], parts - first), (members[order[:at]], first)]
    return blocks
