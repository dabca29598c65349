"""Known rows by item and period, public rows by pseudonym, and what any public row looks like beside a known one.

Numbers stand for everything. A public cell is a range ``lo … hi``; one that is suppressed goes from -inf to inf.

**What the number of a pseudonym's rows says of whose it is.**
Rows are deleted at some rate and known at another, so a customer with n known rows is expected to show about κ·n public
ones, give or take √(κ·n); or exactly n, where nothing was deleted. The pair is at one of a few levels of deviation. How
often a true pair is at each is learnt, how often any pseudonym is beside that customer is counted.

**How well two people's days of purchase agree at the best shift in time.**
Every pair of a known and a public day votes for the one shift that makes them the same day. That is the correlation
over all shifts at once; as most days have no purchase it costs less than a Fourier transform of the calendar.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from noren.kernels.arrays import Codes, Real, Whole
from noren.kernels.compiling import kernel
from noren.kernels.ordered import first_above, first_from

_MEAN_ROWS = 3.0
"""What is typical of all values counts as so many rows beside those of the item or period."""


class Lists(NamedTuple):
    """Known rows in other orders."""

    by_column: Codes
    """For each column: the rows of each item and period by its values."""
    first: Whole
    row: Codes
    place: Whole
    """``first``, ``row``, ``place``: where each person's rows start, and by person the rows, by item and period."""


@dataclass(frozen=True)
class KnownLayout:
    """Rows of known people by item, then period, then person."""

    first: Whole
    """Where the rows of each item and period start (place ``item·periods + period``), and where the last ones end."""
    person: Whole
    values: Real
    """``person``, ``values``: the person of each row, and one number per column; NaN where the cell is not known."""
    weight: Real
    """How much each row counts: 1, or the chance that it is the person's."""
    rows: Real
    """For each person, the weight of rows before each period, and in all."""

    @classmethod
    def of(
        cls, item: Whole, period: Whole, person: Whole, values: Real, weight: Real, size: tuple[int, int, int]
    ) -> tuple[KnownLayout, Whole]:
        """Sort rows in any order, ``size`` being the numbers of items, periods and people; return also the order."""
        items, periods, people = size
        order = np.lexsort((person, period, item))
        place = item * periods + period
        first = np.concatenate([[0], np.cumsum(np.bincount(place, minlength=items * periods))])
        held = np.bincount(person * periods + period, weights=weight, minlength=people * periods)
        rows = np.zeros((people, periods + 1))
        np.cumsum(held.reshape(people, periods), axis=1, out=rows[:, 1:])
        return cls(first, person[order], values[order], weight[order], rows), order

    @property
    def periods(self) -> int:
        """The number of periods."""
        return int(self.rows.shape[1]) - 1

    @cached_property
    def lists(self) -> Lists:
        """The rows in the orders in which few of many are looked up."""
        place = np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))
        by_column = np.empty(self.values.T.shape, np.int32)
        for column, values in enumerate(self.values.T):
            by_column[column] = np.lexsort((values, place))
        row = np.argsort(self.person, kind="stable")
        first = np.concatenate([[0], np.cumsum(np.bincount(self.person, minlength=len(self.rows)))])
        return Lists(by_column, first, row.astype(np.int32), place[row])


@dataclass(frozen=True)
class PublicLayout:
    """Public rows, pseudonym by pseudonym."""

    first: Whole
    """Where the rows of each pseudonym start, and where the last one's end."""
    begin: Whole
    end: Whole
    """``begin``, ``end``: the first and the last period that each row may belong to."""
    lo: Real
    hi: Real
    """``lo``, ``hi``: what each cell allows."""
    item_first: Whole
    item: Whole
    """``item_first``, ``item``: where each row's items start; a set has several, a suppressed cell none."""
    half: Whole
    """0 or 1: which half of its pseudonym's evidence a row belongs to."""

    @property
    def counts(self) -> Whole:
        """The number of rows of each pseudonym."""
        return np.diff(self.first)


@dataclass(frozen=True)
class Backgrounds:
    """How any public row lies beside each known row: ``share[place[s, c], l]`` is u_cs(l), ``item`` is u(item) of s.

    Levels of column c are the distances up to ``reach[c, 0]``, up to ``reach[c, 1]``, and so on.
    """

    reach: Real
    place: Whole
    share: Real
    item: Real


