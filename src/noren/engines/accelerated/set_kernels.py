"""The most similar set of items by products of 0/1 matrices, in Triton: the product never leaves the registers.

A block of threads holds some released sets' best answers so far and goes over the customers tile by tile. The overlaps
o of a tile come from the matrix units. With sizes a and b, J = o / (a + b - o) grows with o / (a + b); whether any pair
of the tile beats its row's best, O / S, is asked by products: ``o·S - O·(a + b) > 0``. All numbers are below 2¹², so
products and differences are below 2²⁴ and exact in single precision. Only where a tile has such a pair are quotients
formed; of such numbers they differ by more than 2⁻²⁴ if they differ, and stay apart when rounded to 24 bits.
"""

from __future__ import annotations

from typing import Any

import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

ROWS, COLUMNS, _DEEP = 128, 256, 128
_WARPS, _STAGES = 8, 4
"""The tile of a block of threads: released sets, customers, and how many items are multiplied at a time."""


@triton.jit
def _best(
    released, known, released_size, known_size, place, first, last, overlap, total, who, rows, people,
    width: tl.constexpr, bm: tl.constexpr, bn: tl.constexpr, bk: tl.constexpr, in_order: tl.constexpr,
):  # fmt: skip
    block = tl.program_id(0)
    m = block * bm + tl.arange(0, bm)
    mine = tl.load(released_size + m, mask=m < rows, other=1.0)
    most = tl.load(overlap + m, mask=m < rows, other=0.0)
    of = tl.load(total + m, mask=m < rows, other=1.0)
    whom = tl.load(who + m, mask=m < rows, other=0)
    for tile in tl.range(tl.load(first + block), tl.load(last + block)):
        n = tile * bn + tl.arange(0, bn)
        o = tl.zeros((bm, bn), dtype=tl.float32)
        for k in tl.range(0, width, bk):
            o = tl.dot(released.load([block * bm, k]), known.load([tile * bn, k]).T, o)
        theirs = tl.load(known_size + n, mask=n < people, other=1.0)
        number = tl.load(place + n, mask=n < people, other=2147483647)
        ahead = o * of[:, None] - most[:, None] * theirs[None, :] - (most * mine)[:, None]
        beats = ahead > 0
        if not in_order:  # an equal one counts if its number is lower
            beats = beats | ((ahead == 0) & (o > 0) & (number[None, :] < whom[:, None]))
        if tl.max(tl.max(beats.to(tl.int32), axis=1), axis=0) > 0:
            both = mine[:, None] + theirs[None, :]
            q = tl.div_rn(o, both)
            top = tl.max(q, axis=1)
            at = tl.min(tl.where((q == top[:, None]) & (o > 0), number[None, :], 2147483647), axis=1)
            chosen = number[None, :] == at[:, None]
            o_top = tl.max(tl.where(chosen, o, 0.0), axis=1)
            s_top = tl.max(tl.where(chosen, both, 0.0), axis=1)
            new, old = o_top * of, most * s_top
            better = (o_top > 0) & ((new > old) | ((new == old) & (at < whom)))
            most = tl.where(better, o_top, most)
            of = tl.where(better, s_top, of)
            whom = tl.where(better, at, whom)
    tl.store(overlap + m, most, mask=m < rows)
    tl.store(total + m, of, mask=m < rows)
    tl.store(who + m, whom, mask=m < rows)


def best(
    released: Any,
    known: Any,
    sizes: tuple[Any, Any],
    place: Any,
    tiles: tuple[Any, Any],
    answers: tuple[Any, ...],
    *,
    in_order: bool,
) -> None:
    """Improve the best ``answers`` (overlap, sum of sizes, customer) for all released sets.

    ``released`` and ``known`` are matrices of zeros and ones in floats of 8 bits, a row for each set, columns a
    multiple of 128; ``tiles`` are, for each block of released sets, the first tile of customers to look at and the one
    after the last. Of equally similar customers the one of lowest ``place`` is the answer; ``in_order``: they stand in
    that order.
    """
    left, right = (
        TensorDescriptor.from_tensor(released, [ROWS, _DEEP]),
        TensorDescriptor.from_tensor(known, [COLUMNS, _DEEP]),
    )
    grid = (triton.cdiv(released.shape[0], ROWS),)
    _best[grid](
        left, right, *sizes, place, *tiles, *answers, released.shape[0], known.shape[0],
        released.shape[1], ROWS, COLUMNS, _DEEP, in_order, num_warps=_WARPS, num_stages=_STAGES,
    )  # fmt: skip
