"""Solve every period as one assignment, and use the results of other periods."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field

from noren.attacks.by_period import (
    AttackByPeriod,
    PeriodSides,
    first_belief,
    item_shares,
    levels_of,
    listed_items,
    period_sides,
)
from noren.attacks.profile import (
    Profile,
    Scores,
    Solution,
    answer,
    first_row_counts,
    learnt_copies,
    learnt_row_counts,
    periods_in,
    priors,
    row_evidence,
    solve,
)
from noren.data.cells import is_interval
from noren.data.compatibility import missing_columns, with_item_column
from noren.data.frames import History
from noren.data.schema import Role, Scale, ValueType
from noren.i18n import N_, _
from noren.kernels.arrays import Real, Whole
from noren.kernels.linkage.copied_rows import Copies, CopyEvidence, learn
from noren.kernels.linkage.row_layout import Backgrounds, Counts, KnownLayout, PublicLayout, background
from noren.kernels.linkage.row_owners import OWN_SHARES, TEMPERATURES, Partners, partners, posterior, temperature
from noren.progress import Progress, part_of, silent
from noren.protocols import Guess, Recoding

_CANDIDATES = 6
_OWNER_ROUNDS = 2
_MIXED, _UNMIXED = 0.6, 0.9
_FIRST_SHARES = np.where(OWN_SHARES == 1, 0.5, 0.5 / (len(OWN_SHARES) - 1))


class Linkage(AttackByPeriod):
    """Solve each period as one assignment of pseudonyms to customers, and use the results of other periods.

    The evidence is that of :class:`~noren.attacks.profile.Profile`. Three things are added. All pseudonyms of a period
    are given out at once, so that most are right: a pseudonym that might be Ann's or Bob's is Bob's if another is
    surely Ann's. Rows may have changed hands: the owner of a pseudonym may hold only a part of its rows, the
    rest being those of one partner; how large that part is, is learnt, and where rows alone do not tell the owner from
    the partner, the number of rows does. And anyone who was recognised in some periods shows habits there, which count
    in all others, before and after; so does a pseudonym that comes back, if the data say that it stands for the same
    customer.

    Nothing but what is known and what is public is used. A customer without known rows in a period is named there only
    if other periods point to them and there are more pseudonyms than customers known. Cells where naming does not pay
    (the customer probably has no pseudonym) are left empty. The score is the chance of the pair.

    A release under one pseudonym per customer is the case where every pseudonym comes back. One whose dates do not tell
    periods is solved as a whole.

    References
    ----------
    S3 (repeated releases); Fellegi and Sunter 1969; Sinkhorn 1967 for chances when nobody has two pseudonyms.

    Examples
    --------
    Everybody bought tea and jam at about the same price. In December 7 could be Ann or Bob, but 8 is surely Ann: she
    alone bought eggs.

    >>> from noren.data.schema import Schema
    >>> def history(customers, items):
    ...     rows = {"customer": customers, "date": "2010/12/1", "item": items, "price": 1.0, "quantity": 1}
    ...     return History.of(rows, Schema.preset("pwscup2018"))
    >>> known = history(["ann", "ann", "bob"], ["tea", "egg", "tea"])
    >>> guess = Linkage().attack(known, history(["7", "8", "8"], ["tea", "tea", "egg"]), seed=1)
    >>> sorted(guess.pairs.select("pseudonym", "customer", "period").rows())
    [('7', 'bob', '2010/12'), ('8', 'ann', '2010/12')]
    """

    name = "linkage"
    summary = N_("Solves each period as one assignment problem, allows for swapped rows, and links the periods.")
    source = "S3"
    cost = 1_000.0
    sees_through = Profile.sees_through | {Recoding.SWAPPED_ROWS}

    rounds: int = Field(default=2, ge=0, description=N_("rounds that use the result for one period in the others"))
    shortlist: int = Field(default=256, ge=1, description=N_("number of candidates per pseudonym, the best first"))

    def attack(self, original: History, public: History, *, seed: int, progress: Progress = silent) -> Guess:
        """Name a customer for the pseudonyms of each period; nothing is drawn at random."""
        progress(0.0, _("preparing rows"))
        absent = missing_columns(original, (Role.ITEM, Role.DATE))
        original, public = with_item_column(original, public)
        sides = period_sides(original, public, self)
        copies = learnt_copies(sides, limit=self.shortlist, progress=part_of(progress, 0.05, 0.55))
        progress(0.55, _("comparing rows"))
        puzzle = _Puzzle.of(sides, copies, self.shortlist)
        progress(0.7, _("assigning pseudonyms"))
        puzzle = puzzle.coming_back() if self.rounds else puzzle
        for _round in range(_OWNER_ROUNDS):
            puzzle = puzzle.solved().believing()
        puzzle = puzzle.solved()
        heat = None
        if self.rounds and sides.by_time and len(sides.periods) > 1:
            rows = habit_rows(public, sides)
            # 1 where nearly all rows of a pseudonym are its owner's, and show the owner's habits
            unmixed = float(np.clip((puzzle.shares @ OWN_SHARES - _MIXED) / (_UNMIXED - _MIXED), 0.0, 1.0))
            for at in range(self.rounds):
                progress(0.75 + 0.25 * at / self.rounds, _("comparing rows"))
                scores, heat = habits(rows, sides, puzzle.solution, unmixed)
                puzzle = replace(puzzle, habits=scores).solved()
        notes = {
            "copied_share": copies.share,
            "own_rows": float(puzzle.shares @ OWN_SHARES),
            "rows_per_known_row": puzzle.counts.rate,
            "pseudonyms_come_back": puzzle.back is not None,
            "habit_temperature": heat,
        } | absent
        return answer(self.name, sides, puzzle.solution, notes)


@dataclass(frozen=True)
class _Puzzle:
    """All periods with their evidence, and the solution so far.

    ``back`` groups pseudonyms that come back as the same customer; ``shares`` are the chances of own shares.
    """

    sides: PeriodSides
    plain: Scores
    pairs: Partners
    base: Real
    heat: float
    shares: Real
    counts: Counts
    solution: Solution
    back: Whole | None = None
    habits: Scores | None = None

    @classmethod
    def of(cls, sides: PeriodSides, copies: Copies, limit: int) -> _Puzzle:
        """Weigh the rows; nothing is solved yet."""
        evidence = row_evidence(sides.known, sides.public, sides.beside, copies, limit=limit)
        plain = Scores.of(evidence)
        # the likeliest customers of each pseudonym, below 0 where fewer are listed
        unit = plain.unit
        order = np.lexsort((plain.person, -plain.value, unit))
        rank = np.arange(len(order)) - plain.first[unit[order]]
        best = order[rank < _CANDIDATES]
        likeliest = np.full((len(plain.others), _CANDIDATES), -1)
        likeliest[unit[best], rank[rank < _CANDIDATES]] = plain.person[best]
        pairs = partners(sides.known, sides.public, sides.beside, copies, likeliest)
        base, empty = sides.public.counts * np.log(1 - copies.share), Solution.empty(len(sides.period))
        # what is too sure of itself is explained by rows that changed hands; what is not sure enough is made so
        heat = min(temperature(evidence.first, evidence.halves, *priors(sides, evidence)), 1.0)
        return cls(sides, plain, pairs, base, heat, _FIRST_SHARES, first_row_counts(sides), empty)

    def solved(self) -> _Puzzle:
        """Return the puzzle solved by what is believed."""
        scores = self._scores()
        people = len(self.sides.customers)
        solution = Solution.empty(len(self.sides.period))
        for period in periods_in(self.sides):
            count_evidence, by, _usual = period.evidence(self.counts)
            missing = max(len(period.public_counts) - len(period.people), 0) + 0.5
            absent = np.log(min(missing / max(people - len(period.people), 1), 1.0))
            solve(solution, period, scores, count_evidence, float(absent), heat=self.heat, by=by)
        return replace(self, solution=solution)

    def believing(self) -> _Puzzle:
        """Return the puzzle with what its solution says of row counts and rows that changed hands."""
        # for each pseudonym how likely each own share is, if it is that of the customer named
        person = self.solution.person
        hit = (self.pairs.candidates == person[:, None]) & (person >= 0)[:, None]
        own = self.pairs.owned(self.shares).shares_of(np.where(hit.any(axis=1), hit.argmax(axis=1), -1))
        own[(person >= 0) & ~hit.any(axis=1), -1] = 1.0
        tally = (own * self.solution.trust[:, None]).sum(axis=0) + _FIRST_SHARES
        counts = learnt_row_counts(self.sides, self.solution, self.counts)
        return replace(self, counts=counts, shares=np.asarray(tally / tally.sum()))

    def _scores(self) -> Scores:
        """Return what speaks for each pair, rows that changed hands, pseudonyms that come back and habits included."""
        plain, pairs, owned = self.plain, self.pairs, self.pairs.owned(self.shares)
        unit = plain.unit
        alone = np.log(max(self.shares[0], 1e-12)) + plain.value + self.base[unit]
        value = np.logaddexp(alone, owned.others[unit])
        key = unit * len(self.sides.customers) + plain.person
        row, column = np.nonzero(pairs.candidates >= 0)
        at = np.searchsorted(key, row * len(self.sides.customers) + pairs.candidates[row, column])
        value[at] = owned.whole[row, column]
        others = np.logaddexp(np.log(max(self.shares[0], 1e-12)) + self.base, owned.others)
        others = np.where(np.isfinite(others), others, self.base)
        scores = Scores(plain.first, plain.person, value, others)
        if self.back is not None:
            scores = _pooled(scores, self.back)
        return scores if self.habits is None else _added(scores, self.habits)

    def coming_back(self) -> _Puzzle:
        """Return the puzzle with pseudonyms that come back taken for the same customer's, if the data say so.

        Told by which is likelier: that one customer explains all periods of a pseudonym, or one of its own for each.
        """
        groups = self.sides.pseudonyms.rank("dense").cast(pl.Int64).to_numpy() - 1
        many = np.bincount(groups)
        people = len(self.sides.customers)
        if not people or not (many > 1).any():
            return self
        scores = self._scores()
        apart = _explained(scores, people)[many[groups] > 1].sum()
        first = np.unique(groups, return_index=True)[1]
        together = _explained(_pooled(scores, groups), people)[first][many > 1].sum()
        return replace(self, back=groups) if together > apart else self


# --- lists of pairs ----------------------------------------------------------------------------------------


def _pooled(scores: Scores, groups: Whole) -> Scores:
    """Let all periods of a pseudonym speak for each of them."""
    unit = scores.unit
    people = int(scores.person.max(initial=0)) + 1
    key, place = np.unique(groups[unit] * people + scores.person, return_inverse=True)
    more = np.bincount(place, weights=scores.value - scores.others[unit], minlength=len(key))
    others = np.asarray(np.bincount(groups, weights=scores.others)[groups], np.float64)
    group_first = np.searchsorted(key // people, np.arange(int(groups.max(initial=-1)) + 2))
    size = np.diff(group_first)[groups]
    first = np.concatenate([[0], np.cumsum(size)])
    at = np.arange(first[-1]) - np.repeat(first[:-1] - group_first[groups], size)
    return Scores(first, key[at] % people, more[at] + np.repeat(others, size), others)


def _added(scores: Scores, more: Scores) -> Scores:
    """Return the sum of two lists; what one does not list, it has nothing to say of."""
    people = int(max(scores.person.max(initial=0), more.person.max(initial=0))) + 1
    unit = np.concatenate([scores.unit, more.unit])
    key, place = np.unique(unit * people + np.concatenate([scores.person, more.person]), return_inverse=True)
    above = np.concatenate([scores.value - scores.others[scores.unit], more.value])
    summed = np.bincount(place, weights=above, minlength=len(key))
    first = np.searchsorted(key // people, np.arange(len(scores.others) + 1))
    return Scores(first, key % people, summed + scores.others[key // people], scores.others)


def _explained(scores: Scores, people: int) -> Real:
    """Return how well each pseudonym is explained by one customer, any of them as likely before."""
    unit = scores.unit
    most = scores.others.copy()
    np.maximum.at(most, unit, scores.value)
    listed = np.bincount(unit, weights=np.exp(scores.value - most[unit]), minlength=len(most))
    rest = np.maximum(people - np.diff(scores.first), 0) * np.exp(scores.others - most)
    return np.asarray(np.log((listed + rest) / max(people, 1)) + most)


# --- Habits: months that were recognised help to recognise the others -------------------------------------------------
#
# Of a customer whose pseudonyms in some periods are believed to be known, the public rows of those periods show habits:
# items that come back, usual quantities and prices, days of the week and times of day. A row of another period that is
# like them speaks for the customer, by the same reckoning as a copy of a known row
# (:mod:`noren.kernels.linkage.copied_rows`), with chances of its own.


_HABIT_SHARE = 0.2
_HABIT_LIMIT = 64
_HABIT_ROUNDS = 2
_SURE = 0.5
_ANY_WEEKDAY = (0.5,)


@dataclass(frozen=True)
class HabitRows:
    """Public rows with their items in full, compared by price, quantity, time of day and day of the week."""

    rows: PublicLayout
    reach: Real
    by_item: NDArray[np.bool_]
    items: int


def habit_rows(public: History, sides: PeriodSides) -> HabitRows:
    """Lay out the public rows once more; what was cut from items to meet the knowledge is back."""
    layout = sides.public
    numeric = [at for at, c in enumerate(sides.columns) if c.scale == Scale.RATIO or c.type == ValueType.TIME]
    columns = [sides.columns[at] for at in numeric]
    reach = levels_of(columns)
    dates = public[Role.DATE].gather(sides.row)
    if is_interval(dates.dtype):  # a range has no day of the week
        first, last = (dates.struct.field(end) for end in ("lo", "hi"))
        dates = first.set(first.ne_missing(last), None)
    weekday = dates.cast(pl.Date).dt.weekday().cast(pl.Float64).fill_null(np.nan).to_numpy()
    lo = np.column_stack([layout.lo[:, numeric], np.where(np.isnan(weekday), -np.inf, weekday)])
    hi = np.column_stack([layout.hi[:, numeric], np.where(np.isnan(weekday), np.inf, weekday)])
    same = np.full((1, reach.shape[1]), np.inf)
    same[0, : len(_ANY_WEEKDAY)] = _ANY_WEEKDAY
    public_items = listed_items(public[Role.ITEM], pl.Series(sides.row)).unique(maintain_order=True)
    items = public_items["item"].rank("dense").cast(pl.Int64).to_numpy() - 1
    many = np.bincount(public_items["at"].to_numpy(), minlength=len(sides.row))
    rows = replace(layout, lo=lo, hi=hi, item_first=np.concatenate([[0], np.cumsum(many)]).astype(np.int64), item=items)
    by_item = np.array([c.scale == Scale.RATIO for c in columns] + [False])
    return HabitRows(rows, np.concatenate([reach, same]), by_item, int(items.max(initial=-1)) + 1)


def habits(public_rows: HabitRows, sides: PeriodSides, solution: Solution, unmixed: float) -> tuple[Scores, float]:
    """Return what the habits of people as recognised so far say of every pseudonym, and its temperature.

    ``unmixed`` is what they count: 1 at most, less where the rows of a pseudonym are a mixture and show nobody's.
    """
    known, beside = _recognised(public_rows, sides, solution)
    copies = first_belief(public_rows.reach, _HABIT_SHARE)
    sure = np.where(solution.trust > _SURE, solution.trust, 0.0)
    for _round in range(_HABIT_ROUNDS):
        copies = learn(known, public_rows.rows, beside, copies, solution.person, sure, other_periods=True)
    evidence = row_evidence(known, public_rows.rows, beside, copies, limit=_HABIT_LIMIT, other_periods=True)
    heat = _heat(evidence, solution.person, sure, len(sides.customers))
    scores = Scores.of(evidence)
    return replace(scores, value=scores.value * unmixed / heat), heat


def _recognised(public_rows: HabitRows, sides: PeriodSides, solution: Solution) -> tuple[KnownLayout, Backgrounds]:
    """Return the public rows of recognised pseudonyms as rows of their customers, and what is usual beside them."""
    rows = public_rows.rows
    unit = np.repeat(np.arange(len(sides.period)), rows.counts)
    entry = np.repeat(np.arange(len(rows.begin)), np.diff(rows.item_first))
    named = np.flatnonzero(solution.trust[unit[entry]] > _SURE)
    at = entry[named]
    with np.errstate(invalid="ignore"):
        middle = (rows.lo[at] + rows.hi[at]) / 2
    middle[~np.isfinite(middle)] = np.nan
    size = (public_rows.items, max(len(sides.periods), 1), len(sides.customers))
    trust = solution.trust[unit[at]]
    known, order = KnownLayout.of(rows.item[named], rows.begin[at], solution.person[unit[at]], middle, trust, size)
    item = rows.item[named][order]
    single = np.diff(rows.item_first) == 1
    its = np.full(len(rows.begin), -1)
    its[single] = rows.item[rows.item_first[:-1][single]]
    anywhere = np.zeros(len(item), np.int64), np.zeros(len(rows.begin), np.int64)
    contexts = [(item, its) if by_item else anywhere for by_item in public_rows.by_item]
    everywhere = replace(rows, begin=np.zeros_like(rows.begin))
    usual = item_shares(replace(known, first=known.first[:: size[1]], rows=known.rows[:, :2]), everywhere)
    return known, background(known, usual, rows, contexts, public_rows.reach)


def _heat(evidence: CopyEvidence, person: Whole, trust: Real, people: int) -> float:
    """Return the temperature at which habits foretell those who were recognised without them best."""
    if not len(evidence.person) or trust.sum() <= 0:
        return 1.0
    unit = evidence.pseudonym
    prior = np.full(len(evidence.person), 1 / people)
    rest = np.maximum(1 - np.diff(evidence.first) / people, 1e-9)
    right = np.flatnonzero(evidence.person == person[unit])
    missed = np.ones(len(rest), np.bool_)
    missed[unit[right]] = False
    value = evidence.halves.sum(axis=1)
    likelihoods = []
    for heat in TEMPERATURES:
        chance = posterior(evidence.first, value / heat, prior, rest)
        left = np.maximum(1 - np.bincount(unit, weights=chance, minlength=len(rest)), 1e-12)
        likelihoods.append(trust[unit[right]] @ np.log(chance[right]) + trust[missed] @ np.log(left[missed] / people))
    return float(TEMPERATURES[int(np.argmax(likelihoods))])
