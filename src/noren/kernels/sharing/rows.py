"""Customers of like length side by side, and their rows laid on one another (S1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from noren.kernels.arrays import Real, Whole

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
    member are deleted, and so are rows without a customer. ``customer`` and ``group`` are codes, :data:`DELETED` where
    a row has no customer.

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


# --- Finding like partners and like rows to exchange, without comparing everybody with everybody ----------------------


NO_PARTNER = -1


def like_partners(start: Whole, item: Whole, pool: Whole, ranks: Real) -> Whole:
    """Return a partner for each history, one that likely holds the same items; :data:`NO_PARTNER` for one left over.

    The histories lie one after another: history h holds the items ``item[start[h] : start[h + 1]]``. Each row of
    ``ranks`` puts all items in a random order. Two histories agree on which of their items comes first with a
    probability that is the Jaccard similarity of their item sets (MinHash, Broder 1997), so in each round those of a
    pool that agree, and are still free, become partners, neighbours by number of rows first. Whoever is left at the end
    is paired by number of rows alone. The work grows with rows times rounds.

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
        even = np.flatnonzero(same & (place[:-1] % 2 == 0))
        partner[order[even]], partner[order[even + 1]] = order[even + 1], order[even]
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
    first = np.flatnonzero(met)
    return together[first], together[first + 1]


def _place_in_run(same_as_before: NDArray[np.bool_]) -> Whole:
    """Return each element's place in its run, given for each but the first whether it continues the one before.

    >>> _place_in_run(np.array([True, True, False, True])).tolist()
    [0, 1, 2, 0, 1]
    """
    at = np.arange(len(same_as_before) + 1)
    begins = np.concatenate([[True], ~same_as_before])
    return at - np.maximum.accumulate(np.where(begins, at, 0))


# --- Choosing a row like another: one of the same kind, or one of the same owner at the nearest moment ----------------


def one_of_each(kind: Whole, wanted: Whole, uniform: Real) -> Whole:
    """Return for each kind that is wanted the position of a row of it, all its rows equally likely.

    Rows whose ``kind`` is below 0 are never chosen; ``uniform``, in [0, 1), chooses among the rows of a wanted kind,
    which must have one.

    >>> one_of_each(np.array([1, 0, 1, -1]), np.array([1, 1, 0]), np.array([0.4, 0.6, 0.9])).tolist()
    [0, 2, 1]
    """
    order = np.argsort(kind, kind="stable")
    start = np.searchsorted(kind[order], wanted, side="left")
    stop = np.searchsorted(kind[order], wanted, side="right")
    return order[_between(start, stop, uniform)]


def near_in_time(owner: Whole, moment: Real, whose: Whole, when: Real, uniform: Real) -> Whole:
    """Return for each owner and moment that are wanted the position of that owner's row of the nearest moment.

    Of two moments equally near it is the earlier; of several rows of one moment all are equally likely. Rows whose
    owner is below 0 are never chosen; ``uniform`` is in [0, 1). Every owner that is wanted must have a row.

    >>> owner, moment = np.array([0, 1, 1, 1]), np.array([5.0, 1.0, 9.0, 9.0])
    >>> near_in_time(owner, moment, np.array([1, 1, 0]), np.array([4.0, 8.0, 0.0]), np.array([0.0, 0.6, 0.0])).tolist()
    [1, 3, 0]
    """
    values = np.unique(np.concatenate([moment, when]))
    width = len(values)
    key = owner * width + np.searchsorted(values, moment)
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    first = np.searchsorted(ordered, whose * width, side="left")
    last = np.searchsorted(ordered, (whose + 1) * width, side="left") - 1
    # the nearest later row and the nearest before it, of the same owner
    later = np.searchsorted(ordered, whose * width + np.searchsorted(values, when), side="left")
    after, before = np.minimum(later, last), np.maximum(later - 1, first)
    gap_after, gap_before = (np.abs(moment[order[at]] - when) for at in (after, before))
    nearest = ordered[np.where(gap_after < gap_before, after, before)]
    start = np.searchsorted(ordered, nearest, side="left")
    stop = np.searchsorted(ordered, nearest, side="right")
    return order[_between(start, stop, uniform)]


def _between(start: Whole, stop: Whole, uniform: Real) -> Whole:
    place: Whole = start + np.minimum(np.floor(uniform * (stop - start)).astype(np.int64), stop - start - 1)
    return place
