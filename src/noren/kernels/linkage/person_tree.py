"""Whose row it is: the likeliest people for each kind of public row, found in a tree of what is known of them.

People who are alike in the first columns share a path, so a column is compared once for all of them; a path on which
no person can come near the likeliest one is left.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from noren.kernels.arrays import Real, Whole
from noren.kernels.compiling import kernel

NOTHING, INSIDE, LISTED = 0, 1, 2
"""What a cell says: nothing, that a value lies between two ends, or that it is one of a list."""
_TIE = 1e-9
_CUT = 9.0
"""People whose likelihood is smaller than the best by e^16 are not counted."""


_FINE = 256
_WEIGHTS = np.exp(-np.arange(int(_CUT * _FINE) + 2) / _FINE)
"""e^-x in steps of 1/256: near enough for a chance, and much faster."""


class PersonTree(NamedTuple):
    """People by their values, column after column."""

    value: Whole
    """The code that each node stands for, the nodes of one column after those of the column before."""
    first: Whole
    past: Whole
    """``first``, ``past``: its children, to below ``past``; of a node of the last column, places in ``person``."""
    start: Whole
    """The first node of each column, and the number of nodes."""
    person: Whole
    """The people, those of a node side by side."""


class Cells(NamedTuple):
    """What the cells of all columns say, one cell after another."""

    kind: Whole
    """``NOTHING``, ``INSIDE`` or ``LISTED``."""
    low: Real
    high: Real
    """``low``, ``high``: the ends that a value may lie between."""
    begin: Whole
    end: Whole
    """``begin``, ``end``: where its values are in ``listed``."""
    listed: Whole
    """Codes of values."""


class Noise(NamedTuple):
    """How likely a person's value is to be shown as a cell, in logs."""

    offset: Whole
    """The place of each column's first code, and the number of codes."""
    place: Real
    """Where each code lies; NaN where the value is missing."""
    base: Real
    """What each code gets where the cell fits."""
    miss: Real
    step: Real
    """``miss``, ``step``: what a column loses where the cell does not fit, and for each step between them."""
    hush: Real
    """What a column loses where the cell says nothing and the person has a value."""


class LikeliestPeople(NamedTuple):
    """The likeliest people for each kind of row."""

    best: Real
    """The log-likelihood of the likeliest; -inf where nobody fits."""
    weight: Real
    """The likelihood of everybody, in units of the likeliest person's."""
    person: Whole
    """For each row one of the likeliest, no two rows of a kind the same; -1 where there are too few."""
    visits: int
    """How many nodes were looked at."""


def person_tree(codes: Whole, people: Whole) -> PersonTree:
    """Return the tree of people; ``codes[column, at]`` is the value that ``people[at]`` has.

    >>> tree = person_tree(np.array([[0, 1, 0], [2, 2, 1]]), np.array([5, 6, 7]))
    >>> tree.value.tolist(), tree.first.tolist(), tree.past.tolist(), tree.person.tolist()
    ([0, 1, 1, 2, 2], [2, 4, 0, 1, 2], [4, 5, 1, 2, 3], [7, 5, 6])
    """
    columns, count = codes.shape
    order = np.lexsort(codes[::-1]) if columns else np.arange(count)
    laid = codes[:, order]
    differs = np.arange(count) == 0
    heads = []
    for column in range(columns):
        differs[1:] |= laid[column, 1:] != laid[column, :-1]
        heads.append(np.flatnonzero(differs))
    start = np.concatenate([[0], np.cumsum([len(nodes) for nodes in heads])]).astype(np.int64)
    first, past = [], []
    for column, nodes in enumerate(heads):
        last = column == columns - 1
        # the first child of a node is the node of the next column that begins with the same person
        begins = nodes if last else start[column + 1] + np.searchsorted(heads[column + 1], nodes)
        first.append(begins)
        past.append(np.append(begins[1:], count if last else start[column + 2]))
    value = [laid[column][nodes] for column, nodes in enumerate(heads)]
    return PersonTree(_joined(value), _joined(first), _joined(past), start, people[order])


def _joined(parts: list[Whole]) -> Whole:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts]).astype(np.int64)


@kernel()
def _fill(score: Real, column: int, cell: int, cells: Cells, noise: Noise) -> float:
    """Write how likely each value of a column is to be shown as a cell; return the most."""
    begin, end = noise.offset[column], noise.offset[column + 1]
    kind = cells.kind[cell]
    for at in range(begin, end):
        lost = 0.0
        missing = np.isnan(noise.place[at])
        if kind == NOTHING:
            lost = 0.0 if missing else noise.hush[column]
        elif kind == LISTED or missing:
            lost = noise.miss[column]
        else:
            far = max(cells.low[cell] - noise.place[at], noise.place[at] - cells.high[cell])
            if far > 0:
                lost = noise.miss[column]
                if noise.step[column] > 0:
                    lost += noise.step[column] * far
        score[at] = noise.base[at] - lost
    if kind == LISTED:
        for at in range(cells.begin[cell], cells.end[cell]):
            code = begin + cells.listed[at]
            score[code] = noise.base[code]
    most = -np.inf
    for at in range(begin, end):
        most = max(most, score[at])
    return most


@kernel()
def likeliest(tree: PersonTree, cell_of: Whole, rows: Whole, luck: Real, cells: Cells, noise: Noise) -> LikeliestPeople:
    """Return the likeliest people for kinds of rows.

    ``cell_of[kind, column]`` is the cell that rows of a kind show; ``luck``, in [0, 1), is where among equals a kind
    begins to name people.
    """
    kinds, columns = cell_of.shape
    best, weight = np.full(kinds, -np.inf), np.zeros(kinds)
    person = np.full(rows.sum(), -1, dtype=np.int64)
    score = np.empty(noise.offset[columns])
    rest, part = np.empty(columns), np.empty(columns)
    at, end = np.empty(columns, dtype=np.int64), np.empty(columns, dtype=np.int64)
    visits, slot = 0, 0
    for kind in range(kinds):
        for column in range(columns):
            rest[column] = _fill(score, column, cell_of[kind, column], cells, noise)
        ahead = 0.0
        for column in range(columns - 1, -1, -1):
            most = rest[column]
            rest[column] = ahead
            ahead += most
        most, total, tied = -np.inf, 0.0, 0
        for naming in range(2):
            if naming and not tied:
                break
            begin, seen = int(luck[kind] * tied), 0
            wanted = min(rows[kind], tied)
            cut = _TIE if naming else _CUT
            column, at[0], end[0], part[0] = 0, 0, tree.start[1], 0.0
            while column >= 0:
                if at[column] == end[column]:
                    column -= 1
                    continue
                node = at[column]
                at[column] += 1
                visits += 1
                here = part[column] + score[noise.offset[column] + tree.value[node]]
                if here == -np.inf or here + rest[column] < most - cut:
                    continue
                if column < columns - 1:
                    column += 1
                    at[column], end[column], part[column] = tree.first[node], tree.past[node], here
                    continue
                count = tree.past[node] - tree.first[node]
                if naming:
                    for place in range(count):
                        turn = (seen + place - begin) % tied
                        if turn < wanted:
                            person[slot + turn] = tree.person[tree.first[node] + place]
                    seen += count
                elif here > most + _TIE:
                    total = total * np.exp(most - here) + count
                    most, tied = here, count
                else:
                    total += count * _WEIGHTS[int((most - here) * _FINE + 0.5)]
                    if here >= most - _TIE:
                        tied += count
        best[kind], weight[kind] = most, total
        slot += rows[kind]
    return LikeliestPeople(best, weight, person, visits)
