"""Which customers are searched together: blocks of those that will be cheap together, from four numbers a customer.

The cost of a search grows with the square of the customers in it, so many are cut into blocks. Who is in one is decided
from small numbers alone, a row of features for each customer, so any engine that can count and add up by customer cuts
the same blocks. Nothing here is random.
"""

from __future__ import annotations

import numpy as np

from noren.kernels.arrays import Real, Whole
from noren.kernels.sharing.alignment import COLUMNS, LaidRows

__all__ = ["FEATURES", "blocks_of", "customer_features"]

FEATURES = 1 + COLUMNS
"""The features of a customer: the number of rows, and the mean of each ordered column."""
_NOT_A_DISTANCE = 1e29
_FURTHEST = 2.0
"""Standard deviations from the middle at which a value counts as no further off: the cell is better suppressed."""
_ROW = 4.0
"""Cells lost with a row left over: an item and three ordered values."""


def customer_features(rows: LaidRows) -> Real:
    """Return the features of each customer, one to a line: its number of rows, and the means of its ordered columns.

    Values are those of the laid rows, in standard deviations from the middle, 2 at most; blanks do not count, and a
    column of blanks has the mean 0. A line depends on that customer's rows and their order alone: sums run row by row.

    >>> rows = LaidRows(np.array([0, 2, 3]), np.array([[1, 0.5, -7], [0] * 3, [0] * 3]), np.zeros(3), np.ones(3), None)
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
        order = np.lexsort((members, mine[:, _widest(mine)]))
        first = parts // 2
        at = max(round(len(members) * first / parts / k), first) * k
        waiting += [(members[order[at:]], parts - first), (members[order[:at]], first)]
    return blocks


def _widest(features: Real) -> int:
    """Return the feature in which customers differ most, in cells."""
    apart = np.abs(features - np.median(features, axis=0))
    cells = np.where(np.arange(features.shape[1]) == 0, _ROW, features[:, :1])
    return int(np.argmax((apart * cells).sum(axis=0)))
