"""The HTML pages: one module for each, all rendered through :func:`~noren.studio.pages.frame.page`."""

from __future__ import annotations

from fastapi import APIRouter

from noren.studio.pages import compare, data, export, home, protect, result, runs
from noren.studio.pages.frame import ROUTES

router = APIRouter(include_in_schema=False)
for part in (home, data, protect, runs, result, compare, export):
    router.include_router(part.router)
    ROUTES.extend(part.router.routes)
