"""One pseudonym each: what follows from scores of all pairs when nobody has two."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from noren.kernels.arrays import Real, Whole
from noren.kernels.compiling import kernel

__all__ = ["best_pairs", "fair_shares", "greedy_pairs"]


_ROUNDS = 40
_LEAST = 1e-300


def fair_shares(score: Real) -> Real:
    """Return the chance of each pair, rows being pseudonyms of somebody, columns people with one pseudonym at most.

    ``score`` is the log of each pair's likelihood. The chances of a row sum to 1, those of a column to 1 at most: the
    table nearest to the likelihoods of which this is true, found by scaling rows and columns in turn (Sinkhorn 1967).

    Both rows are likeliest the first person; the second row fits nobody else worse, so the first row yields.

    >>> fair_shares(np.log([[0.5, 0.5], [0.9, 0.1]])).round(2).tolist()
    [[0.25, 0.75], [0.75, 0.25]]
    """
    if not score.size:
        return np.zeros(score.shape)
    most = score.max(axis=1, keepdims=True)
    weight = np.exp(score - np.where(np.isfinite(most), most, 0.0))
    column = np.ones(score.shape[1])
    for _ in range(_ROUNDS):
        row = 1 / np.maximum(weight @ column, _LEAST)
        column = np.minimum(1, 1 / np.maximum(row @ weight, _LEAST))
    share = weight * column
    share /= np.maximum(share.sum(axis=1, keepdims=True), _LEAST)
    return np.asarray(share)


def best_pairs(gain: Real) -> tuple[Whole, Whole]:
    """Return rows and columns of the pairs of largest sum, no row or column twice; pairs without gain are left out.

    >>> rows, columns = best_pairs(np.array([[5.0, 4.0], [3.0, -1.0]]))
    >>> rows.tolist(), columns.tolist()
    ([0, 1], [1, 0])
    """
    row, column = linear_sum_assignment(np.maximum(gain, 0.0), maximize=True)
    there = gain[row, column] > 0
    return row[there], column[there]


def greedy_pairs(row: Whole, column: Whole, gain: Real, shape: tuple[int, int]) -> tuple[Whole, Whole]:
    """Return pairs without a row or column twice, always taking the largest gain left; for what no table can hold.

    >>> rows, columns = greedy_pairs(np.array([0, 0, 1]), np.array([0, 1, 0]), np.array([5.0, 4.0, 3.0]), (2, 2))
    >>> rows.tolist(), columns.tolist()
    ([0], [0])
    """
    order = np.lexsort((column, row, -gain))
    chosen = order[_first_come(row[order], column[order], *shape) & (gain[order] > 0)]
    chosen = chosen[np.argsort(row[chosen], kind="stable")]
    return row[chosen], column[chosen]


@kernel()
def _first_come(row: Whole, column: Whole, rows: int, columns: int) -> NDArray[np.bool_]:
    """Tell which pairs come before any other with their row or column that was let in."""
    row_taken = np.zeros(rows, np.bool_)
    column_taken = np.zeros(columns, np.bool_)
    let_in = np.zeros(len(row), np.bool_)
    for at in range(len(row)):
        if not (row_taken[row[at]] or column_taken[column[at]]):
            row_taken[row[at]] = column_taken[column[at]] = True
            let_in[at] = True
    return let_in
