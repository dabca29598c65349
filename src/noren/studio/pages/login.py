"""Logging in and out, where the studio has a password."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from noren.i18n import _
from noren.studio.guard import SESSION, Login
from noren.studio.pages.frame import page

router = APIRouter()


@router.get("/login")
def show_login(request: Request) -> Response:
    """Ask for the password."""
    return page(request, "login.html.jinja", title=_("This studio has a password"), place="", wrong="")


@router.post("/login")
def log_in(request: Request, password: Annotated[str, Form(max_length=1000)]) -> Response:
    """Let in who knows the password; a new session, so that nobody can have prepared it."""
    login: Login = request.app.state.login
    session = login.enter(password) if login.may_try() else None
    if session is None:
        wrong = _("That is not the password; after ten tries wait a minute.")
        title = _("This studio has a password")
        return page(request, "login.html.jinja", title=title, place="", status=403, wrong=wrong)
    answer = RedirectResponse("/", 303)
    answer.set_cookie(SESSION, session, httponly=True, samesite="strict", max_age=14 * 86_400)
    return answer


@router.post("/logout")
def log_out(request: Request) -> Response:
    """End the session."""
    request.app.state.login.leave(request.state.session)
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(SESSION)
    return answer
