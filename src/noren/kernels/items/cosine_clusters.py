"""Clusters of like rows by cosine similarity, and clusters that are too small filled up (S2, methods 1 and 2).

Products are sparse times dense and run in one thread, so the answer does not depend on the number of cores.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from noren.kernels.arrays import Real, Whole

__all__ = ["cosine_clusters", "filled_up"]


_MOST_ROUNDS = 300
_ROWS_AT_ONCE = 4096


def cosine_clusters(rows: csr_array, count: int, generator: np.random.Generator) -> Whole:
    """Return the cluster of each row: k-means under cosine similarity, every cluster with a row at least.

    The first centres are rows drawn one after another, far ones more likely (k-means++); then rows go to the most
    similar centre, and centres to the mean direction of their rows, until nothing changes. A cluster that loses its
    last row takes the one that is least similar to its own centre.

    Parameters
    ----------
    rows
        Rows of length 1 (:func:`noren.kernels.items.item_weights.unit_rows`); zeros are like nothing.
    count
        How many clusters, from 1 to the number of rows.

    Examples
    --------
    >>> rows = csr_array(np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6], [0.0, 1.0]]))
    >>> found = cosine_clusters(rows, 2, np.random.default_rng(1))
    >>> bool(found[0] == found[2] != found[1] == found[3])
    True
    """
    centres = rows[_far_apart(rows, count, generator)].toarray()
    cluster = np.full(rows.shape[0], -1, dtype=np.int64)
    for _round in range(_MOST_ROUNDS):
        nearest, likeness = _nearest(rows, centres)
        _give_each_one(nearest, likeness, count)
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

    Examples
    --------
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


def _far_apart(rows: csr_array, count: int, generator: np.random.Generator) -> Whole:
    """Return rows to start from, each drawn with a chance that grows with the distance to those before it."""
    total = rows.shape[0]
    apart = np.ones(total)
    chosen = np.zeros(count, dtype=np.int64)
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
    return chosen


def _nearest(rows: csr_array, centres: Real) -> tuple[Whole, Real]:
    """Return each row's most similar centre, and how similar it is."""
    nearest = np.empty(rows.shape[0], dtype=np.int64)
    likeness = np.empty(rows.shape[0])
    turned = np.ascontiguousarray(centres.T)
    for start in range(0, rows.shape[0], _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        similarity = rows[part] @ turned
        nearest[part] = similarity.argmax(axis=1)
        likeness[part] = similarity.max(axis=1)
    return nearest, likeness


def _give_each_one(cluster: Whole, likeness: Real, count: int) -> None:
    """Give every empty cluster, in place, the row that is least similar to its centre and not alone there."""
    sizes = np.bincount(cluster, minlength=count)
    for empty in np.flatnonzero(sizes == 0):
        row = int(np.where(sizes[cluster] > 1, likeness, np.inf).argmin())
        sizes[cluster[row]] -= 1
        sizes[empty] = 1
        cluster[row] = empty


def _sums(rows: csr_array, cluster: Whole, count: int) -> Real:
    member = csr_array((np.ones(len(cluster)), (cluster, np.arange(len(cluster)))), shape=(count, len(cluster)))
    sums: Real = (member @ rows).toarray()
    return sums
