"""Pages outside a project: list of projects, login, users, account, audit trail."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response, StreamingResponse
from pydantic import ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from noren.data import catalog
from noren.errors import NorenError
from noren.i18n import _
from noren.studio.actions import projects as acts
from noren.studio.api.models import Ident, TheStudio, job_out
from noren.studio.pages.frame import OfProject, OfStudio, StudioRequest, Typed, page
from noren.studio.service import ProjectInList, ProjectQuery, Studio, find_projects
from noren.studio.store import Project
from noren.studio.users import StudioAuthentication, UserRole, get_role, least
from noren.tables import Texts, table_of
from noren.web.errors import status_of
from noren.web.frame import local_path
from noren.web.guard import drop_session, redirect_in

router = APIRouter()

_LONGEST = 2_000
_PAGE = 24
_FEW = 2
"""So many projects need no search."""
_AT_ONCE: Final = 100
_DETAILS: Final = ("name", "label", "rule", "login", "role", "to", "purpose", "until", "reason", "part", "readers")
say = Texts(__name__)
Text = Annotated[str, Form(max_length=_LONGEST)]
Back = Annotated[str, Form(max_length=500)]
Short = Annotated[str, Form(max_length=200)]
Password = Annotated[str, Form(max_length=1000)]


class _ProjectListQuery(ProjectQuery):
    model_config = ConfigDict(extra="ignore")  # other parts of an address are for others

    start: int = Field(default=0, ge=0, le=10**6)


@router.get("/")
def show_home(visit: OfStudio, query: Annotated[_ProjectListQuery, Query()]) -> Response:
    """Show the projects that are asked for, a page of them, and the way to a new one."""
    if visit.who.is_user and visit.who.may(UserRole.ADMINISTRATOR):  # who sees no project
        return RedirectResponse("/users", 303)
    studio, renamed = visit.studio, visit.typed.get("renamed", "")
    matches = find_projects(studio, query)
    every = studio.projects()
    titles = {dataset.name: dataset.title for dataset in catalog.KNOWN}
    if renamed:  # what is wrong stands beside its project, on whichever page that is
        matches = [match for match in matches if match.project.id == renamed]
    safe = sum(any(place.status.is_safe for place in match.places) for match in matches)
    if query.is_narrow and every:
        title = _("{count} of {every} match").format(count=len(matches), every=len(every))
    elif not matches:
        nothing = "title.nothing" if visit.who.may(UserRole.STEWARD) else "title.unshared"
        title = say("title.archived" if every else nothing)
    elif safe:
        title = say("title.safe", safe, safe=safe, count=len(matches))
    elif any(match.places for match in matches):
        title = say("title.unsafe")
    else:
        title = say("title.waiting", len(matches), count=len(matches))
    return visit.page(
        "home.html.jinja",
        title=title,
        place="projects",
        lines=[_line(match, studio) for match in matches[query.start :][:_PAGE]],
        query=query,
        choices={
            "sort": [("newest", _("Newest first")), ("used", _("Last used first")), ("name", _("By name"))],
            "kind": [("", _("Any")), ("history", _("Purchase history")), ("table", _("table"))],
            "release": [("", _("Any")), ("with", _("yes")), ("without", _("no"))],
            "archived": [("", _("no")), ("only", _("yes")), ("all", _("Any"))],
        },
        searchable=query.is_narrow or len(every) > _FEW or any(project.archived for project in every),
        match_count=len(matches),
        page_size=_PAGE,
        intro=None
        if safe or any(match.places for match in matches) or query.is_narrow
        else {name: say(f"intro.{name}") for name in ("what", "before", "after")},
        sources=[
            ("", _("No data yet")),
            *((f"sample:{name}", say(f"samples.{name}")) for name in acts.SAMPLES),
            *((f"dataset:{name}", _(titles[name])) for name in studio.datasets()),
        ],
        typed={"name": "", "source": ""} if renamed or not visit.typed else visit.typed,
        wrong="" if renamed else visit.wrong,
        renaming={"project": renamed, "name": visit.typed.get("name", ""), "wrong": visit.wrong},
        home_words={"sending": _("Sending {name}"), "stopped": _("Sending was stopped; nothing was saved.")},
    )


@router.post("/projects")
def new_project(visit: OfStudio, name: Text = "", source: Text = "") -> Response:
    """Begin a project; what cannot be is said beside the form, which keeps what was typed."""
    kind, _colon, which = source.partition(":")
    try:
        made = acts.add_project(visit.studio, name=name, **({kind: which} if kind in ("sample", "dataset") else {}))
    except NorenError as error:
        return show_home(visit.again(error, {"name": name, "source": source}), _ProjectListQuery())
    return RedirectResponse(f"/projects/{made.id}/data", 303)


@router.post("/projects/{project}/rename")
def rename(visit: OfProject, name: Text = "", back: Back = "/") -> Response:
    """Give a project another name."""
    try:
        acts.change_project(visit.studio, project=visit.project.id, name=name)
    except NorenError as error:
        typed = {"renamed": visit.project.id, "name": name}
        return show_home(
            StudioRequest(visit.request, visit.studio).again(error, typed), _ProjectListQuery(archived="all")
        )
    return RedirectResponse(local_path(back), 303)


@router.post("/projects/{project}/archive")
@router.post("/projects/{project}/unarchive")
def archive(request: Request, project: Ident, studio: TheStudio, back: Back = "/") -> Response:
    """Take a project out of the way, or bring it back."""
    acts.change_project(studio, project=project, archived=request.url.path.endswith("/archive"))
    return RedirectResponse(local_path(back), 303)


@router.post("/projects/{project}/readers")
def share(visit: OfProject, typed: Typed) -> Response:
    """Let readers see a project."""
    readers = [name.removeprefix("reader-") for name in typed if name.startswith("reader-")]
    acts.share_project(visit.studio, project=visit.project.id, readers=readers)
    return visit.to_page("data#readers")


@router.post("/projects/{project}/remove")
def remove(visit: OfProject, sure: Text = "", back: Back = "/") -> Response:
    """Remove a project, once somebody is sure."""
    project = visit.project
    if sure != "yes":
        title = _question(project, len(visit.studio.store.jobs(project.id, kind="run")))
        about: dict[str, Any] = {"action": f"/projects/{project.id}/remove", "back": local_path(back)}
        return page(visit.request, "sure.html.jinja", title=title, place="projects", yes=_("Remove"), **about)
    acts.remove_project(visit.studio, project=project.id)
    return RedirectResponse(local_path(back), 303)


def _line(listed: ProjectInList, studio: Studio) -> dict[str, Any]:
    """Return what the page shows about a project."""
    project = listed.project
    runs, reads = ([job for job in listed.jobs if job.kind == kind] for kind in ("run", "read"))
    last = job_out(studio, reads[-1]) if reads else None
    over = last is None or last.state not in ("waiting", "running")
    kinds = {"history": _("Purchase history"), "table": _("table")}
    kind = str(project.facts.get("kind", ""))
    # the best run: by its verdict, then by its utility
    best = max(
        listed.places, key=lambda place: (place.status.order, -1.0 if place.use is None else place.use), default=None
    )
    return {
        "project": project,
        "address": f"/projects/{project.id}/{'results' if best else 'data'}",
        "kind": kinds.get(kind, kind),
        "rows": int(project.facts.get("rows", 0)),
        "people": int(project.facts["people"]) if kind == "history" else None,
        "runs": len(runs),
        "active": sum(not job.state.is_over for job in runs),
        "best": best,
        "reading": last if not over else None,
        "wrong": last.error if last is not None and over and not project.is_ready else None,
        "question": _question(project, len(runs)),
        "used": listed.used,
    }


def _question(project: Project, runs: int) -> str:
    return say("question", runs, name=project.name, runs=runs)


@router.get("/login")
def show_login(visit: OfStudio) -> Response:
    """Show the login form; a user whose session was ended sees the reason."""
    entrance: StudioAuthentication = visit.request.app.state.login
    about = {
        "why": "" if visit.wrong else entrance.why_out(visit.request.state.session),
        "has_users": entrance.has_users,
        "login": visit.typed.get("login", ""),
    }
    answer = visit.page("login.html.jinja", title=_("Log in"), place="", **about)
    if visit.status == 429:
        answer.headers["Retry-After"] = "60"
    return answer


@router.post("/login")
@least(UserRole.READER)
async def log_in(visit: OfStudio, password: Password, login: Short = "") -> Response:
    """Check the password and start a new session."""
    request, typed = visit.request, {"login": login}
    entrance: StudioAuthentication = request.app.state.login
    address: str = request.state.client
    if not entrance.tries.may_try(address):
        message = _("Too many wrong passwords came from your address; wait a minute and try again.")
        return await run_in_threadpool(show_login, visit.again(message, typed, 429))
    await asyncio.sleep(entrance.tries.delay())
    session = await run_in_threadpool(entrance.enter, login, password, address)
    if session is None:
        return await run_in_threadpool(show_login, visit.again(_("That is not your password."), typed, 403))
    return redirect_in(request, session)


@router.post("/logout")
@least(UserRole.READER)
def log_out(request: Request) -> Response:
    """End the session."""
    request.app.state.login.leave(request.state.session)
    answer = RedirectResponse("/login", 303)
    drop_session(answer, request)
    return answer


@router.get("/users")
@least(UserRole.ADMINISTRATOR)
def show_users(visit: OfStudio) -> Response:
    """Show who may use the studio."""
    users = visit.studio.store.users.all()
    inside = sum(user.revoked is None for user in users)
    title = say("title.users", inside, count=inside)
    return visit.page(
        "users.html.jinja",
        title=title if users else _("This studio has no users: anyone who opens it can do everything"),
        place="users",
        users=users,
        roles=[(str(role), role.words) for role in reversed(UserRole)],
        four_eyes=visit.studio.settings.four_eyes,
    )


@router.post("/users")
@least(UserRole.ADMINISTRATOR)
def add_user(
    visit: OfStudio, login: Short = "", name: Short = "", password: Password = "", role: Short = ""
) -> Response:
    """Add a user."""
    try:
        acts.add_user(visit.studio, login=login, name=name, password=password, role=get_role(role))
    except NorenError as error:
        return show_users(visit.again(error, {"login": login, "name": name, "role": role}, status_of(error)))
    return RedirectResponse("/users", 303)


@router.post("/users/{login}/{act}")
@least(UserRole.ADMINISTRATOR)
def change_user(
    visit: OfStudio, login: str, act: Literal["role", "password", "revoke"], role: Short = "", password: Password = ""
) -> Response:
    """Change a user's role or password, or revoke the user."""
    try:
        if act == "revoke":
            acts.revoke_user(visit.studio, login=login)
        else:
            change = {"role": get_role(role)} if act == "role" else {"password": password}
            acts.change_user(visit.studio, login=login, **change)
    except NorenError as error:
        return show_users(visit.again(error, status=status_of(error)))
    return RedirectResponse("/users", 303)


