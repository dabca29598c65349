"""Contests: which there are, their rules, making one, teams, what organisers do, how it stands and what came of it.

Every act stands in the log.
"""

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
from noren.contest.actions import RefusedError
from noren.contest.dependencies import (
    ArenaService,
    Asking,
    ContestName,
    Ident,
    RoundName,
    add_action,
    described_file,
    name_broken_rule,
    not_too_often,
)
from noren.contest.kinds import ContestRole
from noren.contest.results import RESULTS_FILES, RoundResults, results_html, results_json
from noren.contest.schemas import ContestOut, Described, HeadOut, MemberOut, PhaseOut, RoundOut, StrictModel, TeamOut
from noren.contest.service import ArenaIdentity, ContestAccess, ContestService, NewContest
from noren.contest.standings import BoardKind
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
def list_contests(who: Asking, service: ArenaService) -> list[ContestSummary]:
    """Return the contests that one may see."""
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
async def create_contest(request: Request, who: Asking, service: ArenaService) -> ContestOut:
    """Create a contest: a form with ``contest`` (JSON) and a file for each round, under the round's name."""
    service.may_create(who)  # before anything is read
    if not request.headers.get("content-type", "").startswith(_FORM):
        raise ParameterError(_("a contest comes as a form with files; send multipart/form-data"))
    async with request.form(max_files=_MOST_ROUNDS, max_fields=_MOST_ROUNDS, max_part_size=2**20) as form:
        given = form.get("contest")
        text = await given.read(2**20) if isinstance(given, UploadFile) else given
        with name_broken_rule("contest"):
            asked = NewContest.model_validate_json(text or "")
        files = {name: one for name, one in form.multi_items() if name != "contest" and isinstance(one, UploadFile)}
        if len(files) + 1 < len(form.multi_items()):
            raise ParameterError(_("every part beside contest is a file, one for each round; send each once"))
        data = {name: (one.filename or name, one.file) for name, one in files.items()}
        return contest_out(ContestAccess(service, who, await run_in_threadpool(service.create, who, asked, data)))


@contests.get("/contests/{contest}")
def show_contest(contest: ContestName, who: Asking, service: ArenaService) -> ContestOut:
    """Return a contest: rules, schedule, and the head of its log."""
    return contest_out(service.visit(who, contest))


@contests.get("/contests/{contest}/rulebook.toml", response_class=Response, responses=_TOML)
def download_rulebook(contest: ContestName, who: Asking, service: ArenaService) -> Response:
    """Return the rulebook as its file."""
    return Response(
        service.visit(who, contest).contest.rulebook.to_toml(), media_type="application/toml; charset=utf-8"
    )


@contests.get("/contests/{contest}/teams")
def list_teams(contest: ContestName, who: Asking, service: ArenaService) -> list[TeamOut]:
    """Return the teams in the order of their registration."""
    visit = service.visit(who, contest)
    everybody, own = visit.role == ContestRole.ORGANISER, visit.own
    return [team_out(one, people=everybody or one == own) for one in visit.contest.teams.values()]


teams = APIRouter(tags=["teams"])

_CODES, _HOUR = 30, 3600.0
"""So many codes one account may try in an hour."""


class NewTeamOut(BaseModel):
    """A new team, and the code by which others join; nobody can look it up later."""

    team: TeamOut
    code: str


class TeamCodeOut(BaseModel):
    """The code by which others join."""

    code: str


def _few_codes(service: ContestService, who: ArenaIdentity, asked: Mapping[str, Any]) -> None:
    """Refuse whoever tries many codes: of teams, or of invitations."""
    if "code" in asked or asked["invitation"]:
        not_too_often(service, f"code/{who.somebody().id}", _CODES, _HOUR)


add_action(
    teams, actions.register, NewTeamOut,
    lambda visit, given: {"team": team_out(visit.team(), people=True), "code": given["code"]}, _few_codes,
)  # fmt: skip
add_action(teams, actions.join, TeamOut, lambda visit, _given: team_out(visit.team(), people=True), _few_codes)
add_action(teams, actions.leave)
add_action(teams, actions.new_code, TeamCodeOut, lambda _visit, given: {"code": given["code"]})


@teams.get("/contests/{contest}/team")
def show_team(contest: ContestName, who: Asking, service: ArenaService) -> TeamOut:
    """Return one's team."""
    return team_out(service.visit(who, contest).own_team(), people=True)


organising = APIRouter(tags=["organising"])


class CodeOut(BaseModel):
    """A code; it is told once, and nobody can look it up later."""

    code: str


class ScoringJobOut(Described):
    """A piece of work; ``error`` says why it failed, or why it is tried again."""

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
    """Two files of different teams that are nearly the same, and the share in which they are."""

    submissions: list[str]
    teams: list[str]
    share: float


