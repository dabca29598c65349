"""Odd words, files and devices are answered in one line: no traceback, and never the exit code of a bug."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import noren as package
from noren.cli.parts.commands import Output, number, situation
from noren.data.reading import checked_seed
from noren.errors import NorenError, ParameterError
from noren.measures import measures
from noren.protocols import Score

SCHEMA = ("--schema", "pwscup2018")
HUGE = "9" * 40
PROTECT = ("--method", "pseudonymize", "--out", "o")

ODD: list[tuple[object, ...]] = [
    ("protect", "empty", *SCHEMA, *PROTECT),
    ("protect", "binary.csv", *PROTECT),
    ("protect", "pipe", *SCHEMA, *PROTECT),
    ("protect", "/dev/null", *SCHEMA, *PROTECT),
    ("protect", "T.csv", "--schema", "folder", *PROTECT),
    ("protect", "T.csv", "--schema", "binary.csv", *PROTECT),
    ("protect", "T.csv", "--schema", "", *PROTECT),
    ("protect", "T.csv", *SCHEMA, "--chain", "folder", "--out", "o"),
    ("protect", "T.csv", *SCHEMA, "--chain", "binary.csv", "--out", "o"),
    ("protect", "T.csv", *SCHEMA, *PROTECT, "--seed", HUGE),
    ("protect", "T.csv", *SCHEMA, *PROTECT, "--seed", "1.5"),
    ("protect", "T.csv", *SCHEMA, "--method", "pseudonymize", "--out", ""),
    ("protect", "T.csv", *SCHEMA, "--method", "pseudonymize", "--out", "/dev/null/x"),
    ("protect", "T.csv", *SCHEMA, "--method", "thin", "--share", "nan", "--out", "o"),
    ("protect", "T.csv", *SCHEMA, "--method", "generalize-by-count", "--k", HUGE, "--out", "o"),
    ("attack", "T.csv", "folder", *SCHEMA),
    ("attack", "T.csv", "release", *SCHEMA, "--attacks", "s1", "--knowledge", "nan"),
    ("attack", "T.csv", "release", *SCHEMA, "--attacks", "s1", "--seed", HUGE),
    ("attack", "T.csv", "release", *SCHEMA, "--attacks", "s1", "--known", "folder"),
    ("measure", "T.csv", "release", *SCHEMA, "--guess", "folder"),
    ("measure", "T.csv", "release", *SCHEMA, "--guess", "binary.csv"),
    ("measure", "T.csv", "empty", *SCHEMA),
    ("explore", "T.csv", *SCHEMA, "--methods", "pseudonymize", "--cache", "T.csv"),
    ("explore", "T.csv", *SCHEMA, "--methods", "thin", "--seeds", HUGE, "--cache", "cache"),
    ("explore", "T.csv", *SCHEMA, "--methods", "thin", "--share", "nan", "--cache", "cache"),
    ("explore", "--sweep", "binary.csv"),
    ("report", "T.csv", "release", *SCHEMA, "--out", "folder"),
    ("draw", "T.csv", "release", *SCHEMA, "--out", "folder"),
    ("categorize", "T.csv", *SCHEMA, "--names", "folder", "--out", "c.csv"),
    ("check", "T.csv", "folder"),
    ("publish", "folder", "--out", "o"),
    ("sample", "--rows", "-1", "--out", "s.csv"),
    ("sample", "--seed", HUGE, "--out", "s.csv"),
    ("convert", "folder", "s.csv"),
    ("plan", "--domains", "nan", "--rows", 5),
    ("plan", "--domains", "5,2", "--rho", "nan"),
    ("reconstruct", "release", "--out", "x.csv"),
    ("reproduce", "S9"),
    ("threshold", "--n", 5, "--p", "1/0"),
    ("chart", "histogram", "release", "--attribute", "x", "--out", "x.svg"),
    ("ledger", "init", "T.csv", *SCHEMA, "--chain", "empty"),
    ("ledger", "show", "folder"),
    ("schema", "guess", "folder"),
    ("schema", "show", "binary.csv"),
    ("correlate", "T.csv", "release", *SCHEMA, "--alpha", "nan"),
    ("studio", "--host", "999.999.1.1", "--no-open"),
]


@pytest.mark.parametrize("words", ODD, ids=lambda words: " ".join(map(str, words))[:70])
def test_odd_words_are_one_line(noren, small, small_csv, tmp_path, monkeypatch, words) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").touch()
    (tmp_path / "binary.csv").write_bytes(bytes(range(256)) * 20)
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    package.protect(small, "pseudonymize", seed=1).save(tmp_path / "release")
    answer = noren(*words)
    assert answer.code == 2, answer
    assert answer.err.strip().splitlines()[-1]
    assert "internal error" not in answer.err
    assert "Traceback" not in answer.err
    assert small_csv.stat().st_size > 0


# --- full devices, trouble of the machine -----------------------------------------------------------------------------


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
@pytest.mark.parametrize(
    "words",
    [["--version"], ["threshold", "--n", "9", "--json"], pytest.param(["schema", "list"], marks=pytest.mark.slow)],
)
def test_a_full_output_is_said(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "noren", *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    said = "noren: the result could not be printed (No space left on device); redirect it elsewhere\n"
    assert done.stderr == said


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_a_full_error_output_loses_nothing(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        words = [sys.executable, "-m", "noren", "threshold", "--n", "9"]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=full, text=True, check=False)
        missing = [sys.executable, "-m", "noren", "schema", "show", str(tmp_path / "absent.toml")]
        failed = subprocess.run(missing, stdout=subprocess.PIPE, stderr=full, text=True, check=False)
    assert (done.returncode, "of 9 must be right" in done.stdout) == (0, True)
    assert failed.returncode == 2


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(5, "Input/output error", "/mnt/x"), "/mnt/x: Input/output error; check the path, the disk and"),
        (MemoryError(), "not enough memory; use fewer rows or a larger machine"),
    ],
)
def test_trouble_of_the_machine_is_no_bug(noren, monkeypatch, error, said) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("noren.kernels.judging.threshold.threshold", broken)
    answer = noren("threshold", "--n", 9)
    assert answer.code == 2
    assert said in answer.err


# --- numbers that are none --------------------------------------------------------------------------------------------


def test_json_has_no_number_that_is_none(capsys, noren, small, small_csv, tmp_path, monkeypatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(situation, "json", True)
        Output({"a": float("nan"), "b": [1.5, float("inf")], "c": ("x", None, True)}).show()
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [1.5, None], "c": ["x", None, True]}
    assert (number(float("nan")), number(float("inf")), number(2.0)) == ("–", "–", "2")
    package.protect(small, "pseudonymize", seed=1).save(tmp_path / "release")
    monkeypatch.setattr(measures["rfm"], "measure", lambda *_, **__: Score(float("nan"), {"x": float("inf")}))
    words = ("measure", small_csv, tmp_path / "release", *SCHEMA, "--measures", "rfm")
    answer = noren(*words, "--json")
    assert (answer.code, answer.json["results"]["rfm"]["value"]) == (0, None)
    assert noren(*words).code == 0


@pytest.mark.parametrize("seed", [1.5, True, "3", b"1", [1], 2**64, float("nan"), Decimal(3), -1])
def test_what_is_no_seed_is_said_in_one_line(small, seed: Any) -> None:
    release = package.protect(small, "pseudonymize", seed=1)
    for work in (
        lambda: package.protect(small, "pseudonymize", seed=seed),
        lambda: package.attack(small, release, "s1", seed=seed),
        lambda: package.sample(customers=5, rows=50, items=9, seed=seed),
        lambda: package.explore(small, "pseudonymize", seeds=[seed]),
    ):
        with pytest.raises(ParameterError) as caught:
            work()
        assert str(caught.value).startswith("seed = ")
        assert isinstance(caught.value, NorenError)


def test_whole_numbers_of_any_make_are_seeds(small) -> None:
    assert [checked_seed(seed) for seed in (0, np.int64(7), np.uint64(2**63), 2**64 - 1)] == [0, 7, 2**63, 2**64 - 1]
    first, second = (package.protect(small, "pseudonymize", seed=seed) for seed in (7, np.int32(7)))  # type: ignore[arg-type]
    assert first.public.frame.equals(second.public.frame)
    assert type(second.secret.seed) is int


# --- F of 2017 --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["pseudonymize", "monthly-pseudonyms"])
@pytest.mark.parametrize("master", [True, False])
def test_the_truth_of_2017_is_a_guess_that_its_checker_takes(noren, tmp_path, method, master) -> None:
    words = ("sample", "--schema", "pwscup2017", "--rows", 400, "--customers", 10, "--master", tmp_path / "M.csv")
    assert noren(*words, "--out", tmp_path / "T.csv").code == 0
    named = ("--master", tmp_path / "M.csv") if master else ()
    words = ("protect", tmp_path / "T.csv", "--schema", "pwscup2017", *named, "--method", method, "--official")
    assert noren(*words, "--seed", 1, "--out", tmp_path / "r").code == 0
    truth = tmp_path / "r/secret/F.csv"
    check = ("check", tmp_path / "T.csv", tmp_path / "r/public.csv", "--schema", "pwscup2017", "--guess", truth)
    answer = noren(*check)
    assert (answer.code, answer.out) == (0, "F.csv is valid\n")
    lines = truth.read_text().splitlines()
    assert (len(lines), {len(line.split(",")) for line in lines}) == (10, {13})
    measured = ("measure", tmp_path / "T.csv", tmp_path / "r", "--schema", "pwscup2017", "--guess", truth)
    assert (
        noren(*measured, "--measures", "mm", "--json").json["results"]["mm"]["value"] == 1.0
    )  # the truth is all right
