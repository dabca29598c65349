"""What organisers do: every act stands in the log, with its reason."""

from __future__ import annotations

from fastapi import APIRouter, Response
from pydantic import BaseModel, Field

from noren.contest import acts
from noren.contest.api.models import ContestOut, Strict, contest_out
from noren.contest.dependencies import Asking, ContestName, Ident, TheDesk, add_action
from noren.contest.desk import Desk, Done, Who
from noren.contest.store.jobs import Job
from noren.contest.store.sealing import Hook

router = APIRouter(tags=["organising"])


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


# --- actions ---------------------------------------------------------------------------------------------------------


def _contest(desk: Desk, who: Who, done: Done) -> ContestOut:
    return contest_out(desk, who, done.state)


def _code(_desk: Desk, _who: Who, done: Done) -> CodeOut:
    return CodeOut(code=done.given["code"])


add_action(router, acts.pause, _contest)
add_action(router, acts.resume, _contest)
add_action(router, acts.reschedule, _contest)
add_action(router, acts.change_settings, _contest)
add_action(router, acts.rescore, _contest)
add_action(router, acts.invite, _code)
add_action(router, acts.disqualify, _contest)
add_action(router, acts.reinstate, _contest)


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
    hook, secret = desk.add_hook(who, contest, asked.url)
    return NewHookOut(hook=HookOut.of(hook), secret=secret)


@router.delete("/contests/{contest}/hooks/{hook}", status_code=204)
def remove_hook(contest: ContestName, hook: Ident, who: Asking, desk: TheDesk) -> Response:
    """Tell an address no more."""
    desk.remove_hook(who, contest, hook)
    return Response(status_code=204)
