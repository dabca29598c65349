"""Every file of the zoo is read rightly and comes through, or is refused with one line that says what to do.

Here every file is read, and some go through one method and the studio; ``make zoo`` brings all through everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from tests.zoo.animal import Animal
from tests.zoo.outcome import CommandResult, Outcome, judged
from tests.zoo.steps import CHEAP, STEPS, Visit, leaked
from tests.zoo.tour import faults, markdown
from tests.zoo.window import Window
from tests.zoo.zoo import ZOO

TO_THE_END = (
    "supermarket-baskets",
    "order-totals",
    "restaurant-bills",
    "german",
    "japanese-eras",
    "excel-second-sheet",
    "parquet-categories",
    "blank-date",
    "one-customer",
    "movie-ratings",
    "patient-visits",
    "repeated-ids",
    "one-row",
)
"""Those that differ most: they go all the way."""
FAST = ("supermarket-baskets", "japanese-eras", "repeated-ids", "one-row")
"""Of these, the ones that do so in the fast tier: a plain history, one with a question, a table, and one refused."""

all_the_way = pytest.mark.parametrize(
    "animal",
    [
        pytest.param(one, id=one.name, marks=() if one.name in FAST else pytest.mark.slow)
        for one in ZOO
        if one.name in TO_THE_END
    ],
)


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Window]:
    made = Window(tmp_path_factory.mktemp("zoo") / "studio")
    yield made
    made.studio.close()


@pytest.mark.parametrize("animal", ZOO, ids=[one.name for one in ZOO])
def test_a_file_is_read_rightly(animal: Animal, tmp_path: Path) -> None:
    assert faults(animal.name, [("", Visit(animal, tmp_path / "way").guess())]) == []


@all_the_way
def test_a_file_comes_through(animal: Animal, tmp_path: Path) -> None:
    visit = Visit(animal, tmp_path / "way")
    visit.guess()
    assert faults(animal.name, [("", outcome) for outcome in visit.way(CHEAP[animal.reading.kind])]) == []


@pytest.mark.slow
@all_the_way
def test_a_file_comes_through_the_studio(animal: Animal, window: Window, tmp_path: Path) -> None:
    visit = Visit(animal, tmp_path / "way")
    visit.guess()
    assert faults(animal.name, [("", window.way(visit, tmp_path / "carried"))]) == []


def test_files_are_the_same_every_time(tmp_path: Path) -> None:
    once, again = tmp_path / "once", tmp_path / "again"
    once.mkdir()
    again.mkdir()
    assert [one.name for one in ZOO if one.write(once).read_bytes() != one.write(again).read_bytes()] == []


def test_there_are_enough_of_every_family() -> None:
    families = [one.family for one in ZOO]
    assert len(ZOO) >= 44
    assert len({one.name for one in ZOO}) == len(ZOO)
    assert {family: families.count(family) for family in set(families)} == {
        "shops": 17,
        "countries": 12,
        "containers": 12,
        "holes": 5,
        "few": 4,
        "events": 6,
        "people": 12,
    }
    assert set(FAST) < set(TO_THE_END) <= {one.name for one in ZOO}


# --- the judge is judged ---------------------------------------------------------------------------------------------


def test_a_wrong_reading_is_told(tmp_path: Path) -> None:
    right = next(one for one in ZOO if one.name == "heavy-customer")
    columns = dict(right.reading.columns)
    for change, detail in (
        ({"rows": 299}, "300 rows in place of 299"),
        ({"people": 31}, "30 people in place of 31"),
        ({"columns": columns | {"price": "other"}}, "price taken for price, and is other"),
        ({"columns": columns | {"date": "date text"}}, "date read as date, and is text"),
        ({"cells": ((1, "price", 1.249),)}, "row 1, price: 1249.0 in place of 1.249"),
        ({"kind": "table"}, "taken for a history, and is a table"),
    ):
        wrong = Animal(**{**vars(right), "reading": type(right.reading)(**{**vars(right.reading), **change})})
        outcome = Visit(wrong, tmp_path / detail).guess()
        assert (outcome.verdict, outcome.detail) == ("WRONG", detail)


def test_a_question_is_needed_or_needless(tmp_path: Path) -> None:
    clear = next(one for one in ZOO if one.name == "heavy-customer")
    needed = Animal(**{**vars(clear), "asks": frozenset({"kind"})})
    assert Visit(needed, tmp_path / "a").guess().detail == "nobody asked about kind"
    either = next(one for one in ZOO if one.name == "day-or-month")
    needless = Animal(**{**vars(either), "asks": frozenset()})
    assert Visit(needless, tmp_path / "b").guess().detail.startswith("asked without need: date: day first")


@pytest.mark.parametrize(
    ("code", "err", "verdict"),
    [
        (0, "", "ok"),
        (2, "T.csv: read as UTF-8\nnoren: k = 1 is out of range; use k >= 2\n", "refused"),
        (1, "noren: row 3 is empty; fill it\n", "refused"),
        (2, "noren: it does not work\n", "BROKEN"),
        (2, "noren: one; two\nnoren: three; four\n", "BROKEN"),
        (2, "", "BROKEN"),
        (70, "noren: internal error; report it\n", "BROKEN"),
        (2, "noren: k=2 does not hold; do not publish it, and report the method\n", "BROKEN"),
        (2, "Traceback (most recent call last):\nnoren: row 3 is empty; fill it\n", "BROKEN"),
    ],
)
def test_what_counts_as_refused(code: int, err: str, verdict: str) -> None:
    assert judged("protect", CommandResult(code, "", err)).verdict == verdict


def test_a_name_that_was_published_is_found(tmp_path: Path) -> None:
    rows = pl.DataFrame({"who": ["10", "11"], "in": [["C10037"], ["x"]], "at": [{"lo": "Ann B", "hi": "z"}] * 2})
    rows.write_parquet(tmp_path / "public.parquet")
    (tmp_path / "statement.json").write_text('{"method": "C10074"}', encoding="utf-8")
    files = sorted(tmp_path.iterdir())
    assert leaked({"C10037"}, files) == "C10037"
    assert leaked({"C10074"}, files) == "C10074"
    assert leaked({"Ann B"}, files) == "Ann B"
    assert leaked({"C1003", "Bob C"}, files) == ""


def test_the_table_counts() -> None:
    stopped = Outcome("protect", "refused", "/tmp/a/file/one.csv: k = 2 needs at least 2 rows; use a smaller k")
    nothing = tuple(Outcome(step, "–") for step in STEPS[1:])
    whole = tuple(Outcome(step, "ok") for step in STEPS)
    first = ("", Outcome("guess", "asked"))
    outcomes = [first, *(("swap", o) for o in whole), *(("thin", o) for o in (stopped, *nothing))]
    broken = [("", Outcome("guess", "WRONG", "3 rows in place of 4")), ("", Outcome("studio", "BROKEN", "gone"))]
    page = markdown({"one": outcomes, "two": broken})
    assert "| one | asked | 1 ok, 1 refused | ok | ok | ok | ok | – |" in page
    assert "| two | WRONG | – | – | – | – | – | BROKEN |" in page
    assert "2 files, 9 steps: 5 ok, 1 asked, 1 refused, 1 WRONG, 1 BROKEN." in page
    assert "- two, guess: WRONG: 3 rows in place of 4\n- two, studio: BROKEN: gone\n" in page
    assert "- protect (thin), 1 file: one.csv: k = 2 needs at least 2 rows; use a smaller k" in page
