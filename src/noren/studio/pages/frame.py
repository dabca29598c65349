"""The frame of the studio's pages: its rail, and the project that a page is about."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse

from noren.i18n import N_
from noren.studio.handing_out import publications
from noren.studio.store import Project
from noren.studio.users import UserRole, Who
from noren.web.frame import Frame, PagePlace

FRAME = Frame("noren.studio", home=N_("To the projects"))
_RAIL = (
    PagePlace("projects", N_("Projects"), "/", "curtain"),
    PagePlace("data", N_("Data"), "/projects/{project}/data", "table"),
    PagePlace("protect", N_("Protect"), "/projects/{project}/protect", "shield"),
    PagePlace("results", N_("Results"), "/projects/{project}/results", "eye"),
    PagePlace("compare", N_("Compare"), "/projects/{project}/compare", "map"),
    PagePlace("ledger", N_("Ledger"), "/projects/{project}/ledger", "book"),
)
_OF_PEOPLE = (
    (UserRole.STEWARD, PagePlace("users", N_("Users"), "/users", "person")),
    (UserRole.REVIEWER, PagePlace("trail", N_("Audit trail"), "/trail", "book")),
)
"""What stands on the rail beside the projects, for whom."""
_TELLING = ("protect", "results", "compare")
"""Where it is told that something was handed out already; the page of the ledger shows the records."""


async def _typed(request: Request) -> dict[str, str]:
    form = await request.form()
    return {name: value for name, value in form.items() if isinstance(value, str) and name != "csrf"}


Typed = Annotated[dict[str, str], Depends(_typed)]
"""What was written into a form."""


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
    who: Who | None = getattr(request.state, "who", None)
    if project is None and who is not None:
        rail += [entry.filled() for role, entry in _OF_PEOPLE if who.may(role)]
    handed_out = publications(request.app.state.studio, project.id) if project and place in _TELLING else []
    return FRAME.page(
        request,
        template,
        title=title,
        place=place,
        rail=rail,
        status=status,
        project=project,
        who=who,
        handed_out=handed_out,
        can_leave=who is not None and request.app.state.login.needed,
        **context,
    )
