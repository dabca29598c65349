"""How likely public rows are copies of somebody's known rows, when copies may be moved, scaled, deleted and mixed.

A public row of customer i is a copy of one of the n known rows of i, each as likely, with chance a; else it may be
anything that is sold (a row that is not known, or another's). Against "anything" a row r of i speaks by

    log(1 + a/(1 - a) · 1/n · Σ_s w(r, s)),    w(r, s) = 1/u(item) · Π_c m_c(l) / u_cs(l),

up to log(1 - a), which is the same for every customer. The sum is over the known rows s of i with the same item;
u(item) is the share of public rows with that item, so rare items weigh most. In every other column the two cells are
so or so far apart: level l of a few. m_c(l) is the chance of that level for a copy, learnt from the data; u_cs(l) that
for any public row of the same item (prices, quantities) or period (dates, times) beside s. A row whose item no known
row has says nothing.

**Of many people, those are found whom rare rows point to, and only they are weighed in full.**
The known rows of an item grow with the people, and so would the work for each public row. Of a pseudonym with more than
``longest`` known rows of its items, each row looks, in each list, along the column in which fewest of them lie as near
as nearly all copies do. Its rarest rows, those near to the fewest known rows, come first, until ``longest`` known rows
are looked at; if the first has more, only the middle of each list is. Customers with a row there are candidates. Then
all rows of the pseudonym are weighed for its likeliest candidates: what is said of a person who is listed is exact, and
where lists are no longer, so is the list.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noren.kernels.arrays import Codes, Real, Whole
from noren.kernels.compiling import kernel, part, read_only
from noren.kernels.linkage.row_layout import Backgrounds, KnownLayout, Lists, PublicLayout, falling
from noren.kernels.ordered import first_from, sort_range


@dataclass(frozen=True)
class Copies:
    """What is believed of copies: which share of public rows they are, and the chance of each level in each column."""

    share: float
    chance: Real


@dataclass(frozen=True)
class CopyEvidence:
    """What speaks for each pseudonym and person that share an item: two halves, to be added.

    ``first`` says where the people of each pseudonym start in the other arrays.
    """

    first: Whole
    person: Whole
    halves: Real

    @property
    def pseudonym(self) -> Whole:
        """The pseudonym of each entry."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))


# --- evidence ----------------------------------------------------------------------------------------------


_NEARLY_ALL = 0.95
_NO_LIMIT = 2**62
_NO_LISTS = Lists(np.zeros((0, 0), np.int32), np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.int64))


def evidence(
    known: KnownLayout,
    public: PublicLayout,
    beside: Backgrounds,
    copies: Copies,
    *,
    limit: int,
    other_periods: bool = False,
    longest: int | None = None,
) -> CopyEvidence:
    """Return what speaks for each pseudonym and person, of each pseudonym for the ``limit`` likeliest people.

    A row is compared with known rows of its own period or, to find habits, with those of all other periods; with
    ``longest``, a pseudonym with about so many of them.
    """
    most = min(limit, max(len(known.rows), 1))
    # as far as 19 of 20 copies are
    at = (np.cumsum(copies.chance, axis=1) < _NEARLY_ALL).sum(axis=1).clip(max=beside.reach.shape[1] - 1)
    near = beside.reach[np.arange(len(at)), at]
    arrays = plain_arrays(known, public, beside, copies)
    lists = known.lists if longest is not None else _NO_LISTS
    return CopyEvidence(*_evidence(*arrays, odds_of(copies), most, other_periods, lists, near, longest or _NO_LIMIT))


def learn(
    known: KnownLayout,
    public: PublicLayout,
    beside: Backgrounds,
    copies: Copies,
    person: Whole,
    trust: Real,
    *,
    other_periods: bool = False,
) -> Copies:
    """Return what copies look like if each pseudonym were the ``person`` given (below 0: nobody's), each counting by
    ``trust``; what is believed so far says how sure it is that a row is a copy, and of which.
    """
    tally, copied, rows = _learn(
        *plain_arrays(known, public, beside, copies), odds_of(copies), person, trust, other_periods
    )
    # a hundredth of a row keeps what was believed before from vanishing
    chance = tally + 0.01 * copies.chance
    for c in range(len(chance)):
        usual = beside.share[beside.place[:, c]].mean(axis=0) if len(beside.place) else chance[c]
        chance[c] = falling(chance[c], usual)
    share = (copied + copies.share) / (rows + 1)
    return Copies(float(np.clip(share, 0.001, 0.999)), chance)


def odds_of(copies: Copies) -> float:
    """Return how much likelier it is that a row is a copy than that it is not."""
    return copies.share / (1 - copies.share)


Held = tuple[Whole, Whole, Real, Real]
Shown = tuple[Whole, Whole, Whole, Real, Real, Whole, Whole, Whole]
Beside = tuple[Real, Whole, Real, Real]


