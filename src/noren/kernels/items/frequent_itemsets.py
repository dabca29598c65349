"""Itemsets that are in many baskets: finding them once, and counting them again elsewhere (Apriori).

An itemset is frequent only if all its parts are, so sets grow by one item at a time from the frequent ones. To ask
whether they are frequent in other data there is nothing to find: they are only counted.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from noren.kernels.arrays import Whole

__all__ = ["MOST_SETS", "basket_matrix", "frequent_sets", "support"]


MOST_SETS = 2_000_000
"""More candidates of one size than this are not looked at; the search ends with the size before."""

_SETS_AT_A_TIME = 4096


def basket_matrix(basket: Whole, item: Whole, items: int) -> sparse.csc_array:
    """Return which of ``items`` items are in which basket (any whole numbers), as ones of a sparse matrix.

    >>> basket_matrix(np.array([7, 7, 9, 9]), np.array([0, 1, 1, 1]), 2).toarray().tolist()
    [[1, 1], [0, 1]]
    """
    _names, row = np.unique(basket, return_inverse=True)
    shape = (len(_names), items)
    once = np.unique(row.astype(np.int64) * max(items, 1) + item)
    place = (once // max(items, 1), once % max(items, 1))
    return sparse.csc_array((np.ones(len(once), dtype=np.int64), place), shape=shape)


def support(baskets: sparse.csc_array, sets: Whole) -> Whole:
    """Return in how many baskets each itemset (one per line, all of one size) is.

    >>> both = basket_matrix(np.array([1, 1, 2, 2, 3]), np.array([0, 1, 0, 1, 1]), 2)
    >>> support(both, np.array([[0, 1]])).tolist(), support(both, np.array([[0], [1]])).tolist()
    ([2], [2, 3])
    """
    counts = np.zeros(len(sets), dtype=np.int64)
    for first in range(0, len(sets), _SETS_AT_A_TIME):
        part = sets[first : first + _SETS_AT_A_TIME]
        together = baskets[:, part[:, 0]]
        for column in part.T[1:]:
            together = together.multiply(baskets[:, column])
        counts[first : first + len(part)] = together.sum(axis=0)
    return counts


def frequent_sets(baskets: sparse.csc_array, least: int, largest: int) -> list[Whole]:
    """Return the itemsets of 1, 2, … ``largest`` items that are in at least ``least`` baskets, one array per size.

    Items of a set ascend, and so do the sets. The list ends before a size that has none, or more candidates than
    :data:`MOST_SETS`.

    >>> found = frequent_sets(basket_matrix(np.array([1, 1, 2, 2, 3]), np.array([0, 1, 0, 1, 1]), 3), 2, 3)
    >>> [sets.tolist() for sets in found]
    [[[0], [1]], [[0, 1]]]
    """
    single = np.flatnonzero(np.asarray(baskets.sum(axis=0)).ravel() >= least)
    found = [single.reshape(-1, 1).astype(np.int64)]
    if largest >= 2:
        found.append(_pairs(baskets, single, least))
    while len(found[-1]) and len(found) < largest:
        candidates = _one_larger(found[-1])
        if candidates is None:
            break
        found.append(candidates[support(baskets, candidates) >= least])
    return [sets for sets in found if len(sets)]


def _pairs(baskets: sparse.csc_array, single: Whole, least: int) -> Whole:
    chosen = baskets[:, single]
    together = sparse.triu(chosen.T @ chosen, k=1).tocoo()
    often = together.data >= least
    pairs = np.column_stack([single[together.row[often]], single[together.col[often]]]).astype(np.int64)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _one_larger(sets: Whole) -> Whole | None:
    """Join sets that differ in their last item alone; the counting drops what has an infrequent part."""
    _heads, head = np.unique(sets[:, :-1], axis=0, return_inverse=True)
    head = head.ravel()
    place = np.arange(len(sets))
    last_of_head = np.searchsorted(head, head, side="right")
    partners = last_of_head - place - 1
    if partners.sum() > MOST_SETS:
        return None
    left = np.repeat(place, partners)
    right = left + 1 + np.arange(len(left)) - np.repeat(np.cumsum(partners) - partners, partners)
    return np.column_stack([sets[left], sets[right, -1]])
