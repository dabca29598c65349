"""Teams: founding, joining and leaving one."""

from __future__ import annotations

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from noren.contest.api.models import ContestName, Strict, TeamOut, team_out
from noren.contest.api.surroundings import Asking, TheDesk, not_too_often

router = APIRouter(tags=["teams"])

_CODES, _HOUR = 30, 3600.0
"""So many codes one account may try in an hour."""


class TeamIn(Strict):
    """A new team; ``invitation`` is the organiser's code, where the contest is by invitation."""

    name: str = Field(max_length=200)
    invitation: str = Field(default="", max_length=100)


class CodeIn(Strict):
    """The code of a team."""

    code: str = Field(max_length=100)


class NewTeamOut(BaseModel):
    """A new team, and the code by which others join; nobody can look it up later."""

    team: TeamOut
    code: str


class TeamCodeOut(BaseModel):
    """The code by which others join."""

    code: str


@router.post("/contests/{contest}/teams", status_code=201)
def register(contest: ContestName, asked: TeamIn, who: Asking, desk: TheDesk) -> NewTeamOut:
    """Found a team."""
    if asked.invitation:
        not_too_often(desk, f"code/{desk.somebody(who)}", _CODES, _HOUR)
    team, code = desk.register(who, contest, asked.name, asked.invitation)
    return NewTeamOut(team=team_out(team, people=True), code=code)


@router.post("/contests/{contest}/join")
def join(contest: ContestName, asked: CodeIn, who: Asking, desk: TheDesk) -> TeamOut:
    """Join a team by its code."""
    not_too_often(desk, f"code/{desk.somebody(who)}", _CODES, _HOUR)
    return team_out(desk.join(who, contest, asked.code), people=True)


@router.post("/contests/{contest}/leave", status_code=204)
def leave(contest: ContestName, who: Asking, desk: TheDesk) -> Response:
    """Leave one's team."""
    desk.leave(who, contest)
    return Response(status_code=204)


@router.get("/contests/{contest}/team")
def show_team(contest: ContestName, who: Asking, desk: TheDesk) -> TeamOut:
    """Return one's team."""
    return team_out(desk.own_team(who, desk.contest(who, contest)), people=True)


@router.post("/contests/{contest}/team/code")
def new_code(contest: ContestName, who: Asking, desk: TheDesk) -> TeamCodeOut:
    """Make another code for one's team; the old one lets nobody in any more."""
    return TeamCodeOut(code=desk.new_code(who, contest))
