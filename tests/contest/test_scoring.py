"""Scores: those of the measures themselves, known hits, and the same bytes whoever scores."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests import pwscup2017
from tests.contest.judging_cases import LABEL, METHODS, SALT, Case, called_otherwise, made

import noren.api as api
from noren.attacks import attacks
from noren.contest.judging import prepared
from noren.contest.judging.prepared import make_target, prepare, target_names
from noren.contest.judging.scoring import score_guess, score_release
from noren.contest.receipts import permutation
from noren.contest.rulebook import Baseline, Term, preset
from noren.data.contest_files import MONTHS
from noren.data.reading import read
from noren.data.release import submission_of
from noren.judgement.evidence import Facts
from noren.judgement.judging import judge
from noren.work.hash_chain import canonical, rounded

FORMATS = sorted(METHODS)


def pairs_of(case: Case) -> list[tuple[str, ...]]:
    """Who is behind each name of the target."""
    names = target_names(prepare(case.rulebook, case.original, case.submitted), SALT, LABEL)
    called = dict(zip(names["own"], names["target"], strict=True))
    truth = case.release.secret.pseudonyms
    columns = [name for name in ("pseudonym", "customer", "period") if name in truth.columns]
    return [(called[row[0]], *row[1:]) for row in truth.select(columns).rows()]


def guessed(case: Case, pairs: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    path = case.submitted.parent / "guess.csv"
    if case.rulebook.name == "pwscup2017":
        months = {(customer, period): name for name, customer, period in pairs}
        customers = sorted(case.data.frame["customer"].unique())
        lines = [",".join([c, *(months.get((c, month), "DEL") for month in MONTHS)]) for c in customers]
    else:
        lines = [",".join(pair) for pair in pairs]
    path.write_text("".join(f"{line}\n" for line in lines))
    return score_guess(case.rulebook, case.original, case.submitted, SALT, LABEL, path)


@pytest.mark.parametrize("name", FORMATS)
def test_values_are_those_of_the_measures(name: str, tmp_path: Path) -> None:
    case = made(name, tmp_path)
    judged = score_release(case.rulebook, case.original, case.submitted)
    assert judged["valid"]
    expected = {
        key: rounded(api.measure(case.data, case.release, measure).value)
        for key, (measure, _part) in case.rulebook.of_release().items()
    }
    assert judged["values"] == expected
    facts = Facts.model_validate(judged["facts"])
    assert facts.people == (20 if name == "table" else 12)
    assert [one.attack for one in facts.tried] == list(judged["baseline"])
    assert judge(facts, case.rulebook.judged_by()).status


@pytest.mark.parametrize("name", ["pwscup2018", "pwscup2017", "pwscup2016", "custom"])
def test_the_secret_itself_is_a_guess_that_is_right(name: str, tmp_path: Path) -> None:
    case = made(name, tmp_path)
    pairs = pairs_of(case)
    judged = guessed(case, pairs)
    tried = judged["tried"]
    assert tried == {
        "attack": "guess",
        "named": len(pairs),
        "right": len(pairs),
        "customers": len({pair[1] for pair in pairs}),
        "right_at": list(range(1, len(pairs) + 1)),
    }
    released = len({pair[1] for pair in pairs})
    expected = {"pwscup2018": {"effective": 1.0}, "pwscup2017": {"emm": 1.0}}.get(
        name, {"reid-rate": rounded(released / 12)}
    )
    assert judged["values"] == expected


@pytest.mark.parametrize("name", ["pwscup2018", "pwscup2017", "pwscup2016", "custom"])
def test_a_guess_with_nobody_right(name: str, tmp_path: Path) -> None:
    case = made(name, tmp_path)
    pairs = pairs_of(case)
    customers = sorted(case.data.frame["customer"].unique())
    nobody = dict(zip(customers, [*customers[1:], customers[0]], strict=True))
    judged = guessed(case, [(pair[0], nobody[pair[1]], *pair[2:]) for pair in pairs])
    assert judged["tried"]["right"] == 0
    assert judged["values"] == dict.fromkeys(case.rulebook.of_guess(), 0.0)


def test_the_teams_own_names_are_not_known_in_a_target(tmp_path: Path) -> None:
    """F̂ may name what it likes; a name of the submitted file that is none of the target's is named wrongly."""
    case = made("pwscup2017", tmp_path)
    truth = case.release.secret.pseudonyms.select("pseudonym", "customer", "period").rows()
    judged = guessed(case, truth)
    assert judged["tried"]["named"] == len(truth)
    assert judged["tried"]["right"] == 0


