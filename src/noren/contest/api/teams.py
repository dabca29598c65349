"""Teams: founding, joining and leaving one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from noren.contest import acts
from noren.contest.api.models import TeamOut, team_out
from noren.contest.dependencies import Asking, ContestName, TheDesk, add_action, not_too_often
from noren.contest.desk import Desk, Done, Who

router = APIRouter(tags=["teams"])

_CODES, _HOUR = 30, 3600.0
"""So many codes one account may try in an hour."""


class NewTeamOut(BaseModel):
    """A new team, and the code by which others join; nobody can look it up later."""

    team: TeamOut
    code: str


class TeamCodeOut(BaseModel):
    """The code by which others join."""

    code: str


def _new_team(_desk: Desk, _who: Who, done: Done) -> NewTeamOut:
    return NewTeamOut(team=team_out(done.team, people=True), code=done.given["code"])


def _team(_desk: Desk, _who: Who, done: Done) -> TeamOut:
    return team_out(done.team, people=True)


def _team_code(_desk: Desk, _who: Who, done: Done) -> TeamCodeOut:
    return TeamCodeOut(code=done.given["code"])


def _few_codes(desk: Desk, who: Who, asked: Mapping[str, Any]) -> None:
    """Refuse whoever tries many codes: of teams, or of invitations."""
    if "code" in asked or asked["invitation"]:
        not_too_often(desk, f"code/{desk.somebody(who)}", _CODES, _HOUR)


add_action(router, acts.register, _new_team, before=_few_codes)
add_action(router, acts.join, _team, before=_few_codes)
add_action(router, acts.leave)
add_action(router, acts.new_code, _team_code)


@router.get("/contests/{contest}/team")
def show_team(contest: ContestName, who: Asking, desk: TheDesk) -> TeamOut:
    """Return one's team."""
    return team_out(desk.own_team(who, desk.contest(who, contest)), people=True)
