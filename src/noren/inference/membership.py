"""Membership inference: is this person in the data? A score for each person of a pool; higher, likelier.

The attacker knows all of a person's record and holds a list of people among whom the members are; he sees the public
part and the statement. Two ways. By *likelihood*: how many of the public histories would be this person's, if all who
fit one were as likely to be behind it (:mod:`noren.inference.likelihoods`). By *nearness*, where values were moved and
nothing fits: how near the nearest public history is, in the unit of U, by the distance of the attack ``nearest``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from noren.attacks.nearest import Nearest
from noren.data.fits import sides_of
from noren.data.frames import History, Records
from noren.data.statement import Statement
from noren.inference.likelihoods import is_retention, only, own_share
from noren.inference.people import Pool, as_history
from noren.kernels.arrays import Real
from noren.progress import Progress, silent

__all__ = ["MEMBERSHIP", "by_likelihood", "by_nearness", "ways"]


def by_likelihood(pool: Pool, public: Records, statement: Statement, progress: Progress = silent) -> Real:
    """Return the likelihood ratio of each person to be in the data, up to a common factor."""
    return own_share(pool, public, statement, progress)


def by_nearness(pool: Pool, public: Records, statement: Statement, progress: Progress = silent) -> Real:
    """Return how near the nearest public history is to each person: 0 as it is, -1 nothing of it fits."""
    people, said = (as_history(only(side)) for side in (pool.people, public))
    sides = sides_of(people, said)
    # a row alone is compared with everybody: the short list is for histories, whose first rows choose it
    attack = Nearest() if isinstance(public, History) else Nearest(shortlist=len(pool))
    best, done = np.full(len(pool), np.inf), 0
    columns, rows = len(sides.columns), sides.known.counts
    for block in attack.distance_blocks(people, sides, progress):
        shown = sides.public.counts[done : done + len(block), None]
        best = np.minimum(best, (block / (columns * np.maximum(np.maximum(shown, rows[None, :]), 1))).min(axis=0))
        done += len(block)
    return -best


Way = Callable[[Pool, Records, Statement, Progress], Real]
MEMBERSHIP: Final[Mapping[str, Way]] = {"likelihood": by_likelihood, "nearness": by_nearness}


def ways(statement: Statement) -> list[str]:
    """Return the ways that tell something of a release: where its noise is known, the likelihood knows all there is."""
    return ["likelihood"] if is_retention(statement) else list(MEMBERSHIP)
