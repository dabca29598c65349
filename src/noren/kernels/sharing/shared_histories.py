"""Who shares a history with whom, and row by row how: the whole search over one block of customers.

Two customers to a group: the optimum of all pairs, proved, customers with equal histories being paired beforehand and
one of an odd number deleted whole; larger groups only where they are cheaper still. Otherwise groups from pair costs,
improved round by round for as long as the budget lasts, beside a lower bound of what anything truthful would cost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noren.kernels.arrays import Real, Whole
from noren.kernels.sharing.alignment import LONG, RowArrays, aligned_pair
from noren.kernels.sharing.grouping import Group, GroupSearch, group_sizes, groups_by_pairs, joined_costs
from noren.kernels.sharing.pairing import (
    Factor,
    PairTable,
    Spread,
    blossom_pairs,
    cheapest_factor,
    closed_pairs,
    distinct_pairs,
    pair_tariff,
)
from noren.kernels.sharing.partitioning import repartitioned, resized
from noren.kernels.sharing.rows import groups_by_count
from noren.progress import Enough

Report = Callable[[float, float], None]
"""Told the share done (0 to 1) and the cost so far (NaN while there is none)."""

_LOOSE = 1.15  # a bound by rows' nearest rows is about so much below the cost of a pair
_COOLING = 0.8  # the share of the rounds in which groups may get dearer
_ROUNDS = 0.75  # the share of the time, where it is limited, after which there are no more rounds
_LOOKED, _ALIGNED = 8, 4  # pairs looked at, for each of k, and aligned, beyond k, for each customer
_ALL_LOOKED = 200  # customers up to which all pairs are looked at, and most that are for one customer
_CELLS_LOOKED = 150_000  # pairs of rows that are looked at for a customer of short history
_BOUNDING = 0.3  # the share of the work that the pair costs take
_PATIENCE = 1e-4  # the share of a bound that is given up for an earlier end
_QUIET = 0.1  # seconds without a word while work goes on


@dataclass(frozen=True)
class Effort:
    """How hard to search."""

    rounds: int
    """Rounds of recombination for each member of a group; without end where seconds are given."""
    starts: int
    """How many groupings by pair costs to choose from."""
    tries: int
    """How many combinations are tried for each part in a round."""
    heat: float
    """How much dearer, as a share of a member's cost, groups may get in the first rounds."""
    seconds: float | None = None
    """The time there is; None for as many rounds as said."""
    steps: int = 12
    """In how many steps groups are priced anew after the rounds, and the best of all are chosen."""


_GLANCE = Effort(rounds=3, starts=1, tries=6, heat=0.0, steps=0)  # enough to see which mixture is the cheapest


@dataclass
class Budget:
    """What is left to spend: seconds, if they are limited, or nothing once somebody said stop."""

    seconds: float | None = None
    stopped: bool = False
    begin: float = field(default_factory=time.monotonic)

    def over(self) -> bool:
        """Tell whether to come to an end."""
        return self.stopped or (self.seconds is not None and time.monotonic() - self.begin >= self.seconds)

    def spent(self) -> float:
        """Return the share of the seconds spent; 0 where they are not limited."""
        return 0.0 if not self.seconds else min((time.monotonic() - self.begin) / self.seconds, 1.0)


@dataclass(frozen=True)
class SharedGroups:
    """Who shares a history with whom."""

    groups: list[Group]
    """The groups; a customer in none of them is deleted whole."""
    cost: float
    """What the groups and the deleted customers cost."""
    bound: float | None
    """For k = 2 a lower bound of what pairs cost, one of an odd number deleted (:func:`least_cost`); else None."""
    proved: bool
    """Whether the cost is the bound."""
    rounds: int
    """How many rounds of recombination there were."""
    anything: float | None = None
    """A lower bound of what any truthful mechanism costs that leaves a posterior of 1/k (``docs/theory``)."""


