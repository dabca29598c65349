"""The token that changes must carry."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel

from noren.studio.api.surroundings import TheWho
from noren.studio.users import UserRole
from noren.web.error_models import errors

router = APIRouter(tags=["session"])


class SessionOut(BaseModel):
    """What a program needs to change something: the token for ``X-CSRF-Token``, beside the cookie it was given.

    ``user`` is nobody in a studio of one person, who is its steward.
    """

    csrf: str
    language: str
    user: str | None
    role: UserRole


@router.get("/session", responses=errors(401))
def session(request: Request, who: TheWho) -> SessionOut:
    """Return the token of this session, and whose it is."""
    user = who.login if who.is_user else None
    return SessionOut(csrf=request.state.csrf, language=request.state.language, user=user, role=who.role)
