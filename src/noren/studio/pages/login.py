"""Logging in and out, where the studio has users or a password."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from noren.i18n import _
from noren.studio.pages.frame import page
from noren.studio.users import Entrance, UserRole, least
from noren.web.guard import drop_session, redirect_in

router = APIRouter()


@router.get("/login")
def show_login(request: Request) -> Response:
    """Ask for the password; who was logged out by somebody else is told why."""
    return _asked(request, why=request.app.state.login.why_out(request.state.session))


@router.post("/login")
@least(UserRole.READER)
async def log_in(
    request: Request,
    password: Annotated[str, Form(max_length=1000)],
    login: Annotated[str, Form(max_length=200)] = "",
) -> Response:
    """Let in who knows the password; a new session, so that nobody can have prepared it."""
    entrance: Entrance = request.app.state.login
    address: str = request.state.client
    if not entrance.tries.may_try(address):
        told = _("Too many wrong passwords came from your address; wait a minute and try again.")
        return await run_in_threadpool(_asked, request, told, 429, login)
    await asyncio.sleep(entrance.tries.delay())
    session = await run_in_threadpool(entrance.enter, login, password, address)
    if session is None:
        told = _("That is not the password; after ten tries wait a minute.")
        return await run_in_threadpool(_asked, request, told, 403, login)
    return redirect_in(request, session)


def _asked(request: Request, wrong: str = "", status: int = 200, login: str = "", why: str = "") -> Response:
    entrance: Entrance = request.app.state.login
    has_users = entrance.has_users
    title = _("Log in to this studio") if has_users else _("This studio has a password")
    answer = page(
        request, "login.html.jinja", title=title, place="", status=status,
        wrong=wrong, why=why, has_users=has_users, login=login,
    )  # fmt: skip
    if status == 429:
        answer.headers["Retry-After"] = "60"
    return answer


@router.post("/logout")
@least(UserRole.READER)
def log_out(request: Request) -> Response:
    """End the session."""
    request.app.state.login.leave(request.state.session)
    answer = RedirectResponse("/login", 303)
    drop_session(answer, request)
    return answer
