"""A studio that runs in a process of its own, and people who use it: a program and a browser."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

OVER = {"done", "failed", "cancelled", "interrupted"}


class Running:
    """A studio in a process of its own; it can be stopped, killed and started again on the same folder."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder, self.options = folder, options
        self.address = ""
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> Running:
        command = [sys.executable, "-m", "noren", "studio", "--no-open", "--data-dir", str(self.folder), *self.options]
        if "--port" not in self.options:
            command += ["--port", self.address.rsplit(":", 1)[1].rstrip("/") if self.address else "0"]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, encoding="utf-8")
        assert self.process.stderr is not None
        told = self.process.stderr.readline()
        found = re.search(r"http://\S+", told)
        assert found, told + self.process.stderr.read()
        self.address = found[0]
        limit = time.monotonic() + 60
        while time.monotonic() < limit:
            try:
                if httpx.get(self.address + "healthy", timeout=5).status_code == 200:
                    return self
            except httpx.TransportError:
                pass
            time.sleep(0.05)
        raise AssertionError("the studio does not answer")

    def stop(self) -> None:
        """Stop kindly, as Ctrl-C does."""
        assert self.process is not None
        self.process.send_signal(2)
        self.process.wait(30)
        self._close()

    def kill(self) -> None:
        """Stop as a power cut does."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(30)
        self._close()

    def _close(self) -> None:
        assert self.process is not None
        assert self.process.stderr is not None
        self.process.stderr.close()

    def client(self, language: str = "en") -> httpx.Client:
        """Return a program that uses the studio: cookie and token ready."""
        client = httpx.Client(base_url=self.address, timeout=60, headers={"Accept-Language": language})
        client.headers["X-CSRF-Token"] = client.get("/api/v1/session").json()["csrf"]
        return client


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(tmp_path_factory.mktemp("studio")).start()
    yield running
    running.stop()


@pytest.fixture
def client(server: Running) -> Iterator[httpx.Client]:
    with contextlib.closing(server.client()) as client:
        yield client


def wait_for(client: httpx.Client, job: str, seconds: float = 120) -> dict[str, Any]:
    """Wait until a job is over and return it."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        said: dict[str, Any] = client.get(f"/api/v1/jobs/{job}").json()
        if said["state"] in OVER:
            return said
        time.sleep(0.05)
    raise AssertionError(f"the job is still {said}")


def ready_project(client: httpx.Client, sample: str = "history", name: str = "Try") -> str:
    """Return a new project whose data were read."""
    project = client.post("/api/v1/projects", json={"name": name, "sample": sample}).json()["id"]
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        if client.get(f"/api/v1/projects/{project}").json()["ready"]:
            return str(project)
        time.sleep(0.05)
    raise AssertionError("the sample was not read")


def small_project(client: httpx.Client, folder: Path, customers: int = 30, rows: int = 600) -> str:
    """Return a project of a small history, so that even all attacks are quick."""
    from noren.api import sample
    from noren.data.reading import write
    from noren.data.schema import Schema

    # without the column of which nobody could guess what it is for
    columns = Schema.preset("sample").without(["country"])
    history = sample(customers=customers, rows=rows, items=80, seed=7, schema=columns)
    write(history, folder / "small.parquet")
    project: str = client.post("/api/v1/projects", json={"name": "Small"}).json()["id"]
    content = (folder / "small.parquet").read_bytes()
    sent = client.put(f"/api/v1/projects/{project}/file", params={"name": "small.parquet"}, content=content)
    job = wait_for(client, sent.json()["id"])
    assert job["state"] == "done", job
    return project


@pytest.fixture
def browser_page(server: Running, browser: Any) -> Iterator[Any]:
    """A page of a browser that fails the test on errors of scripts and on requests that leave the machine."""
    with watched(browser, server.address) as page:
        yield page


class watched:  # noqa: N801 - used as a function
    """A page whose errors and strange requests are collected and fail at the end."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.context = browser.new_context(base_url=address, **{"locale": "en-GB"} | options)
        self.address, self.wrong = address, []  # type: ignore[var-annotated]

    def __enter__(self) -> Any:
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("console", lambda said: self.wrong.append(said.text) if said.type == "error" else None)
        page.on("request", self._inside)
        return page

    def _inside(self, request: Any) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.wrong.append(f"a request leaves the machine: {request.url}")

    def __exit__(self, kind: Any, *_rest: Any) -> None:
        self.context.close()
        if kind is None:
            assert self.wrong == []


Wait = Callable[[httpx.Client, str], dict[str, Any]]
