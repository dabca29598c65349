"""What a guess says of each customer: by hand, and as the log keeps it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren.contest.stability import ByCustomer, by_customer
from noren.data.frames import History, Table
from noren.data.periods import periods_of
from noren.data.release import Release, Statement
from noren.data.schema import Schema
from noren.kernels.judging.composition import matching_curve, user_matching
from noren.measures.safety.extended_month_matching import ExtendedMonthMatching
from noren.measures.safety.hits import hits
from noren.measures.safety.user_matching import UserMatching
from noren.protocols import Evidence, Guess

_PRESET = Schema.preset("pwscup2018")


def _monthly() -> tuple[History, Release]:
    """Return ann and bob in December, ann alone in January; pseudonyms p, q, then r."""
    rows = {
        "customer": ["ann", "bob", "ann"],
        "date": ["2010/12/1", "2010/12/1", "2011/1/1"],
        "item": ["x"] * 3,
        "price": [1.0] * 3,
        "quantity": [1] * 3,
    }
    original = History.of(rows, _PRESET)
    renamed = History.of(rows | {"customer": ["p", "q", "r"]}, _PRESET)
    return original, Release.of_aligned(original, renamed, Statement("hand"), periods=periods_of(original["date"]))


def test_who_is_named_and_who_rightly() -> None:
    original, release = _monthly()
    pairs = release.secret.pseudonyms.with_columns(customer=pl.Series(["ann", "ann", "bob"]))
    said = by_customer(original, release, Guess("hand", pairs), cells=False)
    # ann's two pseudonyms are named, one rightly; bob's one wrongly
    assert said == {"named": "21", "right": "10", "width": 1}


def test_cells_give_what_the_measures_give() -> None:
    original, release = _monthly()
    guess = Guess("hand", release.secret.pseudonyms.head(2))
    kept = ByCustomer.of(by_customer(original, release, guess, cells=True))
    assert kept.match is not None
    assert kept.live is not None
    evidence = Evidence(original, release, {"hand": guess})
    assert matching_curve(kept.match, kept.live).max() == ExtendedMonthMatching().measure(evidence).value == 1.0
    assert user_matching(kept.match) == UserMatching().measure(evidence).value == 0.5


def test_of_a_table_people_are_its_rows() -> None:
    ages = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer"}}})
    original = Table.of({"age": [25, 31, 40]}, ages)
    release = Release.of_aligned(original, original, Statement("hand"))
    origin = release.secret.origin.to_list()
    rightly = {"row": [1, 2], "person": [origin[0] + 1, origin[0] + 1]}
    said = by_customer(original, release, Guess("hand", pl.DataFrame(rightly)), cells=False)
    expected = ["0", "0", "0"]
    expected[origin[0]] = expected[origin[1]] = "1"
    assert said["named"] == "".join(expected)
    assert said["right"].count("1") == 1


def test_counts_add_up_to_the_hits() -> None:
    original, release = _monthly()
    guess = Guess("hand", release.secret.pseudonyms.reverse())
    said = ByCustomer.of(by_customer(original, release, guess, cells=False))
    whole = hits(guess, release.secret)
    assert (said.named.sum(), said.right.sum(), (said.right > 0).sum()) == (whole.named, whole.right, whole.customers)


@given(st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 5000)), max_size=40), st.integers(1, 13))
def test_the_log_keeps_it_whole(pairs: list[tuple[int, int]], periods: int) -> None:
    named = np.array([max(pair) for pair in pairs], np.int64)
    right = np.array([min(pair) for pair in pairs], np.int64)
    match = (named[:, None] >> np.arange(periods)) & 1 == 1
    kept = ByCustomer(named, right, match, ~match)
    back = ByCustomer.of(kept.as_dict())
    assert back.match is not None
    assert back.live is not None
    assert np.array_equal(back.named, named)
    assert np.array_equal(back.right, right)
    assert np.array_equal(back.match, match)
    assert np.array_equal(back.live, ~match)


def test_digits_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="3 digits are not numbers of 2"):
        ByCustomer.of({"named": "012", "right": "012", "width": 2})