class _Reporter:
    """Reports, and says the same again where work goes on for long; falls silent once the budget is stopped.

    The share done never falls and the cost never rises, whichever of several searches they are of.
    """

    def __init__(self, report: Report | None, budget: Budget) -> None:
        self.report, self.budget = report, budget
        self.done, self.cost = 0.0, float("nan")
        self.last = time.monotonic()

    def __call__(self, done: float, cost: float) -> None:
        self.done = max(self.done, done)
        self.cost = float(np.fmin(self.cost, cost))
        self.last = time.monotonic()
        if self.report is not None and not self.budget.stopped:
            self.report(self.done, self.cost)

    def during(self, spread: Spread, kernel: Callable[[Any], Any], blocks: Iterable[Any]) -> Iterator[Any]:
        """Spread work and report between its blocks, so that a stop is soon heard."""
        for answer in spread(kernel, blocks):
            if time.monotonic() - self.last > _QUIET:
                self(self.done, self.cost)
            yield answer


def share_histories(
    rows: RowArrays,
    k: int,
    effort: Effort,
    *,
    suppress: bool,
    generator: np.random.Generator,
    budget: Budget,
    heads: Sequence[Sequence[int]] = ((),),
    spread: Spread = map,
    report: Report | None = None,
) -> SharedGroups:
    """Return groups of at least k customers that share one history each, as cheaply as the effort finds.

    Each of ``heads`` holds the sizes of groups that are not of k; of several the one that looks cheapest after a few
    rounds is searched to the end. An interruption from the keyboard, or a report that says enough once there are
    groups, stops the budget, and the best groups so far are returned. Enough said before that passes.

    Pairs come with a lower bound, which is their proof; for larger groups :func:`least_cost` computes one.
    """
    reporter = _Reporter(report, budget)
    means = _Means(effort, suppress, generator, budget, partial(reporter.during, spread), reporter)
    if any(heads) or k > 2:
        table = _pair_table(rows, k, means)
        return _searched(rows, k, _nearness(table, k, means), None, means, heads)
    pairs = _paired(rows, means)
    anything = max(pairs.anything or 0.0, 0.0)
    if budget.over() or not pairs.proved or _meets(pairs.cost, anything):
        return pairs
    # groups of two and three, somebody deleted, where those are cheaper
    inside = np.concatenate([group.members for group in pairs.groups]) if pairs.groups else np.empty(0, dtype=np.int64)
    alone = np.setdiff1d(np.arange(len(rows.counts)), inside)
    search = means.search(rows, pairs.groups, _LOOSE * _pair_table(rows, 2, means).bound)
    search.replace(search.groups + [search.alone(int(u)) for u in alone])
    try:
        reporter(_BOUNDING, pairs.cost)
        if not resized(search, 2, effort.tries):
            return pairs
    except (Enough, KeyboardInterrupt):
        budget.stopped = True
        return pairs
    rounds = _improved(search, 2, effort, budget, reporter, search.affinity)
    return SharedGroups(search.active, search.cost, anything, _meets(search.cost, anything), rounds, pairs.anything)


def least_cost(
    rows: RowArrays, k: int, *, suppress: bool, spread: Spread = map, report: Callable[[], None] = lambda: None
) -> float:
    """Return a lower bound of what any truthful release of these customers costs that leaves a posterior of 1/k.

    It holds for groups of at least k, whoever is in which and whoever is deleted whole (``docs/theory``). It takes
    many times as long as a quick search, and the search does not need it.
    """
    if len(rows.counts) < k:
        return float(rows.losses.sum())
    table = PairTable(rows, pair_tariff(k, suppress=suppress or rows.has_blanks, medians=rows.medians), spread)
    factor = cheapest_factor(table, k - 1, patience=_PATIENCE, report=lambda _left, _cost: report())
    return max(factor.bound, 0.0)


@dataclass(frozen=True)
class _Means:
    """What a search is done with."""

    effort: Effort
    suppress: bool
    generator: np.random.Generator
    budget: Budget
    spread: Spread
    reporter: _Reporter

    def search(self, rows: RowArrays, groups: Sequence[Whole | Group], affinity: Real) -> GroupSearch:
        """Return a search that begins with some groups."""
        return GroupSearch(
            rows, groups, suppress=self.suppress, affinity=affinity, generator=self.generator, spread=self.spread
        )


