"""Groups of at least k points with the smallest sum of squared distances to their means.

MDAV (Domingo-Ferrer and Mateo-Sanz 2002) makes a first grouping: the point furthest from the mean of all that are left
and its nearest k - 1 are a group, then the one furthest from that and its nearest. Two or three groups that are next to
each other are then taken apart again and again and put together anew: their points are laid on a walk from one to the
nearest that is left, cut into groups where that costs least (Hansen and Mukherjee 2003), and points are moved and
exchanged while that lowers the sum. A new grouping is taken if it is better, or at first a little worse. Points on a
line are cut at once, which is the optimum.

An optimal group has fewer than 2k points: a larger one could be cut in two without a higher sum.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.spatial import cKDTree

from noren.kernels.arrays import Real, Whole
from noren.kernels.compiling import kernel, part
from noren.progress import Enough

BLOCK = 10_000
"""Points searched together: MDAV's time grows with their square."""
_POOL = 1_200
"""Most points that are taken apart at once; groups so large that two of them have more stay as MDAV made them."""
_NEAR = 8
"""Neighbours of a point that are known: so many times k."""
_HEAT, _COLD = 0.5, 0.75
"""How much worse a grouping may be that is taken at first, and the share of the search after which none is."""
_STEPS = 40
"""In how many pieces the search reports and may be stopped."""


def mdav(points: Real, k: int) -> Whole:
    """Return the group of each point by MDAV, counted from 0.

    >>> mdav(np.array([[0.0], [9.0], [1.0], [8.0], [2.0]]), 2).tolist()
    [1, 0, 1, 0, 1]
    """
    group = np.empty(len(points), dtype=np.int64)
    left, made = np.arange(len(points)), 0
    while len(left) >= 2 * k:
        seed = points[left].mean(axis=0)
        seed = points[left[np.argmax(_distances(points[left], seed))]]
        for _turn in range(2 if len(left) >= 3 * k else 1):
            far = _distances(points[left], seed)
            seed = points[left[np.argmax(far)]]
            nearest = np.argsort(far, kind="stable")[:k]
            group[left[nearest]] = made
            left = np.delete(left, nearest)
            made += 1
    group[left] = made
    return group


def _distances(points: Real, place: Real) -> Real:
    """Return the squared distance of each point to a place, summed column by column on every machine."""
    far = np.zeros(len(points))
    for column, middle in zip(points.T, place, strict=True):
        far += (column - middle) ** 2
    return far


def squared_error(points: Real, group: Whole) -> float:
    """Return the sum of the squared distances of points to the means of their groups.

    >>> squared_error(np.array([[0.0], [2.0], [5.0]]), np.array([0, 0, 1]))
    2.0
    """
    sizes = np.bincount(group)
    means = np.stack([np.bincount(group, column) / sizes for column in points.T], axis=1)
    return float(((points - means[group]) ** 2).sum())


def cut_line(values: Real, k: int) -> Whole:
    """Return the group of each of some numbers with the smallest squared error, counted from the smallest.

    >>> cut_line(np.array([5.0, 1.0, 2.0, 9.0, 6.0, 1.0]), 2).tolist()
    [1, 0, 1, 2, 2, 0]
    """
    order = np.argsort(values, kind="stable")
    group = np.empty(len(values), dtype=np.int64)
    line = np.ascontiguousarray(values[order] - np.median(values), dtype=np.float64).reshape(-1, 1)
    group[order] = _cut_path(line, np.arange(len(values)), k)
    return group


