"""Customers' sets of items, laid out so that the few that may be like a given set are found (S2, Algorithm 1).

Items are numbered by how many customers have them, the rarest first, and each set is in that order. The list of an item
tells its customers in groups of equal size of set; in a group those come first in whose set the item stands early. An
entry also has a *sketch* of the set from that item on: item i sets bit i mod 64, or mod 128, 256, 512 where sets are
larger. A bit of one sketch that another lacks is an item that the other set lacks, so sketches bound what sets share.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noren.kernels.arrays import Codes, Whole
from noren.kernels.compiling import kernel, part
from noren.kernels.items.packed_sets import ItemSets
from noren.kernels.ordered import sort_range

__all__ = ["ALL_WORDS", "SetIndex", "Sketches", "bits", "index_of", "sketch_words", "sketches"]

Sketches = NDArray[np.uint64]

ALL_WORDS = 15
"""Sketches of one, two, four and eight words, one behind another: that of w words starts at w - 1."""


class SetIndex(NamedTuple):
    """The customers' sets, ready to be asked.

    Customers are numbered by the size of their set, then in the order they came.

    Attributes
    ----------
    first, item
        Each customer's items, in rising order.
    place
        The number that each customer came with.
    rank
        The number of each item that came.
    group_first, group_size
        Each item's groups, the smallest sets first, and how many items the sets of each group have.
    entry_first, buyers, depth
        Each group's entries: a customer, and how many items of the set are before this one; least depth first.
    sketch_first, sketch
        Where the sketches of each group's entries start, and the sketches.
    """

    first: Whole
    item: Codes
    place: Whole
    rank: Codes
    group_first: Whole
    group_size: Codes
    entry_first: Whole
    buyers: Codes
    depth: Codes
    sketch_first: Whole
    sketch: Sketches


def index_of(known: ItemSets, items: int) -> SetIndex:
    """Return the index of the customers' sets, all of whose items are sure and below ``items``.

    >>> from noren.kernels.items.packed_sets import item_sets
    >>> index = index_of(item_sets(np.array([0, 0, 1]), np.array([0, 1, 1]), 2, 2), 2)
    >>> index.place.tolist(), index.rank.tolist(), index.buyers.tolist(), index.sketch.tolist()
    ([1, 0], [0, 1], [1, 0, 1], [3, 2, 2])
    """
    frequency = np.bincount(known.item, minlength=items)
    rank = np.empty(items, dtype=np.int32)
    rank[np.argsort(frequency, kind="stable")] = np.arange(items, dtype=np.int32)
    place = np.argsort(known.sizes, kind="stable").astype(np.int64)
    first = _starts(known.sizes[place])
    item = np.empty(len(known.item), dtype=np.int32)
    _order_items(known.first, known.item, place, rank, first, item)
    groups, words = _lengths(first, item, items)
    list_first, group_first, word_first = _starts(np.sort(frequency)), _starts(groups), _starts(words)
    many = int(group_first[-1])
    index = SetIndex(
        first, item, place, rank, group_first, np.empty(many, np.int32), np.full(many + 1, len(item), np.int64),
        np.empty(len(item), np.int32), np.empty(len(item), np.int32), np.empty(many, np.int64),
        np.empty(int(word_first[-1]), np.uint64),
    )  # fmt: skip
    _lay_out(index, list_first[:-1].copy(), group_first[:-1].copy(), word_first[:-1].copy())
    return index


def _starts(lengths: NDArray[Any]) -> Whole:
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)


@part()
def bits(word: np.uint64) -> int:  # pragma: no cover (compiled)
    """Return how many bits are set; compilers know these lines and make one instruction of them."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@part()
def sketch_words(size: int) -> int:  # pragma: no cover (compiled)
    """Return of how many words the sketch of a set is: enough that most of its bits are not set."""
    return 1 if size <= 8 else 2 if size <= 24 else 4 if size <= 64 else 8


@part()
def _add(sketch: Sketches, item: int, words: int) -> None:  # pragma: no cover (compiled)
    bit = item & (64 * words - 1)
    sketch[bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)


@part()
def sketches(items: Codes) -> Sketches:  # pragma: no cover (compiled)
    """Return the sketches, of every number of words, of a set from each of its items on, and of nothing at the end."""
    found = np.zeros((len(items) + 1, ALL_WORDS), dtype=np.uint64)
    for at in range(len(items) - 1, -1, -1):
        for word in range(ALL_WORDS):
            found[at, word] = found[at + 1, word]
        for words in (1, 2, 4, 8):
            _add(found[at, words - 1 :], items[at], words)
    return found


@kernel()
def _order_items(
    known_first: Whole, known_item: Codes, place: Whole, rank: Codes, first: Whole, item: Codes
) -> None:  # pragma: no cover (compiled)
    """Write each customer's items in the index's numbers and order."""
    for who in range(len(place)):
        start = known_first[place[who]]
        mine = item[first[who] : first[who + 1]]
        for at in range(len(mine)):
            mine[at] = rank[known_item[start + at]]
        sort_range(mine, 0, len(mine))


@kernel()
def _lengths(first: Whole, item: Codes, items: int) -> tuple[Whole, Whole]:  # pragma: no cover (compiled)
    """Return how many groups each item's list has, and how many words of sketches."""
    groups, words = np.zeros(items, dtype=np.int64), np.zeros(items, dtype=np.int64)
    last = np.full(items, -1, dtype=np.int64)
    for who in range(len(first) - 1):
        size = first[who + 1] - first[who]
        for at in range(first[who], first[who + 1]):
            groups[item[at]] += last[item[at]] != size
            last[item[at]] = size
            words[item[at]] += sketch_words(size)
    return groups, words


@kernel()
def _lay_out(index: SetIndex, entry: Whole, group: Whole, word: Whole) -> None:  # pragma: no cover (compiled)
    """Write the lists; ``entry``, ``group`` and ``word`` say where those of each item start, and are used up."""
    last = np.full(len(entry), -1, dtype=np.int64)
    start, people = 0, len(index.first) - 1
    while start < people:
        size = index.first[start + 1] - index.first[start]
        stop = start
        while stop < people and index.first[stop + 1] - index.first[stop] == size:
            stop += 1
        words = sketch_words(size)
        drawn = np.zeros((stop - start, size + 1, words), dtype=np.uint64)
        for who in range(start, stop):
            for depth in range(size - 1, -1, -1):
                for at in range(words):
                    drawn[who - start, depth, at] = drawn[who - start, depth + 1, at]
                _add(drawn[who - start, depth], index.item[index.first[who] + depth], words)
        for depth in range(size):
            for who in range(start, stop):
                what = index.item[index.first[who] + depth]
                if last[what] != size:
                    last[what] = size
                    index.group_size[group[what]] = size
                    index.entry_first[group[what]] = entry[what]
                    index.sketch_first[group[what]] = word[what]
                    group[what] += 1
                index.buyers[entry[what]] = who
                index.depth[entry[what]] = depth
                entry[what] += 1
                for at in range(words):
                    index.sketch[word[what] + at] = drawn[who - start, depth, at]
                word[what] += words
        start = stop
