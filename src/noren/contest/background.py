"""Who works for the arena beside its pages: judges of files, and who tells other servers of news.

Whoever judges is ``noren contest work``, as many as one likes, on as many machines as share the database.

A worker takes jobs of the queue, opens the files they name, hands them to processes that score them
(:mod:`noren.contest.judging.scorer`), and writes down what came of it. Killed at any moment it loses nothing: its lease
ends and another takes the job up, and what two found of one file counts once. A fault of ours is tried again and then
given back.

With an engine that is a cluster, releases from so many rows on are judged there, one at a time and in one session; a
process of its own holds it. Where the cluster is lost, nothing of that counts: the file is judged again, whole, on this
machine, the organiser reads so, and the cluster is left alone for a while.

Other servers are told of news (webhooks): targets are out, releases were judged, results are there. A message says what
happened and how often, and nothing of any one team's files. It is signed: whoever has the hook's secret knows that it
is ours, and from the time in it that it is not an old one sent again. An address is looked up once and must lie outside
this network, and the connection goes to the very address that was looked at, so that nobody can have this server call
on its neighbours (SSRF, DNS rebinding). Nothing is followed elsewhere.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import http.client
import ipaddress
import logging
import os
import queue
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from noren.contest.arena import JUDGE, POST, Arena, ScoringOrder, ScoringService
from noren.contest.judging import SCORER
from noren.contest.judging.scorer import (
    CLUSTER_LOST,
    DISK_FULL,
    OTHER_SCORER,
    STOPPED,
    UNEXPECTED,
    UNREADABLE,
    Fault,
    ScorerProcess,
)
from noren.contest.kinds import ENGINE_FROM, cluster_of
from noren.contest.store.database import LOST, ScoringJob
from noren.contest.store.encryption import Hook
from noren.contest.store.tables import jobs
from noren.errors import InputError, NorenError, ParameterError
from noren.i18n import _
from noren.version import __version__
from noren.web.errors import is_disk_full
from noren.work.child_processes import Line
from noren.work.hash_chain import canonical
from noren.work.queue import Claim, State, clock_of
from noren.work.runner import JobOutcome, Runner

_log = logging.getLogger(__name__)
_LOOK, _TELL = 2.0, 0.5
"""Seconds between looks for jobs that were given up, and between what is told of a job."""
_PATIENCE = 5.0
"""Seconds that a job waits which this worker cannot do and another may."""
_REST = 300.0
"""Seconds for which a cluster that was lost is left alone."""
_AGAIN = (2.0, 10.0)
"""Seconds before what failed by our fault is tried a second and a third time."""


class ArenaWorker:
    """One worker of an arena.

    Parameters
    ----------
    places
        How many files it judges at once; as many as the machine has cores where left out.
    engine, engine_from
        The cluster that releases are judged on, and from how many rows on; ``local`` is this machine alone.
    scorer
        Makes the process that scores; for tests.
    """

    def __init__(
        self,
        arena: Arena,
        *,
        processes: int | None = None,
        engine: str = "local",
        engine_from: int = ENGINE_FROM,
        scorer: Callable[[Path], ScorerProcess] = ScorerProcess,
    ) -> None:
        self.arena, self.service = arena, ScoringService(arena)
        processes = processes or os.cpu_count() or 1
        self._idle_scorers: queue.SimpleQueue[ScorerProcess] = queue.SimpleQueue()
        self._all = [scorer(arena.folder / "judge.log") for _number in range(processes)]
        for process in self._all:
            self._idle_scorers.put(process)
        self._engine, self._engine_from = cluster_of(engine), engine_from
        self._cluster = None if self._engine is None else scorer(arena.folder / "judge.log")
        self._cluster_lock, self._cluster_blocked_until = threading.Lock(), 0.0
        self.runner = Runner(arena.store.jobs.queue, self.do, {JUDGE: processes})
        self._closed = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="noren-tending", daemon=True)

    def start(self) -> None:
        """Begin to take jobs."""
        self.runner.start()
        self._watcher.start()

    def close(self) -> None:
        """Take no more jobs and stop those under way; others, or this one later, do them again."""
        self._closed.set()
        self.runner.close()
        for scorer in (*self._all, *([self._cluster] if self._cluster else [])):
            scorer.close()
        if self._watcher.is_alive():
            self._watcher.join()

    # --- one job -----------------------------------------------------------------------------------------------------

    def do(self, claim: Claim) -> JobOutcome:
        """Do a job, and return how it ended; what nobody expected is a fault of ours, not of the job."""
        job = self.arena.store.jobs.job(claim.id)
        if job is None:
            return JobOutcome(State.CANCELLED)
        try:
            fault = self._judge(job, claim)
            return (
                JobOutcome(State.DONE, {"done": 1.0, "error": ""})
                if fault is None
                else self._retry_or_refund(job, claim, fault)
            )
        except SQLAlchemyError:
            _log.warning("the database was away when %s ended; it is done again", claim.id)
            return JobOutcome(State.WAITING, {"done": 0.0})
        except Exception as error:
            _log.exception("the work on %s failed", claim.id)
            reason = UNREADABLE if isinstance(error, InputError | OSError) else UNEXPECTED
            return self._retry_or_refund(job, claim, Fault(DISK_FULL if is_disk_full(error) else reason))

    def _judge(self, job: ScoringJob, claim: Claim) -> Fault | None:
        """Do what an order says; None where it is done, or there is nothing left to do."""
        order = self.service.order_of(job)
        if order is None:
            return None
        if order.scorer != SCORER:
            claim.gone.wait(_PATIENCE)  # who has that version may take it
            return Fault(OTHER_SCORER)
        with contextlib.ExitStack() as files:
            request: dict[str, Any] = {"rulebook": order.rulebook, "original": self._path(files, order.original)}
            if order.kind == "targets":
                with self._scorer() as scorer:
                    return self._make_targets(order, request, scorer, claim)
            request |= {"kind": order.kind, "submitted": self._path(files, order.submitted)}
            if order.guess:
                request |= {"guess": self._path(files, order.guess), "salt": order.salt, "label": order.label}
            result = None
            if self._cluster is not None and order.kind == "release" and order.rows >= self._engine_from:
                result = self._score_on_cluster(self._cluster, order, request, claim)
            if result is None:  # it is small, or the cluster was lost: it is judged here, whole
                with self._scorer() as scorer:
                    result = self._score(scorer, order, request, claim)
        if isinstance(result, Fault):
            return result
        self.service.judged(order, result)
        return None

    def _score_on_cluster(
        self, scorer: ScorerProcess, order: ScoringOrder, request: dict[str, Any], claim: Claim
    ) -> dict[str, Any] | Fault | None:
        """Score a file on the cluster; None where it was lost, or was not long ago."""
        with self._cluster_lock:  # one session on the cluster, and one piece of work in it
            if time.monotonic() < self._cluster_blocked_until or claim.gone.is_set():
                return None
            there = {"engine": self._engine, "folder": str((self.arena.folder / "cluster").resolve())}
            result = self._score(scorer, order, request | there, claim)
            if not isinstance(result, Fault) or claim.gone.is_set() or result.reason in (STOPPED, UNREADABLE):
                return result
            scorer.close()  # what is left of the session goes with it
            self._cluster_blocked_until = time.monotonic() + _REST
        _log.warning("%s: %s (%s)", claim.id, CLUSTER_LOST, result.reason)
        with contextlib.suppress(SQLAlchemyError):  # it is only told
            self._update(claim, notice=CLUSTER_LOST)
        return None

    def _make_targets(
        self, order: ScoringOrder, plain: dict[str, Any], scorer: ScorerProcess, claim: Claim
    ) -> Fault | None:
        contents = []
        with TemporaryDirectory(prefix="noren-targets-") as folder:
            out = Path(folder) / "target"
            for number, (_target, submission, digest) in enumerate(order.targets):
                label = f"{order.contest}/{order.round}/{submission}"
                with contextlib.ExitStack() as files:
                    submitted = self._path(files, digest)
                    request = {"kind": "target", "submitted": submitted, "salt": order.salt, "label": label}
                    result = self._score(scorer, order, {**plain, **request, "out": str(out)}, claim)
                if isinstance(result, Fault):
                    return result
                contents.append(out.read_bytes())
                self._update(claim, done=(number + 1) / len(order.targets), words="")
        self.service.targets_made(order, contents)
        return None

    def _score(
        self, scorer: ScorerProcess, order: ScoringOrder, request: dict[str, Any], claim: Claim
    ) -> dict[str, Any] | Fault:
        last_update = 0.0

        def on_line(line: Line) -> None:
            nonlocal last_update
            if "stages" in line or time.monotonic() - last_update >= _TELL:
                last_update = time.monotonic()
                with contextlib.suppress(SQLAlchemyError):  # it is only told
                    self._update(claim, **line)

        return scorer.do(request, seconds=order.seconds, megabytes=order.megabytes, stop=claim.gone, on_line=on_line)

    def _update(self, claim: Claim, **values: Any) -> None:
        self.arena.store.jobs.update(claim.id, self.runner.holder, **values)

    @contextlib.contextmanager
    def _scorer(self) -> Any:
        scorer = self._idle_scorers.get()
        try:
            yield scorer
        finally:
            self._idle_scorers.put(scorer)

    def _path(self, files: contextlib.ExitStack, digest: str) -> str:
        return str(files.enter_context(self.arena.files.path(digest)))

    def _retry_or_refund(self, job: ScoringJob, claim: Claim, fault: Fault) -> JobOutcome:
        """Let a job wait that failed by a fault of ours; after some tries give it up, and the team's try back."""
        if claim.gone.is_set() or fault.reason in (STOPPED, OTHER_SCORER):
            return JobOutcome(State.WAITING, {"done": 0.0, "error": fault.reason})
        if claim.attempt < fault.tries:
            claim.gone.wait(_AGAIN[min(claim.attempt, len(_AGAIN)) - 1])
            return JobOutcome(State.WAITING, {"done": 0.0, "error": fault.reason, "attempts": claim.attempt})
        try:
            self.service.refund(job, fault.reason)
        except SQLAlchemyError:
            return JobOutcome(State.WAITING, {"done": 0.0, "error": fault.reason})
        return JobOutcome(State.FAILED, {"error": fault.reason})

    # --- jobs that were given up -------------------------------------------------------------------------------------

    def _watch(self) -> None:
        while not self._closed.wait(_LOOK):
            with contextlib.suppress(SQLAlchemyError):  # the database is away
                self.requeue_interrupted()

    def requeue_interrupted(self) -> None:
        """Let jobs wait again whose workers were killed so often that the queue gave them up.

        A file that brings a judge down brings down a process of the bench, which is a fault and counted. That workers
        themselves are killed says nothing of the file they had.
        """
        waiting = self.arena.store.jobs.queue
        at = waiting.table.c
        with waiting.engine.connect() as database:
            query = sa.select(at.id).where(at.state == State.INTERRUPTED, at.queue == JUDGE)
            interrupted = list(database.execute(query).scalars())
        for job in interrupted:
            waiting.enqueue(job, JUDGE, error=LOST)