@router.get("/account")
def show_account(visit: OfStudio) -> Response:
    """Show the account of the current user."""
    who = visit.who
    if not who.is_user:
        return RedirectResponse("/users", 303)
    return visit.page("account.html.jinja", title=f"{who.name}: {who.role.words}", place="")


@router.post("/account")
@least(UserRole.READER)
def change_password(visit: OfStudio, old: Password = "", password: Password = "") -> Response:
    """Change the own password; all other sessions end."""
    request, users, login = visit.request, visit.studio.store.users, visit.who.login
    entrance: StudioAuthentication = request.app.state.login
    address: str = request.state.client
    if not entrance.tries.may_try(address):
        message = _("Too many wrong passwords came from your address; wait a minute and try again.")
        return show_account(visit.again(message, status=429))
    if users.enter(login, old) is None:
        return show_account(visit.again(_("That is not your password."), status=403))
    try:
        users.set_password(login, password)
    except NorenError as error:
        return show_account(visit.again(error))
    return redirect_in(request, entrance.opened(users.get(login), address), "/account")


@router.get("/trail")
@least(UserRole.REVIEWER)
def show_trail(visit: OfStudio, before: Annotated[int | None, Query(ge=0, le=2**31)] = None) -> Response:
    """Show the audit trail, the newest entries first."""
    store = visit.studio.store
    head, entries = store.trail.head(), store.trail.newest(_AT_ONCE, before)
    names = {project.id: project.name for project in store.projects()}
    count = 0 if head is None else head.position + 1
    return visit.page(
        "trail.html.jinja",
        title=say("title.trail", count, count=f"{count:,}"),
        place="trail",
        head=head,
        entries=[
            entry.as_dict()
            | {
                "act": say(f"acts.{entry.kind}") if entry.kind in table_of(__name__)["acts"] else entry.kind,
                "project": names.get(project := entry.body.get("project", ""), project),
                "details": " · ".join(
                    ", ".join(value) if isinstance(value, list) else str(value)
                    for name in _DETAILS
                    if (value := entry.body.get(name))
                ),
            }
            for entry in entries
        ],
        further=entries[-1].position if entries and entries[-1].position else None,
    )


@router.get("/trail.jsonl")
@least(UserRole.REVIEWER)
def download_trail(studio: TheStudio) -> Response:
    """Send the whole trail, one entry a line."""
    headers = {"Content-Disposition": 'attachment; filename="noren_trail.jsonl"', "Cache-Control": "no-store"}
    return StreamingResponse(studio.store.trail.lines(), media_type="application/x-ndjson", headers=headers)
