"""Logging in and out, the users of a studio, one's own password, and the audit trail."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response, StreamingResponse
from starlette.concurrency import run_in_threadpool

from noren.errors import NorenError
from noren.i18n import N_, _, ngettext
from noren.studio.acts import projects as acts
from noren.studio.api.models import TheStudio, TheWho
from noren.studio.pages.frame import page
from noren.studio.service import Studio
from noren.studio.users import Entrance, UserRole, Who, least, role_named
from noren.web.guard import drop_session, redirect_in
from noren.work.chain import Entry

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


Text = Annotated[str, Form(max_length=200)]
Password = Annotated[str, Form(max_length=1000)]
_AT_ONCE: Final = 100
KINDS: Final = {
    "project-added": N_("added a project"),
    "project-changed": N_("changed a project"),
    "project-removed": N_("removed a project"),
    "uploaded": N_("uploaded a file"),
    "ordered": N_("started work"),
    "resumed": N_("resumed a run"),
    "removed": N_("removed a run"),
    "secret-taken": N_("downloaded the secret part"),
    "approved": N_("approved a release"),
    "refused": N_("refused a release"),
    "published": N_("handed out a release"),
    "entered": N_("logged in"),
    "user-added": N_("added a user"),
    "user-role": N_("changed a role"),
    "user-password": N_("changed a password"),
    "user-revoked": N_("revoked a user"),
}
"""What acts are called on the page."""
_TOLD: Final = ("name", "label", "rule", "login", "role", "to", "until", "reason")


# --- users ---------------------------------------------------------------------------------------------------


@router.get("/users")
@least(UserRole.STEWARD)
def show_users(request: Request, studio: TheStudio) -> Response:
    """Show who may use the studio."""
    return _users(request, studio)


def _users(
    request: Request, studio: Studio, typed: Mapping[str, str] | None = None, error: NorenError | None = None
) -> Response:
    found = studio.store.users.all()
    inside = sum(user.revoked is None for user in found)
    title = ngettext(
        "{count} person may use this studio", "{count} people may use this studio", inside
    ).format(count=inside)  # fmt: skip
    return page(
        request,
        "users.html.jinja",
        title=title if found else _("This studio is one person’s: whoever opens it does everything"),
        place="users",
        status=200 if error is None else int(getattr(error, "status", 422)),
        users=found,
        roles=[(str(role), role.words) for role in reversed(UserRole)],
        four_eyes=studio.settings.four_eyes,
        typed=typed or {},
        wrong="" if error is None else str(error),
    )


@router.post("/users")
def add_user(
    request: Request, studio: TheStudio, login: Text = "", name: Text = "", password: Password = "", role: Text = ""
) -> Response:
    """Add a user."""
    try:
        acts.add_user(studio, login=login, name=name, password=password, role=role_named(role))
    except NorenError as error:
        return _users(request, studio, {"login": login, "name": name, "role": role}, error)
    return RedirectResponse("/users", 303)


@router.post("/users/{login}/{act}")
def change_user(
    request: Request,
    login: str,
    act: Literal["role", "password", "revoke"],
    studio: TheStudio,
    role: Text = "",
    password: Password = "",
) -> Response:
    """Give a user another role or password, or let her in no more."""
    try:
        if act == "revoke":
            acts.revoke_user(studio, login=login)
        else:
            asked = {"role": role_named(role)} if act == "role" else {"password": password}
            acts.change_user(studio, login=login, **asked)
    except NorenError as error:
        return _users(request, studio, {}, error)
    return RedirectResponse("/users", 303)


# --- one's own password --------------------------------------------------------------------------------------


@router.get("/account")
def show_account(request: Request, who: TheWho) -> Response:
    """Show who one is here."""
    return _account(request, who)


def _account(request: Request, who: Who, wrong: str = "", status: int = 200) -> Response:
    if not who.is_user:
        return RedirectResponse("/users", 303)
    title = _("You are {name}, a {role} of this studio").format(name=who.name, role=who.role.words)
    return page(request, "account.html.jinja", title=title, place="", status=status, wrong=wrong)


@router.post("/account")
@least(UserRole.READER)
def change_password(
    request: Request, studio: TheStudio, who: TheWho, old: Password = "", password: Password = ""
) -> Response:
    """Set another password of one's own; every other session ends."""
    entrance: Entrance = request.app.state.login
    address: str = request.state.client
    if not entrance.tries.may_try(address):
        return _account(request, who, _("Too many wrong passwords came from your address; wait a minute."), 429)
    if studio.store.users.enter(who.login, old) is None:
        return _account(request, who, _("That is not your password."), 403)
    try:
        studio.store.users.set_password(who.login, password)
    except NorenError as error:
        return _account(request, who, str(error), 422)
    return redirect_in(request, entrance.renew(who, address), "/account")


# --- the trail -----------------------------------------------------------------------------------------------


@router.get("/trail")
@least(UserRole.REVIEWER)
def show_trail(
    request: Request, studio: TheStudio, before: Annotated[int | None, Query(ge=0, le=2**31)] = None
) -> Response:
    """Show the last acts, the newest first."""
    trail, head = studio.store.trail, studio.store.trail.head()
    entries = trail.newest(_AT_ONCE, before)
    names = {project.id: project.name for project in studio.store.projects()}
    count = 0 if head is None else head.position + 1
    title = ngettext("{count} entry in the audit trail", "{count} entries in the audit trail", count).format(
        count=f"{count:,}"
    )
    return page(
        request,
        "trail.html.jinja",
        title=title,
        place="trail",
        head=head,
        entries=[_shown(entry, names) for entry in entries],
        further=entries[-1].position if entries and entries[-1].position else None,
    )


@router.get("/trail.jsonl")
@least(UserRole.REVIEWER)
def download_trail(studio: TheStudio) -> Response:
    """Send the whole trail, one entry a line."""
    headers = {"Content-Disposition": 'attachment; filename="noren_trail.jsonl"', "Cache-Control": "no-store"}
    return StreamingResponse(studio.store.trail.lines(), media_type="application/x-ndjson", headers=headers)


def _shown(entry: Entry, names: Mapping[str, str]) -> dict[str, Any]:
    body = entry.body
    project = body.get("project")
    told = [str(body[name]) for name in _TOLD if body.get(name)]
    return {
        "number": entry.position,
        "time": entry.time,
        "actor": entry.actor,
        "act": _(KINDS[entry.kind]) if entry.kind in KINDS else entry.kind,
        "project": names.get(project, project) if project else "",
        "told": " · ".join(told),
        "digest": entry.digest,
    }
