"""Clusters of like rows by cosine similarity, and clusters that are too small filled up (S2, methods 1 and 2).

Products are sparse times dense and run in one thread, so the answer does not depend on the number of cores.

**How many pseudo records clusters of equal size need, and how many clusters are best (S2 §4), derived anew.**
``n`` customers of ``b`` items each, any two with ``h`` in common, in ``c`` clusters of ``s = n/c``. The argument is in
``docs/theory/pseudo-records.md``. What S2 prints and does not follow is here too, under names that say so.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from noren.kernels.arrays import Real, Whole
from noren.kernels.items.packed_sets import ItemSets

_MOST_ROUNDS = 300
_ROWS_AT_ONCE = 4096


def cosine_clusters(rows: csr_array, count: int, generator: np.random.Generator) -> Whole:
    """Return the cluster of each row: k-means under cosine similarity, every cluster with a row at least.

    The first centres are rows drawn one after another, far ones more likely (k-means++); then rows go to the most
    similar centre, and centres to the mean direction of their rows, until nothing changes. A cluster that loses its
    last row takes the one that is least similar to its own centre. ``rows`` have length 1 (:func:`unit_rows`), zeros
    being like nothing; ``count`` is at most their number.

    >>> rows = csr_array(np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6], [0.0, 1.0]]))
    >>> found = cosine_clusters(rows, 2, np.random.default_rng(1))
    >>> bool(found[0] == found[2] != found[1] == found[3])
    True
    """
    total = rows.shape[0]
    apart, chosen = np.ones(total), np.zeros(count, dtype=np.int64)
    for at in range(count):
        apart[chosen[:at]] = 0.0
        if not apart.any():  # only copies of the chosen are left
            apart[np.setdiff1d(np.arange(total), chosen[:at])] = 1.0
        up_to = np.cumsum(apart)
        drawn = np.searchsorted(up_to, generator.random() * up_to[-1], side="right")
        chosen[at] = min(int(drawn), int(np.flatnonzero(apart)[-1]))  # rounding must not draw beyond the last
        distance = np.maximum(1.0 - rows @ rows[[chosen[at]]].toarray()[0], 0.0)
        # 1 - cosine is half the squared distance of two rows of length 1
        apart = np.where(distance < 1e-12, 0.0, np.minimum(apart, distance))
    centres = rows[chosen].toarray()
    cluster = np.full(total, -1, dtype=np.int64)
    for _round in range(_MOST_ROUNDS):
        nearest, likeness = np.empty(total, dtype=np.int64), np.empty(total)
        turned = np.ascontiguousarray(centres.T)
        for start in range(0, total, _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            similarity = rows[part] @ turned
            nearest[part], likeness[part] = similarity.argmax(axis=1), similarity.max(axis=1)
        sizes = np.bincount(nearest, minlength=count)
        for empty in np.flatnonzero(sizes == 0):
            row = int(np.where(sizes[nearest] > 1, likeness, np.inf).argmin())
            sizes[nearest[row]] -= 1
            sizes[empty] = 1
            nearest[row] = empty
        if (nearest == cluster).all():
            break
        cluster = nearest
        centres = _sums(rows, cluster, count)
        length = np.sqrt((centres**2).sum(axis=1, keepdims=True))
        centres /= np.where(length > 0, length, 1.0)
    return cluster


def filled_up(rows: csr_array, cluster: Whole, least: int) -> Whole:
    """Return clusters of at least ``least`` rows: small ones are filled from the largest.

    While some clusters are too small, of all pairs of a row of the largest cluster and a cluster that is too small the
    most similar one moves: the similarity is the mean cosine between the row and the cluster's rows. There must be
    ``least`` rows for each cluster.

    Cluster 1 has one row; of the three of cluster 0, row 2 is most like it.

    >>> rows = csr_array(np.array([[1.0, 0.0], [1.0, 0.0], [0.8, 0.6], [0.0, 1.0]]))
    >>> filled_up(rows, np.array([0, 0, 0, 1]), 2).tolist()
    [0, 0, 1, 1]
    """
    cluster = cluster.copy()
    count = int(cluster.max(initial=-1)) + 1
    sizes = np.bincount(cluster, minlength=count)
    sums = _sums(rows, cluster, count)
    while (small := np.flatnonzero(sizes < least)).size:
        largest = int(sizes.argmax())
        members = np.flatnonzero(cluster == largest)
        likeness = rows[members] @ (sums[small] / sizes[small, None]).T
        who, where = np.unravel_index(int(likeness.argmax()), likeness.shape)
        row, target = int(members[who]), int(small[where])
        cluster[row] = target
        for changed, sign in ((largest, -1), (target, 1)):
            sizes[changed] += sign
            sums[changed] += sign * rows[[row]].toarray()[0]
    return cluster


def _sums(rows: csr_array, cluster: Whole, count: int) -> Real:
    member = csr_array((np.ones(len(cluster)), (cluster, np.arange(len(cluster)))), shape=(count, len(cluster)))
    sums: Real = (member @ rows).toarray()
    return sums


# --- How much an item says about whoever bought it: TF-IDF weights of item sets (S2, Algorithm 2) ---------------------


def tf_idf(sets: ItemSets, items: int) -> csr_array:
    """Return a row of item weights for each set: ``f'_ij = f_ij / Σ_k f_ik · (log(n / |D_j|) + 1)``.

    ``f_ij`` is 1 where set i holds item j, ``D_j`` are the sets that hold it and n is the number of sets: an item
    counts for more the fewer share it and the shorter the set it stands in. An empty set has a row of zeros.

    Ann bought tea, Bob tea and milk. Tea says nothing of its own, log(2/2) + 1 = 1; milk weighs log(2/1) + 1 = 1.693.

    >>> from noren.kernels.items.packed_sets import item_sets
    >>> sets = item_sets(np.array([0, 1, 1]), np.array([0, 0, 1]), 2, 2)
    >>> tf_idf(sets, 2).toarray().round(3).tolist()
    [[1.0, 0.0], [0.5, 0.847]]
    """
    sizes = sets.sizes
    buyers = np.bincount(sets.item, minlength=items)
    rarity = np.log(len(sizes) / np.maximum(buyers, 1)) + 1
    return csr_array((rarity[sets.item] / np.repeat(sizes, sizes), sets.item, sets.first), shape=(len(sizes), items))


def unit_rows(weights: csr_array) -> csr_array:
    """Return rows of length 1, so that the product of two is their cosine similarity; rows of zeros stay.

    >>> unit_rows(csr_array(np.array([[3.0, 4.0], [0.0, 0.0]]))).toarray().tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    sizes = np.diff(weights.indptr)
    filled = np.repeat(np.arange(len(sizes)), sizes)
    length = np.sqrt(np.bincount(filled, weights.data**2, minlength=len(sizes)))
    return csr_array((weights.data / length[filled], weights.indices, weights.indptr), shape=weights.shape)


# --- How many pseudo records clusters of equal size need, and how many clusters are best (S2 §4), derived anew --------


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
