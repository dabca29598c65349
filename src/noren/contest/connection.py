"""Talking to a server that may go away for a moment: requests that are tried again, uploads that are seen through.

What only asks is asked again when the connection breaks or the server is starting. What changes something is sent once,
unless whoever sends it can find out whether it arrived (:mod:`noren.contest.client`).
"""

from __future__ import annotations

import contextlib
import datetime as dt
import email.utils
import os
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

import httpx

from noren.data.formats.files import writing_file
from noren.errors import InputError, NorenError, ParameterError
from noren.i18n import _, active_language
from noren.progress import Progress, silent
from noren.version import __version__

__all__ = ["AnsweredError", "Connection", "UnreachableError", "path_of"]

SKEW = 60.0
"""Seconds by which the clocks of server and client may differ before somebody is told."""
_PIECE = 2**18
_AWAY = frozenset({502, 503, 504})
_LONGEST_WAIT = 8.0
_WAITING = httpx.Timeout(60.0, connect=15.0)


class UnreachableError(NorenError):
    """A server that did not answer, or not to the end."""


class AnsweredError(InputError):
    """A server's refusal, in its own words."""

    def __init__(self, message: str, cure: str = "", *, status: int) -> None:
        super().__init__(message, cure)
        self.status = status


class Connection:
    """One server, and who one is there.

    Parameters
    ----------
    patience
        Seconds for which a server that is away is asked again.
    tell
        Hears what the person should know: a clock that is wrong.
    headers
        What is said with every request.
    """

    def __init__(
        self,
        address: str,
        token: str | None = None,
        *,
        patience: float = 30.0,
        tell: Callable[[str], None] | None = None,
        headers: Mapping[str, str] | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.address, self.token, self.patience, self._tell = address, token, patience, tell
        self._skew_told = False
        sent = {"User-Agent": f"noren/{__version__}", "Accept-Language": active_language(), **(headers or {})}
        if token:
            if not token.isascii() or not token.isprintable() or " " in token:
                raise ParameterError(_("this is no token"), _("copy it whole, or log in again"))
            sent["Authorization"] = f"Bearer {token}"
        self._http = httpx.Client(base_url=address, headers=sent, timeout=_WAITING, transport=transport)

    def close(self) -> None:
        """Let go of the connection."""
        self._http.close()

    # --- asking --------------------------------------------------------------------------------------------------

    def get(self, path: str, **params: Any) -> Any:
        """Ask, again and again while the server is away, and return what it says."""
        asked = {name: value for name, value in params.items() if value is not None}
        return _said(self._patiently(lambda: self._http.get(path, params=asked)))

    def text(self, path: str, **params: Any) -> str:
        """Ask for something that is not JSON."""
        asked = {name: value for name, value in params.items() if value is not None}
        answer = self._patiently(lambda: self._http.get(path, params=asked))
        if answer.is_error:
            _said(answer)
        return answer.text

    def send(
        self,
        method: str,
        path: str,
        content: Any = None,
        *,
        again: bool = False,
        headers: Mapping[str, str] | None = None,
        **parts: Any,
    ) -> Any:
        """Change something; ``again`` says that doing it twice does it once."""

        def once() -> httpx.Response:
            return self._http.request(method, path, json=content, headers=headers, **parts)

        if again:
            return _said(self._patiently(once))
        try:
            return _said(self._heard(once()))
        except httpx.TransportError as error:
            raise self._unreachable(error) from None

    def download(self, path: str, out: Path, progress: Progress = silent) -> int:
        """Write what the server sends to a file, whole or not at all; return how many bytes it was."""
        until = time.monotonic() + self.patience
        for wait in _waits():
            try:
                with self._http.stream("GET", path) as answer:
                    self._heard(answer)
                    if answer.status_code not in _AWAY:
                        if answer.is_error:
                            answer.read()
                            _said(answer)
                        return _written(answer, out, progress)
            except httpx.TransportError as error:
                if time.monotonic() + wait > until:
                    raise self._unreachable(error) from None
            if time.monotonic() + wait > until:
                raise self._unreachable(None)
            time.sleep(wait)
        raise AssertionError  # the waits never end

    def upload(self, path: str, file: Path, *, params: dict[str, Any], progress: Progress = silent) -> Any:
        """Send a file once; a connection that breaks on the way is an :class:`UnreachableError`."""
        asked = {name: value for name, value in params.items() if value is not None}
        size = file.stat().st_size
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
        try:
            with file.open("rb") as content:
                answer = self._http.put(path, content=_pieces(content, size, progress), params=asked, headers=headers)
        except httpx.TransportError as error:
            raise self._unreachable(error) from None
        self._heard(answer)
        if answer.status_code in _AWAY:
            raise self._unreachable(None)
        return _said(answer)

    # --- patience ------------------------------------------------------------------------------------------------

    def _patiently(self, once: Callable[[], httpx.Response]) -> httpx.Response:
        until = time.monotonic() + self.patience
        last: Exception | None = None
        for wait in _waits():
            try:
                answer = self._heard(once())
                pause = _asked_to_wait(answer)
                if answer.status_code not in _AWAY and pause is None:
                    return answer
                wait = max(wait, pause or 0.0)
                if answer.status_code not in _AWAY and time.monotonic() + wait > until:
                    return answer
            except httpx.TransportError as error:
                last = error
            if time.monotonic() + wait > until:
                raise self._unreachable(last)
            time.sleep(wait)
        raise AssertionError  # the waits never end

    def _unreachable(self, error: Exception | None) -> UnreachableError:
        reason = _("it is starting or overloaded") if error is None else _reason(error)
        return UnreachableError(
            _("{server} does not answer ({reason}); check the address and try again").format(
                server=self.address, reason=reason
            )
        )

    def _heard(self, answer: httpx.Response) -> httpx.Response:
        """Look at the server's clock once, and say where ours is another."""
        if not self._skew_told and self._tell is not None:
            with contextlib.suppress(TypeError, ValueError):
                theirs = email.utils.parsedate_to_datetime(answer.headers["Date"])
                apart = (theirs - dt.datetime.now(dt.UTC)).total_seconds()
                self._skew_told = True
                if abs(apart) > SKEW:
                    side = (
                        _("{seconds:,} seconds ahead of yours") if apart > 0 else _("{seconds:,} seconds behind yours")
                    )
                    ahead = side.format(seconds=round(abs(apart)))
                    self._tell(
                        _("note: the server's clock is {ahead}; its clock decides on deadlines.").format(ahead=ahead)
                    )
        return answer


def path_of(*parts: str) -> str:
    """Return the path of a route; whatever stands in a part stays in it.

    >>> path_of("contests", "a/b", "log")
    '/api/v1/contests/a%2Fb/log'
    """
    return "/api/v1/" + "/".join(quote(part, safe="") for part in parts)


def _waits() -> Iterator[float]:
    wait = 0.1
    while True:
        yield wait
        wait = min(2 * wait, _LONGEST_WAIT)


def _asked_to_wait(answer: httpx.Response) -> float | None:
    """Return the seconds that a server wants us to wait before we ask again."""
    try:
        return float(answer.headers["Retry-After"]) if answer.status_code == 429 else None
    except (KeyError, ValueError):
        return None


def _reason(error: Exception) -> str:
    if isinstance(error, httpx.TimeoutException):
        return _("no answer in time")
    said = " ".join(str(error).split())[:120]
    return said or type(error).__name__


def _said(answer: httpx.Response) -> Any:
    """Return what a server said, or raise its refusal."""
    try:
        content = answer.json() if answer.content else None
    except ValueError:
        content = None
    if not answer.is_error and not (300 <= answer.status_code < 400):
        if content is None and answer.content:
            raise UnreachableError(_("this is not a server of contests; check the address"))
        return content
    error = content.get("error") if isinstance(content, dict) else None
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        raise AnsweredError(
            _("the server answered with {status}").format(status=answer.status_code),
            _("check the address"),
            status=answer.status_code,
        )
    raise AnsweredError(str(error["message"]), status=answer.status_code)


def _pieces(content: BinaryIO, size: int, progress: Progress) -> Iterator[bytes]:
    sent = 0
    while piece := content.read(_PIECE):
        yield piece
        sent += len(piece)
        progress(min(1.0, sent / max(size, 1)))


def _written(answer: httpx.Response, out: Path, progress: Progress) -> int:
    size, got = int(answer.headers.get("Content-Length") or 0), 0
    with writing_file(out) as aside, aside.open("wb") as file:
        for piece in answer.iter_bytes(_PIECE):
            file.write(piece)
            got += len(piece)
            progress(min(1.0, got / size) if size else 0.0)
        file.flush()
        os.fsync(file.fileno())
    return got
