"""What requests of the REST interface bring, find around them and are answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, TypeVar, cast

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from noren.studio.actions import MethodStep
from noren.studio.service import Studio
from noren.studio.store import Job, State
from noren.studio.users import StudioIdentity
from noren.studio.work import stage_of, time_left
from noren.web.actions import Action, add_route
from noren.web.errors import ErrorText


def _studio(request: Request) -> Studio:
    return cast("Studio", request.app.state.studio)


def _who(request: Request) -> StudioIdentity:
    return cast("StudioIdentity", request.state.who)


TheWho = Annotated[StudioIdentity, Depends(_who)]
TheStudio = Annotated[Studio, Depends(_studio)]
_One = TypeVar("_One")
Name = Annotated[str, Query(min_length=1, max_length=200)]
Ident = Annotated[str, Field(pattern=r"^[a-z0-9]{12}$", description="an identifier of a project or a run")]


def add_action(
    router: APIRouter,
    act: Action[..., Any],
    model: Any = None,
    answer: Callable[[Studio, Any], Any] = lambda _studio, made: made,
    **about: Any,
) -> None:
    """Add the route of an action: ``answer`` makes a ``model`` of what it returns."""

    def run(studio: Studio, who: StudioIdentity, **values: Any) -> Any:
        return answer(studio, act(studio, **values, **({"who": who} if "who" in act.parameters else {})))

    add_route(router, act, run, {"studio": TheStudio, "who": TheWho}, model, **about)


BYTES: Final = {"schema": {"type": "string", "format": "binary"}}


def streamed(description: str, *kinds: str, schema: Mapping[str, Any] = BYTES) -> dict[str, Any]:
    """Return what FastAPI is told of a route whose answer is a stream: a file, unless another schema is given."""
    answer = {"description": description, "content": dict.fromkeys(kinds, schema)}
    return {"response_class": StreamingResponse, "responses": {200: answer}}


class ListSlice(BaseModel):
    """Which part of a list to return; ``X-Total-Count`` says how long the whole is."""

    start: int = Field(default=0, ge=0, le=10**6)
    count: int | None = Field(default=None, ge=1, le=1000, description="left out: all from the start on")

    def part(self, whole: Sequence[_One], response: Response) -> Sequence[_One]:
        """Return the part that is asked for, and tell how long the whole list is."""
        response.headers["X-Total-Count"] = str(len(whole))
        return whole[self.start :][: self.count]


class ProjectOut(BaseModel):
    """A project. ``facts`` tell what was read, once it was."""

    id: str
    name: str
    created: str
    source: dict[str, Any]
    ready: bool = Field(validation_alias="is_ready")
    facts: dict[str, Any]
    rule: str = Field(description="what its releases are judged by: the name of a rule, or a tolerance")
    archived: bool


class JobOut(BaseModel):
    """A run or another piece of work. The seed is a secret and not told."""

    id: str
    project: str
    kind: str
    label: str
    sweep: str | None
    state: str
    done: float
    words: str
    best: float | None
    can_stop: bool = Field(description="whether it may be asked to stop and keep the best so far")
    left: int | None = Field(description="about how many seconds it will still take, once 5 % are done")
    stage: str = Field(description="of a run: protect, attack, measure, show")
    steps: list[MethodStep]
    summary: dict[str, Any]
    error: ErrorText | None
    created: str
    started: str | None
    ended: str | None


def job_out(studio: Studio, job: Job) -> JobOut:
    """Return a job as the interface tells it."""
    live = studio.jobs.live(job)
    more = {
        "left": None if live.state != State.RUNNING or job.elapsed is None else time_left(job.elapsed, live.done),
        "stage": stage_of(job.kind, live.done),
        "steps": job.order.get("steps", []),
        "error": job.error or None,
    }
    return JobOut(**job.__dict__ | live.__dict__ | more)
