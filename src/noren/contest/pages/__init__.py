"""The HTML pages of the arena: one module for each kind, all through :func:`~noren.contest.pages.frame.page`."""

from __future__ import annotations

from fastapi import APIRouter

from noren.contest.pages import home, organising, playing
from noren.contest.pages.frame import FRAME, LoginNeededError, page

__all__ = ["FRAME", "LoginNeededError", "page", "router"]

router = APIRouter(include_in_schema=False)
for part in (home, organising, playing):
    router.include_router(part.router)
