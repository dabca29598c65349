"""Whoever judges: ``noren contest work``, as many as one likes, on as many machines as share the database.

A worker takes jobs of the queue, opens the files they name, hands them to processes that score them
(:mod:`noren.contest.judging.scorer`), and writes down what came of it. Killed at any moment it loses nothing: its lease
ends and another takes the job up, and what two found of one file counts once. A fault of ours is tried again and then
given back.

With an engine that is a cluster, releases from so many rows on are judged there, one at a time and in one session; a
process of its own holds it. Where the cluster is lost, nothing of that counts: the file is judged again, whole, on this
machine, the organiser reads so, and the cluster is left alone for a while.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import threading
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from noren.contest.arena import JUDGE, Arena, JudgesDesk, JudgesOrder
from noren.contest.judging import SCORER
from noren.contest.judging.scorer import (
    CLUSTER_LOST,
    DISK_FULL,
    INTERRUPTED,
    OTHER_SCORER,
    STOPPED,
    UNEXPECTED,
    UNREADABLE,
    Fault,
    ScorerProcess,
)
from noren.contest.kinds import ENGINE_FROM, cluster_of
from noren.contest.store.database import Job
from noren.errors import InputError
from noren.web.refusals import is_disk_full
from noren.work.children import Line
from noren.work.queue import Claim, State
from noren.work.runner import Ending, Runner

_log = logging.getLogger(__name__)
_LOOK, _TELL = 2.0, 0.5
"""Seconds between looks for jobs that were given up, and between what is told of a job."""
_PATIENCE = 5.0
"""Seconds that a job waits which this worker cannot do and another may."""
_REST = 300.0
"""Seconds for which a cluster that was lost is left alone."""
_AGAIN = (2.0, 10.0)
"""Seconds before what failed by our fault is tried a second and a third time."""


class Work:
    """One worker of an arena.

    Parameters
    ----------
    places
        How many files it judges at once; as many as the machine has cores where left out.
    engine, engine_from
        The cluster that releases are judged on, and from how many rows on; ``local`` is this machine alone.
    scorer
        Makes the process that scores; for tests.
    """

    def __init__(
        self,
        arena: Arena,
        *,
        places: int | None = None,
        engine: str = "local",
        engine_from: int = ENGINE_FROM,
        scorer: Callable[[Path], ScorerProcess] = ScorerProcess,
    ) -> None:
        self.arena, self.desk = arena, JudgesDesk(arena)
        places = places or os.cpu_count() or 1
        self._benches: queue.SimpleQueue[ScorerProcess] = queue.SimpleQueue()
        self._all = [scorer(arena.folder / "judge.log") for _place in range(places)]
        for bench in self._all:
            self._benches.put(bench)
        self._engine, self._engine_from = cluster_of(engine), engine_from
        self._cluster = None if self._engine is None else scorer(arena.folder / "judge.log")
        self._turn, self._rests_until = threading.Lock(), 0.0
        self.runner = Runner(arena.store.jobs.queue, self.do, {JUDGE: places})
        self._closed = threading.Event()
        self._tending = threading.Thread(target=self._look, name="noren-tending", daemon=True)

    def start(self) -> None:
        """Begin to take jobs."""
        self.runner.start()
        self._tending.start()

    def close(self) -> None:
        """Take no more jobs and stop those under way; others, or this one later, do them again."""
        self._closed.set()
        self.runner.close()
        for bench in (*self._all, *([self._cluster] if self._cluster else [])):
            bench.close()
        if self._tending.is_alive():
            self._tending.join()

    # --- one job -----------------------------------------------------------------------------------------------------

    def do(self, claim: Claim) -> Ending:
        """Do a job, and return how it ended; what nobody expected is a fault of ours, not of the job."""
        job = self.arena.store.jobs.job(claim.id)
        if job is None:
            return Ending(State.CANCELLED)
        try:
            fault = self._judge(job, claim)
            return Ending(State.DONE, {"done": 1.0, "error": ""}) if fault is None else self._again(job, claim, fault)
        except SQLAlchemyError:
            _log.warning("the database was away when %s ended; it is done again", claim.id)
            return Ending(State.WAITING, {"done": 0.0})
        except Exception as error:
            _log.exception("the work on %s failed", claim.id)
            reason = UNREADABLE if isinstance(error, InputError | OSError) else UNEXPECTED
            return self._again(job, claim, Fault(DISK_FULL if is_disk_full(error) else reason))

    def _judge(self, job: Job, claim: Claim) -> Fault | None:
        """Do what an order says; None where it is done, or there is nothing left to do."""
        order = self.desk.order_of(job)
        if order is None:
            return None
        if order.scorer != SCORER:
            claim.gone.wait(_PATIENCE)  # who has that version may take it
            return Fault(OTHER_SCORER)
        with contextlib.ExitStack() as files:
            given: dict[str, Any] = {"rulebook": order.rulebook, "original": self._path(files, order.original)}
            given["master"] = self._path(files, order.master) if order.master else None
            if order.kind == "targets":
                with self._bench() as bench:
                    return self._make_targets(order, given, bench, claim)
            given |= {"kind": order.kind, "submitted": self._path(files, order.submitted)}
            if order.guess:
                given |= {"guess": self._path(files, order.guess), "salt": order.salt, "label": order.label}
            found = None
            if self._cluster is not None and order.kind == "release" and order.rows >= self._engine_from:
                found = self._by_cluster(self._cluster, order, given, claim)
            if found is None:  # it is small, or the cluster was lost: it is judged here, whole
                with self._bench() as bench:
                    found = self._on(bench, order, given, claim)
        if isinstance(found, Fault):
            return found
        self.desk.judged(order, found)
        return None

    def _by_cluster(
        self, bench: ScorerProcess, order: JudgesOrder, given: dict[str, Any], claim: Claim
    ) -> dict[str, Any] | Fault | None:
        """Score a file on the cluster; None where it was lost, or was not long ago."""
        with self._turn:  # one session on the cluster, and one piece of work in it
            if time.monotonic() < self._rests_until or claim.gone.is_set():
                return None
            there = {"engine": self._engine, "folder": str((self.arena.folder / "cluster").resolve())}
            found = self._on(bench, order, given | there, claim)
            if not isinstance(found, Fault) or claim.gone.is_set() or found.reason in (STOPPED, UNREADABLE):
                return found
            bench.close()  # what is left of the session goes with it
            self._rests_until = time.monotonic() + _REST
        _log.warning("%s: %s (%s)", claim.id, CLUSTER_LOST, found.reason)
        with contextlib.suppress(SQLAlchemyError):  # it is only told
            self._tell(claim, notice=CLUSTER_LOST)
        return None

    def _make_targets(
        self, order: JudgesOrder, plain: dict[str, Any], bench: ScorerProcess, claim: Claim
    ) -> Fault | None:
        contents = []
        with TemporaryDirectory(prefix="noren-targets-") as folder:
            out = Path(folder) / "target"
            for number, (_target, submission, digest) in enumerate(order.targets):
                label = f"{order.contest}/{order.round}/{submission}"
                with contextlib.ExitStack() as files:
                    submitted = self._path(files, digest)
                    given = {"kind": "target", "submitted": submitted, "salt": order.salt, "label": label}
                    found = self._on(bench, order, {**plain, **given, "out": str(out)}, claim)
                if isinstance(found, Fault):
                    return found
                contents.append(out.read_bytes())
                self._tell(claim, done=(number + 1) / len(order.targets), words="")
        self.desk.targets_made(order, contents)
        return None

    def _on(
        self, bench: ScorerProcess, order: JudgesOrder, given: dict[str, Any], claim: Claim
    ) -> dict[str, Any] | Fault:
        told = 0.0

        def hear(line: Line) -> None:
            nonlocal told
            if "stages" in line or time.monotonic() - told >= _TELL:
                told = time.monotonic()
                with contextlib.suppress(SQLAlchemyError):  # it is only told
                    self._tell(claim, **line)

        return bench.do(given, seconds=order.seconds, megabytes=order.megabytes, stop=claim.gone, hear=hear)

    def _tell(self, claim: Claim, **values: Any) -> None:
        self.arena.store.jobs.tell(claim.id, self.runner.holder, **values)

    @contextlib.contextmanager
    def _bench(self) -> Any:
        bench = self._benches.get()
        try:
            yield bench
        finally:
            self._benches.put(bench)

    def _path(self, files: contextlib.ExitStack, digest: str) -> str:
        return str(files.enter_context(self.arena.files.path(digest)))

    def _again(self, job: Job, claim: Claim, fault: Fault) -> Ending:
        """Let a job wait that failed by a fault of ours; after some tries give it up, and the team's try back."""
        if claim.gone.is_set() or fault.reason in (STOPPED, OTHER_SCORER):
            return Ending(State.WAITING, {"done": 0.0, "error": fault.reason})
        if claim.attempt < fault.tries:
            claim.gone.wait(_AGAIN[min(claim.attempt, len(_AGAIN)) - 1])
            return Ending(State.WAITING, {"done": 0.0, "error": fault.reason, "attempts": claim.attempt})
        try:
            self.desk.given_up(job, fault.reason)
        except SQLAlchemyError:
            return Ending(State.WAITING, {"done": 0.0, "error": fault.reason})
        return Ending(State.FAILED, {"error": fault.reason})

    # --- jobs that were given up -------------------------------------------------------------------------------------

    def _look(self) -> None:
        while not self._closed.wait(_LOOK):
            with contextlib.suppress(SQLAlchemyError):  # the database is away
                self.take_up()

    def take_up(self) -> None:
        """Let jobs wait again whose workers were killed so often that the queue gave them up.

        A file that brings a judge down brings down a process of the bench, which is a fault and counted. That workers
        themselves are killed says nothing of the file they had.
        """
        waiting = self.arena.store.jobs.queue
        at = waiting.table.c
        with waiting.engine.connect() as database:
            asked = sa.select(at.id).where(at.state == State.INTERRUPTED, at.queue == JUDGE)
            given_up = list(database.execute(asked).scalars())
        for job in given_up:
            waiting.enqueue(job, JUDGE, error=INTERRUPTED)
