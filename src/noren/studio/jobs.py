"""Durable background work: the studio's part in its queue of jobs.

A job is a row in the store, which is a queue (:mod:`noren.work.queue`), and a folder for its files. To do it is to run
a worker process to its end. A server that was killed takes up what it had begun when it starts again; with PostgreSQL
another that shares database and folder does so, as soon as the lease is over. Orders hold their seed and workers write
whole files, so a job done twice gives the same bytes.

However a worker ends (done, wrong input, killed, out of memory, a full disk), its job ends within seconds and with a
reason that a person can act on. Where an attack or a measure brought the worker down, it is set aside and another
worker goes on with the others, so that nothing finished is lost.
"""

from __future__ import annotations

import contextlib
import fcntl
import shutil
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy.exc import OperationalError

from noren.errors import FileError
from noren.i18n import _
from noren.studio.failure_reasons import GONE, error_details, in_all_languages
from noren.studio.folders import JUDGED_FILE, Folders, remove_half_written, remove_leftovers
from noren.studio.store import HEAVY, LIGHT, Job, State, Store, as_columns
from noren.studio.work.results import set_aside
from noren.web.errors import UNEXPECTED, is_disk_full
from noren.web.settings import ServerSettings
from noren.work.child_processes import Child, Line, private_log
from noren.work.queue import Claim
from noren.work.runner import JobOutcome, Runner

_AT_ONCE_LIGHT = 2
_SAVE_EVERY = 0.5
_NEVER_STARTED = -9
"""The code of a worker that was killed, for one that was stopped before it was."""
_LOOK_EVERY = 0.25
_MOST_SET_ASIDE = 100


@dataclass(frozen=True)
class JobProgress:
    """How far a job is, right now."""

    state: State
    done: float
    words: str
    best: float | None
    can_stop: bool = False
    """Whether the search may be ended with the best so far."""


