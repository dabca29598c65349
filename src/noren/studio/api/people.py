"""Who asks, the users of the studio for stewards, and the trail of what was done."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from noren.studio.acts import projects as acts
from noren.studio.api.models import TheStudio, TheWho, add_action
from noren.studio.users import UserRole, least
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


class UserOut(BaseModel):
    """A user, as stewards see her."""

    login: str
    name: str
    role: UserRole
    created: str
    revoked: str | None


@router.get("/users")
@least(UserRole.STEWARD)
def list_users(studio: TheStudio) -> list[UserOut]:
    """Return everybody who may use the studio, or might."""
    return [UserOut(**user.__dict__) for user in studio.store.users.all()]


add_action(router, acts.add_user, UserOut)
add_action(router, acts.change_user, UserOut)
add_action(router, acts.revoke_user)


@router.get(
    "/trail",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/x-ndjson": {}}, "description": "the trail, one entry a line"}},
)
@least(UserRole.REVIEWER)
def show_trail(studio: TheStudio) -> StreamingResponse:
    """Return every act in the studio, each with the digest of the one before; ``noren studio verify`` reads it."""
    return StreamingResponse(studio.store.trail.lines(), media_type="application/x-ndjson")
