"""Rows cut into classes, again and again, along the column that spreads them most (Mondrian).

Each row is a point; a cut takes one column and parts the points of a box in two. A strict cut lies between two values,
so rows of equal value stay together; a relaxed one parts equal values too, so that the halves are as equal as can be.
A box that no cut leaves with two parts of k rows is a class.

Where a rule looks at sensitive values, whether a box is cut depends on how many rows of each value *the box* has, never
on how its parts divide them: a cut given up because a part breaks the rule tells whose values are alike (Wong et al.
2007). A box is cut if parts drawn at random from its rows would keep the rule, with a margin; where values go with the
columns some parts break it all the same, and the caller deletes them. Every box is a union of classes, so permuting
values inside classes changes no cut: ``docs/theory/lattice.md`` says what follows.
"""

from __future__ import annotations

import numpy as np

from noren.kernels.arrays import Real, Whole
from noren.kernels.compiling import kernel
from noren.kernels.lattice.scores import EACH, NO_DIVERSITY, ClassRule, class_passes

_MARGIN = 1.5
"""Standard deviations, for ℓ. With 0, 1, 1.5, 2 and 3 of them two salaries per class, k = 5, cost 16, 8, 6, 5 and 4 %
of Adult's rows; of 400 sample people with two illnesses per class 54, 40, 33, 25 and 15 classes are left."""


def classes_by_cuts(
    codes: Whole,
    places: list[Real],
    rule: ClassRule,
    *,
    relaxed: bool = False,
    sensitive: Whole | None = None,
    counts: Whole | None = None,
) -> Whole | None:
    """Return the class of each row, counted from 0, or None where even all rows together break the rule.

    Boxes are cut along the column in which they are widest, at the cut that leaves the halves most equal; where that
    may not be made, along the next widest. All classes have k rows; what the rule asks of sensitive values some may not
    keep.

    Parameters
    ----------
    codes
        ``codes[column, row]``: the code of each value, in the column's order.
    places
        For each column where its codes lie, from 0 to 1: what width is measured by.
    rule
        What a class must be; see :class:`~noren.kernels.lattice.scores.ClassRule`.
    sensitive
        The code of each row's sensitive value, where the rule looks at it.
    counts
        Where rows are combinations of values: how many rows each stands for. They stay together, so that no cut may be
        relaxed. Left out, each is one row.

    Examples
    --------
    Ages 20, 21, 30, 31 lie widest apart between 21 and 30.

    >>> ages = np.array([[3, 0, 1, 2]])
    >>> classes_by_cuts(ages, [np.array([0.0, 1 / 11, 10 / 11, 1.0])], ClassRule(2, 0)).tolist()
    [1, 0, 0, 1]
    """
    rows = codes.shape[1]
    values = np.zeros(rows, dtype=np.int64) if sensitive is None else sensitive
    if counts is None:
        counts = np.ones(rows, dtype=np.int64)
    elif relaxed:
        raise ValueError("a relaxed cut parts rows, not combinations of values")
    everybody = np.bincount(values, counts, minlength=1) / max(int(counts.sum()), 1)
    starts = np.cumsum([0, *(len(place) for place in places)])[:-1].astype(np.int64)
    answer = _cut(
        np.ascontiguousarray(codes, dtype=np.int64),
        np.concatenate(places).astype(np.float64),
        starts,
        max(len(place) for place in places),
        rule,
        relaxed,
        values,
        everybody,
        counts,
    )
    return None if answer[0] < 0 else answer


@kernel()
def _cut(
    codes: Whole,
    places: Real,
    starts: Whole,
    most_codes: int,
    rule: ClassRule,
    relaxed: bool,
    values: Whole,
    everybody: Real,
    weight: Whole,
) -> Whole:
    columns, rows = codes.shape
    order, aside = np.arange(rows), np.empty(rows, dtype=np.int64)
    class_of = np.full(rows, -1, dtype=np.int64)
    counts = np.zeros(most_codes, dtype=np.int64)
    tally = np.zeros(len(everybody), dtype=np.int64)
    low, high, width = np.empty(columns, np.int64), np.empty(columns, np.int64), np.empty(columns)
    looks = rule.diversity != NO_DIVERSITY or rule.t >= 0
    for row in range(rows):
        tally[values[row]] += weight[row]
    if not _passes(rule, tally, everybody):
        return class_of
    # boxes still to cut; the deepest way down is halves of halves, and a box waits for each
    first, last = np.empty(rows + 1, np.int64), np.empty(rows + 1, np.int64)
    first[0], last[0], waiting, classes = 0, rows, 1, 0
    while waiting:
        waiting -= 1
        a, b = first[waiting], last[waiting]
        middle, size = -1, weight[order[a:b]].sum()
        if size >= 2 * rule.k:
            broken = False
            if looks:
                tally[:] = 0
                for i in range(a, b):
                    tally[values[order[i]]] += weight[order[i]]
                broken = not _passes(rule, tally, everybody)  # it would be deleted: its parts can only gain
            for column in range(columns):
                own = codes[column][order[a:b]]
                low[column], high[column] = own.min(), own.max()
                width[column] = places[starts[column] + high[column]] - places[starts[column] + low[column]]
            for column in np.argsort(-width, kind="mergesort"):  # widest first, ties in the columns' order
                if low[column] == high[column]:
                    continue
                ends = low[column], high[column]
                middle = _part(codes[column], order, aside, a, b, *ends, size, rule.k, relaxed, counts, weight)
                if middle < 0:
                    continue
                left = weight[order[a:middle]].sum()
                if not looks or broken or _promising(rule, tally, min(left, size - left), everybody):
                    break
                middle = -1
        if middle < 0:
            class_of[order[a:b]] = classes
            classes += 1
        else:
            first[waiting], last[waiting] = middle, b
            first[waiting + 1], last[waiting + 1] = a, middle
            waiting += 2
    return class_of


