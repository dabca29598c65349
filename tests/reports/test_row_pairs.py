"""Row pairs say of every cell what became of it, each original row beside its own."""

import itertools
from dataclasses import replace
from pathlib import Path

import polars as pl

from noren import api
from noren.data.formats.render import Spelling
from noren.data.frames import History, Table
from noren.data.release import Release, Secret, Statement
from noren.data.schema import Schema
from noren.judgement.outcome import Outcome
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.reports.run_view import example_rows, row_pairs

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


def changes(found: pl.DataFrame) -> list[tuple[str | None, ...]]:
    return found.select(pl.selectors.starts_with("change:").cast(pl.String)).rows()


def test_generalised_cells() -> None:
    found = row_pairs(FOUR, GeneralizeByCount(k=2).protect(FOUR, seed=1))
    assert found.columns[2::3] == [f"original:{name}" for name in SCHEMA.names]
    assert found.columns[:5] == ["row", "state", "original:customer", "released:customer", "change:customer"]
    assert found["row"].to_list() == [1, 2, 3, 4]
    assert found["original:item"].to_list() == ["a", "b", "c", "b"]
    assert found["released:item"][0] == "{a;b}"
    assert changes(found)[0] == ("pseudonym", "generalised", "generalised", "generalised", "same")


def test_deleted_suppressed_changed_and_inserted() -> None:
    frame = pl.DataFrame(
        {
            "customer": ["x", None, "y", "y"],
            "date": FOUR.frame["date"],
            "item": FOUR.frame["item"],
            "price": [9.0, None, None, 7.5],
            "quantity": [1, None, 5, 1],
        }
    ).with_columns(pl.when(pl.col("customer").is_not_null()).then(pl.col("date", "item")))
    more = History(FOUR.frame[:1].with_columns(customer=pl.lit("y")), SCHEMA)
    release = Release.of_aligned(FOUR, History(frame, SCHEMA), Statement("hand"), inserted=more)
    found = row_pairs(FOUR, release)
    assert found["row"].to_list() == [1, 2, 3, 4, None]
    assert found["state"].to_list() == ["kept", "deleted", "kept", "kept", "inserted"]
    assert changes(found) == [
        ("pseudonym", "same", "same", "same", "same"),
        (None,) * 5,
        ("pseudonym", "same", "same", "suppressed", "same"),
        ("pseudonym", "same", "same", "changed", "same"),
        (None,) * 5,
    ]
    assert found["released:price"].to_list() == ["9", None, "*", "7.5", "9"]
    assert found["original:price"].to_list() == ["9", "2", "1", "7", None]
    assert found["released:customer"].to_list() == ["x", None, "y", "y", "y"]


def test_the_same_as_the_examples(history: History, outcomes: list[Outcome]) -> None:
    for outcome in outcomes:
        found = row_pairs(history, outcome.release)
        assert found["row"].to_list() == list(range(1, 901))
        for pair in example_rows(history, outcome.release):
            row = found.row(pair.number - 1, named=True)
            names = history.schema.names
            told = [row[f"original:{name}"] for name in names]  # an example says not whose it is
            assert ["–", *told[1:]] == [c.whole or c.text for c in pair.original]
            if pair.released is None:
                assert row["state"] == "deleted"
                continue
            assert [row[f"released:{name}"] for name in names] == [c.whole or c.text for c in pair.released]
            assert [row[f"change:{name}"] for name in names] == [c.change or "same" for c in pair.released]


def test_many_rows_are_sampled_evenly_in_their_order(history: History, outcomes: list[Outcome]) -> None:
    whole = row_pairs(history, outcomes[2].release)
    some = row_pairs(history, outcomes[2].release, most=100)
    rows = some["row"].to_list()
    assert (len(rows), rows[0], rows[-1], rows) == (100, 1, 900, sorted(rows))
    assert {b - a for a, b in itertools.pairwise(rows)} == {9, 10}
    assert some.equals(whole.filter(pl.col("row").is_in(rows)))


