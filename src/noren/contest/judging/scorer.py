"""The process that scores files one after another, and its supervision.

A file may take too long, take all memory or bring its process down; then the process is ended, a fault is told, and
the next file gets a new one. Memory is watched, not limited: the libraries' threads and allocators reserve gigabytes
of addresses that they never touch, so that a limit on those (RLIMIT_AS) would end honest work, and where one is met
Rust and LLVM abort instead of saying so. What counts is what is resident beyond what the process had before, so that
what it keeps at hand is not held against a file.

Why a file was not judged although its team did nothing wrong is one short sentence (:class:`Fault`). A log keeps the
English sentence, and pages show it by ``_()`` in the reader's language. Nothing of the machine is told; the
judges' log in the data folder tells more.

The process itself is ``python -m noren.contest.judging.scorer``. It reads orders as lines of JSON on its standard
input, and answers each by its number with how far it is and what came of it. It lives for many orders: to load the
libraries takes a second, and what was read last is at hand. When its standard input closes, its worker is gone
and so is it. What is the team's fault is in the result; all else is a fault of ours, told in one short sentence, and
in full on the standard error, which goes to a log.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from noren.i18n import N_
from noren.work.child_processes import Child, Line, Parent, become_child

if TYPE_CHECKING:
    from noren.contest.rulebook import Rulebook
    from noren.execution.session import ClusterStep

TOO_LONG: Final = N_("scoring this file took too long")
TOO_LARGE: Final = N_("scoring this file took too much memory")
GONE: Final = N_("the process that scored this file was killed")
UNEXPECTED: Final = N_("internal error")
UNREADABLE: Final = N_("a file of the contest could not be read")
DISK_FULL: Final = N_("the disk of the worker is full")
STOPPED: Final = N_("the worker was stopped while it scored this file")
CLUSTER_LOST: Final = N_("the connection to the cluster was lost, so this file was scored on this machine")
OTHER_SCORER: Final = N_("this contest needs another version of the scorer than this worker has")


@dataclass(frozen=True)
class Fault:
    """An internal error; scoring is tried again, and then the attempt is refunded.

    Attributes
    ----------
    reason
        One of the sentences above.
    """

    reason: str

    @property
    def tries(self) -> int:
        """How often scoring is tried: too much time or memory will recur."""
        return 2 if self.reason in (TOO_LONG, TOO_LARGE) else 3


_LOOK_EVERY = 0.1
_MOST_ORDERS = 2_000
_MOST_KEPT = 2 * 2**30
"""Orders, and resident bytes, after which a process is replaced."""
_STARTED = 400 * 2**20
"""Bytes that the libraries take before the first file is read."""
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS", "NUMBA_NUM_THREADS"), "1"
)
"""One process per core is faster than one process with threads on all cores."""


class ScorerProcess:
    """A scoring process, started when it is first needed and restarted after it ended.

    Parameters
    ----------
    log
        The log file of unexpected errors.
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
        on_line: Callable[[Line], None] = lambda line: None,
    ) -> dict[str, Any] | Fault:
        """Carry out an order (:func:`do`); return the result, or the fault.

        ``on_line`` receives the progress (``done``, ``words``) and the ``stages`` of a cluster.
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
        process, until, ended = child.process, time.monotonic() + seconds, ""
        most = max(resident(process.pid), _STARTED) + int(megabytes * 2**20)

        def look() -> None:
            """Kill the process if it takes too much time or memory."""
            nonlocal ended
            if not ended and (time.monotonic() > until or resident(process.pid) > most):
                ended = TOO_LONG if time.monotonic() > until else TOO_LARGE
                process.kill()

        for line in child.lines(stop, look, every=_LOOK_EVERY):
            if line.pop("number", None) != number:
                continue
            if "result" in line or "fault" in line:
                self._done += 1
                if self._done >= _MOST_ORDERS or resident(child.process.pid) > _MOST_KEPT:
                    self.close()
                return Fault(line["fault"]) if "fault" in line else line["result"]
            on_line(line)
        self.close()
        return Fault(ended or (STOPPED if stop.is_set() else GONE))

    def close(self) -> None:
        """End the process."""
        child, self._child = self._child, None
        if child is not None:
            child.end()


def resident(pid: int) -> int:
    """Return the resident memory of a process in bytes; 0 if unknown."""
    try:
        pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


# --- the process itself -----------------------------------------------------------------------------------------------

_EVERY = 0.2
Say = Callable[[Mapping[str, Any]], None]


def main(judge: Parent) -> None:
    """Carry out orders until the parent is gone."""
    orders: queue.SimpleQueue[Line] = queue.SimpleQueue()
    judge.listen(orders.put)
    while True:
        order = orders.get()
        number = order["number"]

        def say(line: Mapping[str, Any], number: int = number) -> None:
            judge.say({"number": number, **line}, allow_nan=False)

        say(_answer(order, say))


def _answer(order: Mapping[str, Any], say: Say) -> dict[str, Any]:
    from noren.contest.judging.scoring import ClusterLostError
    from noren.errors import InputError
    from noren.web.errors import is_disk_full

    try:
        return {"result": do(order, say)}
    except ClusterLostError as error:
        sys.stderr.write(f"{error}\n")
        sys.stderr.flush()
        return {"fault": CLUSTER_LOST}
    except MemoryError:
        return {"fault": TOO_LARGE}
    except InputError as error:  # an error in a team's file would be in the result
        sys.stderr.write(f"{error}\n")
        return {"fault": DISK_FULL if is_disk_full(error) else UNREADABLE}
    except Exception as error:
        traceback.print_exc()
        sys.stderr.flush()
        return {"fault": DISK_FULL if is_disk_full(error) else UNEXPECTED}


def do(order: Mapping[str, Any], say: Say = lambda line: None) -> dict[str, Any]:
    """Carry out one order: score a ``release`` or ``guess``, or write a ``target`` to ``out``.

    A release whose order names an ``engine`` and a ``folder`` is judged by that cluster, as far as it has plans.
    """
    from noren.contest.judging.prepared import make_target
    from noren.contest.judging.scoring import score_guess, score_release
    from noren.work.hash_chain import digest_of

    book = _rulebook(order["rulebook"])
    original, submitted = Path(order["original"]), Path(order["submitted"])
    if order["kind"] == "release":
        teller = _ScorerProgress(say)
        score = partial(score_release, book, original, submitted, progress=teller)
        if not order.get("engine"):
            return score()
        from noren.contest.judging.scoring import on_cluster
        from noren.execution.session import report_stages

        with on_cluster(order["engine"], Path(order["folder"])) as engine, report_stages(teller.hear):
            return score(engine=engine)
    lots = bytes.fromhex(order["salt"]), str(order["label"])
    if order["kind"] == "guess":
        return score_guess(book, original, submitted, *lots, Path(order["guess"]))
    if order["kind"] == "target":
        content = make_target(book, original, submitted, *lots)
        Path(order["out"]).write_bytes(content)
        return {"digest": digest_of(content)}
    raise ValueError(order["kind"])


@lru_cache(maxsize=32)
def _rulebook(text: str) -> Rulebook:
    from noren.contest.rulebook import read_rulebook

    return read_rulebook(text)


class _ScorerProgress:
    """Reports progress as lines, a few per second, and the stages of a cluster when they change."""

    def __init__(self, say: Say) -> None:
        self._say, self._last = say, 0.0
        self._done, self._words = 0.0, ""
        self._lock = threading.Lock()  # stages are heard by a thread of their own

    def __call__(self, done: float, words: str = "", best: float | None = None) -> None:
        with self._lock:
            self._done, self._words = round(min(1.0, max(0.0, done, self._done)), 4), words
            if time.monotonic() - self._last >= _EVERY:
                self._last = time.monotonic()
                self._say({"done": self._done, "words": words})

    def hear(self, steps: Sequence[ClusterStep]) -> None:
        """Say the steps of a cluster."""
        with self._lock:
            stages = [asdict(step) for step in steps]
            self._say({"done": self._done, "words": self._words, "stages": stages})


if __name__ == "__main__":
    # where memory runs out the system ends this process before any other: the worker and the server are not to
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    main(become_child())
