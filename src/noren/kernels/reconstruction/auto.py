"""``auto``: two ways to look at a perturbed table, and the mean of what they see.

One way looks at the table as a whole: many candidates, each judged by records that it has not seen
(:func:`held_out`). The other looks at each pair of attributes by itself, and makes a tree of those that
tell most (:mod:`noren.kernels.reconstruction.pairs`). They err differently. The first may take a pattern of noise for
one of many candidates' dependence; the second knows nothing of three attributes at once. Their geometric mean is nearer
to the truth than either, as long as neither foretells clearly better; how much each weighs, held-out records say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from noren.kernels.arrays import Place, Real, where_it_is
from noren.kernels.reconstruction.estimates import total
from noren.kernels.reconstruction.held_out import Chosen, candidates, dealt, geometric_mean, shares, weighed
from noren.kernels.reconstruction.pairs import margins
from noren.kernels.reconstruction.retention import Channel, mixed

__all__ = ["TREE", "automatic"]


TREE = "tree of pairs"
_ODDS = 1 / 3
"""Of the tree against the whole, where both foretell equally well."""
_PATIENCE = 16.0
"""By how many nats of held-out likelihood these odds change by e."""
_LEAST = 1e-300


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
