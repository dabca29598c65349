"""What organisers do: every act stands in the log, with its reason."""

from __future__ import annotations

import secrets

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from noren.contest import acts
from noren.contest.acts import RefusedError
from noren.contest.api.models import ContestName, ContestOut, Ident, Reason, Strict, contest_out
from noren.contest.api.surroundings import Asking, TheDesk
from noren.contest.phases import Phase
from noren.contest.state import Settings
from noren.contest.store.jobs import Job
from noren.contest.store.sealed import Hook
from noren.contest.webhooks import check_address
from noren.i18n import _

router = APIRouter(tags=["organising"])

_MOST_HOOKS = 10


class ReasonIn(Strict):
    """Why something is done."""

    reason: Reason


class PhasesIn(ReasonIn):
    """All phases of the contest, and why they change."""

    phases: list[Phase] = Field(max_length=100)


class SettingsIn(ReasonIn):
    """All settings of the contest, and why they change."""

    settings: Settings


class RescoreIn(ReasonIn):
    """By which scorer all is judged again."""

    scorer: str = Field(max_length=100)


class CodeOut(BaseModel):
    """A code; it is told once, and nobody can look it up later."""

    code: str


class JobOut(BaseModel):
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

    @classmethod
    def of(cls, job: Job) -> JobOut:
        """Describe a job; its order is the judges' alone."""
        return cls(**{name: getattr(job, name) for name in cls.model_fields if name != "state"}, state=str(job.state))


class FlagOut(BaseModel):
    """Two files of different teams that are nearly the same, and the share in which they are."""

    submissions: list[str]
    teams: list[str]
    share: float


class HookIn(Strict):
    """An address that is told of news."""

    url: str = Field(max_length=2_000, examples=["https://cup.example/news"])


class HookOut(BaseModel):
    """An address that is told of news; ``disabled`` since when it is not."""

    id: str
    url: str
    created: str
    disabled: str | None

    @classmethod
    def of(cls, hook: Hook) -> HookOut:
        """Describe a hook; its secret is told once."""
        return cls(id=hook.id, url=hook.url, created=hook.created, disabled=hook.disabled)


class NewHookOut(BaseModel):
    """A new hook, and the secret by which its messages are signed; nobody can look that up later."""

    hook: HookOut
    secret: str


# --- the contest -----------------------------------------------------------------------------------------------------


@router.post("/contests/{contest}/pause")
def pause(contest: ContestName, asked: ReasonIn, who: Asking, desk: TheDesk) -> ContestOut:
    """Let nothing be handed in until the contest is resumed."""
    return contest_out(desk, who, desk.organise(who, contest, acts.pause, reason=asked.reason))


@router.post("/contests/{contest}/resume")
def resume(contest: ContestName, who: Asking, desk: TheDesk) -> ContestOut:
    """Go on."""
    return contest_out(desk, who, desk.organise(who, contest, acts.resume))


@router.put("/contests/{contest}/phases")
def reschedule(contest: ContestName, asked: PhasesIn, who: Asking, desk: TheDesk) -> ContestOut:
    """Change the times of phases."""
    state = desk.organise(who, contest, acts.reschedule, phases=asked.phases, reason=asked.reason)
    return contest_out(desk, who, state)


@router.put("/contests/{contest}/settings")
def change_settings(contest: ContestName, asked: SettingsIn, who: Asking, desk: TheDesk) -> ContestOut:
    """Change settings."""
    state = desk.organise(who, contest, acts.change_settings, settings=asked.settings, reason=asked.reason)
    return contest_out(desk, who, state)


@router.post("/contests/{contest}/rescore")
def rescore(contest: ContestName, asked: RescoreIn, who: Asking, desk: TheDesk) -> ContestOut:
    """Judge all again by a named scorer."""
    return contest_out(desk, who, desk.rescore(who, contest, asked.scorer, asked.reason))


# --- teams -----------------------------------------------------------------------------------------------------------


@router.post("/contests/{contest}/invitations", status_code=201)
def invite(contest: ContestName, who: Asking, desk: TheDesk) -> CodeOut:
    """Make a code that lets one team in."""
    return CodeOut(code=desk.invite(who, contest))


@router.post("/contests/{contest}/teams/{team}/disqualify")
def disqualify(contest: ContestName, team: Ident, asked: ReasonIn, who: Asking, desk: TheDesk) -> ContestOut:
    """Take a team out of the ranking."""
    return contest_out(desk, who, desk.organise(who, contest, acts.disqualify, team=team, reason=asked.reason))


@router.post("/contests/{contest}/teams/{team}/reinstate")
def reinstate(contest: ContestName, team: Ident, asked: ReasonIn, who: Asking, desk: TheDesk) -> ContestOut:
    """Let a team back in."""
    return contest_out(desk, who, desk.organise(who, contest, acts.reinstate, team=team, reason=asked.reason))


@router.get("/contests/{contest}/flags")
def list_flags(contest: ContestName, who: Asking, desk: TheDesk) -> list[FlagOut]:
    """Return files of different teams that are nearly the same."""
    found = desk.organised(who, contest)
    return [
        FlagOut(
            submissions=one["submissions"],
            teams=[found.submissions[name].team for name in one["submissions"]],
            share=one["share"],
        )
        for one in found.flags
    ]


# --- the queue -------------------------------------------------------------------------------------------------------


@router.get("/contests/{contest}/jobs")
def list_jobs(contest: ContestName, who: Asking, desk: TheDesk) -> list[JobOut]:
    """Return what was and is to be judged or sent, the oldest first."""
    return [JobOut.of(job) for job in desk.arena.store.jobs.of(desk.organised(who, contest).id)]


@router.post("/contests/{contest}/jobs/{job}/retry", status_code=204)
def retry(contest: ContestName, job: Ident, who: Asking, desk: TheDesk) -> Response:
    """Let a job that was given up be tried again."""
    desk.retry(who, contest, job)
    return Response(status_code=204)


# --- webhooks --------------------------------------------------------------------------------------------------------


@router.get("/contests/{contest}/hooks")
def list_hooks(contest: ContestName, who: Asking, desk: TheDesk) -> list[HookOut]:
    """Return the addresses that are told of news."""
    return [HookOut.of(hook) for hook in desk.arena.store.hooks.of(desk.organised(who, contest).id)]


@router.post("/contests/{contest}/hooks", status_code=201)
def add_hook(contest: ContestName, asked: HookIn, who: Asking, desk: TheDesk) -> NewHookOut:
    """Add an address; messages to it are signed with a secret that is told once."""
    found, hooks = desk.organised(who, contest), desk.arena.store.hooks
    check_address(asked.url)
    if sum(hook.disabled is None for hook in hooks.of(found.id)) >= _MOST_HOOKS:
        raise RefusedError(_("a contest has at most {most} webhooks").format(most=_MOST_HOOKS), _("remove one"))
    secret = secrets.token_hex(32)
    return NewHookOut(hook=HookOut.of(hooks.add(found.id, asked.url, secret.encode())), secret=secret)


@router.delete("/contests/{contest}/hooks/{hook}", status_code=204)
def remove_hook(contest: ContestName, hook: Ident, who: Asking, desk: TheDesk) -> Response:
    """Tell an address no more."""
    if not desk.arena.store.hooks.disable(desk.organised(who, contest).id, hook):
        raise RefusedError(_("there is no such webhook"), status=404)
    return Response(status_code=204)
