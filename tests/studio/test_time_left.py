"""How long runs take: experience, the clock of a run, and the measuring of a machine."""

from __future__ import annotations

import platform
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.studio.quiet import PEOPLE, Quiet

from noren.cost_law import Shape
from noren.data.schema import Kind
from noren.methods.generalize import Generalize
from noren.methods.mondrian import Mondrian
from noren.progress import Progress
from noren.studio import calibration
from noren.studio.api.models import said_job
from noren.studio.experience import (
    MACHINE_FILE,
    SHOW,
    START,
    Expected,
    Experience,
    Timing,
    expected_parts,
    keep_timings,
)
from noren.studio.folders import read_json, write_json
from noren.studio.forms.planning import estimate_order
from noren.studio.jobs import Live
from noren.studio.store import State
from noren.studio.work import clock as clocks
from noren.studio.work.clock import RunClock
from noren.sweeps.cost import Cost, Part

SHAPE = Shape(Kind.HISTORY, 1000, 50, 30)
JACCARD = ("attack", "jaccard")


def timing(factor: float, *, rows: int = 1000, part: Part = JACCARD, share: float = 1.0) -> Timing:
    return Timing(*part, "history", rows, expected=0.98, took=factor - 0.02, share=share)


# --- experience -------------------------------------------------------------------------------------------------


def test_like_sizes_and_late_runs_count_most() -> None:
    near = Experience([timing(4.0, rows=1000), timing(1.0, rows=100_000)])
    far = Experience([timing(4.0, rows=100_000), timing(1.0, rows=1000)])
    assert far.factor(JACCARD, "history", 1000) < 2 < near.factor(JACCARD, "history", 1000)
    late = Experience([*[timing(3.0)] * 8, *[timing(1.0)] * 8])
    assert late.factor(JACCARD, "history", 1000) == pytest.approx(3 ** (2 / 3), rel=0.05)  # weights 1 to 1/2 by halves
    assert late.factor(JACCARD, "table", 1000) == 1.0  # of tables nothing is known


def test_what_is_not_known_of_a_part_is_taken_from_the_others() -> None:
    known = Experience([timing(2.0, part=("attack", f"s{at}")) for at in range(97)])
    assert known.factor(("measure", "rfm"), "history", 1000) == pytest.approx(2.0, rel=0.03)


def test_no_correction_is_beyond_reason() -> None:
    assert timing(1e6).factor == 20.0
    assert Timing(*JACCARD, "history", 1, expected=50.0, took=0.0, share=1.0).factor == 1 / 20


def test_a_busy_machine_makes_all_but_what_the_clock_bounds_longer() -> None:
    parts: dict[Part, Expected] = {
        JACCARD: Expected(Cost(0.98, 0.48, 1.98, 0, "measured"), 0.98),
        ("protect", "generalize"): Expected(Cost(10.98, 10.48, 11.98, 0, "measured"), 10.98, fixed=10.0),
    }
    busy = Experience([]).corrected(parts, SHAPE, 0.25)
    assert busy[JACCARD].seconds == pytest.approx(4.0)
    assert busy["protect", "generalize"].seconds == pytest.approx(14.0)
    unknown = {JACCARD: Expected(Cost(None, 0.0, None, None, "unknown"), None)}
    assert Experience([]).corrected(unknown, SHAPE, 0.25)[JACCARD].seconds is None


def test_the_parts_of_a_run_come_in_order(quiet: Quiet) -> None:
    schema = quiet.studio.schema(quiet.upload(PEOPLE))
    shape = Shape(Kind.TABLE, 1000, 1000, 0, 4, (9, 9, 4, 4))
    parts = expected_parts(Mondrian(k=2), shape, schema, measures=["classes"])
    assert [part for part in parts if part[0] != "attack"] == [
        START, ("protect", "mondrian"), ("audit", ""), ("measure", "classes"), SHOW, ("end", ""),
    ]  # fmt: skip
    assert {one.fixed for one in parts.values()} == {0.0}
    searched = expected_parts(Generalize(k=3, effort=7.0), SHAPE, schema, attacks=[], measures=[])
    assert searched["protect", "generalize"].fixed == 7.0


