"""Pages for everybody: contests that one may see, one contest at a glance, and one's team."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from fastapi.responses import RedirectResponse, Response

from noren.contest import acts
from noren.contest.dependencies import TheDesk, TheEntrance
from noren.contest.desk import Desk, Visit, Who
from noren.contest.kinds import PhaseKind, Role
from noren.contest.pages.frame import Asker, Person, Visited, page, status_of, to_page
from noren.contest.pages.words import finding_now, rules
from noren.contest.phases import open_phases
from noren.errors import NorenError
from noren.i18n import _, ngettext
from noren.web.actions import Action
from noren.work.chain import Said

router = APIRouter()

_PLAYED = (PhaseKind.REGISTRATION, PhaseKind.PROTECT, PhaseKind.ATTACK)


@router.get("/")
def show_home(request: Request, who: Asker, desk: TheDesk, entrance: TheEntrance) -> Response:
    """Show all contests; a server without an organiser asks for one first."""
    found, now = desk.visits(who), desk.arena.now()
    if who.account is None and not found and entrance.is_new:
        return RedirectResponse("/sign-up", 303)
    lines: list[dict[str, Any]] = []
    for visit in found:
        contest = visit.contest
        open_ = [] if contest.paused else [one for one in open_phases(contest.phases, now) if one.kind in _PLAYED]
        lines.append(
            {
                "contest": contest,
                "finding": finding_now(contest, now),
                "is_open": bool(open_),
                "role": str(visit.role),
                "team": visit.own,
                "closes": min((one.closes for one in open_ if one.closes), default=None),
            }
        )
    open_lines = [line for line in lines if line["is_open"]]
    if not lines:
        title = _("No contest yet that you may see")
    elif len(open_lines) == 1:
        title = f"{open_lines[0]['contest'].title}: {open_lines[0]['finding']}"
    elif open_lines:
        title = ngettext("{count} contest is open now", "{count} contests are open now", len(open_lines))
        title = title.format(count=len(open_lines))
    else:
        title = ngettext(
            "{count} contest, and nothing is open now", "{count} contests, and nothing is open now", len(lines)
        ).format(count=len(lines))
    return page(
        request,
        "home.html.jinja",
        title=title,
        place="contests",
        lines=lines,
        may_create=who.account is not None and who.account.is_organiser,
        organiser=str(Role.ORGANISER),
    )


@router.get("/contests/{contest}")
def show_overview(request: Request, visit: Visited) -> Response:
    """Show schedule and rules."""
    found = visit.contest
    return page(
        request,
        "overview.html.jinja",
        title=finding_now(found, visit.now),
        place="overview",
        visit=visit,
        rules=rules(found.rulebook, found.settings),
        rulebook=found.rulebook.to_toml(),
        rulebook_digest=found.rulebook.digest,
        own=visit.own,
    )


@router.get("/contests/{contest}/team")
def show_team(request: Request, visit: Visited) -> Response:
    """Show one's team, or the ways to one."""
    return _team_page(request, visit)


Text = Annotated[str, Form(max_length=200)]


@router.post("/contests/{contest}/team")
def found_team(
    request: Request, contest: str, who: Person, desk: TheDesk, name: Text = "", invitation: Text = ""
) -> Response:
    """Found a team, and show its code once."""
    return _act(request, contest, who, desk, acts.register, "wrong_found", name=name, invitation=invitation)


@router.post("/contests/{contest}/team/join")
def join_team(request: Request, contest: str, who: Person, desk: TheDesk, code: Text = "") -> Response:
    """Join a team by its code."""
    return _act(request, contest, who, desk, acts.join, "wrong_join", code=code)


@router.post("/contests/{contest}/team/code")
def change_code(request: Request, contest: str, who: Person, desk: TheDesk) -> Response:
    """Give the team another code, and show it once."""
    return _act(request, contest, who, desk, acts.new_code, "")


@router.post("/contests/{contest}/team/leave")
def leave_team(request: Request, contest: str, who: Person, desk: TheDesk) -> Response:
    """Leave the team."""
    return _act(request, contest, who, desk, acts.leave, "wrong_leave")


def _act(
    request: Request, contest: str, who: Who, desk: Desk, act: Action[..., list[Said]], wrong: str, **typed: str
) -> Response:
    """Do what a form of the page asks; what cannot be is said at the form, which keeps what was typed."""
    try:
        done = desk.do(who, contest, act, **typed)
    except NorenError as error:
        if not wrong:
            raise
        told = {wrong: str(error), "typed": typed}
        return _team_page(request, desk.visit(who, contest), status_of(error), **told)
    if "code" in done.given:
        return _team_page(request, desk.visit(who, contest), code=done.given["code"])
    return to_page(done.state, "team")


def _team_page(request: Request, visit: Visit, status: int = 200, **told: Any) -> Response:
    told = {"wrong_found": "", "wrong_join": "", "wrong_leave": "", "code": "", "typed": {}} | told
    own = visit.own
    if own is None:
        title = _("You are in no team yet: found one, or join one by its code")
    else:
        title = ngettext(
            "You play for {name}, a team of {count}", "You play for {name}, a team of {count}", len(own.members)
        ).format(name=own.name, count=len(own.members))
    return page(request, "team.html.jinja", title=title, place="team", visit=visit, status=status, own=own, **told)
