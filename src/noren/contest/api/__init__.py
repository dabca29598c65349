"""The REST interface: everything the pages do, under ``/api/v1``; ``/api/docs.json`` describes it (OpenAPI)."""

from __future__ import annotations

from fastapi import APIRouter

from noren.contest.api import account, files
from noren.contest.api.contests import contests, organising, outcomes, teams
from noren.web.errors import errors

__all__ = ["router"]

router = APIRouter(prefix="/api/v1", responses=errors(400, 401, 403, 404, 408, 409, 413, 422, 429, 503, 507))
for part in (account.router, contests, organising, teams, files.router, outcomes):
    router.include_router(part)
