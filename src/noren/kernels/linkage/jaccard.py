"""Whose set of items is most like this one: the exact answer, without looking at every pair (S2, Algorithm 1).

Let R be a released set, its items weighing w ≤ u (u: an item that is surely there), W in all, and I a customer's set of
s items. With the overlap S, the weight of R's items that are in I, the weighted Jaccard similarity is::

    J = Σ min / Σ max = S / (W + u·s - S)

Where every item is sure, u = 1 and J = |R ∩ I| / |R ∪ I|. Three bounds, each with its reason, leave few pairs:

- *size*: S ≤ min(W, u·s), so J ≤ min(W, u·s) / max(W, u·s). Customers are numbered by s: those that may reach a given
  similarity are a range of numbers.
- *rare items first*: R's items are walked from the rarest on, counting S for the customers of each. Whoever has not
  been met when the items still to come weigh V has S ≤ V, and W + u·s - S ≥ W, so J ≤ V / W: once that is below the
  best similarity known, nobody new can win, and the long lists of popular items are never read.
- *count*: whoever was met with an overlap of c so far has S ≤ min(c + V, u·s).

Similarities are quotients of whole numbers, rounded once to a float. Rounding keeps order, so a bound that is rounded
too is never below what it bounds: a customer is passed over only if the bound is *less*, hence never one that wins or
ties. The argument in full is in ``docs/theory/jaccard.md``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba as nb
import numpy as np
from numpy.typing import NDArray

from noren.kernels.arrays import Codes, Real, Whole
from noren.kernels.items.packed_sets import ItemSets

__all__ = ["NOBODY", "SetIndex", "in_equal_runs", "index_of", "most_similar", "similarities"]


NOBODY = -1
# When to look for a good similarity: after so many entries of lists, then whenever four times as many were read.
_FIRST_LOOK = 64
_NEXT_LOOK = 4
# V / W has to be this much below the best similarity: a few more lists leave far fewer customers to compare in full.
_CLOSED = 0.9
# With one customer in so many met, a list of them no longer pays: all of the range are asked in the end, met or not,
# and it is only a question of time how many lists to read first.
_CROWD = 4
_CLOSED_CROWD = 0.7
# What rounding can do to the products of a rough test is far less.
_ROUGH = 1.0 - 1e-9


class SetIndex(NamedTuple):
    """The customers' sets, ready to be asked.

    Customers are numbered by the size of their set, then in the order they came; items by how many customers have them,
    the rarest first.

    Attributes
    ----------
    first, item
        Each customer's items, in rising order.
    size, place
        How many items each has, and the number that the customer came with.
    list_first, buyers
        The customers of each item, in rising order.
    rank
        The number of each item that came.
    """

    first: Whole
    item: Codes
    size: Whole
    place: Whole
    list_first: Whole
    buyers: Codes
    rank: Codes


def index_of(known: ItemSets, items: int) -> SetIndex:
    """Return the index of the customers' sets, all of whose items are sure and below ``items``.

    >>> from noren.kernels.items.packed_sets import item_sets
    >>> index = index_of(item_sets(np.array([0, 0, 1]), np.array([0, 1, 1]), 2, 2), 2)
    >>> index.place.tolist(), index.rank.tolist(), index.buyers.tolist()
    ([1, 0], [0, 1], [1, 0, 1])
    """
    frequency = np.bincount(known.item, minlength=items)
    rank = np.empty(items, dtype=np.int32)
    rank[np.argsort(frequency, kind="stable")] = np.arange(items, dtype=np.int32)
    place = np.argsort(known.sizes, kind="stable").astype(np.int64)
    size = known.sizes[place]
    first = np.concatenate(([0], np.cumsum(size))).astype(np.int64)
    list_first = np.concatenate(([0], np.cumsum(np.sort(frequency)))).astype(np.int64)
    item = np.empty(len(known.item), dtype=np.int32)
    buyers = np.empty(len(known.item), dtype=np.int32)
    _lay_out(known.first, known.item, place, rank, first, item, list_first[:-1].copy(), buyers)
    return SetIndex(first, item, size, place, list_first, buyers, rank)


def most_similar(index: SetIndex, released: ItemSets, which: Whole, candidates: int = 1) -> tuple[Whole, Real]:
    """Return the customers most similar to some released sets, best first, and how similar they are.

    Of equally similar customers the one with the lower number comes first. Customers who share nothing are never an
    answer: where there are fewer than ``candidates``, :data:`NOBODY` with similarity 0 fills up.

    Parameters
    ----------
    released
        The sets to ask for, in the items' numbers before the index.
    which
        Which of them, in any order; the same set twice in a row costs once.

    Examples
    --------
    {0, 1} is as it is, {1, 2} shares one of three, {3} nothing.

    >>> from noren.kernels.items.packed_sets import item_sets
    >>> index = index_of(item_sets(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 2, 3]), 3, 4), 4)
    >>> who, how = most_similar(index, item_sets(np.array([0, 0]), np.array([0, 1]), 1, 4), np.array([0]), 3)
    >>> who.tolist(), how.round(3).tolist()
    ([[0, 1, -1]], [[1.0, 0.333, 0.0]])
    """
    customer = np.full((len(which), candidates), NOBODY, dtype=np.int64)
    score = np.zeros((len(which), candidates))
    heaviest = int(released.total.max(initial=0))
    # numbers that fit 32 bits stay in the cache longer
    count: NDArray[Any] = np.zeros(len(index.size), dtype=np.int32 if heaviest < 2**31 else np.int64)
    _search(index, released, np.asarray(which, dtype=np.int64), count, customer, score)
    return customer, score


def in_equal_runs(sets: ItemSets) -> Whole:
    """Return the sets' numbers in an order in which equal sets follow each other."""
    # any number for an item and weight does, sums of them need not be unique: equal neighbours are compared in full
    mixed = (sets.item.astype(np.uint64) << np.uint64(20)) + sets.weight.astype(np.uint64) + np.uint64(1)
    mixed *= np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    running = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(mixed, dtype=np.uint64)))
    key = running[sets.first[1:]] - running[sets.first[:-1]]
    return np.argsort(key, kind="stable").astype(np.int64)


