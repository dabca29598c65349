"""Noise that keeps within bounds: days inside a period, prices within a factor, quantities by whole packs."""

from __future__ import annotations

import numpy as np

from noren.kernels.arrays import Real, Whole

__all__ = ["day_shifts", "moved_by_packs", "scaled_prices"]


def day_shifts(day: Whole, first: Whole, last: Whole, most: int, uniform: Real) -> Whole:
    """Return by how many days each day moves: every move of at most ``most`` days that stays within ``first … last``
    is equally likely.

    A day near the end of its period has fewer days to go to; none of them draws more than the others, so days do not
    pile up at the ends.

    >>> every = np.linspace(0, 0.99, 100)
    >>> same = np.ones(100, dtype=np.int64)
    >>> np.unique(day_shifts(30 * same, 1 * same, 31 * same, 3, every)).tolist()
    [-3, -2, -1, 0, 1]
    """
    back: Whole = np.clip(day - first, 0, most)
    ahead = np.clip(last - day, 0, most)
    drawn: Whole = np.floor(uniform * (back + ahead + 1)).astype(np.int64)
    return drawn - back


def scaled_prices(price: Real, share: float, width: float, least: float, most: float, uniform: Real) -> Real:
    """Return each price times a factor between 1/(1 + share) and 1 + share, on a grid and within bounds.

    The logarithm of the factor is uniform, so a price is as likely to rise by a factor as to fall by it, and before
    rounding the smaller of old and new price is at least 1/(1 + share) of the larger. A price of 0 stays; a negative
    one keeps its sign.

    >>> scaled_prices(np.array([2.0, 2.0, 0.01, 0.0]), 0.1, 0.01, 0.01, np.inf, np.array([0.0, 0.5, 0.0, 0.9])).tolist()
    [1.82, 2.0, 0.01, 0.0]
    """
    size = np.abs(price) * (1 + share) ** (2 * uniform - 1)
    steps = np.round(size / width)
    parts = round(1 / width)
    # 182/100 is the number a file's 1.82 is read as; 182·0.01 need not be
    on_grid = steps / parts if parts >= 1 and abs(parts * width - 1) < 1e-9 else steps * width
    bounded = np.clip(on_grid, max(least, 0.0), most)
    return np.where(price == 0, price, np.sign(price) * bounded)


def moved_by_packs(quantity: Real, pack: Real, packs: int, least: float, uniform: Real) -> Real:
    """Return each quantity moved by whole packs, up to ``packs`` either way, the mean staying where it was.

    A quantity that could fall by a packs without going below ``least`` moves by one of -a … a, all equally likely, with
    a at most ``packs``; a quantity of one pack or less therefore stays. A negative one keeps its sign.

    >>> every = np.array([0.0, 0.5, 0.99])
    >>> moved_by_packs(np.full(3, 24.0), np.full(3, 12.0), 1, 1, every).tolist()
    [12.0, 24.0, 36.0]
    >>> moved_by_packs(np.full(3, 12.0), np.full(3, 12.0), 1, 1, every).tolist()
    [12.0, 12.0, 12.0]
    """
    size = np.abs(quantity)
    reach = np.clip(np.floor((size - least) / pack), 0, packs)
    shift: Real = (np.floor(uniform * (2 * reach + 1)) - reach) * pack
    return np.sign(quantity) * (size + shift)
