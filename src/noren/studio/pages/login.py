"""Logging in and out, where the studio has a password."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from noren.i18n import _
from noren.studio.pages.frame import page
from noren.web.cookies import drop_session, keep_session
from noren.web.login import Login

router = APIRouter()


@router.get("/login")
def show_login(request: Request) -> Response:
    """Ask for the password."""
    return page(request, "login.html.jinja", title=_("This studio has a password"), place="", wrong="")


@router.post("/login")
async def log_in(request: Request, password: Annotated[str, Form(max_length=1000)]) -> Response:
    """Let in who knows the password; a new session, so that nobody can have prepared it."""
    login: Login = request.app.state.login
    address: str = request.state.client
    if not login.tries.may_try(address):
        told = _("Too many wrong passwords came from your address; wait a minute and try again.")
        return _asked_again(request, told, 429)
    await asyncio.sleep(login.tries.delay())
    session = await run_in_threadpool(login.enter, password, address)
    if session is None:
        return _asked_again(request, _("That is not the password; after ten tries wait a minute."), 403)
    answer = RedirectResponse("/", 303)
    keep_session(answer, request, session)
    return answer


def _asked_again(request: Request, wrong: str, status: int) -> Response:
    title = _("This studio has a password")
    answer = page(request, "login.html.jinja", title=title, place="", status=status, wrong=wrong)
    if status == 429:
        answer.headers["Retry-After"] = "60"
    return answer


@router.post("/logout")
def log_out(request: Request) -> Response:
    """End the session."""
    request.app.state.login.leave(request.state.session)
    answer = RedirectResponse("/login", 303)
    drop_session(answer, request)
    return answer
