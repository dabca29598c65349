"""Cuts leave classes of k rows that cannot be cut further."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.lattice.mondrian import classes_by_cuts
from noren.kernels.lattice.scores import DISTINCT, ClassRule


def even(size: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.linspace(0, 1, size)


@pytest.mark.parametrize("relaxed", [False, True])
@given(seed=st.integers(0, 10_000), k=st.integers(2, 6))
def test_classes_keep_k_whatever_is_asked_of_sensitive_values(seed: int, k: int, relaxed: bool) -> None:
    random = np.random.Generator(np.random.PCG64(seed))
    rows = int(random.integers(k, 80))
    codes = random.integers(0, 6, (3, rows))
    sensitive = random.integers(0, 3, rows)
    rule = ClassRule(k, 0, DISTINCT, 2, 1.0, -1.0, False)
    found = classes_by_cuts(codes, [even(6)] * 3, rule, relaxed=relaxed, sensitive=sensitive)
    if len(set(sensitive.tolist())) < 2:
        assert found is None
        return
    assert found is not None
    assert np.bincount(found).min() >= k
    # what is asked of them never leaves more classes than k alone does
    by_k = classes_by_cuts(codes, [even(6)] * 3, ClassRule(k, 0), relaxed=relaxed)
    assert by_k is not None
    assert found.max() <= by_k.max()


@pytest.mark.parametrize(("rare", "classes"), [(5, 1), (6, 2), (12, 4), (24, 8)])
def test_a_box_is_cut_while_chance_leaves_both_halves_a_rare_value(rare: int, classes: int) -> None:
    """A half has rare / 2 in the mean, and one must be left of it less one and a half standard deviations.

    2.5 - 1.5 * 1.08 is less, 3 - 1.5 * 1.18 is more: a box is halved where 6 of its rows have the value.
    """
    sensitive = np.zeros(64, dtype=np.int64)
    sensitive[np.arange(rare) * 64 // rare] = 1  # dealt evenly
    found = classes_by_cuts(np.arange(64)[None, :], [even(64)], ClassRule(8, 0, DISTINCT, 2), sensitive=sensitive)
    assert found is not None
    assert found.max() + 1 == classes


def test_a_box_is_not_kept_whole_because_a_half_would_fail() -> None:
    """Both halves of the eight look the same to the box; that one of them has all of a value is not looked at."""
    codes, rule = np.array([[0] * 8 + [1] * 8]), ClassRule(8, 0, DISTINCT, 2)
    apart, mixed = np.repeat([0, 1], 8), np.tile([0, 1], 8)
    for values in (apart, mixed):
        found = classes_by_cuts(codes, [even(2)], rule, sensitive=values)
        assert found is not None
        assert found.tolist() == codes[0].tolist()


def test_a_box_that_fails_is_cut_on() -> None:
    """Of 16 rows half have each value; the first 8 rows have one alone, and are cut: a part of them may be near."""
    values = np.repeat([0, 1], 8)
    found = classes_by_cuts(np.arange(16)[None, :], [even(16)], ClassRule(4, 0, t=0.3), sensitive=values)
    assert found is not None
    assert np.bincount(found).tolist() == [4, 4, 4, 4]


@given(seed=st.integers(0, 10_000), k=st.integers(2, 6))
def test_a_strict_class_has_no_lawful_cut_left(seed: int, k: int) -> None:
    random = np.random.Generator(np.random.PCG64(seed))
    codes = random.integers(0, 5, (2, int(random.integers(k, 60))))
    found = classes_by_cuts(codes, [even(5)] * 2, ClassRule(k, 0))
    assert found is not None
    for one in range(int(found.max()) + 1):
        for column in codes[:, found == one]:
            for cut in range(4):
                assert min((column <= cut).sum(), (column > cut).sum()) < k


@given(seed=st.integers(0, 10_000), k=st.integers(2, 6))
def test_relaxed_classes_are_smaller_than_two_k(seed: int, k: int) -> None:
    # rows that differ somewhere can always be halved
    random = np.random.Generator(np.random.PCG64(seed))
    rows = int(random.integers(k, 60))
    codes = np.stack([random.permutation(rows), random.integers(0, 3, rows)])
    found = classes_by_cuts(codes, [even(rows), even(3)], ClassRule(k, 0), relaxed=True)
    assert found is not None
    assert np.bincount(found).max() < 2 * k


def test_a_strict_cut_keeps_equal_values_together() -> None:
    ages = np.array([[0, 0, 0, 1, 1, 1, 1]])
    strict = classes_by_cuts(ages, [even(2)], ClassRule(2, 0))
    relaxed = classes_by_cuts(ages, [even(2)], ClassRule(2, 0), relaxed=True)
    assert strict is not None
    assert relaxed is not None
    assert strict.tolist() == [0, 0, 0, 1, 1, 1, 1]
    # three and four; the four part no further, as all of them are equal
    assert relaxed.tolist() == [0, 0, 0, 1, 1, 1, 1]


def test_the_widest_column_is_cut() -> None:
    codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    found = classes_by_cuts(codes, [np.array([0.4, 0.5]), np.array([0.0, 1.0])], ClassRule(2, 0))
    assert found is not None
    assert found.tolist() == [0, 1, 0, 1]


@given(seed=st.integers(0, 10_000), k=st.integers(2, 6), diverse=st.booleans())
def test_counts_of_combinations_are_cut_as_their_rows(seed: int, k: int, diverse: bool) -> None:
    random = np.random.Generator(np.random.PCG64(seed))
    codes, counts = random.integers(0, 5, (2, 30)), random.integers(1, 4, 30)
    sensitive = random.integers(0, 3, 30) if diverse else None
    rule = ClassRule(k, 0, DISTINCT, 2, 1.0, -1.0, False) if diverse else ClassRule(k, 0)
    some = classes_by_cuts(codes, [even(5)] * 2, rule, sensitive=sensitive, counts=counts)
    every = None if sensitive is None else np.repeat(sensitive, counts)
    whole = classes_by_cuts(np.repeat(codes, counts, axis=1), [even(5)] * 2, rule, sensitive=every)
    assert some is not None
    assert whole is not None
    # the same classes, whatever they are called
    both = {(int(a), int(b)) for a, b in zip(np.repeat(some, counts), whole, strict=True)}
    assert len(both) == some.max() + 1 == whole.max() + 1