def background(
    known: KnownLayout, item_share: Real, public: PublicLayout, contexts: list[tuple[Whole, Whole]], reach: Real
) -> Backgrounds:
    """Count how public rows lie beside each known row.

    ``item_share`` is the share of public rows of a known row's period that have its item; ``contexts`` are, for each
    column, the groups of known and of public rows within which it is compared (below 0: none); ``reach`` are the
    largest distances of its levels, rising to infinity.
    """
    place = np.zeros(known.values.shape, np.int64)
    shares = []
    used = 0
    for c, (ours, theirs) in enumerate(contexts):
        x = known.values[:, c]
        order = np.lexsort((x, ours))
        new = np.ones(len(order), np.bool_)
        new[1:] = (ours[order][1:] != ours[order][:-1]) | (x[order][1:] != x[order][:-1])
        place[order, c] = used + np.cumsum(new) - 1
        once = order[new]
        groups = int(max(ours.max(initial=-1), theirs.max(initial=-1))) + 1
        there = np.flatnonzero(theirs >= 0)
        start = np.concatenate([[0], np.cumsum(np.bincount(theirs[there], minlength=groups))])
        lo = public.lo[there, c][np.lexsort((public.lo[there, c], theirs[there]))]
        hi = public.hi[there, c][np.lexsort((public.hi[there, c], theirs[there]))]
        counts = np.diff(_within(start, lo, hi, ours[once], x[once], reach[c]), axis=1, prepend=0.0)
        of_all = np.bincount(place[:, c] - used, minlength=len(once)) @ counts
        mean = (of_all + 1e-3) / (of_all + 1e-3).sum()
        shares.append((counts + _MEAN_ROWS * mean) / (counts.sum(axis=1, keepdims=True) + _MEAN_ROWS))
        used += len(once)
    return Backgrounds(reach, place, np.concatenate(shares) if shares else np.zeros((0, reach.shape[1])), item_share)


@kernel()
def _within(start: Whole, lo: Real, hi: Real, group: Whole, x: Real, reach: Real) -> Real:
    """Return how many ranges of the group lie within each reach of x; none where x is not known."""
    counts = np.zeros((len(x), len(reach)))
    for d in range(len(x)):
        if np.isnan(x[d]):
            continue
        a, b = start[group[d]], start[group[d] + 1]
        for level in range(len(reach)):
            if np.isinf(reach[level]):
                counts[d, level] = b - a
                continue
            below = first_from(hi, a, b, x[d] - reach[level]) - a
            above = b - first_above(lo, a, b, x[d] + reach[level])
            counts[d, level] = (b - a) - below - above
    return counts


# --- What the number of a pseudonym's rows says of whose it is --------------------------------------------------------


Amounts = NDArray[np.int64] | NDArray[np.float64]

_REACH = np.array([0.5, 1.0, 2.0, 4.0])
_LEVELS = len(_REACH) + 2
_FIRST = np.array([0.3, 0.4, 0.25, 0.045, 0.004, 0.001])
_KEPT = np.array([0.95, 0.01, 0.01, 0.01, 0.01, 0.01])
_NEARLY_ALL = 0.97


@dataclass(frozen=True)
class Counts:
    """What is believed of row counts: public rows per known row (κ), and the chance of each level of deviation."""

    rate: float
    chance: Real

    def levels(self, public: Amounts, known: Amounts) -> Whole:
        """Return the level of each pair: 0 for equal numbers, then by deviation.

        >>> Counts(1.0, _FIRST).levels(np.array([4.0, 5.0, 9.0]), np.array([4.0, 4.0, 4.0])).tolist()
        [0, 1, 4]
        """
        expected = self.rate * known
        away = np.abs(public - expected) / np.sqrt(np.maximum(expected, 1.0))
        return np.where(public == known, 0, 1 + np.searchsorted(_REACH, away))

    def evidence(
        self, public: Whole, known: Whole, many_public: Whole | None = None, many_known: Whole | None = None
    ) -> tuple[Real, Whole, Real]:
        """Return, for each pseudonym (row) and customer (column) of a period, what their numbers of rows say.

        That is the log of the likelihood ratio; beside it stand the level, and the share of pairs at each level. A line
        may stand for ``many_public`` pseudonyms, a column for ``many_known`` customers, with the same number of rows.
        """
        many_public, many_known = (
            np.ones(len(side), np.int64) if many is None else many
            for side, many in ((public, many_public), (known, many_known))
        )
        level = self.levels(public[:, None], known[None, :])
        beside = np.stack([many_public @ (level == number) for number in range(_LEVELS)], axis=1).astype(np.float64)
        usual = many_known @ beside
        usual = usual / max(usual.sum(), 1.0)
        beside = (beside + _MEAN_ROWS * usual) / (many_public.sum() + _MEAN_ROWS)
        ratio = np.maximum(self.chance, 1e-6) / np.maximum(beside, 1e-9)
        return np.log(ratio[np.arange(len(known))[None, :], level]), level, usual

    def learnt(self, public: Amounts, known: Amounts, level: Whole, trust: Real, usual: Real) -> Counts:
        """Return what pairs believed true, each with some trust, say of row counts."""
        weight = trust**2
        if weight.sum() <= 0:
            return self
        tally = np.bincount(level, weights=weight, minlength=_LEVELS) + self.chance
        return Counts(float((weight * public).sum() / max((weight * known).sum(), 1e-9)), falling(tally, usual))


