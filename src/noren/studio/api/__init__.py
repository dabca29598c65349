"""The REST interface: everything the pages do, under ``/api/v1``; ``/api/docs.json`` describes it (OpenAPI)."""

from __future__ import annotations

from fastapi import APIRouter

from noren.studio.api import (
    components,
    data,
    exports,
    handing_out,
    hierarchies,
    ledger,
    projects,
    runs,
    session,
    users,
)

__all__ = ["router"]

router = APIRouter(prefix="/api/v1")
for part in (session, users, projects, data, hierarchies, components, runs, exports, handing_out, ledger):
    router.include_router(part.router)
