"""What the door itself promises: help with examples, exit codes, languages, no traceback, nothing half-written."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.conftest import PATIENCE

from noren.cli import run
from noren.progress import silent

COMMANDS = [
    "protect", "attack", "measure", "report", "check", "publish", "papers", "sample", "convert", "threshold", "methods",
    "attacks", "measures", "demo", "draw", "correlate", "categorize", "schema guess", "schema show", "schema list",
    "datasets", "datasets fetch", "ledger init", "ledger add", "ledger show", "ledger check", "ledger chart",
    "plan", "plan joint", "identifiers", "population", "reconstruct", "reproduce", "chart histogram", "chart crosstab",
    "totals", "dp-counts",
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_helps_with_an_example(noren, command) -> None:
    answer = noren(*command.split(), "--help")
    assert answer.code == 0
    assert "Example: noren " + command.split()[0] in " ".join(answer.out.split())


def test_no_words_show_the_help(noren) -> None:
    answer = noren()
    assert "noren demo" in answer.out


def test_version(noren) -> None:
    from importlib.metadata import version

    assert noren("--version").out.strip() == version("noren")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["chek"], "Did you mean 'check'"),
        (["protect"], "Missing argument"),
        (["sample", "--out", "T.csv", "--rows", "many"], "--rows"),
        (["--lang", "fr", "methods"], "--lang fr is not supported"),
        (["protect", "absent.csv", "--method", "pseudonymize", "--out", "r"], "absent.csv: there is no such file"),
        (["protect", ".", "--method", "pseudonymize", "--out", "r"], "this is a folder"),
        (["protect", "absent.csv", "--method", "generalise", "--out", "r"], "did you mean generalize"),
        (["protect", "no.csv", "--method", "generalize-by-count", "--k", "1", "--out", "r"], "k = 1 is out of range"),
        (["protect", "absent.csv", "--method", "pseudonymize", "--kay", "1", "--out", "r"], "no parameter --kay"),
        (["attack", "T.csv", "absent", "--attacks", ","], "no name is given; use one of"),
        (["measure", "T.csv", "T.csv", "--measures", "cel-error"], "did you mean cell-error?"),
    ],
)
def test_wrong_words_are_one_line_and_exit_2(noren, small_csv, monkeypatch, words, said) -> None:
    monkeypatch.chdir(small_csv.parent)
    before = sorted(small_csv.parent.iterdir())
    answer = noren(*words)
    assert answer.code == 2
    assert answer.out == ""
    assert said in answer.err
    complaint = [line for line in answer.err.splitlines() if line.startswith("noren: ")]
    assert len(complaint) == 1
    assert sorted(small_csv.parent.iterdir()) == before


def test_lang_and_debug_may_stand_anywhere(noren) -> None:
    assert noren("methods", "--json", "--lang=en", "--debug").code == 0
    with pytest.raises(Exception, match="there is no such file"):
        run(["schema", "guess", "absent.csv", "--debug"])


def test_an_accident_is_one_line_without_debug(noren, monkeypatch, small_csv) -> None:
    def accident(*_words: object, **_flags: object) -> None:
        raise RuntimeError("first line\nsecond line")

    monkeypatch.setattr("noren.data.guessing.schema_guess.guess_schema", accident)
    answer = noren("schema", "guess", small_csv)
    assert answer.code == 70
    assert answer.err.count("\n") == 1
    assert "RuntimeError: first line second line" in answer.err
    with pytest.raises(RuntimeError):
        run(["schema", "guess", str(small_csv), "--debug"])


def test_an_existing_release_is_not_replaced_by_accident(noren, small_csv, tmp_path) -> None:
    words = ("protect", small_csv, "--schema", "pwscup2018", "--method", "pseudonymize", "--out", tmp_path / "r")
    assert noren(*words, "--seed", 1).code == 0
    first = (tmp_path / "r/public.parquet").read_bytes()
    assert noren(*words, "--seed", 2).code == 2
    assert (tmp_path / "r/public.parquet").read_bytes() == first
    assert noren(*words, "--seed", 2, "--force").code == 0
    assert (tmp_path / "r/public.parquet").read_bytes() != first


def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "big.csv"
    words = ["sample", "--customers", "50000", "--rows", "5000000", "--out", str(out)]
    process = subprocess.Popen([sys.executable, "-m", "noren", *words], stderr=subprocess.PIPE, text=True, cwd=tmp_path)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".big.csv.*.part")) and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.005)
    assert process.poll() is None, "it ended before it could be interrupted"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted; no partial file was left" in err
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_counts_even_where_a_library_swallows_it(noren, monkeypatch, small_csv) -> None:
    def swallowed(*_words: object, **_flags: object) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise TypeError("what the library made of it") from None

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr("noren.data.guessing.schema_guess.guess_schema", swallowed)
    answer = noren("schema", "guess", small_csv)
    assert (answer.code, answer.out) == (130, "")
    assert answer.err == "noren: interrupted; no partial file was left\n"
    assert signal.getsignal(signal.SIGINT) is before


def test_a_closed_pipe_is_no_error() -> None:
    script = f"{sys.executable} -m noren schema show adult | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == 'name = "adult"\n'


def test_shell_completion_is_offered() -> None:
    words = {"_NOREN_COMPLETE": "complete_bash", "COMP_WORDS": "noren pro", "COMP_CWORD": "1"}
    done = subprocess.run(
        [Path(sys.executable).parent / "noren"], env=os.environ | words, capture_output=True, text=True, check=False
    )
    assert "protect" in done.stdout


def test_progress_is_a_line_now_and_then_where_there_is_no_terminal(monkeypatch) -> None:
    from noren.cli.parts import commands

    lines, printed = list[str](), threading.Event()

    def note(line: str) -> None:
        lines.append(line)
        printed.set()

    monkeypatch.setattr(commands, "SECONDS_BETWEEN_LINES", 0.001)
    monkeypatch.setattr(commands, "say", note)
    with commands.progress_bar("Working") as report:
        report(0.5, "half")
        printed.clear()
        assert printed.wait(PATIENCE)
    assert lines[-1] == "Working  50%  0:00:00  half"
    monkeypatch.setattr(commands.situation, "json", True)
    with commands.progress_bar("Working") as report:
        assert report is silent


def test_progress_of_short_work_is_shown_in_a_terminal_alone(monkeypatch, capsys) -> None:
    from noren.cli.parts.commands import progress_bar

    with progress_bar("Working") as report:
        report(0.5, "half")
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("Working") as report:
        report(0.5, "half")
    assert "Working" in capsys.readouterr().err


@pytest.mark.parametrize(("value", "text"), [(3.0, "3"), (12345.0, "12,345"), (0.20601, "0.2060"), (-2.5, "-2.5000")])
def test_numbers_for_people(value: float, text: str) -> None:
    from noren.cli.parts.commands import number

    assert number(value) == text
