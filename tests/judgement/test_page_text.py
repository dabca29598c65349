"""Texts of data cannot hurt a page, one by one or a column at a time."""

import math

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from noren.judgement.page_text import plain, printable, printable_texts

# letters, digits, marks and everything that must not stand on a page; nothing that Unicode may still assign
texts = st.text(st.sampled_from("aé漢~ \t\r\n\0\x1b\x7f\x85\xa0\xad\u200b\u200e\u202e\u2028\u2029\u3000\ufeff\ue000😀"))


@given(st.lists(st.none() | texts, max_size=8), st.integers(2, 9))
def test_a_column_reads_as_its_texts_one_by_one(some: list[str | None], longest: int) -> None:
    column = pl.DataFrame({"x": pl.Series(some, dtype=pl.String)}).select(printable_texts(pl.col("x"), longest))["x"]
    assert column.to_list() == [None if text is None else printable(text, longest) for text in some]
    assert all(text is None or len(text) <= longest for text in column)


def test_plain_data_are_short_and_finite() -> None:
    assert plain({"n": math.nan, "ok": True, "list": list(range(100)), 3: b"x"}) == {
        "n": None,
        "ok": True,
        "list": list(range(60)),
        "3": "b'x'",
    }
    assert plain("a" * 500) == "a" * 199 + "…"