@kernel()
def _part(
    codes: Whole,
    order: Whole,
    aside: Whole,
    a: int,
    b: int,
    low: int,
    high: int,
    size: int,
    k: int,
    relaxed: bool,
    counts: Whole,
    weight: Whole,
) -> int:
    """Sort the box so that a cut along one column parts it; return where the second part starts, -1 where none may."""
    counts[low : high + 1] = 0
    for row in order[a:b]:
        counts[codes[row]] += weight[row]
    below, cut, left = 0, -1, 0
    for code in range(low, high):  # a cut after this code
        below += counts[code]
        if below >= k and size - below >= k and (cut < 0 or abs(2 * below - size) < abs(2 * left - size)):
            cut, left = code, below
    ties = 0  # rows of the code after the cut that go to the first part
    if relaxed:
        half, below, cut = size // 2, 0, low - 1
        while below + counts[cut + 1] <= half:
            cut += 1
            below += counts[cut]
        ties, left = half - below, half
    elif cut < 0:
        return -1
    to, other = a, 0
    for row in order[a:b]:
        tie = ties > 0 and codes[row] == cut + 1
        ties -= tie
        if tie or codes[row] <= cut:
            order[to] = row
            to += 1
        else:
            aside[other] = row
            other += 1
    order[to:b] = aside[:other]
    return int(to)


@kernel()
def _passes(rule: ClassRule, tally: Whole, everybody: Real) -> bool:
    """Tell whether a class with so many rows of each sensitive value may be shown."""
    there = np.flatnonzero(tally)
    return bool(class_passes(rule, tally[there], there, everybody, np.zeros(len(tally))))


@kernel()
def _promising(rule: ClassRule, tally: Whole, part: int, everybody: Real) -> bool:
    """Tell whether a part of so many rows keeps the rule if chance deals it the values of its box, with a margin."""
    if rule.diversity == EACH:
        for column in range(rule.parts.shape[0]):
            own = np.zeros(rule.parts[column].max() + 1, dtype=np.int64)
            for code in range(len(tally)):
                own[rule.parts[column, code]] += tally[code]
            if np.count_nonzero(_least_varied(own, part)) < rule.ell:
                return False
        return True
    if rule.t >= 0:
        size, near = tally.sum(), rule.t
        for rows in tally:  # a distance is half a sum of deviations: of one standard deviation each
            near -= np.sqrt(_variance(rows, size, part)) / part / 2
        if near < 0 or not _passes(ClassRule(rule.k, 0, 0, 1, 1.0, near, rule.ordered, rule.parts), tally, everybody):
            return False
    return rule.diversity == NO_DIVERSITY or _passes(rule, _least_varied(tally, part), everybody)


@kernel()
def _variance(rows: int, size: int, part: int) -> float:
    """Return the variance of how many rows of a kind a part drawn at random has: it is hypergeometric."""
    return part * rows / size * (size - rows) / size * (size - part) / max(size - 1, 1)


@kernel()
def _least_varied(tally: Whole, part: int) -> Whole:
    """Return the rows of each value in a part of a box: too many of the commonest, and the others as in the box."""
    common, size, rows = np.argmax(tally), tally.sum(), np.zeros_like(tally)
    others = size - tally[common]
    few = max(int(part * others / size - _MARGIN * np.sqrt(_variance(others, size, part))), 0)
    shares, left = few * tally, few
    shares[common] = 0
    for value in range(len(tally)):
        rows[value] = shares[value] // max(others, 1)
        left -= rows[value]
    for value in np.argsort(rows * others - shares, kind="mergesort")[:left]:  # largest remainders first
        rows[value] += 1
    rows[common] += part - few
    return rows
