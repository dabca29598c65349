"""What every pair of customers costs at least, and exactly where it matters.

Most pairs are far apart and a cheap bound says so. A :class:`PairTable` keeps, for every pair, a lower bound of its
cost and whether the bound is the cost itself; it is asked for exact costs below limits only.

**The cheapest pairs of all, and a proof: matching customers by linear programming over a growing graph.**
The degree relaxation (every customer has pairs of total weight d) is solved on a few candidate pairs. Its dual values
price all others: a pair whose lower bound is at least the sum of its two customers' values cannot improve anything, the
rest are costed exactly and join the graph where they pay. When none is left, the value holds for *all* pairs. For
pairs proper (d = 1, an even number of customers) Edmonds' odd-set inequalities are added where they are violated, until
the solution is a perfect matching: the optimum.

Where very many pairs cost nearly the same, ever more odd sets would be needed. There the relaxation is left as it is:
its value B and the cost M of any perfect matching say which pairs an optimum can hold, those whose reduced cost is at
most M - B, and a blossom algorithm finds the cheapest matching of these (:func:`closed_pairs`): the optimum as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
import rustworkx
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog
from scipy.sparse.csgraph import connected_components, maximum_flow

from noren.kernels.arrays import Real, Whole
from noren.kernels.sharing.alignment import AlignmentCosts, RowArrays, pair_costs

Spread = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]
"""How work is spread: applies a kernel to blocks and gives the answers in order; ``map`` takes one after the other."""
PairCosts = Callable[[RowArrays, AlignmentCosts, Whole, Real], Real | None]
"""Gives what :func:`~noren.kernels.sharing.alignment.pair_costs` does, to the last bit; None where not worth it."""
costs_elsewhere: ContextVar[PairCosts | None] = ContextVar("pair_costs", default=None)
"""Where an engine works out costs of pairs in place of the kernel."""

_BLOCKS = 160


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


def pair_tariff(k: int, *, suppress: bool, medians: bool = False) -> AlignmentCosts:
    """Return pair costs that add up, over all pairs of a group of k, to no more than the group's cost.

    For k = 2 they are the cost. The arguments are in ``docs/theory/generalization.md`` and, for medians, in
    ``docs/theory/microaggregation.md``.

    >>> pair_tariff(2, suppress=True)
    AlignmentCosts(slope=1.0, ceiling=2.0, item=1.0, half_missing=1.0, deletion=1.0)
    """
    each = 1 / (k - 1)
    ceiling = 2 * each if suppress else 1e200
    if medians:
        return AlignmentCosts(each, ceiling, each, each, each)
    return AlignmentCosts(share_of_distances(k), ceiling, 2 / k, each, each)


def item_overlap(rows: RowArrays) -> Real:
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

    def __init__(self, rows: RowArrays, tariff: AlignmentCosts, spread: Spread = map) -> None:
        self.rows, self.tariff, self.spread = rows, tariff, spread
        counts = rows.counts.astype(np.float64)
        fewer = np.minimum(counts[:, None], counts[None, :])
        least_worth = rows.worth.min(initial=np.inf) * tariff.deletion
        differ = tariff.item if rows.item.min(initial=0) >= 0 else min(tariff.item, tariff.half_missing)
        # rows too dear together are left over both, which costs no less than two times the least worth
        differ = min(differ, 2 * least_worth)
        alike = rows
        if len(rows.stratum):  # rows match within a stratum alone
            fewer = item_overlap(rows._replace(item=rows.stratum))
            alike = rows._replace(item=rows.stratum * (int(rows.item.max(initial=0)) + 2) + rows.item + 1)
        left = counts[:, None] + counts[None, :] - 2 * fewer
        self.bound = left * least_worth + differ * (fewer - item_overlap(alike))
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
        elsewhere = costs_elsewhere.get()
        cost = None if elsewhere is None else elsewhere(self.rows, self.tariff, pairs, limits)
        if cost is None:
            cost = np.empty(len(pairs))
            counts = self.rows.counts.astype(np.float64)
            blocks = work_blocks((counts[u] * counts[v] + 50) ** 1.2)
            costs = self.spread(lambda block: pair_costs(self.rows, self.tariff, pairs[block], limits[block]), blocks)
            for block, values in zip(blocks, costs, strict=True):
                cost[block] = values
        known = cost <= limits
        cost = np.where(known, cost, np.maximum(cost, self.bound[u, v]))
        for a, b in ((u, v), (v, u)):
            self.bound[a, b] = cost
            self.exact[a, b] = known
        return known


# --- The cheapest pairs of all, and a proof: matching customers by linear programming over a growing graph ------------


_TIGHT = 1e-7
"""Reduced costs and slacks smaller than this, relative to the mean cost of a pair, are taken for 0 while searching."""
_WHOLE = 1e-6
_FLOW_UNIT = 10**6
_CROWDED = 12
"""Candidate pairs to a customer from which on odd sets are not looked for: the costs tie."""
_MOST_CLOSED = 4 * 10**8
"""Customers times pairs up to which a blossom algorithm closes the gap."""
_UNIT, _FINE_UNIT = 10**7, 10**10
"""The blossom algorithm counts whole numbers: these to a cell, for a start and for a proof."""


@dataclass(frozen=True)
class Factor:
    """A solution of the relaxation."""

    pairs: Whole
    """The pairs chosen, two customers to a line."""
    weight: Real
    """How much of each pair is chosen; all 1 in a perfect matching."""
    bound: float
    """A lower bound of the cost of every solution, over all pairs."""
    value: Real
    """The dual value of each customer."""
    whole: bool
    """Whether all weights are 0 or 1."""


def cheapest_factor(
    table: PairTable,
    degree: int,
    *,
    matching: bool = False,
    patience: float = 0.0,
    report: Callable[[int, float], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Factor:
    """Return the cheapest choice of pairs that gives every customer pairs of total weight ``degree``, or deletes it.

    To delete a customer, who then has no pairs, costs the worth of its rows; part of it, in part.

    Parameters
    ----------
    table
        The pairs' costs; there must be more than ``degree`` customers.
    matching
        Ask for a perfect matching: degree 1, an even number of customers, and nobody is deleted.
    patience
        How much of the bound, as a share, may be given up for an earlier end. The bound returned stays valid.
    report
        Told the number of pairs that still have to be looked at, and the current value.
    stop
        Asked now and then whether to end early; the bound returned is valid, if lower.
    """
    count = len(table.bound)
    price = table.rows.losses
    edges = _first_edges(table, degree)
    sets: list[NDArray[np.bool_]] = []
    while True:
        cost = table.bound[edges[:, 0], edges[:, 1]]
        weight, value, worth, total = _solve(cost, edges, count, degree, sets, None if matching else price)
        solved, solved_sets = edges, sets
        tight = _TIGHT * max(total, 1.0) / count
        limit = value[:, None] + value[None, :]
        held = np.eye(count, dtype=np.bool_)  # which pairs the graph holds, and nobody's with himself
        held[edges[:, 0], edges[:, 1]] = held[edges[:, 1], edges[:, 0]] = True
        open_pairs = np.argwhere(np.triu((table.bound < limit - tight) & ~held))
        missing = -float(np.sum((table.bound - limit)[open_pairs[:, 0], open_pairs[:, 1]]))
        if report is not None:
            report(len(open_pairs), total)
        stopped = stop()
        new = 0
        if missing > patience * total and not stopped:
            promising = _most_promising(table, limit, open_pairs, 3 + degree // 2)
            unknown = promising[~table.exact[promising[:, 0], promising[:, 1]]]
            table.ask(unknown, limit[unknown[:, 0], unknown[:, 1]])
            known = table.exact[promising[:, 0], promising[:, 1]]
            edges = np.concatenate([edges, promising[known]])
            new = int(known.sum())
        broken = bool(np.any((weight > _WHOLE) & (weight < 1 - _WHOLE)))
        more = []
        crowded = not sets and len(edges) > _CROWDED * count
        if matching and broken and not stopped and not crowded and new < max(count // 20, 1):
            more = violated_odd_sets(solved, weight, count)
            sets = [s for s, z in zip(sets, worth, strict=True) if z < 0] + more if len(sets) > count else sets + more
        if stopped or not (more or new or missing > patience * total):
            chosen = weight > _WHOLE
            bound = _dual_value(table, value, worth, solved_sets, degree, None if matching else price)
            return Factor(solved[chosen], weight[chosen], bound, value, whole=not (broken or stopped))


def blossom_pairs(pairs: Whole, costs: Real, count: int, unit: int = _UNIT) -> list[tuple[int, int]]:
    """Return the cheapest perfect matching of ``count`` customers among some pairs, smaller numbers first, in order.

    >>> blossom_pairs(np.array([[0, 1], [1, 2], [2, 3], [0, 3]]), np.array([1.0, 5.0, 1.0, 5.0]), 4)
    [(0, 1), (2, 3)]
    """
    whole = np.rint(costs * unit).astype(np.int64)
    most = int(whole.max(initial=0))
    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from([(u, v, most - c) for (u, v), c in zip(pairs.tolist(), whole.tolist(), strict=True)])
    matching = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    # which of a pair comes first differs from call to call, and so would the order of the pairs
    return sorted((min(pair), max(pair)) for pair in matching)


def closed_pairs(table: PairTable, factor: Factor, pairs: Whole) -> Factor | None:
    """Return the optimum from a relaxation without odd sets and any perfect matching; None where it would take long.

    Whatever holds the pair uv costs at least B + (c_uv - y_u - y_v), B being the relaxation's value over all pairs. So
    no pair for which that exceeds the cost M of the present matching is in an optimum, and the cheapest matching of all
    other pairs is one. The bound is its cost less the rounding of the blossom algorithm.
    """
    count = len(table.bound)
    table.ask(pairs, np.full(len(pairs), 1e280))
    room = float(table.bound[pairs[:, 0], pairs[:, 1]].sum()) - factor.bound + _TIGHT
    limit = factor.value[:, None] + factor.value[None, :] + room
    wanted = np.argwhere(np.triu(table.bound <= limit, 1))
    if len(wanted) * count > _MOST_CLOSED:
        return None
    unknown = wanted[~table.exact[wanted[:, 0], wanted[:, 1]]]
    table.ask(unknown, limit[unknown[:, 0], unknown[:, 1]])
    cost = table.bound[wanted[:, 0], wanted[:, 1]]
    near = table.exact[wanted[:, 0], wanted[:, 1]] & (cost <= limit[wanted[:, 0], wanted[:, 1]])
    best = np.array(blossom_pairs(wanted[near], cost[near], count, _FINE_UNIT), dtype=np.int64).reshape(-1, 2)
    value = float(table.bound[best[:, 0], best[:, 1]].sum())
    bound = max(factor.bound, value - count / _FINE_UNIT)
    return Factor(best, np.ones(len(best)), bound, factor.value, whole=2 * len(best) == count)


def _first_edges(table: PairTable, degree: int) -> Whole:
    """Return some pairs, exactly costed, on which the relaxation has a solution.

    Neighbours by row count always give one: every d + 1 of them paired with one another, what is left over joining the
    last, each pair of a larger clique with less weight. The others are the nearest by a bound that costs a look at all
    pairs of rows but no assignment.
    """
    count = len(table.bound)
    size = degree + 1
    order = np.argsort(table.rows.counts, kind="stable")
    near = min(12 * size + 12, count - 1)
    lists = [np.argpartition(table.bound, near - 1, axis=1)[:, :near]]
    looked = distinct_pairs(np.stack([np.repeat(np.arange(count), near), lists[0].ravel()], axis=1))
    table.ask(looked, np.full(len(looked), -np.inf))
    # bounds of pairs not looked at are no match for those of pairs that were
    scaled = np.full_like(table.bound, np.inf)
    scaled[looked[:, 0], looked[:, 1]] = scaled[looked[:, 1], looked[:, 0]] = table.bound[looked[:, 0], looked[:, 1]]
    few = min(degree + 3, near)
    best = np.argpartition(scaled, few - 1, axis=1)[:, :few]
    edges = [np.stack([np.repeat(np.arange(count), few), best.ravel()], axis=1)]
    groups = np.minimum(np.arange(count) // size, max(count // size, 1) - 1)
    for apart in range(1, min(2 * size, count)):
        together = groups[apart:] == groups[:-apart]
        edges.append(np.stack([order[:-apart][together], order[apart:][together]], axis=1))
    pairs = distinct_pairs(np.concatenate(edges))
    unknown = pairs[~table.exact[pairs[:, 0], pairs[:, 1]]]
    table.ask(unknown, np.full(len(unknown), 1e280))
    return pairs


def distinct_pairs(pairs: Whole) -> Whole:
    """Return pairs, smaller numbers first, each once; nobody's with himself."""
    ordered = np.sort(pairs, axis=1)
    return np.unique(ordered[ordered[:, 0] != ordered[:, 1]], axis=0)


