"""Combinations of codes packed into words, and their counts rolled up from level to level.

A key holds one field of bits per column and one for the sensitive value. Raising a column by a level rewrites its field
and adds up the counts of keys that become equal, in one pass with a hash table; rows are never read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from noren.kernels.arrays import Whole
from noren.kernels.compiling import kernel

Keys = NDArray[np.uint64]
_WORD = 64
_SCATTER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: Knuth's multiplicative hashing
_EMPTY = -1


class Layout(NamedTuple):
    """Where each column's bits are, and what its codes become one level up. The last field is the sensitive value."""

    levels: Whole
    """How many levels each column has."""
    word: Whole
    shift: Keys
    mask: Keys
    """``word``, ``shift``, ``mask``: each field's word, the place of its lowest bit there, its bits shifted down."""
    up: Whole
    place: Whole
    """``up``, ``place``: ``up[place[column, level] + code]`` is the code on ``level`` of a code one level below."""
    keep: Keys
    """``keep[column]``: per word, the bits of the columns up to this one and of the sensitive value."""


class ScratchMemory(NamedTuple):
    """Memory that the passes share: a hash table, collapsed groups, entries sorted by class."""

    table: NDArray[np.int32]
    keys: Keys
    counts: Whole
    class_of: Whole
    start: Whole
    member: Whole
    sizes: Whole


def room_for(keys: Keys) -> ScratchMemory:
    """Return room for as many groups as there are keys."""
    n = len(keys)
    bits = max(2 * n, 2).bit_length()
    whole = [np.empty(n + 1, dtype=np.int64) for _ in range(5)]
    return ScratchMemory(np.empty(1 << bits, dtype=np.int32), np.empty_like(keys), *whole)


def packed(
    codes: Sequence[NDArray[np.integer]], sizes: Sequence[int], steps: Sequence[Sequence[Whole]]
) -> tuple[Keys, Layout]:
    """Pack codes column by column, the last being the sensitive value.

    ``sizes`` tell how many codes a field may have, ``steps`` what codes become, level after level, for each column but
    the last.

    >>> keys, layout = packed([np.array([0, 3]), np.array([1, 0])], [4, 2], [[np.array([0, 0, 1, 1])]])
    >>> keys.tolist(), layout.shift.tolist(), layout.levels.tolist()
    ([[4], [3]], [0, 2], [2])
    """
    bits = [max(size - 1, 0).bit_length() for size in sizes]
    word, shift, used, words = [], [], 0, 0
    for need in bits:
        if used + need > _WORD:
            used, words = 0, words + 1
        word.append(words)
        shift.append(used if used < _WORD else 0)
        used += need
    keys = np.zeros((len(codes[0]), words + 1), dtype=np.uint64)
    for field, values in enumerate(codes):
        keys[:, word[field]] |= values.astype(np.uint64) << np.uint64(shift[field])
    masks = np.array([(1 << need) - 1 for need in bits], dtype=np.uint64)
    place = np.zeros((len(steps), max((len(s) for s in steps), default=0) + 1), dtype=np.int64)
    laid, start = [np.zeros(1, dtype=np.int64)], 1
    for column, its in enumerate(steps):
        for level, step in enumerate(its, start=1):
            place[column, level] = start
            laid.append(step.astype(np.int64))
            start += len(step)
    keep = np.zeros((len(steps), words + 1), dtype=np.uint64)
    for column in range(len(steps)):
        for field in (*range(column + 1), len(codes) - 1):
            keep[column, word[field]] |= masks[field] << np.uint64(shift[field])
    layout = Layout(
        levels=np.array([len(its) + 1 for its in steps], dtype=np.int64),
        word=np.array(word, dtype=np.int64),
        shift=np.array(shift, dtype=np.uint64),
        mask=masks,
        up=np.concatenate(laid),
        place=place,
        keep=keep,
    )
    return keys, layout


def distinct(codes: Sequence[NDArray[np.integer]], sizes: Sequence[int]) -> tuple[Whole, Whole]:
    """Return for each row the number of its combination of codes, and for each combination its first row.

    >>> which, first = distinct([np.array([1, 0, 1]), np.array([0, 0, 0])], [2, 1])
    >>> which.tolist(), first.tolist()
    ([1, 0, 1], [1, 0])
    """
    keys, _layout = packed(codes, sizes, [])
    _values, first, which = np.unique(keys[:, 0], return_index=True, return_inverse=True)
    for word in range(1, keys.shape[1]):
        # numbers of combinations so far, paired with the next word's: both are below the number of rows
        _values, more = np.unique(keys[:, word], return_inverse=True)
        _values, first, which = np.unique(which * (int(more.max()) + 1) + more, return_index=True, return_inverse=True)
    return which.astype(np.int64), first.astype(np.int64)


