"""Groups of k and more, improved as long as one likes: an anytime search over exact costs.

The search starts from groups that are good by pair costs. Then, round after round, every group is split in two, a few
members out and the rest, and all parts are put together anew at once: the value of each promising combination is an
exact alignment, and the best recombination of all parts is a linear assignment, which contains every swap and every
chain of ejections. Recombined groups are re-aligned until nothing moves and kept, cycle by cycle, where they are
cheaper. The cost never rises.

A group of one is a customer deleted whole: it shares nothing, and costs the worth of its rows. It takes part in rounds
like others, so who is deleted is searched, too; how many are is for :mod:`noren.kernels.sharing.partitioning`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from noren.kernels.arrays import Real, Whole
from noren.kernels.compiling import kernel
from noren.kernels.sharing.alignment import LONG, RowArrays
from noren.kernels.sharing.joining import aligned_histories, join, join_costs, mended, settled, without_members
from noren.kernels.sharing.pairing import Spread, work_blocks

_REALIGN = 8
"""Most rounds of re-alignment of a group."""
_POLISHED = 800
"""Columns of a table up to which it is re-aligned over all rows at the end."""
_ALONE = 1e15
_MOST_REMEMBERED = 3_000_000


@dataclass(frozen=True)
class Group:
    """Customers made alike: members, the table of their rows (a line for each member), and what it costs.

    A group of one has a table without columns.
    """

    members: Whole
    table: Whole
    cost: float

    @property
    def deleted(self) -> bool:
        """Whether its only member is deleted whole."""
        return len(self.members) == 1


@dataclass(frozen=True)
class _Split:
    """A group in two parts: the few members taken out, and the rest; ``key`` names the two for ever."""

    key: tuple[int, tuple[int, ...]]
    out: Whole
    rest: Whole
    out_table: Whole
    rest_table: Whole


@kernel()
def _swapped(cost: Real, group: Whole, order: Whole, weight: Real) -> float:
    """Swap customers between groups, in place, while the pair costs inside groups fall; return their sum.

    ``weight`` says what a pair counts in each group.
    """
    count = len(group)
    ties = np.zeros((count, len(weight)))
    for u in range(count):
        for v in range(count):
            if v != u:
                ties[u, group[v]] += cost[u, v]
    moved = True
    while moved:
        moved = False
        for u in order:
            best, with_whom = -1e-7, -1
            here = group[u]
            mine = weight[here]
            for v in range(count):
                there = group[v]
                if there != here:
                    theirs = weight[there]
                    change = theirs * (ties[u, there] - ties[v, there] - cost[u, v])
                    change += mine * (ties[v, here] - ties[u, here] - cost[u, v])
                    if change < best:
                        best, with_whom = change, v
            if with_whom >= 0:
                v, there = with_whom, group[with_whom]
                for x in range(count):
                    leaves = cost[x, u] if x != u else 0.0
                    comes = cost[x, v] if x != v else 0.0
                    ties[x, here] += comes - leaves
                    ties[x, there] += leaves - comes
                group[u], group[v] = there, here
                moved = True
    total = 0.0
    for u in range(count):
        total += weight[group[u]] * ties[u, group[u]]
    return total / 2


def group_sizes(count: int, k: int, head: Sequence[int] = ()) -> Whole:
    """Return the sizes of groups: those of the head, then k each, the leftover one each to the last.

    >>> group_sizes(11, 3).tolist(), group_sizes(11, 4, (2,)).tolist()
    ([3, 4, 4], [2, 4, 5])
    """
    rest = count - sum(head)
    groups = rest // k
    # leftover customers one each to as many groups as there are of them, never more than k - 1
    return np.append(np.array(head, dtype=np.int64), k + (rest - k * groups + np.arange(groups)) // max(groups, 1))


def groups_by_pairs(
    cost: Real, counts: Whole, sizes: Whole, starts: int, generator: np.random.Generator
) -> list[Whole]:
    """Return groups of the given sizes whose pair costs no swap lowers; best of some starts.

    Starts stand by row count, the longest in the first group, all but the first start with some noise. A pair counts
    less in a larger group, as a member of s has s - 1 of them.

    >>> apart = np.abs(np.subtract.outer([1.0, 9.0, 2.0, 8.0], [1.0, 9.0, 2.0, 8.0]))
    >>> pairs = groups_by_pairs(apart, np.full(4, 5), np.array([2, 2]), 1, np.random.default_rng(1))
    >>> sorted(g.tolist() for g in pairs)
    [[0, 2], [1, 3]]
    """
    count, groups = len(counts), len(sizes)
    near = np.where(np.eye(count, dtype=np.bool_), 0.0, cost)
    best, best_group = np.inf, np.zeros(count, dtype=np.int64)
    places = np.repeat(np.arange(groups), sizes)
    usual = int(np.bincount(sizes).argmax())
    weight = np.maximum((usual - 1) / np.maximum(sizes - 1, 1), 1.0)
    for start in range(starts):
        noise = generator.normal(0.0, 0.2, count) if start else np.zeros(count)
        group = np.empty(count, dtype=np.int64)
        group[np.argsort(-counts * np.exp(noise), kind="stable")] = places
        total = _swapped(near, group, generator.permutation(count), weight)
        if total < best - 1e-9:
            best, best_group = total, group.copy()
    return [np.flatnonzero(best_group == g) for g in range(groups)]


class GroupSearch:
    """Improves groups, round by round.

    ``suppress``: a generalised cell is suppressed where that is cheaper. ``affinity``, how badly two customers go
    together, decides which combinations are tried, and nothing else.
    """

    def __init__(
        self,
        rows: RowArrays,
        groups: Sequence[Whole | Group],
        *,
        suppress: bool,
        affinity: Real,
        generator: np.random.Generator,
        spread: Spread = map,
    ) -> None:
        self.rows, self.suppress, self.spread, self.generator = rows, suppress, spread, generator
        self.affinity = np.where(np.eye(len(affinity), dtype=np.bool_), 0.0, affinity)
        self.worth = rows.losses
        self.own = rows.histories
        self._dice = 0
        self._tried: dict[tuple[Any, Any], float] = {}
        self._next_version = 0
        self.versions: list[int] = []  # of each group: a number that no other group ever has
        self.groups: list[Group] = []
        self.prices: dict[tuple[int, int], tuple[float, bool]] = {}
        members = [g.members if isinstance(g, Group) else g for g in groups]
        work = np.array([float(rows.counts[g].max()) ** 2 * len(g) for g in members])
        self.replace(
            self.each(
                lambda g: g if isinstance(g, Group) else self.settled(g, aligned_histories(rows, suppress, g)),
                groups,
                work,
            )
        )

    @property
    def cost(self) -> float:
        """The cost of all groups."""
        return float(sum(group.cost for group in self.groups))

    @property
    def active(self) -> list[Group]:
        """The groups whose members are not deleted."""
        return [group for group in self.groups if not group.deleted]

    def replace(self, groups: list[Group]) -> None:
        """Continue with other groups; groups that are present already keep their version."""
        known = {id(group): version for group, version in zip(self.groups, self.versions, strict=True)}
        versions = [known.get(id(group), self._next_version + at) for at, group in enumerate(groups)]
        self._next_version += len(groups)
        # both at once, so that an interruption finds the one state or the other
        self.groups, self.versions = groups, versions

    def alone(self, customer: int) -> Group:
        """Return the group of a customer deleted whole."""
        return Group(np.array([customer]), np.empty((1, 0), dtype=np.int64), float(self.worth[customer]))

    def without(self, group: Group, taken: NDArray[np.bool_]) -> Whole:
        """Return the table of the members that are not taken; without columns where there are none."""
        if taken.all():
            return np.empty((0, 0), dtype=np.int64)
        return without_members(self.rows, self.suppress, group.members, group.table, ~taken)

    def joined(self, members: Whole, first: Whole, second: Whole) -> Group:
        """Return the group of two tables joined; ``members`` are those of the first, then those of the second."""
        return self.settled(members, join(self.rows, self.suppress, first, second)[1])

    def settled(self, members: Whole, table: Whole, passes: int = _REALIGN, long: int | None = None) -> Group:
        """Return the group of a table, re-aligned in place until nothing moves; ``long`` in place of that of rows."""
        rows = self.rows if long is None else self.rows._replace(long=long)
        value = settled(rows, self.suppress, members, table, passes)
        if len(rows.stratum) and len(members) > 1:
            table = mended(rows, self.suppress, members, table)
            value = settled(rows, self.suppress, members, table, passes)
        return Group(members, table, max(float(self.worth[members].sum() + value), 0.0))

    def realign(self) -> None:
        """Re-align all groups as far as the search's rows are joined over all rows, until nothing moves."""
        groups, settled = self.groups, self.settled
        work = self._work(groups)
        self.replace(self.each(lambda g: g if g.deleted else settled(g.members, g.table.copy()), groups, work))

    def polish(self) -> None:
        """Re-align the groups of long histories over all rows."""
        at = [g for g, group in enumerate(self.groups) if LONG < group.table.shape[1] <= _POLISHED]
        long = [self.groups[g] for g in at]
        polished = self.each(lambda g: self.settled(g.members, g.table.copy(), long=_POLISHED), long, self._work(long))
        better = dict(zip(at, polished, strict=True))
        self.replace([better.get(g, group) for g, group in enumerate(self.groups)])

    def each(self, kernel: Callable[[Any], Any], jobs: Sequence[Any], work: Real) -> list[Any]:
        """Apply a kernel to jobs of known work, in parallel; return answers in the order of the jobs."""
        blocks = work_blocks(work, min(len(jobs), 120))
        answers: list[Any] = [None] * len(jobs)
        for block, results in zip(blocks, self.spread(lambda b: [kernel(jobs[at]) for at in b], blocks), strict=True):
            for at, answer in zip(block, results, strict=True):
                answers[at] = answer
        return answers

    def round(self, out: int, tries: int, lenience: float, heat: float = 0.0) -> float:
        """Take ``out`` members out of every group and put all parts together anew; return how much the cost fell.

        At least ``tries`` combinations are tried for each part. As a share, ``lenience`` is by how much one may look
        too dear before it is given up, ``heat`` by how much groups may get dearer in the mean: a way out of a valley.
        """
        groups = self.groups
        self._dice = int(self.generator.integers(1 << 62))
        splits = self.each(self._split, [(g, out) for g in range(len(groups))], self._work(groups))
        cost = self._combinations(splits, tries, lenience)
        now = np.diag(cost).copy()
        if heat:
            size = np.maximum(now, 0.0)  # rounding may leave a group of equal histories a hair below nothing
            cost -= heat * np.sqrt(np.outer(size, size)) * self.generator.exponential(size=cost.shape)
            cost[np.arange(len(now)), np.arange(len(now))] = now
        takes = linear_sum_assignment(cost)[1]
        changed = np.flatnonzero(takes != np.arange(len(groups)))
        if not len(changed):
            return 0.0

        def recombined(g: int) -> Group:
            mine, theirs = splits[g], splits[takes[g]]
            return self.joined(np.concatenate([mine.out, theirs.rest]), mine.out_table, theirs.rest_table)

        work = self._work([groups[g] for g in changed])
        new = dict(zip(changed.tolist(), self.each(recombined, changed.tolist(), work), strict=True))
        better, gain = dict(enumerate(groups)), 0.0
        for cycle in _cycles(takes, changed):
            fall = sum(groups[g].cost - new[g].cost for g in cycle)
            bar = -heat * now[cycle].mean() * self.generator.exponential() if heat else 1e-9
            if fall > bar:
                gain += fall
                # a recombined group stands where its larger part stood, so sizes stay in their places
                better |= {int(takes[g]): new[g] for g in cycle}
        self.replace([better[g] for g in range(len(groups))])
        return gain

    def _work(self, groups: Sequence[Group]) -> Real:
        return np.array([float(g.table.shape[1]) ** 2 + 1 for g in groups])

    def _split(self, job: tuple[int, int]) -> _Split:
        g, out = job
        group = self.groups[g]
        # drawn from a generator of its own: the same whatever the order in which threads come by
        dice = np.random.Generator(np.random.Philox(key=self._dice + g))
        taken = np.zeros(len(group.members), dtype=np.bool_)
        taken[dice.permutation(len(taken))[: max(min(out, len(taken) - 1), 1)]] = True
        key = (self.versions[g], tuple(np.flatnonzero(taken).tolist()))
        out_table, rest_table = self.without(group, ~taken), self.without(group, taken)
        return _Split(key, group.members[taken], group.members[~taken], out_table, rest_table)

    def _combinations(self, splits: Sequence[_Split], tries: int, lenience: float) -> Real:
        """Return the cost of every part taken out in every rest; out of reach where it was not worth trying."""
        count = len(splits)
        now = np.array([g.cost for g in self.groups])
        people = len(self.affinity)
        out, rest = _mean_of([s.out for s in splits], people), _mean_of([s.rest for s in splits], people)
        score: Real = (rest @ np.ascontiguousarray((out @ self.affinity).T)).T
        np.fill_diagonal(score, np.inf)
        wanted = np.zeros((count, count), dtype=np.bool_)
        for order, near in ((np.argsort(score, axis=1), wanted), (np.argsort(score.T, axis=1), wanted.T)):
            np.put_along_axis(near, order[:, :tries], values=True, axis=1)
        empty = np.array([group.deleted for group in self.groups])
        wanted[:, empty] = True  # to be deleted can come to anybody's mind: it needs no alignment
        np.fill_diagonal(wanted, val=False)
        taken = np.array([len(s.out) for s in splits])
        wanted &= taken[:, None] == taken[None, :]  # so that sizes stay
        pairs = np.argwhere(wanted)
        i, j = pairs[:, 0], pairs[:, 1]
        share = np.array([len(s.out) / (len(s.out) + len(s.rest)) for s in splits]) * now
        # a chain of changes that pays has a link under p_i + q_j, for any p + q that is the cost now
        limit = share[i] + now[j] - share[j] + lenience * (share[i] + share[j])
        limit[empty[j]] = np.inf
        costs = np.array([self._tried.get((splits[a].key, splits[b].key), np.nan) for a, b in pairs.tolist()])
        unknown = np.flatnonzero(np.isnan(costs))
        if len(self._tried) > _MOST_REMEMBERED:
            self._tried.clear()
        if len(unknown):
            parts = [s.out_table for s in splits], [s.rest_table for s in splits]
            worth = np.array([self.worth[s.out].sum() for s in splits])[i[unknown]]
            worth += np.array([self.worth[s.rest].sum() for s in splits])[j[unknown]]
            new, most = pairs[unknown], limit[unknown]
            costs[unknown] = joined_costs(self.rows, self.suppress, *parts, new, worth, most, self.spread)
            for at in unknown.tolist():
                self._tried[splits[i[at]].key, splits[j[at]].key] = float(costs[at])
        cost = np.full((count, count), _ALONE)
        cost[i, j] = np.where(costs <= limit, costs, _ALONE)
        cost[np.arange(count), np.arange(count)] = now
        return cost


