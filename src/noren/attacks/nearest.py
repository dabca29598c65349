"""Assign pseudonyms to the customers with the nearest rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.optimize import linear_sum_assignment

from noren.attacks.assignment import pairs_of, too_many_pairs, uniform
from noren.data.arrays import exact_values, numbers
from noren.data.compatibility import ComparisonArrays, comparison_arrays
from noren.data.frames import History
from noren.data.schema import Scale
from noren.i18n import N_, _
from noren.kernels.judging.cell_error import population_sd
from noren.kernels.linkage.row_distance import distance_blocks
from noren.progress import Progress, silent
from noren.protocols import NOISE, OTHER_ROWS, Attack, Guess, Recoding

_TIE = 1e-9
_MOST_PAIRS = 10**8


class Nearest(Attack):
    """Name the customers whose rows are nearest to the public rows, all at once.

    The distance between a known row and a public one is what U charges if the one became the other: the expected error
    of a value drawn from each cell. Every public row looks for the customer's nearest row; rows that one side has more
    of cost what a deleted row costs. Then all pseudonyms are assigned at once, one customer each, so that the sum of
    distances is least. Nothing need fit exactly: this attack also works on releases that move values or add noise.

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
        count = len(sides.pseudonyms) * len(sides.customers)
        if count > _MOST_PAIRS:
            raise too_many_pairs(self.name, count, "consistency")
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
        order = np.lexsort((pseudonym, sides.history[pseudonym], -score))
        pairs = pairs_of(sides.pseudonyms.gather(pseudonym), sides.customers.gather(customer), score)[order]
        return Guess(self.name, pairs, {"mean_distance": float(chosen.mean()) if len(chosen) else 0.0})

    def distance_blocks(
        self, original: History, sides: ComparisonArrays, progress: Progress = silent
    ) -> Iterator[NDArray[np.float64]]:
        """Yield how far each customer is from some public histories after another."""
        nominal = np.array([column.scale == Scale.NOMINAL for column in sides.columns])
        sd, width = np.zeros(len(nominal)), np.ones(len(nominal))
        for at in np.flatnonzero(~nominal):
            sd[at] = population_sd(numbers(exact_values(original, sides.columns[at])))
            width[at] = sides.columns[at].grid
        for done, block in distance_blocks(sides.known, sides.public, sd, width, nominal, shortlist=self.shortlist):
            progress(0.1 + 0.8 * done, _("comparing rows"))
            yield block
