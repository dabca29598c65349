"""How many pseudo records clusters of equal size need, and how many clusters are best (S2 §4), derived anew.

``n`` customers of ``b`` items each, any two with ``h`` in common, in ``c`` clusters of ``s = n/c``. The argument is in
``docs/theory/pseudo-records.md``. What S2 prints and does not follow is here too, under names that say so.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

__all__ = [
    "PseudoRecordChoice",
    "best_clusters",
    "expected_added",
    "fewest_clusters",
    "mean_overlap",
    "printed_added",
    "printed_best_clusters",
    "printed_overlap",
]


class PseudoRecordChoice(NamedTuple):
    """A number of clusters, the share of customers found by item sets, and the records expected to be added."""

    clusters: int
    reid: float
    added: float


def mean_overlap(b: float, mu: float) -> float:
    """Return the items that two customers of b items and Jaccard similarity µ have in common: ``2bµ / (1 + µ)``.

    From ``µ = h / (2b - h)``.

    >>> round(mean_overlap(65, 0.03), 3)
    3.786
    """
    return 2 * b * mu / (1 + mu)


def printed_overlap(b: float, mu: float) -> float:
    """Return S2's printed ``2bµ / (b + µ)``, which is no overlap: S2 itself says h = 4.

    >>> round(printed_overlap(65, 0.03), 3)
    0.06
    """
    return 2 * b * mu / (b + mu)


def expected_added(n: float, c: float, b: float, h: float) -> float:
    """Return the records that c equal clusters add: ``n(s - 1)(b - hs/2)``, s = n/c.

    A union of s sets has at least ``sb - hs(s-1)/2`` items (Bonferroni; exactly so many for s = 2), each member lacks
    all but b of them, and there are n members.

    >>> round(expected_added(400, 130, 65, mean_overlap(65, 0.03)))
    49161
    """
    s = n / c
    return n * (s - 1) * (b - h * s / 2)


def printed_added(n: float, c: float, b: float, h: float) -> float:
    """Return S2's (1), ``(b + h/2) n² / c``: 750,029 where S2's own example says 490,650.

    >>> round(printed_added(4000, 1427, 65, mean_overlap(65, 0.03)))
    750029
    """
    return (b + h / 2) * n * n / c


def fewest_clusters(n: int, b: float, h: float) -> int:
    """Return from how many clusters on fewer clusters mean more records: ``c >= n / (b/h + 1/2)``.

    Where unions of s sets would shrink as s grows, overlaps of three and more sets can no longer be left out. S2 states
    23 for n = 400.

    >>> fewest_clusters(400, 65, mean_overlap(65, 0.03))
    23
    """
    return max(math.ceil(n / (b / h + 0.5)) if h > 0 else 1, 1)


def best_clusters(n: int, b: float, h: float) -> PseudoRecordChoice:
    """Return the c that makes ``(α·E(Δm) + c/n) / 2`` least, over all whole c from :func:`fewest_clusters` on.

    ``α`` makes the largest E(Δm) there 1. S2 gives c* = 130 for n = 400 and 1427, where it is 1296, for n = 4000.

    >>> h = mean_overlap(65, 0.03)
    >>> best_clusters(400, 65, h).clusters, best_clusters(4000, 65, h).clusters
    (130, 1296)
    """
    c = np.arange(fewest_clusters(n, b, h), n + 1)
    added = n * (n / c - 1) * (b - h * n / c / 2)
    largest = max(float(added[0]), 1e-300)
    at = int((added / largest + c / n).argmin())
    return PseudoRecordChoice(int(c[at]), float(c[at] / n), float(added[at]))


def printed_best_clusters(n: int, b: float, h: float) -> float:
    """Return S2's (4), ``sqrt(α(b + h/2)n³)``, with the α of :func:`best_clusters`.

    That is how S2 comes by 1427: (4) is where ``α·(1) + c/n`` is least, and (1) is too large. For n = 400 it would be
    143, not the 130 that S2 reads off the exact curve.

    >>> h = mean_overlap(65, 0.03)
    >>> round(printed_best_clusters(4000, 65, h)), round(printed_best_clusters(400, 65, h))
    (1427, 143)
    """
    largest = expected_added(n, fewest_clusters(n, b, h), b, h)
    return math.sqrt((b + h / 2) * n**3 / largest)
