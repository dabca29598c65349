"""Contests: which there are, what their rules are, and making one."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from noren.contest.api.models import ContestOut, PhaseOut, TeamOut, contest_out, phases_out, team_out
from noren.contest.dependencies import Asking, ContestName, TheDesk, broken_rule
from noren.contest.desk import NewContest, Role
from noren.errors import ParameterError
from noren.i18n import _

router = APIRouter(tags=["contests"])

_MOST_ROUNDS = 20
_FORM = "multipart/form-data"
_NEW: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            _FORM: {
                "schema": {
                    "type": "object",
                    "required": ["contest"],
                    "properties": {"contest": {"type": "string", "description": "NewContest as JSON"}},
                    "additionalProperties": {"type": "string", "format": "binary"},
                }
            }
        },
    }
}
_TOML: dict[int | str, dict[str, Any]] = {200: {"content": {"application/toml": {}}, "description": "the rulebook"}}


class ContestSummary(BaseModel):
    """A contest in a list."""

    id: str
    title: str
    rulebook: str
    phases: list[PhaseOut]
    paused: str | None
    teams: int
    role: Role
    has_results: bool


@router.get("/contests")
def list_contests(who: Asking, desk: TheDesk) -> list[ContestSummary]:
    """Return the contests that one may see."""
    now = desk.arena.now()
    return [
        ContestSummary(
            id=one.id,
            title=one.title,
            rulebook=one.rulebook.name,
            phases=phases_out(one, now),
            paused=one.paused,
            teams=len(one.teams),
            role=desk.role(who, one),
            has_results=one.has_results(now),
        )
        for one in desk.contests(who)
    ]


@router.post("/contests", status_code=201, openapi_extra=_NEW)
async def create_contest(request: Request, who: Asking, desk: TheDesk) -> ContestOut:
    """Create a contest: a form with ``contest`` (JSON) and a file for each round, under the round's name."""
    desk.may_create(who)  # before anything is read
    if not request.headers.get("content-type", "").startswith(_FORM):
        raise ParameterError(_("a contest comes as a form with files"), _("send multipart/form-data"))
    async with request.form(max_files=_MOST_ROUNDS, max_fields=_MOST_ROUNDS, max_part_size=2**20) as form:
        asked = await _asked(form)
        data = {name: (one.filename or name, one.file) for name, one in _files(form).items()}
        return contest_out(desk, who, await run_in_threadpool(desk.create, who, asked, data))


async def _asked(form: FormData) -> NewContest:
    given = form.get("contest")
    text = await given.read(2**20) if isinstance(given, UploadFile) else given
    try:
        return NewContest.model_validate_json(text or "")
    except ValidationError as error:
        raise broken_rule(error, "contest") from None


def _files(form: FormData) -> dict[str, UploadFile]:
    found = {name: one for name, one in form.multi_items() if name != "contest" and isinstance(one, UploadFile)}
    if len(found) + 1 < len(form.multi_items()):
        raise ParameterError(_("every part beside contest is a file, one for each round"), _("send each once"))
    return found


@router.get("/contests/{contest}")
def show_contest(contest: ContestName, who: Asking, desk: TheDesk) -> ContestOut:
    """Return a contest: rules, schedule, and the head of its log."""
    return contest_out(desk, who, desk.contest(who, contest))


@router.get("/contests/{contest}/rulebook.toml", response_class=Response, responses=_TOML)
def download_rulebook(contest: ContestName, who: Asking, desk: TheDesk) -> Response:
    """Return the rulebook as its file."""
    return Response(desk.contest(who, contest).rulebook.to_toml(), media_type="application/toml; charset=utf-8")


@router.get("/contests/{contest}/teams")
def list_teams(contest: ContestName, who: Asking, desk: TheDesk) -> list[TeamOut]:
    """Return the teams in the order of their registration."""
    found = desk.contest(who, contest)
    own, everybody = found.team_of.get(who.id), desk.role(who, found) == Role.ORGANISER
    return [team_out(one, people=everybody or one.id == own) for one in found.teams.values()]
