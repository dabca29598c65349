"""Who may do what: every route of the studio asks here, before it does anything.

Whoever is let in may look (``GET``); to change something one must be a steward, unless the route says which role is
enough (:func:`least`). So a route that says nothing is closed to those who might do harm by it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from noren.i18n import _
from noren.studio.entrance import Entrance, Who
from noren.studio.trail import act_as
from noren.studio.users import UserRole
from noren.web.refusals import NotYoursError

__all__ = ["allowed", "least"]

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_Route = TypeVar("_Route", bound=Callable[..., Any])


def least(role: UserRole) -> Callable[[_Route], _Route]:
    """Say which role is enough for a route."""

    def said(route: _Route) -> _Route:
        route.least_role = role  # type: ignore[attr-defined]
        return route

    return said


async def allowed(request: Request) -> None:
    """Find out who asks, and stop who may not; the others act under their own name from here on."""
    entrance: Entrance = request.app.state.login
    who = await run_in_threadpool(entrance.who, request.state.session)
    request.state.who = who
    if who is None:  # the guard let through what is open to all
        return
    usual = UserRole.READER if request.method in _SAFE else UserRole.STEWARD
    needed: UserRole = getattr(request.scope["endpoint"], "least_role", usual)
    if not who.may(needed):
        raise NotYoursError(_refusal(who, needed))
    act_as(who.login)


def _refusal(who: Who, needed: UserRole) -> str:
    return _("you are a {role} here, and this is for a {needed}; ask one").format(
        role=who.role.words, needed=needed.words
    )
