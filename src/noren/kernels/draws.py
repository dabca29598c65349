"""Drawing one value from what a released cell allows, uniformly (S0 §6.3.1)."""

from __future__ import annotations

import numpy as np

from noren.errors import ParameterError
from noren.i18n import _
from noren.kernels.arrays import Real, Whole

__all__ = ["from_grid", "from_sets", "grid_points", "uniforms"]


_NEARLY = 1e-6
"""A part of a step that rounding may have added or taken: ends of intervals are binary floating-point numbers."""


def uniforms(rows: int, *, seed: int, draw: int, stream: int, first: int = 0) -> Real:
    """Return ``rows`` numbers in [0, 1) that depend on the seed, the draw and the stream alone.

    The generator counts: its key is the seed, the upper half of its counter the draw and the stream (one per column),
    so draw 7 is the same whether 8 or 100 are made, in any order, on any machine. ``first`` leaves out so many numbers
    without making them: rows that come in blocks get the numbers that they would get all at once.

    >>> one, again = (uniforms(3, seed=1, draw=7, stream=0) for _run in range(2))
    >>> bool((one == again).all()), bool((one == uniforms(3, seed=1, draw=8, stream=0)).any())
    (True, False)
    >>> bool((uniforms(9, seed=1, draw=7, stream=0)[5:] == uniforms(4, seed=1, draw=7, stream=0, first=5)).all())
    True
    """
    if not 0 <= seed < 1 << 128:
        raise ParameterError(
            _("seed = {seed} is not a whole number from 0 to 2^128 - 1").format(seed=seed), _("choose another seed")
        )
    # one count makes four numbers
    counter = np.array([first // 4, 0, stream, draw], dtype=np.uint64)
    raw = np.random.Philox(key=seed, counter=counter).random_raw(first % 4 + rows)[first % 4 :]
    return (raw >> np.uint64(11)).astype(np.float64) * 2.0**-53


def grid_points(lo: Real, hi: Real, width: float) -> Real:
    """Return how many of ``lo, lo + width, …`` lie in each interval.

    >>> grid_points(np.array([1.0, 0.1]), np.array([4.0, 0.3]), 0.1).tolist()
    [31.0, 3.0]
    """
    return np.floor((hi - lo) / width + _NEARLY) + 1


def from_grid(lo: Real, hi: Real, width: float, uniform: Real) -> Real:
    """Return a grid point of each interval, all equally likely: ``lo + width·⌊u·N⌋``.

    Where steps are a whole part of 1 (0.01) and ``lo`` lies on the grid, the answer is the nearest number to the
    decimal one, as a file would be read: 0.1 + 0.2 is 0.3.

    >>> from_grid(np.array([0.1, 5.0]), np.array([0.3, 5.0]), 0.1, np.array([0.99, 0.5])).tolist()
    [0.3, 5.0]
    """
    steps = np.floor(uniform * grid_points(lo, hi, width))
    drawn = lo + steps * width
    parts = round(1 / width)
    if parts < 1 or abs(parts * width - 1) > _NEARLY:
        return drawn
    first = np.round(lo * parts)
    return np.where(np.abs(first - lo * parts) < _NEARLY * np.maximum(1, np.abs(first)), (first + steps) / parts, drawn)


def from_sets(start: Whole, stop: Whole, weight: Whole, uniform: Real) -> tuple[Whole, Whole]:
    """Return which element each set gives, all equally likely, when an element may stand for several values.

    The sets lie one after another in one array: set i holds the elements ``start[i] … stop[i] - 1``, and element e
    stands for ``weight[e]`` values (1 for an item, its size for a category). Each value of a set is as likely as any
    other.

    Returns
    -------
    element, value
        The position of the element, and which of its values, counted from 0.

    Examples
    --------
    The set {a, b}, where b stands for three values: a has the first quarter of [0, 1), b the rest.

    >>> ends = np.zeros(4, dtype=np.int64), np.full(4, 2)
    >>> element, value = from_sets(*ends, np.array([1, 3]), np.array([0.2, 0.3, 0.6, 0.9]))
    >>> element.tolist(), value.tolist()
    ([0, 1, 1, 1], [0, 0, 1, 2])
    """
    before = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(weight, dtype=np.int64)])
    values = before[stop] - before[start]
    place = before[start] + np.minimum(np.floor(uniform * values).astype(np.int64), values - 1)
    element = np.searchsorted(before, place, side="right") - 1
    return element, place - before[element]
