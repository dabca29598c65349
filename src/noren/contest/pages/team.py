"""One's team: founding it, joining it by its code, who is in it, another code, leaving it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from noren.contest import acts
from noren.contest.desk import Desk, Who
from noren.contest.pages.frame import Asker, TheDesk, address, page, to_login
from noren.errors import NorenError
from noren.i18n import _, ngettext
from noren.web.actions import Action
from noren.work.chain import Said

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
    return _done(request, contest, who, desk, acts.register, "wrong_found", name=name, invitation=invitation)


@router.post("/contests/{contest}/team/join")
def join_team(request: Request, contest: str, who: Asker, desk: TheDesk, code: Text = "") -> Response:
    """Join a team by its code."""
    return _done(request, contest, who, desk, acts.join, "wrong_join", code=code)


@router.post("/contests/{contest}/team/code")
def change_code(request: Request, contest: str, who: Asker, desk: TheDesk) -> Response:
    """Give the team another code, and show it once."""
    return _done(request, contest, who, desk, acts.new_code, "")


@router.post("/contests/{contest}/team/leave")
def leave_team(request: Request, contest: str, who: Asker, desk: TheDesk) -> Response:
    """Leave the team."""
    return _done(request, contest, who, desk, acts.leave, "wrong_leave")


def _done(
    request: Request, contest: str, who: Who, desk: Desk, act: Action[..., list[Said]], wrong: str, **typed: str
) -> Response:
    """Do what a form of the page asks; what cannot be is said at the form, which keeps what was typed."""
    if who.account is None:
        return to_login()
    try:
        done = desk.do(who, contest, act, **typed)
    except NorenError as error:
        if not wrong:
            raise
        status = int(getattr(error, "status", 422))
        return _team_page(request, contest, who, desk, status, **{wrong: str(error), "typed": typed})
    if "code" in done.given:
        return _team_page(request, contest, who, desk, code=done.given["code"])
    return RedirectResponse(address(contest, "team"), 303)


def _team_page(request: Request, contest: str, who: Who, desk: Desk, status: int = 200, **told: Any) -> Response:
    found = desk.contest(who, contest)
    own = found.teams.get(found.team_of.get(who.id, ""))
    told = {"wrong_found": "", "wrong_join": "", "wrong_leave": "", "code": "", "typed": {}} | told
    if own is None:
        title = _("You are in no team yet: found one, or join one by its code")
    else:
        title = ngettext(
            "You play for {name}, a team of {count}", "You play for {name}, a team of {count}", len(own.members)
        ).format(name=own.name, count=len(own.members))
    return page(request, "team.html.jinja", title=title, place="team", contest=found, status=status, own=own, **told)
