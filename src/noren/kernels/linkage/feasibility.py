"""Which customers may be behind a pseudonym: every public row needs a row of theirs that fits it, each its own.

That is a matching in a bipartite graph, for each pseudonym and customer. Cheap questions come first, and nearly always
answer no: have they enough rows, does a row of theirs fit each of the few public rows that the fewest known rows fit?
These are answered by lists, which hold the known rows of an item, or of values between two: who is in all lists is
found by going through one after another, without a look at anybody's rows. Rows that fit all of the customer's need no
edges: once the others are matched, enough rows are left for them.

Numbers stand for everything: a text is its code, a missing value NaN, a suppressed cell the range from -inf to inf.
Column 0 is the item, by which rows are looked up.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noren.kernels.arrays import Codes, Flags, Real, Whole
from noren.kernels.compiling import kernel, part
from noren.kernels.linkage.last_match import numbered_keys
from noren.kernels.ordered import first_from, sort_range

_BLOCK = 16
"""Pseudonyms of the first block; those after it are as many as take about a tenth of a second."""
_SOON, _LATE = 0.05, 0.2
_BY_ITEM = 0
_LISTS = 6
"""Rows of a pseudonym whose lists are gone through, as long as that takes less time than who is left."""
_DEAR = 256
"""Entries of a list that take as long as a customer whose rows are looked at."""
_SORTING = 64
"""Entries that take as long as to sort a row into a list."""


@dataclass(frozen=True)
class KnownRows:
    """The rows of the original, customer by customer, in each by item."""

    values: Real
    """One line per row, one number per column."""
    first: Whole
    """Where each customer's rows start, and where the last one's end."""
    customer: Codes
    """The customer of each row."""
    item: NDArray[np.integer[Any]]
    """The item of each row, in as few bytes as hold it; one more than there are where it is missing."""
    item_first: Whole
    """Where the rows of each item start, of all rows by item."""

    @classmethod
    def of(cls, values: Real, customer: Whole, customers: int, items: int) -> KnownRows:
        """Sort rows in any order; those without a customer (below 0) are left out."""
        there = np.flatnonzero(customer >= 0)
        order = there[np.lexsort((values[there, 0], customer[there]))].astype(np.int32)
        del there
        values, owners = values[order], customer[order].astype(np.int32)
        del order
        first = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=customers)))).astype(np.int64)
        item = np.where(np.isnan(values[:, 0]), items, values[:, 0]).astype(np.min_scalar_type(items))
        item_first = np.concatenate(([0], np.cumsum(np.bincount(item, minlength=items + 1)))).astype(np.int64)
        return cls(values, first, owners, item, item_first)

    @cached_property
    def by_column(self) -> tuple[Codes, list[tuple[Real, Whole]], set[int]]:
        """All rows by each column, the values of each but the item's and where each starts, and columns that are done.

        Of a row there are the customer and, for each further column, which of its values.
        """
        lines = np.empty(self.values.T.shape + self.values.shape[1:], dtype=np.int32)  # those not done take no memory
        coded, levels = lines[_BY_ITEM], list[tuple[Real, Whole]]()
        order = np.argsort(self.item, kind="stable").astype(np.int32)
        coded[:, 0] = self.customer[order]
        for at in range(1, len(lines)):
            number, first = numbered_keys(np.ascontiguousarray(self.values[:, at]).view(np.int64))
            values = self.values[first, at]
            by_size = np.argsort(values)
            place = np.empty(len(first), dtype=np.int32)
            place[by_size] = np.arange(len(first), dtype=np.int32)
            coded[:, at] = place[number][order]
            levels.append((values[by_size], np.append(0, np.cumsum(np.bincount(number)[by_size]))))
        return lines, levels, {_BY_ITEM}

    @property
    def counts(self) -> Whole:
        """How many rows each customer has."""
        return np.diff(self.first)


class PublicRows(NamedTuple):
    """What public rows allow, pseudonym by pseudonym, in each the row with the rarest items first."""

    lo: Real
    hi: Real
    """``lo``, ``hi``: one line per row, the range that each cell allows."""
    set_first: Whole
    set_stop: Whole
    members: Real
    """``set_first``, ``set_stop``, ``members``: the part of ``members`` that a cell lists, in order."""
    first: Whole
    """Where each pseudonym's rows start, and where the last one's end."""
    allowed: Real
    """How many known rows have an item that the row allows; infinity where it allows every one."""

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
        return cls(lo[order], hi[order], set_first[order], set_stop[order], members, first, allowed[order])

    @property
    def counts(self) -> Whole:
        """How many rows each pseudonym has."""
        return np.diff(self.first)


@dataclass(frozen=True)
class Candidates:
    """The customers that may be behind each pseudonym: ``customer[first[p]:first[p + 1]]``, in order."""

    first: Whole
    customer: Any
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


def candidates(known: KnownRows, public: PublicRows, enough: int | None = None) -> Candidates:
    """Return who may be behind each pseudonym; with ``enough`` no more than so many of them.

    Two public rows, [1;2] and [2;3], need two rows of a customer: the values 1 and 3 do, 2 and 9 do not.

    >>> known = KnownRows.of(np.array([[0.0, 1], [0, 3], [0, 2], [0, 9]]), np.array([0, 0, 1, 1]), 2, 1)
    >>> lo, hi = np.array([[-np.inf, 1], [-np.inf, 2]]), np.array([[np.inf, 2], [np.inf, 3]])
    >>> no_sets, nothing = np.zeros((2, 2), dtype=int), np.zeros(0)
    >>> public = PublicRows.of(lo, hi, no_sets, no_sets, nothing, np.array([0, 0]), 1, known)
    >>> candidates(known, public).customer.tolist()
    [0]
    """
    return joined([block for _done, block in candidate_blocks(known, public, enough)], len(known.counts))


def joined(blocks: Sequence[Candidates], customers: int) -> Candidates:
    """Return the candidates of all pseudonyms from those of some after another."""
    counts = np.concatenate([np.zeros(1, dtype=np.int64), *(block.counts for block in blocks)])
    customer = np.concatenate([np.zeros(0, dtype=np.int32), *(block.customer for block in blocks)])
    return Candidates(np.cumsum(counts), customer, customers)


def candidate_blocks(
    known: KnownRows, public: PublicRows, enough: int | None = None
) -> Iterator[tuple[float, Candidates]]:
    """Yield the candidates of some pseudonyms after another, with the share of them that is done.

    A block takes a fraction of a second, so that whoever wants to stop is heard.
    """
    pseudonyms = len(public.first) - 1
    lookup = _lookups(known, public)
    start, size = 0, _BLOCK
    while start < pseudonyms:
        stop = min(start + size, pseudonyms)
        begin = time.monotonic()
        first, customer = _search(
            *(known.values, known.first, known.item_first, public, *lookup),
            *(len(known.counts) if enough is None else enough, start, stop),
        )
        took = time.monotonic() - begin
        size = size * 2 if took < _SOON else max(size // 2, 1) if took > _LATE else size
        yield stop / pseudonyms, Candidates(first, customer, len(known.counts))
        start = stop


def _lookups(known: KnownRows, public: PublicRows) -> tuple[Codes, Whole, Real, Whole]:
    """Return all rows by each column, and the lists in which the candidates of each pseudonym must be.

    There is one for each of its rows that the fewest known rows fit, by the cell that the fewest fit, the shortest
    first: the row, the column, where the list starts and ends (of items there are several); how long it is; and of each
    further column the first value that the row allows, and the first after them. A list that is infinitely long does
    not exist: the rows say nothing, or there are no more. A column in which no list is much shorter is not sorted by.
    """
    rows, columns = public.lo.shape
    lines, levels, done = known.by_column
    allowed = np.zeros((rows + 1, columns, 2), dtype=np.int64)
    fitting, ends = np.full((rows + 1, columns), np.inf), allowed.copy()
    fitting[:-1, _BY_ITEM] = public.allowed
    for at, (values, starts) in enumerate(levels, start=1):
        lo, hi = public.lo[:, at], public.hi[:, at]
        allowed[:-1, at, 0] = np.searchsorted(values, lo, side="left")
        allowed[:-1, at, 1] = np.maximum(np.searchsorted(values, hi, side="right"), allowed[:-1, at, 0])
        free = (lo == -np.inf) & (hi == np.inf)
        allowed[:-1, at, 1][free] = len(values)
        ends[:, at] = starts[allowed[:, at]]
        fitting[:-1, at] = np.where(free, np.inf, ends[:-1, at, 1] - ends[:-1, at, 0])
    some = public.first[:-1][public.counts > 0]
    shortest = np.minimum.reduceat(fitting, some) if len(some) else fitting[:0]
    for at in range(1, columns):
        best = shortest[:, list(done)].min(axis=1)
        shorter = shortest[:, at] < best
        if at not in done and (best[shorter] - shortest[shorter, at]).sum() > _SORTING * len(known.customer):
            lines[at] = lines[_BY_ITEM][np.argsort(lines[_BY_ITEM][:, at], kind="stable")]
            done.add(at)
    fitting[:, [at for at in range(columns) if at not in done]] = np.inf
    column = fitting.argmin(axis=1)
    least = fitting[np.arange(rows + 1), column]
    by_length = np.append(np.lexsort((least[:-1], np.repeat(np.arange(len(public.counts)), public.counts))), rows)
    place = public.first[:-1, None] + np.arange(_LISTS)
    row = by_length[np.where(place < public.first[1:, None], place, rows)]
    through = column[row]
    lists = np.stack([row, through, ends[row, through, 0], ends[row, through, 1]], axis=-1)
    return lines, lists, least[row], allowed[row]


@part()
def fits(values: Real, row: int, public: PublicRows, target: int, column: int) -> bool:  # pragma: no cover (compiled)
    """Tell whether a public row allows a known row, from ``column`` on."""
    for at in range(column, values.shape[1]):
        x, lo, hi = values[row, at], public.lo[target, at], public.hi[target, at]
        if lo == -np.inf and hi == np.inf:
            continue
        if not (lo <= x <= hi):
            return False
        first, stop = public.set_first[target, at], public.set_stop[target, at]
        if stop - first > 1 and public.members[first_from(public.members, first, stop, x)] != x:
            return False
    return True


@kernel()
def _search(
    values: Real, known_first: Whole, item_first: Whole, public: PublicRows, lines: Codes, lists: Whole, length: Real,
    allowed: Whole, enough: int, start: int, stop: int,
) -> tuple[Whole, NDArray[np.int32]]:  # fmt: skip  # pragma: no cover (compiled)
    """Return the candidates of the pseudonyms from ``start`` to ``stop``, at most ``enough`` of each."""
    customers, public_first, set_first = len(known_first) - 1, public.first, public.set_first
    first = np.zeros(stop - start + 1, dtype=np.int64)
    people = np.empty(max(customers, 16), dtype=np.int32)
    total = 0
    seen = np.full(customers, -1, dtype=np.int32)  # the last list that each customer was in
    most_public, most_known = 0, 0
    for pseudonym in range(start, stop):
        most_public = max(most_public, public_first[pseudonym + 1] - public_first[pseudonym])
    for who in range(customers):
        most_known = max(most_known, known_first[who + 1] - known_first[who])
    edges = np.empty(1024, dtype=np.int64)
    room = np.empty((4, most_public + 1), dtype=np.int64)
    room_known = np.empty((3, most_known), dtype=np.int64)
    for pseudonym in range(start, stop):
        p0, p1 = public_first[pseudonym], public_first[pseudonym + 1]
        if total + customers > len(people):
            people = np.concatenate((people, np.empty(len(people) + customers, dtype=np.int32)))
        found, left = 0, 0
        if length[pseudonym, 0] == np.inf:
            for who in range(customers):
                if found < enough and known_first[who + 1] - known_first[who] >= p1 - p0:
                    people[total + found] = who
                    found += 1
        for turn in range(_LISTS):
            if length[pseudonym, turn] == np.inf or (turn > 0 and length[pseudonym, turn] > _DEAR * left):
                break
            mark, left = (pseudonym - start) * _LISTS + turn, 0
            row, column, begin, end = lists[pseudonym, turn]
            within = allowed[pseudonym, turn]
            runs = public.set_stop[row, 0] - set_first[row, 0] if column == _BY_ITEM else 1
            for run in range(runs):
                if column == _BY_ITEM:
                    item = int(public.members[set_first[row, 0] + run])
                    begin, end = item_first[item], item_first[item + 1]
                for place in range(begin, end):
                    fitting = True
                    for at in range(1, lines.shape[2]):
                        fitting &= within[at, 0] <= lines[column, place, at] < within[at, 1]
                    who = lines[column, place, 0]
                    if not fitting or (turn > 0 and seen[who] != mark - 1) or seen[who] >= mark:
                        continue
                    if turn == 0 and known_first[who + 1] - known_first[who] < p1 - p0:
                        continue
                    seen[who] = mark
                    people[total + left] = who
                    left += 1
        for at in range(total, total + left):
            if found == enough:
                break
            k0, k1 = known_first[people[at]], known_first[people[at] + 1]
            possible, edges = _matches(values, k0, k1, public, p0, p1, edges, room, room_known)
            if possible:
                people[total + found] = people[at]
                found += 1
        sort_range(people, total, total + found)
        total += found
        first[pseudonym - start + 1] = total
    return first, people[:total].copy()


@part()
def _matches(
    values: Real, k0: int, k1: int, public: PublicRows, p0: int, p1: int, edges: Whole, room: Whole, room_known: Whole
) -> tuple[bool, Whole]:  # pragma: no cover (compiled)
    """Tell whether the public rows p0…p1 can each have their own of the known rows k0…k1.

    ``edges``, ``room`` and ``room_known`` are room to work, kept from pair to pair.
    """
    edge_first, waiting, queue, mate = room[0], room[1], room[2], room[3]
    owner, came_from, seen = room_known[0], room_known[1], room_known[2]
    items = values[:, 0]
    edge_first[0] = 0
    used = 0
    picky = 0
    for public_row in range(p0, p1):
        if used + (k1 - k0) > len(edges):
            edges = np.concatenate((edges, np.empty(len(edges) + k1 - k0, dtype=np.int64)))
        before = used
        if public.lo[public_row, 0] == -np.inf and public.hi[public_row, 0] == np.inf:
            for row in range(k0, k1):
                if fits(values, row, public, public_row, 1):
                    edges[used] = row - k0
                    used += 1
        else:
            for at in range(public.set_first[public_row, 0], public.set_stop[public_row, 0]):
                row = first_from(items, k0, k1, public.members[at])  # missing items stand last
                while row < k1 and items[row] == public.members[at]:
                    if fits(values, row, public, public_row, 1):
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
    owner[: k1 - k0] = -1
    left = 0
    for row in range(picky):
        for at in range(edge_first[row], edge_first[row + 1]):
            if owner[edges[at]] < 0:
                owner[edges[at]] = row
                mate[row] = edges[at]
                break
        else:
            mate[row] = -1
            waiting[left] = row
            left += 1
    seen[: k1 - k0] = -1
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


def assignable(candidates: Candidates) -> Candidates | None:
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
    matched = _one_to_one(candidates, np.ones(len(candidates.first) - 1, dtype=np.int64))
    if matched is None:
        return None
    counts, keep = matched
    first = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    return Candidates(first, candidates.customer[keep], candidates.customers)


def one_to_one_counts(candidates: Candidates, sharing: Whole) -> Whole | None:
    """Return how many candidates :func:`assignable` keeps, for pseudonyms counted by their public histories.

    ``sharing[h]`` pseudonyms have the h-th history and so the same candidates. Any of them can trade customers with
    another, so they are in one strongly connected part, and the history stands for them all: the work grows with the
    pairs of histories and customers, not of pseudonyms and customers. None where there is no assignment.

    >>> found = Candidates(np.array([0, 2, 4]), np.array([0, 1, 1, 2]), 3)
    >>> one_to_one_counts(found, np.array([2, 1])).tolist()
    [2, 1]
    """
    matched = _one_to_one(candidates, np.asarray(sharing, dtype=np.int64))
    return None if matched is None else matched[0]


def _one_to_one(candidates: Candidates, sharing: Whole) -> tuple[Whole, Flags] | None:
    """Return how many candidates each history keeps, and which of all; None where there is no assignment."""
    first, customer = candidates.first, candidates.customer
    owner = np.full(candidates.customers, -1, dtype=np.int64)
    order = np.argsort(candidates.counts, kind="stable").astype(np.int64)
    lacking = _take_free(first, customer, sharing, order, owner)
    while lacking.any():
        if not _augmented(first, customer, lacking, owner):
            return None
    return _feasible_edges(first, customer, owner)


@kernel()
def _take_free(
    first: Whole, customer: Whole, sharing: Whole, order: Whole, owner: Whole
) -> Whole:  # pragma: no cover (compiled)
    """Give each history free customers, the one with the fewest candidates first; return how many each still lacks."""
    lacking = sharing.copy()
    for history in order:
        for at in range(first[history], first[history + 1]):
            if lacking[history] == 0:
                break
            if owner[customer[at]] < 0:
                owner[customer[at]] = history
                lacking[history] -= 1
    return lacking


@kernel()
def _augmented(first: Whole, customer: Whole, lacking: Whole, owner: Whole) -> bool:  # pragma: no cover (compiled)
    """Make one phase of Hopcroft and Karp's algorithm: shortest ways from whoever lacks to a free customer, disjoint.

    Returns whether there was one.
    """
    count = len(lacking)
    level = np.full(count, -1, dtype=np.int64)
    queue = np.empty(count, dtype=np.int64)
    head, tail = 0, 0
    for history in range(count):
        if lacking[history] > 0:
            level[history] = 0
            queue[tail] = history
            tail += 1
    end = -1
    while head < tail:
        history = queue[head]
        head += 1
        if end >= 0 and level[history] >= end:
            break
        for at in range(first[history], first[history + 1]):
            other = owner[customer[at]]
            if other < 0:
                end = level[history]
            elif level[other] < 0:
                level[other] = level[history] + 1
                queue[tail] = other
                tail += 1
    if end < 0:
        return False
    at_edge = first[:-1].copy()
    way = np.empty(count + 1, dtype=np.int64)
    improved = False
    for source in range(count):
        while lacking[source] > 0 and level[source] == 0:
            way[0] = source
            depth = 0
            done = False
            while depth >= 0 and not done:
                history = way[depth]
                while at_edge[history] < first[history + 1]:
                    other = owner[customer[at_edge[history]]]
                    if other < 0:
                        done = True
                        break
                    if depth < end and level[other] == level[history] + 1:
                        depth += 1
                        way[depth] = other
                        break
                    at_edge[history] += 1
                else:
                    depth -= 1
                    if depth >= 0:
                        at_edge[way[depth]] += 1
            if not done:
                break
            # each on the way takes the customer it looked at; those behind give theirs up
            for step in range(depth + 1):
                owner[customer[at_edge[way[step]]]] = way[step]
                at_edge[way[step]] += 1
            lacking[source] -= 1
            improved = True
    return improved


@kernel()
def _feasible_edges(first: Whole, customer: Whole, owner: Whole) -> tuple[Whole, Flags]:  # pragma: no cover (compiled)
    """Return how many candidates of each history some assignment of all keeps, and which (Tarjan's connected parts).

    Parts are completed from the ends of the ways to their beginnings, so whether a part reaches a free customer is
    known when it is.
    """
    count = len(first) - 1
    number = np.full(count, -1, dtype=np.int64)
    low = np.zeros(count, dtype=np.int64)
    part = np.full(count, -1, dtype=np.int64)
    leaves = np.zeros(count, dtype=np.bool_)
    at_edge = first[:-1].copy()
    stack = np.empty(count, dtype=np.int64)
    way = np.empty(count, dtype=np.int64)
    held, visited, parts = 0, 0, 0
    for source in range(count):
        if number[source] >= 0:
            continue
        depth = 0
        way[0] = source
        number[source] = low[source] = visited
        visited += 1
        stack[held] = source
        held += 1
        while depth >= 0:
            history = way[depth]
            while at_edge[history] < first[history + 1]:
                other = owner[customer[at_edge[history]]]
                at_edge[history] += 1
                if other < 0 or other == history or part[other] >= 0:
                    continue
                if number[other] >= 0:
                    low[history] = min(low[history], number[other])
                    continue
                number[other] = low[other] = visited
                visited += 1
                stack[held] = other
                held += 1
                depth += 1
                way[depth] = other
                break
            else:  # all that it leads to was visited
                if low[history] == number[history]:
                    bottom = held - 1
                    while stack[bottom] != history:
                        bottom -= 1
                    part[stack[bottom:held]] = parts
                    for member in stack[bottom:held]:
                        for edge in range(first[member], first[member + 1]):
                            other = owner[customer[edge]]
                            if other < 0 or (part[other] != parts and leaves[part[other]]):
                                leaves[parts] = True
                                break
                        if leaves[parts]:
                            break
                    held = bottom
                    parts += 1
                depth -= 1
                if depth >= 0:
                    low[way[depth]] = min(low[way[depth]], low[history])
    counts, keep = np.zeros(count, dtype=np.int64), np.zeros(len(customer), dtype=np.bool_)
    for history in range(count):
        for edge in range(first[history], first[history + 1]):
            other = owner[customer[edge]]
            keep[edge] = other < 0 or part[other] == part[history] or leaves[part[other]]
            counts[history] += keep[edge]
    return counts, keep
