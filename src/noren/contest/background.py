"""Background work of the arena: scoring workers and webhooks.

``noren contest work`` runs a worker; any number can run, on all machines that share the database.

A worker takes jobs from the queue, opens their files, lets processes score them (:mod:`noren.contest.judging.scorer`),
and records the results. It can be killed at any time: its lease ends, another worker takes the job, and a result that
two workers computed counts once. Internal errors are retried; then the attempt is refunded.

If the engine is a cluster, large releases are scored there, one at a time and in one session, which a process of its
own holds. If the cluster is lost, the file is scored again on this machine, the organiser is informed, and the cluster
is not used for a while.

Webhooks announce published targets, scored releases and results to other servers. A message says what happened and how
often, and nothing about the files of a team. It is signed with the secret of the webhook and has a time stamp against
replays. An address is resolved once and must be outside this network, and the connection goes to that very address, so
that this server cannot be used to reach its neighbours (SSRF, DNS rebinding). Redirects are not followed.
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

from noren.contest.arena import JUDGE, POST, Arena, ScoringOrder, ScoringService, release_of, target_label
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
from noren.errors import InputError, NorenError, ParameterError
from noren.i18n import _
from noren.version import __version__
from noren.web.errors import is_disk_full
from noren.work.child_processes import Line
from noren.work.hash_chain import canonical
from noren.work.queue import Claim, State
from noren.work.runner import JobOutcome, Runner

_log = logging.getLogger(__name__)
_LOOK, _TELL = 2.0, 0.5
"""Seconds between checks for interrupted jobs, and between progress updates."""
_PATIENCE = 5.0
"""Seconds that a job waits which needs another version of the scorer."""
_REST = 300.0
"""Seconds for which a lost cluster is not used."""
_AGAIN = (2.0, 10.0)
"""Seconds before the second and the third try after an internal error."""


class ArenaWorker:
    """One worker of an arena.

    Parameters
    ----------
    processes
        How many files it scores at once (default: number of cores).
    engine, engine_from
        The cluster that scores releases, and from how many rows on; ``local`` is this machine alone.
    scorer
        Creates the scoring process; for tests.
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
        self._watcher = threading.Thread(target=self._watch, name="noren-watcher", daemon=True)

    def start(self) -> None:
        """Start taking jobs."""
        self.runner.start()
        self._watcher.start()

    def close(self) -> None:
        """Take no more jobs and stop running ones; they are done again later."""
        self._closed.set()
        self.runner.close()
        for scorer in (*self._all, *([self._cluster] if self._cluster else [])):
            scorer.close()
        if self._watcher.is_alive():
            self._watcher.join()

    # --- one job -----------------------------------------------------------------------------------------------------

    def do(self, claim: Claim) -> JobOutcome:
        """Do a job, and return its outcome; an unexpected exception is an internal error."""
        job = self.arena.store.jobs.job(claim.id)
        if job is None:
            return JobOutcome(State.CANCELLED)
        try:
            if (fault := self._judge(job, claim)) is not None:
                return self._retry_or_refund(job, claim, fault)
            return JobOutcome(State.DONE, {"done": 1.0, "error": ""})
        except SQLAlchemyError:
            _log.warning("the database was away when %s ended; it is done again", claim.id)
            return JobOutcome(State.WAITING, {"done": 0.0})
        except Exception as error:
            _log.exception("the work on %s failed", claim.id)
            reason = UNREADABLE if isinstance(error, InputError | OSError) else UNEXPECTED
            return self._retry_or_refund(job, claim, Fault(DISK_FULL if is_disk_full(error) else reason))

    def _judge(self, job: ScoringJob, claim: Claim) -> Fault | None:
        """Carry out the order of a job; None if it is done or nothing is left to do."""
        order = self.service.order_of(job)
        if order is None:
            return None
        if order.contest.scorer != SCORER:
            claim.gone.wait(_PATIENCE)  # who has that version may take it
            return Fault(OTHER_SCORER)
        with contextlib.ExitStack() as files:
            original = self._path(files, order.round.data)
            request: dict[str, Any] = {"rulebook": order.contest.rulebook.to_toml(), "original": original}
            if order.file is None:
                with self._scorer() as scorer:
                    return self._make_targets(order, request, scorer, claim)
            release = release_of(order.contest, order.file)
            request |= {"kind": order.file.kind, "submitted": self._path(files, release.digest)}
            if order.file.kind == "guess":
                request |= {"guess": self._path(files, order.file.digest)}
                request |= {"salt": order.salt, "label": target_label(order.contest, release)}
            result = None
            if self._cluster is not None and order.file.kind == "release" and order.round.rows >= self._engine_from:
                result = self._score_on_cluster(self._cluster, order, request, claim)
            if result is None:  # it is small, or the cluster was lost: score it here
                with self._scorer() as scorer:
                    result = self._score(scorer, order, request, claim)
        if isinstance(result, Fault):
            return result
        self.service.judged(order, result)
        return None

    def _score_on_cluster(
        self, scorer: ScorerProcess, order: ScoringOrder, request: dict[str, Any], claim: Claim
    ) -> dict[str, Any] | Fault | None:
        """Score a file on the cluster; None if the cluster is lost or was lost recently."""
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
        with contextlib.suppress(SQLAlchemyError):  # only progress
            self._update(claim, notice=CLUSTER_LOST)
        return None

    def _make_targets(
        self, order: ScoringOrder, plain: dict[str, Any], scorer: ScorerProcess, claim: Claim
    ) -> Fault | None:
        contents = []
        with TemporaryDirectory(prefix="noren-targets-") as folder:
            out = Path(folder) / "target"
            for number, release in enumerate(order.targets.values()):
                draws = {"salt": order.salt, "label": target_label(order.contest, release)}
                with self.arena.files.path(release.digest) as submitted:
                    request = {"kind": "target", "submitted": str(submitted), "out": str(out)}
                    result = self._score(scorer, order, plain | request | draws, claim)
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
                with contextlib.suppress(SQLAlchemyError):  # only progress
                    self._update(claim, **line)

        limits = order.contest.settings
        return scorer.do(request, seconds=limits.seconds, megabytes=limits.megabytes, stop=claim.gone, on_line=on_line)

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
        """Queue a failed job again; after some tries end it and refund the attempt."""
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

    def _watch(self) -> None:
        while not self._closed.wait(_LOOK):
            with contextlib.suppress(SQLAlchemyError):  # the database is away
                self.requeue_interrupted()

    def requeue_interrupted(self) -> None:
        """Queue jobs again that ended because their workers were killed repeatedly.

        A file that crashes the scorer crashes a child process, which counts as a failed try. A killed worker says
        nothing about its file.
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
"""Seconds that a delivery may take: less than a lease of the queue."""
_SEND_AGAIN: Final = (30.0, 120.0, 600.0, 3600.0, 3600.0)
"""Seconds until a message is sent again; after the last one it fails."""


class UndeliveredError(NorenError):
    """A message that could not be delivered."""


def signature(secret: bytes, moment: int, body: bytes) -> str:
    """Return the signature of a message, with its time stamp.

    >>> signature(b"secret", 1, b"{}")[:24]
    't=1,v1=1122767b193110cfe'
    """
    made = hmac.new(secret, f"{moment}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={moment},v1={made}"


def check_address(url: str) -> SplitResult:
    """Return the parts of a webhook address; reject invalid ones."""
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
        fits = fits and parts.port != 0 and url.isascii() and url.isprintable() and " " not in url
    except ValueError:
        fits = False
    if not fits:
        raise ParameterError(_("this is not a webhook address; write it like https://cup.example/"))
    return parts


def is_outside(address: str) -> bool:
    """Tell whether an address is outside this machine and its network.

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
    """Send a message once; any response other than 2xx is an error."""
    parts = check_address(hook.url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    unreachable = _("the address cannot be reached ({reason})")
    try:
        known = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise UndeliveredError(unreachable.format(reason="DNS")) from None
    addresses = [str(info[4][0]) for info in known]  # the first is used, and all must be outside
    if not addresses or not (private or all(is_outside(address) for address in addresses)):
        raise UndeliveredError(
            _("the address is inside this network; start the server with --allow-private-hooks to allow it")
        )
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
        """End a connection that takes too long, even if it still sends bytes."""
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
    """Sends queued messages from a thread; several servers share the queue."""

    def __init__(self, arena: Arena, *, private: bool = False) -> None:
        self._arena, self._private = arena, private
        self._holder = f"post {secrets.token_hex(8)}"

    def send_all(self) -> None:
        """Send all queued messages."""
        while self.send_next():
            pass

    def send_next(self) -> bool:
        """Send the oldest queued message; tell whether there was one."""
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
            after, most = _SEND_AGAIN[min(claim.attempt, len(_SEND_AGAIN)) - 1], len(_SEND_AGAIN) + 1
            queue.try_again(claim.id, self._holder, after=after, error=str(error), most_attempts=most)
        else:
            queue.end(claim.id, State.DONE, holder=self._holder, done=1.0, error="")
        return True
