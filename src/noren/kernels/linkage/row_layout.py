"""Known rows by item and period, public rows by pseudonym, and what any public row looks like beside a known one.

Numbers stand for everything. A public cell is a range ``lo … hi``; one that is suppressed goes from -inf to inf.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from noren.kernels.arrays import Real, Whole
from noren.kernels.compiling import kernel
from noren.kernels.ordered import first_above, first_from

__all__ = ["Backgrounds", "KnownLayout", "PublicLayout", "background"]


_MEAN_ROWS = 3.0
"""What is typical of all values counts as so many rows beside those of the item or period."""


@dataclass(frozen=True)
class KnownLayout:
    """Rows of known people by item, then period, then person.

    Attributes
    ----------
    first
        Where the rows of each item and period start (place ``item·periods + period``), and where the last ones end.
    person, values
        The person of each row, and one number per column; NaN where the cell is not known.
    weight
        How much each row counts: 1, or the chance that it is the person's.
    rows
        For each person, the weight of rows before each period, and in all.
    """

    first: Whole
    person: Whole
    values: Real
    weight: Real
    rows: Real

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


@dataclass(frozen=True)
class PublicLayout:
    """Public rows, pseudonym by pseudonym.

    Attributes
    ----------
    first
        Where the rows of each pseudonym start, and where the last one's end.
    begin, end
        The first and the last period that each row may belong to.
    lo, hi
        What each cell allows.
    item_first, item
        Where the items of each row start in ``item``; a set has several, a suppressed cell none.
    half
        0 or 1: which half of its pseudonym's evidence a row belongs to.
    """

    first: Whole
    begin: Whole
    end: Whole
    lo: Real
    hi: Real
    item_first: Whole
    item: Whole
    half: Whole

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

    Parameters
    ----------
    item_share
        Of each known row, the share of public rows of its period that have its item.
    contexts
        Of each column, the group of rows within which it is compared: that of each known row and of each public one
        (below 0: none).
    reach
        For each column the largest distance of each level, rising; the last is infinite.
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
        within = np.zeros((len(once), reach.shape[1]))
        _within(start, lo, hi, ours[once], x[once], reach[c], within)
        counts = np.diff(within, axis=1, prepend=0.0)
        of_all = np.bincount(place[:, c] - used, minlength=len(once)) @ counts
        mean = (of_all + 1e-3) / (of_all + 1e-3).sum()
        shares.append((counts + _MEAN_ROWS * mean) / (counts.sum(axis=1, keepdims=True) + _MEAN_ROWS))
        used += len(once)
    return Backgrounds(reach, place, np.concatenate(shares) if shares else np.zeros((0, reach.shape[1])), item_share)


@kernel()
def _within(start: Whole, lo: Real, hi: Real, group: Whole, x: Real, reach: Real, counts: Real) -> None:
    """Write how many ranges of the group lie within each reach of x; none where x is not known."""
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
