"""The last row with a key wins, as in a dictionary that is written row by row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.kernels.linkage.last_match import (
    NO_ROW,
    days_seen,
    first_letters,
    joint_key,
    last_match,
    looked_up,
    numbered,
    settled,
    whole_steps,
)

WIDE = st.integers(-(2**62), 2**62)
KEYS = st.lists(st.one_of(st.integers(0, 5), WIDE), max_size=30)


def whole(values: list[int]) -> np.ndarray:
    return np.array(values, np.int64)


@given(KEYS, KEYS)
def test_a_dictionary_answers_the_same(table: list[int], asked: list[int]) -> None:
    written = {key: row for row, key in enumerate(table)}
    assert last_match(whole(table), whole(asked)).tolist() == [written.get(key, NO_ROW) for key in asked]


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(-1, 1), st.integers(-1, 3)), max_size=30))
def test_cells_end_with_the_last_answer(rows: list[tuple[int, int, int]]) -> None:
    at, column, answer = (whole([row[part] for row in rows]) for part in range(3))
    last, agreeing, counted = settled(at, column, answer, (2, 2))
    for cell in ((0, 0), (0, 1), (1, 0), (1, 1)):
        answers = [answer for row, column, answer in rows if (row, column) == cell]
        said = [answer for answer in answers if answer >= 0]
        assert last[cell] == (said[-1] if said else NO_ROW)
        assert agreeing[cell] == (said.count(said[-1]) if said else 0)
        assert counted[cell] == len(answers)


@given(st.lists(st.text(max_size=3), max_size=40), st.integers(1, 200))
def test_texts_are_numbered_in_order_of_appearance(some: list[str], more: int) -> None:
    texts = some + [str(number) for number in range(5 * more)]  # up to so many that the table grows
    encoded = [text.encode(errors="surrogatepass") for text in texts]
    number, first = numbered(np.cumsum([0, *map(len, encoded)]), np.frombuffer(b"".join(encoded), np.uint8))
    once = list(dict.fromkeys(texts))
    assert number.tolist() == [once.index(text) for text in texts]
    assert first.tolist() == [texts.index(text) for text in once]


SOME = st.sampled_from([0, 1, 2**19, 2**21, 2**40, 2**61 + 5, -(2**61)])
"""Numbers whose tables are small, large, and too large for one key of two."""


@given(st.lists(st.tuples(WIDE, SOME, st.integers(-3, 3), SOME), min_size=1, max_size=20), st.integers(0, 20))
def test_joint_keys_are_equal_where_all_parts_are(rows: list[tuple[int, ...]], cut: int) -> None:
    columns = [whole([row[part] for row in rows]) for part in range(4)]
    keys = np.concatenate(joint_key([(column[:cut], column[cut:]) for column in columns])).tolist()
    assert [[a == b for b in keys] for a in keys] == [[a == b for b in rows] for a in rows]


PRICES = st.one_of(st.integers(0, 500).map(lambda n: n / 100), st.floats(-1e300, 1e300))


@given(st.lists(PRICES, max_size=20), st.integers(0, 20))
def test_steps_are_equal_where_the_numbers_are(values: list[float], cut: int) -> None:
    numbers = np.array(values, float)
    steps = np.concatenate(whole_steps((numbers[:cut], numbers[cut:]), 100)).tolist()
    assert [[a == b for b in steps] for a in steps] == [[a == b for b in values] for a in values]


def test_a_price_is_counted_in_pence() -> None:
    prices = np.array([0.29, 1.15, 4.35, 8.41])
    assert [side.tolist() for side in whole_steps((prices, prices[:1]), 100)] == [[29, 115, 435, 841], [29]]


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=20))
def test_days_are_looked_up(days: list[int]) -> None:
    first, seen = days_seen(np.array(days, np.int32))
    assert np.flatnonzero(seen).tolist() == sorted({day - min(days) for day in days})
    of_day = np.arange(len(seen)) + first
    assert looked_up(np.array(days, np.int32), first, of_day).tolist() == days


@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=4), max_size=12))
def test_first_letters_are_equal_where_the_first_two_characters_are(texts: list[str]) -> None:
    encoded = [text.encode() for text in texts]
    starts = np.cumsum([0, *map(len, encoded)])
    found = first_letters(starts, np.frombuffer(b"".join(encoded), np.uint8), 2).tolist()
    assert [[a == b for b in found] for a in found] == [[a[:2] == b[:2] for b in texts] for a in texts]


def test_eight_bytes_hold_no_third_character() -> None:
    with pytest.raises(ValueError, match="one or two"):
        first_letters(np.array([0, 1]), np.zeros(1, np.uint8), 3)
