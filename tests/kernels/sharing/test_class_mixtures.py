"""Mixtures of class sizes: all pass, none could be bettered, and what the search leaves out could not pass."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.judging.survival import best_plan
from noren.kernels.sharing.grouping import group_sizes
from noren.kernels.sharing.partitioning import Mixture, mixtures

WORTH = np.linspace(40.0, 4.0, 40)


def chance(sizes: tuple[int, ...]) -> float:
    return best_plan(sizes, "sharp").chance


@pytest.mark.parametrize(("survival", "first"), [(0.9, Mixture((2, 3), 4)), (0.8, Mixture((2,), 3))])
def test_what_thirteen_attackers_leave(survival: float, first: Mixture) -> None:
    """By hand: a pair, a triple and half a four are all right with 1/2·1/6·1/12 = 1/144 < 1 - 0.9^(1/13) = 1/124."""
    allowed = 1 - survival ** (1 / 13)
    found = list(mixtures(WORTH, 2, allowed, chance))
    assert found[0] == first
    for mixture in found:
        assert chance(tuple(group_sizes(40, mixture.k, mixture.head).tolist())) <= allowed
        for more in range(2, first.k):  # nothing can be added but what another mixture has
            longer = tuple(sorted((*mixture.head, more)))
            known = any(
                m.k == mixture.k and all(longer.count(size) <= m.head.count(size) for size in set(longer))
                for m in found
            )
            assert known or chance(tuple(group_sizes(40, mixture.k, longer).tolist())) > allowed


def test_no_class_below_the_smallest_and_everybody_in_one() -> None:
    for mixture in islice(mixtures(WORTH, 3, 1 / 500, chance), 4):
        sizes = group_sizes(40, mixture.k, mixture.head)
        assert sizes.min() >= 3
        assert sizes.sum() == 40


def test_nothing_passes_where_there_are_too_few_customers() -> None:
    assert list(mixtures(np.ones(7), 2, 1e-9, chance)) == []


@given(st.lists(st.integers(2, 6), min_size=2, max_size=7), st.data())
def test_a_class_cut_in_two_never_helps_the_steward(sizes: list[int], data: st.DataObject) -> None:
    whole = data.draw(st.sampled_from(sizes))
    cut = data.draw(st.integers(1, whole - 1))
    rest = list(sizes)
    rest.remove(whole)
    assert chance((*rest, cut, whole - cut)) >= chance(tuple(sizes)) * (1 - 1e-9)
