"""Which classes may be shown, by hand."""

import math

import numpy as np
import pytest

from noren.kernels.lattice.scores import DISTINCT, EACH, ENTROPY, NO_DIVERSITY, RECURSIVE, ClassRule, class_passes


def passes(rule: ClassRule, counts: list[int], everybody: list[float] | None = None) -> bool:
    """Judge a class that has ``counts[v]`` rows of sensitive value v."""
    there = [value for value, count in enumerate(counts) if count]
    shares = np.array(everybody or [1 / len(counts)] * len(counts))
    room = np.zeros(len(counts))
    answer = class_passes(rule, np.array([counts[v] for v in there]), np.array(there), shares, room)
    assert room.tolist() == [0.0] * len(counts)
    return bool(answer)


def test_each_of_several_columns_needs_its_own_values() -> None:
    # codes 0..3 stand for (flu, low), (flu, high), (gout, high), (gout, top)
    rule = ClassRule(2, 0, EACH, 2, parts=np.array([[0, 0, 1, 1], [0, 1, 1, 2]]))
    assert not passes(rule, [1, 1, 0, 0])  # two incomes, and everybody has flu
    assert not passes(rule, [0, 1, 1, 0])  # two illnesses, and every income is high
    assert passes(rule, [1, 0, 1, 0])
    assert passes(rule._replace(ell=1), [2, 0, 0, 0])
    assert not passes(rule._replace(ell=3), [1, 1, 1, 1])  # three incomes, two illnesses


@pytest.mark.parametrize(("size", "shown"), [(4, False), (5, True), (6, True)])
def test_k_counts_rows(size: int, shown: bool) -> None:
    assert passes(ClassRule(5, 0, NO_DIVERSITY, 1, 1.0, -1.0, False), [size]) is shown


def test_distinct_counts_values() -> None:
    assert passes(ClassRule(2, 0, DISTINCT, 2), [1, 4, 0])
    assert not passes(ClassRule(2, 0, DISTINCT, 3), [1, 4, 0])


def test_entropy_of_equal_shares_is_their_number() -> None:
    # log 3 is reached by three equal shares and by nothing less even
    assert passes(ClassRule(2, 0, ENTROPY, 3), [2, 2, 2])
    assert not passes(ClassRule(2, 0, ENTROPY, 3), [2, 2, 3])
    assert math.isclose(-sum(p * math.log(p) for p in (2 / 7, 2 / 7, 3 / 7)), 1.0790, abs_tol=1e-4)


def test_recursive_by_hand() -> None:
    # counts 5, 3, 2: (c, 2) asks 5 < c (3 + 2), so c = 1 is not enough and 1.01 is
    assert not passes(ClassRule(2, 0, RECURSIVE, 2, 1.0), [3, 5, 2])
    assert passes(ClassRule(2, 0, RECURSIVE, 2, 1.01), [3, 5, 2])
    # (c, 3) asks 5 < 2 c
    assert not passes(ClassRule(2, 0, RECURSIVE, 3, 2.5), [3, 5, 2])
    assert passes(ClassRule(2, 0, RECURSIVE, 3, 2.6), [3, 5, 2])


def test_equal_distance_by_hand() -> None:
    # shares 1, 0 against 0.5, 0.5: half the rows must move
    assert passes(ClassRule(2, 0, t=0.5), [4, 0])
    assert not passes(ClassRule(2, 0, t=0.49), [4, 0])


def test_ordered_distance_is_the_salaries_example() -> None:
    """Li et al. (2007), §4: salaries 3k … 11k; {3k, 4k, 5k} lies 0.375 from everybody, {6k, 8k, 11k} 0.167."""
    everybody = [1 / 9] * 9
    low, mixed = [1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 1, 0, 0, 1]
    assert passes(ClassRule(2, 0, t=0.375, ordered=True), low, everybody)
    assert not passes(ClassRule(2, 0, t=0.374, ordered=True), low, everybody)
    assert passes(ClassRule(2, 0, t=0.167, ordered=True), mixed, everybody)
    assert not passes(ClassRule(2, 0, t=0.166, ordered=True), mixed, everybody)
