"""Whose set of items is most like this one, by products of matrices: for machines made for multiplying.

Sets become rows of zeros and ones; the product of two blocks holds the overlaps of all their pairs, and a running best
remembers for each released set the customer of greatest similarity. Every pair is looked at, so the time does not
depend on the data; only one block of overlaps exists at a time. The answer is the one of :mod:`noren.kernels.jaccard`,
ties included.

Which arrays do the work is the caller's choice: an adapter (:class:`Arrays`) for NumPy and CuPy, which share their
names, and one for Torch. Nothing but NumPy is imported here.

For sets of a and b items with an overlap of o, J = o / (a + b - o) grows with x = o / (a + b), so the largest x is
looked for, which takes one pass over memory less.

**Why short floats are exact.** Overlaps are sums of ones: every partial sum is a whole number, exact to 2,048 in 16
bits and to 2²⁴ in 32, in whatever order it is added. Two different fractions with denominators up to D differ by 1/D²
at least; floats up to 1 lie at most 2⁻²⁴ (32 bits) or 2⁻⁵³ (64 bits) apart, and division rounds to the nearest one. So
different fractions stay different, and in order, if D < 2¹² in 32 bits, or D < 2²⁶ in 64. D is at most the sum of the
two largest sets: that decides which is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from noren.kernels.item_sets import ItemSets

__all__ = ["Arrays", "NumpyArrays", "TorchArrays", "arrays_of", "most_similar_blocks"]

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
Device = Any
"""An array of the adapter's library."""

NOBODY = -1
_SHORT_OVERLAP = 2_048
_SHORT_SUM = 4_095


class Arrays(Protocol):
    """The few things that are asked of an array library."""

    def indicator(self, row: Whole, column: Whole, shape: tuple[int, int], *, short: bool) -> Device:
        """Return a matrix of zeros with ones at the given places; ``short`` if its products stay small."""

    def sizes(self, sizes: Whole, *, double: bool) -> Device:
        """Return the sizes of sets as floats, of 64 bits where asked."""

    def best(self, left: Device, right: Device, left_size: Device, right_size: Device) -> tuple[Whole, Whole]:
        """Return for each row of ``left`` the first most similar row of ``right``, and the overlap with it."""


class NumpyArrays:
    """Arrays of NumPy, or of a library with the same names, such as CuPy."""

    def __init__(self, module: Any = np) -> None:
        self._xp = module

    def indicator(self, row: Whole, column: Whole, shape: tuple[int, int], *, short: bool) -> Device:
        """Return a matrix of zeros and ones; 32 bits, which processors multiply fastest."""
        matrix = self._xp.zeros(shape, dtype=self._xp.float32)
        matrix[self._xp.asarray(row), self._xp.asarray(column)] = 1
        return matrix

    def sizes(self, sizes: Whole, *, double: bool) -> Device:
        """Return the sizes as floats."""
        return self._xp.asarray(sizes).astype(self._xp.float64 if double else self._xp.float32)

    def best(self, left: Device, right: Device, left_size: Device, right_size: Device) -> tuple[Whole, Whole]:
        """Return the first most similar row of ``right`` for each row of ``left``, and the overlap with it."""
        overlap = left @ right.T
        share = left_size[:, None] + right_size[None, :]
        at = self._xp.divide(overlap, share, out=share).argmax(axis=1)
        return self._whole(at), self._whole(overlap[self._xp.arange(len(at)), at])

    def _whole(self, values: Device) -> Whole:
        found: Whole = np.asarray(values.get() if hasattr(values, "get") else values).astype(np.int64)
        return found


class TorchArrays:
    """Arrays of Torch on one of its devices."""

    def __init__(self, module: Any, device: str) -> None:
        self._torch = module
        self._device = device

    def indicator(self, row: Whole, column: Whole, shape: tuple[int, int], *, short: bool) -> Device:
        """Return a matrix of zeros and ones; 16 bits on an accelerator, where overlaps allow it."""
        torch = self._torch
        half = short and not self._device.startswith("cpu")
        matrix = torch.zeros(shape, dtype=torch.float16 if half else torch.float32, device=self._device)
        place = torch.from_numpy(row * shape[1] + column).to(self._device)
        matrix.view(-1)[place] = 1
        return matrix

    def sizes(self, sizes: Whole, *, double: bool) -> Device:
        """Return the sizes as floats."""
        torch = self._torch
        return torch.from_numpy(sizes).to(self._device).to(torch.float64 if double else torch.float32)

    def best(self, left: Device, right: Device, left_size: Device, right_size: Device) -> tuple[Whole, Whole]:
        """Return the first most similar row of ``right`` for each row of ``left``, and the overlap with it."""
        torch = self._torch
        overlap = left @ right.T
        share = left_size[:, None] + right_size[None, :]
        at = torch.div(overlap, share, out=share).argmax(dim=1)
        shared = overlap.gather(1, at[:, None])[:, 0]
        return at.cpu().numpy().astype(np.int64), shared.to(torch.float64).cpu().numpy().astype(np.int64)


