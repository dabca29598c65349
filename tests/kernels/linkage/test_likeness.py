"""Likeness is the smaller over the larger."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.linkage.row_layout import likeness

NUMBERS = st.floats(0.01, 1e6)


@given(NUMBERS, NUMBERS)
def test_positive_numbers(a: float, b: float) -> None:
    assert likeness(np.array([a]), np.array([b]))[0] == min(a, b) / max(a, b)


def test_zero_and_signs() -> None:
    a = np.array([0.0, 0.0, -0.0, 3.0, -3.0, -3.0, 3.0])
    b = np.array([0.0, -0.0, 0.0, 0.0, -6.0, 6.0, -6.0])
    assert likeness(a, b).tolist() == [1.0, 1.0, 1.0, 0.0, 0.5, 0.0, 0.0]
