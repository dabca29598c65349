"""What rows are and who bought: asked before anything is protected or judged, answered by a flag."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

ASKED = "8 rows repeat a value of patient_id (4 values in 12 rows): is each row a purchase?"
CURE = "answer with --rows purchases or --rows people or --customer COLUMN, or give a schema (--schema)"


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    pl.DataFrame(
        {
            "patient_id": [f"p{i // 3}" for i in range(12)],
            "sex": ["f", "m"] * 6,
            "visit_date": [f"2024-01-{i + 1:02}" for i in range(12)],
        }
    ).write_csv(path)
    return path


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.csv"
    pl.DataFrame(
        {
            "household_id": [i // 6 for i in range(12)],
            "client no": [i // 2 for i in range(12)],
            "date": [f"2024-01-{i + 1:02}" for i in range(12)],
            "item": [f"x{i % 5}" for i in range(12)],
        }
    ).write_csv(path)
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("protect", "{file}", "--method", "mondrian", "--k", 2, "--out", "{out}"),
        ("protect", "{file}", "--method", "retention", "--k", 2, "--stream", "--out", "{out}"),
        ("protect", "{file}", "--method", "mondrian", "--k", 2, "--out", "{out}", "--json"),
        ("explore", "{file}", "--methods", "mondrian", "--k", 2),
        ("attack", "{file}", "{out}"),
        ("measure", "{file}", "{out}"),
        ("report", "{file}", "{out}", "--out", "{out}.html"),
        ("correlate", "{file}", "{out}", "{out}2", "{out}3"),
        ("draw", "{file}", "{out}", "--out", "{out}.parquet"),
        ("categorize", "{file}", "--out", "{out}.toml"),
    ],
)
def test_no_command_judges_before_it_is_answered(
    noren, visits: Path, tmp_path: Path, words: tuple[object, ...]
) -> None:
    filled = [str(word).format(file=visits, out=tmp_path / "r") for word in words]
    answer = noren(*filled)
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.splitlines() == [f"noren: {visits}: {ASKED}; {CURE}"]
    assert not (tmp_path / "r").exists()


def test_rows_that_are_purchases_are_protected_as_such(noren, visits: Path, tmp_path: Path) -> None:
    answer = noren("protect", visits, "--rows", "purchases", "--method", "pseudonymize", "--out", tmp_path / "r")
    assert answer.code == 0, answer.err
    assert f"next: noren measure {visits} {tmp_path / 'r'} --rows purchases --measures all" in answer.err
    public = pl.read_parquet(tmp_path / "r" / "public.parquet")
    assert public["patient_id"].n_unique() == 4
    judged = noren("measure", visits, tmp_path / "r", "--rows", "purchases", "--measures", "cell-error", "--json")
    assert judged.json["results"]["cell-error"]["value"] == 0


def test_rows_that_are_said_to_be_people_and_are_not_stop(noren, visits: Path, tmp_path: Path) -> None:
    answer = noren("protect", visits, "--rows", "people", "--method", "mondrian", "--k", 2, "--out", tmp_path / "r")
    assert answer.code == 2
    assert answer.err.splitlines()[-1] == (
        "noren: patient_id identifies people, and its 4 values occur in 12 rows (3 each),"
        " so k would count rows, not people;"
        ' declare rows as purchases (kind = "history", --rows purchases), or keep one row per person'
    )
    assert not (tmp_path / "r").exists()


def test_which_of_two_is_the_customer_is_answered_by_a_flag(noren, shop: Path, tmp_path: Path) -> None:
    words = ("protect", shop, "--method", "pseudonymize", "--out", tmp_path / "r")
    answer = noren(*words)
    assert answer.code == 2
    assert answer.err.splitlines() == [
        f"noren: {shop}: client no and household_id could each be the customer (6 and 2 values in 12 rows):"
        " which one is it?; answer with --customer 'client no' or --customer household_id or --rows people,"
        " or give a schema (--schema)"
    ]
    answer = noren(*words, "--customer", "household_id")
    assert answer.code == 0, answer.err
    assert pl.read_parquet(tmp_path / "r" / "public.parquet")["household_id"].n_unique() == 2
    answer = noren(*words, "--customer", "household", "--force")
    assert answer.code == 2
    assert "the data has no column 'household' (did you mean household_id?)" in answer.err


def test_a_schema_leaves_nothing_to_say(noren, shop: Path, tmp_path: Path) -> None:
    words = ("protect", shop, "--schema", "sample", "--method", "retention", "--k", 2, "--out", tmp_path / "r")
    for more in ((), ("--stream",)):
        for flag, value in (("--rows", "people"), ("--customer", "item")):
            answer = noren(*words, flag, value, *more)
            assert answer.code == 2
            assert f"{flag} and --schema exclude each other; omit one of them" in answer.err


def test_guessing_asks_and_goes_on(noren, visits: Path, tmp_path: Path) -> None:
    answer = noren("schema", "guess", visits, "--out", tmp_path / "visits.toml")
    assert answer.code == 0
    assert f"{ASKED} (--rows purchases or --rows people or --customer COLUMN)" in answer.err.splitlines()
    assert 'kind = "history"' in (tmp_path / "visits.toml").read_text()
    assert "guessed = true" in (tmp_path / "visits.toml").read_text()
    told = json.loads(noren("schema", "guess", visits, "--json").out)
    [question] = told["questions"]
    assert (question["about"], question["chosen"], question["stops"]) == ("kind", "history", True)
    assert [answer["value"] for answer in question["answers"]] == ["history", "table"]
    people = noren("schema", "guess", visits, "--rows", "people", "--json").json
    assert (people["schema"]["kind"], people["questions"]) == ("table", [])
    assert noren("convert", visits, tmp_path / "visits.parquet").code == 0