def first_counts(public: Whole, known: Whole, share_kept: float) -> Counts:
    """Return what is believed at first, ``kept`` being the share of pseudonyms that may keep their number of rows."""
    rate = float(public.sum()) / max(float(known.sum()), 1.0)
    return Counts(rate, _KEPT if share_kept > _NEARLY_ALL else _FIRST)


def kept_share(public: Whole, known: Whole) -> float:
    """Return how many pseudonyms of a period, at most, have exactly as many rows as their customer.

    >>> kept_share(np.array([1, 2, 2]), np.array([1, 1, 2]))
    2.0
    """
    most = int(max(public.max(initial=0), known.max(initial=0))) + 1
    return float(np.minimum(np.bincount(public, minlength=most), np.bincount(known, minlength=most)).sum())


def falling(chance: Real, usual: Real) -> Real:
    """Return the chances nearest to ``chance`` whose ratio to ``usual`` does not rise: near never speaks against.

    Few rows make ragged chances; far apart would then speak for a copy now and then.

    >>> falling(np.array([1.0, 3.0]), np.array([0.5, 0.5])).tolist()
    [0.5, 0.5]
    """
    weight = np.maximum(usual, 1e-12)
    ratio = isotonic_regression(chance / weight, weights=weight, increasing=False).x
    fallen: Real = np.maximum(ratio, 0.0) * weight
    return fallen / max(float(fallen.sum()), 1e-300)


# --- How near one number is to another in proportion: the smaller over the larger (S3: S7 and S8, measure E5) ---------


def likeness(first: Real, second: Real) -> Real:
    """Return min/max of two positive numbers: 1 where they are equal, near 0 where they are far apart.

    Negative numbers, which the contest does not have, are compared by size; numbers of different sign, or one of them
    0, are not alike at all.

    >>> likeness(np.array([2.0, 0.0, 0.0, -2.0, -2.0]), np.array([4.0, 0.0, 4.0, -4.0, 4.0])).tolist()
    [0.5, 1.0, 0.0, 0.5, 0.0]
    """
    small, large = np.minimum(np.abs(first), np.abs(second)), np.maximum(np.abs(first), np.abs(second))
    ratio = np.divide(small, large, out=np.ones_like(large), where=large > 0)
    return np.where(np.signbit(first) == np.signbit(second), ratio, np.where(large > 0, 0.0, 1.0))


# --- How well two people's days of purchase agree at the best shift in time -------------------------------------------


Days = tuple[Whole, Whole, Real, Real, Real]
"""Where each person's days begin and the last one's end; the days from 0 on; what a match of each counts; what it is
compared by, a column each; and what a squared difference costs, of public days alone."""


@kernel()
def best_shifts(known: Days, public: Days, rows: Whole, listed: Whole) -> Real:
    """Return for some public people and the known ones listed for each the sum of matches at the best shift.

    Days 0 and 7 match 10 and 17 at one shift; of 10 and 19 one of them at most.

    >>> days = lambda *said: (np.array([0, 2]), np.array(said), np.ones(2), np.zeros((2, 1)), np.ones((2, 1)))
    >>> [best_shifts(days(0, 7), days(10, to), np.array([0]), np.array([[0]])).item() for to in (17, 19)]
    [4.0, 2.0]
    """
    first, day, gain, value, _unused = known
    start, public_day, more, public_value, cost = public
    latest = day.max()
    sums, votes = np.zeros(listed.shape), np.zeros(latest + public_day.max() + 1)
    for r in range(len(rows)):
        for c in range(listed.shape[1]):
            who, best = listed[r, c], 0.0
            for b in range(start[rows[r]], start[rows[r] + 1]):
                for a in range(first[who], first[who + 1]):
                    match = gain[a] + more[b]
                    for k in range(value.shape[1]):
                        match -= cost[b, k] * (public_value[b, k] - value[a, k]) ** 2
                    votes[public_day[b] - day[a] + latest] += max(match, 0.0)
            for b in range(start[rows[r]], start[rows[r] + 1]):
                for a in range(first[who], first[who + 1]):
                    shift = public_day[b] - day[a] + latest
                    best = max(best, votes[shift])
                    votes[shift] = 0.0
            sums[r, c] = best
    return sums