def test_kept_runs_and_the_machine_are_read_the_latest_first(tmp_path: Path) -> None:
    keep_timings(tmp_path / MACHINE_FILE, [timing(1.0, share=0.5)], machine="here")
    assert Experience.of(tmp_path).share == 0.5
    for at in range(6):
        folder = tmp_path / "projects" / "p" / "jobs" / str(at)
        folder.mkdir(parents=True)
        keep_timings(folder, [timing(8.0, share=0.1 * (at + 1))] * 3)
        assert (folder / "timings.json").stat().st_mode & 0o077 == 0
    assert Experience([]).share is None
    known = Experience.of(tmp_path)
    assert known.share == pytest.approx(0.4)  # the median of the five latest: 0.2 to 0.6
    assert known.factor(JACCARD, "history", 1000) > 6


# --- the clock of a run -----------------------------------------------------------------------------------------


@pytest.fixture
def hands(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """A clock and a processor's clock that are set by hand."""
    at = SimpleNamespace(clock=100.0, processor=2.0)
    fake = SimpleNamespace(perf_counter=lambda: at.clock, process_time=lambda: at.processor)
    monkeypatch.setattr(clocks, "time", fake)
    monkeypatch.setattr("noren.studio.experience.time", fake)
    return at


PLAN: dict[Part, Expected] = {
    part: Expected(Cost(seconds - 0.02, 0.0, 9.0, 0, "measured"), seconds - 0.02)
    for part, seconds in ((START, 3.0), (JACCARD, 4.0), (("attack", "s1"), 4.0), (SHOW, 2.0))
}


def test_a_clock_tells_what_is_left(hands: SimpleNamespace, tmp_path: Path) -> None:
    clock = RunClock(began=96.0)
    assert clock.left() is None  # nothing was planned yet
    clock.plan(PLAN, SHAPE, Experience([]))
    assert clock.left() == pytest.approx(10.0 / 0.5)  # two seconds of a processor in four
    busy = RunClock(began=96.0)
    busy.plan(PLAN, SHAPE, Experience([timing(1.0, share=0.125)]))
    assert busy.left() == pytest.approx(10.0 / 0.25)  # between that and what the last run got
    told: list[float] = []

    def say(done: float, words: str = "", best: float | None = None) -> None:
        left = clock.left()
        assert left is not None
        told.append(left)

    with clock.doing(*JACCARD):
        heard: Progress = clock.hearing(say)
        hands.clock, hands.processor = 104.0, 6.0  # from now on the processor is its own
        heard(0.5)
    assert told == [pytest.approx(4.0 + 6.0)]
    assert clock.left() == pytest.approx(6.0)  # as expected
    with clock.doing("attack", "s1"):
        hands.clock, hands.processor = 116.0, 18.0  # three times as long
        assert clock.left() == pytest.approx(0.25 * 12 + 2.0)
    assert clock.left() == pytest.approx(2.0 * (16 + 0.5) / (8 + 0.5), rel=0.01)
    clock.keep(tmp_path)
    kept = [(one["does"], one["took"], one["share"]) for one in read_json(tmp_path / "timings.json")["timings"]]
    assert kept == [("start", 2.0, 0.9), ("attack", 4.0, 0.9), ("attack", 12.0, 0.9)]  # 18 seconds in 20


def test_what_was_not_done_here_tells_nothing(hands: SimpleNamespace, tmp_path: Path) -> None:
    clock = RunClock()
    clock.plan(PLAN, SHAPE, Experience([]))
    with pytest.raises(ValueError, match="failed"), clock.doing(*JACCARD):
        raise ValueError("failed")
    with clock.doing("attack", "s1"):
        clock.says_nothing()
    assert clock.timings == ()
    assert clock.left() == pytest.approx(2.0)
    with clock.doing(*SHOW):
        hands.processor += 1.0
    clock.keep(tmp_path)
    assert list(tmp_path.iterdir()) == []  # the process was not its own
    skipped = RunClock()
    skipped.plan(PLAN, SHAPE, Experience([]))
    with skipped.doing(*SHOW):
        assert skipped.left() == pytest.approx(2.0)  # what comes before is over


def test_what_a_search_takes_by_the_clock_no_machine_makes_longer(hands: SimpleNamespace) -> None:
    clock = RunClock(share=0.25)
    search = Expected(Cost(60.98, 60.0, 62.0, 0, "measured"), 60.98, fixed=60.0)
    clock.plan({START: PLAN[START], ("protect", "generalize"): search}, SHAPE, Experience([]))
    assert clock.left() == pytest.approx(60.0 + 4.0)
    with clock.doing("protect", "generalize"):
        assert clock.left() == pytest.approx(60.0 + 4.0)
    assert clock.timings == ()  # how long it searched tells nothing of the machine


def test_nobody_knows_how_long_an_unknown_part_takes(hands: SimpleNamespace) -> None:
    clock = RunClock()
    clock.plan(
        PLAN | {("attack", "own"): Expected(Cost(None, 0.0, None, None, "unknown"), None)}, SHAPE, Experience([])
    )
    assert clock.left() is None


# --- what the studio says ---------------------------------------------------------------------------------------


def test_a_run_says_what_is_left_and_before_what_it_takes(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    store, step = quiet.studio.store, {"method": "mondrian", "parameters": {"k": 2}}
    job = store.add_job(project, "run", "mondrian, k = 2", {"steps": [step], "attacks": [], "measures": []})
    page = quiet.client.get(f"/projects/{project}/runs/{job.id}").text
    assert "once it begins, it takes" in page
    store.change_job(job.id, state=State.RUNNING, started="2026-11-16T00:00:00+00:00")
    quiet.studio.jobs._live[job.id] = Live(State.RUNNING, 0.5, "counting", None, left=93.0)
    running = store.job(job.id)
    assert running is not None
    assert said_job(running, quiet.studio.jobs).left == 100
    page = quiet.client.get(f"/projects/{project}/runs/{job.id}").text
    assert '<dd class="tabular" id="left">2 min</dd>' in page
    assert "it takes" not in page
    assert "about 2 min left" in quiet.client.get(f"/projects/{project}/results").text


def test_what_runs_took_changes_what_is_expected(quiet: Quiet) -> None:
    project = quiet.upload(PEOPLE)
    order: dict[str, Any] = {"steps": [{"method": "mondrian", "parameters": {"k": 2}}], "attacks": [], "measures": []}
    before = estimate_order(quiet.studio, project, **order).seconds
    slow = [Timing(*START, "table", 3, expected=2.2, took=22.0, share=1.0)] * 9
    folder = quiet.studio.folders.job(project, "a" * 12)
    folder.mkdir(parents=True)
    keep_timings(folder, slow)
    after = estimate_order(quiet.studio, project, **order).seconds
    assert before is not None
    assert after is not None
    assert after > before + 15


# --- the machine ------------------------------------------------------------------------------------------------


def test_a_machine_is_measured_by_small_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calibration, "_STEPS", {"table": calibration._STEPS["table"]})
    monkeypatch.setattr("os.nice", lambda _more: 0)
    assert not calibration.is_measured(tmp_path)
    calibration.main(tmp_path)
    assert calibration.is_measured(tmp_path)
    kept = read_json(tmp_path / MACHINE_FILE)
    assert (kept["machine"], len(kept["measured"])) == (platform.node(), 10)
    timings = [Timing(**one) for one in kept["timings"]]
    assert {one.does for one in timings} == {"start", "protect", "audit", "attack", "measure", "show"}
    assert {(one.kind, one.rows) for one in timings} == {("table", 1000)}
    assert all(one.took >= 0 and one.expected > 0 for one in timings)
    write_json(tmp_path / MACHINE_FILE, kept | {"machine": "another"})
    assert not calibration.is_measured(tmp_path)  # the folder came from elsewhere


def test_a_known_machine_is_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Any] = []
    monkeypatch.setattr("subprocess.Popen", lambda *given, **_more: started.append(given))
    keep_timings(tmp_path / MACHINE_FILE, [], machine=platform.node())
    calibration.Calibration(tmp_path).start()
    assert started == []
