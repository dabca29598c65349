"""REST routes of contests: rules, teams, actions of organisers, leaderboards, results, log and archive."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse, StreamingResponse
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from noren.contest import actions
from noren.contest.dependencies import (
    ArenaService,
    Ident,
    Identity,
    RoundName,
    Visit,
    add_action,
    explain_invalid_input,
    file_response,
    limit_rate,
)
from noren.contest.kinds import ContestRole
from noren.contest.results import RESULTS_FILES, RoundResults, results_html, results_json
from noren.contest.schemas import ContestOut, Described, HeadOut, PhaseOut, RoundOut, StrictModel, TeamOut
from noren.contest.service import ArenaIdentity, ContestAccess, ContestService, NewContest
from noren.contest.standings import Board
from noren.contest.state import Team
from noren.errors import ParameterError
from noren.i18n import _
from noren.tables import table_of

contests = APIRouter(tags=["contests"])

_MOST_ROUNDS = 20
_FORM = "multipart/form-data"
_BODIES = table_of("noren.contest.api.bodies")
_TOML: dict[int | str, dict[str, Any]] = {200: {"content": {"application/toml": {}}, "description": "the rulebook"}}


class ContestSummary(BaseModel):
    """A contest in a list."""

    id: str
    title: str
    rulebook: str
    phases: list[PhaseOut]
    paused: str | None
    teams: int
    role: ContestRole
    has_results: bool


@contests.get("/contests")
def list_contests(who: Identity, service: ArenaService) -> list[ContestSummary]:
    """Return the visible contests."""
    return [
        ContestSummary(
            **vars(visit.contest)
            | {"rulebook": visit.contest.rulebook.name, "phases": phases_out(visit), "teams": len(visit.contest.teams)},
            role=visit.role,
            has_results=visit.contest.has_results(visit.now),
        )
        for visit in service.visits(who)
    ]


@contests.post("/contests", status_code=201, openapi_extra=_BODIES["contest"])
async def create_contest(request: Request, who: Identity, service: ArenaService) -> ContestOut:
    """Create a contest: a form with ``contest`` (JSON) and a file per round, under the round's name."""
    service.may_create(who)  # before anything is read
    wrong = _("this is not a form with files; send multipart/form-data: contest, and a file per round")
    if not request.headers.get("content-type", "").startswith(_FORM):
        raise ParameterError(wrong)
    async with request.form(max_files=_MOST_ROUNDS, max_fields=_MOST_ROUNDS, max_part_size=2**20) as form:
        part = form.get("contest")
        text = await part.read(2**20) if isinstance(part, UploadFile) else part
        with explain_invalid_input("contest"):
            new = NewContest.model_validate_json(text or "")
        parts = form.multi_items()
        files = {name: file for name, file in parts if name != "contest" and isinstance(file, UploadFile)}
        if len(files) + 1 < len(parts):
            raise ParameterError(wrong)
        data = {name: (file.filename or name, file.file) for name, file in files.items()}
        return contest_out(ContestAccess(service, who, await run_in_threadpool(service.create, who, new, data)))


@contests.get("/contests/{contest}")
def show_contest(visit: Visit) -> ContestOut:
    """Return a contest: rules, schedule, and the head of its log."""
    return contest_out(visit)


@contests.get("/contests/{contest}/rulebook.toml", response_class=Response, responses=_TOML)
def download_rulebook(visit: Visit) -> Response:
    """Return the rulebook as its file."""
    return Response(visit.contest.rulebook.to_toml(), media_type="application/toml; charset=utf-8")


@contests.get("/contests/{contest}/teams")
def list_teams(visit: Visit) -> list[TeamOut]:
    """Return the teams in the order of their registration."""
    everybody, own = visit.role == ContestRole.ORGANISER, visit.own
    return [team_out(team, people=everybody or team == own) for team in visit.contest.teams.values()]


teams = APIRouter(tags=["teams"])

_CODES, _HOUR = 30, 3600.0
"""Codes that an account can try per hour."""


class NewTeamOut(BaseModel):
    """A new team and its code, which is not shown again."""

    team: TeamOut
    code: str


class CodeOut(BaseModel):
    """A code, which is not shown again."""

    code: str


def _code(_visit: ContestAccess, generated: Mapping[str, str]) -> Mapping[str, str]:
    return {"code": generated["code"]}


