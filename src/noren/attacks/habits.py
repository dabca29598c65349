"""What people keep buying: months that were recognised help to recognise the others.

Of a customer whose pseudonyms in some periods are believed to be known, the public rows of those periods show habits:
items that come back, usual quantities and prices, days of the week and times of day. A row of another period that is
like them speaks for the customer, by the same reckoning as a copy of a known row
(:mod:`noren.kernels.linkage.copied_rows`), with chances of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from noren.attacks.by_period import PeriodSides, first_belief, item_shares, levels_of, listed_items
from noren.attacks.copy_model import Scores, Solution, row_evidence
from noren.data.cells import is_interval
from noren.data.frames import History
from noren.data.schema import Role, Scale, ValueType
from noren.kernels.arrays import Real, Whole
from noren.kernels.linkage.copied_rows import CopyEvidence, learn
from noren.kernels.linkage.row_layout import Backgrounds, KnownLayout, PublicLayout, background
from noren.kernels.linkage.row_owners import TEMPERATURES, posterior

_SHARE = 0.2
_LIMIT = 64
_ROUNDS = 2
_SURE = 0.5
_ANY_WEEKDAY = (0.5,)


@dataclass(frozen=True)
class HabitRows:
    """Public rows with their items in full, compared by price, quantity, time of day and day of the week."""

    rows: PublicLayout
    reach: Real
    by_item: NDArray[np.bool_]
    items: int


@dataclass(frozen=True)
class Habits:
    """What habits say: listed pairs as in :class:`~noren.attacks.copy_model.Scores`, and their temperature."""

    scores: Scores
    heat: float


def habit_rows(public: History, sides: PeriodSides) -> HabitRows:
    """Lay out the public rows once more; what was cut from items to meet the knowledge is back."""
    shown = sides.public
    kept = [at for at, c in enumerate(sides.columns) if c.scale == Scale.RATIO or c.type == ValueType.TIME]
    columns = [sides.columns[at] for at in kept]
    reach = levels_of(columns)
    dates = public[Role.DATE].gather(sides.row)
    if is_interval(dates.dtype):  # a range has no day of the week
        first, last = (dates.struct.field(end) for end in ("lo", "hi"))
        dates = first.set(first.ne_missing(last), None)
    weekday = dates.cast(pl.Date).dt.weekday().cast(pl.Float64).fill_null(np.nan).to_numpy()
    lo = np.column_stack([shown.lo[:, kept], np.where(np.isnan(weekday), -np.inf, weekday)])
    hi = np.column_stack([shown.hi[:, kept], np.where(np.isnan(weekday), np.inf, weekday)])
    same = np.full((1, reach.shape[1]), np.inf)
    same[0, : len(_ANY_WEEKDAY)] = _ANY_WEEKDAY
    said = listed_items(public[Role.ITEM], pl.Series(sides.row)).unique(maintain_order=True)
    items = said["item"].rank("dense").cast(pl.Int64).to_numpy() - 1
    many = np.bincount(said["at"].to_numpy(), minlength=len(sides.row))
    rows = replace(shown, lo=lo, hi=hi, item_first=np.concatenate([[0], np.cumsum(many)]).astype(np.int64), item=items)
    by_item = np.array([c.scale == Scale.RATIO for c in columns] + [False])
    return HabitRows(rows, np.concatenate([reach, same]), by_item, int(items.max(initial=-1)) + 1)


def habits(shown: HabitRows, sides: PeriodSides, solution: Solution, unmixed: float) -> Habits:
    """Return what the habits of people as recognised so far say of every pseudonym.

    ``unmixed`` is what they count: 1 at most, less where the rows of a pseudonym are a mixture and show nobody's.
    """
    known, beside = _recognised(shown, sides, solution)
    copies = first_belief(shown.reach, _SHARE)
    found = row_evidence(known, shown.rows, beside, copies, limit=_LIMIT, other_periods=True)
    sure = np.where(solution.trust > _SURE, solution.trust, 0.0)
    for _round in range(_ROUNDS):
        copies = learn(known, shown.rows, beside, copies, solution.person, sure, other_periods=True)
        found = row_evidence(known, shown.rows, beside, copies, limit=_LIMIT, other_periods=True)
    heat = _heat(found, solution.person, sure, len(sides.customers))
    scores = Scores.of(found)
    return Habits(replace(scores, value=scores.value * unmixed / heat), heat)


def _recognised(shown: HabitRows, sides: PeriodSides, solution: Solution) -> tuple[KnownLayout, Backgrounds]:
    """Return the public rows of recognised pseudonyms as rows of their customers, and what is usual beside them."""
    rows = shown.rows
    unit = np.repeat(np.arange(len(sides.period)), rows.counts)
    entry = np.repeat(np.arange(len(rows.begin)), np.diff(rows.item_first))
    named = np.flatnonzero(solution.trust[unit[entry]] > _SURE)
    at = entry[named]
    with np.errstate(invalid="ignore"):
        middle = (rows.lo[at] + rows.hi[at]) / 2
    middle[~np.isfinite(middle)] = np.nan
    size = (shown.items, max(len(sides.periods), 1), len(sides.customers))
    trust = solution.trust[unit[at]]
    known, order = KnownLayout.of(rows.item[named], rows.begin[at], solution.person[unit[at]], middle, trust, size)
    item = rows.item[named][order]
    single = np.diff(rows.item_first) == 1
    its = np.full(len(rows.begin), -1)
    its[single] = rows.item[rows.item_first[:-1][single]]
    anywhere = np.zeros(len(item), np.int64), np.zeros(len(rows.begin), np.int64)
    contexts = [(item, its) if by_item else anywhere for by_item in shown.by_item]
    everywhere = replace(rows, begin=np.zeros_like(rows.begin))
    usual = item_shares(replace(known, first=known.first[:: size[1]], rows=known.rows[:, :2]), everywhere)
    return known, background(known, usual, rows, contexts, shown.reach)


def _heat(found: CopyEvidence, person: Whole, trust: Real, people: int) -> float:
    """Return the temperature at which habits foretell those who were recognised without them best."""
    if not len(found.person) or trust.sum() <= 0:
        return 1.0
    unit = found.pseudonym
    prior = np.full(len(found.person), 1 / people)
    rest = np.maximum(1 - np.diff(found.first) / people, 1e-9)
    right = np.flatnonzero(found.person == person[unit])
    missed = np.ones(len(rest), np.bool_)
    missed[unit[right]] = False
    value = found.halves.sum(axis=1)
    told = []
    for heat in TEMPERATURES:
        chance = posterior(found.first, value / heat, prior, rest)
        left = np.maximum(1 - np.bincount(unit, weights=chance, minlength=len(rest)), 1e-12)
        told.append(trust[unit[right]] @ np.log(chance[right]) + trust[missed] @ np.log(left[missed] / people))
    return float(TEMPERATURES[int(np.argmax(told))])
