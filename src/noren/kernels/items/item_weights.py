"""How much an item says about whoever bought it: TF-IDF weights of item sets (S2, Algorithm 2)."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from noren.kernels.items.packed_sets import ItemSets

__all__ = ["tf_idf", "unit_rows"]


def tf_idf(sets: ItemSets, items: int) -> csr_array:
    """Return a row of item weights for each set: ``f'_ij = f_ij / Σ_k f_ik · (log(n / |D_j|) + 1)``.

    ``f_ij`` is 1 where set i holds item j, ``D_j`` are the sets that hold it and n is the number of sets: an item
    counts for more the fewer share it and the shorter the set it stands in. An empty set has a row of zeros.

    Examples
    --------
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
