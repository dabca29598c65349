"""Clusters whose members are all given the union of their item sets, at the fewest additions (S2, and past it).

Giving s members the union of their sets adds ``s·|union|`` minus what they have, so the clusters sought are those of
least ``Σ s·|union|``. Sizes are free: customers with few items may fill large clusters, those with many go two by two.
The search is simulated annealing: one customer moves to another cluster, or two change places, and a step that adds
records is taken with a chance that falls as the search cools. How many members of each cluster have each item is kept,
so a step costs as much as the sets of those who move.

Of many customers those tables are too large for a processor's cache, and a step takes several times as long. Then the
clusters are dealt into groups anew in each of some rounds, and a round moves customers inside of groups alone: in the
end nearly all clusters have met, and the tables of a group are small however many customers there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noren.kernels.arrays import Codes, Whole
from noren.kernels.compiling import kernel
from noren.kernels.items.packed_sets import ItemSets
from noren.progress import Enough

Report = Callable[[float, int], None]
"""Told the share done (0 to 1) and how many records the best clusters so far would add."""

_AT_ONCE = 50_000
"""Steps between two reports: a few hundredths of a second, so an interruption is soon heard."""
_COLDER = 50.0
"""How many times colder the search ends than it began."""
_FROZEN = 0.03
"""The last share of the steps, in which the additions never rise."""
_TOGETHER, _FEWEST, _ROUNDS = 2_000, 100, 32
"""Customers and clusters that a group has at least, in the mean, and how often groups are dealt."""
_SWAPS, _GUIDED = 26_214, 32_768
"""How many of 65,536 steps swap two customers (0.4), and how many look where an item in common is (0.5)."""


@dataclass(frozen=True)
class UnionClusters:
    """The cluster of each set, how many records its members are short of, and how much of the search was done."""

    cluster: Whole
    added: int
    searched: float


class _State(NamedTuple):
    """The clusters as they are, with what a step looks up: all changed in place.

    ``after`` and ``before`` string the members of each cluster on a ring, so that another member is a hop away.
    """

    cluster: Whole
    holders: NDArray[np.uint32]
    size: Whole
    union: Whole
    after: Whole
    before: Whole
    dice: NDArray[np.uint64]


def added_records(sets: ItemSets, cluster: Whole) -> int:
    """Return how many items all members of all clusters lack of their cluster's union: S2's Δm.

    >>> from noren.kernels.items.packed_sets import item_sets
    >>> sets = item_sets(np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2]), 3, 3)
    >>> added_records(sets, np.array([0, 0, 1])), added_records(sets, np.array([0, 0, 0]))
    (1, 5)
    """
    unions = np.bincount(_united(sets, cluster)[0], minlength=int(cluster.max(initial=-1)) + 1)
    return int(unions[cluster].sum() - sets.sizes.sum())


def missing_items(sets: ItemSets, cluster: Whole) -> tuple[Whole, Whole]:
    """Return every customer and item that the union of the customer's cluster has and the customer lacks.

    They stand in order of customers, then items.

    >>> from noren.kernels.items.packed_sets import item_sets
    >>> sets = item_sets(np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2]), 3, 3)
    >>> [answer.tolist() for answer in missing_items(sets, np.array([0, 0, 0]))]
    [[0, 1, 1, 2, 2], [2, 0, 2, 0, 1]]
    """
    whose, what = _united(sets, cluster)
    clusters = int(cluster.max(initial=-1)) + 1
    end = np.cumsum(np.bincount(whose, minlength=clusters))
    sizes = np.diff(end, prepend=0)[cluster]
    who = np.repeat(np.arange(len(cluster)), sizes)
    place = np.arange(len(who)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + (end[cluster] - sizes)[who]
    items = int(what.max(initial=-1)) + 1
    own = np.repeat(np.arange(len(cluster)), sets.sizes) * items + sets.item
    # sorted keys without duplicates: what is own stands exactly where searchsorted says
    key = who * items + what[place]
    lacking = np.ones(len(key), dtype=np.bool_)
    lacking[np.searchsorted(key, own)] = False
    return who[lacking], what[place][lacking]


def union_clusters(
    sets: ItemSets, items: int, count: int, least: int, *, steps: int, seed: int, report: Report | None = None
) -> UnionClusters:
    """Return ``count`` clusters of at least ``least`` sets each that need few additions to be equal inside.

    The same seed gives the same clusters, whatever the machine. An interruption from the keyboard, or a report that
    says enough, ends the search with the best clusters so far. There must be ``count·least`` sets; ``steps`` moves and
    swaps are tried for each of them.

    Four customers of one item each and two of three: like goes with like, and nothing is added.

    >>> from noren.kernels.items.packed_sets import item_sets
    >>> owner, item = np.array([0, 1, 1, 1, 2, 3, 4, 4, 4, 5]), np.array([0, 1, 2, 3, 0, 0, 1, 2, 3, 0])
    >>> found = union_clusters(item_sets(owner, item, 6, 4), 4, 2, 2, steps=500, seed=1)
    >>> found.added, sorted(np.bincount(found.cluster).tolist())
    (0, [2, 4])
    """
    report = report or (lambda done, added: None)
    people, own = len(sets.sizes), int(sets.sizes.sum())
    cluster = np.empty(people, dtype=np.int64)  # of equal size at first, sets of like size together
    cluster[np.argsort(-sets.sizes, kind="stable")] = np.arange(people) * count // people
    best, cost = cluster.copy(), added_records(sets, cluster) + own
    lowest = cost
    total = steps * people if 1 < count < people else 0
    hot = max(own / max(people, 1), 1.0) * math.sqrt(people / count) / 5
    dice = np.random.SeedSequence(seed).generate_state(1, np.uint64).astype(np.uint64)
    groups = max(min(people // _TOGETHER, count // _FEWEST), 1)
    rounds = _ROUNDS if groups > 1 else 1
    deals = np.random.Philox(key=seed).random_raw(rounds * count).reshape(rounds, count)  # a stream that numpy keeps
    searched = 0.0
    try:
        for at_round, group in product(range(rounds if total else 0), range(groups)):
            # of one group the order of clusters says nothing, and is left
            order = np.argsort(deals[at_round], kind="stable") if groups > 1 else np.arange(count)
            clusters = np.sort(np.array_split(order, groups)[group])
            place = np.full(count, -1)
            place[clusters] = np.arange(len(clusters))
            members = np.flatnonzero(place[cluster] >= 0)
            some, state = _state(sets, items, members, place[cluster[members]], len(clusters), dice)
            by_item = np.argsort(some.item.astype(np.min_scalar_type(items)), kind="stable")
            buyers = np.repeat(np.arange(len(members), dtype=np.int32), some.sizes)[by_item]  # who has each item
            buyers_first = np.concatenate([[0], np.cumsum(np.bincount(some.item, minlength=items))])
            every = steps * len(members)
            cooling = int(every * (1 - _FROZEN))
            begin, end = every * at_round // rounds, every * (at_round + 1) // rounds
            done = begin
            while done < end:
                until = min(done + _AT_ONCE, cooling if done < cooling else every, end)
                heat = [hot * _COLDER ** -(at / cooling) if done < cooling else 0.0 for at in (done, until)]
                cost += _anneal(some.first, some.item, buyers_first, buyers, state, least, until - done, *heat)
                done = until
                searched = (at_round + (group + (done - begin) / (end - begin)) / groups) / rounds
                cluster[members] = clusters[state.cluster]
                if cost < lowest:
                    best, lowest = cluster.copy(), cost
                report(searched, lowest - own)
    except (Enough, KeyboardInterrupt):
        pass
    else:
        searched = 1.0
    # counted anew: an interruption may fall between the two of best and lowest
    return UnionClusters(best, added_records(sets, best), searched)


def _united(sets: ItemSets, cluster: Whole) -> tuple[Whole, Whole]:
    """Return the items of every cluster's union, by cluster, then item."""
    held = np.zeros((int(cluster.max(initial=-1)) + 1, int(sets.item.max(initial=-1)) + 1), dtype=np.bool_)
    held[np.repeat(cluster, sets.sizes), sets.item] = True
    whose, what = np.nonzero(held)
    return whose, what


