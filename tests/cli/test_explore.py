"""``noren explore``: many settings at once, kept as they are done, and one of them recommended."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Answer, Command

from noren import api
from noren.cli.explore import cells, forecast_sentence, watching, window
from noren.data.contest_files import write_rows
from noren.data.reading import write
from noren.data.samples.people import sample_people
from noren.judgement.rule import get_rule
from noren.sweeps.sweep import PointProgress, SweepForecast

RULE = ("--attacks", "jaccard", "--measures", "rfm", "--seeds", "1", "--workers", "1")


@pytest.fixture
def t_csv(tmp_path: Path) -> Path:
    history = api.sample(customers=24, rows=240, items=40, seed=2, schema="pwscup2018")
    write_rows(history, tmp_path / "T.csv")
    return tmp_path / "T.csv"


@pytest.fixture
def explore(noren: Command, t_csv: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run ``noren explore`` on the small file, with a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(t_csv.parent / "cache"))

    def call(*words: object) -> Answer:
        return noren("explore", t_csv, "--schema", "pwscup2018", *words)

    return call


def test_a_sweep_prints_a_table_and_the_answer_and_writes_a_study(explore: Any, t_csv: Path) -> None:
    out = t_csv.parent / "study"
    answer = explore("--methods", "generalize-by-count,thin", "--k", "2,3,5,99", "--share", "0.3", *RULE, "--out", out)
    assert answer.code == 0, answer.err
    assert "generalize-by-count, k = 5" in answer.out
    assert "generalize-by-count, k = 99 was refused: k = 99 needs at least 99 customers, but there are 24" in answer.out
    assert "Recommended: generalize-by-count, k = 5. It is the only setting that meets your rule" in answer.out
    assert "Proved: at least 5 customers share each released history" in answer.out
    assert "Rule partner (a partner bound by a contract)" in answer.out
    assert f"written to {out}" in answer.out
    assert "Releases: 5; work to do: 20; cached: 0; processes: 1" in answer.err
    assert "[1/5] generalize-by-count, k = 2: done, utility" in answer.err
    assert sorted(path.name for path in out.iterdir()) == [
        "frontier.svg", "report.html", "sweep.toml", "table.csv", "table.json"
    ]  # fmt: skip
    again = explore("--methods", "generalize-by-count,thin", "--k", "2,3,5,99", "--share", "0.3", *RULE, "--out", out)
    assert again.out == answer.out
    assert "Releases: 5; work to do: 0; cached: 20; processes: 1" in again.err
    assert "0 units of work computed, 20 from the cache." in again.err


def test_the_file_repeats_the_table_byte_for_byte(explore: Any, noren: Command, t_csv: Path) -> None:
    first, second = t_csv.parent / "a" / "study", t_csv.parent / "again"
    assert explore("--methods", "thin", "--share", "0.2,0.4", *RULE[:-2], "--seeds", "1..2", "--rule", "1/7",
                   "--workers", "1", "--out", first).code == 0  # fmt: skip
    repeated = noren("explore", "--sweep", first / "sweep.toml", "--workers", "1", "--out", second)
    assert repeated.code == 0, repeated.err
    for name in ("table.csv", "table.json", "report.html", "frontier.svg"):
        assert (first / name).read_bytes() == (second / name).read_bytes()
    asked = json.loads((second / "table.json").read_text())
    assert asked["rule"] == get_rule("1/7").as_dict()
    by_flag = noren("explore", "--sweep", first / "sweep.toml", "--rule", "public", "--workers", "1", "--json")
    assert (by_flag.json["rule"]["name"], by_flag.json["computed"]) == ("public", 0)
    changed = t_csv.parent / "U.csv"
    changed.write_text("".join(t_csv.read_text().splitlines(keepends=True)[:200]))
    other = noren("explore", changed, "--sweep", first / "sweep.toml", "--workers", "1", "--attacks", "none")
    assert other.code == 0
    assert "this sweep was made from other data" in other.err


def test_machines_get_one_object(explore: Any) -> None:
    answer = explore("--methods", "generalize-by-count", "--k", "5", *RULE, "--json")
    assert answer.err == ""
    found = answer.json
    assert found["recommended"] == ["generalize-by-count, k = 5"]
    assert (found["settings"][0]["verdict"], found["points"][0]["reason"]) == ("proved", "guarantee")
    assert (found["computed"], found["cached"], found["out"]) == (4, 0, None)
    assert found["points"][0]["scores"]["rfm"]["value"] > 0
    assert found["answer"][0].startswith(
        "Recommended: generalize-by-count, k = 5. It is the only setting that meets your rule,"
    )
    assert 'seed"' not in json.dumps(found)  # which seeds there were is not told


def test_a_table_of_people(noren: Command, tmp_path: Path) -> None:
    write(sample_people(150, 3), tmp_path / "P.csv")
    answer = noren("explore", tmp_path / "P.csv", "--schema", "people", "--methods", "mondrian", "--k", "6,10",
                   "--l", "2", "--cache", tmp_path / "cache", "--measures", "none", "--seeds", "1", "--workers", "1",
                   "--rule", "inside",
                   "--language", "en", "--out", tmp_path / "study")  # fmt: skip
    assert answer.code == 0, answer.err
    assert "Recommended: mondrian, k = 6" in answer.out
    assert "mondrian, k = 10, l = 2 is safer (proved, risk 8.3% instead of 16.7%)" in answer.out
    assert (tmp_path / "cache" / "explore").is_dir()


def test_ctrl_c_keeps_what_is_done(explore: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = api.attack, []

    def pressed(*given: Any, **named: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*given, **named)

    monkeypatch.setattr(api, "attack", pressed)
    stopped = explore("--methods", "thin", "--share", "0.2,0.4", *RULE)
    assert stopped.code == 130
    assert "interrupted; run the same command again to continue from the cached results" in stopped.err
    answer = explore("--methods", "thin", "--share", "0.2,0.4", *RULE, "--json")
    assert answer.json["cached"] >= 4
    assert answer.json["computed"] <= 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--methods", "generalise"), "did you mean generalize"),
        (("--methods", "thin", "--shar", "1"), "did you mean --share"),
        (("--methods", "thin", "--share", "7"), "share = 7 is not valid for thin"),
        (("--methods", "generalize-by-count", "--k", "9..2"), "the range 9..2 is empty or too long"),
        (("--methods", "thin", "--seeds", "x"), "--seeds x is not valid; write it like 1..3"),
        (("--methods", "thin", "--attacks", "jacard"), "did you mean jaccard"),
        (("--methods", "thin", "--rule", "3"), "3 is not a probability between 0 and 1"),
        (("--methods", "thin", "--rule", "partners"), "did you mean partner"),
        (("--methods", "thin", "--require", "0.9"), "--require"),
        (("--methods", "generalize-by-count", "--k", "99", *RULE), "none of the 1 points could be run"),
        (("--methods", "mondrian", "--k", "3", *RULE), "mondrian works on a table, and this is a history"),
        (("--sweep", "sweep.toml", "--methods", "thin"), "--sweep and --methods exclude each other"),
        (("--sweep", "nowhere.toml"), "nowhere.toml: the sweep cannot be read"),
    ],
)
def test_bad_input_is_named(explore: Any, words: tuple[str, ...], said: str) -> None:
    answer = explore(*words)
    assert answer.code == 2
    assert said in answer.err
    assert "Traceback" not in answer.err


def test_bad_places_are_named(explore: Any, noren: Command, t_csv: Path) -> None:
    assert "ORIGINAL is missing" in noren("explore", "--methods", "thin").err
    full = t_csv.parent / "full"
    full.mkdir()
    (full / "mine.txt").write_text("keep me")
    answer = explore("--methods", "thin", *RULE, "--out", full)
    assert answer.code == 2
    assert "is not empty" in answer.err
    ragged = t_csv.parent / "bad.csv"
    ragged.write_text("1,2010/12/1,a,1.0,1\n2,not a date,b,1.0,1\n")
    answer = noren("explore", ragged, "--schema", "pwscup2018", "--methods", "thin")
    assert answer.code == 2
    assert "row 2, column date, 'not a date'" in answer.err


# --- the table that fills --------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_the_table_fill(explore: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    explore("--methods", "thin", "--share", "0.2", *RULE)
    screen = Terminal()
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    lines = [
        PointProgress("thin, share = 0.2", 1, "waiting", 0, 6),
        PointProgress("thin, share = 0.4", 1, "running", 2, 6),
    ]
    with monkeypatch.context() as patched:
        patched.setattr(sys, "stderr", screen)
        with watching() as watch:
            watch.begin(SweepForecast(lines, 1, 0, 12, 2))
            watch.changed(0, PointProgress("thin, share = 0.2", 1, "running", 3, 6))
    said = screen.getvalue()
    assert "Releases: 2; work to do: 12; cached: 0; processes: 2" in said
    assert "3 / 6" in said
    assert "thin, share = 0.4" in said


def test_what_lines_say() -> None:
    assert cells(PointProgress("a", 1, "waiting", 0, 6)) == ("a", "waiting", "", "", "", "")
    assert cells(PointProgress("a", 2, "running", 2, 6))[:2] == ("a (2)", "2 / 6")
    lines = [PointProgress(str(n), 1, "waiting", 0, 6) for n in range(9)]
    assert [line.label for line in window(lines, 4)] == ["0", "1", "2", "3"]
    told = forecast_sentence(SweepForecast(lines, 1, 3, 5, 1, ["generalize", "ensemble"]))
    ahead = "Releases: 9; work to do: 5; cached: 3; processes: 1"
    assert told == f"{ahead}; slow on large data: generalize, ensemble"


def test_a_purpose_is_named_by_for(explore: Any) -> None:
    words = ("--methods", "generalize-by-count", "--k", "5,8", *RULE)
    answer = explore(*words, "--for", "top items", "--json")
    assert answer.code == 0, answer.err
    assert answer.json["purpose"] == ["top-items"]
    assert "it answers what you need best" in answer.json["answer"][0]
    answer = explore(*words, "--for", "churn")
    assert (answer.code, "there is no question 'churn'; there are monthly-sales" in answer.err) == (2, True)
