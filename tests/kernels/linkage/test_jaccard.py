"""The search against the definition: every pair looked at, exact fractions, ties by number."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.linkage.set_examples import Weighted, all_with_all, by_definition, laid, made_up, similarity, sure

from noren.kernels.items.packed_sets import CERTAIN, ItemSets, item_sets, weight_of_one_in
from noren.kernels.linkage.jaccard import NOBODY, in_equal_runs, index_of, most_similar, similarities

ITEMS = 9
KNOWN = st.lists(st.frozensets(st.integers(0, ITEMS - 1), max_size=7), min_size=1, max_size=14)
WEIGHTS = st.sampled_from([CERTAIN // s for s in (1, 2, 3, 4, 16)] + [int(weight_of_one_in(np.array([17]))[0])])
# items 9 and 10 have no code: no customer has them
RELEASED = st.lists(st.dictionaries(st.integers(0, ITEMS + 1), WEIGHTS, max_size=8), min_size=1, max_size=6)


def answers(who: np.ndarray, how: np.ndarray) -> list[list[tuple[int, float]]]:
    return [
        [(c, s) for c, s in zip(*pair, strict=True) if c != NOBODY]
        for pair in zip(who.tolist(), how.tolist(), strict=True)
    ]


def checked(known: list[Weighted], released: list[Weighted], laid_out: ItemSets, candidates: int) -> None:
    index = index_of(laid(known, ITEMS, sure=True), ITEMS)
    found = answers(*most_similar(index, laid_out, np.arange(len(released)), candidates))
    expected = [by_definition(known, asked, candidates) for asked in released]
    assert found == [[(who, float(how)) for who, how in best] for best in expected]


@given(KNOWN, RELEASED, st.integers(1, 16))
def test_never_misses_the_best(known: list[frozenset[int]], released: list[Weighted], candidates: int) -> None:
    checked([sure(*one) for one in known], released, laid(released, ITEMS), candidates)


@given(KNOWN, RELEASED, st.integers(1, 4))
def test_sure_items_alone(known: list[frozenset[int]], released: list[Weighted], candidates: int) -> None:
    plain = [sure(*one) for one in released]
    checked([sure(*one) for one in known], plain, laid(plain, ITEMS, sure=True), candidates)
    # the same items as sets of one: the same floats
    checked([sure(*one) for one in known], plain, laid(plain, ITEMS), candidates)


@pytest.mark.parametrize("candidates", [1, 3, 40])
@pytest.mark.parametrize("noise", [0.0, 0.2, 0.6, 1.0])
def test_every_bound_at_work(noise: float, candidates: int) -> None:
    known, released = made_up(1_200, 400, noise, seed=int(10 * noise))
    every = all_with_all(known, released, 400)
    order = np.argsort(-every, axis=1, kind="stable")[:, :candidates]
    best = np.take_along_axis(every, order, axis=1)
    who, how = most_similar(index_of(known, 400), released, np.arange(1_200), candidates)
    assert np.array_equal(how, best)
    assert np.array_equal(who, np.where(best > 0, order, NOBODY))


@pytest.mark.parametrize("candidates", [1, 2])
def test_weights_with_every_bound_at_work(candidates: int) -> None:
    known, exact = made_up(800, 300, 0.3, seed=5)
    draw = np.random.Generator(np.random.PCG64(6))
    weight = weight_of_one_in(draw.integers(1, 6, len(exact.item)))
    owner = np.repeat(np.arange(800), exact.sizes)
    released = item_sets(owner, exact.item.astype(np.int64), 800, 300, weight)
    every = all_with_all(known, released, 300)
    order = np.argsort(-every, axis=1, kind="stable")[:, :candidates]
    best = np.take_along_axis(every, order, axis=1)
    who, how = most_similar(index_of(known, 300), released, np.arange(800), candidates)
    assert np.array_equal(how, best)
    assert np.array_equal(who, np.where(best > 0, order, NOBODY))


def test_of_equals_the_first() -> None:
    # 1 and 3 are equal, 2 shares as much of as many; sizes differ, so the index has another order
    known = [sure(5), sure(0, 1), sure(0, 1, 2, 3), sure(0, 1)]
    released = laid([sure(0), sure(0, 1, 2)], ITEMS, sure=True)
    who, how = most_similar(index_of(laid(known, ITEMS, sure=True), ITEMS), released, np.arange(2), 4)
    assert who.tolist() == [[1, 3, 2, NOBODY], [2, 1, 3, NOBODY]]
    assert how.tolist() == [[1 / 2, 1 / 2, 1 / 4, 0.0], [3 / 4, 2 / 3, 2 / 3, 0.0]]


def test_a_crowd_of_equals() -> None:
    known = laid([sure(0, 1)] * 500, 2, sure=True)
    who, how = most_similar(index_of(known, 2), laid([sure(1)], 2, sure=True), np.array([0]), 3)
    assert (who.tolist(), how.tolist()) == ([[0, 1, 2]], [[0.5, 0.5, 0.5]])


def test_nobody() -> None:
    index = index_of(laid([sure(0), {}], ITEMS, sure=True), ITEMS)
    asked = laid([{}, sure(1), sure(10)], ITEMS, sure=True)
    who, how = most_similar(index, asked, np.arange(3), 2)
    assert who.tolist() == [[NOBODY] * 2] * 3
    assert how.tolist() == [[0.0] * 2] * 3
    empty = index_of(laid([], 0, sure=True), 0)
    assert most_similar(empty, laid([sure(1)], 0, sure=True), np.array([0]))[0].tolist() == [[NOBODY]]


def test_sums_beyond_32_bits() -> None:
    # 4,000 items of 720,720 units are more than 2³¹
    large = dict.fromkeys(range(4_000), CERTAIN)
    known = laid([large, dict(list(large.items())[:3_999])], 4_000, sure=True)
    who, how = most_similar(index_of(known, 4_000), laid([large], 4_000), np.array([0]), 2)
    assert (who.tolist(), how.tolist()) == ([[0, 1]], [[1.0, 3_999 / 4_000]])


def test_which_sets_and_in_which_order() -> None:
    known, released = made_up(300, 100, 0.2, seed=1)
    index = index_of(known, 100)
    who, how = most_similar(index, released, np.arange(300))
    which = np.array([7, 7, 3, 7, 299])
    again, as_much = most_similar(index, released, which)
    assert np.array_equal(again, who[which])
    assert np.array_equal(as_much, how[which])


@given(RELEASED)
def test_equal_sets_follow_each_other(sets: list[Weighted]) -> None:
    twice = [{i: w for i, w in one.items() if i < ITEMS} for one in sets + sets[::-1]]
    order = in_equal_runs(laid(twice, ITEMS)).tolist()
    assert sorted(order) == list(range(len(twice)))
    runs = [tuple(sorted(twice[at].items())) for at in order]
    assert sum(a != b for a, b in pairwise(runs)) + 1 == len(set(runs))


@given(KNOWN, RELEASED)
def test_similarities_of_pairs(known: list[frozenset[int]], released: list[Weighted]) -> None:
    every = [sure(*one) for one in known]
    pairs = [(c, a) for c in range(len(known)) for a in range(len(released))]
    customer, asked = (np.array(side) for side in zip(*pairs, strict=True))
    found = similarities(laid(every, ITEMS, sure=True), laid(released, ITEMS), customer, asked)
    assert found.tolist() == [float(similarity(every[c], released[a])) for c, a in pairs]
