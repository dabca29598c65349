"""ε of retention, for one row and shuffled: published figures, and the exact δ of small tables by enumeration."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, permutations
from math import comb, exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.arrays import Real
from noren.kernels.reconstruction.privacy import _delta, local_epsilon, shuffled_delta, shuffled_epsilon
from noren.kernels.reconstruction.retention import Channel, decay_of, k_of, laplace, least_ratio

Counts = dict[tuple[int, ...], float]


def matrix(channels: Sequence[Channel], sizes: Sequence[int]) -> Real:
    """Return the joint channel of all attributes."""
    joint = np.ones((1, 1))
    for channel, size in zip(channels, sizes, strict=True):
        own = channel if isinstance(channel, np.ndarray) else channel * np.eye(size) + (1 - channel) / size
        joint = np.asarray(np.kron(joint, own), dtype=np.float64)
    return joint


def shuffled(rows: Sequence[Real]) -> Counts:
    """Return the chance of each table of counts of perturbed rows."""
    table: Counts = {(0,) * len(rows[0]): 1.0}
    for row in rows:
        more: Counts = {}
        for counts, chance in table.items():
            for at, its in enumerate(row):
                key = (*counts[:at], counts[at] + 1, *counts[at + 1 :])
                more[key] = more.get(key, 0.0) + chance * its
        table = more
    return table


def exact_delta(joint: Real, rows: int, epsilon: float) -> float:
    """Return the highest δ of any table of so many rows and any replacement of one."""
    worst = 0.0
    for others in combinations_with_replacement(range(len(joint)), rows - 1):
        tables = [shuffled([joint[value], *(joint[v] for v in others)]) for value in range(len(joint))]
        for one, two in permutations(tables, 2):
            worst = max(worst, sum(max(p - np.exp(epsilon) * two[key], 0.0) for key, p in one.items()))
    return worst


@pytest.mark.parametrize(
    ("channels", "sizes", "most"),
    [
        ([0.3], [2], 8),
        ([0.7], [2], 8),
        ([0.5], [3], 7),
        ([0.3], [5], 4),
        ([0.4, 0.6], [2, 2], 4),
        ([0.2, 0.5], [2, 3], 3),
        ([laplace(3, 0.5)], [3], 7),
        ([laplace(4, 0.4)], [4], 4),
        ([laplace(3, 0.6), 0.3], [3, 2], 3),
    ],
)
def test_enumeration_never_exceeds_the_bound(channels: list[Channel], sizes: list[int], most: int) -> None:
    joint, local = matrix(channels, sizes), local_epsilon(channels, sizes)
    for rows in range(1, most + 1):
        for epsilon in (0.0, 0.1, 0.3, 0.6 * local, 0.95 * local):
            exact = exact_delta(joint, rows, epsilon)
            bound = shuffled_delta(epsilon, local, rows)
            assert exact <= bound * (1 + 1e-12) + 1e-15, (rows, epsilon)


@pytest.mark.parametrize(("pair", "rows", "clones"), [(0.7, 6, 0.6), (2.5, 12, 0.1), (5.0, 40, 0.02), (1.0, 30, 0.5)])
def test_closed_form_is_the_sum_over_all_counts(pair: float, rows: int, clones: float) -> None:
    said_truly = Fraction(exp(pair)) / (1 + Fraction(exp(pair)))
    for epsilon in (0.0, 0.05, 0.4, 0.9 * pair):
        total = Fraction(0)
        for c in range(rows):
            here = comb(rows - 1, c) * Fraction(clones) ** c * (1 - Fraction(clones)) ** (rows - 1 - c)
            each = [Fraction(comb(c, i), 2**c) for i in range(c + 1)]
            for i in range(c + 2):  # how many rows show the first value
                up, same = each[i - 1] if i else 0, each[i] if i <= c else 0
                one, two = said_truly * up + (1 - said_truly) * same, (1 - said_truly) * up + said_truly * same
                total += here * max(one - Fraction(exp(epsilon)) * two, Fraction(0))
        assert float(total) <= _delta(epsilon, pair, rows, clones) == pytest.approx(float(total), rel=1e-5, abs=1e-14)


def test_two_values_of_one_row_are_bounded_exactly() -> None:
    # one row of two values: nothing hides it, and the bound is its total variation
    assert shuffled_delta(0.0, np.log(3), 1) == pytest.approx(exact_delta(matrix([0.5], [2]), 1, 0.0))


@pytest.mark.parametrize(
    ("rows", "k", "published"), [(32561, 2, 0.65), (32561, 5, 0.43), (32561, 10, 0.35), (10**6, 2, 0.25)]
)
def test_bound_is_below_the_published_ones(rows: int, k: float, published: float) -> None:
    local = float(np.log((rows - 1) / (k - 1)) / 2)
    assert shuffled_epsilon(local, rows, 1e-6) < 0.72 * published


def test_adult_has_the_published_epsilon_of_one_row() -> None:
    locals_ = [local_epsilon([rho] * 3, [5, 2, 42]) for rho in (0.350, 0.280, 0.240)]
    assert locals_ == pytest.approx([5.20, 4.50, 4.10], abs=0.03)


@given(st.lists(st.tuples(st.floats(0, 0.99), st.integers(2, 40)), min_size=1, max_size=4), st.integers(2, 10**6))
def test_k_follows_from_epsilon(attributes: list[tuple[float, int]], rows: int) -> None:
    rhos, sizes = [list(each) for each in zip(*attributes, strict=True)]
    local = local_epsilon(rhos, sizes)
    assert k_of(rhos, sizes, rows) == pytest.approx(1 + (rows - 1) * np.exp(-2 * local), rel=1e-9)


@given(st.integers(2, 30), st.floats(0.02, 0.99))
def test_bounded_noise_has_the_epsilon_of_retention_with_the_same_ratio(points: int, rho: float) -> None:
    ratio = least_ratio(rho, points)
    noise = laplace(points, decay_of(ratio, points))
    assert local_epsilon([noise], [points]) == pytest.approx(-np.log(ratio), rel=1e-9)


@given(st.floats(0.01, 12), st.integers(1, 10**7))
def test_epsilon_keeps_its_delta(local: float, rows: int) -> None:
    epsilon = shuffled_epsilon(local, rows, 1e-6)
    assert epsilon <= local
    assert shuffled_delta(epsilon, local, rows) <= 1e-6
    assert shuffled_epsilon(local, 2 * rows, 1e-6) <= epsilon + 1e-4  # more people hide better


def test_no_change_is_no_privacy() -> None:
    assert local_epsilon([1.0], [3]) == np.inf
    assert shuffled_epsilon(np.inf, 1000, 1e-6) == np.inf
    assert shuffled_epsilon(local_epsilon([0.0], [3]), 1000, 1e-6) == 0.0