def _limit_codes(service: ContestService, who: ArenaIdentity, inputs: Mapping[str, Any]) -> None:
    """Limit the codes of teams and invitations that an account tries."""
    if "code" in inputs or inputs["invitation"]:
        limit_rate(service.arena.store, f"code/{who.require_account().id}", _CODES, _HOUR)


add_action(
    teams, actions.register, NewTeamOut,
    lambda visit, generated: {"team": team_out(visit.team(), people=True), "code": generated["code"]}, _limit_codes,
)  # fmt: skip
add_action(teams, actions.join, TeamOut, lambda visit, _generated: team_out(visit.team(), people=True), _limit_codes)
add_action(teams, actions.leave)
add_action(teams, actions.new_code, CodeOut, _code)


@teams.get("/contests/{contest}/team")
def show_team(visit: Visit) -> TeamOut:
    """Return one's team."""
    return team_out(visit.own_team(), people=True)


organising = APIRouter(tags=["organising"])


class ScoringJobOut(Described):
    """A job; ``error`` is why it failed or is tried again."""

    id: str
    kind: str
    queue: str
    submission: str | None
    state: str
    done: float
    words: str
    error: str
    attempts: int
    created: str
    started: str | None
    ended: str | None


class FlagOut(BaseModel):
    """Two nearly identical files of different teams, and their share of equal rows."""

    submissions: list[str]
    teams: list[str]
    share: float


class HookIn(StrictModel):
    """A new webhook."""

    url: str = Field(max_length=2_000, examples=["https://cup.example/news"])


class HookOut(Described):
    """A webhook; ``disabled`` is when it was removed."""

    id: str
    url: str
    created: str
    disabled: str | None


class NewHookOut(BaseModel):
    """A new webhook and its signing secret, which is not shown again."""

    hook: HookOut
    secret: str


for act in actions.ORGANISING:
    if "code" in act.parameters:
        add_action(organising, act, CodeOut, _code)
    else:
        add_action(organising, act, ContestOut, lambda visit, _generated: contest_out(visit))


@organising.get("/contests/{contest}/flags")
def list_flags(visit: Visit) -> list[FlagOut]:
    """Return nearly identical files of different teams."""
    contest = visit.require_organiser().contest
    files = contest.submissions
    return [FlagOut(**flag, teams=[files[name].team for name in flag["submissions"]]) for flag in contest.flags]


@organising.get("/contests/{contest}/jobs")
def list_jobs(visit: Visit) -> list[ScoringJobOut]:
    """Return all scoring jobs and webhook messages, the oldest first."""
    jobs = visit.require_organiser().arena.store.jobs
    return [ScoringJobOut.model_validate(job) for job in jobs.of(visit.contest.id)]


@organising.post("/contests/{contest}/jobs/{job}/retry", status_code=204)
def retry(job: Ident, visit: Visit) -> None:
    """Queue a failed job again."""
    visit.retry(job)


@organising.get("/contests/{contest}/hooks")
def list_hooks(visit: Visit) -> list[HookOut]:
    """Return the webhooks."""
    hooks = visit.require_organiser().arena.store.hooks
    return [HookOut.model_validate(hook) for hook in hooks.of(visit.contest.id)]


@organising.post("/contests/{contest}/hooks", status_code=201)
def add_hook(body: HookIn, visit: Visit) -> NewHookOut:
    """Add a webhook; the response has its signing secret."""
    hook, secret = visit.add_hook(body.url)
    return NewHookOut(hook=HookOut.model_validate(hook), secret=secret)


@organising.delete("/contests/{contest}/hooks/{hook}", status_code=204)
def remove_hook(hook: Ident, visit: Visit) -> None:
    """Remove a webhook."""
    visit.remove_hook(hook)


# --- what is told -----------------------------------------------------------------------------------------------------


def team_out(team: Team, *, people: bool) -> TeamOut:
    """Describe a team."""
    members = [*team.members.values()] if people else []
    return TeamOut(**vars(team) | {"members": len(team.members), "people": members})