class HookIn(StrictModel):
    """An address that is told of news."""

    url: str = Field(max_length=2_000, examples=["https://cup.example/news"])


class HookOut(Described):
    """An address that is told of news; ``disabled`` since when it is not."""

    id: str
    url: str
    created: str
    disabled: str | None


class NewHookOut(BaseModel):
    """A new hook, and the secret by which its messages are signed; nobody can look that up later."""

    hook: HookOut
    secret: str


# --- actions ---------------------------------------------------------------------------------------------------------


def _changed(visit: ContestAccess, _given: Mapping[str, str]) -> ContestOut:
    return contest_out(visit)


add_action(organising, actions.pause, ContestOut, _changed)
add_action(organising, actions.resume, ContestOut, _changed)
add_action(organising, actions.reschedule, ContestOut, _changed)
add_action(organising, actions.change_settings, ContestOut, _changed)
add_action(organising, actions.rescore, ContestOut, _changed)
add_action(organising, actions.invite, CodeOut, lambda _visit, given: {"code": given["code"]})
add_action(organising, actions.disqualify, ContestOut, _changed)
add_action(organising, actions.reinstate, ContestOut, _changed)


@organising.get("/contests/{contest}/flags")
def list_flags(contest: ContestName, who: Asking, service: ArenaService) -> list[FlagOut]:
    """Return files of different teams that are nearly the same."""
    found = service.visit(who, contest).organised().contest
    return [
        FlagOut(
            submissions=one["submissions"],
            teams=[found.submissions[name].team for name in one["submissions"]],
            share=one["share"],
        )
        for one in found.flags
    ]


# --- the queue -------------------------------------------------------------------------------------------------------


@organising.get("/contests/{contest}/jobs")
def list_jobs(contest: ContestName, who: Asking, service: ArenaService) -> list[ScoringJobOut]:
    """Return what was and is to be judged or sent, the oldest first."""
    visit = service.visit(who, contest).organised()
    return [ScoringJobOut.model_validate(job) for job in service.arena.store.jobs.of(visit.contest.id)]


@organising.post("/contests/{contest}/jobs/{job}/retry", status_code=204)
def retry(contest: ContestName, job: Ident, who: Asking, service: ArenaService) -> Response:
    """Let a job that was given up be tried again."""
    service.visit(who, contest).retry(job)
    return Response(status_code=204)


# --- webhooks --------------------------------------------------------------------------------------------------------


@organising.get("/contests/{contest}/hooks")
def list_hooks(contest: ContestName, who: Asking, service: ArenaService) -> list[HookOut]:
    """Return the addresses that are told of news."""
    visit = service.visit(who, contest).organised()
    return [HookOut.model_validate(hook) for hook in service.arena.store.hooks.of(visit.contest.id)]


@organising.post("/contests/{contest}/hooks", status_code=201)
def add_hook(contest: ContestName, asked: HookIn, who: Asking, service: ArenaService) -> NewHookOut:
    """Add an address; messages to it are signed with a secret that is told once."""
    hook, secret = service.visit(who, contest).add_hook(asked.url)
    return NewHookOut(hook=HookOut.model_validate(hook), secret=secret)


@organising.delete("/contests/{contest}/hooks/{hook}", status_code=204)
def remove_hook(contest: ContestName, hook: Ident, who: Asking, service: ArenaService) -> Response:
    """Tell an address no more."""
    service.visit(who, contest).remove_hook(hook)
    return Response(status_code=204)


# --- what is told -----------------------------------------------------------------------------------------------------


def team_out(team: Team, *, people: bool) -> TeamOut:
    """Describe a team."""
    members = [MemberOut(**vars(one)) for one in team.members.values()] if people else []
    return TeamOut(**vars(team) | {"members": len(team.members), "people": members})


def contest_out(visit: ContestAccess) -> ContestOut:
    """Describe a contest to somebody."""
    contest, now, own = visit.contest, visit.now, visit.own
    rounds = [
        RoundOut(**vars(one) | {"digest": one.data, "targets": len(contest.targets.get(one.id, {}))})
        for one in contest.rounds.values()
    ]
    told = {
        "rulebook_digest": contest.rulebook.digest,
        "phases": phases_out(visit),
        "rounds": rounds,
        "teams": len(contest.teams),
        "head": HeadOut(position=contest.position, digest=contest.digest, time=contest.time),
        "now": now,
        "role": visit.role,
        "team": None if own is None else team_out(own, people=True),
        "has_results": contest.has_results(now),
        "salt": contest.salt if contest.has_results(now) else None,
    }
    return ContestOut(**vars(contest) | told)


def phases_out(visit: ContestAccess) -> list[PhaseOut]:
    """Describe the phases of a contest."""
    contest = visit.contest
    return [
        PhaseOut(**one.model_dump(), open=one.is_open(visit.now) and contest.paused is None) for one in contest.phases
    ]


