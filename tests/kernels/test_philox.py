"""Numbers at any places are those that the generator makes one after another."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.random_draws import raw_at, uniforms, uniforms_at


@given(
    st.lists(st.integers(0, 300), min_size=1, max_size=20),
    st.integers(0, 2**128 - 1),
    st.integers(0, 5),
    st.integers(0, 2**40),
)
def test_as_numpy_makes_them(places: list[int], seed: int, stream: int, draw: int) -> None:
    whole = np.random.Philox(key=seed, counter=[0, 0, stream, draw]).random_raw(301)
    found = raw_at(np.array(places), seed=seed, stream=stream, draw=draw)
    assert found.tolist() == whole[places].tolist()


@pytest.mark.parametrize("places", [[7], [7, 8, 9, 10], [10, 7], []])
def test_uniforms_in_a_row_and_scattered(places: list[int]) -> None:
    found = uniforms_at(np.array(places, dtype=np.int64), seed=3, draw=1, stream=2)
    assert found.tolist() == uniforms(11, seed=3, draw=1, stream=2)[places].tolist()


def test_far_away() -> None:
    at = 10**12 + 3
    whole = uniforms(1, seed=5, draw=0, stream=0, first=at)
    assert uniforms_at(np.array([at, 0]), seed=5, draw=0, stream=0)[0] == whole[0]
