"""The cost of a cell against its definition: the mean error over every value the cell allows."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from noren.kernels.judging.cell_error import exact_sum, interval_error, population_sd, set_error

NAN = float("nan")


def one(value: float, lo: float, hi: float, *, width: float = 1, sd: float = 1) -> float:
    return float(interval_error(np.array([value]), np.array([lo]), np.array([hi]), width=width, sd=sd)[0])


@given(
    value=st.integers(-300, 300),
    lo=st.integers(-300, 300),
    steps=st.integers(0, 120),
    width=st.sampled_from([1.0, 0.5, 0.01]),
    sd=st.floats(0.1, 50),
)
@settings(deadline=None)
def test_an_interval_costs_the_mean_distance_over_its_grid(
    value: int, lo: int, steps: int, width: float, sd: float
) -> None:
    expected = math.fsum(abs(value - lo - step) for step in range(steps + 1)) / (steps + 1) * width / sd
    assert one(value * width, lo * width, (lo + steps) * width, width=width, sd=sd) == pytest.approx(expected, rel=1e-9)


def test_inside_outside_and_exact_by_hand() -> None:
    assert one(2, 1, 3) == pytest.approx(2 / 3)  # 1, 0, 1
    assert one(1, 1, 3) == 1.0  # 0, 1, 2
    assert one(4, 20, 22) == 17.0  # 16, 17, 18
    assert one(5, 5, 5) == 0.0
    assert one(5, 8, 8, sd=2) == 1.5


def test_missing_values_and_suppressed_cells() -> None:
    assert one(5, NAN, NAN) == 1.0
    assert one(NAN, 5, 6) == 1.0
    assert one(NAN, NAN, NAN) == 0.0
    assert one(5, NAN, NAN, sd=0) == 1.0


def test_a_constant_column_costs_0_or_1() -> None:
    assert [one(5, 5, 5, sd=0), one(5, 5, 6, sd=0), one(5, 6, 6, sd=0)] == [0.0, 1.0, 1.0]


@given(size=st.integers(1, 100), holds=st.booleans())
@settings(deadline=None)
def test_a_set_costs_the_chance_of_a_wrong_draw(size: int, holds: bool) -> None:
    no = np.array([False])
    error = set_error(np.array([holds]), np.array([float(size)]), missing=no, suppressed=no)
    assert error[0] == pytest.approx(sum(1 for place in range(size) if not (holds and place == 0)) / size, rel=1e-12)


def test_sets_missing_suppressed_and_empty() -> None:
    no, yes = np.array([False]), np.array([True])
    two, none = np.array([2.0]), np.array([0.0])
    assert set_error(yes, none, missing=no, suppressed=yes)[0] == 1.0
    assert set_error(yes, two, missing=yes, suppressed=no)[0] == 1.0
    assert set_error(yes, none, missing=yes, suppressed=yes)[0] == 0.0
    assert set_error(yes, none, missing=no, suppressed=no)[0] == 1.0


def test_population_sd() -> None:
    assert population_sd(np.array([1.69, 2.1, 2.1])) == pytest.approx(0.193275, abs=1e-6)  # S1's price column
    assert population_sd(np.array([32.0, 6, 6])) == pytest.approx(12.2565, abs=1e-4)
    assert population_sd(np.array([0.1] * 7)) == 0.0
    assert population_sd(np.array([2.0, NAN, 4.0])) == 1.0
    assert population_sd(np.array([NAN])) == 0.0


def test_the_sum_does_not_depend_on_the_order() -> None:
    terms = np.array([1e16, 1.0, -1e16, 1.0])
    assert exact_sum(terms) == exact_sum(terms[::-1]) == 2.0
