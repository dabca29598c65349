"""Dependencies of pages and REST routes: the contest service, authentication and the identity of the user.

People sign up and log in, browsers have sessions, and programs have tokens. Public data need no login, so each route
checks who asks. The first organiser proves to run the server by a code that only its terminal shows; it stops working
once there is an organiser.
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

from noren.contest.actions import RefusedError, not_found
from noren.contest.service import NOBODY, ArenaIdentity, ContestAccess, ContestService, missing_scope
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
"""Wrong passwords per minute for one address and login."""
_TRIES_A_MINUTE, _NEW_AN_HOUR = 100, 300
"""Logins per minute and new accounts per hour from one address, which a class of students can share."""
_WRONG_AN_HOUR: Final = 100
"""Wrong passwords per hour for one login from all addresses."""
_MOST_TOKENS: Final = 20
_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"


class ArenaAuthentication:
    """Authentication of one arena; all servers of a database count attempts together."""

    def __init__(self, store: ContestStore, settings: ServerSettings) -> None:
        self._store, self.first_code = store, first_code(settings)

    def is_in(self, session: str) -> bool:
        """Accept every session: routes check the identity."""
        return bool(session)

    def who(self, session: str) -> ArenaIdentity:
        """Return the identity of a browser session."""
        account = self._store.accounts.of_session(session)
        return NOBODY if account is None else ArenaIdentity(account)

    def bearer(self, token: str) -> ArenaIdentity | None:
        """Return the identity of a token, with its scopes."""
        owner = self._store.tokens.owner(token)
        return None if owner is None else ArenaIdentity(owner[1], owner[0].scopes)

    @property
    def is_new(self) -> bool:
        """Whether there is no organiser yet."""
        return not any(account.is_organiser for account in self._store.accounts.all())

    def sign_up(self, login: str, name: str, password: str, address: str, code: str = "") -> str:
        """Create an account and return its session; with the first code, an organiser's."""
        limit_rate(self._store, f"sign-up/{guesser(address)}", _NEW_AN_HOUR, _HOUR)
        is_first = bool(code) and self.is_new
        if code and not (is_first and hmac.compare_digest(code.strip().lower().encode(), self.first_code.encode())):
            raise RefusedError(say("wrong_code"), status=403)
        account = self._store.accounts.add(login, name, password, is_organiser=is_first)
        return self._store.accounts.open_session(account)

    def enter(self, login: str, password: str, address: str) -> str | None:
        """Return a new session for the right password; wrong attempts are limited."""
        account = self._proved(login, password, address)
        return None if account is None else self._store.accounts.open_session(account)

    def _proved(self, login: str, password: str, address: str, *, once: bool = False) -> ArenaAccount | None:
        """Return the account if the password is right, and reset its counters; attempts per address always count."""
        called = digest_of(folded(login))[:32]
        by_both, by_login = f"login/{guesser(address)}/{called}", f"login//{called}"
        limit_rate(self._store, f"login/{guesser(address)}", _TRIES_A_MINUTE, _MINUTE)
        limit_rate(self._store, by_both, _WRONG_A_MINUTE, _MINUTE)
        limit_rate(self._store, by_login, _WRONG_AN_HOUR, _HOUR)
        account = self._store.accounts.enter(login, password, once=once)
        if account is not None:
            self._store.rates.reset(by_both)
            self._store.rates.reset(by_login)
        return account

    def leave(self, session: str) -> None:
        """Log a browser out."""
        self._store.accounts.end_session(session)

    def change_password(self, login: str, old: str, new: str, address: str, *, once: bool = False) -> str:
        """Set another password in place of the old one or of a code; return a new session, all others end."""
        account = self._proved(login, old, address, once=once)
        if account is None:
            raise RefusedError(_("login or password is wrong; try again"), status=403)
        self._store.accounts.change_password(account, new)
        return self._store.accounts.open_session(account)

    def tokens(self, who: ArenaIdentity) -> list[Token]:
        """Return the valid tokens of an account."""
        return [token for token in self._store.tokens.of(who.require_account().id) if token.revoked is None]

    def make_token(self, who: ArenaIdentity, name: str, scopes: Collection[str]) -> tuple[Token, str]:
        """Return a new token and its text; a token cannot create one with more scopes."""
        account = who.require_account()
        if missing := {*scopes} - {*who.scopes, "read"}:
            raise missing_scope(*sorted(missing))
        if len(self.tokens(who)) >= _MOST_TOKENS:
            raise RefusedError(say("many_tokens", count=_MOST_TOKENS))
        return self._store.tokens.make(account.id, name, scopes)

    def revoke(self, who: ArenaIdentity, token: str) -> None:
        """Revoke a token of one's own."""
        if not self._store.tokens.revoke(token, who.require_account().id):
            raise not_found(token)


