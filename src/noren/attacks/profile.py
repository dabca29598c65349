"""Score customers by the likelihood of all rows of a pseudonym in a period."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from noren.attacks.assignment import pairs_of
from noren.attacks.by_period import AttackByPeriod, PeriodSides, first_belief, period_sides
from noren.data.compatibility import missing_columns, with_item_column
from noren.data.frames import History
from noren.data.schema import Role
from noren.engines.accelerated.device import accelerator_for
from noren.engines.accelerated.evidence import weighed_rows
from noren.engines.choice import chosen_engine
from noren.i18n import N_, _
from noren.kernels.arrays import Real, Whole
from noren.kernels.linkage.assignment import best_listed, best_pairs, fair_listed_shares, fair_shares
from noren.kernels.linkage.copied_rows import Copies, CopyEvidence, evidence, learn, odds_of, plain_arrays
from noren.kernels.linkage.row_layout import Backgrounds, Counts, KnownLayout, PublicLayout, first_counts, kept_share
from noren.kernels.linkage.row_owners import posterior, temperature
from noren.progress import Progress, part_of, silent
from noren.protocols import NOISE, OTHER_ROWS, Guess, Recoding

_LEAST_UNKNOWN = 0.5


class Profile(AttackByPeriod):
    """Weigh every row of a pseudonym against every customer of the same period, and name the likeliest.

    Nothing need fit exactly. A public row with an item that few bought speaks for the customers who bought it in that
    period, the more the nearer its date, time, price and quantity are to theirs and the fewer rows lie as near by
    chance; so does the number of rows. How far copies of rows move in this release, and which share of rows are copies
    at all, is learnt from the data alone: first from rows, whosever they are, then from the pairs that fit best. Rows
    may be moved inside their period, scaled, rounded or deleted; some may be somebody else's; the attacker may know a
    part of the rows, and of items the first characters.

    In a release with more than 8 million pairs in a period, rare rows look along the known rows nearest to them,
    and the 32 likeliest customers are weighed (:mod:`noren.kernels.linkage.copied_rows`).

    The score is the chance that the customer is the one, among all of the period and those of whom nothing is known;
    the two halves of each pseudonym's rows tell how sure to be. Each pseudonym is judged by itself: two may be
    given to one customer. Of a release under one pseudonym per customer, each period is judged by itself, too; one
    whose dates do not tell periods is judged as a whole, and its answers name none.

    References
    ----------
    Fellegi and Sunter 1969 (likelihood ratios of agreement, learnt without truth); Narayanan and Shmatikov 2008 (rare
    items weigh most, noise hardly matters).

    Examples
    --------
    All prices and dates moved, and everybody bought tea; 7 has jam, too, as Ann has.

    >>> from noren.data.schema import Schema
    >>> def history(customers, days, items, prices):
    ...     rows = {"customer": customers, "date": [f"2010/12/{day}" for day in days], "item": items, "price": prices,
    ...             "quantity": 1}
    ...     return History.of(rows, Schema.preset("pwscup2018"))
    >>> known = history(["ann", "ann", "bob", "bob"], [1, 5, 1, 9], ["tea", "jam", "tea", "egg"], [1.0, 2.0, 1.0, 3.0])
    >>> public = history(["7", "7", "8", "8"], [2, 6, 2, 8], ["tea", "jam", "tea", "egg"], [1.1, 2.1, 0.9, 3.2])
    >>> guess = Profile().attack(known, public, seed=1)
    >>> sorted(guess.pairs.select("pseudonym", "customer", "period").rows())
    [('7', 'ann', '2010/12'), ('8', 'bob', '2010/12')]
    """

    name = "profile"
    summary = N_("Compares customers by the likelihood of all rows of a pseudonym, with a learned noise model.")
    source = "Fellegi and Sunter 1969"
    cost = 100.0
    sees_through = OTHER_ROWS | NOISE | {Recoding.GENERALISED_CELLS, Recoding.CHANGING_PSEUDONYMS}

    shortlist: int = Field(default=256, ge=1, description=N_("number of candidates per pseudonym, the best first"))

    def attack(self, original: History, public: History, *, seed: int, progress: Progress = silent) -> Guess:
        """Name the likeliest customer of each pseudonym and period; nothing is drawn at random."""
        progress(0.0, _("preparing rows"))
        absent = missing_columns(original, (Role.ITEM, Role.DATE))
        original, public = with_item_column(original, public)
        sides = period_sides(original, public, self)
        copies = learnt_copies(sides, limit=self.shortlist, progress=part_of(progress, 0.1, 0.7))
        progress(0.7, _("comparing rows"))
        evidence = row_evidence(sides.known, sides.public, sides.beside, copies, limit=self.shortlist)
        progress(0.9, _("assigning pseudonyms"))
        prior, rest = priors(sides, evidence)
        heat = temperature(evidence.first, evidence.halves, prior, rest)
        value = evidence.halves.sum(axis=1) / heat
        chance = posterior(evidence.first, value, prior, rest)
        first, unit = first_row_counts(sides), evidence.pseudonym
        counts = learnt_row_counts(sides, _best(evidence, chance), Counts(first.rate or 1.0, first.chance))
        for period in periods_in(sides):  # what numbers of rows say of each listed pair
            a, b = evidence.first[period.first], evidence.first[period.stop]
            table, (rows, columns), _usual = period.evidence(counts)
            column = np.searchsorted(period.people, evidence.person[a:b])
            value[a:b] += table[rows[unit[a:b] - period.first], columns[column]]
        chance = posterior(evidence.first, value, prior, rest)
        best = _best(evidence, chance)
        notes: dict[str, Any] = {
            "temperature": heat,
            "copied_share": copies.share,
            "rows_per_known_row": counts.rate,
            "exact_share": {c.name: float(copies.chance[at, 0]) for at, c in enumerate(sides.columns)},
        }
        return answer(self.name, sides, best, notes | absent)


def answer(name: str, sides: PeriodSides, best: Solution, notes: Mapping[str, Any]) -> Guess:
    """Return a solution as a guess, surest first, equals in order of period and pseudonym."""
    named = np.flatnonzero((best.person >= 0) & best.pays)
    order = named[np.argsort(-best.trust[named], kind="stable")]
    whom = sides.customers.gather(best.person[order])
    when = pl.Series(list(sides.periods), dtype=pl.String).gather(sides.period[order])
    pairs = pairs_of(sides.pseudonyms.gather(order), whom, best.trust[order], when)
    return Guess(name, pairs if sides.by_time else pairs.drop("period"), notes)


def priors(sides: PeriodSides, evidence: CopyEvidence) -> tuple[Real, Real]:
    """Return what is believed of each listed customer, and of all others together, before rows are looked at.

    Any customer of the period is as likely as any other. More pseudonyms than customers: some are of people of whom no
    row is known.
    """
    each = np.zeros(len(sides.period))
    for period in periods_in(sides):
        units, people = period.stop - period.first, len(period.people)
        unknown = max(units - people, _LEAST_UNKNOWN) / max(units, people)
        each[period.first : period.stop] = (1 - unknown) / people
    prior = each[evidence.pseudonym]
    rest = 1 - np.bincount(evidence.pseudonym, weights=prior, minlength=len(each))
    return prior, np.maximum(rest, 1e-9)


def _best(evidence: CopyEvidence, chance: Real) -> Solution:
    """Return the likeliest customer of each pseudonym; of equals the first."""
    best = Solution.empty(len(evidence.first) - 1)
    unit = evidence.pseudonym
    order = np.lexsort((evidence.person, -chance, unit))
    top = order[np.flatnonzero(np.diff(unit[order], prepend=-1))]
    best.person[unit[top]] = evidence.person[top]
    best.trust[unit[top]] = chance[top]
    best.pays[unit[top]] = True
    return best


# --- How the release made its public rows of the known ones, learnt from nothing but the two --------------------------
#
# How far dates, prices and quantities move, which share of rows is a copy of a known one: two passes tell. The first
# looks at rows alone, whosever they are; the second assigns pseudonyms to customers, one each, by what the first
# believes, and learns from the pairs it trusts.


_PAYS = 200_000
"""Public rows from which a graphics processor is quicker than one core, which is what the kernel runs on."""


def row_evidence(
    known: KnownLayout,
    public: PublicLayout,
    beside: Backgrounds,
    copies: Copies,
    *,
    limit: int,
    other_periods: bool = False,
) -> CopyEvidence:
    """Return what speaks for each pseudonym and person: see :func:`~noren.kernels.linkage.copied_rows.evidence`."""
    accelerator = accelerator_for(chosen_engine(), pays=len(public.begin) >= _PAYS)
    units = np.bincount(public.begin[public.first[:-1]], minlength=known.periods)
    longest = None
    if ((np.diff(known.rows, axis=1) > 0).sum(axis=0) * units).max(initial=0) > _MOST_CELLS:
        limit, longest = min(limit, _LISTED), _LONGEST * (1 if known.periods > 1 else _WITHOUT_PERIODS)
    if accelerator is None:
        return evidence(known, public, beside, copies, limit=limit, other_periods=other_periods, longest=longest)
    arrays = plain_arrays(known, public, beside, copies)
    most = min(limit, max(len(known.rows), 1))
    return CopyEvidence(*weighed_rows(accelerator, *arrays, odds_of(copies), most, other_periods))


_ROW_ROUNDS = 3
_PAIR_ROUNDS = 2
_ROW_SHARE = 0.9
_PAIR_SHARE = 0.98
_ENOUGH_PAIRS = 4_000_000
_MOST_CELLS = 8_000_000
"""Pairs in a period up to which all are compared. Above, so many rows are looked at and customers listed for each
pseudonym; of rows, a multiple where no period narrows them down."""
_LONGEST, _LISTED, _WITHOUT_PERIODS = 1_024, 32, 4
NOBODY = -1


@dataclass(frozen=True)
class Scores:
    """Scores of pairs of pseudonyms and customers: listed pairs by pseudonym, and one score for all others."""

    first: Whole
    person: Whole
    value: Real
    others: Real

    @property
    def unit(self) -> Whole:
        """The pseudonym of each listed pair."""
        return np.repeat(np.arange(len(self.first) - 1), np.diff(self.first))

    @classmethod
    def of(cls, evidence: CopyEvidence) -> Scores:
        """Take evidence as it is; others share no item, and nothing speaks for them."""
        return cls(evidence.first, evidence.person, evidence.halves.sum(axis=1), np.zeros(len(evidence.first) - 1))


@dataclass(frozen=True)
class Period:
    """One period: its pseudonyms (a range), the customers with known rows in it, and how many rows each has."""

    first: int
    stop: int
    people: Whole
    public_counts: Whole
    known_counts: Whole

    def evidence(self, counts: Counts) -> tuple[Real, tuple[Whole, Whole], Real]:
        """Return what numbers of rows say, by line and column; those of each pseudonym and customer; usual levels."""
        (public, row, pseudonyms), (known, column, people) = (
            np.unique(side, return_inverse=True, return_counts=True) for side in (self.public_counts, self.known_counts)
        )
        table, _level, usual = counts.evidence(public, known, pseudonyms, people)
        return table, (row, column), usual


@dataclass(frozen=True)
class Solution:
    """Whom each pseudonym belongs to (below 0: nobody's), how likely, and whether naming them pays.

    Naming somebody who has no pseudonym costs what a hit gains; it pays where the pair is likelier than that the
    customer has none.
    """

    person: Whole
    trust: Real
    pays: NDArray[np.bool_]

    @classmethod
    def empty(cls, units: int) -> Solution:
        """Name nobody yet."""
        return cls(np.full(units, NOBODY), np.zeros(units), np.zeros(units, np.bool_))


def periods_in(sides: PeriodSides) -> Iterator[Period]:
    """Return the periods that have both pseudonyms and customers."""
    held = np.diff(sides.known.rows, axis=1)
    counts = sides.public.counts
    bounds = np.searchsorted(sides.period, np.arange(len(sides.periods) + 1))
    for at in range(len(sides.periods)):
        first, stop = int(bounds[at]), int(bounds[at + 1])
        people = np.flatnonzero(held[:, at] > 0)
        if stop > first and len(people):
            yield Period(first, stop, people, counts[first:stop], held[people, at].astype(np.int64))


def first_row_counts(sides: PeriodSides) -> Counts:
    """Return what is believed at first of how numbers of rows go together."""
    periods = list(periods_in(sides))
    public, known = (
        np.concatenate([np.zeros(0, np.int64), *(getattr(p, side) for p in periods)])
        for side in ("public_counts", "known_counts")
    )
    return first_counts(
        public, known, sum(kept_share(p.public_counts, p.known_counts) for p in periods) / max(len(public), 1)
    )


def learnt_row_counts(sides: PeriodSides, solution: Solution, counts: Counts) -> Counts:
    """Return what the pairs of a solution say of how numbers of rows go together."""
    periods = list(periods_in(sides))
    if not periods:
        return counts
    usual = np.mean([p.evidence(counts)[2] for p in periods], axis=0)
    units = np.flatnonzero(solution.person >= 0)
    public = sides.public.counts[units]
    known = np.diff(sides.known.rows, axis=1)[solution.person[units], sides.period[units]]
    there = known > 0
    units, public, known = units[there], public[there], known[there]
    return counts.learnt(public, known, counts.levels(public, known), solution.trust[units], usual)


def row_copies(sides: PeriodSides) -> Copies:
    """Return what copies look like by rows alone: each is a copy of some row of its item and period, whosever.

    What share of rows are copies cannot be learnt so, and is taken for most.
    """
    known, public = sides.known, sides.public
    anyone = replace(known, person=np.zeros_like(known.person), rows=known.rows.sum(axis=0, keepdims=True))
    row = np.repeat(np.arange(len(public.begin)), np.diff(public.item_first))
    beside = np.diff(known.first)[public.item * known.periods + public.begin[row]] if len(row) else np.zeros(0)
    # a few pseudonyms are enough where items are cut and every row has thousands beside it
    trust = np.zeros(len(sides.period))
    trust[:: 1 + int(beside.sum()) // _ENOUGH_PAIRS] = 1.0
    copies = first_belief(sides.beside.reach, _ROW_SHARE)
    for _round in range(_ROW_ROUNDS):
        learned = learn(anyone, public, sides.beside, copies, np.zeros(len(trust), np.int64), trust)
        copies = replace(learned, share=_ROW_SHARE)
    return copies


def likeliest_customers(original: History, public: History, *, limit: int) -> tuple[PeriodSides, CopyEvidence]:
    """Return who is likeliest by all rows of each pseudonym, whatever their period: candidates for other attacks."""
    original, public = with_item_column(original, public)
    sides = period_sides(original, public, None)
    return sides, row_evidence(sides.known, sides.public, sides.beside, row_copies(sides), limit=limit)


def learnt_copies(sides: PeriodSides, *, limit: int, progress: Progress = silent) -> Copies:
    """Return what copies look like in this release."""
    progress(0.0, _("learning"))
    known, public, copies = sides.known, sides.public, row_copies(sides)
    copies = replace(copies, share=_PAIR_SHARE)
    for at in range(_PAIR_ROUNDS):
        progress((1 + at) / (1 + _PAIR_ROUNDS), _("learning"))
        scores = Scores.of(row_evidence(known, public, sides.beside, copies, limit=limit))
        solution = Solution.empty(len(sides.period))
        for period in periods_in(sides):
            solve(solution, period, scores, np.zeros((1, 1)))
        copies = learn(known, public, sides.beside, copies, solution.person, solution.trust)
    return copies


def solve(
    solution: Solution,
    period: Period,
    scores: Scores,
    more: Real,
    absent: float | None = None,
    *,
    heat: float = 1.0,
    by: tuple[Whole, Whole] | None = None,
) -> None:
    """Assign the pseudonyms of a period, one customer each, so that most are right; write it into ``solution``.

    ``more`` is evidence beside ``scores`` for each pseudonym and customer of the period, or for the lines and columns
    that ``by`` says they have; ``absent`` what to add for listed customers without known rows in it, who cannot be
    named without; ``heat`` what evidence is divided by.
    """
    a, b = scores.first[period.first], scores.first[period.stop]
    row = np.repeat(np.arange(period.stop - period.first), np.diff(scores.first[period.first : period.stop + 1]))
    person, value, people = scores.person[a:b], scores.value[a:b], period.people
    if absent is not None:
        people = np.concatenate([people, np.setdiff1d(person, people)])
    order = np.argsort(people, kind="stable")
    column = order[np.minimum(np.searchsorted(people, person, sorter=order), len(people) - 1)]
    there = people[column] == person
    row, column, value = row[there], column[there], value[there]
    value = value + np.where(column < len(period.people), 0.0, absent or 0.0)
    size = (period.stop - period.first, len(people))
    others = scores.others[period.first : period.stop]
    if size[0] * size[1] <= _MOST_CELLS:
        table = np.full(size, -np.inf)
        table[:, : len(period.people)] = others[:, None]
        table[row, column] = value
        table[:, : len(period.people)] += more if by is None else more[by[0]][:, by[1]]
        share = fair_shares(table / heat)
        chosen, whom = best_pairs(share)
        trust, assigned_share = share[chosen, whom], share.sum(axis=0)
    else:  # too large for a table: the listed pairs alone, beside all others of the period together
        line, its = by or (np.zeros(size[0], np.int64), np.zeros(len(period.people), np.int64))
        held = np.flatnonzero(column < len(period.people))
        spoken = more[line[row[held]], its[column[held]]]
        value[held] += spoken
        every = np.exp(more / heat) @ np.bincount(its, minlength=more.shape[1])
        left = every[line] - np.bincount(row[held], weights=np.exp(spoken / heat), minlength=size[0])
        with np.errstate(divide="ignore"):
            rest = others / heat + np.log(np.maximum(left, 0.0))
        share = fair_listed_shares(row, column, value / heat, rest, size)
        at = best_listed(row, column, share, size)
        chosen, whom, trust = row[at], column[at], share[at]
        assigned_share = np.bincount(column, weights=share, minlength=size[1])
    # the chance of having none; a customer without known rows has none unless shown
    none = np.maximum(1 - assigned_share, 0.0)
    solution.person[period.first + chosen] = people[whom]
    solution.trust[period.first + chosen] = trust
    solution.pays[period.first + chosen] = trust > none[whom]
