"""The tables of one and of two attributes of a perturbed table that has too many cells to be written down.

Each attribute's own distribution is worked out by itself, as :mod:`noren.kernels.reconstruction.held_out` does; then
each pair's, through the pair's own small channel, holding those distributions fixed, so that all tables agree about
every attribute. A pair is held to be independent unless records that were not looked at speak clearly against it, and
how far a dependence is followed (:mod:`noren.kernels.reconstruction.models`) they decide too.

The pairs that tell most make a tree (:mod:`noren.kernels.reconstruction.tree`), and the tree says something about every
other pair. So these are worked out a second time, starting from what the tree says in place of independence: husbands
are men also where few records show it.

**``auto``: two ways to look at a perturbed table, and the mean of what they see.**
One way looks at the table as a whole: many candidates, each judged by records that it has not seen
(:func:`held_out`). The other looks at each pair of attributes by itself, and makes a tree of those that
tell most (:mod:`noren.kernels.reconstruction.pairs`). They err differently. The first may take a pattern of noise for
one of many candidates' dependence; the second knows nothing of three attributes at once. Their geometric mean is nearer
to the truth than either, as long as neither foretells clearly better; how much each weighs, held-out records say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from noren.kernels.arrays import Place, Real, where_it_is
from noren.kernels.reconstruction.estimates import product, total
from noren.kernels.reconstruction.held_out import (
    Chosen,
    candidates,
    dealt,
    geometric_mean,
    judged,
    kept_share,
    own_distributions,
    perplexity,
    reached,
    shares,
    weighed,
)
from noren.kernels.reconstruction.models import fitted, flow_path, second_correlation
from noren.kernels.reconstruction.retention import Channel, mixed
from noren.kernels.reconstruction.tree import Pair, heaviest_tree, implied, information, tree_table

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
    """Distributions of single attributes and of all pairs, and the tree.

    Attributes
    ----------
    own, pairs
        The distributions; of pairs the lower attribute comes first. The first axis is that of the folds that were left
        out, the last entry is of all records.
    links
        The pairs that the tree is made of.
    dependence
        How clearly each pair leaves independence, from 0 to 1.
    """

    own: list[Real]
    pairs: dict[Pair, Real]
    links: list[Pair]
    dependence: dict[Pair, float]

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

    Parameters
    ----------
    tabulated
        Gives the perturbed table of some attributes in each fold, folds being the first axis. The same records are in
        a fold whatever the attributes are.
    """
    own = []
    for a, channel in enumerate(channels):
        parts, without = _folds(tabulated((a,)))
        own.append(own_distributions(without, parts, channel))
    strength = [second_correlation(one[-1], channel) for one, channel in zip(own, channels, strict=True)]
    every = list(combinations(range(len(sizes)), 2))
    done = 0

    def worked_out(pair: Pair, start: Real) -> tuple[Real, float]:
        nonlocal done
        done += 1
        report(done / (2 * len(every)))
        both = [own[a] for a in pair]
        if start[0].size > _LARGEST_PAIR:
            return start, 0.0
        return _pair(tabulated(pair), [channels[a] for a in pair], both, start, strength[pair[0]] * strength[pair[1]])

    first = {pair: worked_out(pair, product([own[a] for a in pair])) for pair in every}
    links = heaviest_tree({pair: information(table[-1]) for pair, (table, _clear) in first.items()}, len(sizes))
    said = implied(own, {pair: first[pair][0] for pair in links})
    found = {pair: first[pair][0] if pair in links else worked_out(pair, said[pair])[0] for pair in every}
    return Margins(own, found, links, {pair: clear for pair, (_table, clear) in first.items()})


def _folds(parts: Real) -> tuple[Real, Real]:
    """Return the table of each fold; and the table without each fold, followed by that of all records."""
    whole = parts.sum(axis=0)
    return parts, np.concatenate([whole - parts, whole[None]])


def _pair(
    folds: Real, channels: Sequence[Channel], own: Sequence[Real], start: Real, strongest: float
) -> tuple[Real, float]:
    """Return the distribution of a pair without each fold and of all records, and how clearly it leaves ``start``."""
    parts, without = _folds(folds)
    unit = 1 / max(strongest, _LEAST)
    freedom = float(np.prod([perplexity(one[-1]) - 1 for one in own]))
    rate = float(np.prod([kept_share(c, m) ** 2 for c, m in zip(channels, start.shape[1:], strict=True)]))
    times = [mark * unit for mark in _MARKS]
    begin = start * np.maximum(total(without, 2), 1.0)
    tables = [begin]
    found = [judged("start", 0.0, begin, parts, channels)]
    for time, table in zip(times, flow_path(without, channels, begin, own, times, strongest), strict=True):
        tables.append(table)
        found.append(judged("flow", freedom * float(reached(rate, time)), table, parts, channels))
        if found[-1].score < max(one.score for one in found) - _GIVEN_UP:
            break
    each = shares(found)
    mean = fitted(geometric_mean(tables, each, 2), own, 50)
    return mean / total(mean, 2), 1 - each[0]


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
    parts = dealt(y, generator)
    found = candidates(parts, channels, generator, report, place)
    whole = weighed(found)
    if y.ndim == 1:
        return whole

    def tabulated(some: tuple[int, ...]) -> Real:
        left = tuple(a - y.ndim for a in range(y.ndim) if a not in some)
        return parts.sum(axis=left) if left else parts

    trees = margins(tabulated, channels, y.shape).tree
    score = float((parts * np.log(np.maximum(mixed(trees[:-1], channels), _LEAST))).sum())
    other = float(np.dot(shares(found), [one.score for one in found]))
    share = 1 / (1 + float(np.exp(np.clip((other - score) / _PATIENCE, -500, 500))) / _ODDS)
    table = geometric_mean([whole.table, trees[-1] * total(y, y.ndim)], [1 - share, share], y.ndim)
    weights = {TREE: share} | {name: (1 - share) * one for name, one in whole.weights.items()}
    return Chosen(table, dict(sorted(weights.items(), key=lambda item: -item[1])))
