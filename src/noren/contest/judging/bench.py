"""The judge's bench: a process that scores files one after another, watched from outside.

A file may take too long, take all memory or bring its process down; then the process is ended, a fault is told, and
the next file gets a new one. Memory is watched, not limited: the libraries' threads and allocators reserve gigabytes
of addresses that they never touch, so that a limit on those (RLIMIT_AS) would end honest work, and where one is met
Rust and LLVM abort instead of saying so. What counts is what is resident beyond what the process had before, so that
what it keeps at hand is not held against a file.

Why a file was not judged although its team did nothing wrong is one short sentence (:class:`Fault`). A log keeps the
English sentence, and pages show it by ``_()`` in the reader's language. Nothing of the machine is told; the
judges' log in the data folder tells more.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from noren.i18n import N_
from noren.work.children import Child

TOO_LONG: Final = N_("judging this file took longer than it may")
TOO_LARGE: Final = N_("judging this file took more memory than it may")
GONE: Final = N_("the process that judged this file was ended from outside")
UNEXPECTED: Final = N_("the judge failed by a fault of its own")
UNREADABLE: Final = N_("a file of the contest could not be read")
DISK_FULL: Final = N_("the disk of the judge is full")
STOPPED: Final = N_("the judge was stopped while it looked at this file")
INTERRUPTED: Final = N_("the judge was stopped while it looked at this file; it is looked at again")
CLUSTER_LOST: Final = N_("the cluster was lost in the middle of judging; this file was judged on this machine")
OTHER_SCORER: Final = N_("this contest is judged by another version than this judge has")


@dataclass(frozen=True)
class Fault:
    """A fault of ours; the attempt is tried again, and given back where that does not help.

    Attributes
    ----------
    reason
        One of the sentences above.
    """

    reason: str

    @property
    def tries(self) -> int:
        """How often it is tried in all: what was too large or too long once will be so again."""
        return 2 if self.reason in (TOO_LONG, TOO_LARGE) else 3


_LOOK_EVERY = 0.1
_MOST_ORDERS = 2_000
_MOST_KEPT = 2 * 2**30
"""Orders, and resident bytes, after which a process makes room for a new one."""
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS", "NUMBA_NUM_THREADS"), "1"
)
"""A bench for each core does more than one with threads on all of them."""


class ScorerProcess:
    """A process that judges, started when it is first needed and again after it was ended.

    Parameters
    ----------
    log
        Where what nobody expected is written in full.
    """

    def __init__(self, log: Path, *, command: tuple[str, ...] = ("-m", "noren.contest.judging.scorer")) -> None:
        self._log, self._command = log, [sys.executable, *command]
        self._child: Child | None = None
        self._numbers = itertools.count(1)
        self._done = 0

    @property
    def pid(self) -> int | None:
        """The process, while there is one."""
        return None if self._child is None else self._child.process.pid

    def do(
        self,
        order: Mapping[str, Any],
        *,
        seconds: float,
        megabytes: float,
        stop: threading.Event | None = None,
        progress: Callable[[float, str], None] = lambda done, words: None,
        hear: Callable[[list[dict[str, Any]]], None] = lambda stages: None,
    ) -> dict[str, Any] | Fault:
        """Do an order (:func:`noren.contest.judging.scorer.do`); return what came of it, or why nothing did.

        ``hear`` is told the stages of a cluster, where one does the work.
        """
        stop = stop or threading.Event()
        number = next(self._numbers)
        for _try in range(2):  # a process that was ended meanwhile is followed by a new one
            if self._child is None or self._child.is_over:
                self.close()
                self._child, self._done = Child(self._command, self._log, environment=_ONE_THREAD), 0
            child = self._child
            if child.tell({"number": number, **order}):
                break
            self.close()
        else:
            return Fault(GONE)
        watch = _Watch(child, seconds, megabytes)
        for said in child.lines(stop, watch, every=_LOOK_EVERY):
            if said.get("number") != number:
                continue
            if "result" in said or "fault" in said:
                self._done += 1
                if self._done >= _MOST_ORDERS or resident(child.process.pid) > _MOST_KEPT:
                    self.close()
                return Fault(said["fault"]) if "fault" in said else said["result"]
            progress(said["done"], said["words"])
            if "stages" in said:
                hear(said["stages"])
        self.close()
        return Fault(watch.ended or (STOPPED if stop.is_set() else GONE))

    def close(self) -> None:
        """End the process."""
        child, self._child = self._child, None
        if child is not None:
            child.end()


class _Watch:
    """Looks at a process, and ends it where it takes too long or too much."""

    def __init__(self, child: Child, seconds: float, megabytes: float) -> None:
        self._child, self._until = child.process, time.monotonic() + seconds
        self._most = max(resident(self._child.pid), _STARTED) + int(megabytes * 2**20)
        self.ended: str | None = None

    def __call__(self) -> None:
        if self.ended is not None:
            return
        if time.monotonic() > self._until:
            self.ended = TOO_LONG
        elif resident(self._child.pid) > self._most:
            self.ended = TOO_LARGE
        if self.ended is not None:
            self._child.kill()


_STARTED = 400 * 2**20
"""Bytes that the libraries take before the first file is read."""


def resident(pid: int) -> int:
    """Return how many bytes of memory a process has; 0 where the system does not tell."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