def arrays_of(module: Any, device: str = "cpu") -> Arrays:
    """Return the adapter for an array library: ``numpy``, ``cupy`` or ``torch``, the last with one of its devices.

    >>> type(arrays_of(np)).__name__
    'NumpyArrays'
    """
    return TorchArrays(module, device) if module.__name__ == "torch" else NumpyArrays(module)


def most_similar_blocks(
    known: ItemSets,
    released: ItemSets,
    items: int,
    arrays: Arrays,
    *,
    rows: int = 4_096,
    columns: int = 8_192,
    resident: bool = False,
) -> Iterator[tuple[Whole, Real]]:
    """Yield, for one block of released sets after another, the most similar customers and how similar they are.

    Of equally similar customers the one with the lower number; :data:`NOBODY` and 0 where nothing is shared. All items
    must be sure (unit 1): zeros and ones have no weights.

    Parameters
    ----------
    known, released
        The customers' sets and the sets to ask for, in the same codes of ``items`` items.
    rows, columns
        How many released sets, and how many customers, are multiplied at a time; so many overlaps, and as many
        quotients, are held at once.
    resident
        Keep all customers' rows of zeros and ones, customers · items numbers, instead of making them again for every
        block of released sets: for an accelerator with room for them.

    Examples
    --------
    >>> from noren.kernels.item_sets import item_sets
    >>> known = item_sets(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 2, 3]), 3, 4)
    >>> asked = item_sets(np.array([0, 1, 1]), np.array([3, 0, 2]), 3, 4)  # the third is empty
    >>> [(who.tolist(), how.round(3).tolist()) for who, how in most_similar_blocks(known, asked, 4, arrays_of(np))]
    [([2, 0, -1], [1.0, 0.333, 0.0])]
    """
    if known.unit != 1 or released.unit != 1:
        raise ValueError("matrices of zeros and ones hold no weights")
    asked, people = len(released.first) - 1, len(known.first) - 1
    largest, most = int(known.total.max(initial=0)), int(released.total.max(initial=0))
    short, double = min(largest, most) <= _SHORT_OVERLAP, largest + most > _SHORT_SUM
    lows = range(0, people, columns)

    def customers_from(low: int) -> tuple[Device, Device]:
        high = min(low + columns, people)
        block = _block(known, low, high, items, arrays, short=short)
        return block, arrays.sizes(known.total[low:high], double=double)

    kept = {low: customers_from(low) for low in lows} if resident else {}
    for start in range(0, asked, rows):
        stop = min(start + rows, asked)
        left = _block(released, start, stop, items, arrays, short=short)
        total = released.total[start:stop]
        # an empty set shares nothing with anybody; as if of one item, it is not divided by zero
        left_size = arrays.sizes(np.maximum(total, 1), double=double)
        customer = np.full(stop - start, NOBODY, dtype=np.int64)
        score = np.zeros(stop - start)
        for low in lows:
            right, right_size = kept[low] if resident else customers_from(low)
            at, shared = arrays.best(left, right, left_size, right_size)
            found = shared / np.maximum(total + known.total[low + at] - shared, 1)
            # blocks come in rising order, so an equal one later is never the first
            better = found > score
            customer[better], score[better] = (low + at)[better], found[better]
        yield customer, score


def _block(sets: ItemSets, start: int, stop: int, items: int, arrays: Arrays, *, short: bool) -> Device:
    begin, end = sets.first[start], sets.first[stop]
    row = np.repeat(np.arange(stop - start), np.diff(sets.first[start : stop + 1]))
    return arrays.indicator(row, sets.item[begin:end].astype(np.int64), (stop - start, items), short=short)
