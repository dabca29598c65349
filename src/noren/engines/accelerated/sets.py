"""Whose set of items is most like this one, by products of matrices: every pair looked at, for machines that multiply.

Sets become rows of a matrix, the product of two blocks holds the overlaps of all their pairs, and a running best
remembers the most similar customers of each released set. Only one block of overlaps exists at a time. The answer is
that of :mod:`noren.kernels.linkage.jaccard`, ties and last digits included: overlaps are whole numbers, exact in the
floats that hold them, and the quotient that decides is the same one, rounded once to 64 bits.

**Which floats are exact.** Every partial sum of an overlap is a whole number, exact to 2²⁴ in 32 bits and to 2⁵³ in 64,
in whatever order it is added; weights in units of 1/720,720 (items that are one of several) take the 64.

**Fused** (Triton, on CUDA). Where every item is sure, one candidate is asked for and no two sets have 4,096 items
together, matrices are of 8 bits, overlaps stay in registers, and customers stand by size: J is at most the smaller
size over the larger, so after a first look at customers of about the same size each block of released sets has a range
of customers beyond which nobody can be as similar as whom it has found.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from noren.engines.accelerated.device import Accelerator, Tensor, in_smaller_blocks
from noren.kernels.arrays import Real, Whole
from noren.kernels.items.packed_sets import ItemSets

NOBODY = -1
_PAYS = 4e9
"""Pairs from which products on a graphics processor beat the search on a few cores, its start included."""
_FUSED_SUM = 4_095
_ROWS, _COLUMNS = 4_096, 16_384
_LEAST_BLOCK = 16
_BM, _BN = 128, 256
_FIRST_LOOK, _FEWEST_TILES = 1 / 8, 8
"""The share of customers, of about the same size, that are looked at before the ranges are drawn."""
_WIDE = 0.5

Hook = Callable[[float], None]


def pairs_pay(sets: int, people: int) -> bool:
    """Tell whether so many released sets and customers are worth a graphics processor."""
    return float(sets) * people >= _PAYS


def most_similar_sets(
    accelerator: Accelerator,
    known: ItemSets,
    released: ItemSets,
    items: int,
    candidates: int = 1,
    report: Hook = lambda _done: None,
) -> tuple[Whole, Real]:
    """Return for each released set the most similar customers, best first, and how similar they are.

    Of equally similar customers the one with the lower number comes first; :data:`NOBODY` with similarity 0 where fewer
    than ``candidates`` share anything.

    >>> from noren.engines.accelerated.device import processor
    >>> from noren.kernels.items.packed_sets import item_sets
    >>> known = item_sets(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 2, 3]), 3, 4)
    >>> released = item_sets(np.array([0, 0]), np.array([0, 1]), 1, 4)
    >>> who, how = most_similar_sets(processor(), known, released, 4, 3)
    >>> who.tolist(), how.round(3).tolist()
    ([[0, 1, -1]], [[1.0, 0.333, 0.0]])
    """
    if not len(known.total) or not len(released.total):
        shape = (len(released.total), candidates)
        return np.full(shape, NOBODY, dtype=np.int64), np.zeros(shape)
    largest = int(known.total.max()) + int(released.total.max())
    sure = released.unit == 1 and candidates == 1 and largest <= _FUSED_SUM
    matrices = (len(known.total) + len(released.total)) * _wide(items)
    fused_bytes = matrices + 16 * (len(known.item) + len(released.item)) + (1 << 30)
    if accelerator.fused and sure and fused_bytes < accelerator.room():
        return _fused(accelerator, known, released, items, report)
    rows = min(_ROWS, max(accelerator.room() // (64 * _COLUMNS), _LEAST_BLOCK))
    return in_smaller_blocks(
        accelerator, lambda block: _in_blocks(accelerator, known, released, items, candidates, block, report), rows,
        least=_LEAST_BLOCK,
    )  # fmt: skip


# --- blocks, in Torch's own operations ---------------------------------------------------------------------


def _in_blocks(
    accelerator: Accelerator, known: ItemSets, released: ItemSets, items: int, candidates: int, rows: int, report: Hook
) -> tuple[Whole, Real]:
    sets, people = len(released.total), len(known.total)
    columns = max(rows * (_COLUMNS // _ROWS), 1)
    customer, score = np.full((sets, candidates), NOBODY, dtype=np.int64), np.zeros((sets, candidates))
    for start in range(0, sets, rows):
        stop = min(start + rows, sets)
        left = _matrix(accelerator, released, start, stop, items)
        total = accelerator.tensor(released.total[start:stop], left.dtype)
        best = None
        for low in range(0, people, columns):
            high = min(low + columns, people)
            right = _matrix(accelerator, known, low, high, items, left.dtype)
            size = accelerator.tensor(released.unit * known.sizes[low:high], left.dtype)
            # J = S / (W + u·s - S) in 64 bits; 0 where nothing is shared
            overlap = (left @ right.T).double()
            either = (total.double()[:, None] + size.double()[None, :] - overlap).clamp_min(1.0)
            best = _better(accelerator, best, overlap / either, low, candidates)
        if best is not None:
            how, who = (part.cpu().numpy() for part in best)
            score[start:stop, : how.shape[1]] = how
            customer[start:stop, : how.shape[1]] = np.where(how > 0, who, NOBODY)
        report(stop / sets)
    return customer, score


def _better(
    accelerator: Accelerator, best: tuple[Tensor, Tensor] | None, how: Tensor, low: int, candidates: int
) -> tuple[Tensor, Tensor]:
    """Return the most similar of those found before and those of a block, the earlier ones first among equals."""
    torch = accelerator.torch
    if candidates == 1:
        top, at = how.max(dim=1, keepdim=True)
        at = (how == top).to(torch.uint8).argmax(dim=1, keepdim=True)  # the first of equals, on every device
    else:
        top, at = (part[:, :candidates] for part in torch.sort(how, dim=1, descending=True, stable=True))
    at = at + low
    if best is None:
        return top, at
    both, who = torch.cat([best[0], top], dim=1), torch.cat([best[1], at], dim=1)
    merged, order = torch.sort(both, dim=1, descending=True, stable=True)
    return merged[:, :candidates], who.gather(1, order[:, :candidates])


def _matrix(accelerator: Accelerator, sets: ItemSets, start: int, stop: int, items: int, dtype: Any = None) -> Tensor:
    """Return some sets as rows of weights; in 64 bits where weights are not 1, unless told otherwise."""
    torch = accelerator.torch
    dtype = dtype or (torch.float32 if sets.unit == 1 else torch.float64)
    begin, end = int(sets.first[start]), int(sets.first[stop])
    row = np.repeat(np.arange(stop - start), np.diff(sets.first[start : stop + 1]))
    flat = accelerator.tensor(row * items + sets.item[begin:end])
    matrix = torch.zeros((stop - start) * max(items, 1), dtype=dtype, device=accelerator.device)
    matrix[flat] = accelerator.tensor(sets.weight[begin:end], dtype)
    return matrix.view(stop - start, max(items, 1))


# --- fused, in Triton --------------------------------------------------------------------------------------


def _wide(items: int) -> int:
    return -(-max(items, 1) // 128) * 128


def _fused(
    accelerator: Accelerator, known: ItemSets, released: ItemSets, items: int, report: Hook, *, pruned: bool = True
) -> tuple[Whole, Real]:
    """Return the answers of the kernel; similarities are formed anew from the overlaps, in 64 bits."""
    from noren.engines.accelerated import set_kernels

    torch = accelerator.torch
    by_size = np.argsort(known.sizes, kind="stable") if pruned else np.arange(len(known.total))
    by_total = np.argsort(released.total, kind="stable") if pruned else np.arange(len(released.total))
    size, total = known.sizes[by_size], released.total[by_total]
    right = _bits(accelerator, known, by_size, items)
    left = _bits(accelerator, released, by_total, items)
    real = torch.float32
    sizes = accelerator.tensor(np.maximum(size, 1), real)
    place = accelerator.tensor(by_size, torch.int32)
    rows, tiles = len(by_total), -(-len(size) // _BN)

    def look(left: Tensor, total: Whole, answers: list[Tensor], first: Whole, last: Whole) -> None:
        ranges = accelerator.tensor(first, torch.int32), accelerator.tensor(last, torch.int32)
        theirs = accelerator.tensor(np.maximum(total, 1), real)
        set_kernels.best(left, right, (theirs, sizes), place, ranges, tuple(answers), in_order=not pruned)

    answers = [
        torch.zeros(rows, dtype=real, device=accelerator.device),
        torch.ones(rows, dtype=real, device=accelerator.device),
        torch.full((rows,), 2**31 - 1, dtype=torch.int32, device=accelerator.device),
    ]
    starts = np.arange(0, rows, _BM)
    if pruned:
        middle = np.searchsorted(size, total[np.minimum(starts + _BM // 2, rows - 1)]) // _BN
        some = min(max(int(_FIRST_LOOK * tiles), _FEWEST_TILES), tiles)
        first = np.clip(middle - some // 2, 0, tiles - some)
        look(left, total, answers, first, first + some)
        report(0.1)
        low, high = _ranges(answers, total, size)
        # neighbours of like ranges by where they lie, the few wide ones together
        order = np.lexsort((low + high, high - low > _WIDE * len(size)))
        move = accelerator.tensor(order)
        left, total, by_total = left[move], total[order], by_total[order]
        answers = [array[move] for array in answers]
        low, high = low[order], high[order]
        first = np.minimum.reduceat(low, starts) // _BN
        last = -(-np.maximum.reduceat(high, starts) // _BN)
        look(left, total, answers, first, last)
    else:
        look(left, total, answers, np.zeros_like(starts), np.full_like(starts, tiles))
    overlap, both, who = (array.cpu().numpy().astype(np.int64) for array in answers)
    customer, score = np.full((rows, 1), NOBODY, dtype=np.int64), np.zeros((rows, 1))
    some = overlap > 0
    customer[by_total[some], 0] = who[some]
    score[by_total[some], 0] = overlap[some] / (both - overlap)[some]
    report(1.0)
    return customer, score


def _ranges(answers: list[Tensor], total: Whole, size: Whole) -> tuple[Whole, Whole]:
    """Return which customers, standing by size, may be as similar as the best so far: J ≤ smaller size / larger."""
    overlap, both = (array.cpu().numpy().astype(np.float64) for array in answers[:2])
    least = overlap / np.maximum(both - overlap, 1.0) * (1 - 1e-9)
    low = np.searchsorted(size, np.ceil(least * total - 1e-6), side="left")
    high = np.searchsorted(size, np.floor(total / np.maximum(least, 1e-12) + 1e-6), side="right")
    return low, np.maximum(high, low + 1)


def _bits(accelerator: Accelerator, sets: ItemSets, order: Whole, items: int) -> Tensor:
    """Return sets, in an order, as rows of zeros and ones of 8 bits, which the matrix units multiply fastest."""
    torch = accelerator.torch
    width = _wide(items)
    to = np.empty(len(order), dtype=np.int64)
    to[order] = np.arange(len(order))
    row = torch.repeat_interleave(accelerator.tensor(to), accelerator.tensor(sets.sizes))
    matrix = torch.zeros(len(order) * width, dtype=torch.uint8, device=accelerator.device)
    matrix[row * width + accelerator.tensor(sets.item)] = _ONE
    return matrix.view(len(order), width).view(torch.float8_e4m3fn)


_ONE = 0x38
"""The number 1 in a float of 8 bits with 4 for the exponent and 3 for the fraction."""
