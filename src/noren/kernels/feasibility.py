"""Which customers may be behind a pseudonym: every public row needs a row of theirs that fits it, each its own.

That is a matching in a bipartite graph, for each pseudonym and customer. Three cheap questions come first, and nearly
always answer no: has the customer enough rows, does the public row with the rarest items fit any of theirs, does every
other? Rows that fit all of the customer's need no edges: once the others are matched, enough rows are left for them.

Numbers stand for everything: a text is its code, a missing value NaN, a suppressed cell the range from -inf to inf.
Column 0 is the item, by which rows are looked up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numba as nb
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components, maximum_bipartite_matching

__all__ = ["Candidates", "KnownRows", "PublicRows", "assignable", "candidate_blocks", "candidates", "joined"]

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
_BLOCK = 64


@dataclass(frozen=True)
class KnownRows:
    """The rows of the original, customer by customer, in each by item.

    Attributes
    ----------
    values
        One line per row, one number per column.
    first
        Where each customer's rows start, and where the last one's end.
    customer
        The customer of each row.
    by_item, item_first
        All rows by item, and where the rows of each item start.
    """

    values: Real
    first: Whole
    customer: Whole
    by_item: Whole
    item_first: Whole

    @classmethod
    def of(cls, values: Real, customer: Whole, customers: int, items: int) -> KnownRows:
        """Sort rows in any order; those without a customer (below 0) are left out."""
        there = np.flatnonzero(customer >= 0)
        order = there[np.lexsort((values[there, 0], customer[there]))]
        values, customer = values[order], customer[order]
        first = np.concatenate(([0], np.cumsum(np.bincount(customer, minlength=customers)))).astype(np.int64)
        item = np.where(np.isnan(values[:, 0]), items, values[:, 0]).astype(np.int64)
        by_item = np.argsort(item, kind="stable").astype(np.int64)
        item_first = np.concatenate(([0], np.cumsum(np.bincount(item, minlength=items + 1)))).astype(np.int64)
        return cls(values, first, customer, by_item, item_first)

    @property
    def counts(self) -> Whole:
        """How many rows each customer has."""
        return np.diff(self.first)


@dataclass(frozen=True)
class PublicRows:
    """What public rows allow, pseudonym by pseudonym, in each the row with the rarest items first.

    Attributes
    ----------
    lo, hi
        One line per row, the range that each cell allows.
    set_first, set_stop, members
        Where a cell lists codes: the part of ``members`` that it lists, in order.
    first
        Where each pseudonym's rows start, and where the last one's end.
    """

    lo: Real
    hi: Real
    set_first: Whole
    set_stop: Whole
    members: Real
    first: Whole

    @classmethod
    def of(
        cls,
        lo: Real,
        hi: Real,
        set_first: Whole,
        set_stop: Whole,
        members: Real,
        pseudonym: Whole,
        pseudonyms: int,
        known: KnownRows,
    ) -> PublicRows:
        """Sort rows in any order; those without a pseudonym (below 0) are left out."""
        # how many known rows have an item that the row allows
        frequency = np.diff(known.item_first).astype(np.float64)
        listed = np.concatenate(([0.0], np.cumsum(frequency[members.astype(np.int64).clip(0, len(frequency) - 1)])))
        allowed = listed[set_stop[:, 0]] - listed[set_first[:, 0]]
        allowed[lo[:, 0] == -np.inf] = np.inf
        there = np.flatnonzero(pseudonym >= 0)
        order = there[np.lexsort((allowed[there], pseudonym[there]))]
        first = np.concatenate(([0], np.cumsum(np.bincount(pseudonym[there], minlength=pseudonyms)))).astype(np.int64)
        return cls(lo[order], hi[order], set_first[order], set_stop[order], members, first)

    @property
    def counts(self) -> Whole:
        """How many rows each pseudonym has."""
        return np.diff(self.first)


@dataclass(frozen=True)
class Candidates:
    """The customers that may be behind each pseudonym: ``customer[first[p]:first[p + 1]]``, in order."""

    first: Whole
    customer: Whole
    customers: int

    @property
    def counts(self) -> Whole:
        """How many customers may be behind each pseudonym."""
        return np.diff(self.first)

    @property
    def pseudonym(self) -> Whole:
        """The pseudonym of each pair."""
        return np.repeat(np.arange(len(self.first) - 1), self.counts)

    def take(self, pseudonyms: Whole) -> Candidates:
        """Return the candidates of some pseudonyms, in a new order; one may come several times."""
        counts = self.counts[pseudonyms]
        first = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        place = np.arange(first[-1]) - np.repeat(first[:-1] - self.first[:-1][pseudonyms], counts)
        return Candidates(first, self.customer[place], self.customers)


def candidates(known: KnownRows, public: PublicRows) -> Candidates:
    """Return who may be behind each pseudonym.

    Two public rows, [1;2] and [2;3], need two rows of a customer: the values 1 and 3 do, 2 and 9 do not.

    >>> known = KnownRows.of(np.array([[0.0, 1], [0, 3], [0, 2], [0, 9]]), np.array([0, 0, 1, 1]), 2, 1)
    >>> lo, hi = np.array([[-np.inf, 1], [-np.inf, 2]]), np.array([[np.inf, 2], [np.inf, 3]])
    >>> no_sets, nothing = np.zeros((2, 2), dtype=int), np.zeros(0)
    >>> public = PublicRows.of(lo, hi, no_sets, no_sets, nothing, np.array([0, 0]), 1, known)
    >>> candidates(known, public).customer.tolist()
    [0]
    """
    return joined([found for _done, found in candidate_blocks(known, public)], len(known.counts))


def joined(blocks: Sequence[Candidates], customers: int) -> Candidates:
    """Return the candidates of all pseudonyms from those of some after another."""
    counts = np.concatenate([np.zeros(1, dtype=np.int64), *(block.counts for block in blocks)])
    customer = np.concatenate([np.zeros(0, dtype=np.int64), *(block.customer for block in blocks)])
    return Candidates(np.cumsum(counts), customer, customers)


def candidate_blocks(known: KnownRows, public: PublicRows) -> Iterator[tuple[float, Candidates]]:
    """Yield the candidates of some pseudonyms after another, with the share of them that is done."""
    pseudonyms = len(public.first) - 1
    for start in range(0, pseudonyms, _BLOCK):
        stop = min(start + _BLOCK, pseudonyms)
        first, customer = _search(
            known.values, known.first, known.customer, known.by_item, known.item_first,
            public.lo, public.hi, public.set_first, public.set_stop, public.members, public.first, start, stop,
        )  # fmt: skip
        yield stop / pseudonyms, Candidates(first, customer, len(known.counts))


@nb.njit(cache=True)
def _holds(x: float, lo: float, hi: float, first: int, stop: int, members: Real) -> bool:  # pragma: no cover (compiled)
    """Tell whether one cell allows one value."""
    if lo == -np.inf and hi == np.inf:
        return True
    if not (lo <= x <= hi):
        return False
    if stop - first <= 1:
        return True
    while first < stop:
        middle = (first + stop) // 2
        if members[middle] < x:
            first = middle + 1
        else:
            stop = middle
    return bool(members[first] == x)


@nb.njit(cache=True)
def _fits(
    values: Real, row: int, lo: Real, hi: Real, set_first: Whole, set_stop: Whole, members: Real, said: int, column: int
) -> bool:  # pragma: no cover (compiled)
    """Tell whether a public row allows a known row, from ``column`` on."""
    for at in range(column, values.shape[1]):
        if not _holds(values[row, at], lo[said, at], hi[said, at], set_first[said, at], set_stop[said, at], members):
            return False
    return True


@nb.njit(cache=True)
def _lower(values: Real, first: int, stop: int, item: float) -> int:  # pragma: no cover (compiled)
    """Return the first of a customer's rows whose item is not below ``item``; missing items stand last."""
    while first < stop:
        middle = (first + stop) // 2
        if values[middle, 0] < item:
            first = middle + 1
        else:
            stop = middle
    return first


