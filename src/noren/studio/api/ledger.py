"""The ledger of a project."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from noren.judgement.rule import RULES
from noren.studio import project_ledger
from noren.studio.api.exports import sent
from noren.studio.api.models import Ident, JobOut, Step, said_job
from noren.studio.api.surroundings import TheStudio
from noren.web.error_models import errors

router = APIRouter(tags=["ledger"], responses=errors(400, 401, 403, 404, 408, 409, 413, 422, 507))

Limit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
RuleWord = Annotated[str, Field(pattern=rf"^({'|'.join(RULES)}|[0-9.][0-9./]{{0,11}})$")]


class LedgerIn(BaseModel):
    """How each period is protected, how long it is, and how much risk all releases together may carry."""

    model_config = ConfigDict(extra="forbid")

    steps: list[Step] = Field(default=[], max_length=8, description="left out: noise, and fresh names")
    period: Literal["month", "week", "quarter"] = "month"
    budget: dict[Literal["um", "mm", "emm"], Limit] = {}
    attacks: list[str] | None = Field(default=None, min_length=1, max_length=60)
    rule: RuleWord = Field(default="partner", description="a rule's name, or a tolerance such as 0.2 or 1/8")


class PeriodIn(BaseModel):
    """Which period; the first that was not released where left out."""

    model_config = ConfigDict(extra="forbid")

    period: str | None = Field(default=None, max_length=20, examples=["2011/1"])


@router.get("/projects/{project}/ledger")
def show_ledger(project: Ident, studio: TheStudio) -> dict[str, Any]:
    """Return what was released, the risk after each release, and what is left of the budget."""
    return project_ledger.told(studio, project)


@router.post("/projects/{project}/ledger", status_code=201)
def make_ledger(project: Ident, asked: LedgerIn, studio: TheStudio) -> dict[str, Any]:
    """Make the empty ledger of a project."""
    steps = [step.model_dump() for step in asked.steps] or project_ledger.usual_steps()
    return project_ledger.make(
        studio,
        project,
        steps=steps,
        period=asked.period,
        budget={str(name): limit for name, limit in asked.budget.items()},
        attacks=asked.attacks,
        rule=asked.rule,
    )


@router.post("/projects/{project}/ledger/weigh", status_code=202)
def weigh_period(project: Ident, asked: PeriodIn, studio: TheStudio) -> JobOut:
    """See what the release of a period would add to the risk; nothing is released."""
    return said_job(project_ledger.weigh(studio, project, asked.period), studio.jobs)


@router.post("/projects/{project}/ledger/releases", status_code=202)
def release_period(project: Ident, asked: PeriodIn, studio: TheStudio) -> JobOut:
    """Release a period, unless the budget would be broken."""
    return said_job(project_ledger.add(studio, project, asked.period), studio.jobs)


@router.get(
    "/projects/{project}/ledger/releases/{number}/public",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/zip": {}}, "description": "the public part and the statement"}},
)
def download_release(
    project: Ident, number: Annotated[int, Path(ge=1, le=10**6)], studio: TheStudio
) -> StreamingResponse:
    """Return the public part of a release of the ledger, and nothing else."""
    return sent(project_ledger.public_part(studio, project, number))
