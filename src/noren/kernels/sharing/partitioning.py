"""Customers deleted whole, and groups dissolved: the moves that change how many members groups have.

Deleting a customer costs the worth of its rows and frees its group from the shortest history in it. No more than k - 1
deletions ever pay: k customers deleted could as well be a group that keeps nothing. So an optimum may delete few, but
which few matters, where k does not divide the number of customers or one of them is like nobody.

**The best of all groups that a search has seen, and of more: set partitioning over a pool that grows.**
A search costs many groups that it has no use for at the time. Among all of them those that hold every customer once, or
delete it at the worth of its rows, and cost least in sum are a set partitioning problem. Its linear relaxation prices
customers; groups that are in use there are varied, one member for another, and what is cheaper than its members' prices
joins the pool (column generation, with a pricing that looks where pair costs promise something: no bound comes of it).
Only groups whose reduced cost is within what is to be gained can be part of something better; among the few best of
each customer a branch and bound chooses, they are re-aligned, and it begins anew. Nothing is lost, as the present
groups are in the pool. What groups cost is exact here, over all rows: where near rows are enough to tell whether a
change pays, histories of hundreds of rows cost 3 % more than they need.

**Which class sizes survive, and which of them are worth trying (``docs/theory/survival.md``).**
The best attacker names whom he is surest of: members of the smallest classes. By S0's rule fewer than seven people are
never enough and of seven all must be right, so what decides is, nearly always, the few smallest classes. A release can
therefore afford a handful of small classes if all others are larger. They serve best where there is most to lose: the
longest histories go into the smallest classes.

A *mixture* is a head, the sizes of the few small classes, and the size k of all others. Cutting a class in two never
lowers the attacker's chance. Heads are tried as if adding a small class never did either, which is not proved: for each
k only those that cannot be made longer are looked at, and they are few. What is yielded was judged itself, whole.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linear_sum_assignment, linprog, milp

from noren.kernels.arrays import Real, Whole
from noren.kernels.sharing.grouping import Group, GroupSearch, group_sizes, joined_costs
from noren.kernels.sharing.joining import join

_NOWHERE = -1
"""In place of a group: the customer is deleted."""
_PAYS = 1e-7
_UNKNOWN = (-np.inf, False)


@dataclass(frozen=True)
class _Move:
    """Some customers leave a group, each to a group of its own, or to none."""

    gain: float
    group: int
    leaving: tuple[int, ...]
    to: tuple[int, ...]
    rest: Group | None


def resized(search: GroupSearch, k: int, tries: int) -> bool:
    """Delete customers, take them back, move members of large groups and dissolve groups while that pays.

    Returns whether anything did. Groups keep at least k members; a customer deleted whole is a group of one.
    """
    changed = False
    while len(search.groups) > 1 or len(search.groups[0].members) > k:
        prices = _prices(search, k, tries)
        paying = [move for move in _moves(search, k, prices) if move.gain > _PAYS]
        moves = sorted(paying, key=lambda move: (-move.gain, move.group, move.leaving))
        touched: set[int] = set()
        groups: list[Group | None] = list(search.groups)
        for move in moves:
            places = {move.group, *move.to} - {_NOWHERE}
            if places & touched:
                continue
            touched |= places
            groups[move.group] = move.rest
            for customer, to in zip(move.leaving, move.to, strict=True):
                if to == _NOWHERE:
                    groups.append(search.alone(customer))
                else:
                    members, table = search.groups[to].members, search.groups[to].table
                    groups[to] = search.joined(np.append(customer, members), search.own[customer], table)
        before = search.cost
        search.replace([group for group in groups if group is not None])
        if not moves or search.cost > before - _PAYS:
            return changed
        changed = True
    return changed


def _prices(search: GroupSearch, k: int, tries: int) -> Real:
    """Return what every group costs more with every customer: exact for the nearest groups, out of reach elsewhere."""
    groups, people = search.groups, len(search.worth)
    price = np.full((people, len(groups)), np.inf)
    real = np.array([g for g, group in enumerate(groups) if not group.deleted])
    if not len(real):
        return price
    home = np.empty(people, dtype=np.int64)
    held = np.zeros((people, len(groups)))
    for g, group in enumerate(groups):
        home[group.members] = g
        held[group.members, g] = 1 / len(group.members)
    near = (search.affinity @ held)[:, real]
    near[home[:, None] == real[None, :]] = np.inf
    few = min(tries, len(real))
    at = real[np.argsort(near, axis=1, kind="stable")[:, :few]]
    pairs = np.stack([np.repeat(np.arange(people), few), at.ravel()], axis=1)
    now = np.array([group.cost for group in groups])
    may_pay = (home[pairs[:, 0]] != pairs[:, 1]) & (now[home[pairs[:, 0]]] > _PAYS)
    pairs = pairs[may_pay]
    u, g = pairs[:, 0], pairs[:, 1]
    mine = search.worth[u]
    worth = mine + np.array([search.worth[group.members].sum() for group in groups])[g]
    versions = np.array(search.versions)
    keys = list(zip(u.tolist(), versions[g].tolist(), strict=True))
    known = [search.prices.get(key, _UNKNOWN) for key in keys]
    least, exact = np.array([c for c, _e in known]), np.array([e for _c, e in known], dtype=np.bool_)
    tables = [group.table for group in groups]

    def ask(at: Whole, limit: Real) -> None:
        rows, suppress, own, spread = search.rows, search.suppress, search.own, search.spread
        least[at] = joined_costs(rows, suppress, own, tables, pairs[at], worth[at], limit, spread)
        exact[at] = least[at] <= limit

    ask(new := np.flatnonzero(np.isneginf(least)), np.full(len(new), -np.inf))
    # what each customer's new place may cost at most, if its group's loss is to pay: a group of k is dissolved, so for
    # each member there is the group's cost less what all others cost elsewhere, at least; a larger one loses one member
    elsewhere = search.worth.copy()
    np.minimum.at(elsewhere, u, least - now[g])
    others = np.bincount(home, elsewhere, len(now))[home] - elsewhere
    sizes = np.array([len(group.members) for group in groups])
    room = now[home] - np.where(sizes[home] == k, others, 0.0)
    limit = now[g] + np.minimum(mine, room[u])
    ask(open_pairs := np.flatnonzero(~exact & (least <= limit)), limit[open_pairs])
    search.prices |= dict(zip(keys, zip(least.tolist(), exact.tolist(), strict=True), strict=True))
    price[u, g] = np.where(exact & (least <= limit), least - now[g], np.inf)
    return price


def _moves(search: GroupSearch, k: int, price: Real) -> Iterator[_Move]:
    """Yield moves and what each gains, by the prices of single customers."""
    for g, group in enumerate(search.groups):
        members = group.members
        if group.cost <= _PAYS:
            continue
        if group.deleted or len(members) == k:  # the cheapest way to send all elsewhere, no two to one group
            out = np.where(np.eye(len(members), dtype=np.bool_), search.worth[members], np.inf)
            choices = np.concatenate([price[members], out], axis=1)
            choices[:, g] = np.inf
            dear = float(search.worth[members].sum()) + 1.0
            who, to = linear_sum_assignment(np.where(np.isinf(choices), dear, choices))
            gain = group.cost - float(choices[who, to].sum())
            places = tuple(int(at) if at < len(search.groups) else _NOWHERE for at in to)
            yield _Move(gain, g, tuple(members.tolist()), places, None)
            continue
        for at, customer in enumerate(members.tolist()):  # larger than it need be: the cheapest way for each member
            taken = np.arange(len(members)) == at
            rest = search.settled(members[~taken], search.without(group, taken))
            place = int(np.argmin(price[customer]))
            there = float(price[customer, place])
            if search.worth[customer] <= there:
                place, there = _NOWHERE, float(search.worth[customer])
            yield _Move(group.cost - rest.cost - there, g, (customer,), (place,), rest)


# --- The best of all groups that a search has seen, and of more: set partitioning over a pool that grows --------------


_MOST = 1500
"""Customers up to which it is done: as many as are searched in one block."""
_EXACT = 2000
"""Columns of a table up to which it is joined and re-aligned over all rows."""
_USED = 1e-6
_VARIED = 6
"""Most times that groups are varied before the best are chosen."""
_OVER, _SLACK = 0.03, 0.01
"""By how much, as shares, a group may be thought to cost more than its members' prices to be costed; and cost more to
join the pool."""
_KEPT = 30_000
"""Groups in the pool beyond which the dearest by their members' prices leave it."""
_EACH = 8
"""Groups to a customer that are chosen from, of least reduced cost; twice as many once little came of it."""
_GAP = 3e-4
"""Share of the cost within which a choice is good enough, and below which what a choice gains is little."""
_NODES = 100
"""Most nodes of the branch and bound: by number, so that the same seed gives the same groups on any machine."""


