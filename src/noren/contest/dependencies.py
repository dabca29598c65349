"""What pages and the REST interface are handed with each request: the service, the entrance, and who asks.

At the entrance of the arena there are people who sign up and log in, browsers that stay logged in, and programs with
tokens. Everybody may look at what is public, so the door is open, and each route asks who it is that comes. The first
organiser proves to run the server by a code that only its terminal shows; it is worth nothing once there is an
organiser.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import logging
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Path, Request
from pydantic import BaseModel, ValidationError

from noren.contest.actions import RefusedError
from noren.contest.service import NOBODY, ArenaIdentity, ContestAccess, ContestService
from noren.contest.store.database import ArenaAccount, ContestStore
from noren.errors import FileError, OutputError, ParameterError
from noren.i18n import _, translated
from noren.tables import Texts
from noren.web.accounts import Token, digest_of, folded, guesser
from noren.web.actions import Action, add_route
from noren.web.errors import is_disk_full
from noren.web.settings import ServerSettings
from noren.work.hash_chain import EntryContent

say = Texts(__name__)
_MINUTE, _HOUR = 60.0, 3600.0
_WRONG_A_MINUTE: Final = 10
"""So often somebody at an address may be wrong about a login."""
_TRIES_A_MINUTE, _NEW_AN_HOUR = 100, 300
"""So many tries and new accounts come from one address: a class of students shares one."""
_WRONG_AN_HOUR: Final = 100
"""So often a login may be tried by all the world."""
_MOST_TOKENS: Final = 20
_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"


class ArenaAuthentication:
    """The door of one arena; every server of one database counts tries together."""

    def __init__(self, store: ContestStore, settings: ServerSettings) -> None:
        self._store, self.first_code = store, first_code(settings)

    # --- who it is ---------------------------------------------------------------------------------------------------

    def is_in(self, session: str) -> bool:
        """Let anybody look: routes ask who it is."""
        return bool(session)

    def who(self, session: str) -> ArenaIdentity:
        """Return who a browser's session belongs to."""
        account = self._store.accounts.of_session(session)
        return NOBODY if account is None else ArenaIdentity(account)

    def bearer(self, token: str) -> ArenaIdentity | None:
        """Return who a token belongs to, with what it is for."""
        found = self._store.tokens.owner(token)
        return None if found is None else ArenaIdentity(found[1], found[0].scopes)

    @property
    def is_new(self) -> bool:
        """Whether there is no organiser yet."""
        return not any(account.is_organiser for account in self._store.accounts.all())

    # --- coming and going --------------------------------------------------------------------------------------------

    def sign_up(self, login: str, name: str, password: str, address: str, code: str = "") -> str:
        """Make an account and return a session of it; with the first code, that of an organiser."""
        self._not_too_often(f"sign-up/{guesser(address)}", _NEW_AN_HOUR, _HOUR)
        is_first = bool(code) and self.is_new
        if code and not (is_first and hmac.compare_digest(code.strip().lower().encode(), self.first_code.encode())):
            raise RefusedError(say("wrong_code"), status=403)
        account = self._store.accounts.add(login, name, password, is_organiser=is_first)
        return self._store.accounts.open_session(account)

    def enter(self, login: str, password: str, address: str) -> str | None:
        """Return a new session for the right password; who was wrong ten times in a minute waits."""
        account = self._proved(login, password, address)
        return None if account is None else self._store.accounts.open_session(account)

    def _proved(self, login: str, password: str, address: str) -> ArenaAccount | None:
        """Return whose password it is. Who knows it is not counted, but an address that tries many logins is."""
        called = digest_of(folded(login))[:32]
        by_both, by_login = f"login/{guesser(address)}/{called}", f"login//{called}"
        self._not_too_often(f"login/{guesser(address)}", _TRIES_A_MINUTE, _MINUTE)
        self._not_too_often(by_both, _WRONG_A_MINUTE, _MINUTE)
        self._not_too_often(by_login, _WRONG_AN_HOUR, _HOUR)
        account = self._store.accounts.enter(login, password)
        if account is not None:
            self._store.rates.reset(by_both)
            self._store.rates.reset(by_login)
        return account

    def leave(self, session: str) -> None:
        """Log a browser out."""
        self._store.accounts.end_session(session)

    def change_password(self, who: ArenaIdentity, old: str, new: str, address: str) -> str:
        """Set another password and return a new session; all others end."""
        account = who.somebody()
        if self._proved(account.login, old, address) is None:
            raise RefusedError(_("that is not your password; write the one that you log in with"), status=403)
        self._store.accounts.change_password(account, new)
        return self._store.accounts.open_session(account)

    def _not_too_often(self, key: str, most: int, seconds: float) -> None:
        if not self._store.rates.allow(key, most, seconds):
            raise RefusedError(_("there were too many tries; wait and try again"), status=429)

    # --- tokens of programs ------------------------------------------------------------------------------------------

    def tokens(self, who: ArenaIdentity) -> list[Token]:
        """Return somebody's tokens that open something."""
        return [token for token in self._store.tokens.of(who.somebody().id) if token.revoked is None]

    def make_token(self, who: ArenaIdentity, name: str, scopes: Collection[str]) -> tuple[Token, str]:
        """Return a new token and its text; a token makes none that may do more than itself."""
        account = who.somebody()
        if not {*scopes} <= {*who.scopes, "read"}:
            raise RefusedError(_("this token may not do so itself; log in, and make it there"), status=403)
        if len(self.tokens(who)) >= _MOST_TOKENS:
            raise RefusedError(say("many_tokens", count=_MOST_TOKENS))
        return self._store.tokens.make(account.id, name, scopes)

    def revoke(self, who: ArenaIdentity, token: str) -> None:
        """Let a token of one's own open nothing any more."""
        if not self._store.tokens.revoke(token, who.somebody().id):
            raise RefusedError(_("there is no such token"), status=404)


