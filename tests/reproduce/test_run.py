"""Nothing is computed twice, nothing is lost by a kill, and the number of processes changes nothing."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.reproduce import toy

from noren.errors import NorenError, UnknownNameError
from noren.reproduce.frame import Comparison, Extent, PaperDocument, PaperSection
from noren.reproduce.run import DocumentChoice, reproduce
from noren.work.store import WorkUnit

ROOT = Path(__file__).resolve().parents[2]
SQUARES = DocumentChoice(tables=("1",))


@pytest.fixture(autouse=True)
def no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("noren.data.catalog.search_folders", lambda: (tmp_path,))


def test_nothing_is_computed_twice(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    quick = reproduce([toy.document(tmp_path)], Extent(quick=True), SQUARES, folder=folder, workers=1)
    assert (quick.computed, quick.cached, quick.counts["not_run"]) == (2, 0, 4)
    full = reproduce([toy.document(tmp_path)], None, SQUARES, folder=folder, workers=1)
    assert (full.computed, full.cached, full.counts["not_run"]) == (4, 2, 0)
    again = reproduce([toy.document(tmp_path)], None, SQUARES, folder=folder, workers=1)
    assert (again.computed, again.cached) == (0, 6)
    assert toy.runs(tmp_path) == [f"square {n}" for n in range(6)]
    assert again.as_dict()["documents"] == full.as_dict()["documents"]
    fresh = reproduce([toy.document(tmp_path)], Extent(quick=True), SQUARES, folder=folder, workers=1, fresh=True)
    assert (fresh.computed, len(toy.runs(tmp_path))) == (2, 8)


def test_one_damaged_result_is_computed_again(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    reproduce([toy.document(tmp_path)], None, SQUARES, folder=folder, workers=1)
    damaged = next(iter(sorted(folder.rglob("*.json"))))
    damaged.write_text(damaged.read_text()[:-9])
    again = reproduce([toy.document(tmp_path)], None, SQUARES, folder=folder, workers=1)
    assert (again.computed, again.cached) == (1, 5)


@pytest.mark.parametrize("workers", [1, 2])
def test_units_run_after_what_they_need(tmp_path: Path, workers: int) -> None:
    choice = DocumentChoice(tables=("1",), figures=("2",))
    report = reproduce([toy.document(tmp_path)], None, choice, folder=tmp_path / "kept", workers=workers)
    done = toy.runs(tmp_path)
    assert sorted(done[:-1]) == [f"square {n}" for n in range(6)]
    assert done[-1] == "total"
    (sum_cell,) = report.documents[0].parts[1].comparison.cells
    assert sum_cell.ours == 55.0
    assert report.documents[0].as_dict()["parts"][0]["cells"][5]["ours"] == 25.0


@pytest.mark.parametrize("workers", [1, 2])
def test_wide_units_run_here(tmp_path: Path, workers: int) -> None:
    first = WorkUnit(toy.square, (str(tmp_path), 2), wide=True)
    after = [WorkUnit(toy.total, (str(tmp_path),), needs=(first,)), WorkUnit(toy.square, (str(tmp_path), 3))]
    whole = WorkUnit(toy.total, (str(tmp_path),), needs=(first, after[1]), wide=True)
    part = PaperSection("check", "all", "All", lambda _asked: [first, *after, whole], lambda _found: Comparison())
    report = reproduce([PaperDocument("S9", "", "", (part,))], folder=tmp_path / "kept", workers=workers)
    assert report.computed == 4
    assert toy.runs(tmp_path).count("total") == 2


def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    os.mkfifo(tmp_path / "gate-3")
    script = f"from tests.reproduce.toy import main; main({str(tmp_path)!r}, {str(folder)!r})"
    process = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 120
    while len(list(folder.rglob("*.json"))) < 5 and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()[1].decode()
    while not (waiting := tmp_path / "waiting").exists() or not waiting.read_text():
        time.sleep(0.02)
    child = int(waiting.read_text())
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.stderr is not None
    process.stderr.close()
    while is_running(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_running(child), "a child outlived the run"
    assert sorted(toy.runs(tmp_path)) == [f"square {n}" for n in range(6)]
    assert list(folder.rglob("*.part")) == []

    (tmp_path / "gate-3").unlink()
    report = reproduce([toy.document(tmp_path)], None, SQUARES, folder=folder, workers=1)
    assert (report.computed, report.cached) == (1, 5)
    assert [cell.ours for _part, cell in report.documents[0].cells] == [0.0, 1.0, 4.0, 9.0, 16.0, 25.0]
    assert sorted(toy.runs(tmp_path)) == sorted([*(f"square {n}" for n in range(6)), "square 3"])


def test_a_process_that_is_ended_from_outside(tmp_path: Path) -> None:
    part = PaperSection(
        "check", "all", "All", lambda _asked: [WorkUnit(toy.crash, (n,)) for n in (1, 2)], lambda _f: Comparison()
    )
    with pytest.raises(NorenError, match="run again with --workers 1"):
        reproduce([PaperDocument("S9", "", "", (part,))], folder=tmp_path / "kept", workers=2)


def is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_part_without_its_data_says_so_and_the_rest_runs(tmp_path: Path) -> None:
    report = reproduce([toy.document(tmp_path)], Extent(quick=True), folder=tmp_path / "kept", workers=1)
    squares, _total, people = report.documents[0].parts
    assert "the data set adult is not in" in people.missing
    assert people.comparison.cells == ()
    assert squares.missing == ""
    assert not report.failed


def test_an_exact_number_that_differs_fails_unless_an_erratum_says_why(tmp_path: Path) -> None:
    asked = Extent(quick=True)
    right = reproduce([toy.document(tmp_path)], asked, folder=tmp_path / "kept", workers=1)
    assert [cell.ok for cell in right.documents[0].errata[0].cells] == [False]
    assert right.failed == []
    wrong = reproduce([toy.document(tmp_path, paper=1)], asked, folder=tmp_path / "kept", workers=1)
    assert [(key, part, cell.row) for key, part, cell in wrong.failed] == [
        ("S9", "table-1", "0²"),
        ("S9", "table-1", "1²"),
    ]
    assert wrong.as_dict()["ok"] is False


def test_progress_tells_what_was_done(tmp_path: Path) -> None:
    said: list[tuple[float, str]] = []
    reproduce(
        [toy.document(tmp_path)], None, SQUARES, folder=tmp_path / "kept", workers=1,
        progress=lambda done, words="", *_best: said.append((done, words.split()[-1])),
    )  # fmt: skip
    assert said == [(pytest.approx((n + 1) / 6), str(n)) for n in range(6)]  # type: ignore[comparison-overlap]


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        (DocumentChoice(tables=("7",)), "there is no 'table-7' in S9 .*there are table-1, figure-2, people"),
        (DocumentChoice(figures=("1",)), "there is no 'figure-1' in S9 .*there are table-1, figure-2, people"),
        (DocumentChoice(parts=("table-2",)), "did you mean table-1"),
    ],
)
def test_a_part_that_is_not_there(tmp_path: Path, choice: DocumentChoice, said: str) -> None:
    with pytest.raises(UnknownNameError, match=said):
        reproduce([toy.document(tmp_path)], None, choice, folder=tmp_path)
    with pytest.raises(UnknownNameError, match=r"in S9, S9.*table-1"):
        choice.check([toy.document(tmp_path)] * 2)