class GroupPool:
    """Groups that were costed, each once, whatever the order of its members; ``estimate`` is what pairs may cost."""

    def __init__(self, search: GroupSearch, k: int, estimate: Real) -> None:
        self.search, self.k = search, k
        self.estimate = np.where(np.eye(len(estimate), dtype=np.bool_), 0.0, estimate)
        self.groups: dict[tuple[int, ...], Group] = {}
        self._least: dict[tuple[int, ...], float] = {}  # what groups cost at least that were looked at
        self._price = np.empty(len(search.worth))
        for group in search.groups:
            self._price[group.members] = group.cost / len(group.members)
        for customer in range(len(search.worth)):
            self.add(search.alone(customer))
        for group in search.groups:
            self.add(group)

    def add(self, group: Group) -> None:
        """Keep a group; of two with the same members the cheaper."""
        key = tuple(sorted(group.members.tolist()))
        known = self.groups.get(key)
        if known is None or group.cost < known.cost:
            self.groups[key] = group

    def columns(self) -> tuple[list[Group], sparse.csc_array, Real]:
        """Return all groups, who is in each, and what they cost."""
        groups = list(self.groups.values())
        ends = np.concatenate([[0], np.cumsum([len(g.members) for g in groups])])
        members = np.concatenate([g.members for g in groups])
        holds = sparse.csc_array((np.ones(len(members)), members, ends), shape=(len(self.search.worth), len(groups)))
        return groups, holds, np.array([g.cost for g in groups])

    def vary(self, tries: int) -> int:
        """Vary the groups in use, one member for another where that looks cheap; return how many groups are new.

        What a group costs is thought to be in proportion to what its pairs cost, as in the group that is varied.
        """
        groups, holds, costs = self.columns()
        weight, price, _cost = _relaxed(holds, costs)
        if len(groups) > _KEPT:
            dear = np.argsort(costs - holds.T @ price, kind="stable")[_KEPT // 2 :]
            for at in dear[weight[dear] <= _USED].tolist():
                if not groups[at].deleted:
                    del self.groups[tuple(sorted(groups[at].members.tolist()))]
            for group in self.search.groups:
                self.add(group)
        search = self.search
        used = {id(group): group for group in search.groups if not group.deleted}
        used |= {id(groups[at]): groups[at] for at in np.flatnonzero(weight > _USED) if not groups[at].deleted}
        # prices of few groups are as good as arbitrary; the mean with those before them is not
        price = self._price = (self._price + price) / 2
        jobs = [(g, at) for g in used.values() for at in range(len(g.members))]
        if not jobs:
            return 0
        before = len(self.groups)
        stay = [np.delete(g.members, at) for g, at in jobs]
        held = np.zeros((len(stay), len(search.worth)))
        for at, members in enumerate(stay):
            held[at, members] = 1.0
        near = held @ self.estimate
        pairs_of = {key: self.estimate[np.ix_(g.members, g.members)].sum() / 2 for key, g in used.items()}
        ratio = np.array([g.cost / max(pairs_of[id(g)], _PAYS) for g, _at in jobs])
        thought = ratio[:, None] * ((held * near).sum(axis=1)[:, None] / 2 + near)
        score = np.where(held > 0, np.inf, thought - (1 + _OVER) * ((held @ price)[:, None] + price))
        # customers, and which of the rests they may go with for less than their prices: each group once
        new: dict[tuple[int, ...], tuple[int, int]] = {}
        for at, line in enumerate(np.argsort(score, axis=1, kind="stable")[:, :tries].tolist()):
            others = stay[at].tolist()
            for who in line if len(others) >= self.k - 1 else ():
                key = tuple(sorted([who, *others]))
                if score[at, who] >= 0 or key in self.groups:
                    continue
                if self._least.get(key, -np.inf) < (1 + _SLACK) * price[list(key)].sum():
                    new.setdefault(key, (who, at))
        wanted = sorted({at for _who, at in new.values()} | {at for at, s in enumerate(stay) if len(s) >= self.k})
        if not wanted:
            return 0
        work = np.array([float(jobs[at][0].table.shape[1]) ** 2 + 1 for at in wanted])

        def rest_of(at: int) -> Whole:
            group, out = jobs[at]
            return search.without(group, np.arange(len(group.members)) == out)

        rests = dict(zip(wanted, search.each(rest_of, wanted, work), strict=True))
        for at, table in rests.items():
            if len(stay[at]) >= self.k:
                self.add(search.settled(stay[at], table.copy()))
        if not new:
            return len(self.groups) - before
        place = {at: number for number, at in enumerate(wanted)}
        pairs = np.array([(who, place[at]) for who, at in new.values()], dtype=np.int64)
        worth = np.array([search.worth[list(key)].sum() for key in new])
        limit = (1 + _SLACK) * np.array([price[list(key)].sum() for key in new])
        tables = list(rests.values())
        cost = joined_costs(search.rows, search.suppress, search.own, tables, pairs, worth, limit, search.spread)
        self._least |= dict(zip(new, cost.tolist(), strict=True))
        good = np.flatnonzero(cost < limit - _PAYS).tolist()

        def joined(at: int) -> Group:
            who, rest = pairs[at]
            table = join(search.rows, search.suppress, search.own[who], tables[rest])[1]
            return Group(np.append(who, stay[wanted[rest]]), table, float(cost[at]))

        for group in search.each(joined, good, work[pairs[good, 1]]):
            self.add(group)
        return len(self.groups) - before

    def choose(self, each: int) -> float:
        """Put the best groups of the pool in place of the search's, re-aligned; return how much the cost fell.

        So many groups as ``each`` are looked at for each customer, and the present ones.
        """
        search = self.search
        groups, holds, costs = self.columns()
        present_keys = {tuple(sorted(group.members.tolist())) for group in search.groups}
        present = np.array([at for at, key in enumerate(self.groups) if key in present_keys])
        before = search.cost
        chosen = _cheapest(holds, costs, before, present, each)
        if costs[chosen].sum() > before - _PAYS:
            return 0.0
        best = [groups[at] for at in chosen.tolist()]
        work = np.array([float(group.table.shape[1]) ** 2 + 1 for group in best])
        search.replace(search.each(lambda g: g if g.deleted else search.settled(g.members, g.table.copy()), best, work))
        for group in search.groups:
            self.add(group)
        return before - search.cost


def repartitioned(
    search: GroupSearch,
    k: int,
    estimate: Real,
    steps: int,
    tries: int,
    stop: Callable[[], bool] = lambda: False,
    report: Callable[[float], None] = lambda _share: None,
) -> float:
    """Put the best groups of a pool that grows in place of the present ones; return how much the cost fell.

    From here on tables are joined over all rows up to a length. Of too many customers groups are re-aligned, no more.
    After an interruption the search has the groups that were chosen last.
    """
    before = search.cost
    if not steps:
        return 0.0
    search.rows = search.rows._replace(long=max(_EXACT, search.rows.long))
    search.realign()
    if len(search.worth) > _MOST:
        return before - search.cost
    pool, each = GroupPool(search, k, estimate), _EACH
    for step in range(steps):
        for _time in range(_VARIED):
            report(step / steps)
            if stop() or not pool.vary(tries):
                break
        if stop():
            break
        paid = pool.choose(each) > _GAP * search.cost
        if not paid and each > _EACH:
            break
        each = _EACH if paid else 2 * _EACH
    return before - search.cost


def _relaxed(holds: sparse.csc_array, costs: Real) -> tuple[Real, Real, float]:
    """Return what the relaxation says: how much of each group is in use, each customer's price, and the cost."""
    solution = linprog(costs, A_eq=holds, b_eq=np.ones(holds.shape[0]), bounds=(0, None), method="highs")
    if solution.status != 0:
        raise RuntimeError(f"the relaxation has no solution: {solution.message}")  # a defect: deleting all is one
    return np.asarray(solution.x), np.asarray(solution.eqlin.marginals), float(solution.fun)


def _cheapest(holds: sparse.csc_array, costs: Real, now: float, present: Whole, each: int) -> Whole:
    """Return columns that hold every customer once and cost least, as far as some nodes of a search tell."""
    _weight, price, least = _relaxed(holds, costs)
    room = now - least
    if room <= _PAYS:
        return present
    # columns that can be part of something better, of many the best few of each customer
    reduced = costs - holds.T @ price
    column = np.repeat(np.arange(holds.shape[1]), np.diff(holds.indptr))
    order = np.lexsort((column, reduced[column], holds.indices))
    who = holds.indices[order]
    rank = np.arange(len(who)) - np.searchsorted(who, who)
    few = np.unique(column[order][rank < each])
    near = np.union1d(present, few[reduced[few] < room + _PAYS])
    with unheard():
        solution = milp(
            costs[near],
            integrality=np.ones(len(near)),
            bounds=Bounds(0, 1),
            constraints=LinearConstraint(holds[:, near], 1, 1),
            options={"node_limit": _NODES, "mip_rel_gap": _GAP},
        )
    if solution.x is None:
        return present
    chosen: Whole = near[np.flatnonzero(solution.x > 0.5)]
    return chosen if np.array_equal(holds[:, chosen].sum(axis=1), np.ones(holds.shape[0])) else present


# --- Keep off the standard output what a library of C writes there by itself: answers for machines go there -----------


_one_at_a_time = threading.Lock()


@contextmanager
def unheard() -> Iterator[None]:
    """Send what is written to the descriptor of the standard output nowhere for a while.

    HiGHS says a line for its own makers in the midst of a search, whatever it is told about silence. The descriptor is
    the process's: what another thread prints meanwhile is lost, too, so keep the while short.
    """
    with _one_at_a_time:
        try:
            stdout_copy = os.dup(1)
        except OSError:  # there is no standard output
            yield
            return
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            _flushed()
            os.dup2(nowhere, 1)
            yield
        finally:
            _flushed()
            os.dup2(stdout_copy, 1)
            os.close(nowhere)
            os.close(stdout_copy)


def _flushed() -> None:
    """Have C write out what it holds back."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).fflush(None)


# --- Which class sizes survive, and which of them are worth trying ---------------------------------------------------


Chance = Callable[[tuple[int, ...]], float]
"""The best attacker's chance against classes of these sizes."""

_WIDER = 2
"""How far the common size may lie above the smallest that passes by itself."""
_FIRST_LOOK = 12
"""Classes, the smallest, that a first look at the attacker's chance goes by; it never overrates him."""
_MOST_SMALL = 64
"""Most small classes of one size."""
_ERROR_SIZES = np.log([1.0, 2.0, 3.0, 4.0, 6.0, 10.0, 60.0])
_ERROR = np.array([0.0, 0.206, 0.295, 0.348, 0.404, 0.481, 0.75])
"""U of groups of 1, 2, 3, … on the PWS Cup 2018 final data: which mixtures to try first, and nothing else."""


@dataclass(frozen=True)
class Mixture:
    """Sizes of the small classes, smallest first, and the size of all others."""

    head: tuple[int, ...]
    k: int


def mixtures(worth: Real, smallest: int, allowed: float, chance: Chance) -> Iterator[Mixture]:
    """Yield mixtures in which the attacker's chance is at most ``allowed``, the one that promises most first.

    ``worth`` is what each customer's history has to lose, in cells; ``chance`` the best attacker's against given sizes,
    asked for all sizes only of mixtures that are yielded.

    An attacker who needs luck against the three smallest classes: a pair, or two triples, among fours leave him 1/30.

    >>> lucky = lambda sizes: 1 / np.prod(np.sort(np.array(sizes, dtype=float))[:3])
    >>> [(m.head, m.k) for m in mixtures(np.arange(1.0, 25.0), 2, 1 / 30, lucky)][:2]
    [((3, 3), 4), ((2,), 4)]
    """
    count = len(worth)
    losses = np.sort(worth)[::-1]

    @cache
    def passes(sizes: tuple[int, ...]) -> bool:
        return chance(sizes) <= allowed

    def at_first_look(head: tuple[int, ...], k: int) -> bool:
        return passes(tuple(sorted(group_sizes(count, k, head).tolist())[:_FIRST_LOOK]))

    least = next((k for k in range(smallest, count + 1) if at_first_look((), k)), None)
    possible = set()
    if least is not None:
        wider = range(least, min(least + _WIDER, count) + 1)
        possible = {Mixture(head, k) for k in wider for head in _heads((), smallest, k, least, count, at_first_look)}

    def promise(mixture: Mixture) -> float:
        sizes = np.sort(group_sizes(count, mixture.k, mixture.head))
        of_customer = np.interp(np.log(np.repeat(sizes, sizes)), _ERROR_SIZES, _ERROR)
        return float(losses @ of_customer)

    for mixture in sorted(possible, key=lambda m: (promise(m), m.k, m.head)):
        if passes(tuple(group_sizes(count, mixture.k, mixture.head).tolist())):
            yield mixture


def _heads(
    head: tuple[int, ...], size: int, k: int, least: int, count: int, passes: Callable[[tuple[int, ...], int], bool]
) -> Iterator[tuple[int, ...]]:
    """Yield heads that begin with ``head``, go on with classes of ``size`` to below ``least``, and cannot be longer."""
    if size >= least:
        yield head
        return
    longest = _most(lambda n: sum(head) + size * n + k <= count and passes((*head, *[size] * n), k))
    numbers = {longest}
    if size < least - 1:  # all numbers up to it, thinned out where there are many
        numbers = {*range(min(longest, 3) + 1), *(longest * i // 4 for i in range(5))}
    for number in sorted(numbers):
        yield from _heads((*head, *[size] * number), size + 1, k, least, count, passes)


def _most(passes: Callable[[int], bool]) -> int:
    """Return the largest number up to a limit that passes, if all smaller ones do."""
    low, high = 0, 1
    while high <= _MOST_SMALL and passes(high):
        low, high = high, 2 * high
    high = min(high, _MOST_SMALL + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if passes(middle) else (low, middle)
    return low