def test_rows_of_a_table_are_found_by_their_place_in_the_target(tmp_path: Path) -> None:
    case = made("table", tmp_path)
    whole = pl.read_csv(case.submitted, infer_schema=False)
    target = tmp_path / "target.csv"
    target.write_bytes(make_target(case.rulebook, case.original, case.submitted, SALT, LABEL))
    live = prepare(case.rulebook, case.original, case.submitted).live
    places = live[permutation(SALT, f"{LABEL}/rows", len(live))]
    assert pl.read_csv(target, infer_schema=False).equals(whole[places])
    truth = [(str(row), str(place + 1)) for row, place in enumerate(places, 1)]
    assert guessed(case, truth)["tried"]["right"] == len(truth) == 20
    wrong = [(row, str(int(place) % 20 + 1)) for row, place in truth]
    assert guessed(case, wrong)["tried"]["right"] == 0


def test_inserted_rows_of_a_table_are_named_wrongly(tmp_path: Path) -> None:
    case = made("table", tmp_path)
    book = case.rulebook.model_copy(update={"inserted_rows": True})
    more = case.with_lines([*case.lines, *case.lines[1:3]])
    live = prepare(book, case.original, more).live
    places = live[permutation(SALT, f"{LABEL}/rows", len(live))]
    guess = tmp_path / "guess.csv"
    guess.write_text("".join(f"{row},{place % 20 + 1}\n" for row, place in enumerate(places, 1)))
    tried = score_guess(book, case.original, more, SALT, LABEL, guess)["tried"]
    assert (tried["named"], tried["right"]) == (22, 20)


def test_an_empty_guess_names_nobody(tmp_path: Path) -> None:
    judged = guessed(made("pwscup2018", tmp_path), [])
    assert judged["valid"]
    assert judged["tried"] == {"attack": "guess", "named": 0, "right": 0, "customers": 0, "right_at": []}
    assert judged["values"] == {"effective": 0.0}


def test_twelve_of_twelve_is_effective_and_six_are_not(tmp_path: Path) -> None:
    case = made("pwscup2018", tmp_path)
    pairs = pairs_of(case)
    assert len(pairs) >= 7
    assert guessed(case, pairs[:6])["values"] == {"effective": 0.0}
    assert guessed(case, pairs[:7])["values"] == {"effective": 1.0}


def test_parts_of_measures_count_where_the_rules_say_so(tmp_path: Path) -> None:
    case = made("custom", tmp_path)
    score = api.measure(case.data, case.release, "cell-error")
    part, value = next(iter(score.parts.items()))
    book = case.rulebook.model_copy(update={"terms": (Term(measure="cell-error", part=part),)})
    judged = score_release(book, case.original, case.submitted)
    assert judged["values"] == {f"cell-error.{part}": rounded(value)}


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "table"])
def test_what_pseudonyms_are_called_moves_no_score(name: str, tmp_path: Path) -> None:
    """Not even by a tie that a baseline attack decides by name."""
    case = made(name, tmp_path)
    one, other = (
        score_release(case.rulebook, case.original, file) for file in (case.submitted, called_otherwise(case))
    )
    assert canonical(one) == canonical(other)


