"""A real cluster on this machine: one master and workers, processes of their own from the pyspark package."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import IO

import pyspark

from noren.execution.session import java_home

_PATIENCE = 90.0


class Standalone:
    """One master and two workers on loopback, each worker with one core and 1 GB; ends them all at the end."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self._folder = folder
        self._logs: list[IO[bytes]] = []
        self.address = f"spark://127.0.0.1:{_free_port()}"
        port = self.address.rpartition(":")[2]
        page = str(_free_port())
        self._processes = [self._start("master", "Master", "-h", "127.0.0.1", "-p", port, "--webui-port", page)]
        self._wait_for("master", "Started daemon|I have been elected leader")
        self.workers = [self._worker(at) for at in range(workers)]
        for at in range(workers):
            self._wait_for(f"worker{at}", "Successfully registered with master")

    def _worker(self, at: int) -> subprocess.Popen[bytes]:
        work = str(self._folder / f"work{at}")
        arguments = ("-h", "127.0.0.1", "-c", "1", "-m", "1g", "-d", work, "--webui-port", str(_free_port()))
        started = self._start(f"worker{at}", "worker.Worker", *arguments, self.address)
        self._processes.append(started)
        return started

    def _start(self, name: str, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        home = Path(pyspark.__file__).parent
        kind = kind if "." in kind else f"{kind.lower()}.{kind}"
        log = (self._folder / f"{name}.log").open("wb")
        self._logs.append(log)
        surroundings = os.environ | {
            "SPARK_HOME": str(home),
            "JAVA_HOME": str(java_home()),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(self._folder / "scratch"),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_DAEMON_MEMORY": "512m",
        }
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", *arguments]
        # a group of its own: the executors that a worker starts end with it
        return subprocess.Popen(command, env=surroundings, stdout=log, stderr=log, start_new_session=True)

    def _wait_for(self, name: str, words: str) -> None:
        until = time.monotonic() + _PATIENCE
        path = self._folder / f"{name}.log"
        while not any(word in path.read_text(errors="replace") for word in words.split("|")):
            if time.monotonic() > until:
                raise TimeoutError(path.read_text(errors="replace")[-2000:])
            time.sleep(0.2)

    def kill(self, worker: int) -> None:
        """End a worker and its executors at once, as a machine that loses its power."""
        os.killpg(self.workers[worker].pid, signal.SIGKILL)
        self.workers[worker].wait()

    def __enter__(self) -> Standalone:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for process in self._processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        for log in self._logs:
            log.close()


def _free_port() -> int:
    with socket.socket() as tried:
        tried.bind(("127.0.0.1", 0))
        return int(tried.getsockname()[1])