def plain_arrays(
    known: KnownLayout, public: PublicLayout, beside: Backgrounds, copies: Copies
) -> tuple[Held, Shown, Beside]:
    """Return everything as the tuples of arrays that compiled functions take."""
    held = known.first, known.person, known.values, known.rows
    public_arrays = (
        *(public.first, read_only(public.begin), read_only(public.end)),
        *(np.ascontiguousarray(public.lo), np.ascontiguousarray(public.hi)),
        *(public.item_first, read_only(public.item), public.half),
    )
    # m_c(l) / u_cs(l) for each place; the last level stands for a cell that is not known, and says nothing
    columns, levels = beside.reach.shape
    column = np.zeros(len(beside.share), np.int64)
    for c in range(columns):
        column[beside.place[:, c]] = c
    ratio = np.ones((len(beside.share), levels + 1))
    ratio[:, :levels] = copies.chance[column] / beside.share
    return held, public_arrays, (beside.reach, beside.place, ratio, known.weight / beside.item)


@part()
def _level(x: float, lo: float, hi: float, reach: Real) -> int:
    """Return the level of the distance of x from a range; the number of levels where x is not known."""
    if np.isnan(x):
        return len(reach)
    far = max(lo - x, x - hi, 0.0)
    level = 0
    while far > reach[level]:
        level += 1
    return level


@part()
def row_weight(s: int, r: int, values: Real, lo: Real, hi: Real, beside: Beside, memo: Real, memo_of: Whole) -> float:
    """Return w(r, s); ratios of row r are remembered in ``memo``, as many known rows have the same value."""
    reach, place, ratio, weights = beside
    weight: float = weights[s]
    for c in range(values.shape[1]):
        at = place[s, c]
        if memo_of[at] != r:
            memo_of[at] = r
            memo[at] = ratio[at, _level(values[s, c], lo[r, c], hi[r, c], reach[c])]
        weight *= memo[at]
    return weight


@part()
def _bar(total: Real, touched: Codes, many: int, limit: int) -> tuple[float, int]:
    """Return what the last of the ``limit`` likeliest has, and how many of those that have just that belong to them."""
    if many <= limit:
        return -np.inf, many
    sums = np.empty(many)
    for k in range(many):
        sums[k] = total[touched[k], 0] + total[touched[k], 1]
    least = np.partition(sums, many - limit)[many - limit]
    return least, limit - (sums > least).sum()


@part()
def _nearest_rows(
    a: int, b: int, r: int, rows: int, values: Real, lo: Real, hi: Real, by_column: Codes, near: Real
) -> tuple[int, int, int]:
    """Return the column by which fewest rows of a list are near row r, and the part of its order where these are."""
    column, first, stop = -1, a, b
    for c in range(values.shape[1]):
        begin = low = a
        for side in range(2):
            high = b
            while low < high:
                middle = (low + high) // 2
                x = values[by_column[c, middle], c]  # NaN comes last, and is near nothing
                if x < lo[r, c] - near[c] or (side == 1 and x <= hi[r, c] + near[c]):
                    low = middle + 1
                else:
                    high = middle
            begin = low if side == 0 else begin
        if column < 0 or low - begin < stop - first:
            column, first, stop = c, begin, low
    spare = max(stop - first - rows, 0)
    return column, first + spare // 2, stop - (spare - spare // 2)