@nb.njit(cache=True)
def _search(
    values: Real, known_first: Whole, customer: Whole, by_item: Whole, item_first: Whole,
    lo: Real, hi: Real, set_first: Whole, set_stop: Whole, members: Real, public_first: Whole, start: int, stop: int,
) -> tuple[Whole, Whole]:  # fmt: skip  # pragma: no cover (compiled)
    """Return the candidates of the pseudonyms from ``start`` to ``stop``."""
    customers = len(known_first) - 1
    first = np.zeros(stop - start + 1, dtype=np.int64)
    found = np.empty(max(customers, 16), dtype=np.int64)
    total = 0
    asked = np.full(customers, -1, dtype=np.int64)
    edges = np.empty(1024, dtype=np.int64)
    for pseudonym in range(start, stop):
        rows = public_first[pseudonym + 1] - public_first[pseudonym]
        rarest = public_first[pseudonym]
        if rows and not (lo[rarest, 0] == -np.inf and hi[rarest, 0] == np.inf):
            for at in range(set_first[rarest, 0], set_stop[rarest, 0]):
                item = int(members[at])
                for place in range(item_first[item], item_first[item + 1]):
                    row = by_item[place]
                    if asked[customer[row]] != pseudonym and _fits(
                        values, row, lo, hi, set_first, set_stop, members, rarest, 1
                    ):
                        asked[customer[row]] = pseudonym
        else:
            asked[:] = pseudonym
        if total + customers > len(found):
            found = np.concatenate((found, np.empty(len(found) + customers, dtype=np.int64)))
        for who in range(customers):
            if asked[who] != pseudonym or known_first[who + 1] - known_first[who] < rows:
                continue
            possible, edges = _matches(
                values, known_first[who], known_first[who + 1], lo, hi, set_first, set_stop, members,
                public_first[pseudonym], public_first[pseudonym + 1], edges,
            )  # fmt: skip
            if possible:
                found[total] = who
                total += 1
        first[pseudonym - start + 1] = total
    return first, found[:total].copy()


