"""The frame of the studio's pages: its rail, and the project that a page is about."""

from __future__ import annotations

from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse

from noren.i18n import N_
from noren.studio.store import Project
from noren.web.frame import Frame, PagePlace

__all__ = ["FRAME", "page"]

FRAME = Frame("noren.studio", home=N_("To the projects"))
_RAIL = (
    PagePlace("projects", N_("Projects"), "/", "curtain"),
    PagePlace("data", N_("Data"), "/projects/{project}/data", "table"),
    PagePlace("protect", N_("Protect"), "/projects/{project}/protect", "shield"),
    PagePlace("results", N_("Results"), "/projects/{project}/results", "eye"),
    PagePlace("compare", N_("Compare"), "/projects/{project}/compare", "map"),
    PagePlace("ledger", N_("Ledger"), "/projects/{project}/ledger", "book"),
)


def page(
    request: Request,
    template: str,
    *,
    title: str,
    place: str,
    project: Project | None = None,
    status: int = 200,
    **context: Any,
) -> HTMLResponse:
    """Render a page of the studio (:meth:`noren.web.frame.Frame.page`); without a project the rail is short."""
    rail = [
        entry.filled(project=project.id if project else "")
        for entry in _RAIL
        if project is not None or "{project}" not in entry.address
    ]
    return FRAME.page(
        request,
        template,
        title=title,
        place=place,
        rail=rail,
        status=status,
        project=project,
        needs_login=request.app.state.login.needed,
        **context,
    )
