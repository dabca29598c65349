"""Cuts leave lawful classes that cannot be cut further."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.lattice.class_rules import DISTINCT, ClassRule
from noren.kernels.lattice.mondrian import classes_by_cuts


def even(size: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.linspace(0, 1, size)


@pytest.mark.parametrize("relaxed", [False, True])
@given(seed=st.integers(0, 10_000), k=st.integers(2, 6))
def test_classes_keep_k_and_diversity(seed: int, k: int, relaxed: bool) -> None:
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
    for one in range(int(found.max()) + 1):
        assert (found == one).sum() >= k
        assert len(set(sensitive[found == one].tolist())) >= 2


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
