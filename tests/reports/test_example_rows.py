"""Example rows pair each original row with its own released one, and say what became of every cell."""

from dataclasses import replace

import polars as pl

from noren.data.frames import History
from noren.data.release import Release, Secret, Statement
from noren.data.schema import Schema
from noren.judgement.outcome import Outcome
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.methods.pseudonymize import Pseudonymize
from noren.reports.run_view import CellView, example_columns, example_rows

SCHEMA = Schema.preset("pwscup2018")
FOUR = History.of(
    {
        "customer": ["ann", "ann", "bob", "bob"],
        "date": ["2010/12/1", "2010/12/2", "2010/12/3", "2010/12/3"],
        "item": ["a", "b", "c", "b"],
        "price": [9.0, 2.0, 1.0, 7.0],
        "quantity": [1, 1, 5, 1],
    },
    SCHEMA,
)


def test_generalised_cells_are_marked() -> None:
    pairs = example_rows(FOUR, GeneralizeByCount(k=2).protect(FOUR, seed=1))
    assert [pair.number for pair in pairs] == [1, 2, 3, 4]
    first = pairs[0]
    assert [cell.text for cell in first.original] == ["–", "2010/12/1", "a", "9", "1"]
    assert first.released is not None
    assert list(first.released)[1:] == [
        CellView("[2010/12/1;2010/12/3]", change="generalised"),
        CellView("{a;b}", change="generalised"),
        CellView("[7;9]", change="generalised"),
        CellView("1"),
    ]
    assert first.released[0].change == "pseudonym"


def test_deleted_suppressed_and_changed() -> None:
    frame = pl.DataFrame(
        {
            "customer": ["x", None, "y", "y"],
            "date": FOUR.frame["date"],
            "item": FOUR.frame["item"],
            "price": [9.0, None, None, 7.5],
            "quantity": [1, None, 5, 1],
        }
    ).with_columns(pl.when(pl.col("customer").is_not_null()).then(pl.col("date", "item")))
    pairs = example_rows(FOUR, Release.of_aligned(FOUR, History(frame, SCHEMA), Statement("hand")))
    assert pairs[1].released is None
    changes = [[cell.change for cell in pair.released or ()] for pair in pairs]
    assert changes == [
        ["pseudonym", "", "", "", ""],
        [],
        ["pseudonym", "", "", "suppressed", ""],
        ["pseudonym", "", "", "changed", ""],
    ]
    assert [cell.text for cell in pairs[2].released or ()][3] == "*"


def test_rows_are_spread_over_the_original_and_pair_rightly(history: History, outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        pairs = example_rows(history, outcome.release)
        assert [pair.number for pair in pairs] == [1, 129, 258, 386, 515, 643, 772, 900]
        aligned = outcome.release.aligned().texts()
        for pair in pairs:
            said = aligned.row(pair.number - 1)
            assert [c.text for c in pair.original] == ["–", *history.texts().row(pair.number - 1)[1:]]
            assert (pair.released is None) == (said[0] == "*")
            if pair.released is not None:
                assert [c.whole or c.text for c in pair.released] == list(said)


def test_without_the_secret_there_are_no_pairs(history: History) -> None:
    made = Pseudonymize().protect(history, seed=1)
    assert len(example_rows(history, made)) == 8
    gone = replace(made, secret=Secret(made.secret.pseudonyms, made.secret.origin.clear(), 0))
    assert example_rows(history, gone) == []
    assert example_rows(FOUR, made) == []


def test_long_texts_are_cut_and_kept_whole_beside() -> None:
    long = FOUR.frame.with_columns(item=pl.lit("x" * 100))
    pairs = example_rows(History(long, SCHEMA), Pseudonymize().protect(History(long, SCHEMA), seed=1))
    assert pairs[0].original[2] == CellView("x" * 59 + "…", "x" * 100)


def test_the_columns_that_count_come_first() -> None:
    schema = Schema.preset("sample")
    wide = History.of(
        {name: ["1"] for name in schema.names if name not in ("date", "time")}
        | {"date": ["2010/12/1"], "time": ["10:00"]},
        schema,
    )
    assert example_columns(wide)[:6] == ["customer", "date", "item", "price", "quantity", "invoice"]