@part()
def _other_ranges(begin: int, end: int, periods: int, others: bool) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the periods that rows are looked for in, as ranges: those of a row, or all others."""
    return ((0, begin), (end + 1, periods)) if others else ((begin, end + 1), (0, 0))


@kernel()
def _evidence(
    known: Held, public: Shown, beside: Beside, odds: float, limit: int, others: bool, lists: Lists, near: Real,
    longest: int,
) -> tuple[Whole, Whole, Real]:  # fmt: skip
    known_first, known_person, values, rows = known
    unit_first, begin, end, lo, hi, item_first, item, half = public
    people, periods = rows.shape[0], rows.shape[1] - 1
    units = len(unit_first) - 1
    first = np.zeros(units + 1, np.int64)
    room = 1024
    person = np.empty(room, np.int64)
    halves = np.empty((room, 2))
    total = np.zeros((people, 2))
    seen = np.zeros(people, np.bool_)
    touched = np.empty(people, np.int32)
    here = np.zeros(people)
    near_by = np.empty(people, np.int64)
    memo = np.zeros(len(beside[2]))
    memo_of = np.full(len(beside[2]), -1, np.int64)
    used = 0
    for u in range(units):
        many, size, spent = 0, 0, 0
        for r in range(unit_first[u], unit_first[u + 1]):
            for a, b in _other_ranges(begin[r], end[r], periods, others):
                for e in range(item_first[r], item_first[r + 1]):
                    size += known_first[item[e] * periods + b] - known_first[item[e] * periods + a]
        cut = size > longest
        turns = np.arange(unit_first[u], unit_first[u + 1])
        if cut:  # the rows that fewest known ones are near to come first
            for r in range(unit_first[u], unit_first[u + 1]):
                near_rows = 0
                for a, b in _other_ranges(begin[r], end[r], periods, others):
                    for e in range(item_first[r], item_first[r + 1]):
                        for p in range(a, b):
                            at = item[e] * periods + p
                            _column, start, stop = _nearest_rows(
                                known_first[at], known_first[at + 1], r, longest, values, lo, hi, lists.by_column, near
                            )
                            near_rows += stop - start
                turns[r - unit_first[u]] += near_rows * len(begin)
            sort_range(turns, 0, len(turns))
        for turn in turns:
            r, close = turn % len(begin), 0
            spent += turn // len(begin)
            if spent > longest and many > 0:
                break
            for a, b in _other_ranges(begin[r], end[r], periods, others):
                for e in range(item_first[r], item_first[r + 1]):
                    for k in range(b - a if cut else int(b > a)):
                        column = -1
                        start = known_first[item[e] * periods + a + k]
                        stop = known_first[item[e] * periods + (a + k + 1 if cut else b)]
                        if cut:
                            column, start, stop = _nearest_rows(
                                start, stop, r, longest, values, lo, hi, lists.by_column, near
                            )
                        for at in range(start, stop):
                            s = at if column < 0 else lists.by_column[column, at]
                            weight = row_weight(s, r, values, lo, hi, beside, memo, memo_of)
                            if weight > 0:
                                i = known_person[s]
                                if here[i] == 0:
                                    near_by[close] = i
                                    close += 1
                                here[i] += weight
            for k in range(close):
                i = near_by[k]
                held = rows[i, end[r] + 1] - rows[i, begin[r]]
                if others:
                    held = rows[i, periods] - held
                total[i, half[r]] += np.log1p(odds * here[i] / held)
                here[i] = 0.0
                if not seen[i]:
                    seen[i] = True
                    touched[many] = i
                    many += 1
        if not cut:
            sort_range(touched, 0, many)
        least, ties = _bar(total, touched, many, limit)
        while used + min(many, limit) > room:
            person = np.concatenate((person, np.empty(room, np.int64)))
            halves = np.concatenate((halves, np.empty((room, 2))))
            room *= 2
        for k in range(many):
            i = touched[k]
            speaks = total[i, 0] + total[i, 1]
            if speaks >= least:
                ties -= speaks == least
                if speaks > least or ties >= 0:
                    person[used] = i
                    halves[used, 0], halves[used, 1] = total[i, 0], total[i, 1]
                    used += 1
            total[i, 0], total[i, 1] = 0.0, 0.0
            seen[i] = False
        first[u + 1] = used
        if not cut:
            continue
        sort_range(person, first[u], used)  # few of many, whose rows were looked at in part: all are weighed again
        halves[first[u] : used] = 0.0
        for r in range(unit_first[u], unit_first[u + 1]):
            for k in range(first[u], used):
                i = person[k]
                summed = 0.0
                for e in range(item_first[r], item_first[r + 1]):
                    place = item[e] * periods
                    at = first_from(lists.place, lists.first[i], lists.first[i + 1], place)
                    while at < lists.first[i + 1] and lists.place[at] < place + periods:
                        if (begin[r] <= lists.place[at] - place <= end[r]) != others:
                            summed += row_weight(lists.row[at], r, values, lo, hi, beside, memo, memo_of)
                        at += 1
                if summed > 0:
                    held = rows[i, end[r] + 1] - rows[i, begin[r]]
                    if others:
                        held = rows[i, periods] - held
                    halves[k, half[r]] += np.log1p(odds * summed / held)
    return first, person[:used].copy(), halves[:used].copy()


@kernel()
def _learn(
    known: Held, public: Shown, beside: Beside, odds: float, person: Whole, trust: Real, others: bool
) -> tuple[Real, float, float]:
    known_first, known_person, values, rows = known
    unit_first, begin, end, lo, hi, item_first, item, _half = public
    reach = beside[0]
    periods = rows.shape[1] - 1
    columns, levels = reach.shape
    tally = np.zeros((columns, levels))
    own = np.zeros((columns, levels))
    memo = np.zeros(len(beside[2]))
    memo_of = np.full(len(beside[2]), -1, np.int64)
    copied = 0.0
    counted = 0.0
    for u in range(len(unit_first) - 1):
        i = person[u]
        if i < 0 or trust[u] <= 0:
            continue
        for r in range(unit_first[u], unit_first[u + 1]):
            held = rows[i, end[r] + 1] - rows[i, begin[r]]
            if others:
                held = rows[i, periods] - held
            if held <= 0:
                continue
            counted += trust[u]
            total = 0.0
            own[:] = 0.0
            for p in range(periods):
                if (begin[r] <= p <= end[r]) == others:
                    continue
                for e in range(item_first[r], item_first[r + 1]):
                    a = known_first[item[e] * periods + p]
                    b = known_first[item[e] * periods + p + 1]
                    for s in range(first_from(known_person, a, b, i), b):
                        if known_person[s] != i:
                            break
                        weight = row_weight(s, r, values, lo, hi, beside, memo, memo_of)
                        total += weight
                        for c in range(columns):
                            level = _level(values[s, c], lo[r, c], hi[r, c], reach[c])
                            if level < levels:
                                own[c, level] += weight
            if total > 0:
                chance = odds * total / held
                chance = trust[u] * chance / (1 + chance)
                copied += chance
                tally += own * (chance / total)
    return tally, copied, counted
