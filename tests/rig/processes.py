"""A server and its workers as processes of this machine, which can be killed at any moment and started again."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx

PATIENCE = 120.0
"""Seconds to wait for a server that starts."""


class Hall:
    """The processes of one arena in a folder; each writes what it says to a file there.

    Parameters
    ----------
    database
        The address of a PostgreSQL; SQLite in the folder where left out.
    workers
        How many processes judge.
    lease
        Seconds after which the job of a worker that was killed is anybody's.
    """

    def __init__(self, folder: Path, *, database: str | None, workers: int, lease: float = 3.0) -> None:
        self.folder, self._lease = folder, lease
        self._kept = ["--data-dir", str(folder / "arena"), *(["--database", database] if database else [])]
        self._port = _free_port()
        self._lock = threading.Lock()
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._names = ["server", *(f"worker-{number}" for number in range(1, workers + 1))]
        self.killed = {"server": 0, "worker": 0}
        (folder / "arena").mkdir(mode=0o700)

    @property
    def address(self) -> str:
        """Where the server answers."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def workers(self) -> list[str]:
        """The names of the workers."""
        return self._names[1:]

    def start(self) -> None:
        """Start all, and wait until the server answers."""
        self._start("server")
        self.wait()  # the first one makes the tables
        for name in self.workers:
            self._start(name)

    def wait(self) -> None:
        """Wait until the server answers."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            if self._running["server"].poll() is not None:
                break
            try:
                httpx.get(f"{self.address}/api/v1/session", timeout=5.0)
            except httpx.TransportError:
                time.sleep(0.05)
            else:
                return
        raise AssertionError(f"the server did not start; it said: {self._said('server')}")

    def stop(self, name: str) -> None:
        """End a process, and leave it so."""
        with self._lock:
            process = self._running.pop(name)
            process.terminate()
            process.wait()

    def go_on(self, name: str) -> None:
        """Start a process that was ended."""
        with self._lock:
            self._start(name)

    def kill(self, name: str) -> None:
        """Kill a process as a power cut would, and start it again."""
        with self._lock:
            process = self._running[name]
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.killed["server" if name == "server" else "worker"] += 1
            self._start(name)

    def close(self) -> None:
        """End all."""
        with self._lock:
            for process in self._running.values():
                process.terminate()
            for process in self._running.values():
                try:
                    process.wait(15.0)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            self._running.clear()

    def _start(self, name: str) -> None:
        words = ["serve", "--port", str(self._port), "--no-open", "--no-work", "--proxy", "127.0.0.1"]
        if name != "server":
            words = ["work", "--workers", "1", "--lease", str(self._lease)]
        with (self.folder / f"{name}.log").open("ab") as said:
            self._running[name] = subprocess.Popen(
                [sys.executable, "-m", "noren", "contest", *words, *self._kept, "--rehearsal"],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                env={**os.environ, "NOREN_LANG": "en"},
            )

    def _said(self, name: str) -> str:
        lines = (self.folder / f"{name}.log").read_text(encoding="utf-8", errors="replace").splitlines()
        return lines[-1][:300] if lines else "nothing"


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
    return port