def _mean_of(parts: Sequence[Whole], people: int) -> sparse.csr_array:
    """Return a matrix whose product with customers' lines is the mean line of each part; of nobody it is 0.

    >>> (_mean_of([np.array([0, 2]), np.array([], dtype=np.int64)], 3) @ np.array([[1.0], [8.0], [4.0]])).tolist()
    [[2.5], [0.0]]
    """
    sizes = np.array([len(part) for part in parts])
    weight = np.repeat(1 / np.maximum(sizes, 1), sizes)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    return sparse.csr_array((weight, np.concatenate(parts), ends), shape=(len(parts), people))


def joined_costs(
    rows: RowArrays,
    suppress: bool,
    ones: Sequence[Whole],
    others: Sequence[Whole],
    pairs: Whole,
    worth: Real,
    limit: Real,
    spread: Spread,
) -> Real:
    """Return what tables cost that are joined, by exact alignment; beyond its limit a bound that exceeds it.

    ``pairs`` tell which of ``ones`` is joined with which of ``others``; ``worth`` is that of all rows of both.
    """
    tables = [*ones, *others]
    sizes = np.array([t.size for t in tables])
    pool = np.concatenate([t.ravel() for t in tables])
    shapes = np.array([(at, *t.shape) for at, t in zip(np.cumsum(sizes) - sizes, tables, strict=True)])
    places = pairs + np.array([0, len(ones)])
    work = (shapes[places[:, 0], 2] * shapes[places[:, 1], 2] + 50.0) ** 1.2
    blocks, most = work_blocks(work), limit - worth
    cost: Real = worth.copy()
    values = spread(lambda block: join_costs(rows, suppress, pool, shapes, places[block], most[block]), blocks)
    for block, block_costs in zip(blocks, values, strict=True):
        cost[block] += block_costs
    return cost


def _cycles(takes: Whole, changed: Whole) -> list[list[int]]:
    """Return the cycles of a permutation that move anything.

    >>> _cycles(np.array([1, 0, 2, 4, 3]), np.array([0, 1, 3, 4]))
    [[0, 1], [3, 4]]
    """
    cycles, seen = [], set()
    for first in changed.tolist():
        cycle, at = [], first
        while at not in seen:
            seen.add(at)
            cycle.append(at)
            at = int(takes[at])
        if cycle:
            cycles.append(cycle)
    return cycles
