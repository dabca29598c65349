"""The passes of :class:`~noren.engines.accelerated.tables.ObservedTable` over all cells, in Triton.

Each reads and writes every cell once. A tile has an axis for each attribute, rounded up to a power of two; cells
outside are read as 0. Going along an axis leaves something in the cells outside on that axis alone, and no later axis
brings it back inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import triton
import triton.language as tl

_LONG = 1_024
_SUM_BLOCK = 64


@triton.jit
def _mixed(t, r0, r1, r2, r3, r4, k0, k1, k2, k3, k4):
    t = r0 * t + k0 * tl.sum(t, axis=0, keep_dims=True)
    t = r1 * t + k1 * tl.sum(t, axis=1, keep_dims=True)
    t = r2 * t + k2 * tl.sum(t, axis=2, keep_dims=True)
    t = r3 * t + k3 * tl.sum(t, axis=3, keep_dims=True)
    t = r4 * t + k4 * tl.sum(t, axis=4, keep_dims=True)
    return t  # noqa: RET504


@triton.jit
def _rows(
    x, z, r0, r1, r2, r3, r4, k0, k1, k2, k3, k4,
    m0: tl.constexpr, m1: tl.constexpr, m2: tl.constexpr, m3: tl.constexpr, m4: tl.constexpr,
    p0: tl.constexpr, p1: tl.constexpr, p2: tl.constexpr, p3: tl.constexpr, p4: tl.constexpr,
):  # fmt: skip
    length: tl.constexpr = m0 * m1 * m2 * m3 * m4
    start = tl.program_id(0).to(tl.int64) * length
    i0 = tl.arange(0, p0)[:, None, None, None, None]
    i1 = tl.arange(0, p1)[None, :, None, None, None]
    i2 = tl.arange(0, p2)[None, None, :, None, None]
    i3 = tl.arange(0, p3)[None, None, None, :, None]
    i4 = tl.arange(0, p4)[None, None, None, None, :]
    inside = (i0 < m0) & (i1 < m1) & (i2 < m2) & (i3 < m3) & (i4 < m4)
    at = (((i0 * m1 + i1) * m2 + i2) * m3 + i3) * m4 + i4
    odds = tl.load(z + start + at, mask=inside, other=0.0)
    old = tl.load(x + start + at, mask=inside, other=0.0)
    new = old * _mixed(odds, r0, r1, r2, r3, r4, k0, k1, k2, k3, k4)
    tl.store(x + start + at, new, mask=inside)
    tl.store(z + start + at, _mixed(new, r0, r1, r2, r3, r4, k0, k1, k2, k3, k4), mask=inside)


@triton.jit
def _sums(
    z, both, of_c, of_d, length,
    c_size: tl.constexpr, d_size: tl.constexpr, padded: tl.constexpr, block: tl.constexpr,
):  # fmt: skip
    ab = tl.program_id(1).to(tl.int64)
    r = tl.program_id(0) * block + tl.arange(0, block)
    c = tl.arange(0, padded)
    inside = (c[:, None] < c_size) & (r[None, :] < length)
    at = c[:, None].to(tl.int64) * (d_size * length) + r[None, :]
    total = tl.zeros((padded, block), dtype=tl.float32)
    for d in tl.static_range(d_size):
        cells = tl.load(z + ab * (c_size * d_size) * length + d * length + at, mask=inside, other=0.0)
        total += cells
        tl.store(of_d + (ab * d_size + d) * length + r, tl.sum(cells, axis=0), mask=r < length)
    tl.store(of_c + ab * c_size * length + c[:, None].to(tl.int64) * length + r[None, :], total, mask=inside)
    tl.store(both + ab * length + r, tl.sum(total, axis=0), mask=r < length)


@triton.jit
def _spread(z, both, of_c, of_d, t0, t1, t2, length, c_size: tl.constexpr, d_size: tl.constexpr, block: tl.constexpr):
    c = tl.program_id(1)
    ab = tl.program_id(2).to(tl.int64)
    r = tl.program_id(0) * block + tl.arange(0, block)
    inside = r < length
    base = t0 * tl.load(both + ab * length + r, mask=inside) + t1 * tl.load(
        of_c + (ab * c_size + c) * length + r, mask=inside
    )
    for d in tl.static_range(d_size):
        more = tl.load(of_d + (ab * d_size + d) * length + r, mask=inside)
        tl.store(z + ((ab * c_size + c) * d_size + d) * length + r, base + t2 * more, mask=inside)


def rows(x: Any, z: Any, sizes: Sequence[int], rhos: Sequence[float]) -> None:
    """Multiply x by what the row axes make of z; leave in z what they make of the new x."""
    missing = 5 - len(sizes)
    sizes, rhos = [1] * missing + list(sizes), [1.0] * missing + list(rhos)
    padded = [1 << (m - 1).bit_length() for m in sizes]
    rest = [(1 - rho) / m for m, rho in zip(sizes, rhos, strict=True)]
    warps = max(2, min(16, prod(padded) // 4_096))
    _rows[(x.numel() // prod(sizes),)](x, z, *rhos, *rest, *sizes, *padded, num_warps=warps)


def sums(z: Any) -> list[Any]:
    """Return the sums of z over c and d, over d, and over c."""
    ab, c, d, length = z.shape
    both, of_c, of_d = (z.new_empty(shape) for shape in ((ab, length), (ab, c * length), (ab, d * length)))
    grid = (triton.cdiv(length, _SUM_BLOCK), ab)
    _sums[grid](z, both, of_c, of_d, length, c, d, 1 << (c - 1).bit_length(), _SUM_BLOCK, num_warps=4)
    return [both, of_c, of_d]


def spread(z: Any, both: Any, of_c: Any, of_d: Any, terms: Sequence[float]) -> None:
    """Write into every cell of z what its three sums say."""
    ab, c, d, length = z.shape
    block = min(_LONG, 1 << (length - 1).bit_length())
    _spread[(triton.cdiv(length, block), c, ab)](z, both, of_c, of_d, *terms, length, c, d, block, num_warps=4)
