"""The process that judges: the same answers as the functions, many orders, and nothing that it can do harms others."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.contest.judging_cases import LABEL, SALT, Case, made

from noren.contest.judging import scorer as scorer_module
from noren.contest.judging.prepared import make_target
from noren.contest.judging.scorer import (
    GONE,
    STOPPED,
    TOO_LARGE,
    TOO_LONG,
    UNEXPECTED,
    UNREADABLE,
    Fault,
    ScorerProcess,
    resident,
)
from noren.contest.judging.scoring import score_guess, score_release
from noren.work.hash_chain import canonical, digest_of

SCRIPTED = """
import json, os, sys, time
for line in sys.stdin:
    order = json.loads(line)
    answer = {"number": order["number"]}
    if order["kind"] == "hang":
        time.sleep(600)
    if order["kind"] == "eat":
        eaten = bytearray(900 * 2**20)
        time.sleep(600)
    if order["kind"] == "die":
        os.kill(os.getpid(), 9)
    print("rubbish")
    print(json.dumps({"number": -1, "result": "another's"}))
    print(json.dumps(answer | {"done": 0.5, "words": "half"}))
    print(json.dumps(answer | {"result": {"pid": os.getpid()}}), flush=True)
"""


@pytest.fixture
def scripted(tmp_path: Path) -> Iterator[ScorerProcess]:
    one = ScorerProcess(tmp_path / "judge.log", command=("-c", SCRIPTED))
    yield one
    one.close()


def done(
    scorer: ScorerProcess, order: dict[str, str], *, seconds: float = 120, megabytes: float = 2048, **more: Any
) -> Any:
    return scorer.do(order, seconds=seconds, megabytes=megabytes, **more)


def order(case: Case, kind: str, **more: str) -> dict[str, str]:
    files = {"original": str(case.original), "submitted": str(case.submitted)}
    return {"kind": kind, "rulebook": case.rulebook.to_toml(), **files, **more}


@pytest.mark.slow
def test_the_process_answers_as_the_functions_do(tmp_path: Path) -> None:
    case = made("pwscup2018", tmp_path)
    guess, out, log = tmp_path / "guess.csv", tmp_path / "target.csv", tmp_path / "judge.log"
    guess.write_text("")
    files = case.rulebook, case.original, case.submitted
    lots = {"salt": SALT.hex(), "label": LABEL}
    told: list[float] = []
    scorer = ScorerProcess(log)
    try:
        release = done(scorer, order(case, "release"), on_line=lambda line: told.append(line["done"]))
        first = scorer.pid
        assert canonical(release) == canonical(score_release(*files))
        guessed = done(scorer, order(case, "guess", guess=str(guess), **lots))
        assert canonical(guessed) == canonical(score_guess(*files, SALT, LABEL, guess))
        content = make_target(*files, SALT, LABEL)
        assert done(scorer, order(case, "target", out=str(out), **lots)) == {"digest": digest_of(content)}
        assert out.read_bytes() == content
        assert out.stat().st_mode & 0o077 == 0
        assert told
        assert scorer.pid == first, "one process does many orders"

        broken = tmp_path / "broken.csv"
        broken.write_bytes(b"\xff\0")
        invalid = done(scorer, order(case, "release") | {"submitted": str(broken)})
        assert invalid["valid"] is False

        # faults of ours: short, without a path; the log tells more, to its owner alone
        assert done(scorer, order(case, "release") | {"original": str(broken)}) == Fault(UNREADABLE)
        assert done(scorer, order(case, "nonsense", **lots)) == Fault(UNEXPECTED)
        assert "ValueError: nonsense" in log.read_text()
        assert log.stat().st_mode & 0o077 == 0
        assert scorer.pid == first
    finally:
        scorer.close()


def test_lines_of_others_are_passed_over_and_the_process_stays(scripted: ScorerProcess) -> None:
    told: list[tuple[float, str]] = []
    for _time in range(3):
        answer = done(scripted, {"kind": "fine"}, on_line=lambda line: told.append((line["done"], line["words"])))
        assert answer == {"pid": scripted.pid}
    assert told == [(0.5, "half")] * 3


@pytest.mark.parametrize(
    ("kind", "limits", "reason"),
    [("hang", {"seconds": 0.2}, TOO_LONG), ("eat", {"megabytes": 200.0}, TOO_LARGE), ("die", {}, GONE)],
)
def test_what_goes_wrong_is_told_and_the_next_order_is_done(
    kind: str, limits: dict[str, float], reason: str, scripted: ScorerProcess
) -> None:
    assert done(scripted, {"kind": kind}, **limits) == Fault(reason)
    assert scripted.pid is None
    assert done(scripted, {"kind": "fine"}) == {"pid": scripted.pid}


def test_a_process_that_was_killed_between_orders_is_replaced(scripted: ScorerProcess) -> None:
    first = done(scripted, {"kind": "fine"})
    os.kill(first["pid"], 9)
    os.waitid(os.P_PID, first["pid"], os.WEXITED | os.WNOWAIT)
    second = done(scripted, {"kind": "fine"})
    assert second == {"pid": scripted.pid} != first


def test_an_order_is_stopped_when_its_job_is_gone(scripted: ScorerProcess) -> None:
    stop = threading.Event()
    stop.set()
    assert done(scripted, {"kind": "hang"}, stop=stop) == Fault(STOPPED)


def test_a_process_makes_room_after_many_orders(scripted: ScorerProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scorer_module, "_MOST_ORDERS", 2)
    pids = [done(scripted, {"kind": "fine"})["pid"] for _time in range(4)]
    assert pids[0] == pids[1] != pids[2] == pids[3]


def test_it_dies_with_whoever_gave_orders() -> None:
    child = subprocess.Popen([sys.executable, "-m", "noren.contest.judging.scorer"], stdin=subprocess.PIPE)
    assert child.stdin is not None
    child.stdin.close()
    assert child.wait(timeout=60) == 3


def test_faults_of_size_and_time_are_tried_less_often() -> None:
    assert Fault(TOO_LONG).tries == Fault(TOO_LARGE).tries == 2
    assert Fault(GONE).tries == 3


def test_memory_of_processes_is_known() -> None:
    assert resident(os.getpid()) > 10 * 2**20
    assert resident(2**22 + 1) == 0