def contest_out(visit: ContestAccess) -> ContestOut:
    """Describe a contest to the account of a visit."""
    contest, now, own = visit.contest, visit.now, visit.own
    rounds = [
        RoundOut(**vars(round_) | {"digest": round_.data, "targets": len(contest.targets.get(round_.id, {}))})
        for round_ in contest.rounds.values()
    ]
    fields = {
        "rulebook_digest": contest.rulebook.digest,
        "phases": phases_out(visit),
        "rounds": rounds,
        "organisers": list(contest.organisers.values()) if visit.role == ContestRole.ORGANISER else [],
        "teams": len(contest.teams),
        "head": HeadOut(position=contest.position, digest=contest.digest, time=contest.time),
        "now": now,
        "role": visit.role,
        "team": None if own is None else team_out(own, people=True),
        "has_results": contest.has_results(now),
        "salt": contest.salt if contest.has_results(now) else None,
    }
    return ContestOut(**vars(contest) | fields)


def phases_out(visit: ContestAccess) -> list[PhaseOut]:
    """Describe the phases of a contest."""
    is_running = visit.contest.paused is None
    phases = visit.contest.phases
    return [PhaseOut(**phase.model_dump(), open=phase.is_open(visit.now) and is_running) for phase in phases]


# --- how it stands and what came of it: boards, the attack matrix, results, the log, the archive ----------------------

outcomes = APIRouter(tags=["outcomes"])

_LINES = "application/x-ndjson"


@outcomes.get("/contests/{contest}/rounds/{round}/leaderboard")
def leaderboard(round_: RoundName, visit: Visit) -> Board:
    """Return the visible leaderboard of a round."""
    return visit.board(round_)[0]


@outcomes.get("/contests/{contest}/rounds/{round}/matrix")
def matrix(round_: RoundName, visit: Visit) -> dict[str, Any]:
    """Return the attack matrix: named, right, needed, chance and interval of every pair of teams."""
    return _round(visit, round_).matrix.as_dict()


@outcomes.get("/contests/{contest}/rounds/{round}/stability")
def stability(round_: RoundName, visit: Visit) -> dict[str, Any] | None:
    """Return the stability of ranks under resampling of customers, if it can be computed."""
    result = _round(visit, round_).stability
    return None if result is None else asdict(result)


@outcomes.get("/contests/{contest}/results.json", response_class=Response, responses=file_response("application/json"))
def results_as_json(visit: Visit) -> Response:
    """Return the results as JSON."""
    return _sent(visit, results_json(visit.results()), "application/json", "results.json")


@outcomes.get("/contests/{contest}/results.html", response_class=Response, responses=file_response("text/html"))
def results_as_page(visit: Visit) -> Response:
    """Return the results as a self-contained page in the language of the request."""
    return _sent(visit, results_html(visit.results()), "text/html; charset=utf-8", "results.html")


@outcomes.get("/contests/{contest}/results.csv", response_class=Response, responses=file_response("text/csv"))
def results_as_table(
    visit: Visit, table: Annotated[Literal["standings", "matrix", "stability"], Query()] = "standings"
) -> Response:
    """Return a table of the results as CSV without formulas."""
    name = f"{table}.csv"
    return _sent(visit, RESULTS_FILES[name](visit.results()), "text/csv; charset=utf-8", name)


@outcomes.get("/contests/{contest}/log", response_class=StreamingResponse, responses=file_response(_LINES))
def download_log(visit: Visit, start: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0) -> Response:
    """Return the log, one entry per line: for organisers at any time, for all after the results."""
    entries = visit.log(start)
    lines = (json.dumps(entry.as_dict(), ensure_ascii=False, sort_keys=True).encode() + b"\n" for entry in entries)
    return StreamingResponse(lines, media_type=_LINES)


@outcomes.get("/contests/{contest}/archive", response_class=FileResponse, responses=file_response("application/zip"))
def download_archive(visit: Visit) -> Response:
    """Return the archive of the contest for a replay; there is none before the results."""
    return FileResponse(visit.archive(), media_type="application/zip", filename=f"{visit.contest.id}.zip")


def _round(visit: ContestAccess, round_: str) -> RoundResults:
    results = next((result for result in visit.results().rounds if result.round == round_), None)
    if results is None:
        raise actions.not_found(round_)
    return results


def _sent(visit: ContestAccess, text: str, kind: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{visit.contest.id}-{name}"'}
    return Response(text, media_type=kind, headers=headers)