# --- news for other servers -----------------------------------------------------------------------------------------

SIGNATURE: Final = "X-Noren-Signature"
_DELIVERY = 10.0
"""How long one delivery may take: less than a lease of the queue."""
_SEND_AGAIN: Final = (30.0, 120.0, 600.0, 3600.0, 3600.0)
"""Seconds until a message is tried again; after the last it is given up."""


class UndeliveredError(NorenError):
    """A message that its address did not take."""


def signature(secret: bytes, moment: int, body: bytes) -> str:
    """Return what proves that a body is ours and of when it is.

    >>> signature(b"secret", 1, b"{}")[:24]
    't=1,v1=1122767b193110cfe'
    """
    made = hmac.new(secret, f"{moment}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={moment},v1={made}"


def check_address(url: str) -> SplitResult:
    """Return the parts of an address that messages may be sent to."""
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
        fits = fits and parts.port != 0 and url.isascii() and url.isprintable() and " " not in url
    except ValueError:
        fits = False
    if not fits:
        raise ParameterError(_("this is no address that news can be sent to; write it like https://cup.example/"))
    return parts


def is_outside(address: str) -> bool:
    """Tell whether an address is of the world, and not of this machine or its network.

    >>> [is_outside(one) for one in ("93.184.216.34", "127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1")]
    [True, False, False, False]
    """
    parsed = ipaddress.ip_address(address.split("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        inside = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo or (None, None))[1]
        if parsed in ipaddress.ip_network("64:ff9b::/96"):
            inside = ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)
        if inside is not None:
            return is_outside(str(inside))
    return parsed.is_global and not parsed.is_multicast


def deliver(hook: Hook, body: bytes, *, private: bool, now: float | None = None) -> None:
    """Send a message once; whatever is not a plain yes is an error."""
    parts = check_address(hook.url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    unreachable = _("the address cannot be reached ({reason})")
    try:
        known = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise UndeliveredError(unreachable.format(reason="the name of the address is not known")) from None
    addresses = [
        str(info[4][0]) for info in known
    ]  # the first is called, and all that the name stands for must be outside
    if not addresses or not (private or all(is_outside(address) for address in addresses)):
        raise UndeliveredError(_("the address is inside this network; only a server that allows it sends there"))
    moment = int(time.time() if now is None else now)
    headers = {
        "Host": parts.netloc,
        "Content-Type": "application/json",
        "User-Agent": f"noren/{__version__}",
        SIGNATURE: signature(hook.secret, moment, body),
    }
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection = http.client.HTTPConnection(addresses[0], port, timeout=_DELIVERY)

    def cut() -> None:
        """End a connection that takes too long, however it drips."""
        with contextlib.suppress(OSError, AttributeError):
            connection.sock.shutdown(socket.SHUT_RDWR)

    deadline = threading.Timer(_DELIVERY, cut)
    deadline.start()
    try:
        connection.connect()
        if parts.scheme == "https":
            trusted = ssl.create_default_context()
            connection.sock = trusted.wrap_socket(connection.sock, server_hostname=parts.hostname)
        connection.request("POST", path, body, headers)
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        raise UndeliveredError(unreachable.format(reason=type(error).__name__)) from None
    finally:
        deadline.cancel()
        connection.close()
    if not 200 <= status < 300:
        raise UndeliveredError(unreachable.format(reason=f"HTTP {status}"))


class WebhookSender:
    """Sends what waits to be sent, from a thread of a server; several servers share the messages."""

    def __init__(self, arena: Arena, *, private: bool = False) -> None:
        self._arena, self._private = arena, private
        self._holder = f"post {secrets.token_hex(8)}"

    def send_all(self) -> None:
        """Send all messages that wait."""
        while self.send_next():
            pass

    def send_next(self) -> bool:
        """Send the message that waits longest; tell whether there was one."""
        queue = self._arena.store.jobs.queue
        if not queue.has_open([POST]):
            return False
        claim = queue.claim([POST], self._holder)
        if claim is None:
            return False
        job = self._arena.store.jobs.job(claim.id)
        hooks = [] if job is None else self._arena.store.hooks.of(job.contest)
        enabled = {hook.id: hook for hook in hooks if hook.disabled is None}
        hook = None if job is None else enabled.get(str(job.order["hook"]))
        if job is None or hook is None:
            queue.end(claim.id, State.CANCELLED, holder=self._holder)
            return True
        try:
            deliver(hook, canonical({"id": job.id, **job.order["message"]}), private=self._private)
        except UndeliveredError as error:
            if claim.attempt > len(_SEND_AGAIN):
                queue.end(claim.id, State.FAILED, holder=self._holder, error=str(error))
                return True
            later: dict[str, Any] = {"lease_until": clock_of(self._arena.store.engine) + _SEND_AGAIN[claim.attempt - 1]}
            later |= {"claimed_by": f"{self._holder} again", "error": str(error), "most_attempts": len(_SEND_AGAIN) + 1}
            mine = sa.and_(jobs.c.id == claim.id, jobs.c.claimed_by == self._holder, jobs.c.state == State.RUNNING)
            with self._arena.store.engine.begin() as database:
                database.execute(jobs.update().where(mine).values(**later))
        else:
            queue.end(claim.id, State.DONE, holder=self._holder, done=1.0, error="")
        return True
