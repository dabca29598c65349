"""Rows that carry the same key: the last one wins, as in a dictionary that is written row by row (S3).

A key is one whole number for a row's two or three cells, equal for two rows exactly where the cells are: nothing is
hashed away.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from noren.kernels.arrays import Real, Whole
from noren.kernels.compiling import kernel, part, read_only

NO_ROW = -1

Sides = tuple[Whole, Whole]
"""One column of two tables."""

_LARGEST_KEY = 2**62
_DENSE = 8
"""A table may have so many places per row before a hash table takes less time."""


# --- keys --------------------------------------------------------------------------------------------------


def joint_key(parts: Sequence[Sides]) -> tuple[Whole, Whole]:
    """Return one number per row of two tables that is equal for two rows exactly where all parts are.

    >>> one, other = joint_key([(np.array([5, 7]), np.array([5])), (np.array([-1, 0]), np.array([-1]))])
    >>> one.tolist(), other.tolist()
    ([0, 5], [0])
    """
    least, most = _span(parts[0])
    keys: Sides = parts[0][0].astype(np.int64) - least, parts[0][1].astype(np.int64) - least
    size = most - least + 1
    for sides in parts[1:]:
        part = sides
        least, most = _span(part)
        if size * (most - least + 1) >= _LARGEST_KEY:
            (keys, size), (part, codes) = _ranks(keys), _ranks(part)
            least, most = 0, codes - 1
        for key, side in zip(keys, part, strict=True):
            key *= most - least + 1
            key += side
            key -= least
        size *= most - least + 1
    return keys


def whole_steps(sides: tuple[Real, Real], steps: int) -> Sides:
    """Return numbers as whole numbers that are equal exactly where they are: in steps of 1/``steps`` if all are some.

    >>> [side.tolist() for side in whole_steps((np.array([3.8, 0.05]), np.array([3.8])), 100)]
    [[380, 5], [380]]
    >>> [side.tolist() for side in whole_steps((np.array([3.8, 0.123]), np.array([3.8])), 100)]
    [[1, 0], [1]]
    """
    counted = np.empty(len(sides[0]), np.int64), np.empty(len(sides[1]), np.int64)
    if all(_all_steps(read_only(values), steps, into) for values, into in zip(sides, counted, strict=True)):
        return counted
    return _ranks(sides)[0]


def first_letters(starts: Whole, text: NDArray[np.uint8], letters: int) -> Whole:
    """Return the first one or two characters of every text as a number.

    The texts stand one behind another in UTF-8, text i from ``starts[i]`` up to ``starts[i + 1]``.

    >>> first_letters(np.array([0, 5, 10]), np.frombuffer(b"2242322751", np.uint8), 2).tolist()
    [12850, 12850]
    """
    if not 1 <= letters <= 2:
        raise ValueError("eight bytes hold one or two characters")
    return _first_letters(read_only(starts), read_only(text), letters)


def _ranks(sides: tuple[NDArray[Any], NDArray[Any]]) -> tuple[Sides, int]:
    once, rank = np.unique(np.concatenate(sides), return_inverse=True)
    first, second = np.split(rank.astype(np.int64), [len(sides[0])])
    return (first, second), max(len(once), 1)


def numbered(starts: Whole, text: NDArray[np.uint8]) -> tuple[Whole, Whole]:
    """Return texts (UTF-8, see :func:`first_letters`) as numbers 0, 1, … and the row in which each number comes first.

    Rows of one customer mostly follow one another, so a text is looked up only where it differs from the one before.

    >>> [found.tolist() for found in numbered(np.array([0, 1, 3, 5, 6]), np.frombuffer(b"abcbca", np.uint8))]
    [[0, 1, 1, 0], [0, 1]]
    """
    return _numbered(read_only(starts), read_only(text))


def numbered_keys(keys: Whole) -> tuple[Whole, Whole]:
    """Return whole numbers as numbers 0, 1, … and the row in which each comes first: :func:`numbered`, far quicker.

    >>> [found.tolist() for found in numbered_keys(np.array([7, 9, 9, 7]))]
    [[0, 1, 1, 0], [0, 1]]
    """
    return _numbered_keys(read_only(keys))


def days_seen(days: NDArray[np.int32]) -> tuple[int, NDArray[np.bool_]]:
    """Return the first day, and of each day from it to the last one whether it occurs.

    >>> first, seen = days_seen(np.array([14, 11, 14], np.int32))
    >>> first, seen.tolist()
    (11, [True, False, False, True])
    """
    least, most = _span([days])
    seen = np.zeros(most - least + 1, np.bool_)
    _mark(read_only(days), least, seen)
    return least, seen


@kernel()
def _mark(values: NDArray[np.integer[Any]], least: int, seen: NDArray[np.bool_]) -> None:
    for value in values:
        seen[value - least] = True


def looked_up(days: NDArray[np.integer[Any]], first: int, of_day: Whole) -> Whole:
    """Return what ``of_day`` says of each day, its first entry being that of the day ``first``.

    >>> looked_up(np.array([14, 11], np.int32), 11, np.array([7, -1, -1, 9])).tolist()
    [9, 7]
    """
    values: Whole = of_day[days - first]
    return values


def _span(sides: Sequence[NDArray[np.integer[Any]]]) -> tuple[int, int]:
    """Return the least and the largest number of all."""
    ends = [int(end) for side in sides if len(side) for end in (side.min(), side.max())]
    return min(ends, default=0), max(ends, default=0)


@kernel()
def _all_steps(values: Real, steps: int, counted: Whole) -> bool:
    """Count values in steps, as long as each is a whole number of them."""
    for row in range(values.size):
        scaled = values[row] * steps
        if not abs(scaled) < 2.0**53:
            return False
        many = np.int64(scaled + 0.5) if scaled >= 0 else np.int64(scaled - 0.5)
        # dividing gives the float that stands for so many steps; multiplying by 0.01 would not
        if many / steps != values[row]:
            return False
        counted[row] = many
    return True


@kernel()
def _first_letters(starts: Whole, text: NDArray[np.uint8], letters: int) -> Whole:
    packed = np.empty(starts.size - 1, np.int64)
    for row in range(packed.size):
        seen = 0
        code = np.int64(0)
        for at in range(starts[row], starts[row + 1]):
            if (text[at] & 0xC0) != 0x80:  # a byte that begins a character
                seen += 1
                if seen > letters:
                    break
            code = (code << 8) | np.int64(text[at])
        packed[row] = code
    return packed


@part()
def _same(starts: Whole, text: NDArray[np.uint8], first: int, second: int) -> bool:
    length = starts[first + 1] - starts[first]
    if starts[second + 1] - starts[second] != length:
        return False
    for at in range(length):  # noqa: SIM110 - compiled, a generator is slower
        if text[starts[first] + at] != text[starts[second] + at]:
            return False
    return True


@kernel()
def _numbered(starts: Whole, text: NDArray[np.uint8]) -> tuple[Whole, Whole]:
    count = starts.size - 1
    size = 1024
    slots = np.full(size, -1, np.int64)
    number = np.empty(count, np.int64)
    first = np.empty(count, np.int64)
    known = 0
    for row in range(count):
        if row > 0 and _same(starts, text, row, row - 1):
            number[row] = number[row - 1]
            continue
        if 2 * known >= size:
            size *= 4
            slots = np.full(size, -1, np.int64)
            for number_known in range(known):
                slots[_text_slot(starts, text, slots, first, first[number_known])] = number_known
        at = _text_slot(starts, text, slots, first, row)
        if slots[at] < 0:
            slots[at] = known
            first[known] = row
            known += 1
        number[row] = slots[at]
    return number, first[:known].copy()


@part()
def _text_slot(starts: Whole, text: NDArray[np.uint8], slots: Whole, first: Whole, row: int) -> np.int64:
    """Return the slot of a row's text, or the empty one where it belongs."""
    mixed = np.uint64(0xCBF29CE484222325)
    for place in range(starts[row], starts[row + 1]):
        mixed = (mixed ^ np.uint64(text[place])) * np.uint64(0x100000001B3)
    mixed ^= mixed >> np.uint64(32)
    at = np.int64(mixed & np.uint64(slots.size - 1))
    while slots[at] >= 0 and not _same(starts, text, first[slots[at]], row):
        at = (at + 1) & (slots.size - 1)
    return at


