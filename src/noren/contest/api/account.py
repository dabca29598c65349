"""REST routes of sessions, accounts, tokens and the clock of a rehearsal."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, BeforeValidator, Field

from noren.contest.actions import RefusedError
from noren.contest.dependencies import ArenaService, Authentication, Ident, Identity
from noren.contest.schemas import Described, StrictModel
from noren.contest.service import FARTHEST
from noren.i18n import _
from noren.web.guard import drop_session, keep_session, token_of

router = APIRouter(tags=["account"])

Password = Annotated[str, Field(max_length=1_000)]
Login = Annotated[str, Field(max_length=200)]


class AccountOut(Described):
    """An account; ``is_organiser``: may create contests."""

    id: str
    login: str
    name: str
    is_organiser: bool


class ArenaSessionOut(BaseModel):
    """The account of the session, and the token that a browser sends as ``X-CSRF-Token``.

    ``setup``: there is no organiser yet; the code in the server's terminal is for the first one.
    """

    csrf: str
    language: str
    account: AccountOut | None
    scopes: list[str]
    now: str
    rehearsal: bool
    setup: bool


class LoginIn(StrictModel):
    """Login and password."""

    login: Login
    password: Password


class AccountIn(LoginIn):
    """A new account; ``code`` is that of the first organiser, which the server's terminal shows."""

    name: str = Field(max_length=200)
    code: str = Field(default="", max_length=100)


class PasswordIn(StrictModel):
    """The current and the new password."""

    old: Password
    new: Password


class TokenIn(StrictModel):
    """A new token for a program."""

    name: str = Field(min_length=1, max_length=80)
    scopes: list[Literal["read", "team", "organiser"]] = Field(min_length=1, max_length=3)


class TokenOut(Described):
    """A token; its text is shown only when it is created."""

    id: str
    name: str
    scopes: Annotated[list[str], BeforeValidator(sorted)]
    created: str
    last_used: str | None


class NewTokenOut(BaseModel):
    """A new token with its text, which is not shown again."""

    token: TokenOut
    text: str


class ClockIn(StrictModel):
    """How to move the clock of a rehearsal: to a time, or forward by seconds."""

    to: str | None = Field(default=None, max_length=60)
    forward: float | None = Field(default=None, gt=0, le=FARTHEST, allow_inf_nan=False)


class ClockOut(BaseModel):
    """The time of the arena."""

    now: str


@router.get("/session")
def show_session(request: Request, who: Identity, service: ArenaService, auth: Authentication) -> ArenaSessionOut:
    """Return the account of the session and its CSRF token."""
    return ArenaSessionOut(
        csrf=request.state.csrf,
        language=request.state.language,
        account=None if who.account is None else AccountOut.model_validate(who.account),
        scopes=sorted(who.scopes) if who.account is not None else [],
        now=service.arena.now(),
        rehearsal=service.arena.rehearsal,
        setup=auth.is_new,
    )


@router.post("/session")
def log_in(
    body: LoginIn, request: Request, answer: Response, service: ArenaService, auth: Authentication
) -> ArenaSessionOut:
    """Log in; the response has the cookie of a new session and its CSRF token."""
    session = auth.enter(body.login, body.password, request.state.client)
    if session is None:
        raise RefusedError(_("login or password is wrong; try again"), status=401)
    keep_session(answer, request, session)
    request.state.session = session
    request.state.csrf = token_of(request.app.state.settings, session)
    return show_session(request, auth.who(session), service, auth)


@router.delete("/session", status_code=204)
def log_out(request: Request, auth: Authentication) -> Response:
    """Log out."""
    auth.leave(request.state.session)
    answer = Response(status_code=204)
    drop_session(answer, request)
    return answer


@router.post("/accounts", status_code=201)
def sign_up(body: AccountIn, request: Request, answer: Response, auth: Authentication) -> AccountOut:
    """Create an account and log in; with the terminal's code, as the first organiser."""
    session = auth.sign_up(body.login, body.name, body.password, request.state.client, body.code)
    keep_session(answer, request, session)
    return AccountOut.model_validate(auth.who(session).require_account())


@router.get("/account")
def show_account(who: Identity) -> AccountOut:
    """Return the account."""
    return AccountOut.model_validate(who.require_account())


@router.put("/account/password", status_code=204)
def change_password(body: PasswordIn, request: Request, who: Identity, auth: Authentication) -> Response:
    """Change the password and end all sessions; the response has a new one. Tokens cannot do this."""
    if request.state.account is not None:
        raise RefusedError(_("a token cannot change the password; log in with the password"), status=403)
    session = auth.change_password(who.require_account().login, body.old, body.new, request.state.client)
    answer = Response(status_code=204)
    keep_session(answer, request, session)
    return answer


@router.get("/account/tokens")
def list_tokens(who: Identity, auth: Authentication) -> list[TokenOut]:
    """Return the valid tokens of the account."""
    return [TokenOut.model_validate(token) for token in auth.tokens(who)]


@router.post("/account/tokens", status_code=201)
def make_token(body: TokenIn, who: Identity, auth: Authentication) -> NewTokenOut:
    """Create a token for a program."""
    token, text = auth.make_token(who, body.name, body.scopes)
    return NewTokenOut(token=TokenOut.model_validate(token), text=text)


@router.delete("/account/tokens/{token}", status_code=204)
def revoke_token(token: Ident, who: Identity, auth: Authentication) -> Response:
    """Revoke a token."""
    auth.revoke(who, token)
    return Response(status_code=204)


@router.post("/clock")
def move_clock(body: ClockIn, who: Identity, service: ArenaService) -> ClockOut:
    """Move the clock of a rehearsal forward, for all contests of the server."""
    return ClockOut(now=service.move_clock(who, body.to, body.forward))