@nb.njit(cache=True)
def _matches(
    values: Real, k0: int, k1: int, lo: Real, hi: Real, set_first: Whole, set_stop: Whole, members: Real,
    p0: int, p1: int, edges: Whole,
) -> tuple[bool, Whole]:  # fmt: skip  # pragma: no cover (compiled)
    """Tell whether the public rows p0…p1 can each have their own of the known rows k0…k1; ``edges`` is room to work."""
    edge_first = np.zeros(p1 - p0 + 1, dtype=np.int64)
    used = 0
    picky = 0
    for said in range(p0, p1):
        if used + (k1 - k0) > len(edges):
            edges = np.concatenate((edges, np.empty(len(edges) + k1 - k0, dtype=np.int64)))
        before = used
        if lo[said, 0] == -np.inf and hi[said, 0] == np.inf:
            for row in range(k0, k1):
                if _fits(values, row, lo, hi, set_first, set_stop, members, said, 1):
                    edges[used] = row - k0
                    used += 1
        else:
            for at in range(set_first[said, 0], set_stop[said, 0]):
                row = _lower(values, k0, k1, members[at])
                while row < k1 and values[row, 0] == members[at]:
                    if _fits(values, row, lo, hi, set_first, set_stop, members, said, 1):
                        edges[used] = row - k0
                        used += 1
                    row += 1
        if used == before:
            return False, edges
        if used - before == k1 - k0:
            used = before
            continue
        picky += 1
        edge_first[picky] = used
    # the first free row that fits, then alternating paths for whoever found none
    owner = np.full(k1 - k0, -1, dtype=np.int64)
    waiting = np.empty(picky, dtype=np.int64)
    left = 0
    for row in range(picky):
        taken = False
        for at in range(edge_first[row], edge_first[row + 1]):
            if owner[edges[at]] < 0:
                owner[edges[at]] = row
                taken = True
                break
        if not taken:
            waiting[left] = row
            left += 1
    came_from = np.empty(k1 - k0, dtype=np.int64)
    seen = np.full(k1 - k0, -1, dtype=np.int64)
    queue = np.empty(picky, dtype=np.int64)
    mate = np.full(picky, -1, dtype=np.int64)
    for place in range(k1 - k0):
        if owner[place] >= 0:
            mate[owner[place]] = place
    for turn in range(left):
        queue[0] = waiting[turn]
        head, tail, free = 0, 1, -1
        while head < tail and free < 0:
            row = queue[head]
            head += 1
            for at in range(edge_first[row], edge_first[row + 1]):
                place = edges[at]
                if seen[place] == turn:
                    continue
                seen[place] = turn
                came_from[place] = row
                if owner[place] < 0:
                    free = place
                    break
                queue[tail] = owner[place]
                tail += 1
        if free < 0:
            return False, edges
        while free >= 0:
            row = came_from[free]
            before = mate[row]
            owner[free] = row
            mate[row] = free
            free = before
    return True, edges


def assignable(found: Candidates) -> Candidates | None:
    """Return the candidates that some assignment of all pseudonyms to different customers keeps; None without any.

    Whoever knows that no two pseudonyms are one person can rule out more than fits row by row: where two pseudonyms
    share the same two candidates, a third that has one of them too cannot be that one. A pair (p, c) is kept when p can
    take c and the others move on, round a circle or to somebody nobody needs: c's pseudonym is in the same strongly
    connected part as p, or reaches a free customer.

    >>> both, third = np.array([0, 1]), np.array([1, 2])
    >>> found = Candidates(np.array([0, 2, 4, 6]), np.concatenate((both, both, third)), 3)
    >>> assignable(found).counts.tolist()
    [2, 2, 1]
    """
    count = len(found.first) - 1
    pairs = csr_array((np.ones(len(found.customer)), found.customer, found.first), shape=(count, found.customers))
    if not len(found.customer):
        return found if count == 0 else None
    mate = np.asarray(maximum_bipartite_matching(pairs, perm_type="column"))
    if (mate < 0).any():
        return None
    owner = np.full(found.customers, -1, dtype=np.int64)
    owner[mate] = np.arange(count)
    taker, displaced = found.pseudonym, owner[found.customer]
    held = displaced >= 0
    moves = csr_array((np.ones(held.sum()), (taker[held], displaced[held])), shape=(count + 1, count + 1))
    part = connected_components(moves, directed=True, connection="strong")[1]
    # from the node `count`, which stands for the free customers, backwards to all who may end there
    ends = np.unique(taker[~held])
    back = moves.T + csr_array((np.ones(len(ends)), (np.full(len(ends), count), ends)), shape=moves.shape)
    may_leave = np.zeros(count + 1, dtype=bool)
    may_leave[breadth_first_order(csr_array(back), count, directed=True, return_predecessors=False)] = True
    keep = ~held | (part[taker] == part[displaced]) | may_leave[displaced]
    first = np.concatenate(([0], np.cumsum(np.bincount(taker[keep], minlength=count)))).astype(np.int64)
    return Candidates(first, found.customer[keep], found.customers)
