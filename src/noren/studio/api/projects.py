"""Projects with their rules, and the components that work on them; who asks, the users, and the trail."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from noren.attacks import attacks
from noren.measures import measures
from noren.methods import methods
from noren.methods.retention import Retention
from noren.registry import Registry, build, describe
from noren.studio.actions import projects as acts
from noren.studio.api.models import Ident, ListSlice, Name, ProjectOut, TheStudio, TheWho, add_action, streamed
from noren.studio.forms.run_form import USUAL_K, PlanOut, retention_plan
from noren.studio.service import ProjectQuery, find_projects
from noren.studio.store import Project
from noren.studio.users import User, UserRole, least
from noren.web.errors import errors

router = APIRouter(tags=["projects"], responses=errors(400, 401, 403, 404, 408, 409, 413, 422, 507))


class _Projects(ListSlice, ProjectQuery):
    sort: Literal["newest", "oldest", "name", "used"] = "oldest"


@router.get("/projects", response_model=list[ProjectOut])
def list_projects(studio: TheStudio, query: Annotated[_Projects, Query()], response: Response) -> list[Project]:
    """Return projects, the oldest first unless another order is asked for; archived ones only where asked for."""
    return [listed.project for listed in query.part(find_projects(studio, query), response)]


add_action(router, acts.add_project, ProjectOut)


@router.get("/projects/{project}", response_model=ProjectOut)
def show_project(project: Ident, studio: TheStudio) -> Project:
    """Return a project."""
    return studio.project(project)


add_action(router, acts.change_project, ProjectOut)
add_action(router, acts.share_project, list[str])


@router.get("/projects/{project}/readers")
@least(UserRole.STEWARD)
def list_readers(project: Ident, studio: TheStudio) -> list[str]:
    """Return the logins of the readers who may see a project."""
    return studio.store.readers(studio.project(project).id)


add_action(router, acts.copy_project, ProjectOut)
add_action(router, acts.remove_project)


@router.get("/datasets")
def list_datasets(studio: TheStudio) -> list[str]:
    """Return the public data sets found on this machine."""
    return studio.datasets()


components_router = APIRouter(tags=["components"], responses=errors(401))

Room = Literal["methods", "attacks", "measures"]
_ROOMS: dict[str, Registry[Any]] = {"methods": methods, "attacks": attacks, "measures": measures}


def _list(registry: Registry[Any]) -> list[dict[str, Any]]:
    return [describe(registry[name]) for name in registry]


for room, registry in _ROOMS.items():
    about = f"Return the {room} and the JSON schemas of their parameters."
    components_router.get(f"/{room}", name=f"list_{room}", description=about)(partial(_list, registry))


@components_router.get("/projects/{project}/{room}/fitting", responses=errors(404, 409, 422))
def list_fitting(project: Ident, room: Room, studio: TheStudio) -> list[str]:
    """Return the names of those that work on a project's data."""
    return [component.name for component in studio.fitting(project, _ROOMS[room])]


@components_router.get("/projects/{project}/plan", responses=errors(404, 409, 422))
def show_plan(
    project: Ident,
    studio: TheStudio,
    attributes: Annotated[list[Name], Query(max_length=100)] = [],  # noqa: B006 - FastAPI copies it
    k: Annotated[list[Annotated[float, Query(gt=1, lt=1e15)]], Query(max_length=50)] = [],  # noqa: B006
    domains: Literal["declared", "data"] = "declared",
) -> PlanOut:
    """Return what retention can keep: rho for each k, as ``noren plan`` works it out."""
    schema, profile = studio.schema(project), studio.profile(project)
    wanted = k or list(USUAL_K)
    method = build(Retention, {"attributes": attributes, "k": wanted[0], "domains": domains})
    return retention_plan(method, schema, profile, wanted[1:])


session_router = APIRouter(tags=["session"])


class SessionOut(BaseModel):
    """What a program needs to change something: the token for ``X-CSRF-Token``, beside the cookie it was given.

    ``user`` is nobody in a studio of one person, who is its steward.
    """

    csrf: str
    language: str
    user: str | None
    role: UserRole


@session_router.get("/session", responses=errors(401))
def session(request: Request, who: TheWho) -> SessionOut:
    """Return the token of this session, and whose it is."""
    user = who.login if who.is_user else None
    return SessionOut(csrf=request.state.csrf, language=request.state.language, user=user, role=who.role)


users_router = APIRouter(tags=["users"], responses=errors(400, 401, 403, 404, 408, 409, 413, 422, 507))


class UserOut(BaseModel):
    """A user, as administrators see her."""

    login: str
    name: str
    role: UserRole
    created: str
    created_by: str
    revoked: str | None


@users_router.get("/users", response_model=list[UserOut])
@least(UserRole.ADMINISTRATOR)
def list_users(studio: TheStudio) -> list[User]:
    """Return everybody who may use the studio, or might."""
    return studio.store.users.all()


add_action(users_router, acts.add_user, UserOut)
add_action(users_router, acts.change_user, UserOut)
add_action(users_router, acts.revoke_user)


@users_router.get("/trail", **streamed("the trail, one entry a line", "application/x-ndjson", schema={}))
@least(UserRole.REVIEWER)
def show_trail(studio: TheStudio) -> StreamingResponse:
    """Return every act in the studio, each with the digest of the one before; ``noren studio verify`` reads it."""
    return StreamingResponse(studio.store.trail.lines(), media_type="application/x-ndjson")
