"""What leaves a studio: files, reports and papers; approvals and records of publication; the ledger."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from noren.judgement.rule import RULES
from noren.studio import exports, handing_out, project_ledger
from noren.studio.acts import Step, Strict
from noren.studio.api.models import Ident, JobOut, TheStudio, TheWho, said_job
from noren.studio.handing_out import Decision, Publication, ledger_release, release_of_run
from noren.studio.users import UserRole, least
from noren.web.refusals import errors

router = APIRouter(tags=["exports"], responses=errors(400, 401, 403, 404, 408, 409, 413, 422, 507))

_BYTES = {"schema": {"type": "string", "format": "binary"}}


def _file(description: str, *kinds: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"description": description, "content": dict.fromkeys(kinds, _BYTES)}}


def sent(download: exports.Download) -> StreamingResponse:
    """Return a download as an answer that browsers keep as a file and nobody else keeps."""
    headers = {"Content-Disposition": download.disposition, "Cache-Control": "no-store"}
    return StreamingResponse(download.chunks, media_type=download.media_type, headers=headers)


class Confirmation(Strict):
    """That whoever asks knows what the secret part is."""

    confirmed: Literal[True] = Field(description="I keep this file to myself: it tells who is behind each pseudonym")


@router.get(
    "/runs/{job}/public",
    response_class=StreamingResponse,
    responses=_file(
        "a ZIP archive: public.parquet, statement.json and, where asked for, public.csv", "application/zip"
    ),
)
def download_public_part(
    job: Ident, studio: TheStudio, form: Annotated[exports.Form, Query()] = "parquet"
) -> StreamingResponse:
    """Return the public part of a release and its statement, and nothing else: this can be handed out."""
    return sent(exports.public_part(studio, job, form))


@router.post(
    "/runs/{job}/secret",
    response_class=StreamingResponse,
    responses=_file("a ZIP archive of the secret part", "application/zip"),
)
def download_secret_part(job: Ident, asked: Confirmation, studio: TheStudio) -> StreamingResponse:
    """Return the secret part: who is behind each pseudonym, where each row came from, and the seed. Keep it."""
    return sent(exports.secret_part(studio, job, confirmed=asked.confirmed))


@router.get(
    "/runs/{job}/script",
    response_class=StreamingResponse,
    responses=_file("a script, or a ZIP archive of both", "application/zip", "text/x-shellscript", "text/x-python"),
)
def download_script(
    job: Ident, studio: TheStudio, form: Annotated[exports.ScriptForm, Query()] = "zip"
) -> StreamingResponse:
    """Return what was done, as commands and as Python, with what they read; the seed is left out."""
    return sent(exports.script(studio, job, form))


@router.get(
    "/jobs/{job}/report",
    response_class=StreamingResponse,
    responses=_file("the report: one HTML page that stands alone", "text/html"),
)
@least(UserRole.REVIEWER)
def download_report(job: Ident, studio: TheStudio) -> StreamingResponse:
    """Return the report that a job wrote (``POST /projects/{project}/reports`` starts one); it shows original rows."""
    return sent(exports.report_file(studio, job))


@router.post("/runs/{job}/reconstruction", status_code=202)
def start_reconstruction(job: Ident, studio: TheStudio) -> JobOut:
    """Estimate in the background what a table perturbed by retention was before, from the public part alone."""
    return said_job(studio, exports.reconstruct(studio, job))


@router.get(
    "/jobs/{job}/reconstruction",
    response_class=StreamingResponse,
    responses=_file("the reconstructed table", "text/csv", "application/vnd.apache.parquet"),
)
def download_reconstruction(
    job: Ident, studio: TheStudio, form: Annotated[exports.TableForm, Query()] = "csv"
) -> StreamingResponse:
    """Return the table that a job reconstructed."""
    return sent(exports.reconstructed_table(studio, job, form))


approval_router = APIRouter(tags=["handing out"], responses=errors(400, 401, 403, 404, 408, 409, 413, 422, 507))

Number = Annotated[int, Path(ge=1, le=10**6)]
_LEDGER = "/projects/{project}/ledger/releases/{number}"


class Refusal(Strict):
    """Why a release is not to be handed out."""

    reason: str = Field(min_length=1, max_length=500)


class PublicationIn(Strict):
    """To whom a release is handed out, and until when it may be used."""

    to: str = Field(min_length=1, max_length=500, examples=["Example University, laboratory of Prof. A"])
    until: str | None = Field(default=None, max_length=10, examples=["2027-03-31"])
    despite: bool = Field(default=False, description="hand it out although the rule does not call it safe")


class DecisionOut(BaseModel):
    """A reviewer's decision, with how the release was judged on that day."""

    decision: str
    who: str
    when: str
    reason: str
    digest: str
    judged: dict[str, Any]
    void: str = Field(description="why an approval counts no more; empty where it stands")


class PublicationOut(BaseModel):
    """That a release was handed out, with how it was judged on that day."""

    what: str = Field(description="the run, or ledger-N for a release of the ledger")
    label: str
    who: str
    when: str
    to: str
    until: str | None
    over: bool
    digest: str = Field(description="of the public rows, as noren digest prints it")
    rows: int
    approved_by: str | None
    despite: bool
    judged: dict[str, Any]
    entry: str = Field(description="the digest of its entry of the trail")