def _state(
    sets: ItemSets, items: int, members: Whole, cluster: Whole, count: int, dice: NDArray[np.uint64]
) -> tuple[ItemSets, _State]:
    """Return the sets of some customers, and the state of a search among them, who are in ``count`` clusters."""
    people, sizes = len(members), sets.sizes[members]
    first = np.concatenate(([0], np.cumsum(sizes)))
    place = np.arange(first[-1]) - np.repeat(first[:-1] - sets.first[members], sizes)
    some = sets._replace(first=first, item=sets.item[place], weight=sets.weight[place], total=sets.total[members])
    # half the bytes, where they suffice: the table of holders is what the steps read most
    holders = np.zeros((count, items), dtype=np.uint16 if people < 1 << 16 else np.uint32)
    np.add.at(holders.reshape(-1), np.repeat(cluster * items, sizes) + some.item, holders.dtype.type(1))
    order = np.argsort(cluster, kind="stable")
    size = np.bincount(cluster, minlength=count)
    ends = np.cumsum(size)
    follows = np.arange(1, people + 1)
    follows[ends - 1] = ends - size
    after, before = np.empty(people, dtype=np.int64), np.empty(people, dtype=np.int64)
    after[order] = order[follows]
    before[after] = np.arange(people)
    return some, _State(cluster, holders, size, np.count_nonzero(holders, axis=1), after, before, dice)


