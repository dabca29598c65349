"""Numbers of a counting generator at any places: what rows scattered over machines need."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from noren.kernels.arrays import Real, Whole
from noren.kernels.draws import uniforms

__all__ = ["raw_at", "uniforms_at"]

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
    """Return what :func:`noren.kernels.draws.uniforms` says at ``places``, wherever they are.

    >>> scattered = uniforms_at(np.array([5, 2]), seed=1, draw=7, stream=0)
    >>> bool((scattered == uniforms(6, seed=1, draw=7, stream=0)[[5, 2]]).all())
    True
    """
    places = np.asarray(places, dtype=np.int64)
    if len(places) > 1 and (np.diff(places) == 1).all():  # rows as they stand in the file: no need to jump
        return uniforms(len(places), seed=seed, draw=draw, stream=stream, first=int(places[0]))
    return (raw_at(places, seed=seed, draw=draw, stream=stream) >> np.uint64(11)).astype(np.float64) * 2.0**-53
