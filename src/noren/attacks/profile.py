"""Everything a period's rows say of who is behind each pseudonym, weighed and added up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
from pydantic import Field

from noren.attacks.assignment import pairs_of
from noren.attacks.by_period import AttackByPeriod, PeriodSides, period_sides
from noren.attacks.copy_model import (
    Solution,
    first_row_counts,
    learnt_copies,
    learnt_row_counts,
    periods_in,
    row_evidence,
)
from noren.data.fits import columns_not_there, of_one_item
from noren.data.frames import History
from noren.data.schema import Role
from noren.i18n import N_, _
from noren.kernels.arrays import Real
from noren.kernels.linkage.copied_rows import CopyEvidence
from noren.kernels.linkage.row_layout import Counts
from noren.kernels.linkage.row_owners import posterior, temperature
from noren.progress import Progress, part_of, silent
from noren.protocols import Guess, Recoding

_LEAST_UNKNOWN = 0.5


class Profile(AttackByPeriod):
    """Weigh every row of a pseudonym against every customer of the same period, and name the likeliest.

    Nothing need fit exactly. A public row with an item that few bought speaks for the customers who bought it in that
    period, the more the nearer its date, time, price and quantity are to theirs and the fewer rows lie as near by
    chance; so does the number of rows. How far copies of rows move in this release, and which share of rows are copies
    at all, is learnt from the data alone: first from rows, whosever they are, then from the pairs that fit best. Rows
    may be moved inside their period, scaled, rounded or deleted; some may be somebody else's; the attacker may know a
    part of the rows, and of items the first characters.

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
    ...             "quantity": [1] * len(days)}
    ...     return History.of(rows, Schema.preset("pwscup2018"))
    >>> known = history(["ann", "ann", "bob", "bob"], [1, 5, 1, 9], ["tea", "jam", "tea", "egg"], [1.0, 2.0, 1.0, 3.0])
    >>> shown = history(["7", "7", "8", "8"], [2, 6, 2, 8], ["tea", "jam", "tea", "egg"], [1.1, 2.1, 0.9, 3.2])
    >>> guess = Profile().attack(known, shown, seed=1)
    >>> sorted(guess.pairs.select("pseudonym", "customer", "period").rows())
    [('7', 'ann', '2010/12'), ('8', 'bob', '2010/12')]
    """

    name = "profile"
    summary = N_("Scores each customer of the period by the likelihood of all rows of a pseudonym; learns the noise.")
    source = "Fellegi and Sunter 1969"
    sees_through = frozenset(
        {Recoding.DELETED_ROWS, Recoding.ADDED_ROWS, Recoding.GENERALISED_CELLS}
        | {Recoding.NOISED_NUMBERS, Recoding.NOISED_DATES, Recoding.CHANGING_PSEUDONYMS}
    )

    shortlist: int = Field(
        default=256, ge=1, description=N_("how many customers are kept for each pseudonym, the likeliest")
    )

    def attack(self, original: History, public: History, *, seed: int, progress: Progress = silent) -> Guess:
        """Name the likeliest customer of each pseudonym and period; nothing is drawn at random."""
        progress(0.0, _("laying out the rows"))
        absent = columns_not_there(original, (Role.ITEM, Role.DATE))
        original, public = of_one_item(original, public)
        sides = period_sides(original, public, self)
        copies = learnt_copies(sides, limit=self.shortlist, progress=part_of(progress, 0.1, 0.7))
        progress(0.7, _("scoring rows"))
        found = row_evidence(sides.known, sides.public, sides.beside, copies, limit=self.shortlist)
        progress(0.9, _("estimating how confident to be"))
        prior, rest = priors(sides, found)
        heat = temperature(found.first, found.halves, prior, rest)
        value = found.halves.sum(axis=1) / heat
        chance = posterior(found.first, value, prior, rest)
        first = first_row_counts(sides)
        counts = learnt_row_counts(sides, _best(found, chance), Counts(first.rate or 1.0, first.chance))
        for period in periods_in(sides):  # what numbers of rows say of each listed pair
            a, b = found.first[period.first], found.first[period.stop]
            table = counts.evidence(period.shown, period.known)[0]
            column = np.searchsorted(period.people, found.person[a:b])
            value[a:b] += table[found.pseudonym[a:b] - period.first, column]
        chance = posterior(found.first, value, prior, rest)
        best = _best(found, chance)
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
    pairs = pairs_of(
        sides.pseudonyms.gather(order),
        sides.customers.gather(best.person[order]),
        best.trust[order],
        pl.Series(list(sides.periods), dtype=pl.String).gather(sides.period[order]),
    )
    return Guess(name, pairs if sides.by_time else pairs.drop("period"), notes)


def priors(sides: PeriodSides, found: CopyEvidence) -> tuple[Real, Real]:
    """Return what is believed of each listed customer, and of all others together, before rows are looked at.

    Any customer of the period is as likely as any other. More pseudonyms than customers: some are of people of whom no
    row is known.
    """
    each = np.zeros(len(sides.period))
    for period in periods_in(sides):
        units, people = period.stop - period.first, len(period.people)
        unknown = max(units - people, _LEAST_UNKNOWN) / max(units, people)
        each[period.first : period.stop] = (1 - unknown) / people
    prior = each[found.pseudonym]
    rest = 1 - np.bincount(found.pseudonym, weights=prior, minlength=len(each))
    return prior, np.maximum(rest, 1e-9)


def _best(found: CopyEvidence, chance: Real) -> Solution:
    """Return the likeliest customer of each pseudonym; of equals the first."""
    best = Solution.empty(len(found.first) - 1)
    unit = found.pseudonym
    order = np.lexsort((found.person, -chance, unit))
    top = order[np.flatnonzero(np.diff(unit[order], prepend=-1))]
    best.person[unit[top]] = found.person[top]
    best.trust[unit[top]] = chance[top]
    best.pays[unit[top]] = True
    return best