@dataclass(frozen=True)
class _Nearness:
    """How badly each two customers go together, what they are thought to cost, and of whom that is known."""

    affinity: Real
    estimate: Real
    known: NDArray[np.bool_]


def _nearness(table: PairTable, k: int, means: _Means) -> _Nearness | None:
    """Return what pairs are thought to cost, after a look at the nearest ones of each customer; None without time.

    First bounds say who is near. These pairs are looked at row by row, the nearest of them aligned to the end; all
    others are thought to cost as much more than their first bound as those looked at do.
    """
    if means.budget.over():
        return None
    count, rows = len(table.bound), table.rows
    means.reporter(0.0, float("nan"))
    try:
        first = table.bound.copy()
        looked = _nearest(first, _each(rows, _LOOKED * k, _ALL_LOOKED))
        short = (rows.counts[looked] <= LONG).any(axis=1)
        table.ask(looked[short], np.full(int(short.sum()), -np.inf))
        u, v = looked.T
        cost = _LOOSE * table.bound[u, v]
        if len(far := looked[~short]):  # about what long histories cost in a larger group: a share of a pair's cost
            worth, alone = rows.losses[far].sum(axis=1), rows.histories
            no_limit = np.full(len(far), 1e280)
            joined = joined_costs(rows, means.suppress, alone, alone, far, worth, no_limit, means.spread)
            cost[~short] = table.tariff.item * joined
        # a pair not looked at costs more than its bound in the measure of the others, and no less than its customers'
        # others do in the mean: it was further off than these
        dearer = float(cost.sum()) / max(float(first[u, v].sum()), 1e-9)
        sums = np.bincount(u, cost, count) + np.bincount(v, cost, count)
        mean = sums / np.maximum(np.bincount(u, minlength=count) + np.bincount(v, minlength=count), 1)
        thought: Real = np.maximum(first * max(dearer, 1.0), (mean[:, None] + mean[None, :]) / 2)
        thought[u, v] = thought[v, u] = cost
        means.reporter(_BOUNDING / 2, float("nan"))
        aligned = _nearest(thought, _each(rows, k + _ALIGNED, _ALL_LOOKED // 8))
        aligned = aligned[(rows.counts[aligned] <= LONG).any(axis=1)]
        table.ask(aligned, np.full(len(aligned), 1e280))
    except KeyboardInterrupt:
        means.budget.stopped = True
        return None
    estimate = np.where(table.exact, table.bound, thought)
    own = np.partition(estimate, k - 2, axis=1)[:, : k - 1].mean(axis=1) / 2 if count > k - 1 else np.zeros(count)
    return _Nearness(estimate - own[:, None] - own[None, :], estimate, table.exact.copy())


def _each(rows: RowArrays, least: int, most: int) -> Whole:
    """Return how many others each customer is compared with: more where histories are short, which costs little."""
    others = len(rows.counts) - 1
    many = np.clip(_CELLS_LOOKED // np.maximum(rows.counts, 1) ** 2, least, max(most, least))
    return np.minimum(np.where(others < _ALL_LOOKED, others, many), others)


def _nearest(cost: Real, each: Whole) -> Whole:
    """Return each customer's nearest, so many as are wanted, as pairs that are named once."""
    most = int(each.max(initial=0))
    at = np.argpartition(cost, most - 1, axis=1)[:, :most] if most else np.empty((len(cost), 0), dtype=np.int64)
    at = np.take_along_axis(at, np.argsort(np.take_along_axis(cost, at, axis=1), axis=1, kind="stable"), axis=1)
    who, rank = np.nonzero(np.arange(most)[None, :] < each[:, None])
    return distinct_pairs(np.stack([who, at[who, rank]], axis=1))


def _searched(
    rows: RowArrays,
    k: int,
    near: _Nearness | None,
    factor: Factor | None,
    means: _Means,
    heads: Sequence[Sequence[int]] = ((),),
) -> SharedGroups:
    """Return groups that are good by pair costs, improved for as long as the effort says."""
    effort, budget, report = means.effort, means.budget, means.reporter
    count, mixed = len(rows.counts), any(heads)
    affinity = np.zeros((count, count)) if near is None else near.affinity

    if mixed:
        starts = [group_sizes(count, k, head) for head in heads[: 1 if near is None else None]]
        searches: list[GroupSearch] = []
        try:
            for sizes in starts:
                if near is None:  # the longest histories in the first
                    together = np.split(np.argsort(-rows.counts, kind="stable"), np.cumsum(sizes)[:-1])
                else:
                    together = groups_by_pairs(near.estimate, rows.counts, sizes, effort.starts, means.generator)
                searches.append(means.search(rows, together, affinity))
                if len(starts) > 1:
                    _improved(searches[-1], k, _GLANCE, budget, lambda _done, cost: report(_BOUNDING, cost))
                if budget.stopped:
                    break
        except Enough:
            if not searches:
                raise
            budget.stopped = True
        search = min(searches, key=lambda candidate: candidate.cost)
    else:
        if near is None:
            at = groups_by_count(rows.counts, k)
            together = [np.flatnonzero(at == g) for g in range(at.max() + 1)]
        elif k == 2:
            together = _nearly_pairs(rows, near)
        else:
            sizes = group_sizes(count, k)
            together = groups_by_pairs(near.estimate, rows.counts, sizes, effort.starts, means.generator)
        search = means.search(rows, together, affinity)
    estimate = None if mixed or k == 2 or near is None else near.estimate
    rounds = _improved(search, k, effort, budget, report, estimate)
    if mixed:
        return SharedGroups(search.groups, search.cost, None, proved=False, rounds=rounds)
    bound = max(factor.bound if factor else 0.0, 0.0)
    proved = _meets(search.cost, bound)
    return SharedGroups(search.active, search.cost, bound if k == 2 else None, proved, rounds)


def _pair_table(rows: RowArrays, k: int, means: _Means, *, pairs: bool = False) -> PairTable:
    # a third member's blank suppresses what two others say, and caps what they cost; pairs have no third
    capped = means.suppress or (not pairs and rows.has_blanks)
    return PairTable(rows, pair_tariff(k, suppress=capped, medians=rows.medians), means.spread)


def _priced(table: PairTable, factor: Factor) -> _Nearness:
    """Return what pairs are thought to cost once a relaxation has asked for all that matter."""
    estimate = np.where(table.exact, table.bound, _LOOSE * table.bound)
    return _Nearness(estimate - factor.value[:, None] - factor.value[None, :], estimate, table.exact)


def _paired(rows: RowArrays, means: _Means) -> SharedGroups:
    """Return the cheapest pairs of all, one of an odd number of customers deleted; others if time is short.

    Of an even number nobody need be deleted: two who are deleted could as well be a pair that keeps nothing. Of an odd
    number one more customer is made up, who has no rows; whoever is paired with him is deleted.
    """
    with_twins = _with_twins(rows, means)
    if with_twins is not None:
        return with_twins
    if len(rows.counts) == 1:
        loss = float(rows.worth.sum())
        return SharedGroups([], loss, loss, proved=True, rounds=0)
    table = whole = _pair_table(rows, 2, means, pairs=True)
    pairs_alone = not means.suppress and rows.has_blanks  # what pairs cost says nothing of larger groups then
    free = None
    if len(rows.counts) % 2:
        free = _bounded(table, 2, means, matching=False)
        free = replace(free, bound=0.0) if free and pairs_alone else free
        if free is None or means.budget.over():
            return _searched(rows, 2, _priced(table, free) if free else None, free, means)
        whole = table.and_nobody()
    factor = _bounded(whole, 2, means, matching=True)
    if factor is not None and not factor.whole and not means.budget.over():
        current_pairs = np.array(_nearly_pairs(whole.rows, _priced(whole, factor)), dtype=np.int64)
        factor = closed_pairs(whole, factor, current_pairs) or factor
    if factor is None or not factor.whole:
        relaxed = free or factor
        return _searched(rows, 2, _priced(table, relaxed) if relaxed else None, relaxed, means)
    free = free or cheapest_factor(table, 1, patience=_PATIENCE, stop=means.budget.over)
    # the pairs of a cheapest perfect matching, aligned; whoever is paired with nobody is deleted
    somebody = (factor.pairs < len(rows.counts)).all(axis=1)
    pairs, alone = factor.pairs[somebody], factor.pairs[~somebody].min(axis=1)

    def aligned(pair: Whole) -> Group:
        cost, matched = aligned_pair(rows, whole.tariff, int(pair[0]), int(pair[1]))
        return Group(pair, np.ascontiguousarray(matched.T), cost)

    # the longest histories first, so that all cores end together
    longest = np.argsort(-rows.counts[pairs].max(axis=1), kind="stable")
    groups = list(means.spread(aligned, pairs[longest]))
    cost = float(sum(group.cost for group in groups) + rows.losses[alone].sum())
    anything = max(0.0 if pairs_alone else free.bound, 0.0)
    return SharedGroups(groups, cost, max(factor.bound, 0.0), _meets(cost, factor.bound), 0, anything)


def _with_twins(rows: RowArrays, means: _Means) -> SharedGroups | None:
    """Return pairs of customers with equal histories, and those of all others as the search finds them; or None.

    Twins can be paired, and nothing is lost: pair costs are a distance, of histories as sets of points some of which
    are deleted: columns are distances of numbers, cut off at what suppression costs, and of names; a row is no further
    from deletion than another and the way to it. So where two equal ones u, u' went with x and y,
    ``c(u,x) + c(u',y) = c(x,u) + c(u,y) >= c(x,y)``, and to pair u with u', which costs nothing, and x with y is no
    dearer. Without suppression a blank is nearer to two values than they are to one another: no distance, and no twins.

    What pairs of the others cost bounds what pairs of all cost, and not what anything else would: a third customer may
    lie near two twins.
    """
    if not means.suppress and rows.has_blanks:
        return None
    who = np.repeat(np.arange(len(rows.counts)), rows.counts)
    order = np.lexsort((*rows.point[::-1], rows.item, who)).astype(np.int64)
    lines = np.column_stack([rows.point.T, rows.item])[order]
    waiting: dict[bytes, int] = {}
    groups: list[Group] = []
    for customer in range(len(rows.counts)):
        key = lines[rows.start[customer] : rows.start[customer + 1]].tobytes()
        other = waiting.pop(key, None)
        if other is None:
            waiting[key] = customer
            continue
        table = np.stack([order[rows.start[u] : rows.start[u + 1]] for u in (other, customer)])
        groups.append(Group(np.array([other, customer]), table, 0.0))
    if not groups:
        return None
    others = np.array(sorted(waiting.values()), dtype=np.int64)
    if not len(others):
        return SharedGroups(groups, 0.0, 0.0, proved=True, rounds=0, anything=0.0)
    mine = rows.of(others)
    others_paired = _paired(mine, means)
    at = np.arange(mine.start[-1]) + np.repeat(rows.start[others] - mine.start[:-1], mine.counts)
    groups += [Group(others[group.members], at[group.table], group.cost) for group in others_paired.groups]
    return replace(others_paired, groups=groups, anything=None)


def _meets(cost: float, bound: float) -> bool:
    """Tell whether a cost is its lower bound, but for rounding."""
    return cost - bound <= 1e-7 * max(cost, 1.0)


def _bounded(table: PairTable, k: int, means: _Means, *, matching: bool) -> Factor | None:
    """Return the relaxation over pairs, and look at more pairs than it needs; nothing if there is no time."""
    budget, report = means.budget, means.reporter
    first: list[int] = []
    by_count = float("nan")  # what there is to keep: pairs by row count, which are among the first that are costed

    def on_round(left: int, _cost: float) -> None:
        nonlocal by_count
        first.append(left)
        if matching and len(first) == 1:
            report(0.0, float("nan"))
            order = np.argsort(table.rows.counts, kind="stable").reshape(-1, 2)
            by_count = float(table.bound[order[:, 0], order[:, 1]].sum())
        try:
            report(_BOUNDING * (0.4 + 0.5 * (1 - left / max(first[0], 1))), by_count)
        except Enough:
            if not matching:
                raise
            budget.stopped = True

    try:
        if budget.over():
            return None
        factor = cheapest_factor(
            table, k - 1, matching=matching, patience=0.0 if matching else _PATIENCE, report=on_round, stop=budget.over
        )
        if not (matching and factor.whole):
            limit = 1.25 * (factor.value[:, None] + factor.value[None, :])
            more = np.argwhere(np.triu((table.bound < limit) & ~table.exact))
            table.ask(more, np.full(len(more), -np.inf))
    except KeyboardInterrupt:
        budget.stopped = True
        return None
    return factor


def _improved(
    search: GroupSearch, k: int, effort: Effort, budget: Budget, report: Report, estimate: Real | None = None
) -> int:
    """Recombine groups until the budget is spent; the search holds the best found. Returns the number of rounds.

    Before and after, unless sizes are fixed, customers are deleted and groups dissolved where that pays; after it the
    best of many more groups are chosen, too, by what pairs are thought to cost. Without such an ``estimate`` sizes are.
    """
    # one member at a time finds most; halves, now and then, what one at a time cannot
    sizes = [1, 1, 1, k // 2] if k > 3 else [1]
    best, cheapest = search.groups, search.cost
    done, fixed = 0, estimate is None
    wanted = effort.rounds * k * (3 if fixed and effort.steps else 1)  # where no choice among more groups follows
    last = _BOUNDING + (1 - _BOUNDING) * (1.0 if fixed or not effort.steps else _ROUNDS)
    try:
        report(_BOUNDING, cheapest)
        if not fixed and not budget.over() and resized(search, k, effort.tries):
            best, cheapest = search.groups, search.cost
            report(_BOUNDING, cheapest)
        while len(search.groups) > 1 and not budget.over():
            share = budget.spent() / _ROUNDS if effort.seconds is not None else done / wanted if wanted else 1.0
            if share >= 1:
                break
            # a member is a k-th of a group's cost, and so is what its change may cost more
            heat = effort.heat / k * max(0.0, 1 - share / _COOLING) ** 2
            search.round(sizes[done % len(sizes)], effort.tries, 0.15, heat)
            done += 1
            if search.cost < cheapest:
                best, cheapest = search.groups, search.cost
            report(_BOUNDING + (last - _BOUNDING) * share, cheapest)
        search.replace(best)
        if estimate is not None and not budget.over():

            def chosen(share: float) -> None:
                nonlocal best
                best = search.groups
                report(last + (1 - last) * share, search.cost)

            repartitioned(search, k, estimate, effort.steps, effort.tries, budget.over, chosen)
            chosen(1.0)
            resized(search, k, effort.tries)
        if not budget.over():
            search.polish()
            report(1.0, search.cost)
    except (Enough, KeyboardInterrupt):
        budget.stopped = True
        search.replace(best)  # what was reported last
    return done


def _nearly_pairs(rows: RowArrays, near_by: _Nearness) -> list[Whole]:
    """Return pairs, and one group of three if the number of customers is odd, by a cheapest matching of known pairs."""
    estimate = near_by.estimate
    count = len(estimate)
    odd = count % 2 == 1
    near = near_by.known.copy()
    order = np.argsort(rows.counts, kind="stable")
    near[order[:-1], order[1:]] = True  # a way through all customers, so that a perfect matching exists
    ends = np.argwhere(np.triu(near | near.T, 1))
    costs = estimate[ends[:, 0], ends[:, 1]]
    if odd:  # whoever is left for the group of three costs about as much more as in a pair of its own
        own = 0.75 * np.where(np.eye(count, dtype=bool), np.inf, estimate).min(axis=1)
        ends = np.concatenate([ends, np.stack([np.arange(count), np.full(count, count)], axis=1)])
        costs = np.concatenate([costs, own])
    ordered = blossom_pairs(ends, costs, count + odd)
    together = [np.array(p) for p in ordered if count not in p]
    for left in [p[0] for p in ordered if count in p]:
        mean = [float(estimate[left, p].mean()) for p in together]
        at = int(np.argmin(mean))
        together[at] = np.append(together[at], left)
    return together