def test_another_spelling_is_no_change() -> None:
    odd = Spelling(exceptions={"price": pl.DataFrame({"row": [0], "text": ["9.00"]})})
    found = row_pairs(replace(FOUR, spelling=odd), Release.of_aligned(FOUR, FOUR, Statement("hand")))
    assert (found["original:price"][0], found["released:price"][0], found["change:price"][0]) == ("9.00", "9", "same")


def test_without_the_secret_there_are_no_rows() -> None:
    release = Release.of_aligned(FOUR, FOUR, Statement("hand"))
    gone = replace(release, secret=Secret(release.secret.pseudonyms, release.secret.origin.clear(), 0))
    found = row_pairs(FOUR, gone)
    assert found.is_empty()
    assert found.schema == row_pairs(FOUR, release).schema


def test_hurtful_texts_are_made_harmless() -> None:
    bad = History(FOUR.frame.with_columns(item=pl.lit("\x1b[2J" + "y" * 500)), SCHEMA)
    found = row_pairs(bad, Release.of_aligned(bad, bad, Statement("hand")))
    assert found["original:item"][0] == found["released:item"][0] == "�[2J" + "y" * 195 + "…"
    assert found["change:item"][0] == "same"


# --- tables --------------------------------------------------------------------------------------------------

PEOPLE = Schema.of(
    {
        "kind": "table",
        "columns": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi", "type": "integer", "minimum": 0.0, "maximum": 99.0},
            "town": {"role": "quasi", "domain": ["Bern", "Basel", "Rom"], "optional": True},
        },
    }
)


def test_dropped_columns_pseudonyms_labels_and_missing_cells(tmp_path: Path) -> None:
    rows = {"name": list("abcd"), "age": [20, 20, 31, 31], "town": ["Bern", "Basel", "Rom", "Rom"]}
    table = Table.of(rows, PEOPLE)
    (tmp_path / "age.csv").write_text("20;20-29;*\n31;30-39;*\n")
    (tmp_path / "town.csv").write_text("Bern;CH;*\nBasel;CH;*\nRom;IT;*\n")
    found = row_pairs(table, api.protect(table, "hierarchy", k=2, hierarchies=tmp_path, seed=1))
    assert changes(found)[0] == ("dropped", "same", "generalised")
    assert (found["released:name"][0], found["released:town"][0]) == (None, "CH")
    kept = api.protect(table, "hierarchy", k=2, hierarchies=tmp_path, seed=1, identifiers="pseudonyms")
    assert changes(row_pairs(table, kept))[0][0] == "pseudonym"
    empty = Table(table.frame.with_columns(town=pl.Series(["Bern", None, None, None], dtype=pl.String)), PEOPLE)
    hidden = Table(empty.frame.with_columns(town=pl.lit(None, dtype=pl.String)), PEOPLE)
    found = row_pairs(empty, Release.of_aligned(empty, hidden, Statement("hand")))
    assert found["change:town"].to_list() == ["suppressed", "same", "same", "same"]
    assert found["released:town"].to_list() == ["*", "", "", ""]


def test_classes_of_retention() -> None:
    table = Table.of({"name": ["a"] * 60, "age": list(range(60)), "town": ["Rom"] * 60}, PEOPLE)
    release = api.protect(table, "retention", rho=0.5, seed=1, attributes=["age", "town"], classes=["age=20..60:20"])
    found = row_pairs(table, release)
    right = ["≤20" if age <= 20 else "21–40" if age <= 40 else "41–60" for age in range(60)]
    expected = ["generalised" if a == b else "changed" for a, b in zip(found["released:age"], right, strict=True)]
    assert found["change:age"].to_list() == expected
    assert set(expected) == {"generalised", "changed"}
    expected = ["same" if town == "Rom" else "changed" for town in found["released:town"]]
    assert found["change:town"].to_list() == expected