class JobRunner:
    """The background work of one studio."""

    def __init__(self, settings: ServerSettings, store: Store) -> None:
        self.store, self.folders, self._settings = store, Folders(settings.folder), settings
        self.runner = Runner(store.queue, self._work, {HEAVY: settings.workers, LIGHT: _AT_ONCE_LIGHT})
        self._live: dict[str, JobProgress] = {}
        self._workers: dict[str, Child] = {}
        self._lock = threading.Lock()
        # two servers with a database in the folder would each take up what the other does; with PostgreSQL they share.
        # The system's lock ends with its process, however it ends
        self._presence = (settings.folder / "studio.lock").open("ab")
        if not self._is_alone() and not store.queue.is_shared:
            self._presence.close()
            raise FileError(
                _("another studio works with this folder; choose another folder with --data-dir"), file=settings.folder
            )

    # --- life ------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Take up what was under way, and what comes."""
        waiting = self.store.queue
        if self._is_alone():
            if not waiting.is_shared:
                waiting.end_leases()
            if not waiting.is_held():  # perhaps from another machine, where locks of files are not seen
                remove_leftovers(self._settings.folder)
            for name in waiting.unqueued():
                if (job := self.store.job(name)) is not None:
                    self.submit(job)
        if waiting.is_shared:
            fcntl.flock(self._presence, fcntl.LOCK_SH)
        self.runner.start()

    def close(self) -> None:
        """Stop every worker; their jobs go on when the studio starts again, or in another that shares them."""
        self.runner.close()
        with self._presence, contextlib.suppress(OperationalError):  # also where the database is away
            self.store.queue.write_down()
            if self._is_alone() and not self.store.queue.is_held():
                remove_leftovers(self._settings.folder)

    def _is_alone(self) -> bool:
        """Tell whether no other studio of this machine works with the folder, and let none come while that counts."""
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(self._presence, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False

    # --- what people ask for ---------------------------------------------------------------------------------

    def submit(self, job: Job, **values: Any) -> None:
        """Let a job wait for its turn, with other ``values`` than are known of it.

        Of one that is over and is taken up again, what it finished stays and what is missing is done.
        """
        self.folders.job(job.project, job.id).mkdir(parents=True, exist_ok=True, mode=0o700)
        self.store.queue.enqueue(job.id, HEAVY if job.kind == "run" else LIGHT, **as_columns(values))
        self.runner.wake()

    def cancel(self, job: str) -> bool:
        """Stop a job and throw away what it did; tell whether it was under way. Its process is gone when this returns.

        What is over stays as it is, and may be removed without fear that somebody still writes there. A run that had a
        result before it was taken up again keeps it.
        """
        known = self.store.job(job)
        had_result = known is not None and bool(known.summary)
        changed = self.store.queue.end(job, State.DONE if had_result else State.CANCELLED)
        with self._lock:
            worker = self._workers.get(job)
        if worker is not None:
            worker.kill()
        while worker is None and self.store.queue.is_held(job):
            # until whoever is at work on it, perhaps on another machine, learnt that it is over, or is gone
            time.sleep(_LOOK_EVERY)
        if changed and known is not None and not had_result:
            folder = self.folders.job(known.project, job)  # half a release is nobody's
            for path in folder.iterdir() if folder.is_dir() else ():
                if path.name != "error.log":
                    shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink(missing_ok=True)
        return changed

    def enough(self, job: str) -> bool:
        """Ask a running job to stop its search and keep the best; tell whether there is a best to keep."""
        with self._lock:
            worker, live = self._workers.get(job), self._live.get(job)
        return worker is not None and live is not None and live.can_stop and worker.tell({"enough": True})

    def live(self, job: Job) -> JobProgress:
        """Return how far a job is."""
        if job.state != State.RUNNING:  # what was told last stays until it is written down that the job ended
            self._live.pop(job.id, None)
        live = self._live.get(job.id)
        return live or JobProgress(job.state, job.done, job.words, job.best)

    # --- the work --------------------------------------------------------------------------------------------

    def _work(self, claim: Claim) -> JobOutcome:
        """Run the worker of a job to its end, and tell how it ended."""
        job = self.store.job(claim.id)
        if job is None:  # removed at the last moment
            return JobOutcome(State.CANCELLED)
        folder = self.folders.job(job.project, job.id)
        self._live.pop(job.id, None)
        try:
            self._save(job.id, done=0.0)
            for _try in range(_MOST_SET_ASIDE):
                code, report = self._watch(job, folder, claim)
                if claim.gone.is_set() or code >= 0:
                    break
                # the attack or the measure at which the worker was killed is set aside, and the others go on
                if job.kind != "run" or not self._is_ours(job) or not set_aside(folder, in_all_languages(GONE)):
                    break
            if claim.gone.is_set():
                return JobOutcome(State.WAITING, {"done": 0.0})
            if code == 0 and "summary" in report:
                if job.kind == "read" and self._is_ours(job):
                    self.store.change_project(job.project, facts=report["summary"])
                live = self._live.get(job.id)
                done = {"done": 1.0, "summary": report["summary"], "best": job.best if live is None else live.best}
                return JobOutcome(State.DONE, as_columns(done))
            remove_half_written(folder)
            return self._failed(
                job, report.get("error") or {"message": in_all_languages(GONE if code < 0 else UNEXPECTED)}
            )
        except Exception as error:
            # whatever it was, the job must not look as if it went on; its error log tells what nobody expected
            with contextlib.suppress(OSError), private_log(folder / "error.log") as file:
                file.writelines(traceback.format_exception(error))
            return self._failed(job, error_details(error))
        finally:
            if claim.gone.is_set():  # another server may do it now
                self._live.pop(claim.id, None)
            else:  # it holds other people's data, and nobody needs it any more
                (folder / JUDGED_FILE).unlink(missing_ok=True)

    def _failed(self, job: Job, error: Mapping[str, Any]) -> JobOutcome:
        """Return that a job failed; a run that had a result before it was taken up again keeps it."""
        columns = as_columns({"error": error})
        return JobOutcome(State.DONE, columns | {"done": 1.0}) if job.summary else JobOutcome(State.FAILED, columns)

    def _is_ours(self, job: Job) -> bool:
        """Tell whether a job is still to be done by us: not cancelled, removed or another's."""
        return self.store.queue.holds(self.runner.holder, job.id)

    def _watch(self, job: Job, folder: Path, claim: Claim) -> tuple[int, Line]:
        report: Line = {}
        handle = self._line_handler(job, report)
        command = [sys.executable, "-m", "noren.studio.worker", str(folder)]
        with self._lock:
            # under the lock that cancelling takes after it wrote so: either it finds the worker, or there is none
            if claim.gone.is_set() or not self._is_ours(job):
                return _NEVER_STARTED, report
            worker = self._workers[job.id] = Child(command, folder / "error.log")
        try:
            worker.tell(job.order)
            for line in worker.lines(claim.gone):
                handle(line)
        finally:
            code = worker.end()  # it and what it started must not go on unheard
            with self._lock:
                self._workers.pop(job.id, None)
        return code, report

    def _line_handler(self, job: Job, report: Line) -> Callable[[Line], None]:
        """Return a handler of a worker's lines: progress is stored, everything else is added to ``report``."""
        saved, live = 0.0, JobProgress(State.RUNNING, 0.0, "", None)

        def handle(line: Line) -> None:
            nonlocal saved, live
            if "done" not in line:
                report.update(line)
                return
            best = live.best if line["best"] is None else line["best"]
            live = JobProgress(State.RUNNING, line["done"], line["words"], best, line["best"] is not None)
            self._live[job.id] = live
            if time.monotonic() - saved > _SAVE_EVERY:
                saved = time.monotonic()
                self._save(job.id, done=live.done, words=live.words, best=live.best)

        return handle

    def _save(self, job: str, **how_far: Any) -> None:
        """Keep how far a job is; on a full disk it is only told."""
        try:
            self.store.change_job(job, only_from=(State.RUNNING,), **how_far)
        except OperationalError as error:
            if not is_disk_full(error):
                raise
