"""How alike items are by who bought them, the matrix behind item-based recommendations (S0 §6.1.3, PWS Cup 2017).

A matrix holds a score per customer and item; two items are as alike as the cosine of their columns. What a release
does to the matrix is the sum of absolute differences over the pairs of different items that are alike at all in the
original, divided by the sum of the original's similarities, 1 at most.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from noren.kernels.arrays import Whole

__all__ = ["Matrix", "Score", "most_bought", "purchase_matrix", "scored", "similarities", "similarity_error"]

Matrix: TypeAlias = sparse.csr_array
Score = Literal["wholesale", "retail", "presence"]

DOZEN = 12
MOST_DOZENS = 6
"""The judges of 2017 count at most so many dozens of one item (E1)."""


def purchase_matrix(customer: Whole, item: Whole, quantity: NDArray[np.float64], shape: tuple[int, int]) -> Matrix:
    """Return how many pieces each customer bought of each item in all.

    >>> purchase_matrix(np.array([0, 0, 1]), np.array([1, 1, 0]), np.array([2.0, 3.0, 4.0]), (2, 2)).toarray().tolist()
    [[0.0, 5.0], [4.0, 0.0]]
    """
    return sparse.csr_array((quantity, (customer, item)), shape=shape)


def scored(pieces: Matrix, score: Score) -> Matrix:
    """Return what a customer's pieces of an item count for.

    ``wholesale``: whole dozens, six at most (E1). ``retail``: the pieces where they are 11 or fewer, else nothing (E2).
    ``presence``: 1 (E3).

    >>> pieces = sparse.csr_array(np.array([[5.0, 11.0, 12.0, 30.0, 100.0]]))
    >>> [scored(pieces, way).toarray()[0].tolist() for way in ("wholesale", "retail")]
    [[0.0, 0.0, 1.0, 2.0, 6.0], [5.0, 11.0, 0.0, 0.0, 0.0]]
    """
    counted = pieces.copy()
    if score == "wholesale":
        counted.data = np.clip(counted.data // DOZEN, 0, MOST_DOZENS)
    elif score == "retail":
        counted.data = np.where(counted.data < DOZEN, np.maximum(counted.data, 0), 0.0)
    else:
        counted.data = np.ones_like(counted.data)
    counted.eliminate_zeros()
    return counted


def similarities(scores: Matrix) -> Matrix:
    """Return the cosine of every two different items' columns, each pair once (above the diagonal).

    >>> similarities(sparse.csr_array(np.array([[3.0, 4.0], [4.0, 0.0]]))).toarray().round(2).tolist()
    [[0.0, 0.6], [0.0, 0.0]]
    """
    length = np.sqrt(np.asarray(scores.multiply(scores).sum(axis=0)).ravel())
    unit = scores @ sparse.diags_array(1 / np.where(length > 0, length, 1.0))
    return sparse.triu(unit.T @ unit, k=1).tocsr()


def similarity_error(original: Matrix, other: Matrix) -> float:
    """Return the normalised distance of two matrices of similarities, on the pairs that are alike in the original.

    >>> one = sparse.csr_array(np.array([[0.0, 0.5, 0.5], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    >>> two = sparse.csr_array(np.array([[0.0, 0.25, 0.5], [0.0, 0.0, 0.75], [0.0, 0.0, 0.0]]))
    >>> similarity_error(one, two)
    0.25
    """
    total = float(original.sum())
    if not total:
        return 0.0
    mask = original.copy()
    mask.data = np.ones_like(mask.data)
    return min(float(np.abs((original - other.multiply(mask)).data).sum()) / total, 1.0)


def most_bought(pieces: Matrix, count: int) -> Whole:
    """Return the ``count`` items that most customers bought, ties to the higher code, as the judges of 2017 did (E3).

    >>> most_bought(sparse.csr_array(np.array([[1.0, 1.0, 0.0, 2.0], [0.0, 9.0, 1.0, 0.0]])), 2).tolist()
    [1, 3]
    """
    buyers = np.bincount(pieces.indices, minlength=pieces.shape[1])
    order = np.lexsort((-np.arange(len(buyers)), -buyers))[:count]
    return order[buyers[order] > 0].astype(np.int64)
