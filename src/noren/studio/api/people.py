"""Who asks, the users of the studio for stewards, and the trail of what was done."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from noren.studio.api.models import Strict, TheStudio, TheWho
from noren.studio.users import User, UserRole, least
from noren.web.refusals import errors

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


router = APIRouter(tags=["users"], responses=errors(400, 401, 403, 404, 408, 409, 413, 422, 507))

Login = Annotated[str, Path(min_length=2, max_length=64)]
Password = Annotated[str, Field(min_length=10, max_length=1000)]


class UserIn(Strict):
    """A new user; the first must be a steward."""

    login: str = Field(min_length=2, max_length=64)
    name: str = Field(default="", max_length=80)
    password: Password
    role: UserRole


class UserChange(Strict):
    """Another role, another password, or both; the user logs in again."""

    role: UserRole | None = None
    password: Password | None = None


class UserOut(BaseModel):
    """A user, as stewards see her."""

    login: str
    name: str
    role: UserRole
    created: str
    revoked: str | None


def _said(user: User) -> UserOut:
    return UserOut(**user.__dict__)


@router.get("/users")
@least(UserRole.STEWARD)
def list_users(studio: TheStudio) -> list[UserOut]:
    """Return everybody who may use the studio, or might."""
    return [_said(user) for user in studio.store.users.all()]


@router.post("/users", status_code=201)
def add_user(asked: UserIn, studio: TheStudio) -> UserOut:
    """Add a user; from the first on, everybody logs in with a password of her own."""
    return _said(studio.store.users.add(asked.login, asked.name, asked.password, asked.role))


@router.patch("/users/{login}")
def change_user(login: Login, asked: UserChange, studio: TheStudio) -> UserOut:
    """Give a user another role or password."""
    users = studio.store.users
    if asked.role is not None:
        users.set_role(login, asked.role)
    if asked.password is not None:
        users.set_password(login, asked.password)
    return _said(users.one(login))


@router.delete("/users/{login}", status_code=204)
def revoke_user(login: Login, studio: TheStudio) -> Response:
    """Revoke a user; open pages are told with their next request."""
    studio.store.users.revoke(login)
    return Response(status_code=204)


@router.get(
    "/trail",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/x-ndjson": {}}, "description": "the trail, one entry a line"}},
)
@least(UserRole.REVIEWER)
def show_trail(studio: TheStudio) -> StreamingResponse:
    """Return every act in the studio, each with the digest of the one before; ``noren studio verify`` reads it."""
    return StreamingResponse(studio.store.trail.lines(), media_type="application/x-ndjson")
