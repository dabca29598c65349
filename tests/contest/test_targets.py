"""What attackers are given: the team's own rows, in an order and under names that say nothing."""

import csv
import io
from collections import Counter
from pathlib import Path

import pytest
from tests.contest.judging_cases import LABEL, METHODS, SALT, Case, called_otherwise, made

from noren.contest.judging.prepared import make_target, prepare, target_names
from noren.data.schema import Role

FORMATS = sorted(METHODS)


def rows_of(content: bytes | str, case: Case) -> list[tuple[str, ...]]:
    text = content if isinstance(content, str) else content.decode()
    rows = [tuple(row) for row in csv.reader(io.StringIO(text))]
    return rows if case.data.schema.official else rows[1:]


def live(case: Case) -> list[tuple[str, ...]]:
    gone = {"DEL", "*"}
    rows = rows_of(case.submitted.read_text(), case)
    return [row for row in rows if not (row[0] in gone and set(row[1:]) <= {"", "*"})]


@pytest.mark.parametrize("name", FORMATS)
def test_whoever_has_the_salt_finds_the_teams_own_rows_again(name: str, tmp_path: Path) -> None:
    case = made(name, tmp_path)
    target = rows_of(make_target(case.rulebook, case.original, case.submitted, SALT, LABEL), case)
    prepared = prepare(case.rulebook, case.original, case.submitted)
    if name != "table":
        names = target_names(prepared, SALT, LABEL)
        own = dict(zip(names["target"], names["own"], strict=True))
        target = [(own[row[0]], *row[1:]) for row in target]
    assert Counter(target) == Counter(live(case))
    assert target != live(case)


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_salt_gives_the_same_bytes_and_another_gives_others(name: str, tmp_path: Path) -> None:
    case = made(name, tmp_path)
    files = case.rulebook, case.original, case.submitted
    assert make_target(*files, SALT, LABEL) == make_target(*files, SALT, LABEL)
    assert make_target(*files, SALT, LABEL) != make_target(*files, bytes(32), LABEL)
    assert make_target(*files, SALT, LABEL) != make_target(*files, SALT, f"{LABEL}x")


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "table"])
def test_how_pseudonyms_are_called_leaves_no_trace(name: str, tmp_path: Path) -> None:
    """Two files that differ in the names of pseudonyms alone give one target: names cannot carry a message."""
    case = made(name, tmp_path)
    others = called_otherwise(case)
    assert others.read_bytes() != case.submitted.read_bytes()
    one, other = (make_target(case.rulebook, case.original, file, SALT, LABEL) for file in (case.submitted, others))
    assert one == other


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "table"])
def test_no_name_of_a_target_is_a_customers(name: str, tmp_path: Path) -> None:
    case = made(name, tmp_path)
    prepared = prepare(case.rulebook, case.original, case.submitted)
    names = target_names(prepared, SALT, LABEL)["target"]
    assert names.n_unique() == len(names) == len(prepared.names)
    assert not set(names) & set(case.data[Role.CUSTOMER])


def test_names_are_drawn_anew_for_each_release(tmp_path: Path) -> None:
    prepared = prepare(*(lambda case: (case.rulebook, case.original, case.submitted))(made("pwscup2018", tmp_path)))
    assert not target_names(prepared, SALT, "a").equals(target_names(prepared, SALT, "b"))


def test_a_release_without_rows_gives_an_empty_target(tmp_path: Path) -> None:
    case = made("pwscup2018", tmp_path)
    nothing = case.with_lines(["*,*,*,*,*"] * len(case.data))
    assert make_target(case.rulebook, case.original, nothing, SALT, LABEL) == b""
