"""The frame of the arena's pages: its rail by who looks, and the contest that a page is about."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from noren.contest.dependencies import TheDesk, desk_of, entrance_of
from noren.contest.desk import NOBODY, Visit, Who
from noren.contest.kinds import Role
from noren.contest.pages import words
from noren.contest.state import Contest
from noren.errors import NorenError
from noren.i18n import N_
from noren.judgement.numbers import size
from noren.web.frame import Frame, PagePlace

FRAME = Frame("noren.contest", home=N_("To the contests"))
FRAME.surroundings.globals |= {
    "shown_time": words.shown_time,
    "left": words.left,
    "size": size,
    "kind_sentence": lambda phase: words.say(f"phase.{phase.kind}"),
    "phase_words": words.phase_words,
    "round_words": words.round_words,
    "played_rounds": words.played_rounds,
    "round_title": lambda name: words.round_words(name)[:1].upper() + words.round_words(name)[1:],
}

_HOME = PagePlace("contests", N_("Contests"), "/", "curtain")
_OVERVIEW = PagePlace("overview", N_("Rules"), "/contests/{contest}", "book")
_BOARD = PagePlace("board", N_("Board"), "/contests/{contest}/board", "map")
_RESULTS = PagePlace("results", N_("Results"), "/contests/{contest}/results", "cup")
_TEAM = PagePlace("team", N_("Team"), "/contests/{contest}/team", "person")
_PROTECT = PagePlace("protect", N_("Protect"), "/contests/{contest}/protect", "shield")
_ATTACK = PagePlace("attack", N_("Attack"), "/contests/{contest}/attack", "eye")
_ORGANISE = PagePlace("organise", N_("Organise"), "/contests/{contest}/organise", "table")
_RAILS = {
    Role.VISITOR: (_HOME, _OVERVIEW, _BOARD, _TEAM),
    Role.MEMBER: (_HOME, _OVERVIEW, _PROTECT, _ATTACK, _BOARD, _TEAM),
    Role.ORGANISER: (_HOME, _OVERVIEW, _BOARD, _ORGANISE),
}


def asker(request: Request) -> Who:
    """Return who asks for a page: whoever is logged in by its browser."""
    if not hasattr(request.state, "who"):
        request.state.who = entrance_of(request).who(request.state.session)
    who: Who = request.state.who
    return who


Asker = Annotated[Who, Depends(asker)]


class LoginNeededError(Exception):
    """A page for people with an account, asked for by nobody in particular: they are sent to where people log in."""


def _person(who: Asker) -> Who:
    if who.account is None:
        raise LoginNeededError
    return who


Person = Annotated[Who, Depends(_person)]
"""The account that is logged in."""


def _visited(contest: str, who: Asker, desk: TheDesk) -> Visit:
    return desk.visit(who, contest)


def _visited_by_person(contest: str, who: Person, desk: TheDesk) -> Visit:
    return desk.visit(who, contest)


Visited = Annotated[Visit, Depends(_visited)]
VisitedByPerson = Annotated[Visit, Depends(_visited_by_person)]


def page(
    request: Request,
    template: str,
    *,
    title: str,
    place: str,
    visit: Visit | None = None,
    status: int = 200,
    **context: Any,
) -> HTMLResponse:
    """Render a page of the arena (:meth:`noren.web.frame.Frame.page`)."""
    arena = desk_of(request).arena
    is_well = status < 500  # else the database may be away
    who, now = (asker(request), arena.now()) if is_well else (NOBODY, "")
    contest = None if visit is None else visit.contest
    role = Role.VISITOR if visit is None else visit.role
    places = (_HOME,) if contest is None else _RAILS[role]
    if contest is not None and contest.has_results(now):
        places = (*places, _RESULTS)
    return FRAME.page(
        request,
        template,
        title=title,
        place=place,
        rail=[one.filled(contest=contest.id if contest else "") for one in places],
        status=status,
        contest=contest,
        who=who,
        role=str(role),
        now=now,
        zone=contest.settings.zone if contest else "UTC",
        rehearsal=arena.rehearsal,
        **context,
    )


def to_page(contest: Contest, name: str) -> Response:
    """Send somebody to a page of a contest."""
    return RedirectResponse(f"/contests/{contest.id}/{name}", 303)


def status_of(error: NorenError) -> int:
    """Return the status of a page that says what cannot be."""
    return int(getattr(error, "status", 422))
