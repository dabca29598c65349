"""The tables of one and of two attributes of a perturbed table that has too many cells to be written down.

Each attribute's own distribution is worked out by itself, as :mod:`noren.kernels.reconstruction.held_out` does; then
each pair's, through the pair's own small channel, holding those distributions fixed, so that all tables agree about
every attribute. A pair is held to be independent unless records that were not looked at speak clearly against it, and
how far a dependence is followed (:mod:`noren.kernels.reconstruction.estimates`) they decide too.

The pairs that tell most make a tree (below), and the tree says something about every other pair. So these are worked
out a second time, starting from what the tree says in place of independence: husbands are men also where few records
show it.

**``auto``: two ways to look at a perturbed table, and the mean of what they see.**
One way looks at the table as a whole: many candidates, each judged by records that it has not seen
(:mod:`noren.kernels.reconstruction.held_out`). The other looks at each pair of attributes by itself, and makes a tree
of those that tell most. They err differently. The first may take a pattern of noise for one of many candidates'
dependence; the second knows nothing of three attributes at once. Their geometric mean is nearer to the truth than
either, as long as neither foretells clearly better; how much each weighs, held-out records say.

**A distribution of many attributes as a tree of pairs: never a table of all of them.**
Attributes are linked so that one way leads from each to each other, and given its neighbours an attribute has nothing
to do with the rest. Of all trees the one whose links tell most (mutual information) is nearest to the data (Chow & Liu
1968). What the tree says of two attributes that are not linked follows by going along its links.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from noren.kernels.arrays import Place, Real, Whole, summed, where_it_is
from noren.kernels.reconstruction.estimates import fitted, flow_path, product, second_correlation, total
from noren.kernels.reconstruction.held_out import (
    Chosen,
    candidates,
    folds_left_out,
    geometric_mean,
    judged,
    kept_share,
    own_distributions,
    perplexity,
    random_folds,
    reached,
    shares,
    weighed,
)
from noren.kernels.reconstruction.retention import Channel, mixed

FOLDS = 5
_MARKS = (1 / 64, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8)
"""Where the flow is looked at, in units of the time in which the strongest direction is made up for."""
_GIVEN_UP = 2.0
"""Nats below the best of a path from which it is not followed further."""
_LARGEST_PAIR = 1 << 18
"""Cells from which a pair is not worked out by itself: so many are out of the records' reach, and of a minute's."""
_LEAST = 1e-300


@dataclass(frozen=True)
class Margins:
    """Distributions of single attributes and of all pairs, and the tree."""

    own: list[Real]
    pairs: dict[Pair, Real]
    """``own``, ``pairs``: the distributions; of pairs the lower attribute comes first. The first axis is that of the
    folds that were left out, the last entry is of all records.
    """
    links: list[Pair]
    """The pairs that the tree is made of."""
    dependence: dict[Pair, float]
    """How clearly each pair leaves independence, from 0 to 1."""

    @property
    def tree(self) -> Real:
        """The distribution of all attributes that the tree stands for, written out."""
        return tree_table(self.own, {pair: self.pairs[pair] for pair in self.links})


def margins(
    tabulated: Callable[[tuple[int, ...]], Real],
    channels: Sequence[Channel],
    sizes: Sequence[int],
    report: Callable[[float], None] = lambda _done: None,
) -> Margins:
    """Return the tables of single attributes and of pairs.

    ``tabulated`` gives the perturbed table of some attributes in each fold, folds being the first axis; the same
    records are in a fold whatever the attributes are.
    """
    own = []
    for a, channel in enumerate(channels):
        parts = tabulated((a,))
        own.append(own_distributions(folds_left_out(parts), parts, channel))
    strength = [second_correlation(marginal[-1], channel) for marginal, channel in zip(own, channels, strict=True)]
    every = list(combinations(range(len(sizes)), 2))
    done = 0

    def worked_out(pair: Pair, start: Real) -> tuple[Real, float]:
        """Return the distribution of a pair without each fold and of all records; and how clearly it leaves start."""
        nonlocal done
        done += 1
        report(done / (2 * len(every)))
        if start[0].size > _LARGEST_PAIR:
            return start, 0.0
        both, through = [own[a] for a in pair], [channels[a] for a in pair]
        strongest = strength[pair[0]] * strength[pair[1]]
        parts = tabulated(pair)
        without = folds_left_out(parts)
        unit = 1 / max(strongest, _LEAST)
        freedom = float(np.prod([perplexity(marginal[-1]) - 1 for marginal in both]))
        rate = float(np.prod([kept_share(c, m) ** 2 for c, m in zip(through, start.shape[1:], strict=True)]))
        times = [mark * unit for mark in _MARKS]
        begin = start * np.maximum(total(without, 2), 1.0)
        tables = [begin]
        models = [judged("start", 0.0, begin, parts, through)]
        for time, table in zip(times, flow_path(without, through, begin, both, times, strongest), strict=True):
            tables.append(table)
            models.append(judged("flow", freedom * float(reached(rate, time)), table, parts, through))
            if models[-1].score < max(marginal.score for marginal in models) - _GIVEN_UP:
                break
        each = shares(models)
        mean = fitted(geometric_mean(tables, each, 2), both, 50)
        return mean / total(mean, 2), 1 - each[0]

    first = {pair: worked_out(pair, product([own[a] for a in pair])) for pair in every}
    links = heaviest_tree({pair: information(table[-1]) for pair, (table, _clear) in first.items()}, len(sizes))
    by_tree = implied(own, {pair: first[pair][0] for pair in links})
    tables = {pair: first[pair][0] if pair in links else worked_out(pair, by_tree[pair])[0] for pair in every}
    return Margins(own, tables, links, {pair: clear for pair, (_table, clear) in first.items()})


# --- ``auto``: two ways to look at a perturbed table, and the mean of what they see -----------------------------------


TREE = "tree of pairs"
_ODDS = 1 / 3
"""Of the tree against the whole, where both foretell equally well."""
_PATIENCE = 16.0
"""By how many nats of held-out likelihood these odds change by e."""


def automatic(
    y: Real,
    channels: Sequence[Channel],
    generator: np.random.Generator,
    report: Callable[[float], None] = lambda _done: None,
    place: Place = where_it_is,
) -> Chosen:
    """Return the mean of both ways, weighed by how well they foretell records that they have not seen.

    ``place`` puts arrays where the work on whole tables is to be done.
    """
    parts = random_folds(y, generator)
    models = candidates(parts, channels, generator, report, place)
    whole = weighed(models)
    if y.ndim == 1:
        return whole

    axes = range(y.ndim)
    trees = margins(lambda some: summed(parts, [a - y.ndim for a in axes if a not in some]), channels, y.shape).tree
    score = float((parts * np.log(np.maximum(mixed(trees[:-1], channels), _LEAST))).sum())
    other = float(np.dot(shares(models), [weight.score for weight in models]))
    share = 1 / (1 + float(np.exp(np.clip((other - score) / _PATIENCE, -500, 500))) / _ODDS)
    table = geometric_mean([whole.table, trees[-1] * total(y, y.ndim)], [1 - share, share], y.ndim)
    weights = {TREE: share} | {name: (1 - share) * weight for name, weight in whole.weights.items()}
    return Chosen(table, dict(sorted(weights.items(), key=lambda item: -item[1])))


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
    for first, second in sorted(weights, key=lambda pair: (-weights[pair], pair)):
        if group[first] != group[second]:
            links.append((first, second))
            old, new = group[second], group[first]
            group = [new if g == old else g for g in group]
    return links


def implied(own: Sequence[Real], links: Mapping[Pair, Real]) -> dict[Pair, Real]:
    """Return what a tree says of every pair of attributes; axes before the attributes' hold several trees.

    ``own`` are the attributes' own distributions, ``links`` those of linked pairs, the lower attribute first.

    Two links that are equalities make the ends equal.

    >>> half = np.array([0.5, 0.5])
    >>> implied([half] * 3, {(0, 1): np.diag(half), (1, 2): np.diag(half)})[0, 2].tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    tables: dict[Pair, Real] = {}
    for first, its in enumerate(own):
        reached = {first: its[..., :, None] * np.eye(its.shape[-1])}
        for parent, child in _outwards(first, links):
            reached[child] = reached[parent] @ _conditional(parent, child, links)
        tables |= {(first, other): table for other, table in reached.items() if other > first}
    return tables


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
        table = table * spread(_conditional(parent, child, links), (parent, child))
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
        counts, conditional = np.bincount(codes[parent], minlength=len(own[parent])), _conditional(parent, child, links)
        values, carried = np.arange(conditional.shape[-1]), np.zeros(conditional.shape[-1])
        child_values = []  # for the records of the first value, then of the second, and so on
        for count, each in zip(counts.tolist(), conditional, strict=True):
            wanted = np.maximum(each * count + carried, 0.0)
            wanted *= count / max(float(wanted.sum()), _LEAST)
            whole = whole_cells(wanted)
            carried += each * count - whole
            child_values.append(np.repeat(values, whole))
        codes[child] = np.empty(records, dtype=np.int64)
        codes[child][order] = np.concatenate(child_values)
    shuffled = generator.permutation(records)
    return [codes[a][shuffled] for a in range(len(own))]


def _outwards(first: int, links: Mapping[Pair, Real]) -> Iterator[Pair]:
    """Yield the links of a tree as (nearer, farther), from ``first`` outwards."""
    reached, waiting = {first}, [first]
    while waiting:
        here = waiting.pop(0)
        for first_end, second_end in links:
            for near, far in ((first_end, second_end), (second_end, first_end)):
                if near == here and far not in reached:
                    reached.add(far)
                    waiting.append(far)
                    yield near, far


def _conditional(parent: int, child: int, links: Mapping[Pair, Real]) -> Real:
    """Return the distribution of one attribute for each value of another that is linked to it."""
    table = links[parent, child] if (parent, child) in links else links[child, parent].swapaxes(-1, -2)
    rows = table.sum(axis=-1, keepdims=True)
    # a value that nobody has says nothing; any distribution will do
    empty = np.full_like(table, 1 / table.shape[-1])
    conditional: Real = np.where(rows > 0, table / np.maximum(rows, _LEAST), empty)
    return conditional
