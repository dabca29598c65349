"""Customers' sets of items, laid out so that the few that may be like a given set are found (S2, Algorithm 1).

Items are numbered by how many customers have them, the rarest first, and each set is in that order. The list of an item
tells its customers in groups of equal size of set; in a group those come first in whose set the item stands early. An
entry also has a *sketch* of the set from that item on: item i sets bit i mod 64, or mod 128, 256, 512 where sets are
larger. A bit of one sketch that another lacks is an item that the other set lacks, so sketches bound what sets share.

**Whose set of items is most like this one: the exact answer, without looking at every pair (S2, Algorithm 1).**
Let R be a released set, its items weighing w ≤ u (u: an item that is surely there), W in all, and I a customer's set of
s items. With the overlap S, the weight of R's items that are in I, the weighted Jaccard similarity is::

    J = Σ min / Σ max = S / (W + u·s - S)

Where every item is sure, u = 1 and J = |R ∩ I| / |R ∪ I|. Items are numbered from the rarest on. Whoever shares
anything with R is met at the *first shared item*, number p in R and q in I. Bounds, each with its reason, leave few:

- *size*: S ≤ min(V, u·s), where V is the weight of R from p on, so J is at most that of such an overlap. It falls with
  the distance of u·s from V: the sizes nearest to V come first, and the others not at all.
- *place*: before p and q nothing is shared, so at most n = min(m - p, s - q) items are, m being how many R has. The
  popular items stand late in nearly all sets, and their long lists are hardly read.
- *sketch*: an item of I from q on whose bit the sketch of R from p on lacks is not in R, and the other way round.

Similarities are quotients of whole numbers, rounded once to a float. Rounding keeps order, so a bound that is rounded
too is never below what it bounds: a customer is passed over only if the bound is *less*, or equal and the customer
comes later; hence never one that wins. The argument in full is in ``docs/theory/jaccard.md``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from noren.kernels.arrays import Codes, Real, Whole
from noren.kernels.compiling import kernel, part
from noren.kernels.items.packed_sets import ItemSets, shared_weights
from noren.kernels.ordered import first_from, sort_range

Sketches = NDArray[np.uint64]

ALL_WORDS = 15
"""Sketches of one, two, four and eight words, one behind another: that of w words starts at w - 1."""


class SetIndex(NamedTuple):
    """The customers' sets, ready to be asked.

    Customers are numbered by the size of their set, then in the order they came.
    """

    first: Whole
    item: Codes
    """``first``, ``item``: each customer's items, in rising order."""
    place: Whole
    """The number that each customer came with."""
    rank: Codes
    """The number of each item that came."""
    group_first: Whole
    group_size: Codes
    """``group_first``, ``group_size``: each item's groups, smallest sets first, and the items of a group's sets."""
    entry_first: Whole
    buyers: Codes
    depth: Codes
    """``entry_first``, ``buyers``, ``depth``: each group's entries: a customer, and how many items of the set are
    before this one; least depth first.
    """
    sketch_first: Whole
    sketch: Sketches
    """``sketch_first``, ``sketch``: where the sketches of each group's entries start, and the sketches."""


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
    groups, words = _order_items(known.first, known.item, place, rank, first, item)
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
    sketch = np.zeros((len(items) + 1, ALL_WORDS), dtype=np.uint64)
    for at in range(len(items) - 1, -1, -1):
        for word in range(ALL_WORDS):
            sketch[at, word] = sketch[at + 1, word]
        for words in (1, 2, 4, 8):
            _add(sketch[at, words - 1 :], items[at], words)
    return sketch


@kernel()
def _order_items(
    known_first: Whole, known_item: Codes, place: Whole, rank: Codes, first: Whole, item: Codes
) -> tuple[Whole, Whole]:  # pragma: no cover (compiled)
    """Write each customer's items in the index's numbers and order.

    Returns how many groups each item's list has, and how many words of sketches.
    """
    groups, words = np.zeros(len(rank), dtype=np.int64), np.zeros(len(rank), dtype=np.int64)
    last = np.full(len(rank), -1, dtype=np.int64)
    for who in range(len(place)):
        start = known_first[place[who]]
        mine = item[first[who] : first[who + 1]]
        for at in range(len(mine)):
            mine[at] = rank[known_item[start + at]]
        sort_range(mine, 0, len(mine))
        for number in mine:
            groups[number] += last[number] != len(mine)
            last[number] = len(mine)
            words[number] += sketch_words(len(mine))
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


# --- Whose set of items is most like this one: the exact answer, without looking at every pair (S2, Algorithm 1) ------


NOBODY = -1