@kernel()
def _numbered_keys(keys: Whole) -> tuple[Whole, Whole]:
    size = 1024
    slots = np.full((size, 2), -1, np.int64)
    number = np.empty(keys.size, np.int64)
    first = np.empty(keys.size, np.int64)
    known = 0
    for row in range(keys.size):
        if row > 0 and keys[row] == keys[row - 1]:
            number[row] = number[row - 1]
            continue
        if 2 * known >= size:
            size *= 4
            slots = np.full((size, 2), -1, np.int64)
            for number_known in range(known):
                at = _slot(slots, keys[first[number_known]])
                slots[at, 0] = keys[first[number_known]]
                slots[at, 1] = number_known
        at = _slot(slots, keys[row])
        if slots[at, 1] < 0:
            slots[at, 0] = keys[row]
            slots[at, 1] = known
            first[known] = row
            known += 1
        number[row] = slots[at, 1]
    return number, first[:known].copy()


# --- matching ----------------------------------------------------------------------------------------------


def last_match(table: Whole, keys: Whole) -> Whole:
    """Return, for each asked key, the last row of ``table`` that carries it; :data:`NO_ROW` where none does.

    >>> last_match(np.array([12, 34, 12]), np.array([12, 21, 34])).tolist()
    [2, -1, 1]
    """
    if not len(table):
        return np.full(len(keys), NO_ROW, np.int64)
    least, most = _span([table])
    if most - least < _DENSE * len(table) + 2**16:
        return _last_by_place(table, keys, least, most)
    return _last_by_hash(table, keys, 1 << max(4, (4 * len(table) // 3).bit_length()))


@kernel()
def _last_by_place(table: Whole, keys: Whole, least: int, most: int) -> Whole:
    matches, last = np.empty(keys.size, np.int64), np.full(most - least + 1, NO_ROW, np.int32)
    for row in range(table.size):
        last[table[row] - least] = row
    for row in range(keys.size):
        place = keys[row] - least
        matches[row] = last[place] if 0 <= place < last.size else NO_ROW
    return matches


@part()
def _slot(slots: Whole, key: np.int64) -> np.int64:
    """Return the slot of a key, or the empty one where it belongs."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    at = np.int64(mixed & np.uint64(slots.shape[0] - 1))
    while slots[at, 1] >= 0 and slots[at, 0] != key:
        at = (at + 1) & (slots.shape[0] - 1)
    return at


@kernel()
def _last_by_hash(table: Whole, keys: Whole, places: int) -> Whole:
    matches, slots = np.empty(keys.size, np.int64), np.full((places, 2), NO_ROW, np.int64)  # key and row side by side
    for row in range(table.size):
        at = _slot(slots, table[row])
        slots[at, 0] = table[row]
        slots[at, 1] = row
    for row in range(keys.size):
        matches[row] = slots[_slot(slots, keys[row]), 1]
    return matches


@kernel()
def settled(row: Whole, column: Whole, answer: Whole, shape: tuple[int, int]) -> tuple[Whole, Whole, Whole]:
    """Let answers be written, in order, into the cells of a table; those without place or answer (below 0) are not.

    Returns tables: the answer each cell ends with (:data:`NO_ROW` where none was written), how many of the answers for
    the cell were that one, and how many rows, answered or not, the cell has.

    >>> row, column, answer = np.array([0, 0, 0, 0, 0]), np.array([0, 0, 1, 0, 1]), np.array([7, 8, -1, 7, -1])
    >>> [table.tolist() for table in settled(row, column, answer, (1, 2))]
    [[[7, -1]], [[2, 0]], [[3, 2]]]
    """
    last, agreeing, rows = np.full(shape, NO_ROW, np.int64), np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    for at in range(answer.size):
        i, j = row[at], column[at]
        if i >= 0 and j >= 0:
            rows[i, j] += 1
            if answer[at] >= 0:
                last[i, j] = answer[at]
    for at in range(answer.size):
        i, j = row[at], column[at]
        if i >= 0 and j >= 0 and answer[at] >= 0 and answer[at] == last[i, j]:
            agreeing[i, j] += 1
    return last, agreeing, rows
