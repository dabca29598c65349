"""What every pair of customers costs at least, and exactly where it matters.

Most pairs are far apart and a cheap bound says so. A :class:`PairTable` keeps, for every pair, a lower bound of its
cost and whether the bound is the cost itself; it is asked for exact costs below limits only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from noren.kernels.arrays import Real, Whole
from noren.kernels.sharing.alignment import LaidRows, Tariff, pair_costs

__all__ = [
    "PairCosts",
    "PairTable",
    "Spread",
    "costs_elsewhere",
    "in_turn",
    "item_overlap",
    "pair_tariff",
    "share_of_distances",
    "work_blocks",
]

Spread = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
"""How work is spread: applies a kernel to blocks and gives the answers in order."""
PairCosts = Callable[[LaidRows, Tariff, Whole, Real], Real | None]
"""Gives what :func:`~noren.kernels.sharing.alignment.pair_costs` writes, to the last bit; None where not worth it."""
costs_elsewhere: ContextVar[PairCosts | None] = ContextVar("pair_costs", default=None)
"""Where an engine works out costs of pairs in place of the kernel."""

_BLOCKS = 160


def in_turn(kernel: Callable[[Any], Any], blocks: Iterable[Any]) -> Iterator[Any]:
    """Apply ``kernel`` to one block after the other."""
    return map(kernel, blocks)


def share_of_distances(k: int) -> float:
    """Return the largest α such that k values in an interval cost, in sum, at least α times their distances in sum.

    The mean distance of x from a uniform point of [0, 1] is x² − x + 1/2. For sorted values the distances of all pairs
    add up to Σ_i d_i·x_i with d_i = 2i − k − 1, so ``Σ (x_i² − x_i + 1/2) − α Σ d_i x_i`` is least at
    x_i = (1 + α·d_i)/2, cut to [0, 1], which is sorted too. α is where that least value is 0. (On a grid an interval
    costs more; values need not touch its ends.) α(2) = 1, α(3) = 5/8, and α(k)·k tends to a constant below 2.

    >>> round(share_of_distances(2), 9), round(share_of_distances(3), 9)
    (1.0, 0.625)
    """
    d = 2.0 * np.arange(1, k + 1) - k - 1
    lo, hi = 0.0, 1.0
    for _ in range(60):
        middle = (lo + hi) / 2
        x = np.clip((1 + middle * d) / 2, 0, 1)
        if np.sum(x * x - x + 0.5 - middle * d * x) >= 0:
            lo = middle
        else:
            hi = middle
    return lo if hi < 1 else 1.0


def pair_tariff(k: int, *, suppress: bool, medians: bool = False) -> Tariff:
    """Return pair costs that add up, over all pairs of a group of k, to no more than the group's cost.

    For k = 2 they are the cost. The arguments are in ``docs/theory/generalization.md`` and, for medians, in
    ``docs/theory/microaggregation.md``.

    >>> pair_tariff(2, suppress=True)
    Tariff(slope=1.0, ceiling=2.0, item=1.0, half_missing=1.0, deletion=1.0)
    """
    each = 1 / (k - 1)
    ceiling = 2 * each if suppress else 1e200
    if medians:
        return Tariff(each, ceiling, each, each, each)
    return Tariff(share_of_distances(k), ceiling, 2 / k, each, each)


def item_overlap(rows: LaidRows) -> Real:
    """Return for every two customers how many rows they can match on equal items at most (missing ones are equal)."""
    people = len(rows.start) - 1
    who = np.repeat(np.arange(people), rows.counts)
    shape = (people, int(rows.item.max(initial=-1)) + 2)
    bought = sparse.csr_array((np.ones(len(who)), (who, rows.item + 1)), shape=shape)
    bought.sum_duplicates()
    overlap = np.zeros((people, people))
    while bought.nnz:  # Σ min(a, b) = Σ_t [a ≥ t][b ≥ t]
        at_least = bought.copy()
        at_least.data = np.ones_like(at_least.data)
        overlap += (at_least @ at_least.T).toarray()
        bought.data -= 1
        bought.eliminate_zeros()
    return overlap


def work_blocks(work: Real, count: int = _BLOCKS) -> list[Whole]:
    """Cut jobs into blocks of like work, the largest jobs first, so that all cores end together."""
    order = np.argsort(-work, kind="stable")
    done = np.cumsum(work[order])
    if not len(work):
        return []
    cuts = np.searchsorted(done, np.linspace(0, done[-1], count + 1)[1:-1])
    return [block for block in np.split(order, cuts) if len(block)]


class PairTable:
    """Lower bounds of the costs of all pairs, tightened on demand.

    ``bound[u, v]`` never exceeds the cost of the pair; where ``exact[u, v]`` holds it is the cost. The diagonal is out
    of reach. The first bounds count rows left over and items that cannot agree.
    """

    def __init__(self, rows: LaidRows, tariff: Tariff, spread: Spread = in_turn) -> None:
        self.rows, self.tariff, self.spread = rows, tariff, spread
        counts = rows.counts.astype(np.float64)
        fewer = np.minimum(counts[:, None], counts[None, :])
        least_worth = rows.worth.min(initial=np.inf) * tariff.deletion
        differ = tariff.item if rows.item.min(initial=0) >= 0 else min(tariff.item, tariff.half_missing)
        # rows too dear together are left over both, which costs no less than two times the least worth
        differ = min(differ, 2 * least_worth)
        self.bound = np.abs(counts[:, None] - counts[None, :]) * least_worth + differ * (fewer - item_overlap(rows))
        np.fill_diagonal(self.bound, np.inf)
        self.exact = np.eye(len(counts), dtype=np.bool_)

    def and_nobody(self) -> PairTable:
        """Return the table with one more customer, who has no rows; what is known stays known."""
        whole = PairTable(self.rows.and_nobody(), self.tariff, self.spread)
        whole.bound[:-1, :-1], whole.exact[:-1, :-1] = self.bound, self.exact
        return whole

    def ask(self, pairs: Whole, limits: Real) -> NDArray[np.bool_]:
        """Find the costs of pairs exactly up to their limits; return which are."""
        u, v = pairs[:, 0], pairs[:, 1]
        found = self._costs(pairs, limits)
        known = found <= limits
        found = np.where(known, found, np.maximum(found, self.bound[u, v]))
        for a, b in ((u, v), (v, u)):
            self.bound[a, b] = found
            self.exact[a, b] = known
        return known

    def _costs(self, pairs: Whole, limits: Real) -> Real:
        """Return the costs of pairs; beyond its limit a lower bound that exceeds the limit."""
        elsewhere = costs_elsewhere.get()
        given = None if elsewhere is None else elsewhere(self.rows, self.tariff, pairs, limits)
        if given is not None:
            return given
        counts = self.rows.counts.astype(np.float64)
        blocks = work_blocks((counts[pairs[:, 0]] * counts[pairs[:, 1]] + 50) ** 1.2)

        def costs(block: Whole) -> Real:
            values = np.empty(len(block))
            pair_costs(self.rows, self.tariff, pairs[block], limits[block], values)
            return values

        found = np.empty(len(pairs))
        for block, values in zip(blocks, self.spread(costs, blocks), strict=True):
            found[block] = values
        return found
