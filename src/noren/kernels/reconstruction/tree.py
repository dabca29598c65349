"""Whole records from parts of records.

**A distribution of many attributes as a tree of pairs: never a table of all of them.**
Attributes are linked so that one way leads from each to each other, and given its neighbours an attribute has nothing
to do with the rest. Of all trees the one whose links tell most (mutual information) is nearest to the data (Chow & Liu
1968). What the tree says of two attributes that are not linked follows by going along its links.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from noren.kernels.arrays import Real, Whole


def whole_cells(table: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the table in whole numbers that add up to its own sum: the largest remainders are rounded up.

    No cell moves by 1 or more. Of equal remainders the first cell's comes first.

    >>> whole_cells(np.array([1.5, 0.3, 1.2])).tolist()
    [2, 0, 1]
    """
    flat = np.maximum(table.ravel(), 0.0)
    down = np.floor(flat).astype(np.int64)
    missing = round(float(flat.sum())) - int(down.sum())
    order = np.argsort(down - flat, kind="stable")
    down[order[: max(missing, 0)]] += 1
    return down.reshape(table.shape)


# --- A distribution of many attributes as a tree of pairs: never a table of all of them -------------------------------


Pair = tuple[int, int]

_LEAST = 1e-300


def information(pair: Real) -> float:
    """Return how much two attributes tell of each other, in nats.

    >>> round(information(np.array([[0.5, 0.0], [0.0, 0.5]])), 6), information(np.full((2, 2), 0.25))
    (0.693147, 0.0)
    """
    apart = pair.sum(axis=1, keepdims=True) * pair.sum(axis=0, keepdims=True)
    return float((pair * np.log(np.maximum(pair, _LEAST) / np.maximum(apart, _LEAST))).sum())


def heaviest_tree(weights: Mapping[Pair, float], attributes: int) -> list[Pair]:
    """Return the links of the heaviest tree; of equal weights the first come first.

    >>> heaviest_tree({(0, 1): 0.2, (0, 2): 0.5, (1, 2): 0.3}, 3)
    [(0, 2), (1, 2)]
    """
    group = list(range(attributes))
    links = []
    for one, two in sorted(weights, key=lambda pair: (-weights[pair], pair)):
        if group[one] != group[two]:
            links.append((one, two))
            old, new = group[two], group[one]
            group = [new if g == old else g for g in group]
    return links


def implied(own: Sequence[Real], links: Mapping[Pair, Real]) -> dict[Pair, Real]:
    """Return what a tree says of every pair of attributes; axes before the attributes' hold several trees.

    Parameters
    ----------
    own
        The attributes' own distributions.
    links
        The distribution of each linked pair, the lower attribute first.

    Examples
    --------
    Two links that are equalities make the ends equal.

    >>> half = np.array([0.5, 0.5])
    >>> implied([half] * 3, {(0, 1): np.diag(half), (1, 2): np.diag(half)})[0, 2].tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    found: dict[Pair, Real] = {}
    for first, shares in enumerate(own):
        reached = {first: shares[..., :, None] * np.eye(shares.shape[-1])}
        for parent, child in _outwards(first, links):
            reached[child] = reached[parent] @ _given(parent, child, links)
        found |= {(first, other): table for other, table in reached.items() if other > first}
    return found


def tree_table(own: Sequence[Real], links: Mapping[Pair, Real]) -> Real:
    """Return the distribution of all attributes that a tree stands for, written out; or of several trees.

    >>> half = np.array([0.5, 0.5])
    >>> tree_table([half] * 3, {(0, 1): np.diag(half), (1, 2): np.diag(half)})[1].tolist()
    [[0.0, 0.0], [0.0, 0.5]]
    """
    size, several = len(own), own[0].shape[:-1]

    def spread(values: Real, axes: tuple[int, ...]) -> Real:
        ordered = values if list(axes) == sorted(axes) else values.swapaxes(-1, -2)
        return ordered.reshape(*several, *(own[a].shape[-1] if a in axes else 1 for a in range(size)))

    table = spread(own[0], (0,))
    for parent, child in _outwards(0, links):
        table = table * spread(_given(parent, child, links), (parent, child))
    return table


def tree_records(
    own: Sequence[Real], links: Mapping[Pair, Real], records: int, generator: np.random.Generator
) -> list[Whole]:
    """Return whole records of a tree, as codes of each attribute: its tables rounded so that they add up.

    The first attribute's counts are rounded; along each link every value's records are shared out among the other
    attribute's values, what rounding took from one value being given to the next. Which record gets which is drawn.
    """
    counts = whole_cells(own[0] / max(float(own[0].sum()), _LEAST) * records)
    codes = {0: np.repeat(np.arange(len(counts)), counts)}
    for parent, child in _outwards(0, links):
        mixed_up = generator.permutation(records)
        order = mixed_up[np.argsort(codes[parent][mixed_up], kind="stable")]
        counts, given = np.bincount(codes[parent], minlength=len(own[parent])), _given(parent, child, links)
        values, carried = np.arange(given.shape[-1]), np.zeros(given.shape[-1])
        dealt = []  # for the records of the first value, then of the second, and so on
        for count, shares in zip(counts.tolist(), given, strict=True):
            wanted = np.maximum(shares * count + carried, 0.0)
            wanted *= count / max(float(wanted.sum()), _LEAST)
            whole = whole_cells(wanted)
            carried += shares * count - whole
            dealt.append(np.repeat(values, whole))
        codes[child] = np.empty(records, dtype=np.int64)
        codes[child][order] = np.concatenate(dealt)
    shuffled = generator.permutation(records)
    return [codes[a][shuffled] for a in range(len(own))]


def _outwards(first: int, links: Mapping[Pair, Real]) -> Iterator[Pair]:
    """Yield the links of a tree as (nearer, farther), from ``first`` outwards."""
    reached, waiting = {first}, [first]
    while waiting:
        here = waiting.pop(0)
        for one, two in links:
            for near, far in ((one, two), (two, one)):
                if near == here and far not in reached:
                    reached.add(far)
                    waiting.append(far)
                    yield near, far


def _given(parent: int, child: int, links: Mapping[Pair, Real]) -> Real:
    """Return the distribution of one attribute for each value of another that is linked to it."""
    table = links[parent, child] if (parent, child) in links else links[child, parent].swapaxes(-1, -2)
    rows = table.sum(axis=-1, keepdims=True)
    # a value that nobody has says nothing; any distribution will do
    empty = np.full_like(table, 1 / table.shape[-1])
    found: Real = np.where(rows > 0, table / np.maximum(rows, _LEAST), empty)
    return found
