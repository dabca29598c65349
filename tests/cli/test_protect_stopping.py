"""Ctrl-C while a search runs: the first keeps the best so far, the second leaves with nothing."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Command

from noren.cli.parts.commands import progress_bar, stoppable_bar
from noren.kernels.sharing.grouping import GroupSearch
from noren.progress import Enough, Stoppable

Press = Callable[[int, int], None]


@pytest.fixture
def press(monkeypatch: pytest.MonkeyPatch) -> Press:
    """Press Ctrl-C so many times in the n-th round of a search, the second time once the first was heard."""

    def prepare(at: int, times: int) -> None:
        rounds: list[int] = []
        heard = threading.Event()
        real, stop = GroupSearch.round, Stoppable.stop

        def stopped(self: Stoppable) -> None:
            stop(self)
            heard.set()

        def pressed(self: GroupSearch, *given: Any) -> float:
            rounds.append(len(rounds))
            if len(rounds) == at:
                signal.raise_signal(signal.SIGINT)
                if times == 2:
                    assert heard.wait(30)
                    signal.raise_signal(signal.SIGINT)
                    threading.Event().wait(30)  # the search goes on for long, and is left
                    raise SystemExit
            return real(self, *given)

        monkeypatch.setattr(GroupSearch, "round", pressed)
        monkeypatch.setattr(Stoppable, "stop", stopped)

    return prepare


def words(small_csv: Path, out: Path) -> tuple[object, ...]:
    return (
        "protect",
        small_csv,
        "--schema",
        "pwscup2018",
        "--method",
        "generalize",
        "--k",
        3,
        "--seed",
        1,
        "--out",
        out,
    )


def test_the_first_keeps_the_best(noren: Command, press: Press, small_csv: Path, tmp_path: Path) -> None:
    press(4, 1)
    answer = noren(*words(small_csv, tmp_path / "r"))
    assert answer.code == 0
    assert "stopping with the best so far (0." in answer.err
    assert "Search stopped at" in answer.out
    notes = json.loads((tmp_path / "r/statement.json").read_text(encoding="utf-8"))["notes"]
    assert notes["stopped"] is True
    assert f"({notes['U']:.4f})" in answer.err
    assert noren("measure", small_csv, tmp_path / "r", "--schema", "pwscup2018", "--measures", "classes").code == 0


def test_the_second_leaves_nothing(noren: Command, press: Press, small_csv: Path, tmp_path: Path) -> None:
    before, files = signal.getsignal(signal.SIGINT), sorted(tmp_path.iterdir())
    press(4, 2)
    answer = noren(*words(small_csv, tmp_path / "r"))
    assert (answer.code, answer.out) == (130, "")
    assert answer.err.endswith("\nnoren: interrupted; no partial file was left\n")
    assert "best so far" not in answer.err
    assert sorted(tmp_path.iterdir()) == files
    assert signal.getsignal(signal.SIGINT) is before


def test_where_there_is_no_best_the_first_leaves(
    noren: Command, monkeypatch: pytest.MonkeyPatch, small_csv: Path, tmp_path: Path
) -> None:
    def pressed(*_given: object, **_more: object) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("noren.kernels.sharing.shared_histories.PairTable", pressed)
    answer = noren(*words(small_csv, tmp_path / "r"))
    assert answer.code == 130
    assert not (tmp_path / "r").exists()


def test_a_failure_after_the_first_is_a_failure(
    noren: Command, press: Press, monkeypatch: pytest.MonkeyPatch, small_csv: Path, tmp_path: Path
) -> None:
    def broken(*_given: object, **_more: object) -> None:
        raise RuntimeError("the disk is gone")

    monkeypatch.setattr("noren.data.release.Release.save", broken)
    press(4, 1)
    answer = noren(*words(small_csv, tmp_path / "r"))
    assert answer.code == 70
    assert "the disk is gone" in answer.err


def test_the_bar_shows_the_best(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "160")
    with progress_bar("Working") as report:
        report(0.5, "searching", 0.25)
    assert "searching, best: 0.2500" in capsys.readouterr().err


def test_a_stoppable_bar_says_what_it_keeps(capsys: pytest.CaptureFixture[str]) -> None:
    with stoppable_bar() as report:
        report(0.1, "searching", 12.0)
        signal.raise_signal(signal.SIGINT)
        report(0.2, "writing")  # the search ended by itself: nothing to stop
        with pytest.raises(Enough):
            report(0.3, "searching", 7.0)
        with pytest.raises(SystemExit):
            signal.raise_signal(signal.SIGINT)
    assert capsys.readouterr().err == "stopping with the best so far (7); Ctrl-C again aborts\n"