def small_groups(
    points: Real,
    k: int,
    tries: int,
    generator: np.random.Generator,
    pace: Callable[[float, float], float] = lambda done, _error: done,
) -> tuple[Whole, bool]:
    """Return groups of at least k points with a small squared error, and whether the search came to its end.

    Points beyond :data:`BLOCK` are searched in blocks, halved along the column that spreads most, so that time grows
    linearly. Groups have fewer than 2k points where there are as many.

    Parameters
    ----------
    tries
        How often, for each group, two or three neighbouring groups are put together anew.
    pace
        Told the share of the tries made and the squared error so far, returns the share of the search that is over: the
        search goes on until that is 1. An interruption, or :class:`~noren.progress.Enough`, ends it with what there is.

    >>> near = np.array([[0.0, 0.0], [9.0, 9.0], [0.0, 1.0], [9.0, 8.0]])
    >>> small_groups(near, 2, 5, np.random.default_rng(1))[0].tolist()
    [1, 0, 1, 0]
    """
    points = np.ascontiguousarray(points, dtype=np.float64)
    waiting, blocks = [np.arange(len(points))], []
    while waiting:
        members = waiting.pop()
        if len(members) > max(BLOCK, 4 * k):
            column = int(np.argmax(points[members].var(axis=0)))
            order = members[np.argsort(points[members, column], kind="stable")]
            waiting += [order[len(order) // 2 :], order[: len(order) // 2]]
        else:
            blocks.append(members)
    group = np.empty(len(points), dtype=np.int64)
    made, error, whole = 0, 0.0, True
    for at, members in enumerate(blocks):

        def pace_of_all(done: float, mine: float, at: int = at, before: float = error) -> float:
            return pace((at + done) / len(blocks), before + mine) * len(blocks) - at

        of, ended = _searched(points[members], k, tries if whole else 0, generator, pace_of_all)
        group[members] = made + of
        made += int(of.max(initial=-1)) + 1
        error += squared_error(points[members], of)
        whole = whole and ended
    return group, whole


def _searched(
    points: Real, k: int, tries: int, generator: np.random.Generator, pace: Callable[[float, float], float]
) -> tuple[Whole, bool]:
    """Return the groups of one block, never with a higher squared error than MDAV's, and whether it was searched."""
    count = len(points)
    if count < 2 * k:
        return np.zeros(count, dtype=np.int64), True
    if points.shape[1] == 1:
        return cut_line(points[:, 0], k), True
    first = mdav(points, k)
    most, made = min(3, _POOL // (2 * k - 1)), int(first.max()) + 1
    best = squared_error(points, first)
    if most < 2 or not tries or best == 0.0:
        return first, tries > 0
    near = cKDTree(points).query(points, min(_NEAR * k, count))[1].astype(np.int64)
    group = first.copy()
    sizes = np.bincount(group, minlength=count // k + 1)
    members = np.full((len(sizes), 2 * k - 1), -1)
    order = np.argsort(group, kind="stable")
    members[group[order], np.arange(count) - (np.cumsum(sizes) - sizes)[group[order]]] = order
    steps, error, over = 0, best, 0.0
    try:
        while (over := pace(steps / _STEPS, error)) < 1:
            # at first a step may cost as much as a share of what a group costs in the mean
            heat = _HEAT * best / made * max(1.0 - over / _COLD, 0.0) ** 2
            dice = generator.random((max(round(tries * made / _STEPS), 1), 4))
            error += _recombined(points, near, k, most, group, members, sizes, dice, heat)
            steps += 1
    except (Enough, KeyboardInterrupt):
        over = 0.0
    group = np.unique(group, return_inverse=True)[1].astype(np.int64)
    return group if squared_error(points, group) <= best else first, over >= 1


@part()
def _cut_path(points: Real, path: Whole, k: int) -> Whole:
    """Return the group of each place on a path, cut where the sum of squared errors is least."""
    count, columns = len(path), points.shape[1]
    best = np.full(count + 1, 1e300)
    back = np.zeros(count + 1, dtype=np.int64)
    best[0] = 0.0
    sums = np.empty(columns)
    for stop in range(k, count + 1):
        sums[:] = 0.0
        squares = 0.0
        for start in range(stop - 1, max(stop - 2 * k, -1), -1):
            size = stop - start
            total = 0.0
            for c in range(columns):
                x = points[path[start], c]
                squares += x * x
                sums[c] += x
                total += sums[c] * sums[c]
            if size >= k and best[start] < 1e299:
                cost = best[start] + max(squares - total / size, 0.0)
                if cost < best[stop]:
                    best[stop], back[stop] = cost, start
    group = np.empty(count, dtype=np.int64)
    stop, made = count, 0
    while stop > 0:
        group[back[stop] : stop] = made
        stop = back[stop]
        made += 1
    return made - 1 - group


@part()
def _improve(far: Real, group: Whole, groups: int, k: int) -> float:
    """Move and exchange points between groups, in place, while that lowers the squared error; return it.

    ``far`` are squared distances; a group of n points has the error of all of theirs together, divided by 2n.
    """
    count = len(group)
    sizes = np.zeros(groups, dtype=np.int64)
    ties = np.zeros((count, groups))  # the squared distances of a point to all of a group
    inside = np.zeros(groups)
    for i in range(count):
        sizes[group[i]] += 1
        for j in range(count):
            ties[i, group[j]] += far[i, j]
    for i in range(count):
        inside[group[i]] += ties[i, group[i]] / 2
    moved = True
    while moved:
        moved = False
        for i in range(count):
            a = group[i]
            least, to, partner = -1e-10, -1, -1
            error_a = inside[a] / sizes[a]
            for b in range(groups):
                if b == a:
                    continue
                error_b = inside[b] / sizes[b]
                if sizes[a] > k and sizes[b] < 2 * k - 1:
                    change = (inside[a] - ties[i, a]) / (sizes[a] - 1) + (inside[b] + ties[i, b]) / (sizes[b] + 1)
                    change -= error_a + error_b
                    if change < least:
                        least, to, partner = change, b, -1
            for j in range(count):
                b = group[j]
                if b != a:
                    new_a = (inside[a] - ties[i, a] + ties[j, a] - far[i, j]) / sizes[a]
                    new_b = (inside[b] - ties[j, b] + ties[i, b] - far[i, j]) / sizes[b]
                    change = new_a + new_b - error_a - inside[b] / sizes[b]
                    if change < least:
                        least, to, partner = change, b, j
            if to < 0:
                continue
            moved = True
            inside[a] -= ties[i, a]
            inside[to] += ties[i, to]
            if partner >= 0:
                inside[a] += ties[partner, a] - far[i, partner]
                inside[to] -= ties[partner, to] + far[i, partner]
                for x in range(count):
                    ties[x, a] += far[x, partner] - far[x, i]
                    ties[x, to] += far[x, i] - far[x, partner]
                group[partner] = a
            else:
                for x in range(count):
                    ties[x, a] -= far[x, i]
                    ties[x, to] += far[x, i]
                sizes[a] -= 1
                sizes[to] += 1
            group[i] = to
    error = 0.0
    for g in range(groups):
        error += inside[g] / sizes[g]
    return error


@kernel()
def _recombined(
    points: Real, near: Whole, k: int, most: int, group: Whole, members: Whole, sizes: Whole, dice: Real, heat: float
) -> float:
    """Put neighbouring groups together anew, in place, once for each line of ``dice``; return the change of the error.

    ``group`` is the group of each point, ``members`` and ``sizes`` those of each group, none of free numbers.
    """
    count = len(points)
    change = 0.0
    chosen = np.empty(most, dtype=np.int64)
    pool = np.empty(most * (2 * k - 1), dtype=np.int64)
    far = np.zeros((len(pool), len(pool)))
    for at in range(len(dice)):
        middle = min(int(dice[at, 0] * count), count - 1)
        wanted = min(2 + int(dice[at, 1] * (most - 1)), most)
        chosen[0] = group[middle]
        groups = 1
        for n in range(1, near.shape[1]):
            other = group[near[middle, n]]
            if other not in chosen[:groups]:
                chosen[groups] = other
                groups += 1
                if groups == wanted:
                    break
        if groups < 2:
            continue
        size, before = 0, 0.0
        for g in chosen[:groups]:
            start, inside = size, 0.0
            for member in members[g, : sizes[g]]:
                for j in range(size):
                    total = 0.0
                    for c in range(points.shape[1]):
                        total += (points[member, c] - points[pool[j], c]) ** 2
                    far[size, j] = far[j, size] = total
                    inside += total if j >= start else 0.0
                pool[size] = member
                size += 1
            before += inside / sizes[g]
        # a walk from some point, or from the one furthest from it, to the nearest that is left
        path = np.empty(size, dtype=np.int64)
        free = np.ones(size, dtype=np.bool_)
        here = min(int(dice[at, 2] * size), size - 1)
        if dice[at, 2] * size - here < 0.5:
            here = int(np.argmax(far[here, :size]))
        for step in range(size):
            path[step] = here
            free[here] = False
            least, nearest = 1e300, here
            for j in range(size):
                if free[j] and far[here, j] < least:
                    least, nearest = far[here, j], j
            here = nearest
        laid = _cut_path(points, pool[path], k)
        new_group = np.empty(size, dtype=np.int64)
        new_group[path] = laid
        made = laid[size - 1] + 1
        after = _improve(far, new_group, made, k)
        bar = before - heat * np.log(max(dice[at, 3], 1e-12))
        if after >= min(bar, before - 1e-12 if heat == 0.0 else bar):
            continue
        # numbers of groups: those taken apart, and free ones where there are more now
        numbers = np.empty(made, dtype=np.int64)
        for g in range(groups):
            sizes[chosen[g]] = 0
            if g < made:
                numbers[g] = chosen[g]
        spare = 0
        for g in range(groups, made):
            while sizes[spare] > 0 or spare in numbers[:g]:
                spare += 1
            numbers[g] = spare
        for i in range(size):
            g = numbers[new_group[i]]
            group[pool[i]] = g
            members[g, sizes[g]] = pool[i]
            sizes[g] += 1
        change += after - before
    return change