def most_similar(index: SetIndex, released: ItemSets, which: Whole, candidates: int = 1) -> tuple[Whole, Real]:
    """Return the customers most similar to some released sets, best first, and how similar they are.

    Of equally similar customers the one with the lower number comes first. Customers who share nothing are never an
    answer: where there are fewer than ``candidates``, :data:`NOBODY` with similarity 0 fills up. ``which`` of the
    ``released`` sets, in the items' numbers before the index, in any order; the same set twice in a row costs once.

    {0, 1} is as it is, {1, 2} shares one of three, {3} nothing.

    >>> from noren.kernels.items.packed_sets import item_sets
    >>> index = index_of(item_sets(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 2, 3]), 3, 4), 4)
    >>> who, how = most_similar(index, item_sets(np.array([0, 0]), np.array([0, 1]), 1, 4), np.array([0]), 3)
    >>> who.tolist(), how.round(3).tolist()
    ([[0, 1, -1]], [[1.0, 0.333, 0.0]])
    """
    return _search(index, released, np.asarray(which, dtype=np.int64), candidates)


def in_equal_runs(sets: ItemSets) -> Whole:
    """Return the sets' numbers in an order in which equal sets follow each other."""
    # any number for an item and weight does, sums of them need not be unique: equal neighbours are compared in full
    mixed = (sets.item.astype(np.uint64) << np.uint64(20)) + sets.weight.astype(np.uint64) + np.uint64(1)
    mixed *= np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    running = np.concatenate((np.zeros(1, dtype=np.uint64), np.cumsum(mixed, dtype=np.uint64)))
    key = running[sets.first[1:]] - running[sets.first[:-1]]
    return np.argsort(key, kind="stable").astype(np.int64)


def similarities(known: ItemSets, released: ItemSets, customer: Whole, released_set: Whole) -> Real:
    """Return how similar pairs of a customer and a released set are; the customers' items must be sure.

    >>> from noren.kernels.items.packed_sets import item_sets
    >>> sets = item_sets(np.array([0, 0, 1, 1, 2]), np.array([0, 1, 1, 2, 3]), 3, 4)
    >>> similarities(sets, sets, np.array([0, 0, 0]), np.array([0, 1, 2])).round(3).tolist()
    [1.0, 0.333, 0.0]
    """
    first, stop = released.first[released_set], released.first[released_set + 1]
    known_first, known_stop = known.first[customer], known.first[customer + 1]
    overlap = shared_weights(first, stop, released.item, released.weight, known_first, known_stop, known.item)
    either = released.total[released_set] + released.unit * known.sizes[customer] - overlap
    similarity: Real = np.divide(overlap, either, out=np.zeros(len(overlap)), where=overlap > 0)
    return similarity


@part()
def _similarity(overlap: int, total: int, size: int) -> float:  # pragma: no cover (compiled)
    """Return J = S / (W + u·s - S), given u·s."""
    return overlap / (total + size - overlap) if overlap > 0 else 0.0


class _ReleasedSet(NamedTuple):
    """One released set: its items from the rarest on, what the n heaviest weigh, sketches, its weight, the unit."""

    items: Codes
    heaviest: Whole
    sketches: Sketches
    total: int
    unit: int


class _Notes(NamedTuple):
    """What is jotted down during a search: R's weights by item; by size of set, how many items must be shared."""

    weight: Codes
    turn: Whole
    needed: Whole
    needed_to_win: Whole


@part()
def _same(sets: ItemSets, first: int, second: int) -> bool:  # pragma: no cover (compiled)
    a, b = sets.first[first], sets.first[second]
    length = sets.first[first + 1] - a
    if length != sets.first[second + 1] - b or sets.total[first] != sets.total[second]:
        return False
    for at in range(length):
        if sets.item[a + at] != sets.item[b + at] or sets.weight[a + at] != sets.weight[b + at]:
            return False
    return True


@part()
def _read(index: SetIndex, sets: ItemSets, number: int, weight: Codes) -> _ReleasedSet:  # pragma: no cover (compiled)
    """Return a released set in the index's numbers, and jot down its weights."""
    start, stop = sets.first[number], sets.first[number + 1]
    items = np.empty(stop - start, dtype=np.int32)
    for at in range(stop - start):
        items[at] = index.rank[sets.item[start + at]]
        weight[items[at]] = sets.weight[start + at]
    sort_range(items, 0, len(items))
    heaviest = np.zeros(len(items) + 1, dtype=np.int64)
    for at in range(len(items)):
        heaviest[at + 1] = -np.int64(sets.weight[start + at])
    sort_range(heaviest, 1, len(heaviest))  # the heaviest first
    for at in range(len(items)):
        heaviest[at + 1] = heaviest[at] - heaviest[at + 1]
    return _ReleasedSet(items, heaviest, sketches(items), sets.total[number], sets.unit)


