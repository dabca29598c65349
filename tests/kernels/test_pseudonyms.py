"""Pseudonyms are distinct, well formed, and decided by the seed alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import examples

from noren.errors import ParameterError
from noren.kernels.random_draws import MOST_PSEUDONYMS, pseudonyms


@given(count=st.integers(0, 3000), seed=st.integers(0, 2**128 - 1))
@examples(60)
def test_distinct_positive_numbers_of_equal_length(count: int, seed: int) -> None:
    texts = [str(name) for name in pseudonyms(count, seed).tolist()]
    assert len(set(texts)) == count
    assert len({len(text) for text in texts}) <= 1
    assert all(text.isascii() and text.isdigit() and text[0] != "0" and len(text) <= 9 for text in texts)


def test_the_numbers_start_at_a_power_of_ten() -> None:
    for count, first in [(1, 10), (10, 10), (11, 100), (100, 100), (101, 1000), (1000, 1000), (1001, 10_000)]:
        assert sorted(pseudonyms(count, 5).tolist()) == list(range(first, first + count))


def test_same_seed_same_names_and_the_order_is_known() -> None:
    # the raw draws of Philox with key 7, smallest first, decide; numpy promises the stream
    draws = np.random.Philox(key=7).random_raw(6).tolist()
    names = pseudonyms(6, 7).tolist()
    assert [draws[name - 10] for name in names] == sorted(draws)
    assert names == [14, 11, 13, 12, 15, 10]
    assert pseudonyms(6, 7).tolist() == names


def test_another_seed_another_order() -> None:
    orders = {tuple(pseudonyms(50, seed).tolist()) for seed in range(200)}
    assert len(orders) == 200
    assert tuple(range(100, 150)) not in orders


def test_every_order_of_three_turns_up_equally_often() -> None:
    orders, seen = np.unique([pseudonyms(3, seed) for seed in range(6000)], axis=0, return_counts=True)
    assert len(orders) == 6
    # 1000 each; five standard deviations of a binomial are 145
    assert np.abs(seen - 1000).max() < 145


def test_too_many_customers_and_bad_seeds_are_refused() -> None:
    with pytest.raises(ParameterError, match="100,000,001 customers are more than"):
        pseudonyms(MOST_PSEUDONYMS + 1, 1)
    for seed in (-1, 2**128):
        with pytest.raises(ParameterError, match="is out of range; use 0 <= seed < 2"):
            pseudonyms(3, seed)
