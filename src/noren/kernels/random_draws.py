"""Random draws: one for each cell or row, whatever block it is in; and pseudonyms."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noren.errors import ParameterError
from noren.kernels.arrays import Real, Whole
from noren.tables import Texts

say = Texts(__name__)

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
        raise ParameterError.out_of_range("seed", seed, "0 <= seed < 2^128")
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
    other. Returned are the position of the element, and which of its values, counted from 0.

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


# --- Numbers of a counting generator at any places: what rows scattered over machines need ----------------------------


_MULTIPLY = (np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157))
_WEYL = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B))
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ROUNDS = 10

Words = NDArray[np.uint64]


def raw_at(places: Whole, *, seed: int, draw: int = 0, stream: int = 0) -> Words:
    """Return the 64-bit numbers that ``Philox(key=seed, counter=[0, 0, stream, draw])`` makes at ``places``, from 0.

    >>> whole = np.random.Philox(key=7, counter=[0, 0, 2, 1]).random_raw(50)
    >>> bool((raw_at(np.array([49, 0, 13]), seed=7, stream=2, draw=1) == whole[[49, 0, 13]]).all())
    True
    """
    at = np.asarray(places, dtype=np.uint64)
    # numpy counts on before it draws: the first four numbers are those of count 1
    x0 = (at >> np.uint64(2)) + np.uint64(1)
    zero = np.zeros_like(x0)
    x1, x2, x3 = zero, zero + np.uint64(stream), zero + np.uint64(draw)
    k0, k1 = np.uint64(seed & (2**64 - 1)), np.uint64(seed >> 64)
    with np.errstate(over="ignore"):
        for _round in range(_ROUNDS):
            high0, low0 = _product(x0, _MULTIPLY[0])
            high1, low1 = _product(x2, _MULTIPLY[1])
            x0, x1, x2, x3 = high1 ^ x1 ^ k0, low1, high0 ^ x3 ^ k1, low0
            k0, k1 = k0 + _WEYL[0], k1 + _WEYL[1]
    return np.choose((at & np.uint64(3)).astype(np.int64), [x0, x1, x2, x3])


def _product(x: Words, by: np.uint64) -> tuple[Words, Words]:
    """Return the high and the low half of ``x · by``."""
    xl, xh, yl, yh = x & _LOW, x >> _HALF, by & _LOW, by >> _HALF
    middle = xh * yl + ((xl * yl) >> _HALF)
    across = xl * yh + (middle & _LOW)
    return xh * yh + (middle >> _HALF) + (across >> _HALF), x * by


def uniforms_at(places: Whole, *, seed: int, draw: int, stream: int) -> Real:
    """Return what :func:`noren.kernels.random_draws.uniforms` says at ``places``, wherever they are.

    >>> scattered = uniforms_at(np.array([5, 2]), seed=1, draw=7, stream=0)
    >>> bool((scattered == uniforms(6, seed=1, draw=7, stream=0)[[5, 2]]).all())
    True
    """
    places = np.asarray(places, dtype=np.int64)
    if len(places) > 1 and (np.diff(places) == 1).all():  # rows as they stand in the file: no need to jump
        return uniforms(len(places), seed=seed, draw=draw, stream=stream, first=int(places[0]))
    return (raw_at(places, seed=seed, draw=draw, stream=stream) >> np.uint64(11)).astype(np.float64) * 2.0**-53


# --- Names that say nothing: distinct whole numbers in random order ---------------------------------------------------


MOST_PSEUDONYMS = 10**8
"""How many pseudonyms there are of at most nine digits, all equally long."""


def pseudonyms(count: int, seed: int) -> NDArray[np.int64]:
    """Return ``count`` distinct positive whole numbers of equal length, in an order that the seed alone decides.

    They are the ``count`` numbers from ``10^d`` on, with ``10^d`` the first power of ten that is at least ``count``
    (and ten), so none has a leading zero, none has more than nine digits (the PWS Cup 2018 format), and sorting them as
    text or as numbers is the same. The order is that of ``count`` raw 64-bit draws of a Philox generator whose key is
    the seed: numpy promises that stream for ever, while ``Generator.permutation`` may change between versions.

    >>> sorted(pseudonyms(4, seed=1).tolist())
    [10, 11, 12, 13]
    """
    first = first_pseudonym(count, seed)
    order: NDArray[np.int64] = np.argsort(np.random.Philox(key=seed).random_raw(count), kind="stable")
    return first + order.astype(np.int64)


def first_pseudonym(count: int, seed: int) -> int:
    """Return the smallest of ``count`` pseudonyms; stop where there are not so many, or the seed is none.

    >>> first_pseudonym(10, 1), first_pseudonym(11, 1)
    (10, 100)
    """
    if count > MOST_PSEUDONYMS:
        raise ParameterError(say("many_customers", count=count, most=MOST_PSEUDONYMS))
    if not 0 <= seed < 1 << 128:
        raise ParameterError.out_of_range("seed", seed, "0 <= seed < 2^128")
    return int(10 ** max(1, len(str(max(count - 1, 0)))))