@part()
def _note_needed(notes: _Notes, target: _ReleasedSet, size: int, least: float, turn: int) -> None:  # pragma: no cover
    """Jot down how many items a set of some size must share to reach ``least``, and to be above it for all we know."""
    notes.turn[size] = turn
    low, high = 1, min(len(target.items), size) + 1
    while low < high:
        middle = (low + high) // 2
        if _similarity(target.heaviest[middle], target.total, target.unit * size) < least:
            low = middle + 1
        else:
            high = middle
    notes.needed[size] = notes.needed_to_win[size] = low
    if low <= min(len(target.items), size):
        notes.needed_to_win[size] += _similarity(target.heaviest[low], target.total, target.unit * size) == least


@part()
def _insert(place: int, similarity: float, count: int, customer: Whole, score: Real) -> int:  # pragma: no cover
    """Put a customer where it belongs among the best so far, and return how many they are now."""
    to, wanted = count, len(customer)
    while to > 0 and (score[to - 1] < similarity or (score[to - 1] == similarity and customer[to - 1] > place)):
        to -= 1
    if to == wanted:
        return count
    count = min(count + 1, wanted)
    for move in range(count - 1, to, -1):
        customer[move], score[move] = customer[move - 1], score[move - 1]
    customer[to], score[to] = place, similarity
    return count


@part()
def _answer(
    index: SetIndex, target: _ReleasedSet, notes: _Notes, turn: int, customer: Whole, score: Real
) -> int:  # pragma: no cover (compiled)
    """Write the customers most similar to one set, best first; return the turn that the notes have come to."""
    many, unit, total, wanted = len(target.items), target.unit, target.total, len(customer)
    count, least, still = 0, 0.0, target.heaviest[many]
    for passed in range(many):
        what = target.items[passed]
        if _similarity(still, total, still) < least:
            break
        begin, end = index.group_first[what], index.group_first[what + 1]
        larger = first_from(index.group_size, begin, end, -(-still // unit))  # sets that weigh so much or more
        smaller = larger - 1
        while True:
            # J of the largest overlap that a size allows; the better one of the two next sizes comes first
            above = below = -1.0
            if larger < end:
                above = _similarity(still, total, unit * index.group_size[larger])
            if smaller >= begin:
                below = _similarity(unit * index.group_size[smaller], total, unit * index.group_size[smaller])
            if max(above, below) < least or (larger == end and smaller < begin):
                break
            group = larger if above >= below else smaller
            larger, smaller = larger + (above >= below), smaller - (above < below)
            size = int(index.group_size[group])
            if notes.turn[size] != turn:
                _note_needed(notes, target, size, least, turn)
            needed, to_win = notes.needed[size], notes.needed_to_win[size]
            if needed > many - passed:
                continue
            words = sketch_words(size)
            at = index.sketch_first[group] - words
            for entry in range(index.entry_first[group], index.entry_first[group + 1]):
                depth = index.depth[entry]
                if size - depth < needed:
                    break
                at += words
                theirs = ours = 0
                for word in range(words):
                    their_bits, our_bits = index.sketch[at + word], target.sketches[passed, words - 1 + word]
                    theirs += bits(their_bits & ~our_bits)
                    ours += bits(our_bits & ~their_bits)
                shared = min(size - depth - theirs, many - passed - ours)
                if shared < needed:
                    continue
                who = index.buyers[entry]
                place = index.place[who]
                if shared < to_win and place > customer[wanted - 1]:
                    continue
                overlap, start = 0, index.first[who]
                for item in index.item[start : start + depth]:
                    overlap += notes.weight[item]
                if overlap > 0:
                    continue  # met before, at the first shared item
                for item in index.item[start + depth : start + size]:
                    overlap += notes.weight[item]
                similarity = _similarity(overlap, total, unit * size)
                if similarity < least:
                    continue
                count = _insert(place, similarity, count, customer, score)
                if count == wanted and score[wanted - 1] > least:
                    least = score[wanted - 1]
                    turn += 1
                    _note_needed(notes, target, size, least, turn)
                    needed, to_win = notes.needed[size], notes.needed_to_win[size]
        still -= notes.weight[what]
    return turn + 1


@kernel()
def _search(
    index: SetIndex, sets: ItemSets, which: Whole, candidates: int
) -> tuple[Whole, Real]:  # pragma: no cover (compiled)
    customer = np.full((len(which), candidates), NOBODY, dtype=np.int64)
    score = np.zeros((len(which), candidates))
    people = len(index.first) - 1
    largest = index.first[people] - index.first[people - 1] if people > 0 else 0
    weight = np.zeros(len(index.rank), dtype=np.int32)
    by_size = np.zeros((3, largest + 1), dtype=np.int64)
    notes = _Notes(weight, by_size[0], by_size[1], by_size[2])
    turn = 1
    for at in range(len(which)):
        if at > 0 and _same(sets, which[at - 1], which[at]):
            for place in range(customer.shape[1]):
                customer[at, place], score[at, place] = customer[at - 1, place], score[at - 1, place]
            continue
        target = _read(index, sets, which[at], weight)
        turn = _answer(index, target, notes, turn, customer[at], score[at])
        for item in target.items:
            weight[item] = 0
    return customer, score
