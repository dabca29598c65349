"""A contest at a glance: what is open now, when what happens, by which rules it is decided."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from noren.contest.pages.frame import Asker, TheDesk, page
from noren.contest.pages.words import finding_now, rules

router = APIRouter()


@router.get("/contests/{contest}")
def show_overview(request: Request, contest: str, who: Asker, desk: TheDesk) -> Response:
    """Show schedule and rules."""
    found = desk.contest(who, contest)
    now = desk.arena.now()
    return page(
        request,
        "overview.html.jinja",
        title=finding_now(found, now),
        place="overview",
        contest=found,
        rules=rules(found.rulebook, found.settings),
        rulebook=found.rulebook.to_toml(),
        rulebook_digest=found.rulebook.digest,
        own=found.teams.get(found.team_of.get(who.id, "")),
    )
