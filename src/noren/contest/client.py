"""Client of the REST interface of a contest server.

Reading requests are repeated when the connection breaks or the server is starting. Changing requests are sent once,
unless repeating them is harmless. An upload has a key, so that it can be sent again when the connection breaks: the
server takes the same key for the same submission.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import email.utils
import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx
from pydantic import BaseModel, ConfigDict, ValidationError

from noren.contest.actions import RefusedError
from noren.contest.credentials import Login
from noren.contest.schemas import ReceivedOut, SubmissionOut, TargetOut
from noren.data.formats.files import writing_file
from noren.data.formats.source import require_readable
from noren.errors import NorenError, ParameterError
from noren.i18n import _, active_language
from noren.progress import Progress, silent
from noren.tables import Texts
from noren.version import __version__
from noren.web.actions import Action

say = Texts(__name__)
SKEW = 60.0
"""Seconds by which the clocks of server and client can differ without a note."""
_PIECE = 2**18
_AWAY = frozenset({502, 503, 504})
_LONGEST_WAIT = 8.0
_WAITING = httpx.Timeout(60.0, connect=15.0)
_Kind = TypeVar("_Kind", bound=BaseModel)


class UnreachableError(NorenError):
    """A server that did not answer, or not completely."""


class AnsweredError(RefusedError):
    """A server's refusal, in its own words."""


class Session(BaseModel):
    """The logged-in account and the server's time; unknown fields of newer servers are allowed."""

    model_config = ConfigDict(frozen=True, extra="allow")

    now: str
    rehearsal: bool = False
    setup: bool = False
    account: dict[str, Any] | None = None
    scopes: list[str] = []


class Client:
    """A contest server, as one account sees it.

    A ``token`` is created by ``noren contest login``; without one, only public data are visible. Requests to an
    unreachable server are repeated for ``patience`` seconds; ``tell`` receives notes for the user, such as a wrong
    clock.
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
        self._clock_checked = False
        sent = {"User-Agent": f"noren/{__version__}", "Accept-Language": active_language(), **(headers or {})}
        if token:
            if not token.isascii() or not token.isprintable() or " " in token:
                raise ParameterError(_("this is not a token; copy all of it, or log in again"))
            sent["Authorization"] = f"Bearer {token}"
        self._http = httpx.Client(base_url=address, headers=sent, timeout=_WAITING, transport=transport)

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    # --- asking --------------------------------------------------------------------------------------------------

    def get(self, *parts: str, **params: Any) -> Any:
        """Return the JSON of an address below ``/api/v1``: ``client.get("contests", "cup", "teams")``.

        The request is repeated while the server is unreachable.
        """
        query = {name: value for name, value in params.items() if value is not None}
        return _content_of(self._with_retries(lambda: self._http.get(path_of(*parts), params=query)))

    def text(self, *parts: str) -> str:
        """Return a response that is not JSON."""
        answer = self._with_retries(lambda: self._http.get(path_of(*parts)))
        if answer.is_error:
            _content_of(answer)
        return answer.text

    def send(
        self,
        method: str,
        *parts: str,
        content: Any = None,
        again: bool = False,
        headers: Mapping[str, str] | None = None,
        **form: Any,
    ) -> Any:
        """Send a changing request; ``again`` says that repeating it is harmless."""
        once = partial(self._http.request, method, path_of(*parts), json=content, headers=headers, **form)
        if again:
            return _content_of(self._with_retries(once))
        try:
            return _content_of(self._check_clock(once()))
        except httpx.TransportError as error:
            raise self._unreachable(error) from None

    def download(self, *parts: str, out: Path, progress: Progress = silent) -> int:
        """Download to a file, completely or not at all; return the number of bytes.

        That is the ``archive`` of a contest, its ``log`` or ``results.html``, the ``data`` of a round, or a target.
        """
        got = 0

        def once() -> httpx.Response:
            nonlocal got
            with self._http.stream("GET", path_of(*parts)) as answer:
                if answer.is_error:
                    answer.read()
                    return answer
                size, got = int(answer.headers.get("Content-Length") or 0), 0
                with writing_file(out) as aside, aside.open("wb") as file:
                    for piece in answer.iter_bytes(_PIECE):
                        file.write(piece)
                        got += len(piece)
                        progress(min(1.0, got / size) if size else 0.0)
            return answer

        answer = self._with_retries(once)
        if answer.is_error:
            _content_of(answer)
        return got

    # --- patience ------------------------------------------------------------------------------------------------

    def _with_retries(self, once: Callable[[], httpx.Response]) -> httpx.Response:
        until = time.monotonic() + self.patience
        last: Exception | None = None
        for attempt in itertools.count():
            wait = min(0.1 * 2 ** min(attempt, 10), _LONGEST_WAIT)
            try:
                answer = self._check_clock(once())
                pause = None  # the seconds to wait before the next request
                with contextlib.suppress(KeyError, ValueError):
                    pause = float(answer.headers["Retry-After"]) if answer.status_code == 429 else None
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
        reason = "HTTP 503" if error is None else " ".join(str(error).split())[:120] or type(error).__name__
        return UnreachableError(say("no_answer", server=self.address, reason=reason))

    def _check_clock(self, answer: httpx.Response) -> httpx.Response:
        """Compare the server's clock with ours once, and note a difference."""
        if not self._clock_checked and self._tell is not None:
            with contextlib.suppress(TypeError, ValueError):
                theirs = email.utils.parsedate_to_datetime(answer.headers["Date"])
                apart = (theirs - dt.datetime.now(dt.UTC)).total_seconds()
                self._clock_checked = True
                if abs(apart) > SKEW:
                    self._tell(say("other_clock", seconds=round(apart)))
        return answer

    def session(self) -> Session:
        """Return the logged-in account and the server's time."""
        return _parse(Session, self.get("session"))

    def contest(self, contest: str) -> dict[str, Any]:
        """Return the state of a contest."""
        return dict(self.get("contests", contest))

    def do(self, act: Action[..., Any], contest: str, **inputs: Any) -> Any:
        """Do an action (:mod:`noren.contest.actions`), and return the server's answer."""
        method, parts, content = act.request(contest=contest, **inputs)
        return self.send(method, *parts, content=content, again=act.again)

    def submit(
        self,
        contest: str,
        file: Path,
        *,
        target: str | None = None,
        phase: str | None = None,
        progress: Progress = silent,
    ) -> ReceivedOut:
        """Submit a release, or a guess about a target; again under the same key while the server is unreachable."""
        parts, size = ["releases"] if target is None else ["guesses", target], require_readable(file).stat().st_size
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}
        headers |= {"Idempotency-Key": uuid4().hex}

        def pieces(content: BinaryIO) -> Iterator[bytes]:
            while piece := content.read(_PIECE):
                yield piece
                progress(min(1.0, content.tell() / max(size, 1)))

        def once() -> httpx.Response:
            with file.open("rb") as content:
                where, query = path_of("contests", contest, *parts), {} if phase is None else {"phase": phase}
                return self._http.put(where, content=pieces(content), params=query, headers=headers)

        return _parse(ReceivedOut, _content_of(self._with_retries(once)))

    def submissions(self, contest: str, *, kind: str | None = None) -> list[SubmissionOut]:
        """Return the submissions of one's team, the newest first."""
        answers = self.get("contests", contest, "submissions", kind=kind)
        return [_parse(SubmissionOut, answer) for answer in answers]

    def submission(self, contest: str, submission: str) -> SubmissionOut:
        """Return the progress and the result of a submission."""
        return _parse(SubmissionOut, self.get("contests", contest, "submissions", submission))

    def judged(self, contest: str, submission: str, progress: Progress = silent) -> SubmissionOut:
        """Wait until a file is scored, and return the result."""
        wait = 0.2
        while True:
            file = self.submission(contest, submission)
            words = file.words
            if not words and file.before:
                words = _("position in the queue: {position}").format(position=file.before + 1)
            if file.seconds is not None:
                words = ", ".join(filter(None, (words, "{:.0f}–{:.0f} s".format(*file.seconds))))
            progress(1.0 if file.is_over else file.done, file.trouble or words)
            if file.is_over:
                return file
            time.sleep(wait)
            wait = min(2.0, wait * 1.5)

    def targets(self, contest: str, round_: str) -> list[TargetOut]:
        """Return the targets of a round."""
        answers = self.get("contests", contest, "rounds", round_, "targets")
        return [_parse(TargetOut, answer) for answer in answers]

    def create(self, contest: Mapping[str, Any], data: Mapping[str, Path]) -> dict[str, Any]:
        """Create a contest with the data of each round."""
        with contextlib.ExitStack() as opened:
            parts = {
                name: (path.name, opened.enter_context(require_readable(path).open("rb")), "application/octet-stream")
                for name, path in data.items()
            }
            fields = {"contest": json.dumps(contest)}
            return dict(self.send("POST", "contests", data=fields, files=parts))


