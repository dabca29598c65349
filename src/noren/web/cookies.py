"""The cookies of a server: for it alone, out of reach of scripts, and never in the clear where it has HTTPS."""

from __future__ import annotations

from typing import Final

from fastapi import Request
from fastapi.responses import Response

__all__ = ["DAYS", "LANGUAGE", "SESSION", "THEME", "drop_session", "keep_cookie", "keep_session"]

SESSION: Final = "noren_session"
LANGUAGE: Final = "noren_language"
THEME: Final = "noren_theme"
DAYS: Final = 14
"""How long a session lasts."""


def keep_cookie(answer: Response, request: Request, name: str, value: str, seconds: int) -> None:
    """Have the browser keep a cookie."""
    answer.set_cookie(name, value, max_age=seconds, httponly=True, samesite="strict", secure=request.state.secure)


def keep_session(answer: Response, request: Request, session: str) -> None:
    """Have the browser keep a session that was opened for it."""
    keep_cookie(answer, request, SESSION, session, DAYS * 86_400)


def drop_session(answer: Response, request: Request) -> None:
    """Have the browser forget its session."""
    answer.delete_cookie(SESSION, httponly=True, samesite="strict", secure=request.state.secure)
