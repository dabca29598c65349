"""Finding like partners and like rows to exchange, without comparing everybody with everybody."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noren.kernels.arrays import Real, Whole

__all__ = ["NO_PARTNER", "like_partners", "matched_rows"]

NO_PARTNER = -1


def like_partners(start: Whole, item: Whole, pool: Whole, ranks: Real) -> Whole:
    """Return a partner for each history, one that likely holds the same items; :data:`NO_PARTNER` for one left over.

    The histories lie one after another: history h holds the items ``item[start[h] : start[h + 1]]``. Each row of
    ``ranks`` puts all items in a random order. Two histories agree on which of their items comes first with a
    probability that is the Jaccard similarity of their item sets (MinHash, Broder 1997), so in each round those of a
    pool that agree, and are still free, become partners, neighbours by number of rows first. Whoever is left at the end
    is paired by number of rows alone. The work grows with rows times rounds.

    Examples
    --------
    Histories 0 and 3 hold the same items and find one another whatever the order.

    >>> start, item = np.array([0, 2, 4, 6, 8]), np.array([0, 1, 2, 3, 4, 5, 0, 1])
    >>> like_partners(start, item, np.zeros(4, dtype=np.int64), np.random.default_rng(1).random((4, 6))).tolist()
    [3, 2, 1, 0]
    """
    count = np.diff(start)
    partner = np.full(len(count), NO_PARTNER, dtype=np.int64)
    nothing = np.zeros(len(count))
    for rank in [*ranks, None]:
        free = np.flatnonzero(partner == NO_PARTNER)
        if len(free) < 2:
            break
        first = nothing if rank is None else np.minimum.reduceat(rank[item], start[:-1])
        order = free[np.lexsort((count[free], first[free], pool[free]))]
        same = (pool[order][1:] == pool[order][:-1]) & (first[order][1:] == first[order][:-1])
        place = _place_in_run(same)
        one = np.flatnonzero(same & (place[:-1] % 2 == 0))
        partner[order[one]], partner[order[one + 1]] = order[one + 1], order[one]
    return partner


def matched_rows(group: Whole, side: Whole) -> tuple[Whole, Whole]:
    """Return rows of side 0 and rows of side 1 that go together: in each group the first with the first, and so on.

    Rows come in the order that decides which is first; those beyond the shorter side go with none.

    >>> one, other = matched_rows(np.array([7, 7, 7, 8]), np.array([0, 1, 0, 1]))
    >>> one.tolist(), other.tolist()
    ([0], [1])
    """
    order = np.lexsort((side, group))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = _place_in_run((np.diff(group[order]) == 0) & (np.diff(side[order]) == 0))
    together = np.lexsort((side, place, group))
    met = (np.diff(group[together]) == 0) & (np.diff(place[together]) == 0)
    one = np.flatnonzero(met)
    return together[one], together[one + 1]


def _place_in_run(same_as_before: NDArray[np.bool_]) -> Whole:
    """Return each element's place in its run, given for each but the first whether it continues the one before.

    >>> _place_in_run(np.array([True, True, False, True])).tolist()
    [0, 1, 2, 0, 1]
    """
    at = np.arange(len(same_as_before) + 1)
    begins = np.concatenate([[True], ~same_as_before])
    return at - np.maximum.accumulate(np.where(begins, at, 0))