def _most_promising(table: PairTable, limit: Real, pairs: Whole, each: int) -> Whole:
    """Return the pairs that promise most to one of their customers, ``each`` to a customer; few pairs: all of them."""
    count = len(table.bound)
    if len(pairs) <= 2 * each * count // 3:
        return pairs
    promise = (table.bound - limit)[pairs[:, 0], pairs[:, 1]]
    chosen = np.zeros(len(pairs), dtype=np.bool_)
    for side in (0, 1):
        order = np.lexsort((promise, pairs[:, side]))
        who = pairs[order, side]
        rank = np.arange(len(who)) - np.searchsorted(who, who)
        chosen[order[rank < each]] = True
    return pairs[chosen]


def _solve(
    cost: Real, edges: Whole, count: int, degree: int, sets: list[NDArray[np.bool_]], price: Real | None
) -> tuple[Real, Real, Real, float]:
    """Solve the relaxation on the graph; return weights, customers' values, sets' values (≤ 0) and the cost."""
    size = len(edges)
    ends = sparse.csr_array((np.ones(2 * size), (edges.T.ravel(), np.tile(np.arange(size), 2))), shape=(count, size))
    if price is not None:
        ends = sparse.hstack([ends, degree * sparse.eye_array(count)], format="csr")
        cost = np.concatenate([cost, price])
    inside: dict[str, object] = {}
    if sets:
        held = [np.flatnonzero(s[edges[:, 0]] & s[edges[:, 1]]) for s in sets]
        place = np.repeat(np.arange(len(sets)), [len(h) for h in held])
        entries = (np.ones(len(place)), (place, np.concatenate(held)))
        inside["A_ub"] = sparse.csr_array(entries, shape=(len(sets), size))
        inside["b_ub"] = np.array([(s.sum() - 1) // 2 for s in sets], dtype=np.float64)
    most = 1.0 if degree > 1 else None
    solution = linprog(cost, A_eq=ends, b_eq=np.full(count, float(degree)), bounds=(0, most), method="highs", **inside)
    if solution.status != 0:
        raise RuntimeError(f"the relaxation has no solution: {solution.message}")  # a defect, not bad input
    worth = np.asarray(solution.ineqlin.marginals) if sets else np.empty(0)
    return np.asarray(solution.x)[:size], np.asarray(solution.eqlin.marginals), worth, float(solution.fun)


def _dual_value(
    table: PairTable, value: Real, worth: Real, sets: list[NDArray[np.bool_]], degree: int, price: Real | None
) -> float:
    """Return the dual value, corrected so that it holds whatever the solver's rounding.

    ``Σ_u d·y_u + Σ_B z_B·(|B|-1)/2 + Σ_uv min(0, c_uv - y_u - y_v - Σ_{B ∋ u,v} z_B)`` with z ≤ 0 bounds the cost of
    every choice of weights in [0, 1] from below, with any lower bounds in place of the costs c. Where customers may be
    deleted at a price p, ``Σ_u min(0, p_u - d·y_u)`` is added.
    """
    reduced = table.bound - value[:, None] - value[None, :]
    np.fill_diagonal(reduced, 0.0)
    total = degree * value.sum()
    if price is not None:
        total += np.minimum(price - degree * value, 0.0).sum()
    for z, held in zip(np.minimum(worth, 0.0), sets, strict=True):
        if z < 0:
            at = np.flatnonzero(held)
            reduced[np.ix_(at, at)] -= z
            total += z * ((len(at) - 1) // 2)
    return float(total + np.minimum(reduced, 0.0).sum() / 2)


def violated_odd_sets(edges: Whole, weight: Real, count: int) -> list[NDArray[np.bool_]]:
    """Return odd sets of customers that hold more weight than pairs inside them could have.

    First odd components of the pairs that have weight at all; where all are even, the least odd cut of each broken
    component, found by Padberg and Rao's theorem among the cuts of a Gomory-Hu tree. Finds none only if the weights lie
    in the matching polytope.

    >>> triangles = np.array([[0, 1], [0, 2], [1, 2], [3, 4], [3, 5], [4, 5]])
    >>> [np.flatnonzero(s).tolist() for s in violated_odd_sets(triangles, np.full(6, 0.5), 6)]
    [[0, 1, 2], [3, 4, 5]]
    """
    some = weight > _WHOLE
    graph = sparse.coo_array((weight[some], (edges[some, 0], edges[some, 1])), shape=(count, count)).tocsr()
    parts, label = connected_components(graph, directed=False)
    sizes = np.bincount(label, minlength=parts)
    sets = [label == part for part in np.flatnonzero((sizes % 2 == 1) & (sizes > 1))]
    for part in np.flatnonzero((sizes % 2 == 0) & (sizes > 2)):
        at = np.flatnonzero(label == part)
        for cut in _odd_cuts(graph[at][:, at], 1 - 1e-4):
            held = np.zeros(count, dtype=np.bool_)
            held[at[cut]] = True
            sets.append(held)
    return sets


def _odd_cuts(graph: sparse.csr_array, below: float) -> list[Whole]:
    """Return odd sides of the cuts of a Gomory-Hu tree (Gusfield's algorithm) whose weight is under ``below``."""
    size = graph.shape[0]
    both = graph + graph.T
    capacity = sparse.csr_array(np.rint(both.toarray() * _FLOW_UNIT).astype(np.int32))
    parent = np.zeros(size, dtype=np.int64)
    flow = np.zeros(size)
    for i in range(1, size):
        result = maximum_flow(capacity, i, int(parent[i]))
        residual = capacity - result.flow
        residual.eliminate_zeros()
        side = np.zeros(size, dtype=np.bool_)
        side[sparse.csgraph.breadth_first_order(residual, i, return_predecessors=False)] = True
        flow[i] = result.flow_value / _FLOW_UNIT
        up = parent[i]
        move = side & (parent == up)
        move[[0, i]] = False
        parent[np.flatnonzero(move)] = i
        if side[parent[up]]:
            parent[i], parent[up] = parent[up], i
            flow[i], flow[up] = flow[up], flow[i]
    cuts = []
    for i in range(1, size):
        if flow[i] < below:
            at = np.arange(size)
            while not np.isin(at, (0, i)).all():  # up to i, or to the tree's top, vertex 0
                at = np.where(at == i, i, parent[at])
            side = at == i
            if side.sum() % 2 == 1:
                cuts.append(np.flatnonzero(side if side.sum() <= size // 2 else ~side))
    return [cut for cut in cuts if len(cut) > 1]
