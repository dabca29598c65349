"""Two processes that write at once: one waits, says so, and then does its work."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.ledger.books import LINES, MONTHS, history, ledger

from noren.data.contest_files import write_rows
from noren.errors import OutputError
from noren.ledger.entries import alone


@pytest.fixture
def original(tmp_path: Path) -> Path:
    write_rows(history(LINES), tmp_path / "T.csv")
    return tmp_path / "T.csv"


def adding(folder: Path, original: Path) -> "subprocess.Popen[str]":
    words = [sys.executable, "-m", "noren", "ledger", "add", str(folder), str(original), "--json"]
    surroundings = os.environ | {"NOREN_LANG": "en"}
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=surroundings)


def test_one_waits_for_the_other_and_says_so(tmp_path: Path, original: Path) -> None:
    book = ledger(tmp_path / "l")
    with alone(book.folder):
        other = adding(book.folder, original)
        assert other.stderr is not None
        said = other.stderr.readline()
        assert "waiting for another process that writes to" in said
        assert other.poll() is None
        assert not book.entries
    out, err = other.communicate(timeout=120)
    assert (other.returncode, "noren:" in err) == (0, False), err
    assert '"released": true' in out
    assert [entry.period for entry in book.entries] == ["2010/12"]


@pytest.mark.slow
def test_two_at_once_each_add_a_period(tmp_path: Path, original: Path) -> None:
    book = ledger(tmp_path / "l")
    both = [adding(book.folder, original) for _process in range(2)]
    answers = [process.communicate(timeout=120) for process in both]
    assert [process.returncode for process in both] == [0, 0], answers
    assert [entry.period for entry in book.entries] == MONTHS[:2]
    assert book.check() == []


def test_the_lock_is_free_again_after_an_error(tmp_path: Path) -> None:
    said: list[str] = []
    for _time in range(2):
        with pytest.raises(RuntimeError), alone(tmp_path, said.append):
            raise RuntimeError
    assert said == []


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="you may not write to"), alone(tmp_path / "nowhere"):
        pass
