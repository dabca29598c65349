"""Customers of like length side by side, and their rows laid on one another (S1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from noren.kernels.arrays import Whole

__all__ = ["DELETED", "groups_by_count", "rows_laid_together"]

DELETED = -1
"""In place of a generalised row: this row is deleted. In place of a customer: this row has none."""


def groups_by_count(counts: Whole, k: int) -> Whole:
    """Return the group of each customer: neighbours by row count, ``k`` to a group.

    Customers stand by row count, longest first, equal counts in the order given; every ``k`` neighbours are a group and
    what is left over joins the last one. With fewer than ``k`` customers there is one group.

    >>> groups_by_count(np.array([2, 9, 5, 9, 1]), 2).tolist()
    [1, 0, 1, 0, 1]
    """
    longest_first = np.argsort(-counts, kind="stable")
    last = max(len(counts) // k, 1) - 1
    group = np.empty(len(counts), dtype=np.int64)
    group[longest_first] = np.minimum(np.arange(len(counts)) // k, last)
    return group


def rows_laid_together(customer: Whole, group: Whole, keys: Sequence[NDArray[np.float64]]) -> Whole:
    """Return for each row the generalised row it is part of, counted from 0; :data:`DELETED` where it is dropped.

    Each customer's rows are sorted by ``keys``, the first key first, all descending, missing (NaN) last, ties in the
    order given. The j-th rows of all members of a group make one generalised row; rows beyond the group's shortest
    member are deleted, and so are rows without a customer.

    Parameters
    ----------
    customer
        The customer of each row, coded 0, 1, …; :data:`DELETED` where a row has none.
    group
        The group of each customer, coded 0, 1, ….
    keys
        What rows are sorted by, such as price and then quantity.

    Examples
    --------
    Customer 0 has prices 5, 7, 6, customer 1 has 2, 9: 7 meets 9, 6 meets 2, and 5 is left over.

    >>> who, price = np.array([0, 0, 0, 1, 1]), np.array([5.0, 7.0, 6.0, 2.0, 9.0])
    >>> rows_laid_together(who, np.array([0, 0]), [price]).tolist()
    [-1, 0, 1, 1, 0]
    """
    # lexsort's last key counts most and ties keep their order
    order = np.lexsort((*(-key for key in reversed(keys)), customer))
    order = order[customer[order] >= 0]
    who = customer[order]
    counts = np.bincount(who, minlength=len(group))
    place = np.arange(len(order)) - (np.cumsum(counts) - counts)[who]
    shortest = np.full(int(group.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(shortest, group, counts)
    first = np.cumsum(shortest) - shortest
    its_group = group[who]
    laid = np.full(len(customer), DELETED, dtype=np.int64)
    laid[order] = np.where(place < shortest[its_group], first[its_group] + place, DELETED)
    return laid
