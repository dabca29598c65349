"""What a team or an organiser asks of a server of contests: the REST interface as methods.

A file that is handed in is seen through: where the connection breaks before the receipt comes, the server is asked
whether it has the file, and only where it has not the file is sent again. So nothing is handed in twice.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from noren.contest.connection import Connection, UnreachableError, path_of
from noren.contest.credentials import Login
from noren.data.formats.source import readable
from noren.errors import ParameterError
from noren.i18n import _, active_language
from noren.progress import Progress, silent
from noren.web.actions import Action

__all__ = ["Client", "Handed", "Received", "Session", "TargetFile", "enter", "sign_up"]

_SETTLING = 0.3


class _Answer(BaseModel):
    """What a server said; what a newer one says besides is kept."""

    model_config = ConfigDict(frozen=True, extra="allow")


_Kind = TypeVar("_Kind", bound=_Answer)


class Session(_Answer):
    """Who one is on a server, and what time it is there."""

    now: str
    rehearsal: bool = False
    setup: bool = False
    account: dict[str, Any] | None = None
    scopes: list[str] = []


class Received(_Answer):
    """The server's word that it has a file."""

    submission: str
    receipt: dict[str, Any]


class Handed(_Answer):
    """A file that was handed in, and how far its judging is."""

    id: str
    kind: Literal["release", "guess"]
    team: str
    phase: str
    round: str
    digest: str
    time: str
    position: int
    state: str
    target: str | None = None
    before: int = 0
    done: float = 0.0
    words: str = ""
    seconds: tuple[float, float] | None = None
    trouble: str = ""
    valid: bool | None = None
    counts: bool = False
    chosen: bool = False
    shown: dict[str, Any] = {}

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be heard of it."""
        return self.state in ("done", "refunded", "failed")

    @property
    def report(self) -> dict[str, Any]:
        """What the checker says, in the language now spoken."""
        told: Mapping[str, Any] = self.shown.get("report") or {}
        found = told.get(active_language()) or told.get("en") or {}
        return dict(found)


class TargetFile(_Answer):
    """A release that may be attacked."""

    target: str
    digest: str
    tries: int = 0
    left: int = 0


class Client:
    """A server of contests, as one account sees it.

    Parameters
    ----------
    token
        Made by ``noren contest login``; without one, only what everybody may see is there.
    """

    def __init__(self, address: str, token: str | None = None, **how: Any) -> None:
        self.connection = Connection(address, token, **how)

    @classmethod
    def of(cls, login: Login, tell: Callable[[str], None] | None = None) -> Self:
        """Return the client of a login."""
        return cls(login.server, login.token, tell=tell)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection."""
        self.connection.close()

    # --- everybody -----------------------------------------------------------------------------------------------

    def session(self) -> Session:
        """Return who one is, and the server's time."""
        return _read(Session, self.connection.get(path_of("session")))

    def contests(self) -> list[dict[str, Any]]:
        """Return the contests that one may see."""
        return list(self.connection.get(path_of("contests")))

    def contest(self, contest: str) -> dict[str, Any]:
        """Return how a contest stands."""
        return dict(self.connection.get(path_of("contests", contest)))

    def rulebook(self, contest: str) -> str:
        """Return the rules, as TOML."""
        return self.connection.text(path_of("contests", contest, "rulebook.toml"))

    def teams(self, contest: str) -> list[dict[str, Any]]:
        """Return the teams."""
        return list(self.connection.get(path_of("contests", contest, "teams")))

    def leaderboard(self, contest: str, round_: str) -> dict[str, Any]:
        """Return the board of a round, as far as one may see it."""
        return dict(self.connection.get(path_of("contests", contest, "rounds", round_, "leaderboard")))

    def matrix(self, contest: str, round_: str) -> dict[str, Any]:
        """Return who broke whom."""
        return dict(self.connection.get(path_of("contests", contest, "rounds", round_, "matrix")))

    def results(self, contest: str) -> dict[str, Any]:
        """Return the results."""
        return dict(self.connection.get(path_of("contests", contest, "results.json")))

    def log(self, contest: str, start: int = 0) -> list[dict[str, Any]]:
        """Return the entries of the log, from a position on."""
        lines = self.connection.text(path_of("contests", contest, "log"), start=start)
        return [json.loads(line) for line in lines.splitlines() if line]

    def save(self, contest: str, what: str, out: Path, progress: Progress = silent) -> int:
        """Write the archive or the results (``archive``, ``results.html``, …) to a file; return its bytes."""
        return self.connection.download(path_of("contests", contest, what), out, progress)

    def do(self, act: Action[..., Any], contest: str, **asked: Any) -> Any:
        """Do an action (:mod:`noren.contest.acts`), and return the server's answer."""
        method, parts, content = act.request(contest=contest, **asked)
        return self.connection.send(method, path_of(*parts), content, again=act.again)

    # --- teams ---------------------------------------------------------------------------------------------------

    def data(self, contest: str, round_: str, out: Path, progress: Progress = silent) -> int:
        """Write the data of a round to a file."""
        return self.connection.download(path_of("contests", contest, "rounds", round_, "data"), out, progress)

    def submit_release(
        self, contest: str, file: Path, *, phase: str | None = None, progress: Progress = silent
    ) -> Received:
        """Hand in a release."""
        path = path_of("contests", contest, "releases")
        return self._submit(contest, path, file, "release", None, phase, progress)

    def submit_guess(
        self, contest: str, target: str, file: Path, *, phase: str | None = None, progress: Progress = silent
    ) -> Received:
        """Hand in a guess against a target."""
        path = path_of("contests", contest, "guesses", target)
        return self._submit(contest, path, file, "guess", target, phase, progress)

    def _submit(
        self, contest: str, path: str, file: Path, kind: str, target: str | None, phase: str | None, progress: Progress
    ) -> Received:
        with readable(file).open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()

        def there() -> list[Handed]:
            """Return what the server has of this very file, the newest first."""
            found = self.submissions(contest, kind=kind)
            return [
                one for one in found if one.digest == digest and one.target == target and phase in (None, one.phase)
            ]

        # the same file may be handed in again on purpose: what counts is what the log has after now
        before = int(self.contest(contest)["head"]["position"])
        until = time.monotonic() + self.connection.patience
        while True:
            try:
                return _read(Received, self.connection.upload(path, file, params={"phase": phase}, progress=progress))
            except UnreachableError:
                time.sleep(_SETTLING)  # a server that has it all may be writing it down still
                arrived = [one for one in there() if one.position > before]
                if arrived:
                    receipt = self.receipt(contest, arrived[0].id)
                    return Received(submission=arrived[0].id, receipt=receipt)
                if time.monotonic() > until:
                    raise

    def submissions(self, contest: str, *, kind: str | None = None, round_: str | None = None) -> list[Handed]:
        """Return what one's team handed in, the newest first."""
        said = self.connection.get(path_of("contests", contest, "submissions"), kind=kind, round=round_)
        return [_read(Handed, one) for one in said]

    def submission(self, contest: str, submission: str) -> Handed:
        """Return how far the judging of a file is, and what was found."""
        return _read(Handed, self.connection.get(path_of("contests", contest, "submissions", submission)))

    def receipt(self, contest: str, submission: str) -> dict[str, Any]:
        """Return the receipt of a file of one's own."""
        return dict(self.connection.get(path_of("contests", contest, "submissions", submission, "receipt")))

    def judged(
        self, contest: str, submission: str, progress: Progress = silent, *, patience: float | None = None
    ) -> Handed:
        """Wait until a file is judged, and return what was found."""
        until = None if patience is None else time.monotonic() + patience
        wait = 0.2
        while True:
            found = self.submission(contest, submission)
            progress(1.0 if found.is_over else found.done, _place(found))
            if found.is_over or (until is not None and time.monotonic() > until):
                return found
            time.sleep(wait)
            wait = min(2.0, wait * 1.5)

    def targets(self, contest: str, round_: str) -> list[TargetFile]:
        """Return what may be attacked."""
        said = self.connection.get(path_of("contests", contest, "rounds", round_, "targets"))
        return [_read(TargetFile, one) for one in said]

    def target(self, contest: str, round_: str, target: str, out: Path, progress: Progress = silent) -> int:
        """Write the public part of a target to a file."""
        path = path_of("contests", contest, "rounds", round_, "targets", target)
        return self.connection.download(path, out, progress)

    # --- organisers ----------------------------------------------------------------------------------------------

    def create(self, contest: Mapping[str, Any], data: Mapping[str, Path]) -> dict[str, Any]:
        """Create a contest with the data of each round."""
        with contextlib.ExitStack() as opened:
            parts = {
                name: (path.name, opened.enter_context(readable(path).open("rb")), "application/octet-stream")
                for name, path in data.items()
            }
            fields = {"contest": json.dumps(contest)}
            return dict(self.connection.send("POST", path_of("contests"), data=fields, files=parts))

    def jobs(self, contest: str) -> list[dict[str, Any]]:
        """Return the jobs of a contest."""
        return list(self.connection.get(path_of("contests", contest, "jobs")))

    def retry(self, contest: str, job: str) -> None:
        """Let a job that was given up be tried again."""
        self.connection.send("POST", path_of("contests", contest, "jobs", job, "retry"), {})

    def flags(self, contest: str) -> list[dict[str, Any]]:
        """Return files of different teams that are nearly the same."""
        return list(self.connection.get(path_of("contests", contest, "flags")))

    # --- tokens --------------------------------------------------------------------------------------------------

    def tokens(self) -> list[dict[str, Any]]:
        """Return one's tokens, without their texts."""
        return list(self.connection.get(path_of("account", "tokens")))

    def make_token(self, name: str, scopes: Sequence[str]) -> str:
        """Return the text of a new token, which nobody can look up later."""
        said = self.connection.send("POST", path_of("account", "tokens"), {"name": name, "scopes": list(scopes)})
        return str(said["text"])

    def revoke(self, token: str) -> None:
        """Let a token open nothing any more."""
        self.connection.send("DELETE", path_of("account", "tokens", token), again=True)


