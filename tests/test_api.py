"""Protect, attack and measure from Python, with data frames of any make."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import noren
from noren.api import as_records, draw_seed
from noren.errors import ParameterError, SchemaError, UnknownNameError
from noren.tabulations.questions import questions
from noren.tabulations.tabulation import write_tables

ROWS: dict[str, list[Any]] = {
    "customer": ["a", "a", "b", "b"],
    "date": ["2010/12/1", "2010/12/3", "2010/12/8", "2011/1/1"],
    "item": ["x", "y", "x", "z"],
    "price": [1.5, 2.0, 1.5, 0.5],
    "quantity": [2, 4, 4, 10],
}


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, dict], ids=["polars", "pandas", "columns"])
def test_frames_of_any_make(make) -> None:
    release = noren.protect(make(ROWS), "pseudonymize", schema="pwscup2018", seed=1)
    guess = noren.attack(make(ROWS), release, "unique-rows", schema="pwscup2018")
    truth = dict(release.secret.pseudonyms.iter_rows())
    assert {p: c for p, c, *_rest in guess.pairs.iter_rows()} == truth
    score = noren.measure(make(ROWS), release, "reid-rate", guesses=[guess], schema="pwscup2018")
    assert score.value == 1.0
    by_name = noren.measure(make(ROWS), release, "reid-rate", guesses={"mine": guess}, schema="pwscup2018")
    assert by_name.value == 1.0


def test_a_frame_without_a_schema_is_guessed() -> None:
    history = as_records(pl.DataFrame(ROWS))
    assert isinstance(history, noren.History)
    assert history.schema.role("date").format == "%Y/%m/%d"
    table = as_records(pl.DataFrame({"age": [30, 40], "city": ["x", "y"]}))
    assert isinstance(table, noren.Table)


def test_what_does_not_fit_is_refused() -> None:
    table = as_records(pl.DataFrame({"age": [30, 40], "city": ["x", "y"]}))
    with pytest.raises(ParameterError, match="pseudonymize works on a history, and this is a table"):
        noren.protect(table, "pseudonymize")
    history = as_records(ROWS, "pwscup2018")
    release = noren.protect(history, "pseudonymize", seed=1)
    shorter = as_records({k: v[:3] for k, v in ROWS.items()}, "pwscup2018")
    with pytest.raises(ParameterError, match="made of 4 rows, the original has 3"):
        noren.measure(shorter, release, "cell-error")
    with pytest.raises(SchemaError, match="no column 'item'"):
        as_records({k: v for k, v in ROWS.items() if k != "item"}, "pwscup2018")


def test_a_seed_nobody_gave_cannot_be_guessed() -> None:
    seeds = {draw_seed() for _ in range(100)}
    assert len(seeds) == 100
    assert max(seeds) > 2**55
    history = as_records(ROWS, "pwscup2018")
    drawn = {noren.protect(history, "pseudonymize").secret.seed for _ in range(3)}
    assert len(drawn) == 3


def test_the_secret_does_not_show_in_print() -> None:
    release = noren.protect(as_records(ROWS, "pwscup2018"), "pseudonymize", seed=98_765)
    shown = repr(release) + repr(release.secret) + str(release)
    assert "98765" not in shown
    assert "contents withheld" in repr(release.secret)
    assert release.secret.digest is not None
    assert release.secret.digest not in shown


def test_sample_has_names_and_a_master() -> None:
    history = noren.sample(customers=12, rows=100, items=30, seed=2)
    assert history.schema.name == "sample"
    assert history["description"].n_unique() > 10
    assert history.master is not None
    assert set(history.master["customer"].to_list()) == set(history.customers.to_list())


def test_check_from_python(small_csv) -> None:
    assert noren.check(small_csv, small_csv, schema="pwscup2018").valid
    with pytest.raises(ParameterError, match="nothing to check"):
        noren.check(small_csv, schema="pwscup2018")


def test_questions_are_estimated_from_a_published_folder_alone(tmp_path: Path) -> None:
    shop = noren.sample(customers=120, rows=4_000, items=50, seed=1)
    release = noren.protect(shop, "generalize-by-count", k=5, seed=1)
    totals = questions()["monthly-sales"].answer(shop)
    folder = write_tables(tmp_path / "totals", [replace(totals, name="month")])
    release.publish(tmp_path / "public", override="a test")
    loaded = noren.Release.load(tmp_path / "public")
    given: tuple[dict[str, Any], ...] = ({}, {"totals": folder})
    for options in given:
        table = loaded.estimate("monthly sales", draws=2, **options)
        assert table.frame.equals(release.estimate("monthly-sales", draws=2, **options).frame)
    assert table.frame["revenue"].to_list() == pytest.approx(totals.frame["revenue"].to_list())
    assert table.notes["covers"] == "all rows"
    with pytest.raises(UnknownNameError, match="there is no question"):
        loaded.estimate("churn")


def test_a_release_that_lacks_a_column_says_which_roles_a_question_needs() -> None:
    shop = noren.read({"who": ["a", "b"], "what": ["x", "y"]}, customer="who", item="what")
    release = noren.protect(shop, "pseudonymize", seed=1)
    with pytest.raises(ParameterError, match=r"monthly-sales needs columns with the roles date, .*; ask another"):
        release.estimate("monthly sales")
