"""Studios in this process and in processes of their own, with projects to look at."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.conftest import PATIENCE, traced_surroundings
from tests.studio.browsing import watched
from tests.studio.in_process import InProcess, Program, Server, lay_bundle
from tests.studio.quiet import Quiet

# The coverage of a server is measured, but not that of the workers that it starts.
MEASURED_ALONE = "import os; os.environ.pop('COVERAGE_PROCESS_START', None); from noren.cli import main; main()"
OVER = {"done", "failed", "cancelled", "interrupted"}


def until(true: Callable[[], Any], what: str, every: float = 0.03) -> Any:
    """Wait until something is so, and return it."""
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        if answer := true():
            return answer
        time.sleep(every)
    raise AssertionError(f"not within {PATIENCE:.0f} s: {what}")


def lasting_port() -> int:
    """Return a free port that nobody is given by chance: below those that the system hands out by itself."""
    for port in range(20_000 + os.getpid() % 10_000, 32_000):
        with socket.socket() as tried, contextlib.suppress(OSError):
            tried.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


class Running(Server):
    """A studio in a process of its own; it can be stopped, killed and started again on the same folder."""

    def __init__(self, folder: Path, *options: str, port: int = 0, measured_workers: bool = False) -> None:
        self.folder, self.options, self.port = folder, options, port
        self.program = ("-m", "noren") if measured_workers else ("-c", MEASURED_ALONE)
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> Running:
        lay_bundle(self.folder)
        command = [sys.executable, *self.program, "studio", "--no-open", "--data-dir", str(self.folder)]
        command += ["--port", str(self.port), *self.options]
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, encoding="utf-8", env=traced_surroundings()
        )
        assert self.process.stderr is not None
        told = self.process.stderr.readline()
        found = re.search(r"http://\S+", told)
        assert found, told + self.process.stderr.read()
        self.address = found[0]
        until(self._answers, "the studio answers")
        return self

    def _answers(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, "the studio ended"
        try:
            return httpx.get(self.address + "healthz", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    def stop(self) -> None:
        """Stop kindly, as Ctrl-C does."""
        assert self.process is not None
        self.process.send_signal(2)
        self.process.wait(PATIENCE)
        self._close()

    def kill(self) -> None:
        """Stop as a power cut does."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(PATIENCE)
        self._close()

    def _close(self) -> None:
        assert self.process is not None
        assert self.process.stderr is not None
        self.process.stderr.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcess]:
    """A studio of this process, for all tests that do not stop it."""
    made = InProcess(tmp_path_factory.mktemp("studio"))
    yield made
    made.stop()


@pytest.fixture
def client(server: Server) -> Iterator[Program]:
    with contextlib.closing(server.client()) as client:
        yield client


@pytest.fixture
def quiet(tmp_path: Path) -> Iterator[Quiet]:
    """A studio in this process, without background work."""
    made = Quiet(tmp_path / "studio")
    yield made
    made.studio.close()


@pytest.fixture
def browser_page(server: Server, browser: Any) -> Iterator[Any]:
    """A page of a browser that fails the test on errors of scripts and on requests that leave the machine."""
    with watched(browser, server.address) as page:
        yield page


@pytest.fixture(scope="session")
def shop(server: Server) -> str:
    """A project with made-up purchases, for whoever changes nothing of it."""
    return laid_project(server, "Shop", sample="history")


def wait_for(client: httpx.Client, job: str) -> dict[str, Any]:
    """Wait until a job is over and return it."""

    def ended() -> dict[str, Any] | None:
        said: dict[str, Any] = client.get(f"/api/v1/jobs/{job}").json()
        return said if said["state"] in OVER else None

    over: dict[str, Any] = until(ended, f"the job {job} is over", every=0.1)
    return over


# --- projects whose data were read ------------------------------------------------------------------------------


def ready_project(client: Program, sample: str = "history", name: str = "Try") -> str:
    """Return a new project with made-up data that were read."""
    return laid_project(client.server, name, sample=sample)


def small_project(client: Program, folder: Path, customers: int = 30, rows: int = 600) -> str:
    """Return a project of a small history, so that even all attacks are quick."""
    from noren.api import sample
    from noren.data.reading import write
    from noren.data.schema import Schema

    # without the column of which nobody could guess what it is for
    columns = Schema.preset("sample").without(["country"])
    history = sample(customers=customers, rows=rows, items=80, seed=7, schema=columns)
    write(history, folder / "small.parquet")
    return laid_project(client.server, "Small", file=folder / "small.parquet")


def laid_project(
    server: Server, name: str, *, sample: str | None = None, file: Path | None = None, preset: str | None = None
) -> str:
    """Return a new project whose data were read as a worker reads them, but here, where all is loaded already."""
    before = os.umask(0o077)  # as a worker has it
    try:
        return _laid_project(server, name, sample, file, preset)
    finally:
        os.umask(before)


def _laid_project(server: Server, name: str, sample: str | None, file: Path | None, preset: str | None) -> str:
    from noren.data.schema import Schema
    from noren.progress import silent
    from noren.studio.folders import SOURCE_FILE, Folders
    from noren.studio.store import State, Store, now
    from noren.studio.work import reading

    store, folders = Store(f"sqlite:///{server.folder / 'studio.sqlite'}"), Folders(server.folder)
    source = {"sample": sample} if file is None else {"file": file.name, "bytes": file.stat().st_size}
    project = store.add_project(name, source).id
    order: dict[str, Any] = {"kind": "read", "project": project, "root": str(server.folder.resolve()), "language": "en"}
    order |= {"sample": sample} if file is None else {"file_name": file.name}
    if preset is not None:
        order |= {"schema": Schema.preset(preset).to_toml(), "leave_out": []}
    job = store.add_job(project, "read", name, order)
    folder = folders.job(project, job.id)
    folder.mkdir(parents=True, mode=0o700)
    if file is not None:
        shutil.copyfile(file, folders.project(project) / SOURCE_FILE)
    facts = reading.do(order, folder, silent)
    store.change_project(project, facts=facts)
    store.change_job(job.id, state=State.DONE, done=1.0, summary=facts, attempts=1, started=now(), ended=now())
    store.close()
    return project