# --- becoming somebody ---------------------------------------------------------------------------------------------


def enter(server: str, login: str, password: str, *, name: str = "noren", **how: Any) -> Login:
    """Log in with a password, make a token for this program, and return it; the session ends."""
    with _browser(server, how) as (connection, csrf):
        connection.send("POST", path_of("session"), {"login": login, "password": password}, headers=csrf())
        return _with_token(server, connection, csrf, name)


def sign_up(
    server: str, login: str, name: str, password: str, *, code: str = "", program: str = "noren", **how: Any
) -> Login:
    """Make an account, and a token of it; with the code that the server's terminal shows, that of the organiser."""
    with _browser(server, how) as (connection, csrf):
        asked = {"login": login, "name": name, "password": password} | ({"code": code} if code else {})
        connection.send("POST", path_of("accounts"), asked, headers=csrf())
        return _with_token(server, connection, csrf, program)


@contextlib.contextmanager
def _browser(server: str, how: Mapping[str, Any]) -> Iterator[tuple[Connection, Callable[[], dict[str, str]]]]:
    """Yield a connection that keeps cookies, and what proves that a request is its own."""
    connection = Connection(server, **how)
    try:
        yield connection, lambda: {"X-CSRF-Token": str(connection.get(path_of("session"))["csrf"])}
    finally:
        connection.close()


def _with_token(server: str, connection: Connection, csrf: Callable[[], dict[str, str]], name: str) -> Login:
    account = connection.get(path_of("account"))
    scopes = ["read", "team", *(["organiser"] if account["is_organiser"] else [])]
    asked = {"name": name, "scopes": scopes}
    made = connection.send("POST", path_of("account", "tokens"), asked, headers=csrf())
    with contextlib.suppress(UnreachableError):
        connection.send("DELETE", path_of("session"), headers=csrf())
    return Login(server, str(made["text"]))


def _read(kind: type[_Kind], said: Any) -> _Kind:
    try:
        return kind.model_validate(said)
    except ValidationError as error:
        raise ParameterError(
            _("the server's answer cannot be understood ({reason})").format(reason=error.errors()[0]["msg"]),
            _("use the version of Noren that the server has"),
        ) from None


def _place(found: Handed) -> str:
    """Return how far a file is, in a few words."""
    if found.trouble:
        return found.trouble
    words = found.words or (_("{count} before it").format(count=found.before) if found.before else "")
    if found.seconds is None:
        return words
    low, high = found.seconds
    return ", ".join(filter(None, (words, _("{low:.0f}–{high:.0f} seconds").format(low=low, high=high))))