SCRIPT = """
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from noren.work.hash_chain import canonical
from noren.contest.judging.scoring import score_guess, score_release
from noren.data.release import submission_of
from noren.contest.receipts import permutation
from noren.contest.rulebook import read_rulebook
book, folder = read_rulebook(Path(sys.argv[1])), Path(sys.argv[2])
files = book, folder / "T.csv", folder / "A.csv"
sys.stdout.buffer.write(canonical(score_release(*files)))
sys.stdout.buffer.write(canonical(score_guess(*files, bytes(range(32)), sys.argv[3], folder / "guess.csv")))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pwscup2018"])
def test_the_same_files_give_the_same_bytes_in_another_process(name: str, tmp_path: Path) -> None:
    case = made(name, tmp_path)
    book = tmp_path / "book.toml"
    book.write_text(case.rulebook.to_toml())
    guess = guessed(case, pairs_of(case)[:5])
    here = canonical(score_release(case.rulebook, case.original, case.submitted)) + canonical(guess)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, book, tmp_path, LABEL],
        capture_output=True,
        check=True,
        env={"NOREN_LANG": "ja", "PYTHONHASHSEED": "7", "POLARS_MAX_THREADS": "1", "PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout == here


@pytest.mark.parametrize("name", FORMATS)
def test_scoring_twice_gives_the_same_bytes_also_from_files_read_anew(name: str, tmp_path: Path) -> None:
    case = made(name, tmp_path)
    first = canonical(score_release(case.rulebook, case.original, case.submitted))
    for shelf in (prepared._originals, prepared._releases):
        shelf._entries.clear()
    assert canonical(score_release(case.rulebook, case.original, case.submitted)) == first
    assert json.loads(first)["valid"] is True


def test_a_baseline_attack_that_fails_is_named_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = made("pwscup2018", tmp_path)
    kind = attacks["nearest"]

    def broken(*_given: object, **_named: object) -> None:
        raise ZeroDivisionError("/home/somebody/secret")

    monkeypatch.setattr(kind, "attack", broken)
    judged = score_release(case.rulebook, case.original, case.submitted)
    assert judged["valid"]
    assert judged["values"]
    assert judged["baseline"]["nearest"]["failed"]["en"] == "nearest: internal error"
    assert set(judged["baseline"]["nearest"]["failed"]) == {"en", "ja"}
    assert "tried" in judged["baseline"]["item-candidates"]
    assert judged["facts"]["failed"] == ["nearest"]


def test_a_measure_that_cannot_judge_a_release_says_why(tmp_path: Path) -> None:
    """The rulebook wants exact values of no one, and one of its measures does."""
    case = made("custom", tmp_path)
    book = case.rulebook.model_copy(update={"terms": (Term(measure="e1"),)})
    judged = score_release(book, case.original, case.submitted)
    assert judged["valid"] is False
    assert "needs exact values" in judged["report"]["en"]["problems"][0]["rule"]


def test_the_final_data_of_2018(shared: Path, tmp_path: Path) -> None:
    original = shared / "data" / "pwscup2018_final_T.csv"
    data = read(original, "pwscup2018").data
    release = api.protect(data, "generalize-by-count", k=2, seed=1, audit=False)
    submitted = tmp_path / "A.csv"
    submitted.write_bytes(submission_of(release))
    book = preset("pwscup2018").model_copy(update={"baseline": Baseline()})
    judged = score_release(book, original, submitted)
    assert judged["values"] == {"cell-error": rounded(api.measure(data, release, "cell-error").value)}


@pytest.mark.parametrize("vector", ["noise_light"])
def test_the_judges_own_values_of_2017(vector: str, shared: Path) -> None:
    """E1 to E6 of the contest's judge system, though pseudonyms are called otherwise here."""
    files = pwscup2017.index(shared)[vector]["files"]
    data = shared / "data"
    book = preset("pwscup2017").model_copy(update={"baseline": Baseline()})
    given = data / "pwscup2017_T.csv", shared / "oracles" / files["AT"]
    judged = score_release(book, *given, master=data / "pwscup2017_M.csv")
    theirs = pwscup2017.expected(shared, vector)["E"]
    named = {"e1": "E1", "e2": "E2", "e3": "E3b", "e4": "E4", "e5": "E5", "e6": "E6"}
    assert judged["values"] == {ours: pytest.approx(theirs[name]["value"], abs=1e-9) for ours, name in named.items()}
