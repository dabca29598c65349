"""Sets of items, one for each customer or pseudonym, laid end to end.

An item of a set has a weight in whole units: :data:`CERTAIN` units are an item that is surely there, fewer one that may
be (one of a set cell of several). Whole numbers, because their sums do not depend on the order they are added in: equal
sets have equal similarities, on every engine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from noren.kernels.arrays import Codes, Whole
from noren.kernels.compiling import kernel

CERTAIN = 720_720
"""Units of an item that is surely there, where some are not: a multiple of every number to 16, so 1/s is exact."""


class ItemSets(NamedTuple):
    """Sets of items with weights."""

    first: Whole
    """Where the items of each set start, and where the last set's end."""
    item: Codes
    """The items, as codes from 0, each once in a set and in rising order."""
    weight: Codes
    """The weight of each."""
    total: Whole
    """The weight of each set, items that have no code (nobody else knows them) included."""
    unit: int
    """The weight of an item that is surely there: 1 where all are."""

    @property
    def sizes(self) -> Whole:
        """How many items with a code each set has."""
        return np.diff(self.first)


def weight_of_one_in(size: Whole) -> Whole:
    """Return the weight of an item that is one of ``size``, to the nearest unit, one at least.

    >>> weight_of_one_in(np.array([1, 2, 16, 17])).tolist()
    [720720, 360360, 45045, 42395]
    """
    units: Whole = np.maximum((2 * CERTAIN + size) // (2 * size), 1)
    return units


def item_sets(owner: Whole, item: Whole, sets: int, items: int, weight: Whole | None = None) -> ItemSets:
    """Return the sets that rows in any order say; an item that is said twice has the larger weight.

    Parameters
    ----------
    owner, item
        The set and the item of each row, as codes. Rows of no set (below 0) are left out; items from ``items`` on count
        in the total alone.
    sets, items
        How many sets there are, empty ones included, and how many items have a code.
    weight
        The weight of each row's item, from 1 to :data:`CERTAIN`; without it every item is sure.

    Examples
    --------
    Set 0 holds items 1 and 2, the second of them twice, and one that has no code; set 1 is empty.

    >>> found = item_sets(np.array([0, 0, 0, 0]), np.array([2, 1, 2, 3]), 2, 3)
    >>> found.first.tolist(), found.item.tolist(), found.total.tolist(), found.unit
    ([0, 2, 2], [1, 2], [3, 0], 1)
    """
    width = int(max(items, int(item.max(initial=-1)) + 1, 1))
    there = (owner >= 0) & (item >= 0)
    key = owner[there].astype(np.int64) * width + item[there]
    if weight is None:
        key = np.sort(key)
        key = key[np.concatenate(([True], key[1:] != key[:-1]))[: key.size]]
        units = np.ones(len(key), dtype=np.int64)
        unit = 1
    else:
        order = np.lexsort((weight[there], key))
        key, units = key[order], weight[there][order]
        last = np.concatenate((key[1:] != key[:-1], [True]))[: len(key)]
        key, units = key[last], units[last]
        unit = CERTAIN
    whose, what = key // width, key % width
    # sums of whole numbers below 2**53 are exact in floats
    total = np.bincount(whose, units, minlength=sets).astype(np.int64)
    known = what < items
    first = np.concatenate(([0], np.cumsum(np.bincount(whose[known], minlength=sets)))).astype(np.int64)
    return ItemSets(first, what[known].astype(np.int32), units[known].astype(np.int32), total, unit)


@kernel()
def shared_weights(
    first: Whole, stop: Whole, item: Codes, weight: Whole | Codes, known_first: Whole, known_stop: Whole, known: Codes
) -> Whole:
    """Return the weight of what pairs of sets share: ``item`` with weights, ``known`` without; items in rising order.

    The sets of a pair lie from ``first`` to ``stop``, and from ``known_first`` to ``known_stop``.
    """
    shared = np.zeros(first.size, np.int64)
    for pair in range(shared.size):
        own, other = first[pair], known_first[pair]
        while own < stop[pair] and other < known_stop[pair]:
            if item[own] == known[other]:
                shared[pair] += weight[own]
                own += 1
                other += 1
            elif item[own] < known[other]:
                own += 1
            else:
                other += 1
    return shared