def path_of(*parts: str) -> str:
    """Return the path of a route; each part is quoted.

    >>> path_of("contests", "a/b", "log")
    '/api/v1/contests/a%2Fb/log'
    """
    return "/api/v1/" + "/".join(quote(part, safe="") for part in parts)


def _content_of(answer: httpx.Response) -> Any:
    """Return the content of a response, or raise its error."""
    try:
        content = answer.json() if answer.content else None
    except ValueError:
        content = None
    if not answer.is_error and not (300 <= answer.status_code < 400):
        if content is None and answer.content:
            raise UnreachableError(say("not_a_server", status=answer.status_code))
        return content
    error = content.get("error") if isinstance(content, dict) else None
    if not isinstance(error, dict) or not isinstance(error.get("message"), str):
        raise AnsweredError(say("not_a_server", status=answer.status_code), status=answer.status_code)
    raise AnsweredError(str(error["message"]), status=answer.status_code)


def create_login(
    server: str, login: str, password: str, *, new: str = "", code: str = "", program: str = "noren", **how: Any
) -> Login:
    """Log in as a browser does, create a token for a program, and log out.

    ``new`` is the name of a new account; with the ``code`` that the server's terminal shows, an organiser's.
    """
    place, who = "session", {"login": login, "password": password}
    if new:
        place, who = "accounts", {"login": login, "name": new, "password": password} | ({"code": code} if code else {})
    with contextlib.closing(Client(server, **how)) as client:

        def change(method: str, *parts: str, content: Any = None) -> Any:
            csrf = str(client.get("session")["csrf"])  # what proves that a request is the session's own
            return client.send(method, *parts, content=content, headers={"X-CSRF-Token": csrf})

        change("POST", place, content=who)
        scopes = ["read", "team", "organiser"]  # of what the account may do
        made = change("POST", "account", "tokens", content={"name": program, "scopes": scopes})
        with contextlib.suppress(UnreachableError):
            change("DELETE", "session")
        return Login(server, str(made["text"]))


def _parse(kind: type[_Kind], answer: Any) -> _Kind:
    try:
        return kind.model_validate(answer)
    except ValidationError as error:
        raise ParameterError(say("not_understood", reason=error.errors()[0]["msg"])) from None
