"""The HTML pages: one module for each, all rendered through :func:`~noren.studio.pages.frame.page`."""

from __future__ import annotations

from fastapi import APIRouter

from noren.studio.pages import (
    compare,
    data,
    export,
    handing_out,
    home,
    ledger,
    login,
    papers,
    protect,
    result,
    runs,
    users,
)

__all__ = ["router"]

router = APIRouter(include_in_schema=False)
for part in (home, login, data, protect, runs, result, compare, ledger, handing_out, export, papers, users):
    router.include_router(part.router)