def _decided(decision: Decision) -> DecisionOut:
    judged = dict(decision.judged) | {"sentence": decision.sentence}
    return DecisionOut.model_validate(decision.__dict__ | {"judged": judged})


def _recorded(publication: Publication) -> PublicationOut:
    return PublicationOut.model_validate(publication.as_dict())


@approval_router.post("/runs/{job}/approval", status_code=201)
@least(UserRole.REVIEWER)
def approve_run(job: Ident, studio: TheStudio, who: TheWho) -> DecisionOut:
    """Approve the release of a run as it is; nobody approves what she made."""
    return _decided(handing_out.approve(studio, release_of_run(studio, job), who))


@approval_router.post("/runs/{job}/refusal", status_code=201)
@least(UserRole.REVIEWER)
def refuse_run(job: Ident, asked: Refusal, studio: TheStudio, who: TheWho) -> DecisionOut:
    """Refuse the release of a run, for a reason."""
    return _decided(handing_out.refuse(studio, release_of_run(studio, job), who, asked.reason))


@approval_router.get("/runs/{job}/decision")
def show_decision(job: Ident, studio: TheStudio) -> DecisionOut | None:
    """Return the last approval or refusal of a run's release."""
    decision = handing_out.decision_on(studio, release_of_run(studio, job))
    return None if decision is None else _decided(decision)


@approval_router.post("/runs/{job}/publications", status_code=201)
def publish_run(job: Ident, asked: PublicationIn, studio: TheStudio, who: TheWho) -> PublicationOut:
    """Record that the release of a run is handed out."""
    given = asked.model_dump()
    return _recorded(handing_out.publish(studio, release_of_run(studio, job), who, **given))


@approval_router.get("/projects/{project}/publications")
def list_publications(project: Ident, studio: TheStudio) -> list[PublicationOut]:
    """Return what was handed out of a project, the newest first."""
    studio.project(project)
    return [_recorded(one) for one in handing_out.publications(studio, project)]


@approval_router.post(_LEDGER + "/approval", status_code=201)
@least(UserRole.REVIEWER)
def approve_release(project: Ident, number: Number, studio: TheStudio, who: TheWho) -> DecisionOut:
    """Approve a release of the ledger."""
    return _decided(handing_out.approve(studio, ledger_release(studio, project, number), who))


@approval_router.post(_LEDGER + "/refusal", status_code=201)
@least(UserRole.REVIEWER)
def refuse_release(project: Ident, number: Number, asked: Refusal, studio: TheStudio, who: TheWho) -> DecisionOut:
    """Refuse a release of the ledger, for a reason."""
    return _decided(handing_out.refuse(studio, ledger_release(studio, project, number), who, asked.reason))


@approval_router.post(_LEDGER + "/publications", status_code=201)
def publish_release(
    project: Ident, number: Number, asked: PublicationIn, studio: TheStudio, who: TheWho
) -> PublicationOut:
    """Record that a release of the ledger is handed out."""
    given = asked.model_dump()
    return _recorded(handing_out.publish(studio, ledger_release(studio, project, number), who, **given))


ledger_router = APIRouter(tags=["ledger"], responses=errors(400, 401, 403, 404, 408, 409, 413, 422, 507))

Limit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
RuleWord = Annotated[str, Field(pattern=rf"^({'|'.join(RULES)}|[0-9.][0-9./]{{0,11}})$")]


class LedgerIn(Strict):
    """How each period is protected, how long it is, and how much risk all releases together may carry."""

    steps: list[Step] = Field(default=[], max_length=8, description="left out: noise, and fresh names")
    period: Literal["month", "week", "quarter"] = "month"
    budget: dict[Literal["um", "mm", "emm"], Limit] = Field(default={})
    attacks: list[str] | None = Field(default=None, min_length=1, max_length=60)
    rule: RuleWord = Field(default="partner", description="a rule's name, or a tolerance such as 0.2 or 1/8")


class PeriodIn(Strict):
    """Which period; the first that was not released where left out."""

    period: str | None = Field(default=None, max_length=20, examples=["2011/1"])


@ledger_router.get("/projects/{project}/ledger")
def show_ledger(project: Ident, studio: TheStudio) -> dict[str, Any]:
    """Return what was released, the risk after each release, and what is left of the budget."""
    return project_ledger.told(studio, project)


@ledger_router.post("/projects/{project}/ledger", status_code=201)
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


@ledger_router.post("/projects/{project}/ledger/weigh", status_code=202)
def weigh_period(project: Ident, asked: PeriodIn, studio: TheStudio) -> JobOut:
    """See what the release of a period would add to the risk; nothing is released."""
    return said_job(studio, project_ledger.start(studio, project, "weigh", asked.period))


@ledger_router.post("/projects/{project}/ledger/releases", status_code=202)
def release_period(project: Ident, asked: PeriodIn, studio: TheStudio) -> JobOut:
    """Release a period, unless the budget would be broken."""
    return said_job(studio, project_ledger.start(studio, project, "add", asked.period))


@ledger_router.get(
    "/projects/{project}/ledger/releases/{number}/public",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/zip": {}}, "description": "the public part and the statement"}},
)
def download_release(
    project: Ident, number: Annotated[int, Path(ge=1, le=10**6)], studio: TheStudio
) -> StreamingResponse:
    """Return the public part of a release of the ledger, and nothing else."""
    return sent(project_ledger.public_part(studio, project, number))
