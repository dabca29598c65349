"""Assign pseudonyms to customers whose rows are consistent with all public rows."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching, min_weight_full_bipartite_matching

from noren.attacks.assignment import pairs_of, uniform
from noren.data.compatibility import ConsistentCandidates, consistent_customers
from noren.data.frames import History
from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.kernels.linkage.feasibility import assignable
from noren.progress import Progress, silent
from noren.protocols import Attack, Guess, Recoding

_MOST_PAIRS = 30_000_000
"""Pairs up to which one assignment of all is looked for: about 2 GB."""
_STEPS = 2**20
"""In whole numbers prices rise by whole steps; of other weights by what rounding leaves, for hours."""


class Consistency(Attack):
    """Name a customer who fits every public row of a pseudonym, each customer once.

    For each pseudonym the attacker finds the customers whose rows fit all its public rows, each its own; a release that
    tells the truth leaves the right one among them. Different pseudonyms are different people, so a customer whom every
    assignment gives to another is struck out, and the rest are assigned as a whole: of all one-to-one assignments one
    that leaves the fewest purchases unexplained (rows a customer has and the pseudonym does not), ties drawn by lot.

    The fewer customers are left for a pseudonym, the surer the answer: the score is one over their number, and
    pseudonyms with equal public histories stand together, right or wrong together. Against a k-anonymous release that
    keeps its word no answer is surer than 1/k; against one that generalises each row on its own nearly all are certain.

    References
    ----------
    The attacker of maximum knowledge of S0 §4; the audit is the measure ``classes``.

    Examples
    --------
    Both could be 7, but only Bob has two rows for 8.

    >>> from noren.data.schema import Schema
    >>> def history(customers):
    ...     rows = {"customer": customers, "date": "2010/12/1", "item": "a", "price": [1.0, 1.0, 2.0], "quantity": 1}
    ...     return History.of(rows, Schema.preset("pwscup2018"))
    >>> guess = Consistency().attack(history(["ann", "bob", "bob"]), history(["7", "8", "8"]), seed=1)
    >>> guess.pairs.rows()
    [('7', 'ann', 1.0), ('8', 'bob', 1.0)]
    """

    name = "consistency"
    summary = N_("Assigns each pseudonym a customer whose rows fit all of its public rows, no customer twice.")
    source = "S0"
    sees_through = frozenset({Recoding.DELETED_ROWS, Recoding.GENERALISED_CELLS})

    def attack(self, original: History, public: History, *, seed: int, progress: Progress = silent) -> Guess:
        """Name one customer for each pseudonym that anybody fits; the seed decides between equals."""
        candidates = consistent_customers(original, public, progress)
        pairs = int((candidates.of_history.counts * candidates.sharing).sum())
        if pairs > _MOST_PAIRS:
            raise ParameterError(
                _(
                    "there are {count:,} candidate pairs of a pseudonym and a customer, which is too many; use the "
                    "measures classes and survival, which count candidates by history"
                ).format(count=pairs)
            )
        return self.assign(candidates, seed=seed)

    def assign(self, consistent: ConsistentCandidates, *, seed: int) -> Guess:
        """Turn candidates that were found before into an answer; a second seed costs next to nothing."""
        one_to_one = assignable(consistent.candidates)
        edges = consistent.candidates if one_to_one is None else one_to_one
        pseudonym = customer = np.zeros(0, dtype=np.int64)
        if len(edges.customer):
            known = consistent.known[edges.customer]
            unexplained = 1.0 - consistent.rows[edges.pseudonym] / np.maximum(known, 1)
            weight = 1.0 + np.rint(_STEPS * unexplained)  # 0 would be no edge at all
            every = csr_array((weight, edges.customer, edges.first), shape=(len(edges.first) - 1, edges.customers))
            # lots are drawn by the order, in which searches also meet fewest dead ends, and not by parts of the weights
            lots = uniform(sum(every.shape), seed=seed)
            rows, columns = np.argsort(lots[: every.shape[0]]), np.argsort(lots[every.shape[0] :])
            place = np.empty(len(columns), dtype=np.int32)
            place[columns] = np.arange(len(columns))
            graph = every[rows]
            graph = csr_array((graph.data, place[graph.indices], graph.indptr), shape=graph.shape)
            if one_to_one is None:
                named = maximum_bipartite_matching(graph, perm_type="column") >= 0
                rows, graph = rows[named], graph[named]
            row, column = min_weight_full_bipartite_matching(graph)
            pseudonym, customer = rows[row].astype(np.int64), columns[column].astype(np.int64)
        score = 1.0 / edges.counts[pseudonym]
        order = np.lexsort((pseudonym, consistent.history[pseudonym], -score))
        pairs = pairs_of(consistent.pseudonyms.gather(pseudonym), consistent.customers.gather(customer), score)[order]
        certain = int((edges.counts == 1).sum())
        return Guess(self.name, pairs, {"certain": certain, "one_to_one": one_to_one is not None})
