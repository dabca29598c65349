"""A queue that processes share: each job done once, none lost, whatever becomes of who does it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from tests.conftest import PATIENCE
from tests.studio.conftest import until

from noren.work.queue import Claim, Queue, State, open_database, queue_columns
from noren.work.runner import JobOutcome, Runner

SHORT = 0.4
"""A lease that is over soon, and yet renewed five times before."""

LAID = """
import sys
import sqlalchemy as sa
from noren.work.queue import Queue, State, open_database, queue_columns
jobs = sa.Table("jobs", sa.MetaData(), *queue_columns(), sa.Column("result", sa.Text))
queue = Queue(open_database(sys.argv[1]), jobs, lease=float(sys.argv[2]))
print("ready", flush=True)
sys.stdin.readline()
"""
CLAIMING = """
while (claim := queue.claim(["q"], sys.argv[3])) is not None:
    print(claim.id, flush=True)
    assert queue.end(claim.id, State.DONE, holder=sys.argv[3], result=sys.argv[3])
"""
HOLDING = """
print(queue.claim(["q"], sys.argv[3]).id, flush=True)
sys.stdin.read()
"""
RUNNING = """
from noren.work.runner import JobOutcome, Runner
def work(claim):
    sys.stdout.write(claim.id + "\\n")  # at once, for other threads write too
    sys.stdout.flush()
    return JobOutcome(State.DONE)
