"""Draws are uniform on what a cell allows, exact in decimals, and numbered."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.errors import ParameterError
from noren.kernels.random_draws import from_grid, from_sets, grid_points, uniforms


def test_a_draw_does_not_depend_on_how_many_rows_or_draws_there_are() -> None:
    long = uniforms(1000, seed=3, draw=5, stream=2)
    assert (uniforms(10, seed=3, draw=5, stream=2) == long[:10]).all()
    others = [uniforms(1000, seed=s, draw=d, stream=c) for s, d, c in ((4, 5, 2), (3, 6, 2), (3, 5, 3), (3, 2, 5))]
    assert all((other != long).all() for other in others)
    assert long.min() >= 0
    assert long.max() < 1
    assert abs(long.mean() - 0.5) < 0.03


def test_the_stream_is_fixed_for_ever() -> None:
    assert uniforms(2, seed=1, draw=0, stream=0).tolist() == [0.3035680343067586, 0.8487087496857769]


@pytest.mark.parametrize("seed", [-1, 1 << 128])
def test_a_seed_out_of_range_is_refused(seed: int) -> None:
    with pytest.raises(ParameterError, match="is out of range; use 0 <= seed < 2"):
        uniforms(1, seed=seed, draw=0, stream=0)


@given(st.integers(0, 10**6), st.integers(0, 500), st.floats(0, 1, exclude_max=True))
def test_prices_are_the_numbers_a_file_would_hold(first: int, steps: int, uniform: float) -> None:
    lo, hi = first / 100, (first + steps) / 100
    value = from_grid(np.array([lo]), np.array([hi]), 0.01, np.array([uniform]))[0]
    assert value == float(f"{value:.2f}")
    assert lo <= value <= hi
    assert grid_points(np.array([lo]), np.array([hi]), 0.01)[0] == steps + 1


def test_every_grid_point_is_equally_likely() -> None:
    even = (np.arange(6000) + 0.5) / 6000
    drawn = from_grid(np.full(6000, 3.0), np.full(6000, 8.0), 1.0, even)
    assert Counter(drawn.tolist()) == dict.fromkeys([3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 1000)


def test_an_end_beside_the_grid_keeps_its_steps() -> None:
    drawn = from_grid(np.array([0.5, 0.5]), np.array([2.9, 2.9]), 1.0, np.array([0.0, 0.99]))
    assert drawn.tolist() == [0.5, 2.5]
    assert from_grid(np.array([1.0]), np.array([10.0]), 3.0, np.array([0.99])).tolist() == [10.0]


def test_every_value_of_a_set_is_equally_likely() -> None:
    even = (np.arange(1200) + 0.5) / 1200
    element, value = from_sets(np.full(1200, 1), np.full(1200, 3), np.array([9, 1, 3, 9]), even)
    assert Counter(zip(element.tolist(), value.tolist(), strict=True)) == {
        (1, 0): 300, (2, 0): 300, (2, 1): 300, (2, 2): 300,
    }  # fmt: skip
