"""Rows like others: every row of a kind is drawn alike, and the nearest moment is the nearest of all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.sharing.rows import near_in_time, one_of_each


def test_every_row_of_a_kind_is_equally_likely() -> None:
    kind = np.array([2, -1, 0, 2, 1, 2])
    uniform = (np.arange(300) + 0.5) / 300
    assert np.bincount(one_of_each(kind, np.full(300, 2), uniform), minlength=6).tolist() == [100, 0, 0, 100, 0, 100]


@given(
    st.lists(st.tuples(st.integers(-1, 3), st.integers(0, 9)), min_size=1, max_size=25),
    st.integers(0, 9),
    st.floats(0, 1, exclude_max=True),
)
def test_the_nearest_moment_is_the_nearest_of_all(rows: list[tuple[int, int]], when: int, uniform: float) -> None:
    owner, moment = np.array(rows).T
    wanted = np.unique(owner[owner >= 0])
    found = near_in_time(
        owner, moment.astype(np.float64), wanted, np.full(len(wanted), when + 0.25), np.full(len(wanted), uniform)
    )
    assert owner[found].tolist() == wanted.tolist()
    for whose, at in zip(wanted, found, strict=True):
        gaps = np.abs(moment[owner == whose] - when - 0.25)
        assert abs(moment[at] - when - 0.25) == pytest.approx(gaps.min())


def test_the_earlier_of_two_and_all_rows_of_a_moment() -> None:
    owner, moment = np.zeros(5, dtype=np.int64), np.array([1.0, 3.0, 1.0, 3.0, 1.0])
    uniform = (np.arange(90) + 0.5) / 90
    found = near_in_time(owner, moment, np.zeros(90, dtype=np.int64), np.full(90, 2.0), uniform)
    assert np.bincount(found, minlength=5).tolist() == [30, 0, 30, 0, 30]
