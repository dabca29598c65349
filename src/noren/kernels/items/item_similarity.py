"""How alike items are by who bought them, the matrix behind item-based recommendations (S0 §6.1.3, PWS Cup 2017).

A matrix holds a score per customer and item; two items are as alike as the cosine of their columns. What a release
does to the matrix is the sum of absolute differences over the pairs of different items that are alike at all in the
original, divided by the sum of the original's similarities, 1 at most.

**Itemsets that are in many baskets: finding them once, and counting them again elsewhere (Apriori).**
An itemset is frequent only if all its parts are, so sets grow by one item at a time from the frequent ones. To ask
whether they are frequent in other data there is nothing to find: they are only counted.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from noren.kernels.arrays import Real, Whole
from noren.kernels.compiling import kernel, read_only

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
    first, items, pieces = _pieces(read_only(customer), read_only(item), read_only(quantity), *shape)
    return sparse.csr_array((pieces, items, first), shape=shape)


@kernel()
def _pieces(customer: Whole, item: Whole, quantity: Real, customers: int, items: int) -> tuple[Whole, Whole, Real]:
    """Sum up quantities by customer and item, both in rising order: rows are counted into place by item, then so by
    customer.
    """
    by_item, place = np.zeros(items + 1, np.int64), np.zeros(customers + 1, np.int64)
    for row in range(item.size):
        by_item[item[row] + 1] += 1
        place[customer[row] + 1] += 1
    for i in range(items):
        by_item[i + 1] += by_item[i]
    for c in range(customers):
        place[c + 1] += place[c]
    order, then = np.empty(item.size, np.int32), np.empty(item.size, np.int32)
    for row in range(item.size):
        order[by_item[item[row]]] = row
        by_item[item[row]] += 1
    for at in range(item.size):
        row = order[at]
        then[place[customer[row]]] = row
        place[customer[row]] += 1
    first = np.zeros(customers + 1, np.int64)
    piece_item, pieces = np.empty(item.size, np.int64), np.empty(item.size, np.float64)
    used = 0
    for at in range(item.size):
        row = then[at]
        if at > 0 and customer[then[at - 1]] == customer[row] and piece_item[used - 1] == item[row]:
            pieces[used - 1] += quantity[row]
            continue
        piece_item[used], pieces[used] = item[row], quantity[row]
        first[customer[row] + 1] += 1
        used += 1
    for c in range(customers):
        first[c + 1] += first[c]
    return first, piece_item[:used].copy(), pieces[:used].copy()


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


def any_alike(scores: Matrix) -> bool:
    """Tell whether any two items are alike: somebody scores both.

    >>> any_alike(sparse.csr_array(np.eye(2))), any_alike(sparse.csr_array(np.ones((1, 2))))
    (False, True)
    """
    return bool((np.diff(scores.indptr) > 1).any())


def similarity_error(original: Matrix, other: Matrix) -> float:
    """Return the distance of two tables of scores above 0: how far the cosines of items are apart, summed up over the
    pairs of items that are alike in the original, by the sum of the original's cosines.

    The cosines of a and b and of a and c are 0.6 and 0.8 in the first table, 0.8 and none in the second:

    >>> one = sparse.csr_array(np.array([[5.0, 3.0, 4.0], [0.0, 4.0, 0.0], [0.0, 0.0, 3.0]]))
    >>> two = sparse.csr_array(np.array([[5.0, 4.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 1.0]]))
    >>> round(similarity_error(one[:, [0, 1]], two[:, [0, 1]]), 9)
    0.333333333
    """
    total, apart = _compared(*_by_item(original), *_by_item(other), original.shape[1])
    return min(float(apart.sum() / total.sum()), 1.0) if total.any() else 0.0


def _by_item(scores: Matrix) -> tuple[Whole, Whole, Real, Whole, Whole, Real]:
    """Return the entries' items and scores, where the customer of each ends, the entries of each item, and one over
    the length of each item's column.
    """
    rows = scores if scores.has_sorted_indices else scores.sorted_indices()
    item, score = rows.indices.astype(np.int64, copy=False), rows.data.astype(np.float64, copy=False)
    many = np.diff(rows.indptr)
    squares = np.bincount(item, score * score, minlength=scores.shape[1])
    first = np.concatenate([[0], np.cumsum(np.bincount(item, minlength=scores.shape[1]))]).astype(np.int64)
    ends = np.repeat(rows.indptr[1:], many).astype(np.int64)
    entry, inverse = np.argsort(item, kind="stable"), 1 / np.sqrt(np.where(squares > 0, squares, 1.0))
    return (
        read_only(item), read_only(ends), read_only(score), read_only(first), read_only(entry), read_only(inverse),
    )  # fmt: skip


@kernel()
def _compared(
    item: Whole, ends: Whole, score: Real, first: Whole, entry: Whole, inverse: Real,
    item_2: Whole, ends_2: Whole, score_2: Real, first_2: Whole, entry_2: Whole, inverse_2: Real, items: int,
) -> tuple[Real, Real]:  # fmt: skip
    """Return for each item the sum of its cosines with later items, and how far these are from the other table's.

    Whoever scores an item adds to its product with each of the later items she scores.
    """
    total, apart = np.zeros(items, np.float64), np.zeros(items, np.float64)
    mine, theirs = np.zeros(items, np.float64), np.zeros(items, np.float64)
    seen = np.empty(items, np.int64)
    for i in range(items):
        many = 0
        for at in range(first[i], first[i + 1]):
            first_entry = entry[at]
            for second_entry in range(first_entry + 1, ends[first_entry]):
                j = item[second_entry]
                if mine[j] == 0.0:
                    seen[many] = j
                    many += 1
                mine[j] += score[first_entry] * score[second_entry]
        if many == 0:
            continue
        for at in range(first_2[i], first_2[i + 1]):
            first_entry = entry_2[at]
            for second_entry in range(first_entry + 1, ends_2[first_entry]):
                theirs[item_2[second_entry]] += score_2[first_entry] * score_2[second_entry]
        for at in range(many):
            j = seen[at]
            cosine = mine[j] * inverse[i] * inverse[j]
            total[i] += cosine
            apart[i] += abs(cosine - theirs[j] * inverse_2[i] * inverse_2[j])
            mine[j] = 0.0
        for at in range(first_2[i], first_2[i + 1]):
            first_entry = entry_2[at]
            for second_entry in range(first_entry + 1, ends_2[first_entry]):
                theirs[item_2[second_entry]] = 0.0
    return total, apart


def most_bought(pieces: Matrix, count: int) -> Whole:
    """Return the ``count`` items that most customers bought, ties to the higher code, as the judges of 2017 did (E3).

    >>> most_bought(sparse.csr_array(np.array([[1.0, 1.0, 0.0, 2.0], [0.0, 9.0, 1.0, 0.0]])), 2).tolist()
    [1, 3]
    """
    buyers = np.bincount(pieces.indices, minlength=pieces.shape[1])
    order = np.lexsort((-np.arange(len(buyers)), -buyers))[:count]
    return order[buyers[order] > 0].astype(np.int64)


# --- Itemsets that are in many baskets: finding them once, and counting them again elsewhere (Apriori) ----------------


MOST_SETS = 2_000_000
"""More candidates of one size than this are not looked at; the search ends with the size before."""

_SETS_AT_A_TIME = 4096


def basket_matrix(basket: Whole, item: Whole, items: int) -> sparse.csc_array:
    """Return which of ``items`` items are in which basket (any whole numbers), as ones of a sparse matrix.

    >>> basket_matrix(np.array([7, 7, 9, 9]), np.array([0, 1, 1, 1]), 2).toarray().tolist()
    [[1, 1], [0, 1]]
    """
    _names, row = np.unique(basket, return_inverse=True)
    shape = (len(_names), items)
    once = np.unique(row.astype(np.int64) * max(items, 1) + item)
    place = (once // max(items, 1), once % max(items, 1))
    return sparse.csc_array((np.ones(len(once), dtype=np.int64), place), shape=shape)


def support(baskets: sparse.csc_array, sets: Whole) -> Whole:
    """Return in how many baskets each itemset (one per line, all of one size) is.

    >>> both = basket_matrix(np.array([1, 1, 2, 2, 3]), np.array([0, 1, 0, 1, 1]), 2)
    >>> support(both, np.array([[0, 1]])).tolist(), support(both, np.array([[0], [1]])).tolist()
    ([2], [2, 3])
    """
    counts = np.zeros(len(sets), dtype=np.int64)
    for first in range(0, len(sets), _SETS_AT_A_TIME):
        part = sets[first : first + _SETS_AT_A_TIME]
        together = baskets[:, part[:, 0]]
        for column in part.T[1:]:
            together = together.multiply(baskets[:, column])
        counts[first : first + len(part)] = together.sum(axis=0)
    return counts


def frequent_sets(baskets: sparse.csc_array, least: int, largest: int) -> list[Whole]:
    """Return the itemsets of 1, 2, … ``largest`` items that are in at least ``least`` baskets, one array per size.

    Items of a set ascend, and so do the sets. The list ends before a size that has none, or more candidates than
    :data:`MOST_SETS`.

    >>> found = frequent_sets(basket_matrix(np.array([1, 1, 2, 2, 3]), np.array([0, 1, 0, 1, 1]), 3), 2, 3)
    >>> [sets.tolist() for sets in found]
    [[[0], [1]], [[0, 1]]]
    """
    single = np.flatnonzero(np.asarray(baskets.sum(axis=0)).ravel() >= least)
    sets_by_size = [single.reshape(-1, 1).astype(np.int64)]
    if largest >= 2:
        chosen = baskets[:, single]
        together = sparse.triu(chosen.T @ chosen, k=1).tocoo()
        often = together.data >= least
        pairs = np.column_stack([single[together.row[often]], single[together.col[often]]]).astype(np.int64)
        sets_by_size.append(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])
    while len(sets := sets_by_size[-1]) and len(sets_by_size) < largest:
        # sets that differ in their last item alone are joined; the counting drops what has an infrequent part
        _heads, head = np.unique(sets[:, :-1], axis=0, return_inverse=True)
        place = np.arange(len(sets))
        partners = np.searchsorted(head.ravel(), head.ravel(), side="right") - place - 1
        if partners.sum() > MOST_SETS:
            break
        left = np.repeat(place, partners)
        right = left + 1 + np.arange(len(left)) - np.repeat(np.cumsum(partners) - partners, partners)
        candidates = np.column_stack([sets[left], sets[right, -1]])
        sets_by_size.append(candidates[support(baskets, candidates) >= least])
    return [sets for sets in sets_by_size if len(sets)]
