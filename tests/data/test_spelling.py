"""Texts that are not canonical, kept beside the values."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from noren.data.formats.render import Spelling

GIVEN = pl.DataFrame({"price": ["2.10", "3", "02", "4"], "item": ["a", "b", "c", "d"]})
CANONICAL = pl.DataFrame({"price": ["2.1", "3", "2", "4"], "item": ["a", "b", "c", "d"]})


def test_only_what_differs_is_kept() -> None:
    spelling = Spelling.of(GIVEN, CANONICAL, "\r\n", final_newline=False)
    assert (spelling.newline, spelling.final_newline) == ("\r\n", False)
    assert list(spelling.exceptions) == ["price"]
    assert spelling.exceptions["price"].rows() == [(0, "2.10"), (2, "02")]
    assert_frame_equal(spelling.apply(CANONICAL), GIVEN)
    assert CANONICAL["price"].to_list() == ["2.1", "3", "2", "4"]  # unchanged


def test_columns_that_are_gone_are_passed_over() -> None:
    spelling = Spelling.of(GIVEN, CANONICAL, "\n", final_newline=True)
    assert_frame_equal(spelling.apply(CANONICAL.select("item")), CANONICAL.select("item"))


def test_nothing_odd_changes_nothing() -> None:
    assert Spelling.of(CANONICAL, CANONICAL, "\n", final_newline=True) == Spelling()
    assert_frame_equal(Spelling().apply(CANONICAL), CANONICAL)


def test_a_missing_text_differs_from_an_empty_one() -> None:
    spelling = Spelling.of(
        pl.DataFrame({"a": [""]}), pl.DataFrame({"a": [None]}, schema={"a": pl.String}), "\n", final_newline=True
    )
    assert spelling.exceptions["a"].rows() == [(0, "")]


@given(st.lists(st.sampled_from(["1", "01", "1.0"]), min_size=1, max_size=8), st.data())
def test_rows_take_their_spelling_along(texts: list[str], data: st.DataObject) -> None:
    given_ = pl.DataFrame({"n": texts})
    canonical = pl.DataFrame({"n": ["1"] * len(texts)})
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=10))
    taken = Spelling.of(given_, canonical, "\n", final_newline=True).take(pl.Series(rows, dtype=pl.UInt32))
    spelled = taken.apply(pl.DataFrame({"n": pl.Series(["1"] * len(rows), dtype=pl.String)}))
    assert spelled["n"].to_list() == [texts[row] for row in rows]