def first_code(settings: ServerSettings) -> str:
    """Return the code with which the first organiser signs up, derived from the server's key."""
    made = hmac.new(settings.key, b"first organiser", hashlib.sha256).digest()
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in made[:12])


Ident = Annotated[str, Path(pattern=r"^[a-z0-9]{12}$", description="an identifier")]
ContestName = Annotated[str, Path(pattern=r"^[a-z0-9-]{3,40}$", description="the name of a contest, as in its address")]
RoundName = Annotated[str, Path(alias="round", pattern=r"^[a-z0-9-]{1,40}$", description="the name of a round")]
TargetName = Annotated[str, Path(pattern=r"^[0-9]{1,6}$", description="the number of a target")]


def contest_service(request: Request) -> ContestService:
    """Return the service that answers requests about contests."""
    service: ContestService = request.app.state.service
    return service


def authentication_of(request: Request) -> ArenaAuthentication:
    """Return the authentication of the arena."""
    authentication: ArenaAuthentication = request.app.state.authentication
    return authentication


ArenaService = Annotated[ContestService, Depends(contest_service)]
Authentication = Annotated[ArenaAuthentication, Depends(authentication_of)]


@contextlib.contextmanager
def explain_invalid_input(*within: str) -> Iterator[None]:
    """Turn a validation error into a message about its first problem."""
    try:
        yield
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join([*within, *(str(part) for part in first["loc"])])
        raise ParameterError(say("invalid_input", place=place, rule=translated(first["msg"]))) from None


_log = logging.getLogger("noren.contest")
_LOOKING = frozenset({"GET", "HEAD"})


def _who(request: Request, authentication: Authentication) -> ArenaIdentity:
    """Return the identity of the token or session; a read-only token cannot change anything."""
    bearer: ArenaIdentity | None = request.state.account
    who = authentication.who(request.state.session) if bearer is None else bearer
    if request.method not in _LOOKING and who.account is not None and not who.scopes - {"read"}:
        raise missing_scope("team", "organiser")
    return who


Identity = Annotated[ArenaIdentity, Depends(_who)]


def _visit(contest: ContestName, who: Identity, service: ArenaService) -> ContestAccess:
    return service.visit(who, contest)


Visit = Annotated[ContestAccess, Depends(_visit)]
"""The contest that a request names, as the one who asks may see it."""


def add_action(
    router: APIRouter,
    act: Action[..., list[EntryContent]],
    model: type[BaseModel] | None = None,
    answer: Callable[[ContestAccess, Mapping[str, str]], Any] = lambda _visit, _generated: None,
    before: Callable[[ContestService, ArenaIdentity, Mapping[str, Any]], None] = lambda _service, _who, _inputs: None,
) -> None:
    """Add the route of an action: ``answer`` makes a ``model`` of its result, ``before`` can refuse it."""

    def run(service: ContestService, who: ArenaIdentity, contest: str, **inputs: Any) -> Any:
        before(service, who, inputs)
        return answer(*service.do(who, contest, act, **inputs))

    add_route(router, act, run, {"contest": ContestName, "who": Identity, "service": ArenaService}, model)


def limit_rate(store: ContestStore, key: str, most: int, seconds: float) -> None:
    """Refuse requests that come too often; all servers of a database count together."""
    if not store.rates.allow(key, most, seconds):
        raise RefusedError(_("too many attempts; wait a minute and try again"), status=429)


@contextlib.contextmanager
def hide_file_errors() -> Iterator[None]:
    """Replace errors about the server's own files by a general message; the log has the details."""
    try:
        yield
    except (FileError, OutputError) as error:
        if is_disk_full(error) or hasattr(error, "status"):
            raise
        _log.exception("a file of the arena cannot be read or written")
        raise RefusedError(say("unavailable_file"), status=503) from error


def file_response(kind: str) -> dict[int | str, dict[str, Any]]:
    """Return how a file of a media type is described in the API's schema."""
    shape = "object" if kind == "application/json" else "string"
    return {200: {"content": {kind: {"schema": {"type": shape}}}, "description": "the file"}}
