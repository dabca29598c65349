"""One's team: founding it, joining it by its code, who is in it, another code, leaving it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from noren.contest.desk import Desk, Who
from noren.contest.pages.frame import Asker, TheDesk, address, page, to_login
from noren.errors import NorenError
from noren.i18n import _, ngettext

router = APIRouter()

Text = Annotated[str, Form(max_length=200)]


@router.get("/contests/{contest}/team")
def show_team(request: Request, contest: str, who: Asker, desk: TheDesk) -> Response:
    """Show one's team, or the ways to one."""
    return _team_page(request, contest, who, desk)


@router.post("/contests/{contest}/team")
def found_team(
    request: Request, contest: str, who: Asker, desk: TheDesk, name: Text = "", invitation: Text = ""
) -> Response:
    """Found a team, and show its code once."""
    if who.account is None:
        return to_login()
    try:
        _team, code = desk.register(who, contest, name, invitation)
    except NorenError as error:
        typed = {"name": name, "invitation": invitation}
        return _team_page(request, contest, who, desk, wrong_found=str(error), typed=typed, status=_status(error))
    return _team_page(request, contest, who, desk, code=code)


@router.post("/contests/{contest}/team/join")
def join_team(request: Request, contest: str, who: Asker, desk: TheDesk, code: Text = "") -> Response:
    """Join a team by its code."""
    if who.account is None:
        return to_login()
    try:
        desk.join(who, contest, code)
    except NorenError as error:
        return _team_page(request, contest, who, desk, wrong_join=str(error), status=_status(error))
    return RedirectResponse(address(contest, "team"), 303)


@router.post("/contests/{contest}/team/code")
def change_code(request: Request, contest: str, who: Asker, desk: TheDesk) -> Response:
    """Give the team another code, and show it once."""
    if who.account is None:
        return to_login()
    return _team_page(request, contest, who, desk, code=desk.new_code(who, contest))


@router.post("/contests/{contest}/team/leave")
def leave_team(request: Request, contest: str, who: Asker, desk: TheDesk) -> Response:
    """Leave the team."""
    if who.account is None:
        return to_login()
    try:
        desk.leave(who, contest)
    except NorenError as error:
        return _team_page(request, contest, who, desk, wrong_leave=str(error), status=_status(error))
    return RedirectResponse(address(contest, "team"), 303)


def _status(error: NorenError) -> int:
    return int(getattr(error, "status", 422))


def _team_page(request: Request, contest: str, who: Who, desk: Desk, status: int = 200, **told: Any) -> Response:
    found = desk.contest(who, contest)
    own = found.teams.get(found.team_of.get(who.id, ""))
    told = {"wrong_found": "", "wrong_join": "", "wrong_leave": "", "code": ""} | told
    told.setdefault("typed", {"name": "", "invitation": ""})
    if own is None:
        title = _("You are in no team yet: found one, or join one by its code")
    else:
        title = ngettext(
            "You play for {name}, a team of {count}", "You play for {name}, a team of {count}", len(own.members)
        ).format(name=own.name, count=len(own.members))
    return page(request, "team.html.jinja", title=title, place="team", contest=found, status=status, own=own, **told)
