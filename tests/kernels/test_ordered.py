"""Parts that kernels share to sort and search: as NumPy does it."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.ordered import first_above, first_from, sort_range

WHOLE = st.lists(st.integers(-5, 30), max_size=80)


@given(WHOLE, st.integers(0, 20), st.integers(0, 20))
def test_a_range_is_sorted_and_the_rest_stays(given: list[int], before: int, behind: int) -> None:
    values = np.array(given, dtype=np.int32)
    first, stop = min(before, len(values)), max(len(values) - behind, 0)
    wanted = values.copy()
    wanted[first:stop] = np.sort(values[first:stop])
    sort_range(values, first, stop)
    assert values.tolist() == wanted.tolist()


@given(WHOLE, st.integers(-7, 32))
def test_places_are_those_of_searchsorted(given: list[int], asked: int) -> None:
    values = np.sort(np.array(given, dtype=np.int64))
    assert first_from(values, 0, len(values), asked) == np.searchsorted(values, asked, side="left")
    assert first_above(values, 0, len(values), asked) == np.searchsorted(values, asked, side="right")
