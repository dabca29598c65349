"""Durable background work.

A job is a row in the store, a folder with its order, and a dbos workflow of one step: run the worker process to its
end. dbos remembers in the same database which workflows were under way, so that a server that was killed takes them
up again when it starts. Orders hold their seed and workers write whole files, so a job done twice gives the same bytes.

However a worker ends (done, wrong input, killed, out of memory, a full disk), its job ends within seconds and with a
reason that a person can act on. Where an attack or a measure brought the worker down, it is set aside and another
worker goes on with the others, so that nothing finished is lost.

Two queues: ``heavy`` for runs, ``light`` for what a person waits for on a page (reading a file, writing a report).
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dbos import DBOS, DBOSConfig, SetWorkflowID
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from noren.errors import FileError, ParameterError
from noren.i18n import _
from noren.studio.folders import Folders, new_id, write_json
from noren.studio.privacy import remove_half_written, remove_leftovers
from noren.studio.reasons import GONE, INTERRUPTED, UNEXPECTED, is_disk_full, spoken, told_error
from noren.studio.settings import Settings
from noren.studio.store import Job, State, Store, now
from noren.studio.work.outcome_files import set_aside

__all__ = ["Jobs", "Live"]

_MOST_ATTEMPTS = 3
_SAVE_EVERY = 0.5
_POLL = 0.25
_NEVER_STARTED = -9
"""The code of a worker that was killed, for one that was stopped before it was."""
_HEAVY, _LIGHT = "noren-heavy", "noren-light"
_ACTIVE = (State.WAITING, State.RUNNING)
_LOOK_EVERY, _LAST_WORDS = 0.25, 2.0
"""Seconds between looks at a worker, and how long it is listened to once its process is gone."""
_ROOM_EVERY = 1.0
_MOST_SET_ASIDE = 100


@dataclass(frozen=True)
class Live:
    """How far a job is, right now."""

    state: State
    done: float
    words: str
    best: float | None
    can_stop: bool = False
    """Whether the search may be ended with the best so far."""


class Jobs:
    """The background work of one studio; there is one in a process, as dbos has it."""

    def __init__(self, settings: Settings, store: Store, after: Callable[[Job, dict[str, Any]], None]) -> None:
        self.store, self.folders = store, Folders(settings.folder)
        self._settings, self._after = settings, after
        self._live: dict[str, Live] = {}
        self._workers: dict[str, subprocess.Popen[str]] = {}
        self._lock = threading.Lock()
        self._closing, self._closed = False, threading.Event()
        self._waiting_for_room: threading.Thread | None = None
        # two servers would each take up what the other does; the system's lock ends with its process, however it ends
        self._alone = (settings.folder / "studio.lock").open("ab")
        try:
            fcntl.flock(self._alone, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._alone.close()
            raise FileError(
                _("another studio works with this folder"),
                _("open its page in the browser, or name another folder with --data-dir"),
                file=settings.folder,
            ) from None

    # --- life ------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Take up what was under way, and what comes."""
        global _current
        _current = self
        remove_leftovers(self._settings.folder)
        config: DBOSConfig = {
            "name": "noren-studio",
            "system_database_url": self._settings.database_url,
            "application_version": "1",  # a newer Noren takes up the jobs of an older one
            "executor_id": "studio",
            "log_level": "ERROR",
        }
        DBOS(config=config)
        DBOS.launch()
        heavy = self._settings.workers
        DBOS.register_queue(_HEAVY, worker_concurrency=heavy, polling_interval_sec=_POLL, on_conflict="always_update")
        DBOS.register_queue(_LIGHT, worker_concurrency=2, polling_interval_sec=_POLL, on_conflict="always_update")
        under_way = {status.workflow_id[:12] for status in DBOS.list_workflows(status=["PENDING", "ENQUEUED"])}
        for job in self.store.jobs(states=_ACTIVE):
            if job.id not in under_way:  # stopped kindly: its workflow ended, the job did not
                self._enqueue(job)

    def close(self) -> None:
        """Stop every worker; their jobs go on when the studio starts again."""
        self._closing = True
        self._closed.set()
        with self._lock:
            workers = list(self._workers.values())
        for worker in workers:
            worker.kill()
        for worker in workers:
            worker.wait()
        DBOS.destroy(workflow_completion_timeout_sec=5)
        self.store.write_down()
        remove_leftovers(self._settings.folder)
        self._alone.close()

    # --- what people ask for ---------------------------------------------------------------------------------

    def submit(self, job: Job) -> None:
        """Write the order of a new job and let it wait for its turn."""
        write_json(self.folders.job(job.project, job.id) / "order.json", job.order)
        self._enqueue(job)

    def resume(self, job: Job) -> None:
        """Take up a job that is over: what it finished stays, what is missing is done."""
        self.store.change_job(job.id, state=State.WAITING, done=0.0, attempts=0, error={}, started=None, ended=None)
        self._enqueue(job)

    def cancel(self, job: str) -> bool:
        """Stop a job and throw away what it did; tell whether it was under way. Its process is gone when this returns.

        What is over stays as it is, and may be removed without fear that somebody still writes there. A run that had a
        result before it was taken up again keeps it.
        """
        known = self.store.job(job)
        had_result = known is not None and bool(known.summary)
        state = State.DONE if had_result else State.CANCELLED
        changed = self.store.change_job(job, only_from=_ACTIVE, state=state, ended=now())
        with self._lock:
            worker = self._workers.get(job)
        if worker is not None:
            worker.kill()
            worker.wait()
        found = self.store.job(job) if changed else None
        if found is not None and not had_result:
            self._clear(self.folders.job(found.project, job))
        return changed

    def enough(self, job: str) -> bool:
        """Ask a running job to stop its search and keep the best; tell whether there is a best to keep."""
        with self._lock:
            worker, live = self._workers.get(job), self._live.get(job)
        if worker is None or worker.stdin is None or live is None or not live.can_stop:
            return False
        try:
            worker.stdin.write("enough\n")
            worker.stdin.flush()
        except (BrokenPipeError, ValueError):
            return False
        return True

    def live(self, job: Job) -> Live:
        """Return how far a job is."""
        live = None if job.state.is_over else self._live.get(job.id)
        return live or Live(job.state, job.done, job.words, job.best)

    @staticmethod
    def _clear(folder: Path) -> None:
        """Remove what a job had made so far: half a release is nobody's."""
        for path in folder.iterdir() if folder.is_dir() else ():
            if path.name not in ("order.json", "error.log"):
                shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)

    # --- the workflow ----------------------------------------------------------------------------------------

    def _enqueue(self, job: Job) -> None:
        queue = _HEAVY if job.kind == "run" else _LIGHT
        with SetWorkflowID(f"{job.id}-{new_id()}"):
            DBOS.enqueue_workflow(queue, _perform, job.id)

    def perform(self, name: str) -> str:
        """Run the worker of a job to its end, and write down how it ended."""
        try:
            return self._performed(name)
        except Exception as error:
            # whatever it was, the job must not look as if it went on
            full = is_disk_full(error)
            if full:
                self._wait_for_room()
            if not self._failed(name, told_error(error)):
                return "over"
            if full:
                return "failed"
            raise
        finally:
            self._live.pop(name, None)

    def _performed(self, name: str) -> str:
        job = self.store.job(name)
        if job is None or job.state.is_over:
            return "over"
        if job.attempts >= _MOST_ATTEMPTS:
            said = {"message": spoken(INTERRUPTED, times=job.attempts)}
            self.store.change_job(name, only_from=_ACTIVE, state=State.INTERRUPTED, error=said, ended=now())
            return "interrupted"
        begun = self.store.change_job(
            name, only_from=_ACTIVE, state=State.RUNNING, started=now(), attempts=job.attempts + 1, done=0.0
        )
        return self._worked(job) if begun else "over"

    def _worked(self, job: Job) -> str:
        folder = self.folders.job(job.project, job.id)
        for _try in range(_MOST_SET_ASIDE):
            code, told = self._watch(job, folder)
            if self._closing or code >= 0 or not self._goes_on_without(job, folder):
                break
        if self._closing:
            self.store.change_job(job.id, only_from=_ACTIVE, state=State.WAITING, done=0.0, attempts=job.attempts)
            return "closed"  # its workflow ends, the job does not: it goes on when the studio starts again
        if code == 0 and "summary" in told:
            found = self.store.job(job.id)
            if found is None or found.state.is_over:  # removed or cancelled at the last moment
                return "over"
            self._after(job, told["summary"])
            best = self.live(found).best
            self.store.change_job(
                job.id, only_from=_ACTIVE, state=State.DONE, done=1.0, summary=told["summary"], best=best, ended=now()
            )
            return "done"
        remove_half_written(folder)
        error = told.get("error") or {"message": spoken(GONE if code < 0 else UNEXPECTED)}
        return "failed" if self._failed(job.id, error) else "over"

    def _failed(self, name: str, error: Mapping[str, Any]) -> bool:
        """Write down that a job failed; a run that had a result before it was taken up again keeps it."""
        job = self.store.job(name)
        if job is None:
            return False
        ended = {"state": State.DONE, "done": 1.0} if job.summary else {"state": State.FAILED}
        return self.store.change_job(name, only_from=_ACTIVE, error=dict(error), ended=now(), **ended)

    def _goes_on_without(self, job: Job, folder: Path) -> bool:
        """Set aside the attack or the measure at which a worker was killed; tell whether the others can go on."""
        found = self.store.job(job.id)
        if job.kind != "run" or found is None or found.state.is_over:
            return False
        return set_aside(folder, spoken(GONE))

    def _wait_for_room(self) -> None:
        """Write down what is not written as soon as the disk has room again, and let workflows go that hang on it."""
        with self._lock:
            if self._closing or (self._waiting_for_room is not None and self._waiting_for_room.is_alive()):
                return
            self._waiting_for_room = threading.Thread(target=self._write_down, name="noren-room", daemon=True)
            self._waiting_for_room.start()

    def _write_down(self) -> None:
        while not self._closed.wait(_ROOM_EVERY):
            with contextlib.suppress(SQLAlchemyError):
                if self.store.write_down():
                    self._let_go_of_workflows()
                    return

    def _let_go_of_workflows(self) -> None:
        """End workflows that could not write that they ended: each would take a place in the queue for ever."""
        for status in DBOS.list_workflows(status=["PENDING"]):
            job = self.store.job(status.workflow_id[:12])
            if job is None or job.state.is_over:
                DBOS.cancel_workflow(status.workflow_id)

    def _watch(self, job: Job, folder: Path) -> tuple[int, dict[str, Any]]:
        told: dict[str, Any] = {}
        saved, live = 0.0, Live(State.RUNNING, 0.0, "", None)
        command = [sys.executable, "-m", "noren.studio.worker", str(folder)]
        with self._lock:
            # under the lock that cancelling takes after it wrote so: either it finds the worker, or there is none
            begun = self.store.job(job.id)
            if begun is None or begun.state.is_over or self._closing:
                return _NEVER_STARTED, told
            log = os.open(folder / "error.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                started = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                    encoding="utf-8",
                    start_new_session=True,  # Ctrl-C in the terminal is for the server
                )
            finally:
                os.close(log)
            self._workers[job.id] = started
        try:
            with started as worker:
                try:
                    for said in _lines_of(worker):
                        if "done" not in said:
                            told |= said
                            continue
                        best = live.best if said["best"] is None else said["best"]
                        live = Live(State.RUNNING, said["done"], said["words"], best, can_stop=said["best"] is not None)
                        self._live[job.id] = live
                        if time.monotonic() - saved > _SAVE_EVERY:
                            saved = time.monotonic()
                            self._save(job.id, live)
                finally:
                    _end(worker)  # it and what it started must not go on unheard
        finally:  # its process is gone
            with self._lock:
                self._workers.pop(job.id, None)
        return started.returncode, told

    def _save(self, job: str, live: Live) -> None:
        """Keep how far a job is; on a full disk it is only told."""
        try:
            self.store.change_job(job, only_from=(State.RUNNING,), done=live.done, words=live.words, best=live.best)
        except OperationalError as error:
            if not is_disk_full(error):
                raise


