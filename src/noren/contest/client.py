"""What a team or an organiser asks of a server of contests: the REST interface as methods.

The server may go away for a moment. What only asks is asked again when the connection breaks or the server is starting.
What changes something is sent once, unless whoever sends it can find out whether it arrived. A file that is handed in
is seen through: where the connection breaks before the receipt comes, the server is asked whether it has the file, and
only where it has not the file is sent again. So nothing is handed in twice.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import email.utils
import hashlib
import itertools
import json
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TypeVar
from urllib.parse import quote

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
"""Seconds by which the clocks of server and client may differ before somebody is told."""
_PIECE = 2**18
_AWAY = frozenset({502, 503, 504})
_LONGEST_WAIT = 8.0
_WAITING = httpx.Timeout(60.0, connect=15.0)
_SETTLING = 0.3
_Kind = TypeVar("_Kind", bound=BaseModel)


class UnreachableError(NorenError):
    """A server that did not answer, or not to the end."""


class AnsweredError(RefusedError):
    """A server's refusal, in its own words."""


class Session(BaseModel):
    """Who one is on a server, and what time it is there; what a newer server says besides is kept."""

    model_config = ConfigDict(frozen=True, extra="allow")

    now: str
    rehearsal: bool = False
    setup: bool = False
    account: dict[str, Any] | None = None
    scopes: list[str] = []


class Client:
    """A server of contests, as one account sees it.

    Parameters
    ----------
    token
        Made by ``noren contest login``; without one, only what everybody may see is there.
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
                raise ParameterError(_("this is no token; copy it whole, or log in again"))
            sent["Authorization"] = f"Bearer {token}"
        self._http = httpx.Client(base_url=address, headers=sent, timeout=_WAITING, transport=transport)

    def close(self) -> None:
        """Let go of the connection."""
        self._http.close()

    # --- asking --------------------------------------------------------------------------------------------------

    def get(self, *parts: str, **params: Any) -> Any:
        """Return what an address below ``/api/v1`` says: ``client.get("contests", "cup", "teams")``.

        It is asked again and again while the server is away.
        """
        asked = {name: value for name, value in params.items() if value is not None}
        return _said(self._patiently(lambda: self._http.get(path_of(*parts), params=asked)))

    def text(self, *parts: str) -> str:
        """Ask for something that is not JSON."""
        answer = self._patiently(lambda: self._http.get(path_of(*parts)))
        if answer.is_error:
            _said(answer)
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
        """Change something; ``again`` says that doing it twice does it once."""
        once = partial(self._http.request, method, path_of(*parts), json=content, headers=headers, **form)
        if again:
            return _said(self._patiently(once))
        try:
            return _said(self._heard(once()))
        except httpx.TransportError as error:
            raise self._unreachable(error) from None

    def download(self, *parts: str, out: Path, progress: Progress = silent) -> int:
        """Write what an address sends to a file, whole or not at all; return how many bytes it was.

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

        answer = self._patiently(once)
        if answer.is_error:
            _said(answer)
        return got

    def upload(self, *parts: str, file: Path, params: dict[str, Any], progress: Progress = silent) -> Any:
        """Send a file once; a connection that breaks on the way is an :class:`UnreachableError`."""
        asked = {name: value for name, value in params.items() if value is not None}
        size = file.stat().st_size
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size)}

        def pieces(content: BinaryIO) -> Iterator[bytes]:
            while piece := content.read(_PIECE):
                yield piece
                progress(min(1.0, content.tell() / max(size, 1)))

        try:
            with file.open("rb") as content:
                answer = self._http.put(path_of(*parts), content=pieces(content), params=asked, headers=headers)
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
        for attempt in itertools.count():
            wait = min(0.1 * 2 ** min(attempt, 10), _LONGEST_WAIT)
            try:
                answer = self._heard(once())
                pause = None  # the seconds that a server wants us to wait before we ask again
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
        if error is None:
            reason = _("it is starting or overloaded")
        elif isinstance(error, httpx.TimeoutException):
            reason = _("no answer in time")
        else:
            reason = " ".join(str(error).split())[:120] or type(error).__name__
        return UnreachableError(say("no_answer", server=self.address, reason=reason))

    def _heard(self, answer: httpx.Response) -> httpx.Response:
        """Look at the server's clock once, and say where ours is another."""
        if not self._skew_told and self._tell is not None:
            with contextlib.suppress(TypeError, ValueError):
                theirs = email.utils.parsedate_to_datetime(answer.headers["Date"])
                apart = (theirs - dt.datetime.now(dt.UTC)).total_seconds()
                self._skew_told = True
                if abs(apart) > SKEW:
                    side = say("ahead" if apart > 0 else "behind", seconds=round(abs(apart)))
                    self._tell(say("other_clock", ahead=side))
        return answer

    # --- everybody -----------------------------------------------------------------------------------------------

    def session(self) -> Session:
        """Return who one is, and the server's time."""
        return _read(Session, self.get("session"))

    def contest(self, contest: str) -> dict[str, Any]:
        """Return how a contest stands."""
        return dict(self.get("contests", contest))

    def do(self, act: Action[..., Any], contest: str, **asked: Any) -> Any:
        """Do an action (:mod:`noren.contest.actions`), and return the server's answer."""
        method, parts, content = act.request(contest=contest, **asked)
        return self.send(method, *parts, content=content, again=act.again)

    # --- teams ---------------------------------------------------------------------------------------------------

    def submit(
        self,
        contest: str,
        file: Path,
        *,
        target: str | None = None,
        phase: str | None = None,
        progress: Progress = silent,
    ) -> ReceivedOut:
        """Hand in a release, or a guess against a target."""
        kind, parts = ("release", ["releases"]) if target is None else ("guess", ["guesses", target])
        with require_readable(file).open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()

        # the same file may be handed in again on purpose: what counts is what the log has after now
        before = int(self.contest(contest)["head"]["position"])
        until = time.monotonic() + self.patience
        while True:
            try:
                asked = {"phase": phase}
                said = self.upload("contests", contest, *parts, file=file, params=asked, progress=progress)
                return _read(ReceivedOut, said)
            except UnreachableError:
                time.sleep(_SETTLING)  # a server that has it all may be writing it down still
                for one in self.submissions(contest, kind=kind):  # the newest first
                    is_same = one.digest == digest and one.target == target and phase in (None, one.phase)
                    if is_same and one.position > before:
                        receipt = dict(self.get("contests", contest, "submissions", one.id, "receipt"))
                        return ReceivedOut(submission=one.id, receipt=receipt)
                if time.monotonic() > until:
                    raise

    def submissions(self, contest: str, *, kind: str | None = None) -> list[SubmissionOut]:
        """Return what one's team handed in, the newest first."""
        said = self.get("contests", contest, "submissions", kind=kind)
        return [_read(SubmissionOut, one) for one in said]

    def submission(self, contest: str, submission: str) -> SubmissionOut:
        """Return how far the judging of a file is, and what was found."""
        return _read(SubmissionOut, self.get("contests", contest, "submissions", submission))

    def judged(self, contest: str, submission: str, progress: Progress = silent) -> SubmissionOut:
        """Wait until a file is judged, and return what was found."""
        wait = 0.2
        while True:
            found = self.submission(contest, submission)
            words = found.words or (_("{count} before it").format(count=found.before) if found.before else "")
            if found.seconds is not None:
                low, high = found.seconds
                words = ", ".join(filter(None, (words, _("{low:.0f}–{high:.0f} seconds").format(low=low, high=high))))
            progress(1.0 if found.is_over else found.done, found.trouble or words)
            if found.is_over:
                return found
            time.sleep(wait)
            wait = min(2.0, wait * 1.5)

    def targets(self, contest: str, round_: str) -> list[TargetOut]:
        """Return what may be attacked."""
        said = self.get("contests", contest, "rounds", round_, "targets")
        return [_read(TargetOut, one) for one in said]

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
    """Return the path of a route; whatever stands in a part stays in it.

    >>> path_of("contests", "a/b", "log")
    '/api/v1/contests/a%2Fb/log'
    """
    return "/api/v1/" + "/".join(quote(part, safe="") for part in parts)


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
        raise AnsweredError(say("strange_answer", status=answer.status_code), status=answer.status_code)
    raise AnsweredError(str(error["message"]), status=answer.status_code)


