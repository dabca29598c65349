"""The first page: contests that one may see, what is open in each, and until when."""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import APIRouter, Request
from fastapi.responses import RedirectResponse, Response

from noren.contest.desk import Role
from noren.contest.pages.frame import Asker, TheDesk, TheEntrance, page
from noren.contest.pages.words import finding_now
from noren.contest.phases import PhaseKind, open_phases
from noren.contest.state import Contest, Team
from noren.i18n import _, ngettext

router = APIRouter()

_PLAYED = (PhaseKind.REGISTRATION, PhaseKind.PROTECT, PhaseKind.ATTACK)


@dataclass(frozen=True)
class ContestLine:
    """What the first page tells of a contest."""

    contest: Contest
    finding: str
    is_open: bool
    role: str
    team: Team | None
    closes: str | None


@router.get("/")
def show_home(request: Request, who: Asker, desk: TheDesk, entrance: TheEntrance) -> Response:
    """Show all contests; a server without an organiser asks for one first."""
    found, now = desk.contests(who), desk.arena.now()
    if who.account is None and not found and entrance.is_new:
        return RedirectResponse("/sign-up", 303)
    lines = []
    for contest in found:
        open_ = [] if contest.paused else [one for one in open_phases(contest.phases, now) if one.kind in _PLAYED]
        closes = min((one.closes for one in open_ if one.closes), default=None)
        own = contest.teams.get(contest.team_of.get(who.id, ""))
        role = desk.role(who, contest)
        lines.append(ContestLine(contest, finding_now(contest, now), bool(open_), str(role), own, closes))
    return page(
        request,
        "home.html.jinja",
        title=_title(lines),
        place="contests",
        lines=lines,
        may_create=who.account is not None and who.account.is_organiser,
        organiser=str(Role.ORGANISER),
    )


def _title(lines: list[ContestLine]) -> str:
    if not lines:
        return _("No contest yet that you may see")
    open_ = [line for line in lines if line.is_open]
    if len(open_) == 1:
        return f"{open_[0].contest.title}: {open_[0].finding}"
    if open_:
        return ngettext("{count} contest is open now", "{count} contests are open now", len(open_)).format(
            count=len(open_)
        )
    return ngettext(
        "{count} contest, and nothing is open now", "{count} contests, and nothing is open now", len(lines)
    ).format(count=len(lines))
