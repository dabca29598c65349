"""Rows that carry the same key: the last one wins, as in a dictionary that is written row by row (S3).

A key is one whole number for a row's two or three cells, equal for two rows exactly where the cells are: nothing is
hashed away.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["NO_ROW", "first_letters", "joint_key", "last_match", "numbered", "settled", "whole_steps"]

NO_ROW = -1

Whole = NDArray[np.int64]

_LARGEST_KEY = 2**62
_DENSE = 8
"""A table may have so many places per row before a hash table takes less time."""


# --- keys --------------------------------------------------------------------------------------------------


def joint_key(parts: Sequence[Whole]) -> Whole:
    """Return one number per row that is equal for two rows exactly where all parts are.

    >>> joint_key([np.array([5, 7, 5]), np.array([-1, 0, -1])]).tolist()
    [0, 5, 0]
    """
    key = np.zeros(len(parts[0]), np.int64)
    size = 1
    for given in parts:
        part, (least, most) = given, _span(given)
        if size * (most - least + 1) >= _LARGEST_KEY:
            (key, size), (part, codes) = _ranks(key), _ranks(part)
            least, most = 0, codes - 1
        _append(key, part, least, most - least + 1)
        size *= most - least + 1
    return key


def whole_steps(values: NDArray[np.float64], steps: int) -> Whole:
    """Return numbers as whole numbers that are equal exactly where they are: in steps of 1/``steps`` if all are some.

    >>> whole_steps(np.array([3.8, 0.05, 3.8]), 100).tolist()
    [380, 5, 380]
    >>> whole_steps(np.array([3.8, 0.123, 3.8]), 100).tolist()
    [1, 0, 1]
    """
    counted = np.empty(len(values), np.int64)
    return counted if _all_steps(values, steps, counted) else _ranks(values)[0]


def first_letters(starts: Whole, text: NDArray[np.uint8], letters: int) -> Whole:
    """Return the first one or two characters of every text as a number.

    The texts stand one behind another in UTF-8, text i from ``starts[i]`` up to ``starts[i + 1]``.

    >>> first_letters(np.array([0, 5, 10]), np.frombuffer(b"2242322751", np.uint8), 2).tolist()
    [12850, 12850]
    """
    if not 1 <= letters <= 2:
        raise ValueError("eight bytes hold one or two characters")
    return _first_letters(starts, text, letters)


def _ranks(values: NDArray[np.generic]) -> tuple[Whole, int]:
    once, rank = np.unique(values, return_inverse=True)
    return rank.astype(np.int64), max(len(once), 1)


def numbered(starts: Whole, text: NDArray[np.uint8]) -> tuple[Whole, Whole]:
    """Return texts (UTF-8, see :func:`first_letters`) as numbers 0, 1, … and the row in which each number comes first.

    Rows of one customer mostly follow one another, so a text is looked up only where it differs from the one before.

    >>> [found.tolist() for found in numbered(np.array([0, 1, 3, 5, 6]), np.frombuffer(b"abcbca", np.uint8))]
    [[0, 1, 1, 0], [0, 1]]
    """
    return _numbered(starts, text)


def _span(values: Whole) -> tuple[int, int]:
    if not len(values):
        return 0, 0
    least, most = _ends(values)
    return int(least), int(most)


@njit(cache=True, nogil=True)
def _ends(values: Whole) -> tuple[np.int64, np.int64]:
    least = most = values[0]
    for value in values:
        least = min(least, value)
        most = max(most, value)
    return least, most


@njit(cache=True, nogil=True)
def _append(key: Whole, part: Whole, least: int, codes: int) -> None:
    for row in range(key.size):
        key[row] = key[row] * codes + (part[row] - least)


@njit(cache=True, nogil=True)
def _all_steps(values: NDArray[np.float64], steps: int, counted: Whole) -> bool:
    """Count values in steps, as long as each is a whole number of them."""
    for row in range(values.size):
        many = np.rint(values[row] * steps)
        # dividing gives the float that stands for so many steps; multiplying by 0.01 would not
        if not (abs(many) < 2.0**53 and many / steps == values[row]):
            return False
        counted[row] = np.int64(many)
    return True


@njit(cache=True, nogil=True)
def _first_letters(starts: Whole, text: NDArray[np.uint8], letters: int) -> Whole:
    packed = np.zeros(starts.size - 1, np.int64)
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


@njit(cache=True, nogil=True)
def _same(starts: Whole, text: NDArray[np.uint8], one: int, other: int) -> bool:
    length = starts[one + 1] - starts[one]
    if starts[other + 1] - starts[other] != length:
        return False
    for at in range(length):  # noqa: SIM110 - compiled, a generator is slower
        if text[starts[one] + at] != text[starts[other] + at]:
            return False
    return True


@njit(cache=True, nogil=True)
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
            for one in range(known):
                slots[_text_slot(starts, text, slots, first, first[one])] = one
        at = _text_slot(starts, text, slots, first, row)
        if slots[at] < 0:
            slots[at] = known
            first[known] = row
            known += 1
        number[row] = slots[at]
    return number, first[:known].copy()


@njit(cache=True, nogil=True)
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


# --- matching ----------------------------------------------------------------------------------------------


def last_match(table: Whole, asked: Whole) -> Whole:
    """Return, for each asked key, the last row of ``table`` that carries it; :data:`NO_ROW` where none does.

    >>> last_match(np.array([12, 34, 12]), np.array([12, 21, 34])).tolist()
    [2, -1, 1]
    """
    if not len(table):
        return np.full(len(asked), NO_ROW, np.int64)
    least, most = _span(table)
    if most - least < _DENSE * len(table) + 2**16:
        return _last_by_place(table, asked, least, most - least + 1)
    return _last_by_hash(table, asked)


@njit(cache=True, nogil=True)
def _last_by_place(table: Whole, asked: Whole, least: int, places: int) -> Whole:
    last = np.full(places, -1, np.int32)
    for row in range(table.size):
        last[table[row] - least] = row
    found = np.empty(asked.size, np.int64)
    for row in range(asked.size):
        place = asked[row] - least
        found[row] = last[place] if 0 <= place < places else -1
    return found


@njit(cache=True, nogil=True)
def _slot(slots: Whole, key: np.int64) -> np.int64:
    """Return the slot of a key, or the empty one where it belongs."""
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    at = np.int64(mixed & np.uint64(slots.shape[0] - 1))
    while slots[at, 1] >= 0 and slots[at, 0] != key:
        at = (at + 1) & (slots.shape[0] - 1)
    return at


@njit(cache=True, nogil=True)
def _last_by_hash(table: Whole, asked: Whole) -> Whole:
    size = 16
    while size < 2 * table.size:
        size *= 2
    slots = np.full((size, 2), -1, np.int64)  # key and row side by side
    for row in range(table.size):
        at = _slot(slots, table[row])
        slots[at, 0] = table[row]
        slots[at, 1] = row
    found = np.empty(asked.size, np.int64)
    for row in range(asked.size):
        found[row] = slots[_slot(slots, asked[row]), 1]
    return found


def settled(row: Whole, column: Whole, answer: Whole, shape: tuple[int, int]) -> tuple[Whole, Whole, Whole]:
    """Let answers be written, in order, into the cells of a table; those without place or answer (below 0) are not.

    Returns tables: the answer each cell ends with (:data:`NO_ROW` where none was written), how many of the answers for
    the cell were that one, and how many rows, answered or not, the cell has.

    >>> row, column, answer = np.array([0, 0, 0, 0, 0]), np.array([0, 0, 1, 0, 1]), np.array([7, 8, -1, 7, -1])
    >>> [table.tolist() for table in settled(row, column, answer, (1, 2))]
    [[[7, -1]], [[2, 0]], [[3, 2]]]
    """
    return _settled(row, column, answer, *shape)


@njit(cache=True, nogil=True)
def _settled(row: Whole, column: Whole, answer: Whole, height: int, width: int) -> tuple[Whole, Whole, Whole]:
    last = np.full((height, width), -1, np.int64)
    agreeing = np.zeros((height, width), np.int64)
    rows = np.zeros((height, width), np.int64)
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