@kernel()
def _cleared(n: int, room: ScratchMemory) -> int:
    """Empty a table of at least twice n places; return how many bits number its places."""
    bits = 1
    while (1 << bits) < 2 * n:
        bits += 1
    for place in range(1 << bits):
        room.table[place] = _EMPTY
    return bits


@kernel()
def _first_place(keys: Keys, i: int, bits: int) -> np.int64:
    scattered = keys[i, 0] * _SCATTER
    for word in range(1, keys.shape[1]):
        scattered = (scattered ^ (scattered >> np.uint64(32)) ^ keys[i, word]) * _SCATTER
    return np.int64(scattered >> np.uint64(_WORD - bits))


@kernel()
def _same(keys: Keys, i: int, j: int) -> bool:
    if keys[i, 0] != keys[j, 0]:
        return False
    for word in range(1, keys.shape[1]):  # noqa: SIM110 - compiled, a generator is slower
        if keys[i, word] != keys[j, word]:
            return False
    return True


@kernel()
def _merge(keys: Keys, counts: Whole, n: int, room: ScratchMemory) -> int:
    """Add up the counts of equal keys in place; return how many keys are left, in order of first appearance."""
    bits = _cleared(n, room)
    last = (1 << bits) - 1
    groups = 0
    for i in range(n):
        place = _first_place(keys, i, bits)
        while True:
            group = room.table[place]
            if group == _EMPTY:
                room.table[place] = groups
                keys[groups, 0] = keys[i, 0]
                for word in range(1, keys.shape[1]):
                    keys[groups, word] = keys[i, word]
                counts[groups] = counts[i]
                groups += 1
                break
            if _same(keys, group, i):
                counts[group] += counts[i]
                break
            place = (place + 1) & last
    return groups


@kernel()
def roll_up(keys: Keys, counts: Whole, n: int, layout: Layout, column: int, level: int, room: ScratchMemory) -> int:
    """Raise one column to ``level`` from the level below, in place; return how many groups are left."""
    word, shift, mask = layout.word[column], layout.shift[column], layout.mask[column]
    others = ~(mask << shift)
    start = layout.place[column, level]
    for i in range(n):
        code = np.int64((keys[i, word] >> shift) & mask)
        keys[i, word] = (keys[i, word] & others) | (np.uint64(layout.up[start + code]) << shift)
    return _merge(keys, counts, n, room)


@kernel()
def collapse(keys: Keys, counts: Whole, n: int, layout: Layout, column: int, room: ScratchMemory) -> int:
    """Put into ``room`` the groups as if every column after ``column`` were one value; return how many there are."""
    for i in range(n):
        for word in range(keys.shape[1]):
            room.keys[i, word] = keys[i, word] & layout.keep[column, word]
        room.counts[i] = counts[i]
    return _merge(room.keys, room.counts, n, room)


@kernel()
def entries_by_class(keys: Keys, n: int, layout: Layout, room: ScratchMemory) -> int:
    """Sort entries by class, a class being all of the key but its sensitive value; return how many classes there are.

    The entries of class c are ``room.member[room.start[c]:room.start[c + 1]]``.
    """
    word, field = layout.word[-1], layout.mask[-1] << layout.shift[-1]
    bits = _cleared(n, room)
    last = (1 << bits) - 1
    classes = 0
    for i in range(n):
        own = keys[i, word]
        keys[i, word] = own & ~field
        place = _first_place(keys, i, bits)
        while True:
            number = room.table[place]
            if number == _EMPTY:
                room.table[place] = classes
                room.class_of[i] = classes
                room.member[classes] = i  # for now: an entry of the class, to compare with
                classes += 1
                break
            other = room.member[number]
            theirs = keys[other, word]
            keys[other, word] = theirs & ~field
            same = _same(keys, other, i)
            keys[other, word] = theirs
            if same:
                room.class_of[i] = number
                break
            place = (place + 1) & last
        keys[i, word] = own
    for number in range(classes + 1):
        room.start[number] = 0
    for i in range(n):
        room.start[room.class_of[i]] += 1
    for number in range(classes):  # where each class ends, until its entries are laid from there backwards
        room.start[number + 1] += room.start[number]
    for i in range(n - 1, -1, -1):
        room.start[room.class_of[i]] -= 1
        room.member[room.start[room.class_of[i]]] = i
    return classes


@kernel()
def class_sizes(keys: Keys, counts: Whole, n: int, layout: Layout, room: ScratchMemory) -> int:
    """Put the rows of each class into ``room.sizes``; return how many classes there are."""
    if layout.mask[-1] == 0:  # no sensitive values: every entry is a class
        room.sizes[:n] = counts[:n]
        return n
    classes = entries_by_class(keys, n, layout, room)
    room.sizes[:classes] = 0
    for i in range(n):
        room.sizes[room.class_of[i]] += counts[i]
    return int(classes)
