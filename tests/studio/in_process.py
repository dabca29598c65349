"""A studio served by a thread of this process, whose jobs are done by threads of this process.

People and programs reach it over HTTP, as any studio. Its jobs wait in the queue and are done one at a time by the
function that a worker process calls, so nothing has to be started and imported for each.
"""

from __future__ import annotations

import contextlib
import socket
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest import mock

import httpx
import uvicorn
from tests.conftest import PATIENCE

from noren.i18n import use_language
from noren.studio.app import make_app
from noren.studio.jobs import JobRunner
from noren.studio.store import Job
from noren.studio.worker import ProgressReporter, perform
from noren.web.frame import Bundle
from noren.web.settings import ServerSettings
from noren.work.child_processes import Line, private_log
from noren.work.queue import Claim

_KILLED = -9
_one_at_a_time = threading.Lock()


class Program(httpx.Client):
    """A program that uses a studio: cookie and token ready."""

    def __init__(self, server: Server, language: str) -> None:
        super().__init__(base_url=server.address, timeout=PATIENCE, headers={"Accept-Language": language})
        self.server = server
        self.headers["X-CSRF-Token"] = self.get("/api/v1/session").json()["csrf"]


@cache
def _bundle() -> tuple[str, bytes]:
    """Return the charts' script, which takes two seconds to make."""
    with tempfile.TemporaryDirectory() as name:
        made = Bundle(Path(name)).ready()
        return made.name, made.read_bytes()


def lay_bundle(folder: Path) -> None:
    """Put the charts' script where a studio keeps it, as a studio that was open before has it."""
    name, content = _bundle()
    place = folder / "bundle"
    if not place.exists():
        place.mkdir(parents=True, mode=0o700)
        (place / name).touch(mode=0o600)
        (place / name).write_bytes(content)


class Server:
    """A studio that answers at an address and keeps its data in a folder."""

    folder: Path
    address: str

    def client(self, language: str = "en") -> Program:
        """Return a program that uses the studio."""
        return Program(self, language)


class InProcess(Server):
    """A studio served by a thread of this process."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self._socket = socket.create_server(("127.0.0.1", 0))
        port = self._socket.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}/"
        lay_bundle(folder)
        app = make_app(ServerSettings(folder, port=port, **settings))
        do_jobs_here(app.state.studio.jobs)
        # as noren.web.responses serves it
        config = uvicorn.Config(
            app, log_level="warning", server_header=False, proxy_headers=False, timeout_graceful_shutdown=3
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        self._thread.start()

    @contextlib.contextmanager
    def holding(self) -> Iterator[None]:
        """Let no job go on within, so that its page can be looked at while it is under way."""
        with _one_at_a_time:
            yield

    def stop(self) -> None:
        self._server.should_exit = True
        self._thread.join(PATIENCE)
        self._socket.close()


class Killed(BaseException):
    """Raised in a job that was cancelled or whose studio closes: it ends at once, as a process that is killed."""


class _Worker:
    """What the studio holds of a worker's process, for a job that is done by a thread."""

    def __init__(self, claim: Claim, hear: Callable[[Line], None]) -> None:
        self._claim, self._hear = claim, hear
        self._killed, self.gone = threading.Event(), threading.Event()
        self.teller = ProgressReporter(self._say)

    def tell(self, _line: Line) -> bool:
        self.teller.enough()
        return True

    def kill(self) -> None:
        self._killed.set()
        assert self.gone.wait(PATIENCE)

    def go_on(self) -> None:
        if self._killed.is_set() or self._claim.gone.is_set():
            raise Killed

    def _say(self, line: Line) -> None:
        self.go_on()
        self._hear(line)

    def perform(self, order: Line, folder: Path) -> int:
        """Do the job; return the exit code."""
        while not _one_at_a_time.acquire(timeout=0.05):
            self.go_on()
        try:
            with mock.patch("noren.i18n._remembering", new=True), use_language(order["language"]):
                last = perform(order, folder, self.teller)
            self._hear(last)
            return 0 if "summary" in last else 2
        finally:
            _one_at_a_time.release()


def do_jobs_here(jobs: JobRunner) -> None:
    """Let the jobs of a studio be done by its own threads."""
    jobs._watch = partial(_watch, jobs)  # type: ignore[method-assign]


def _watch(jobs: JobRunner, job: Job, folder: Path, claim: Claim) -> tuple[int, Line]:
    told: Line = {}
    worker: Any = _Worker(claim, jobs._line_handler(job, told))
    with jobs._lock:
        if claim.gone.is_set() or not jobs._is_ours(job):
            return _KILLED, told
        jobs._workers[job.id] = worker
    try:
        return worker.perform(job.order, folder), told
    except Killed:
        return _KILLED, told
    except Exception as error:
        with contextlib.suppress(OSError), private_log(folder / "error.log") as log:
            log.writelines(traceback.format_exception(error))
        return 1, told
    finally:
        with jobs._lock:
            jobs._workers.pop(job.id, None)
        worker.gone.set()