def similarities(known: ItemSets, released: ItemSets, customer: Whole, asked: Whole) -> Real:
    """Return how similar pairs of a customer and a released set are; the customers' items must be sure.

    >>> from noren.kernels.items.packed_sets import item_sets
    >>> sets = item_sets(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 2, 3]), 3, 4)
    >>> similarities(sets, sets, np.array([0, 0, 0]), np.array([0, 1, 2])).round(3).tolist()
    [1.0, 0.333, 0.0]
    """
    found = np.empty(len(customer))
    _similarities(known, released, np.asarray(customer, dtype=np.int64), np.asarray(asked, dtype=np.int64), found)
    return found


@nb.njit(cache=True, nogil=True)
def _lay_out(
    known_first: Whole, known_item: Codes, place: Whole, rank: Codes, first: Whole, item: Codes, fill: Whole,
    buyers: Codes,
) -> None:  # fmt: skip  # pragma: no cover (compiled)
    """Write each customer's items in the index's numbers and order, and the customers of each item."""
    for who in range(len(place)):
        start, stop = known_first[place[who]], known_first[place[who] + 1]
        mine = item[first[who] : first[who + 1]]
        for at in range(stop - start):
            mine[at] = rank[known_item[start + at]]
        mine.sort()
        for what in mine:
            buyers[fill[what]] = who
            fill[what] += 1


@nb.njit(cache=True, nogil=True)
def _similarity(overlap: int, total: int, size: int) -> float:  # pragma: no cover (compiled)
    """Return J = S / (W + u·s - S), given u·s."""
    return overlap / (total + size - overlap) if overlap > 0 else 0.0


@nb.njit(cache=True, nogil=True)
def _first_large_enough(size: Whole, unit: int, total: int, least: float) -> int:  # pragma: no cover (compiled)
    """Return the first customer whose set is not too small to reach a similarity."""
    low, high = 0, len(size)
    while low < high:
        middle = (low + high) // 2
        if unit * size[middle] < total and unit * size[middle] / total < least:
            low = middle + 1
        else:
            high = middle
    return low


