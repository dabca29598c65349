"""Telling other servers of news (webhooks): targets are out, releases were judged, results are there.

A message says what happened and how often, and nothing of any one team's files. It is signed: whoever has the hook's
secret knows that it is ours, and from the time in it that it is not an old one sent again. An address is looked up
once and must lie outside this network, and the connection goes to the very address that was looked at, so that nobody
can have this server call on its neighbours (SSRF, DNS rebinding). Nothing is followed elsewhere.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import http.client
import ipaddress
import secrets
import socket
import ssl
import threading
import time
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

import sqlalchemy as sa

from noren.contest.arena import POST, Arena
from noren.contest.store.sealing import Hook
from noren.contest.store.tables import jobs
from noren.errors import NorenError, ParameterError
from noren.i18n import _
from noren.version import __version__
from noren.work.chain import canonical
from noren.work.queue import State, clock_of

SIGNATURE: Final = "X-Noren-Signature"
_SECONDS = 10.0
"""How long one delivery may take: less than a lease of the queue."""
_AGAIN: Final = (30.0, 120.0, 600.0, 3600.0, 3600.0)
"""Seconds until a message is tried again; after the last it is given up."""


class UndeliveredError(NorenError):
    """A message that its address did not take."""


# --- what is told ----------------------------------------------------------------------------------------------------


def signature(secret: bytes, moment: int, body: bytes) -> str:
    """Return what proves that a body is ours and of when it is.

    >>> signature(b"secret", 1, b"{}")[:24]
    't=1,v1=1122767b193110cfe'
    """
    made = hmac.new(secret, f"{moment}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={moment},v1={made}"


# --- to whom ---------------------------------------------------------------------------------------------------------


def check_address(url: str) -> SplitResult:
    """Return the parts of an address that messages may be sent to."""
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
        fits = fits and parts.port != 0 and url.isascii() and url.isprintable() and " " not in url
    except ValueError:
        fits = False
    if not fits:
        raise ParameterError(_("this is no address that news can be sent to"), _("write it like https://cup.example/"))
    return parts


def is_outside(address: str) -> bool:
    """Tell whether an address is of the world, and not of this machine or its network.

    >>> [is_outside(one) for one in ("93.184.216.34", "127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1")]
    [True, False, False, False]
    """
    found = ipaddress.ip_address(address.split("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        inside = found.ipv4_mapped or found.sixtofour or (found.teredo or (None, None))[1]
        if found in ipaddress.ip_network("64:ff9b::/96"):
            inside = ipaddress.IPv4Address(int(found) & 0xFFFFFFFF)
        if inside is not None:
            return is_outside(str(inside))
    return found.is_global and not found.is_multicast


# --- sending ---------------------------------------------------------------------------------------------------------


def deliver(hook: Hook, body: bytes, *, private: bool, now: float | None = None) -> None:
    """Send a message once; whatever is not a plain yes is an error."""
    parts = check_address(hook.url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        known = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise UndeliveredError(_("the name of the address is not known")) from None
    found = [str(one[4][0]) for one in known]  # the first is called, and all that the name stands for must be outside
    if not found or not (private or all(is_outside(one) for one in found)):
        raise UndeliveredError(_("the address is inside this network; only a server that allows it sends there"))
    moment = int(time.time() if now is None else now)
    headers = {
        "Host": parts.netloc,
        "Content-Type": "application/json",
        "User-Agent": f"noren/{__version__}",
        SIGNATURE: signature(hook.secret, moment, body),
    }
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection = http.client.HTTPConnection(found[0], port, timeout=_SECONDS)

    def cut() -> None:
        """End a connection that takes too long, however it drips."""
        with contextlib.suppress(OSError, AttributeError):
            connection.sock.shutdown(socket.SHUT_RDWR)

    deadline = threading.Timer(_SECONDS, cut)
    deadline.start()
    try:
        connection.connect()
        if parts.scheme == "https":
            trusted = ssl.create_default_context()
            connection.sock = trusted.wrap_socket(connection.sock, server_hostname=parts.hostname)
        connection.request("POST", path, body, headers)
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        reason = type(error).__name__
        raise UndeliveredError(_("the address cannot be reached ({reason})").format(reason=reason)) from None
    finally:
        deadline.cancel()
        connection.close()
    if not 200 <= status < 300:
        raise UndeliveredError(_("the address answers {status}").format(status=status))


class Postman:
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
        hook = next((one for one in hooks if job and one.id == job.order["hook"] and one.disabled is None), None)
        if job is None or hook is None:
            queue.end(claim.id, State.CANCELLED, holder=self._holder)
            return True
        try:
            deliver(hook, canonical({"id": job.id, **job.order["message"]}), private=self._private)
        except UndeliveredError as error:
            if claim.attempt > len(_AGAIN):
                queue.end(claim.id, State.FAILED, holder=self._holder, error=str(error))
                return True
            later: dict[str, Any] = {"lease_until": clock_of(self._arena.store.engine) + _AGAIN[claim.attempt - 1]}
            later |= {"claimed_by": f"{self._holder} again", "error": str(error), "most_attempts": len(_AGAIN) + 1}
            mine = sa.and_(jobs.c.id == claim.id, jobs.c.claimed_by == self._holder, jobs.c.state == State.RUNNING)
            with self._arena.store.engine.begin() as database:
                database.execute(jobs.update().where(mine).values(**later))
        else:
            queue.end(claim.id, State.DONE, holder=self._holder, done=1.0, error="")
        return True
