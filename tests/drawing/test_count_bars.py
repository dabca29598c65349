"""Numbers from 1 on in few bars, each counted once."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from noren.drawing.histograms import count_bars


def test_few_numbers_have_a_bar_each() -> None:
    assert count_bars(np.array([2, 5, 5, 3])) == {
        "labels": ["2", "3", "4", "5"],
        "from": [2, 3, 4, 5],
        "to": [2, 3, 4, 5],
        "counts": [1, 1, 0, 2],
        "total": 4,
        "minimum": 2,
        "median": 4.0,
        "mean": 3.75,
        "maximum": 5,
    }


def test_a_long_tail_has_wider_bars() -> None:
    found = count_bars(np.array([1, 9, 10, 19, 20, 345]))
    assert found["labels"][:11] == ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10–19", "20–29"]
    assert found["labels"][-1] == "300–345"
    assert [found["counts"][i] for i in (0, 8, 9, 10, -1)] == [1, 1, 2, 1, 1]


def test_nothing_is_nothing() -> None:
    found = count_bars(np.zeros(0, dtype=np.int64))
    assert (found["labels"], found["counts"], found["total"], found["median"]) == ([], [], 0, None)


@given(st.lists(st.integers(1, 10**9) | st.integers(1, 60), min_size=1, max_size=50))
def test_every_number_is_in_its_bar(values: list[int]) -> None:
    found = count_bars(np.array(values))
    ends = list(zip(found["from"], found["to"], strict=True))
    assert found["counts"] == [sum(low <= value <= high for value in values) for low, high in ends]
    assert sum(found["counts"]) == found["total"] == len(values)
    assert 1 <= len(ends) <= 40
    assert all(before[1] + 1 == after[0] for before, after in itertools.pairwise(ends))