def first_code(settings: ServerSettings) -> str:
    """Return the code by which the first organiser signs up; whoever may read the server's key can say it."""
    made = hmac.new(settings.key, b"first organiser", hashlib.sha256).digest()
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in made[:12])


Ident = Annotated[str, Path(pattern=r"^[a-z0-9]{12}$", description="an identifier")]
ContestName = Annotated[str, Path(pattern=r"^[a-z0-9-]{3,40}$", description="the name of a contest, as in its address")]
RoundName = Annotated[str, Path(pattern=r"^[a-z0-9-]{1,40}$", description="the name of a round")]
TargetName = Annotated[str, Path(pattern=r"^[0-9]{1,6}$", description="the number of a target")]


def contest_service(request: Request) -> ContestService:
    """Return the service that answers requests about contests."""
    service: ContestService = request.app.state.service
    return service


def entrance_of(request: Request) -> ArenaAuthentication:
    """Return the door of the arena that was asked."""
    entrance: ArenaAuthentication = request.app.state.entrance
    return entrance


ArenaService = Annotated[ContestService, Depends(contest_service)]
TheEntrance = Annotated[ArenaAuthentication, Depends(entrance_of)]


@contextlib.contextmanager
def name_broken_rule(*within: str) -> Iterator[None]:
    """Say what is wrong with something that was sent, by its first problem."""
    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join([*within, *(str(part) for part in first["loc"])])
        said = _("what was sent breaks a rule: {place}: {rule}").format(place=place, rule=translated(first["msg"]))
        raise ParameterError(said, _("correct it")) from None


_log = logging.getLogger("noren.contest")
_LOOKING = frozenset({"GET", "HEAD"})


def _who(request: Request, entrance: TheEntrance) -> ArenaIdentity:
    """Return whose token it is, or who is logged in; a token that is only for looking changes nothing anywhere."""
    bearer: ArenaIdentity | None = request.state.account
    who = entrance.who(request.state.session) if bearer is None else bearer
    if request.method not in _LOOKING and who.account is not None and not who.scopes - {"read"}:
        raise RefusedError(_("this token is only for looking; make one with the scope that it takes"), status=403)
    return who


Asking = Annotated[ArenaIdentity, Depends(_who)]


def add_action(
    router: APIRouter,
    act: Action[..., list[EntryContent]],
    model: type[BaseModel] | None = None,
    answer: Callable[[ContestAccess, Mapping[str, str]], Any] = lambda _visit, _given: None,
    before: Callable[[ContestService, ArenaIdentity, Mapping[str, Any]], None] = lambda _service, _who, _asked: None,
) -> None:
    """Add the route of an action: ``answer`` makes a ``model`` of what it did and was given, ``before`` may refuse."""

    def run(service: ContestService, who: ArenaIdentity, contest: str, **asked: Any) -> Any:
        before(service, who, asked)
        return answer(*service.do(who, contest, act, **asked))

    add_route(router, act, run, {"contest": ContestName, "who": Asking, "service": ArenaService}, model)


def not_too_often(service: ContestService, key: str, most: int, seconds: float) -> None:
    """Refuse what somebody asks more often than they may; all servers of a database count together."""
    if not service.arena.store.rates.allow(key, most, seconds):
        raise RefusedError(_("this came too often; wait a while and try again"), status=429)


@contextlib.contextmanager
def files_of_ours() -> Iterator[None]:
    """Say of files of ours that cannot be read or written no more than that; the process's log tells which."""
    try:
        yield
    except (FileError, OutputError) as error:
        if is_disk_full(error) or hasattr(error, "status"):
            raise
        _log.exception("a file of the arena cannot be read or written")
        raise RefusedError(
            _("the server cannot reach a file of its own; nothing was changed; tell the organiser"), status=503
        ) from error


def described_file(kind: str) -> dict[int | str, dict[str, Any]]:
    """Return how a file of a media type is described in the API's schema."""
    shape = "object" if kind == "application/json" else "string"
    return {200: {"content": {kind: {"schema": {"type": shape}}}, "description": "the file"}}
