"""Noise stays within its bounds and draws evenly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.reconstruction.retention import day_shifts, moved_by_packs, scaled_prices

EVERY = np.linspace(0, 1, 100_000, endpoint=False)


@given(day=st.integers(0, 30), most=st.integers(0, 40))
def test_days_are_even_and_stay_in_the_period(day: int, most: int) -> None:
    where = np.full(len(EVERY), day)
    moved = where + day_shifts(where, np.zeros_like(where), np.full_like(where, 30), most, EVERY)
    days, counts = np.unique(moved, return_counts=True)
    assert days.tolist() == list(range(max(day - most, 0), min(day + most, 30) + 1))
    assert counts.max() - counts.min() <= 1


def test_a_day_outside_its_bounds_stays_or_comes_closer() -> None:
    shift = day_shifts(np.full(3, 40), np.zeros(3, dtype=np.int64), np.full(3, 30), 5, np.array([0, 0.5, 0.99]))
    assert (shift <= 0).all()


def test_a_factor_is_as_likely_as_its_inverse() -> None:
    scaled = scaled_prices(np.full(len(EVERY), 1e6), 0.25, 0.01, 0.01, np.inf, EVERY)
    assert scaled.min() == pytest.approx(8e5)
    assert scaled.max() == pytest.approx(1.25e6, rel=1e-4)
    assert np.median(scaled) == pytest.approx(1e6, rel=1e-4)
    assert np.log(scaled / 1e6).mean() == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize(("width", "expected"), [(0.01, 0.07), (0.001, 0.07), (5.0, 0.0), (0.03, 0.06)])
def test_prices_lie_on_the_grid(width: float, expected: float) -> None:
    assert scaled_prices(np.array([0.07]), 0.0, width, 0.0, np.inf, np.array([0.3])).tolist() == [expected]


def test_prices_keep_their_bounds_sign_and_gaps() -> None:
    price = np.array([0.01, 10.0, -4.0, 0.0, np.nan])
    low = scaled_prices(price, 1.0, 0.01, 0.01, 10.0, np.zeros(5))
    high = scaled_prices(price, 1.0, 0.01, 0.01, 10.0, np.ones(5))
    assert low[:4].tolist() == [0.01, 5.0, -2.0, 0.0]
    assert high[:4].tolist() == [0.02, 10.0, -8.0, 0.0]
    assert np.isnan([low[4], high[4]]).all()


@given(size=st.integers(1, 100), pack=st.integers(1, 24), packs=st.integers(0, 4), sign=st.sampled_from([1, -1]))
def test_packs_keep_the_mean(size: int, pack: int, packs: int, sign: int) -> None:
    quantity = np.full(len(EVERY), float(sign * size))
    moved = moved_by_packs(quantity, np.full(len(EVERY), float(pack)), packs, 1, EVERY)
    values, counts = np.unique(moved, return_counts=True)
    reach = min(packs, (size - 1) // pack)
    assert sorted(np.abs(values)) == [size + at * pack for at in range(-reach, reach + 1)]
    assert counts.max() - counts.min() <= 1
    assert (np.sign(moved) == sign).all()
