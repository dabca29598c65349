"""Signing up, logging in and out, and one's own account with its tokens."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from noren.contest.dependencies import TheEntrance
from noren.contest.desk import Who
from noren.contest.entrance import Entrance
from noren.contest.pages.frame import Person, page, status_of
from noren.contest.store.database import SCOPES
from noren.errors import NorenError
from noren.i18n import N_, _, ngettext
from noren.web.guard import drop_session, redirect_in

router = APIRouter()

Text = Annotated[str, Form(max_length=1000)]
_SCOPES = {
    "read": N_("look at contests and boards"),
    "team": N_("play: get data, hand in files"),
    "organiser": N_("organise contests"),
}


# --- coming in -------------------------------------------------------------------------------------------------------


@router.get("/login")
def show_login(request: Request) -> Response:
    """Ask who it is."""
    return _login_page(request)


@router.post("/login")
def log_in(request: Request, entrance: TheEntrance, login: Text = "", password: Text = "") -> Response:
    """Let in who knows the password; a new session, so that nobody can have prepared it."""
    try:
        session = entrance.enter(login, password, request.state.client)
    except NorenError as error:
        return _login_page(request, str(error), login, 429)
    if session is None:
        return _login_page(request, _("The login or the password is wrong; after ten tries wait a minute."), login, 403)
    return redirect_in(request, session)


def _login_page(request: Request, wrong: str = "", login: str = "", status: int = 200) -> Response:
    answer = page(
        request, "login.html.jinja", title=_("Log in to play"), place="", status=status, wrong=wrong, login=login
    )
    if status == 429:
        answer.headers["Retry-After"] = "60"
    return answer


@router.post("/logout")
def log_out(request: Request, entrance: TheEntrance) -> Response:
    """End the session."""
    entrance.leave(request.state.session)
    answer = RedirectResponse("/", 303)
    drop_session(answer, request)
    return answer


@router.get("/sign-up")
def show_sign_up(request: Request, entrance: TheEntrance) -> Response:
    """Ask for a login, a name and a password; on a new server also for the first organiser's code."""
    return _sign_up_page(request, entrance)


@router.post("/sign-up")
def sign_up(
    request: Request, entrance: TheEntrance, login: Text = "", name: Text = "", password: Text = "", code: Text = ""
) -> Response:
    """Make an account and log in."""
    try:
        session = entrance.sign_up(login, name, password, request.state.client, code)
    except NorenError as error:
        return _sign_up_page(request, entrance, str(error), {"login": login, "name": name, "code": code}, error)
    return redirect_in(request, session)


def _sign_up_page(
    request: Request,
    entrance: Entrance,
    wrong: str = "",
    typed: dict[str, str] | None = None,
    error: NorenError | None = None,
) -> Response:
    is_new = entrance.is_new
    return page(
        request,
        "sign_up.html.jinja",
        title=_("This arena is new: become its organiser") if is_new else _("Sign up: everybody has an account"),
        place="",
        status=200 if error is None else status_of(error),
        wrong=wrong,
        is_new=is_new,
        typed=typed or {"login": "", "name": "", "code": ""},
    )


# --- one's account ---------------------------------------------------------------------------------------------------


@router.get("/account")
def show_account(request: Request, who: Person, entrance: TheEntrance, changed: bool = False) -> Response:
    """Show one's account."""
    done = _("The password is changed; other sessions have ended.") if changed else ""
    return _account_page(request, who, entrance, done=done)


@router.post("/account/password")
def change_password(
    request: Request, who: Person, entrance: TheEntrance, old: Text = "", password: Text = ""
) -> Response:
    """Set another password; all other sessions end."""
    try:
        session = entrance.change_password(who, old, password, request.state.client)
    except NorenError as error:
        return _account_page(request, who, entrance, wrong_password=str(error), status=status_of(error))
    return redirect_in(request, session, "/account?changed=1")


@router.post("/account/tokens")
def make_token(
    request: Request,
    who: Person,
    entrance: TheEntrance,
    name: Text = "",
    scope: Annotated[list[str] | None, Form()] = None,
) -> Response:
    """Make a token and show it, once."""
    try:
        _token, text = entrance.make_token(who, " ".join(name.split()) or _("a program"), scope or ["read"])
    except NorenError as error:
        return _account_page(request, who, entrance, wrong_token=str(error), status=status_of(error))
    return _account_page(request, who, entrance, new_token=text)


@router.post("/account/tokens/{token}/revoke")
def revoke(request: Request, token: str, who: Person, entrance: TheEntrance) -> Response:
    """Let a token open nothing any more."""
    entrance.revoke(who, token)
    return RedirectResponse("/account#tokens", 303)


def _account_page(request: Request, who: Who, entrance: Entrance, status: int = 200, **told: Any) -> Response:
    offered = [name for name in SCOPES if name != "organiser" or (who.account and who.account.is_organiser)]
    tokens = entrance.tokens(who)
    title = _("{name}: no program acts in your name")
    if tokens:
        title = ngettext(
            "{name}: {count} program acts in your name", "{name}: {count} programs act in your name", len(tokens)
        )
    told = {"wrong_password": "", "wrong_token": "", "new_token": "", "done": ""} | told
    return page(
        request,
        "account.html.jinja",
        title=title.format(name=who.account.name if who.account else "", count=len(tokens)),
        place="account",
        status=status,
        tokens=tokens,
        scopes=[(name, _(_SCOPES[name])) for name in offered],
        scope_words={name: _(text) for name, text in _SCOPES.items()},
        **told,
    )
