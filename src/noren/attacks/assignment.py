"""One customer for each pseudonym, from scores of pairs: exact where all pairs fit into a table, greedy above."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import polars as pl
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from noren.data.arrays import numbers
from noren.data.cells import is_interval
from noren.engines.blocks import map_blocks
from noren.errors import ParameterError
from noren.i18n import _
from noren.kernels.arrays import Real, Whole
from noren.kernels.linkage.assignment import greedy_pairs
from noren.kernels.random_draws import uniforms
from noren.protocols import Guess

Pairs = tuple[Whole, Whole, Real]
"""Rows, the column given to each, and by how much it beats the next best of its row; 1 where there is no other."""

NO_PAIRS: Pairs = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
_PAIRS = {"pseudonym": pl.String, "customer": pl.String, "score": pl.Float64}
PAIRS_BY_PERIOD = _PAIRS | {"period": pl.String}
_TABLE = 10_000_000
"""Pairs up to which the best assignment of all is looked for. Above, these many columns are kept for each row:"""
_LISTED = 32
MOST_PAIRS = 10**9
_BLOCK = 8_000_000
uniform = partial(uniforms, draw=0, stream=0)
"""Returns so many numbers from 0 to below 1 that depend on the seed alone: the first ones are always the same."""


def assigned(
    attack: str,
    shape: tuple[int, int],
    scores: Callable[[slice], Real],
    seed: int,
    *,
    listed: Whole | None = None,
    most: int = _TABLE,
    rows: int = 4096,
) -> Pairs:
    """Give each row a column, none twice, so that the sum of scores is large; the seed decides between equals.

    ``scores`` returns the scores of some rows, up to ``rows`` at a time, for all columns or those ``listed`` for each.

    >>> score = np.array([[5.0, 4.0], [4.0, 1.0]])
    >>> [part.tolist() for part in assigned("one", (2, 2), lambda rows: score[rows], seed=1)]
    [[0, 1], [1, 0], [-1.0, 3.0]]
    """
    if listed is None and (pairs := shape[0] * shape[1]) > MOST_PAIRS:
        message = _(
            "{attack} would compare {pairs:,} pairs, which is too many; use {other}, or attack part of the release"
        )
        raise ParameterError(message.format(attack=attack, pairs=pairs, other="jaccard"))
    if not min(shape):
        return NO_PAIRS
    exact = shape[0] * shape[1] <= most

    def best_columns(block: slice) -> tuple[Whole, Real]:
        block_scores = scores(block)
        which = np.broadcast_to(np.arange(shape[1]), block_scores.shape) if listed is None else listed[block]
        if exact or block_scores.shape[1] <= _LISTED:
            return which, block_scores
        best = np.argpartition(-block_scores, _LISTED, axis=1)[:, :_LISTED]
        return np.take_along_axis(which, best, axis=1), np.take_along_axis(block_scores, best, axis=1)

    step = min(_BLOCK // shape[1] + 1, rows)
    blocks = [slice(start, min(start + step, shape[0])) for start in range(0, shape[0], step)]
    column, score = (np.concatenate(parts) for parts in zip(*map_blocks(best_columns, blocks), strict=True))
    tied = score + 1e-9 * (1 + np.abs(score).max()) * uniform(score.size, seed=seed).reshape(score.shape)
    if exact:
        table = np.full(shape, tied.min() - 1)
        np.put_along_axis(table, column, tied, axis=1)
        row, assigned_column = linear_sum_assignment(table, maximize=True)
    else:
        every = np.repeat(np.arange(shape[0]), column.shape[1])
        row, assigned_column = greedy_pairs(every, column.ravel(), tied.ravel() - tied.min() + 1, shape)
    mine = column[row] == assigned_column[:, None]
    own, other = (np.where(mask, score[row], -np.inf).max(axis=1) for mask in (mine, ~mine))
    there = np.isfinite(own)  # a table has pairs that nobody scored
    margin = np.where(np.isfinite(other[there]), own[there] - other[there], 1.0)
    return row[there], assigned_column[there], margin


def pairs_of(pseudonyms: Any, customers: Any, score: Real, periods: Any = None) -> pl.DataFrame:
    """Return the pairs of a guess."""
    pairs = pl.DataFrame({"pseudonym": pseudonyms, "customer": customers, "score": score}, schema=_PAIRS)
    return pairs if periods is None else pairs.with_columns(pl.Series("period", periods, pl.String))


def guess_of(name: str, pairs: Pairs, pseudonyms: pl.Series, customers: pl.Series) -> Guess:
    """Return an assignment as a guess, surest first."""
    row, column, margin = pairs[0], pairs[1], pairs[2].round(9)  # sums differ in the last digits between machines
    order = np.lexsort((row, -margin))
    return Guess(name, pairs_of(pseudonyms.gather(row[order]), customers.gather(column[order]), margin[order]))


def middles(cells: pl.Series) -> Real:
    """Return cells as numbers, the middle of each interval, NaN where nothing is said.

    >>> middles(pl.Series([{"lo": 1.0, "hi": 3.0}, None])).tolist()
    [2.0, nan]
    """
    if is_interval(cells.dtype):
        return (numbers(cells.struct.field("lo")) + numbers(cells.struct.field("hi"))) / 2
    return numbers(cells)


def counted(who: pl.Series, what: pl.Series, people: pl.Series, things: pl.Series, weight: Real) -> csr_array:
    """Return how much of each thing each of the people has."""
    texts = ((who, people), (what, things))
    where = tuple(values.cast(pl.Enum(names)).to_physical().cast(pl.Int64).to_numpy() for values, names in texts)
    table = csr_array((weight, where), shape=(len(people), len(things)))
    table.sum_duplicates()
    return table


def product(left: Any, right: Any) -> Real:
    """Return the products of all rows of one with all rows of another, sparse or not, as a full table."""
    products = left @ right.T
    return np.asarray(products if isinstance(products, np.ndarray) else products.toarray())
