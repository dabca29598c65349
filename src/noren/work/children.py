"""Processes that work for us and say lines of JSON: started in private, heard until they are gone, ended with theirs.

The parent's side is :func:`start_child`, :class:`Heard` and :func:`end_child`; the child's is :func:`become_child`.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

__all__ = ["Heard", "become_child", "end_child", "private_log", "start_child"]

_LOOK_EVERY, _LAST_WORDS = 0.25, 2.0
"""Seconds between looks at a child, and how long it is listened to once its process is gone."""


def start_child(
    command: Sequence[str], log: Path, *, environment: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    """Start a process that is spoken with by lines; what else it says goes to a log that its owner alone may read."""
    with private_log(log) as error:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=error,
            text=True,
            encoding="utf-8",
            env=None if environment is None else {**os.environ, **environment},
            start_new_session=True,  # Ctrl-C in the terminal is for the parent
        )


def private_log(path: Path) -> TextIO:
    """Open a log to write on at its end; its owner alone may read it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    return os.fdopen(descriptor, "w", encoding="utf-8")


class Heard:
    """What a child says."""

    def __init__(self, child: subprocess.Popen[str]) -> None:
        self._child = child
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._hear, name="noren-hearing", daemon=True).start()

    def _hear(self) -> None:
        with contextlib.suppress(ValueError, OSError):  # closed under us
            for line in self._child.stdout or ():
                self._lines.put(line)
        self._lines.put(None)

    def lines(
        self, stop: threading.Event, look: Callable[[], None] | None = None, *, every: float = _LOOK_EVERY
    ) -> Iterator[dict[str, Any]]:
        """Yield what the child says until it is gone, whoever still holds the other end; end it when told to.

        ``look`` is called a few times a second. Whoever heard enough for now stops, and goes on later.
        """
        gone: float | None = None
        while gone is None or time.monotonic() < gone + _LAST_WORDS:
            if stop.is_set():
                self._child.kill()
            if look is not None:
                look()
            try:
                line = self._lines.get(timeout=every)
            except queue.Empty:
                if gone is None and self._child.poll() is not None:
                    gone = time.monotonic()
                continue
            if line is None:
                self._lines.put(None)  # for whoever asks again
                return
            with contextlib.suppress(json.JSONDecodeError):  # cut off in the middle of a word
                yield json.loads(line)


def end_child(child: subprocess.Popen[str]) -> None:
    """End a child's process and all that it started; they are a session of their own."""
    if child.poll() is None:
        child.kill()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


def become_child() -> TextIO:
    """Make this process a child, after others in turn and with files for its owner alone; return where to say lines.

    What a library prints is no line of ours: it goes to the log.
    """
    with contextlib.suppress(OSError, AttributeError):
        os.nice(10)  # pages come first
    os.umask(0o077)
    mouth = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return mouth
