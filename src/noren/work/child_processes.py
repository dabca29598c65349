"""Child processes: orders go in and answers come out as lines of JSON; a child ends with its parent.

The parent's side is :class:`Child`, the child's is :func:`become_child` with the :class:`Parent` that it returns.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

Line = dict[str, Any]
"""What both sides say to each other, one object a line."""
_LOOK_EVERY, _LAST_WORDS = 0.25, 2.0
"""Seconds between looks at a child, and how long it is listened to once its process is gone."""
_PARENT_GONE = 3


def private_log(path: Path) -> TextIO:
    """Open a log to write on at its end; its owner alone may read it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    return os.fdopen(descriptor, "w", encoding="utf-8")


class Child:
    """A process that works for us; what else it says goes to a log that its owner alone may read."""

    def __init__(self, command: Sequence[str], log: Path, *, environment: Mapping[str, str] | None = None) -> None:
        with private_log(log) as error:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=error,
                text=True,
                encoding="utf-8",
                env=None if environment is None else {**os.environ, **environment},
                start_new_session=True,  # Ctrl-C in the terminal is for the parent
            )
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._hear, name="noren-hearing", daemon=True).start()

    def _hear(self) -> None:
        with contextlib.suppress(ValueError, OSError):  # closed under us
            for line in self.process.stdout or ():
                self._lines.put(line)
        self._lines.put(None)

    @property
    def is_over(self) -> bool:
        """Whether the process is gone."""
        return self.process.poll() is not None

    def tell(self, line: Mapping[str, Any]) -> bool:
        """Say something to the child; tell whether it could hear it."""
        try:
            if self.process.stdin is not None:
                self.process.stdin.write(json.dumps(line) + "\n")
                self.process.stdin.flush()
        except (OSError, ValueError):
            return False
        return True

    def lines(
        self, stop: threading.Event, look: Callable[[], None] | None = None, *, every: float = _LOOK_EVERY
    ) -> Iterator[Line]:
        """Yield the child's answers until it has ended, even if another process holds the pipe; end it on request.

        ``look`` is called a few times a second. The caller can stop reading and continue later.
        """
        gone: float | None = None
        while gone is None or time.monotonic() < gone + _LAST_WORDS:
            if stop.is_set():
                self.process.kill()
            if look is not None:
                look()
            try:
                line = self._lines.get(timeout=every)
            except queue.Empty:
                if gone is None and self.is_over:
                    gone = time.monotonic()
                continue
            if line is None:
                self._lines.put(None)  # for the next reader
                return
            with contextlib.suppress(json.JSONDecodeError):  # cut off in the middle of a word
                yield json.loads(line)

    def kill(self) -> None:
        """End the process, and wait until it is gone."""
        self.process.kill()
        self.process.wait()

    def end(self) -> int:
        """End the process and all that it started, which are a session of their own; return its exit code."""
        if not self.is_over:
            self.process.kill()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        with contextlib.suppress(OSError), self.process:  # what it was not told yet is lost with it
            pass
        return self.process.wait()


class Parent:
    """The parent of this process: reads its orders and writes answers."""

    def __init__(self, orders: TextIO, mouth: TextIO) -> None:
        self._orders, self._mouth = orders, mouth
        self._speaking = threading.Lock()

    def say(self, line: Mapping[str, Any], *, allow_nan: bool = True) -> None:
        """Tell something."""
        with self._speaking:
            self._mouth.write(json.dumps(line, ensure_ascii=False, allow_nan=allow_nan) + "\n")
            self._mouth.flush()

    def listen(self, hear: Callable[[Line], None]) -> None:
        """Call ``hear`` with each line in a thread of its own; the process ends when the parent has ended."""

        def listening() -> None:
            with contextlib.suppress(ValueError):
                for line in self._orders:
                    hear(json.loads(line))
            os._exit(_PARENT_GONE)

        threading.Thread(target=listening, daemon=True).start()


def become_child() -> Parent:
    """Make this process a child, after others in turn and with files for its owner alone; return whose it is.

    What a library prints is no line of ours: it goes to the log.
    """
    with contextlib.suppress(OSError, AttributeError):
        os.nice(10)  # pages come first
    os.umask(0o077)
    mouth = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return Parent(sys.stdin, mouth)
