"""The index of sets: a layout worked by hand, and what a sketch may and may not say."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.linkage.set_examples import laid, made_up, sure

from noren.kernels.linkage.jaccard import bits, index_of, sketch_words, sketches

SETS = st.frozensets(st.integers(0, 700), max_size=90)


def test_the_layout_by_hand() -> None:
    # item 2 has one customer, item 0 two, item 1 three: they become 0, 1, 2
    index = index_of(laid([sure(0, 1, 2), sure(1), sure(0, 1)], 3, sure=True), 3)
    assert index.rank.tolist() == [1, 2, 0]
    # customers by size: 1, 2, 0
    assert index.place.tolist() == [1, 2, 0]
    assert index.item.tolist() == [2, 1, 2, 0, 1, 2]
    # the rarest item has a group of sets of three, the next one of two and of three, the last one of each size
    assert index.group_first.tolist() == [0, 1, 3, 6]
    assert index.group_size.tolist() == [3, 2, 3, 1, 2, 3]
    assert index.entry_first.tolist() == [0, 1, 2, 3, 4, 5, 6]
    assert index.buyers.tolist() == [2, 1, 2, 0, 1, 2]
    assert index.depth.tolist() == [0, 0, 1, 0, 1, 2]
    # bits of the items from this one on
    assert index.sketch.tolist() == [0b111, 0b110, 0b110, 0b100, 0b100, 0b100]


def test_groups_are_ordered_by_depth() -> None:
    known, _released = made_up(400, 120, 0.0, seed=3)
    index = index_of(known, 120)
    for start, stop in zip(index.entry_first, index.entry_first[1:], strict=False):
        assert (np.diff(index.depth[start:stop]) >= 0).all()
    sizes = np.diff(index.first)
    for item in range(120):
        groups = slice(index.group_first[item], index.group_first[item + 1])
        assert (np.diff(index.group_size[groups]) > 0).all()
        low, high = index.entry_first[index.group_first[item]], index.entry_first[index.group_first[item + 1]]
        entries = range(low, high)
        assert all(index.item[index.first[index.buyers[e]] + index.depth[e]] == item for e in entries)
    assert sorted(sizes.tolist()) == sizes.tolist()


@given(st.integers(0, 2**64 - 1))
def test_bits(word: int) -> None:
    with np.errstate(over="ignore"):  # words go round, as they do once it is compiled
        assert bits(np.uint64(word)) == word.bit_count()


@given(SETS, SETS, st.sampled_from([1, 2, 4, 8]))
def test_a_sketch_never_denies_a_shared_item(one: frozenset[int], other: frozenset[int], words: int) -> None:
    mine, theirs = (sketches(np.array(sorted(side), dtype=np.int32)) for side in (one, other))
    at = slice(words - 1, 2 * words - 1)
    with np.errstate(over="ignore"):
        lacking = sum(bits(a & ~b) for a, b in zip(mine[0, at], theirs[0, at], strict=True))
    assert lacking <= len(one - other)
    # items that differ by less than the width have bits of their own
    if max(one | other, default=0) < 64 * words:
        assert lacking == len(one - other)


@pytest.mark.parametrize(("size", "words"), [(1, 1), (8, 1), (9, 2), (24, 2), (25, 4), (64, 4), (65, 8), (900, 8)])
def test_larger_sets_have_longer_sketches(size: int, words: int) -> None:
    assert sketch_words(size) == words