runner = Runner(queue, work, {"q": 3})
runner.start()
sys.stdin.read()
runner.close()
"""

Maker = Callable[..., Queue]


@pytest.fixture
def make(address: str) -> Iterator[Maker]:
    """Open the queue of the database once more, as another process would."""
    jobs = sa.Table("jobs", sa.MetaData(), *queue_columns(), sa.Column("result", sa.Text))
    opened: list[Queue] = []

    def opening(lease: float = 60.0) -> Queue:
        opened.append(Queue(open_database(address), jobs, lease=lease))
        jobs.create(opened[-1].engine, checkfirst=True)
        return opened[-1]

    yield opening
    for queue in opened:
        queue.engine.dispose()


@pytest.fixture
def queue(make: Maker) -> Queue:
    return make()


def process(script: str, address: str, name: str, lease: float = 60.0) -> subprocess.Popen[str]:
    """Start another process at the queue; it begins with the first line it reads."""
    command = [sys.executable, "-c", LAID + script, address, str(lease), name]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert started.stdout is not None
    assert started.stdout.readline() == "ready\n"
    return started


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def rows(queue: Queue) -> dict[str, Any]:
    with queue.engine.connect() as database:
        return {row.id: row for row in database.execute(queue.table.select())}


def add(queue: Queue, *names: str, **how: Any) -> None:
    for name in names:
        queue.add(name, "k", queue="q", **how)


# --- claiming ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("script", [CLAIMING, RUNNING])
def test_four_processes_do_each_of_many_jobs_once(queue: Queue, address: str, script: str) -> None:
    names = [f"{number:03}" for number in range(200)]
    add(queue, *names)
    workers = [process(script, address, f"w{number}") for number in range(4)]
    for worker in workers:
        go(worker)
    until(lambda: all(row.state == State.DONE for row in rows(queue).values()), "all are done")
    said = [worker.communicate(timeout=PATIENCE)[0].split() for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * 4
    assert sorted(name for told in said for name in told) == names
    assert {(row.attempts, row.claimed_by, row.lease_until) for row in rows(queue).values()} == {(1, None, 0.0)}


def test_who_waits_longest_comes_first_in_whichever_queue(queue: Queue) -> None:
    queue.add("c", "k", queue="q")
    queue.add("a", "k", queue="r")
    queue.add("b", "k", queue="q")
    queue.add("d", "k", queue="other")
    queue.add("e", "k")
    found = [queue.claim(["q", "r"], "ann") for _ in range(4)]
    assert [claim and (claim.id, claim.queue, claim.attempt) for claim in found] == [
        ("c", "q", 1), ("a", "r", 1), ("b", "q", 1), None,
    ]  # fmt: skip
    assert queue.unqueued() == ["e"]
    assert queue.enqueue("e", "q")
    assert not queue.enqueue("e", "q")  # it waits already
    claim = queue.claim(["q"], "ann")
    assert claim == Claim("e", "q", "k", 1)


# --- leases -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["sqlite", "postgresql"], indirect=True)
def test_the_job_of_a_killed_process_is_taken_up_after_its_lease(make: Maker, address: str) -> None:
    queue = make()
    add(queue, "a")
    holding = process(HOLDING, address, "ann", lease=SHORT)
    go(holding)
    assert holding.stdout is not None
    assert holding.stdout.readline() == "a\n"
    holding.kill()
    holding.communicate()
    claim = until(lambda: queue.claim(["q"], "bob"), "the lease is over")
    assert (claim.id, claim.attempt) == ("a", 2)
    assert not queue.end("a", State.FAILED, holder="ann")  # were it alive after all, its word counts no longer
    assert queue.renew("ann", ["a"]) == set()
    assert queue.end("a", State.DONE, holder="bob", result="tea")
    assert (rows(queue)["a"].state, rows(queue)["a"].result) == ("done", "tea")


def test_a_lease_that_is_renewed_does_not_end(make: Maker) -> None:
    queue, begun, over = make(SHORT), threading.Event(), threading.Event()
    add(queue, "a", "b")

    def work(claim: Claim) -> JobOutcome:
        begun.set()
        over.wait(PATIENCE)
        return JobOutcome(State.DONE)

    runner = Runner(queue, work, {"q": 1})
    runner.start()
    assert begun.wait(PATIENCE)
    first = rows(queue)["a"].lease_until
    until(lambda: rows(queue)["a"].lease_until > first + 2 * SHORT, "the lease was renewed")
    assert rows(queue)["b"].state == State.WAITING  # there is one place
    assert rows(queue)["a"].attempts == 1
    over.set()
    until(lambda: all(row.state == State.DONE for row in rows(queue).values()), "both are done")
    runner.close()


def test_attempts_end(make: Maker) -> None:
    queue = make(0.0)  # whoever takes a job is given up at once
    add(queue, "a", most_attempts=2)
    for attempt in (1, 2):
        claim = until(lambda: queue.claim(["q"], "ann"), "the lease is over")
        assert claim.attempt == attempt
    until(lambda: queue.claim(["q"], "ann") is None and rows(queue)["a"].state == State.INTERRUPTED, "it is left alone")
    found = rows(queue)["a"]
    assert (found.attempts, found.claimed_by) == (2, None)
    assert found.ended is not None
    assert queue.enqueue("a", "q")  # somebody wants it all the same
    assert rows(queue)["a"].attempts == 0


def test_what_is_handed_back_keeps_its_place_and_its_attempts(queue: Queue) -> None:
    add(queue, "a", "b", most_attempts=1)
    for _ in range(3):
        claim = queue.claim(["q"], "ann")
        assert claim == Claim("a", "q", "k", 1)
        assert not queue.hand_back("a", "bob")
        assert queue.hand_back("a", "ann", result="half")
    assert (rows(queue)["a"].attempts, rows(queue)["a"].result) == (0, "half")


def test_what_is_tried_again_goes_to_the_end_of_its_queue_and_ends_with_its_last_attempt(queue: Queue) -> None:
    add(queue, "a", "b", most_attempts=2)
    assert queue.claim(["q"], "ann") == Claim("a", "q", "k", 1)
    assert queue.try_again("a", "bob", result="not his") is None
    assert queue.try_again("a", "ann", result="no memory") == State.WAITING
    found = rows(queue)["a"]
    assert (found.state, found.attempts, found.claimed_by, found.result) == ("waiting", 1, None, "no memory")
    assert queue.claim(["q"], "ann") == Claim("b", "q", "k", 1)
    assert queue.claim(["q"], "ann") == Claim("a", "q", "k", 2)
    assert queue.try_again("a", "ann", result="no memory again") == State.FAILED
    found = rows(queue)["a"]
    assert (found.state, found.attempts, found.result) == ("failed", 2, "no memory again")
    assert found.ended is not None
    assert not queue.has_open(["q"])


def test_what_is_tried_again_may_have_to_wait_a_while(queue: Queue) -> None:
    add(queue, "a")
    assert queue.claim(["q"], "ann") is not None
    assert queue.try_again("a", "ann", after=3600.0) == State.WAITING
    assert not queue.has_open(["q"])
    assert queue.claim(["q"], "ann") is None
    with queue.engine.begin() as database:  # were it put in by a clock that is ahead, it would not wait
        database.execute(queue.table.update().values(attempts=0))
    assert queue.claim(["q"], "ann") is not None


def test_it_is_written_down_that_a_holder_was_lost(address: str) -> None:
    jobs = sa.Table("jobs", sa.MetaData(), *queue_columns(), sa.Column("error", sa.Text, server_default=""))
    queue = Queue(open_database(address), jobs, lease=0.0, lost={"error": "not heard of"})
    jobs.create(queue.engine)
    add(queue, "a", most_attempts=2)
    assert queue.claim(["q"], "ann") is not None
    assert rows(queue)["a"].error == ""
    until(lambda: queue.claim(["q"], "bob"), "the lease is over")
    assert rows(queue)["a"].error == "not heard of"
    assert queue.end("a", State.DONE, holder="bob", error="")
    assert rows(queue)["a"].error == ""
    add(queue, "b", most_attempts=1)
    assert queue.claim(["q"], "ann") is not None
    until(lambda: queue.claim(["q"], "bob") is None and rows(queue)["b"].state == State.INTERRUPTED, "it is given up")
    assert rows(queue)["b"].error == "not heard of"
    queue.engine.dispose()


def test_who_knows_that_nobody_else_is_there_need_not_wait(queue: Queue) -> None:
    add(queue, "a")
    assert not queue.is_held()
    assert queue.claim(["q"], "ann") is not None
    assert queue.is_held()
    assert queue.claim(["q"], "bob") is None
    queue.end_leases()
    claim = queue.claim(["q"], "bob")
    assert claim is not None
    assert claim.attempt == 2


# --- cancelling -------------------------------------------------------------------------------------------------------


def test_a_cancelled_job_is_seen_by_its_holder(make: Maker) -> None:
    queue, here = make(SHORT), make(SHORT)
    add(queue, "a")
    stopped: list[str] = []

    def work(claim: Claim) -> JobOutcome:
        assert claim.gone.wait(PATIENCE)
        stopped.append(claim.id)
        return JobOutcome(State.WAITING, {"result": "half"})

    runner = Runner(queue, work, {"q": 1})
    runner.start()
    until(lambda: here.is_held("a"), "it is under way")
    assert here.end("a", State.CANCELLED)
    assert not here.end("a", State.DONE)  # cancelled is final
    until(lambda: rows(here)["a"].claimed_by is None, "its holder let go")
    assert stopped == ["a"]
    assert (rows(here)["a"].state, rows(here)["a"].result) == ("cancelled", None)
    runner.close()


def test_what_waits_is_cancelled_before_it_begins(queue: Queue) -> None:
    add(queue, "a")
    assert queue.end("a", State.CANCELLED)
    assert not queue.is_held("a")
    assert queue.claim(["q"], "ann") is None
    assert not queue.end("nothing", State.CANCELLED)


# --- runners ----------------------------------------------------------------------------------------------------------


def test_a_runner_that_closes_hands_back(make: Maker) -> None:
    queue, begun = make(), threading.Event()
    add(queue, "a")

    def work(claim: Claim) -> JobOutcome:
        begun.set()
        assert claim.gone.wait(PATIENCE)
        return JobOutcome(State.WAITING)

    runner = Runner(queue, work, {"q": 1})
    runner.start()
    assert begun.wait(PATIENCE)
    runner.close(PATIENCE)
    found = rows(queue)["a"]
    assert (found.state, found.attempts, found.claimed_by, found.started) == ("waiting", 0, None, None)


def test_work_that_fails_ends_its_job_and_frees_its_place(queue: Queue, caplog: pytest.LogCaptureFixture) -> None:
    def work(claim: Claim) -> JobOutcome:
        raise ValueError(claim.id)

    add(queue, "a", "b")
    runner = Runner(queue, work, {"q": 1})
    runner.start()
    until(lambda: {row.state for row in rows(queue).values()} == {"failed"}, "both ended")
    runner.close()
    assert [record.message for record in caplog.records] == ["the work on a failed", "the work on b failed"]


def test_work_that_asks_to_be_tried_again_is(queue: Queue) -> None:
    add(queue, "a", most_attempts=3)
    seen: list[int] = []

    def work(claim: Claim) -> JobOutcome:
        seen.append(claim.attempt)
        return JobOutcome(State.FAILED, {"result": f"try {claim.attempt}"}, again_after=0.0)

    runner = Runner(queue, work, {"q": 1})
    runner.start()
    until(lambda: rows(queue)["a"].state == State.FAILED, "it failed for good")
    runner.close()
    assert seen == [1, 2, 3]
    assert rows(queue)["a"].result == "try 3"


def test_what_cannot_begin_for_want_of_room_begins_when_there_is(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    real, tried = queue.claim, threading.Event()

    def claim(*how: Any) -> Claim | None:
        if not tried.is_set():
            tried.set()
            raise sa.exc.OperationalError("UPDATE", {}, Exception("database or disk is full"))
        return real(*how)

    monkeypatch.setattr(queue, "claim", claim)
    add(queue, "a")
    runner = Runner(queue, lambda claim: JobOutcome(State.DONE), {"q": 1})
    runner.start()
    until(lambda: rows(queue)["a"].state == State.DONE, "it is done")
    runner.close()
    assert tried.is_set()
    assert rows(queue)["a"].attempts == 1


def test_an_end_that_cannot_be_written_is_written_later_and_holds_no_place(
    make: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = make(SHORT)
    real, full = queue._write, threading.Event()
    full.set()

    def write(job: str, values: Any, bound: Any) -> bool:
        if full.is_set() and job == "a":
            raise sa.exc.OperationalError("UPDATE", {}, Exception("database or disk is full"))
        return real(job, values, bound)

    monkeypatch.setattr(queue, "_write", write)
    done: list[str] = []

    def work(claim: Claim) -> JobOutcome:
        done.append(claim.id)
        return JobOutcome(State.DONE, {"result": claim.id})

    add(queue, "a", "b")
    runner = Runner(queue, work, {"q": 1})
    runner.start()
    until(
        lambda: {queue.unwritten.get(name, {}).get("state") for name in "ab"} == {"done"}, "both are known to be done"
    )
    full.clear()
    until(lambda: {row.result for row in rows(queue).values()} == {"a", "b"}, "both are written")
    runner.close()
    assert done == ["a", "b"]


def test_who_is_cut_off_stops_before_another_begins(make: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    queue, stopped = make(SHORT), threading.Event()
    add(queue, "a")

    def work(claim: Claim) -> JobOutcome:
        if claim.gone.wait(PATIENCE if queue.is_shared else 3 * SHORT):
            stopped.set()
        return JobOutcome(State.DONE)

    def away(*_: Any) -> set[str]:
        raise sa.exc.OperationalError("UPDATE", {}, Exception("the connection is closed"))

    monkeypatch.setattr(queue, "renew", away)
    runner = Runner(queue, work, {"q": 1})
    runner.start()
    until(lambda: rows(queue)["a"].state == State.DONE, "it is done")
    runner.close()
    assert stopped.is_set() == queue.is_shared  # of a file nobody else could have claimed
    assert rows(queue)["a"].attempts == 1
