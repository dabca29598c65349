"""The REST interface: everything the pages do, under ``/api/v1``; ``/api/docs.json`` describes it (OpenAPI)."""

from __future__ import annotations

from fastapi import APIRouter

from noren.studio.api import data, projects, runs

router = APIRouter(prefix="/api/v1")
for part in (
    projects.session_router, projects.users_router, projects.router, data.router, projects.components_router,
    runs.router, runs.exports_router, runs.approval_router, runs.ledger_router,
):  # fmt: skip
    router.include_router(part)