@nb.njit(cache=True, nogil=True)
def _first_too_large(size: Whole, unit: int, total: int, least: float) -> int:  # pragma: no cover (compiled)
    """Return the first customer whose set is too large to reach a similarity."""
    low, high = 0, len(size)
    while low < high:
        middle = (low + high) // 2
        if unit * size[middle] > total and total / (unit * size[middle]) < least:
            high = middle
        else:
            low = middle + 1
    return low


@nb.njit(cache=True, nogil=True)
def _from(values: Codes, low: int, high: int, least: int) -> int:  # pragma: no cover (compiled)
    """Return where in a rising part of ``values`` the first one of ``least`` or more stands."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] < least:
            low = middle + 1
        else:
            high = middle
    return low


@nb.njit(cache=True, nogil=True)
def _rest_of_overlap(index: SetIndex, mark: Codes, who: int, walked: int) -> int:  # pragma: no cover (compiled)
    """Return the weight of a customer's items that come after the item walked last."""
    found = 0
    at = index.first[who + 1] - 1
    while at >= index.first[who] and index.item[at] > walked:
        found += mark[index.item[at]]
        at -= 1
    return found


@nb.njit(cache=True, nogil=True)
def _look(
    index: SetIndex, met: Codes, mets: int, crowd: bool, count: Whole, mark: Codes, walked: int, total: int, unit: int,
    low: int, high: int, leaders: Whole, leads: Real,
) -> float:  # fmt: skip  # pragma: no cover (compiled)
    """Return a similarity that as many customers reach as candidates are wanted; 0 if there are not so many.

    The most promising of the customers met so far are compared in full.
    """
    wanted = len(leaders)
    found, enough = 0, 0.0
    for at in range(high - low if crowd else mets):
        who = low + at if crowd else met[at]
        if who < low or who >= high or count[who] <= enough * (total + unit * index.size[who]):
            continue
        lead = count[who] / (total + unit * index.size[who])
        found = min(found + 1, wanted)
        to = found - 1
        while to > 0 and leads[to - 1] < lead:
            leads[to], leaders[to] = leads[to - 1], leaders[to - 1]
            to -= 1
        leads[to], leaders[to] = lead, who
        if found == wanted:
            enough = leads[wanted - 1]
    if found < wanted:
        return 0.0
    least = 1.0
    for at in range(wanted):
        who = leaders[at]
        overlap = count[who] + _rest_of_overlap(index, mark, who, walked)
        least = min(least, _similarity(overlap, total, unit * index.size[who]))
    return least


@nb.njit(cache=True, nogil=True)
def _worth_comparing(
    index: SetIndex, met: Codes, mets: int, crowd: bool, count: Whole, still: int, total: int, unit: int, low: int,
    high: int, least: float,
) -> int:  # fmt: skip  # pragma: no cover (compiled)
    """Put those first in ``met`` that may be similar enough, by a rough test, and return how many they are.

    J ≥ t is S·(1 + t) ≥ t·(W + u·s); products are quicker than quotients, and the margin is far above their rounding.
    """
    left = 0
    more, bar = 1.0 + least, least * _ROUGH
    if crowd:
        for who in range(low, high):
            met[left] = who
            left += (count[who] + still) * more >= bar * (total + unit * index.size[who])
        return left
    for at in range(mets):
        who = met[at]
        if who >= low and who < high and (count[who] + still) * more >= bar * (total + unit * index.size[who]):
            met[at], met[left] = met[left], who
            left += 1
    return left


@nb.njit(cache=True, nogil=True)
def _same(sets: ItemSets, one: int, other: int) -> bool:  # pragma: no cover (compiled)
    a, b = sets.first[one], sets.first[other]
    length = sets.first[one + 1] - a
    if length != sets.first[other + 1] - b or sets.total[one] != sets.total[other]:
        return False
    for at in range(length):
        if sets.item[a + at] != sets.item[b + at] or sets.weight[a + at] != sets.weight[b + at]:
            return False
    return True