# --- becoming somebody ---------------------------------------------------------------------------------------------


def enter(
    server: str, login: str, password: str, *, new: str = "", code: str = "", program: str = "noren", **how: Any
) -> Login:
    """Begin a session as a browser does, make a token for a program in it, and return that; the session ends.

    ``new`` is the name of somebody who has no account yet and signs up; with the ``code`` that the server's terminal
    shows, as its organiser.
    """
    place, who = "session", {"login": login, "password": password}
    if new:
        place, who = "accounts", {"login": login, "name": new, "password": password} | ({"code": code} if code else {})
    with contextlib.closing(Client(server, **how)) as client:

        def change(method: str, *parts: str, content: Any = None) -> Any:
            csrf = str(client.get("session")["csrf"])  # what proves that a request is the session's own
            return client.send(method, *parts, content=content, headers={"X-CSRF-Token": csrf})

        change("POST", place, content=who)
        account = client.get("account")
        scopes = ["read", "team", *(["organiser"] if account["is_organiser"] else [])]
        made = change("POST", "account", "tokens", content={"name": program, "scopes": scopes})
        with contextlib.suppress(UnreachableError):
            change("DELETE", "session")
        return Login(server, str(made["text"]))


def _read(kind: type[_Kind], said: Any) -> _Kind:
    try:
        return kind.model_validate(said)
    except ValidationError as error:
        raise ParameterError(say("not_understood", reason=error.errors()[0]["msg"])) from None
