"""Classes of equal histories, and who fits, from typed columns of every kind."""

from typing import Any

import polars as pl
import pytest

from noren.data.compatibility import class_sizes, comparison_arrays, consistent_customers, history_classes
from noren.data.frames import History
from noren.data.schema import Schema
from noren.errors import SchemaError
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.methods.pseudonymize import Pseudonymize

SCHEMA = Schema.preset("pwscup2018")
BARE = Schema.of({"columns": {"who": {"role": "customer"}, "what": {"role": "item"}, "when": {"role": "date"}}})
WIDE = Schema.of(
    {
        "columns": {
            "who": {"role": "customer", "optional": True},
            "bill": {"role": "invoice"},
            "what": {"role": "item", "optional": True},
            "when": {"role": "date"},
            "at": {"role": "time"},
        }
    }
)


def bare(who: list[str], what: list[str], when: list[str]) -> History:
    return History.of({"who": who, "what": what, "when": when}, BARE)


def fitting(original: History, public: History) -> dict[str, list[str]]:
    found = consistent_customers(original, public)
    pairs = zip(found.candidates.pseudonym, found.candidates.customer, strict=True)
    answer: dict[str, list[str]] = {p: [] for p in found.pseudonyms}
    for p, c in pairs:
        answer[found.pseudonyms[int(p)]].append(found.customers[int(c)])
    return answer


def test_order_of_rows_and_of_sets_says_nothing() -> None:
    dtype = pl.List(pl.Enum(["a", "b"]))
    frame = pl.DataFrame(
        {
            "who": ["1", "1", "2", "2", "3", "3", None],
            "what": pl.Series([["a", "b"], ["a"], ["a"], ["b", "a"], ["a"], ["a"], ["a"]], dtype=dtype),
            "when": pl.Series(["2011-01-01"] * 7).str.to_date(),
        }
    )
    classes = history_classes(History(frame, BARE))
    assert classes.rows() == [("1", 0), ("2", 0), ("3", 1)]
    assert class_sizes(History(frame, BARE)) == [2, 1]


def test_the_number_of_equal_rows_counts() -> None:
    public = bare(["1", "1", "2", "2", "2"], ["a"] * 5, ["2011/1/1"] * 5)
    assert class_sizes(public) == [1, 1]


def test_a_method_makes_classes_of_k(small: History) -> None:
    release = GeneralizeByCount(k=4).protect(small, seed=1)
    assert isinstance(release.public, History)
    assert sorted(class_sizes(release.public)) == [4] * 6 + [6]
    assert class_sizes(small) == [1] * 30


def test_nothing_published() -> None:
    empty = bare(["1"], ["a"], ["2011/1/1"]).take(pl.Series([], dtype=pl.UInt32))
    assert class_sizes(empty) == []
    assert fitting(bare(["x"], ["a"], ["2011/1/1"]), empty) == {}


def test_histories_without_price_and_quantity() -> None:
    original = bare(["x", "x", "y"], ["a", "b", "a"], ["2011/1/1", "2011/1/2", "2011/1/1"])
    assert fitting(original, bare(["1", "2", "2"], ["a", "a", "b"], ["2011/1/1", "2011/1/1", "2011/1/2"])) == {
        "1": ["x", "y"],
        "2": ["x"],
    }
    # an item nobody bought
    assert fitting(original, bare(["1"], ["z"], ["2011/1/1"])) == {"1": []}


def test_every_column_that_is_published_counts() -> None:
    rows: dict[str, Any] = {
        "who": ["x", "y", "z", None],
        "bill": ["1", "2", "1", "1"],
        "what": ["a", "a", None, "a"],
        "when": ["2011/1/1"] * 4,
        "at": ["10:00", "10:00", "10:00", "10:00"],
    }
    original = History.of(rows, WIDE)
    said = original.frame[:2].with_columns(who=pl.Series(["7", "8"]))
    assert fitting(original, History(said, WIDE)) == {"7": ["x"], "8": ["y"]}
    no_bill = said.with_columns(bill=pl.lit(None, dtype=pl.String))
    assert fitting(original, History(no_bill, WIDE)) == {"7": ["x", "y"], "8": ["x", "y"]}
    nothing = no_bill.with_columns(what=pl.lit(None, dtype=pl.String))
    assert fitting(original, History(nothing, WIDE))["7"] == ["x", "y", "z"]


def test_everybody_fits_their_own_pseudonym(small: History) -> None:
    for release in (Pseudonymize().protect(small, seed=2), GeneralizeByCount(k=3).protect(small, seed=2)):
        assert isinstance(release.public, History)
        found = fitting(small, release.public)
        for pseudonym, customer in release.secret.pseudonyms.rows():
            assert customer in found[pseudonym]


def test_equal_histories_are_laid_out_once(small: History) -> None:
    release = GeneralizeByCount(k=3).protect(small, seed=2)
    assert isinstance(release.public, History)
    sides = comparison_arrays(small, release.public)
    assert len(sides.public.counts) == 10
    assert len(sides.history) == len(sides.pseudonyms) == 30


def test_a_generalised_original_is_refused(small: History) -> None:
    public = GeneralizeByCount(k=2).protect(small, seed=1).public
    assert isinstance(public, History)
    with pytest.raises(SchemaError, match="already generalised"):
        comparison_arrays(public, public)


def test_a_release_without_items_is_refused() -> None:
    original = bare(["x"], ["a"], ["2011/1/1"])
    other = Schema.of({"columns": {"who": {"role": "customer"}, "thing": {"role": "item"}, "when": {"role": "date"}}})
    public = History.of({"who": ["1"], "thing": ["a"], "when": ["2011/1/1"]}, other)
    with pytest.raises(SchemaError, match="the release has no column 'what'"):
        comparison_arrays(original, public)