def _lines_of(worker: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    """Yield what a worker says until its process is gone, whoever still holds the other end of the line."""
    lines: queue.Queue[str | None] = queue.Queue()

    def hear() -> None:
        with contextlib.suppress(ValueError, OSError):  # closed under us
            for line in worker.stdout or ():
                lines.put(line)
        lines.put(None)

    threading.Thread(target=hear, name="noren-hearing", daemon=True).start()
    gone: float | None = None
    while gone is None or time.monotonic() < gone + _LAST_WORDS:
        try:
            line = lines.get(timeout=_LOOK_EVERY)
        except queue.Empty:
            if gone is None and worker.poll() is not None:
                gone = time.monotonic()
            continue
        if line is None:
            return
        with contextlib.suppress(json.JSONDecodeError):  # cut off in the middle of a word
            yield json.loads(line)


def _end(worker: subprocess.Popen[str]) -> None:
    """End a worker's process and all that it started; they are a session of their own."""
    if worker.poll() is None:
        worker.kill()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(worker.pid, signal.SIGKILL)


_current: Jobs | None = None


@DBOS.step(name="noren-work")
def _work(job: str) -> str:
    if _current is None:
        raise ParameterError("no studio is open", "")
    return _current.perform(job)


@DBOS.workflow(name="noren-job")
def _perform(job: str) -> str:
    return _work(job)
