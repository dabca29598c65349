"""The customer whose items are most like what a pseudonym shows (S2, Algorithm 1)."""

from __future__ import annotations

import numpy as np
import polars as pl
from pydantic import Field

from noren.attacks.assignment import pairs_of
from noren.data.arrays import item_set_arrays
from noren.data.frames import History
from noren.data.schema import Role
from noren.engines.accelerated.device import accelerator_for
from noren.engines.accelerated.sets import most_similar_sets, pairs_pay
from noren.engines.blocks import map_blocks
from noren.engines.choice import chosen_engine
from noren.i18n import N_, _
from noren.kernels.linkage.jaccard import NOBODY, in_equal_runs, index_of, most_similar
from noren.progress import Progress, silent
from noren.protocols import NOISE, OTHER_ROWS, Attack, Guess, Recoding

_BLOCK = 512


class Jaccard(Attack):
    """Name for each pseudonym the customer whose set of items is most similar to the pseudonym's.

    What somebody bought in a year is nearly unique: two customers of PWS Cup 2016 share 4 items of 65. Dates, prices
    and quantities may change as they like, rows may be dropped and added: as long as what a pseudonym shows is more
    like its own customer's items than like anybody else's, it is found. Similarity is the Jaccard coefficient: the
    items that both have over the items that either has.

    Every pseudonym is asked for on its own, so one customer may be named for several. Of equally similar customers the
    one who appears first in the original is named; nothing is drawn, and the seed changes nothing. A pseudonym that
    shares no item with anybody is not named. Where a cell is a set of s items each counts 1/s, by the row that says
    most, and the similarity is the sum of the smaller weights over the sum of the larger; for exact items that is the
    Jaccard coefficient itself.

    The answer is exact, and found without comparing all with all: see :mod:`noren.kernels.linkage.jaccard`. With
    ``--engine gpu`` all are compared with all, and the answer is the same (:mod:`noren.engines.accelerated.sets`).

    References
    ----------
    S2 §2.2, Algorithm 1; Table 1 has what it found in the contest.

    Examples
    --------
    Ann bought a, b, c and Bob c, d. Pseudonym 7 shows b, c, e: two of four items are Ann's, one of four Bob's.

    >>> from noren.data.schema import Schema
    >>> def history(customers, items):
    ...     rows = {"customer": customers, "date": "2010/12/1", "item": items, "price": 1.0, "quantity": 1}
    ...     return History.of(rows, Schema.preset("pwscup2018"))
    >>> original = history(["ann", "ann", "ann", "bob", "bob"], ["a", "b", "c", "c", "d"])
    >>> Jaccard(candidates=2).attack(original, history(["7"] * 3, ["b", "c", "e"]), seed=1).pairs.rows()
    [('7', 'ann', 0.5, 1), ('7', 'bob', 0.25, 2)]
    """

    name = "jaccard"
    summary = N_("Names the customer whose set of items is most similar to the pseudonym's.")
    source = "S2"
    roles = (Role.ITEM,)
    sees_through = (
        OTHER_ROWS | NOISE | {Recoding.GENERALISED_CELLS, Recoding.SHIFTED_DATES, Recoding.CHANGING_PSEUDONYMS}
    )

    candidates: int = Field(
        default=1, ge=1, le=1_000, description=N_("number of candidates per pseudonym, the best first")
    )

    def attack(self, original: History, public: History, *, seed: int, progress: Progress = silent) -> Guess:
        """Name the most similar customer for each pseudonym; the seed has nothing to decide."""
        progress(0.0, _("preparing rows"))
        sides = item_set_arrays(original, public)
        progress(0.2, _("comparing rows"))
        shape = (len(sides.pseudonyms), min(self.candidates, max(len(sides.customers), 1)))
        accelerator = accelerator_for(chosen_engine(), pays=pairs_pay(len(sides.pseudonyms), len(sides.customers)))
        if accelerator is not None:
            customer, score = most_similar_sets(
                accelerator, sides.known, sides.released, sides.items, shape[1],
                lambda done: progress(0.2 + 0.8 * done, _("comparing rows")),
            )  # fmt: skip
        else:
            index = index_of(sides.known, sides.items)
            customer, score = np.full(shape, NOBODY, dtype=np.int64), np.zeros(shape)
            # pseudonyms of one class show equal sets, and one search answers for all of them
            order = in_equal_runs(sides.released)
            blocks = [order[start : start + _BLOCK] for start in range(0, len(order), _BLOCK)]
            matches = map_blocks(lambda which: most_similar(index, sides.released, which, shape[1]), blocks)
            for done, (which, best) in enumerate(zip(blocks, matches, strict=True), start=1):
                customer[which], score[which] = best
                progress(0.2 + 0.8 * done / len(blocks), _("comparing rows"))
        # everybody's first answer, surest first, then the second ones, and so on
        pseudonym = np.tile(np.arange(customer.shape[0]), customer.shape[1])
        rank = np.repeat(np.arange(1, customer.shape[1] + 1), customer.shape[0])
        who, how = customer.T.ravel(), score.T.ravel()
        order = np.lexsort((pseudonym, -how, rank))
        order = order[who[order] != NOBODY]
        pairs = pairs_of(
            sides.pseudonyms.cast(pl.String).gather(pseudonym[order]),
            sides.customers.cast(pl.String).gather(who[order]),
            how[order],
        )
        if self.candidates > 1:
            pairs = pairs.with_columns(pl.Series("rank", rank[order]))
        first = score[:, 0] if score.size else np.zeros(0)
        notes = {
            "unlike_anybody": int((customer[:, :1] == NOBODY).sum()),
            "mean_similarity": float(first.mean()) if len(first) else 0.0,
        }
        return Guess(self.name, pairs, notes)
