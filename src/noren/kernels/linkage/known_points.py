"""Who has all the purchases that somebody knows: lists of holders, cut down one known purchase after another.

A *point* is a purchase as far as it is known. Its list names the histories that hold it, in order. Whoever knows the
points 1 … p of somebody is left with the histories on all p lists; each further point cuts what is left before it, by
searching the shorter of the two lists in the longer one. Histories that are equal stand for one another: ``sharing``
says how many people have each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from noren.kernels.arrays import Codes, Flags, Real, Whole
from noren.kernels.compiling import kernel, part, read_only
from noren.kernels.linkage.feasibility import PublicRows, fits
from noren.kernels.ordered import first_from, sort_range

Bits = NDArray[np.uint64]
NOT_ASKED = -1
_BLOCK = 64
"""People asked about at once: whoever wants to stop is heard in between."""
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Holders:
    """The histories that hold each point, ``history[first[p]:first[p + 1]]``, in order; how many people have each."""

    first: Whole
    history: Codes
    sharing: Whole

    @classmethod
    def of(cls, point: Whole, history: Whole, points: int, sharing: Whole) -> Holders:
        """Make the lists of pairs in order of point, then history, each pair once."""
        first = np.concatenate(([0], np.cumsum(np.bincount(point, minlength=points)))).astype(np.int64)
        return cls(first, history.astype(np.int32), sharing)


def equal_histories(point: Whole, person: Whole, people: int, points: int) -> tuple[Whole, Whole]:
    """Return the number of each person's history, and one person who has it, given pairs that occur once.

    Two sets of points are taken for equal when the sums of 64 random bits for each of their points are: among a
    million different sets two are mistaken for each other with a chance below 1 in 10 million.

    >>> number, who = equal_histories(np.array([0, 0, 1, 1]), np.array([0, 2, 0, 2]), 3, 2)
    >>> bool(number[0] == number[2]), bool(number[0] == number[1]), who[number].tolist()
    (True, False, [0, 1, 0])
    """
    bits = np.random.Philox(key=0).random_raw(points).astype(np.uint64)
    sums = _added(read_only(point), read_only(person), bits, people)
    _each, who, number = np.unique(sums, return_index=True, return_inverse=True)
    return number.astype(np.int64), who.astype(np.int64)


@kernel()
def _added(point: Whole, person: Whole, bits: Bits, people: int) -> Bits:  # pragma: no cover (compiled)
    added = np.zeros(people, dtype=np.uint64)
    for at in range(len(point)):
        added[person[at]] += bits[point[at]]
    return added


def narrowed(first: Whole, point: Whole, own: Whole, holders: Holders) -> Iterator[tuple[float, Whole, Flags]]:
    """Yield, for some people after another, how many are left after each known point, and whether they are found.

    ``point[first[i]:first[i + 1]]`` are the points known of person i, in the order in which they become known, and
    ``own[i]`` is the history that is theirs, below 0 where nobody can say. Comes with the share of people done. Both
    answers have a column for each number of known points; :data:`NOT_ASKED` stands where so many are not known.

    What is known may contradict what is released. Then nobody is left, now and after each further point; but whoever
    passes over a point that none of those left holds goes on, and may still be left with the right one: *found*.

    Ann bought points 0 and 1, Bob point 0 alone: one known purchase leaves two, the second one Ann.

    >>> holders = Holders.of(np.array([0, 0, 1]), np.array([0, 1, 0]), 2, np.array([1, 1]))
    >>> ((_done, left, right),) = narrowed(np.array([0, 2, 3]), np.array([0, 1, 0]), np.array([0, 1]), holders)
    >>> left.tolist(), right.tolist()
    ([[2, 1], [2, -1]], [[False, True], [False, False]])
    """
    people = len(first) - 1
    most = int(np.diff(first).max(initial=0))
    longest = int(np.diff(holders.first).max(initial=0))
    for start in range(0, people, _BLOCK):
        stop = min(start + _BLOCK, people)
        left = np.full((stop - start, most), NOT_ASKED, dtype=np.int64)
        right = np.zeros((stop - start, most), dtype=np.bool_)
        _narrow(
            first[start : stop + 1], read_only(point), read_only(own[start:stop]),
            holders.first, holders.history, holders.sharing, longest, left, right,
        )  # fmt: skip
        yield stop / people, left, right


@kernel()
def _narrow(
    first: Whole, point: Whole, own: Whole, list_first: Whole, holder: Codes, sharing: Whole,
    longest: int, left: Whole, identified: Flags,
) -> None:  # fmt: skip  # pragma: no cover (compiled)
    current = np.empty(longest, dtype=np.int32)
    for person in range(len(first) - 1):
        count = 0
        contradicted = False
        for step in range(first[person + 1] - first[person]):
            known_point = point[first[person] + step]
            begin, end = list_first[known_point], list_first[known_point + 1]
            if count == 0:
                remaining = end - begin
                for at in range(remaining):
                    current[at] = holder[begin + at]
            elif count <= end - begin:
                remaining = _intersection(current, 0, count, holder, begin, end, current)
            else:
                remaining = _intersection(holder, begin, end, current, 0, count, current)
            contradicted |= remaining == 0
            count = remaining or count  # nothing was written: those left before are still there
            people = 0
            for at in range(count):
                people += sharing[current[at]]
            left[person, step] = 0 if contradicted else people
            identified[person, step] = people == 1 and current[0] == own[person]


@part()
def _intersection(
    short: Codes, begin: int, end: int, long: Codes, first: int, stop: int, out: Codes
) -> int:  # pragma: no cover (compiled)
    """Write what both lists hold to ``out``, which may be either: no place is written before it was read."""
    count = 0
    at = first
    for place in range(begin, end):
        wanted = short[place]
        # strides that double, then halving: a few steps for near places, few more for far ones
        stride = 1
        while at + stride < stop and long[at + stride] < wanted:
            at += stride
            stride *= 2
        at = first_from(long, at, min(at + stride, stop), wanted)
        if at >= stop:
            break
        if long[at] == wanted:
            out[count] = wanted
            count += 1
    return count


# --- released rows ---------------------------------------------------------------------------------------------------


def fitting_holders(points: Real, public: PublicRows, sharing: Whole) -> Holders:
    """Return, for each point, the public histories with a row that allows it.

    ``points`` have a number per column, as in :class:`~noren.kernels.linkage.feasibility.KnownRows`.

    The value 2 lies in the first history's interval [1;3] and not in the second's [5;9].

    >>> from noren.kernels.linkage.feasibility import KnownRows
    >>> points, sets = np.array([[0.0, 2.0]]), np.array([[0, 0], [1, 0]])
    >>> known = KnownRows.of(points, np.array([0]), 1, 1)
    >>> lo, hi = np.array([[0.0, 1], [0, 5]]), np.array([[0.0, 3], [0, 9]])
    >>> public = PublicRows.of(lo, hi, sets, sets + [[1, 0], [1, 0]], np.zeros(2), np.array([0, 1]), 2, known)
    >>> fitting_holders(points, public, np.array([1, 1])).history.tolist()
    [0]
    """
    history = np.repeat(np.arange(len(public.counts)), public.counts)
    lookups = [_looked_up(points[:, at], public, at) for at in range(points.shape[1])]
    row, begin, end, free = min(
        lookups, key=lambda lookup: int((lookup[2] - lookup[1]).sum()) + len(points) * len(lookup[3])
    )
    first, holder = _fitting(points, public, history, row, begin, end, free)
    return Holders(first, holder, sharing)


def _looked_up(wanted: Real, public: PublicRows, at: int) -> tuple[Whole, Whole, Whole, Whole]:
    """Return rows in an order in which those that one column may allow for each point stand together.

    ``row[begin[p]:end[p]]`` and the rows ``free`` (suppressed cells) hold every row that allows point p.
    """
    lo, hi = public.lo[:, at], public.hi[:, at]
    free = (lo == -np.inf) & (hi == np.inf)
    size = public.set_stop[:, at] - public.set_first[:, at]
    if size.any():  # a column of texts: every listed code is an entry of its own
        row = np.repeat(np.arange(len(lo)), size)
        place = np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size) + np.repeat(public.set_first[:, at], size)
        value, reach = public.members[place], 0.0
    else:
        row = np.flatnonzero(~free & (lo <= hi))
        value, reach = lo[row], float((hi[row] - lo[row]).max(initial=0.0))
        reach += _ROUNDING * max(reach, float(np.abs(value).max(initial=0.0)))
    order = np.argsort(value, kind="stable")
    value = value[order]
    begin = np.searchsorted(value, wanted - reach, side="left")
    end = np.maximum(np.searchsorted(value, wanted, side="right"), begin)
    unsaid = np.isnan(wanted)  # a blank fits suppressed cells alone
    begin[unsaid], end[unsaid] = 0, 0
    return row[order].astype(np.int64), begin, end, np.flatnonzero(free)


@kernel()
def _fitting(
    points: Real, public: PublicRows, history: Whole, row: Whole, begin: Whole, end: Whole, free: Whole
) -> tuple[Whole, Codes]:  # pragma: no cover (compiled)
    histories = len(public.first) - 1
    first = np.zeros(len(points) + 1, dtype=np.int64)
    holders = np.empty(max(histories, 16), dtype=np.int32)
    seen = np.full(histories, -1, dtype=np.int64)
    total = 0
    for point in range(len(points)):
        if total + histories > len(holders):
            holders = np.concatenate((holders, np.empty(len(holders) + histories, dtype=np.int32)))
        before = total
        for at in range(end[point] - begin[point] + len(free)):
            inside = at < end[point] - begin[point]
            public_row = row[begin[point] + at] if inside else free[at - (end[point] - begin[point])]
            who = history[public_row]
            if seen[who] == point:
                continue
            if fits(points, point, public, public_row, 0):
                seen[who] = point
                holders[total] = who
                total += 1
        sort_range(holders, before, total)
        first[point + 1] = total
    return first, holders[:total].copy()
