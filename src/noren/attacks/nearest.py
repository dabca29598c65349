"""Assign pseudonyms to the customers with the nearest rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field
from scipy.optimize import linear_sum_assignment

from noren.attacks.assignment import pairs_of, uniform
from noren.attacks.profile import likeliest_customers
from noren.data.arrays import exact_values, numbers, people
from noren.data.compatibility import ComparisonArrays, comparison_arrays
from noren.data.frames import History
from noren.data.schema import Role, Scale
from noren.i18n import N_, _
from noren.kernels.arrays import Real, Whole
from noren.kernels.judging.cell_error import population_sd
from noren.kernels.linkage.assignment import best_listed
from noren.kernels.linkage.feasibility import Candidates
from noren.kernels.linkage.row_distance import distance_blocks
from noren.progress import Progress, silent
from noren.protocols import NOISE, OTHER_ROWS, Attack, Guess, Recoding

_TIE = 1e-9
_MOST_PAIRS = 20_000_000
"""Pairs up to which all are compared."""


class Nearest(Attack):
    """Name the customers whose rows are nearest to the public rows, all at once.

    The distance between a known row and a public one is what U charges if the one became the other: the expected error
    of a value drawn from each cell. Every public row looks for the customer's nearest row; rows that one side has more
    of cost what a deleted row costs. Then all pseudonyms are assigned at once, one customer each, so that the sum of
    distances is least. Nothing need fit exactly: this attack also works on releases that move values or add noise.

    Of more than 20 million pairs, each pseudonym is compared with the customers that are likeliest by all its rows (the
    evidence of :class:`~noren.attacks.profile.Profile`, whatever the period), and given one of them.

    The score is the margin, per public row, by which the named customer is nearer than the next: near 0 where others
    are as near, as in a class of equal histories.

    References
    ----------
    S0 §2.4.2 for the distance; the assignment is the classic linear one.

    Examples
    --------
    7's price is nearer to Ann's, 8's to Bob's, though both moved.

    >>> from noren.data.schema import Schema
    >>> def history(customers, prices):
    ...     rows = {"customer": customers, "date": "2010/12/1", "item": "a", "price": prices, "quantity": 1}
    ...     return History.of(rows, Schema.preset("pwscup2018"))
    >>> guess = Nearest().attack(history(["ann", "bob"], [1.0, 9.0]), history(["7", "8"], [2.0, 6.0]), seed=1)
    >>> guess.pairs.select("pseudonym", "customer").rows()
    [('7', 'ann'), ('8', 'bob')]
    """

    name = "nearest"
    summary = N_("Assigns pseudonyms to the customers whose rows are nearest, all at once.")
    source = "S0"
    cost = 300.0
    sees_through = OTHER_ROWS | NOISE | {Recoding.GENERALISED_CELLS}

    shortlist: int = Field(default=32, ge=1, description=N_("number of candidates per pseudonym, the best first"))

    def attack(self, original: History, public: History, *, seed: int, progress: Progress = silent) -> Guess:
        """Name one customer for each pseudonym; the seed decides between equals."""
        progress(0.0, _("preparing rows"))
        sides = comparison_arrays(original, public)
        if len(sides.pseudonyms) * len(sides.customers) > _MOST_PAIRS:
            return self._among_likeliest(original, sides, seed, progress)
        nobody = np.zeros((0, len(sides.customers)))
        distances = np.concatenate([nobody, *self.distance_blocks(original, sides, progress)])
        cost = distances[sides.history]
        tied = cost + _TIE * uniform(cost.size, seed=seed).reshape(cost.shape)
        pseudonym, customer = linear_sum_assignment(tied)
        chosen = cost[pseudonym, customer]
        others = cost[pseudonym]
        others[np.arange(len(pseudonym)), customer] = np.inf
        following = others.min(axis=1, initial=np.inf)
        rows = np.maximum(sides.public.counts[sides.history][pseudonym], 1)
        # with one customer in all there is no next one, and no doubt
        score = np.where(np.isfinite(following), (following - chosen) / rows, 1.0)
        return self._answer(sides, pseudonym, customer, score, chosen)

    def _answer(self, sides: ComparisonArrays, pseudonym: Whole, customer: Whole, score: Real, chosen: Real) -> Guess:
        order = np.lexsort((pseudonym, sides.history[pseudonym], -score))
        pairs = pairs_of(sides.pseudonyms.gather(pseudonym), sides.customers.gather(customer), score)[order]
        return Guess(self.name, pairs, {"mean_distance": float(chosen.mean()) if len(chosen) else 0.0})

    def _among_likeliest(self, original: History, sides: ComparisonArrays, seed: int, progress: Progress) -> Guess:
        """Compare each pseudonym with its likeliest customers alone, and assign these."""
        likely, evidence = likeliest_customers(original, sides.once, limit=self.shortlist)
        names = (people(sides.once[Role.CUSTOMER])[1], likely.pseudonyms), (sides.customers, likely.customers)
        history, who = (
            some.cast(pl.Enum(every.cast(pl.String))).to_physical().cast(pl.Int64).to_numpy() for every, some in names
        )
        pair = np.lexsort((evidence.person, history[evidence.pseudonym]))
        counts = np.bincount(history[evidence.pseudonym], minlength=len(sides.public.counts))
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        listed = Candidates(first, who[evidence.person[pair]], len(sides.customers))
        nothing = np.zeros(0)
        distances = np.concatenate([nothing, *self.distance_blocks(original, sides, progress, listed)])
        # pseudonyms of one history share its candidates
        place = Candidates(first, np.arange(len(distances)), 0).take(sides.history)
        row, column, cost = place.pseudonym, listed.customer[place.customer], distances[place.customer]
        shape = len(sides.pseudonyms), len(sides.customers)
        farthest = np.zeros(shape[0])
        np.maximum.at(farthest, row, cost)
        # to have any is worth more than to have the nearest; the order, which is drawn, decides between equals
        lots = uniform(sum(shape), seed=seed)
        lot, other_lot = (np.argsort(np.argsort(side)) for side in (lots[: shape[0]], lots[shape[0] :]))
        at = best_listed(lot[row], other_lot[column], 1.0 + 2 * farthest[row] - cost, shape)
        at = at[np.argsort(row[at])]
        others = cost.copy()
        others[at] = np.inf
        following = np.full(shape[0], np.inf)
        np.minimum.at(following, row, others)
        rows = np.maximum(sides.public.counts[sides.history][row[at]], 1)
        score = np.where(np.isfinite(following[row[at]]), (following[row[at]] - cost[at]) / rows, 1.0)
        return self._answer(sides, row[at], column[at], score, cost[at])

    def distance_blocks(
        self, original: History, sides: ComparisonArrays, progress: Progress = silent, listed: Candidates | None = None
    ) -> Iterator[NDArray[np.float64]]:
        """Yield how far each customer is from some public histories after another, or of each the listed ones."""
        nominal = np.array([column.scale == Scale.NOMINAL for column in sides.columns])
        sd, width = np.zeros(len(nominal)), np.ones(len(nominal))
        for at in np.flatnonzero(~nominal):
            sd[at] = population_sd(numbers(exact_values(original, sides.columns[at])))
            width[at] = sides.columns[at].grid
        rows = sides.known, sides.public, sd, width, nominal
        for done, block in distance_blocks(*rows, shortlist=self.shortlist, listed=listed):
            progress(0.1 + 0.8 * done, _("comparing rows"))
            yield block