@kernel()
def _draw(dice: NDArray[np.uint64]) -> Any:
    """Return 64 random bits: SplitMix64 (Steele, Lea, Flood 2014), whose stream no library's version changes."""
    dice[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = dice[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@kernel()
def _below(dice: NDArray[np.uint64], limit: int) -> Any:
    """Return a random whole number from 0 to below ``limit``, which is less than 2^32."""
    return np.int64(((_draw(dice) >> np.uint64(32)) * np.uint64(limit)) >> np.uint64(32))


@kernel()
def _common(item: Codes, u: int, u_end: int, v: int, v_end: int, here: Whole, there: Whole) -> tuple[int, int]:
    """Return how many of the items of both sets have but one holder here, and how many there."""
    only_here, only_there = 0, 0
    while u < u_end and v < v_end:
        if item[u] < item[v]:
            u += 1
        elif item[u] > item[v]:
            v += 1
        else:
            only_here += here[item[u]] == 1
            only_there += there[item[u]] == 1
            u += 1
            v += 1
    return only_here, only_there


@kernel()
def _anneal(
    first: Whole,
    item: Codes,
    buyers_first: Whole,
    buyers: Codes,
    state: _State,
    least: int,
    steps: int,
    hot: float,
    cold: float,
) -> int:
    """Take some steps, cooling from ``hot`` to ``cold``; change the state and return by how much the cost rose."""
    cluster, holders, size, union, after, before, dice = state
    people = len(cluster)
    heat, falling = hot, 1.0
    if hot > 0:
        falling = (cold / hot) ** (1 / max(steps, 1))
    rise = 0
    for _step in range(steps):
        heat *= falling
        u = _below(dice, people)
        bits = _draw(dice)
        v = _below(dice, people)
        start, end = first[u], first[u + 1]
        if np.int64((bits >> np.uint64(16)) & np.uint64(65_535)) < _GUIDED and end > start:
            i = item[start + _below(dice, end - start)]
            v = np.int64(buyers[buyers_first[i] + _below(dice, buyers_first[i + 1] - buyers_first[i])])
        a, b = cluster[u], cluster[v]
        if a == b:
            continue
        chance = 1.0 - np.float64(_draw(dice) >> np.uint64(11)) * 2.0**-53
        bar = -heat * math.log(chance)
        here, there = holders[a], holders[b]
        # what a's union loses and b's gains when u goes
        lost, gained = 0, 0
        for at in range(start, end):
            lost += here[item[at]] == 1
            gained += there[item[at]] == 0
        swapping = np.int64(bits & np.uint64(65_535)) < _SWAPS or size[a] <= least
        if not swapping:
            change = (size[a] - 1) * (union[a] - lost) - size[a] * union[a]
            change += (size[b] + 1) * (union[b] + gained) - size[b] * union[b]
            if change > bar:
                continue
            for at in range(start, end):
                here[item[at]] -= 1
                there[item[at]] += 1
            union[a] -= lost
            union[b] += gained
            size[a] -= 1
            size[b] += 1
            cluster[u] = b
            after[before[u]], before[after[u]] = after[u], before[u]
            after[u], before[u] = after[v], v
            before[after[u]] = u
            after[v] = u
            rise += change
            continue
        for _hop in range(np.int64((bits >> np.uint64(32)) & np.uint64(3))):
            v = after[v]
        back, back_end = first[v], first[v + 1]
        lost_there, gained_here = 0, 0
        for at in range(back, back_end):
            lost_there += there[item[at]] == 1
            gained_here += here[item[at]] == 0
        change = size[a] * (gained_here - lost) + size[b] * (gained - lost_there)
        if change > bar:
            continue
        # what both have is not lost; that makes the swap dearer, so it is counted only where it might still pay
        kept_here, kept_there = _common(item, start, end, back, back_end, here, there)
        change += size[a] * kept_here + size[b] * kept_there
        if change > bar:
            continue
        for at in range(start, end):
            here[item[at]] -= 1
            there[item[at]] += 1
        for at in range(back, back_end):
            there[item[at]] -= 1
            here[item[at]] += 1
        union[a] += gained_here - lost + kept_here
        union[b] += gained - lost_there + kept_there
        cluster[u], cluster[v] = b, a
        u_after, u_before, v_after, v_before = after[u], before[u], after[v], before[v]
        _seat(after, before, u, v, v_before, v_after)
        _seat(after, before, v, u, u_before, u_after)
        rise += change
    return rise


@kernel()
def _seat(after: Whole, before: Whole, who: int, seat: int, left: int, right: int) -> None:
    """Put ``who`` on a ring in the place of ``seat``, between ``left`` and ``right``."""
    if right == seat:
        after[who], before[who] = who, who
    else:
        after[who], before[who] = right, left
        before[right], after[left] = who, who