# --- how it stands and what came of it: boards, the attack matrix, results, the log, the archive ----------------------

outcomes = APIRouter(tags=["outcomes"])

_LINES = "application/x-ndjson"


class TermOut(BaseModel):
    """A term of the score."""

    measure: str
    weight: float
    value: float | None


class StandingOut(BaseModel):
    """How one team stands; where it has no rank, ``status`` and ``reason`` say why."""

    rank: int | None
    team: str
    name: str
    number: int
    status: str
    reason: str
    submission: str | None
    score: float | None
    terms: list[TermOut]
    values: dict[str, float]
    broken: list[str]
    attackers: int
    effective: int
    verdict: str | None
    sentence: str | None


class BoardOut(BaseModel):
    """The leaderboard of a round: live, frozen since ``at``, or final."""

    round: str
    kind: BoardKind
    at: str
    attacks_over: bool
    withheld: bool
    note: str
    standings: list[StandingOut]


@outcomes.get("/contests/{contest}/rounds/{round}/leaderboard")
def leaderboard(contest: ContestName, round: RoundName, who: Asking, service: ArenaService) -> BoardOut:  # noqa: A002
    """Return the leaderboard of a round as one may see it now."""
    made, _since = service.visit(who, contest).board(round)
    return BoardOut(**made.as_dict(), note=made.note)


@outcomes.get("/contests/{contest}/rounds/{round}/matrix")
def matrix(contest: ContestName, round: RoundName, who: Asking, service: ArenaService) -> dict[str, Any]:  # noqa: A002
    """Return who broke whom: named, right, needed, chance and interval of every pair of teams."""
    return _round(service.visit(who, contest), round).matrix.as_dict()


@outcomes.get("/contests/{contest}/rounds/{round}/stability")
def stability(
    contest: ContestName,
    round: RoundName,  # noqa: A002
    who: Asking,
    service: ArenaService,
) -> dict[str, Any] | None:
    """Return how firm ranks are under resampling of customers; nothing where nothing can be resampled."""
    found = _round(service.visit(who, contest), round).stability
    return None if found is None else asdict(found)


# --- results ---------------------------------------------------------------------------------------------------------


@outcomes.get("/contests/{contest}/results.json", response_class=Response, responses=described_file("application/json"))
def results_as_json(contest: ContestName, who: Asking, service: ArenaService) -> Response:
    """Return all results as plain data."""
    return _sent(results_json(service.visit(who, contest).results()), "application/json", f"{contest}-results.json")


@outcomes.get("/contests/{contest}/results.html", response_class=Response, responses=described_file("text/html"))
def results_as_page(contest: ContestName, who: Asking, service: ArenaService) -> Response:
    """Return all results as a page to keep, in the language one speaks."""
    text = results_html(service.visit(who, contest).results())
    return _sent(text, "text/html; charset=utf-8", f"{contest}-results.html")


@outcomes.get("/contests/{contest}/results.csv", response_class=Response, responses=described_file("text/csv"))
def results_as_table(
    contest: ContestName,
    who: Asking,
    service: ArenaService,
    table: Annotated[Literal["standings", "matrix", "stability"], Query()] = "standings",
) -> Response:
    """Return a table of the results; no cell of it is a formula."""
    text = RESULTS_FILES[f"{table}.csv"](service.visit(who, contest).results())
    return _sent(text, "text/csv; charset=utf-8", f"{contest}-{table}.csv")


# --- the log ---------------------------------------------------------------------------------------------------------


@outcomes.get("/contests/{contest}/log", response_class=StreamingResponse, responses=described_file(_LINES))
def download_log(
    contest: ContestName, who: Asking, service: ArenaService, start: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0
) -> Response:
    """Return the log, one entry a line: to the organiser at any time, to everybody when results are open."""
    entries = service.visit(who, contest).log(start)
    lines = (json.dumps(one.as_dict(), ensure_ascii=False, sort_keys=True).encode() + b"\n" for one in entries)
    return StreamingResponse(lines, media_type=_LINES)


@outcomes.get("/contests/{contest}/archive", response_class=FileResponse, responses=described_file("application/zip"))
def download_archive(contest: ContestName, who: Asking, service: ArenaService) -> Response:
    """Return the whole contest as one file that anybody can replay; there is none before the results."""
    path = service.visit(who, contest).archive()
    return FileResponse(path, media_type="application/zip", filename=f"{contest}.zip")


def _round(visit: ContestAccess, round_: str) -> RoundResults:
    found = next((one for one in visit.results().rounds if one.round == round_), None)
    if found is None:
        raise RefusedError(_("there is no such round"), status=404)
    return found


def _sent(text: str, kind: str, name: str) -> Response:
    return Response(text, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})