@nb.njit(cache=True, nogil=True)
def _search(
    index: SetIndex, sets: ItemSets, which: Whole, count: Whole, customer: Whole, score: Real
) -> None:  # pragma: no cover (compiled)
    people = len(index.size)
    wanted = customer.shape[1]
    unit = sets.unit
    met = np.empty(people + 1, dtype=np.int32)
    mark = np.zeros(len(index.rank), dtype=np.int32)
    leaders, leads = np.empty(wanted, dtype=np.int64), np.empty(wanted)
    for at in range(len(which)):
        asked = which[at]
        if at > 0 and _same(sets, which[at - 1], asked):
            customer[at], score[at] = customer[at - 1], score[at - 1]
            continue
        start, stop = sets.first[asked], sets.first[asked + 1]
        total = sets.total[asked]
        items = np.empty(stop - start, dtype=np.int32)
        still = 0
        for k in range(stop - start):
            items[k] = index.rank[sets.item[start + k]]
            mark[items[k]] = sets.weight[start + k]
            still += sets.weight[start + k]
        items.sort()
        mets, read, next_look = 0, 0, _FIRST_LOOK
        least, low, high = 0.0, 0, people
        walked, crowd = -1, False
        for walked in items:
            weight = mark[walked]
            begin, end = index.list_first[walked], index.list_first[walked + 1]
            if least > 0.0:
                begin = _from(index.buyers, begin, end, low)
                end = _from(index.buyers, begin, end, high)
            if crowd:
                for entry in range(begin, end):
                    count[index.buyers[entry]] += weight
            else:
                for entry in range(begin, end):
                    who = index.buyers[entry]
                    met[mets] = who
                    mets += count[who] == 0
                    count[who] += weight
                crowd = mets > people // _CROWD
            still -= weight
            read += end - begin
            if read >= next_look:
                next_look = _NEXT_LOOK * read
                sure = _look(index, met, mets, crowd, count, mark, walked, total, unit, low, high, leaders, leads)
                if sure > least:
                    least = sure
                    low = _first_large_enough(index.size, unit, total, least)
                    high = _first_too_large(index.size, unit, total, least)
            if still / total < (_CLOSED_CROWD if crowd else _CLOSED) * least:
                break
        left = _worth_comparing(index, met, mets, crowd, count, still, total, unit, low, high, least)
        found = 0
        for entry in range(left):
            who = met[entry]
            size = unit * index.size[who]
            overlap = count[who]
            if still > 0:
                if _similarity(min(overlap + still, size), total, size) < least:
                    continue
                overlap += _rest_of_overlap(index, mark, who, walked)
            similarity = _similarity(overlap, total, size)
            if overlap == 0 or similarity < least:
                continue
            place = index.place[who]
            to = found
            while to > 0 and (
                score[at, to - 1] < similarity or (score[at, to - 1] == similarity and customer[at, to - 1] > place)
            ):
                to -= 1
            if to == wanted:
                continue
            found = min(found + 1, wanted)
            for move in range(found - 1, to, -1):
                customer[at, move], score[at, move] = customer[at, move - 1], score[at, move - 1]
            customer[at, to], score[at, to] = place, similarity
            if found == wanted:
                least = max(least, score[at, wanted - 1])
        if crowd:
            count[:] = 0
        else:
            for entry in range(mets):
                count[met[entry]] = 0
        for what in items:
            mark[what] = 0


@nb.njit(cache=True, nogil=True)
def _similarities(
    known: ItemSets, released: ItemSets, customer: Whole, asked: Whole, found: Real
) -> None:  # pragma: no cover (compiled)
    for pair in range(len(found)):
        a, a_stop = known.first[customer[pair]], known.first[customer[pair] + 1]
        b, b_stop = released.first[asked[pair]], released.first[asked[pair] + 1]
        size = released.unit * (a_stop - a)
        overlap = 0
        while a < a_stop and b < b_stop:
            if known.item[a] == released.item[b]:
                overlap += released.weight[b]
                a += 1
                b += 1
            elif known.item[a] < released.item[b]:
                a += 1
            else:
                b += 1
        found[pair] = _similarity(overlap, released.total[asked[pair]], size)
