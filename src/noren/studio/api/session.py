"""The token that changes must carry."""

from __future__ import annotations

from fastapi import APIRouter, Request
from pydantic import BaseModel

from noren.web.error_models import errors

router = APIRouter(tags=["session"])


class SessionOut(BaseModel):
    """What a program needs to change something: the token for ``X-CSRF-Token``, beside the cookie it was given."""

    csrf: str
    language: str


@router.get("/session", responses=errors(401))
def session(request: Request) -> SessionOut:
    """Return the token of this session."""
    return SessionOut(csrf=request.state.csrf, language=request.state.language)
