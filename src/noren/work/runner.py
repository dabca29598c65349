"""Runner of the jobs of a queue: threads of one process, a fixed number per queue.

Any number of runners, in any number of processes and on several machines, may share one queue. A runner looks for work
a few times a second, and at once when it is woken; it renews the leases of its jobs and tells the work when a job
no longer belongs to it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError

from noren.work.queue import Claim, Queue, State

_POLL = 0.25
_BEATS = 5
"""How often a lease is renewed in its length; four may be missed."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class JobOutcome:
    """How a job ended, and what to write beside it; ``WAITING`` hands it back, and the attempt is not counted.

    With ``again_after`` seconds it is: whatever the state, the job is tried again, unless this was the last attempt.
    """

    state: State
    values: Mapping[str, Any] = field(default_factory=dict)
    again_after: float | None = None


class Runner:
    """One process's part in the work of a queue.

    Parameters
    ----------
    work
        Does one job in a thread of its own and returns how it ended. It looks at ``claim.gone``, and when that is set
        stops and returns ``JobOutcome(State.WAITING)``. If the job was cancelled or taken over, that changes nothing;
        if the process closes, the job goes on elsewhere or later.
    places
        How many jobs of each queue are done at once in this process.
    """

    def __init__(
        self, queue: Queue, work: Callable[[Claim], JobOutcome], places: Mapping[str, int], *, poll: float = _POLL
    ) -> None:
        self.queue, self.holder = queue, f"{socket.gethostname()[:50]}-{os.getpid()}-{secrets.token_hex(4)}"
        self._work, self._places, self._poll = work, dict(places), poll
        self._held: dict[str, tuple[Claim, threading.Thread]] = {}
        self._lock = threading.Lock()
        self._woken, self._closed = threading.Event(), threading.Event()
        self._renewed = time.monotonic()
        self._looking: threading.Thread | None = None

    def start(self) -> None:
        """Begin to take jobs."""
        self._looking = threading.Thread(target=self._look, name="noren-queue", daemon=True)
        self._looking.start()

    @property
    def is_alive(self) -> bool:
        """Whether it takes jobs."""
        return self._looking is not None and self._looking.is_alive()

    def wake(self) -> None:
        """Look for work now."""
        self._woken.set()

    def close(self, patience: float = 5.0) -> None:
        """Take no more jobs, tell the work to stop, and wait a while until it did."""
        self._closed.set()
        self._woken.set()
        if self._looking is not None:
            self._looking.join()
        with self._lock:
            held = list(self._held.values())
        for claim, _thread in held:
            claim.gone.set()
        until = time.monotonic() + patience
        for _claim, thread in held:
            thread.join(max(0.0, until - time.monotonic()))

    def do(self, claim: Claim) -> State | None:
        """Do a job to its end, and write down how it ended; return the state, or None where that did not count."""
        try:
            ending = self._work(claim)
        except Exception:
            _log.exception("the work on %s failed", claim.id)
            ending = JobOutcome(State.FAILED)
        job = claim.id
        how: dict[str, Any] = {"holder": self.holder, **ending.values}
        try:
            while True:
                try:
                    if ending.again_after is not None:
                        written = self.queue.try_again(job, after=ending.again_after, **how)
                    elif ending.state == State.WAITING:
                        written = ending.state if self.queue.hand_back(job, **how) else None
                    else:
                        written = ending.state if self.queue.end(job, ending.state, **how) else None
                    break
                except (OperationalError, InterfaceError):  # the database is away; were it for long, the lease ends
                    if self._closed.wait(self._poll):
                        return None
            if written is None:
                with contextlib.suppress(SQLAlchemyError):
                    self.queue.let_go(job, self.holder)
            return written
        finally:
            with self._lock:
                self._held.pop(job, None)
            self._woken.set()

    # --- looking for work ------------------------------------------------------------------------------------

    def _look(self) -> None:
        beat = time.monotonic()
        while not self._closed.is_set():
            # a full disk or a database that is away: what is held goes on, and all is tried again
            with contextlib.suppress(SQLAlchemyError):
                if time.monotonic() >= beat:
                    beat = time.monotonic() + self.queue.lease / _BEATS
                    self._renew()
                self._take()
            self._woken.wait(self._poll)
            self._woken.clear()

    def _take(self) -> None:
        while not self._closed.is_set():
            with self._lock:
                taken = [claim.queue for claim, _thread in self._held.values()]
                held = set(self._held)
            free = [name for name, places in self._places.items() if taken.count(name) < places]
            if not free or not self.queue.has_open(free, held):
                return
            claim = self.queue.claim(free, self.holder, held)
            if claim is None:
                return
            thread = threading.Thread(target=self.do, args=(claim,), name=f"noren-{claim.id}", daemon=True)
            with self._lock:
                self._held[claim.id] = claim, thread
            thread.start()

    def _renew(self) -> None:
        """Keep what is held, and tell the work of what was cancelled or is another's by now."""
        if self.queue.unwritten:
            self.queue.write_down()
        with self._lock:
            claims = {job: claim for job, (claim, _thread) in self._held.items()}
        still: set[str] = set()
        try:
            if claims:
                still = self.queue.renew(self.holder, claims)
            self._renewed = time.monotonic()
        except SQLAlchemyError:
            # who is cut off from a shared database must stop before another begins; of a file, nobody else can claim
            if not self.queue.is_shared or time.monotonic() < self._renewed + self.queue.lease * (1 - 1 / _BEATS):
                raise
        for job, claim in claims.items():
            if job not in still:
                claim.gone.set()
