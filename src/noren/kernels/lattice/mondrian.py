"""Rows cut into classes, again and again, along the column that spreads them most (Mondrian).

Each row is a point; a cut takes one column and parts the points of a box in two. A strict cut lies between two values,
so rows of equal value stay together; a relaxed one parts equal values too, so that the halves are as equal as can be.
A box that no cut leaves with two lawful parts is a class.
"""

from __future__ import annotations

import numpy as np

from noren.kernels.arrays import Real, Whole
from noren.kernels.compiling import kernel
from noren.kernels.lattice.class_rules import ClassRule, class_passes

__all__ = ["classes_by_cuts"]


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

    Boxes are cut along the column in which they are widest, at the lawful cut that leaves the halves most equal; where
    a column has none, the next widest is tried.

    Parameters
    ----------
    codes
        ``codes[column, row]``: the code of each value, in the column's order.
    places
        For each column where its codes lie, from 0 to 1: what width is measured by.
    rule
        What a class must be; see :class:`~noren.kernels.lattice.class_rules.ClassRule`.
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
    if not _lawful(order, 0, rows, rule, values, everybody, tally, weight):
        return class_of
    # boxes still to cut; the deepest way down is halves of halves, and a box waits for each
    first, last = np.empty(rows + 1, np.int64), np.empty(rows + 1, np.int64)
    first[0], last[0], waiting, classes = 0, rows, 1, 0
    while waiting:
        waiting -= 1
        a, b = first[waiting], last[waiting]
        middle, size = -1, 0
        for i in range(a, b):
            size += weight[order[i]]
        if size >= 2 * rule.k:
            for column in range(columns):
                low[column] = high[column] = codes[column, order[a]]
                for i in range(a + 1, b):
                    code = codes[column, order[i]]
                    if code < low[column]:
                        low[column] = code
                    elif code > high[column]:
                        high[column] = code
                width[column] = places[starts[column] + high[column]] - places[starts[column] + low[column]]
            for column in np.argsort(-width, kind="mergesort"):  # widest first, ties in the columns' order
                if low[column] == high[column]:
                    continue
                ends = low[column], high[column]
                middle = _part(codes[column], order, aside, a, b, *ends, size, rule.k, relaxed, counts, weight)
                if middle < 0:
                    continue
                if _lawful(order, a, middle, rule, values, everybody, tally, weight) and _lawful(
                    order, middle, b, rule, values, everybody, tally, weight
                ):
                    break
                middle = -1
        if middle < 0:
            for i in range(a, b):
                class_of[order[i]] = classes
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
    for code in range(low, high + 1):
        counts[code] = 0
    for i in range(a, b):
        counts[codes[order[i]]] += weight[order[i]]
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
    for i in range(a, b):
        row = order[i]
        first = codes[row] <= cut
        if not first and ties > 0 and codes[row] == cut + 1:
            ties -= 1
            first = True
        if first:
            order[to] = row
            to += 1
        else:
            aside[other] = row
            other += 1
    for i in range(other):
        order[to + i] = aside[i]
    return int(to)


@kernel()
def _lawful(
    order: Whole, a: int, b: int, rule: ClassRule, values: Whole, everybody: Real, tally: Whole, weight: Whole
) -> bool:
    size = 0
    for i in range(a, b):
        size += weight[order[i]]
    if size < rule.k:
        return False
    if rule.diversity == 0 and rule.t < 0:
        return True
    for i in range(a, b):
        tally[values[order[i]]] += weight[order[i]]
    there = np.flatnonzero(tally)
    passes = class_passes(rule, tally[there], there, everybody, np.zeros(len(tally)))
    tally[:] = 0
    return bool(passes)
