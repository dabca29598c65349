"""What leaves a studio: files, reports and papers; approvals and records of publication; the ledger."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from noren.studio import exports, handing_out
from noren.studio.acts import releases as release_acts
from noren.studio.api.models import Ident, JobOut, TheStudio, add_action, said_job
from noren.studio.handing_out import Decision, Publication, release_of_run
from noren.studio.service import Studio
from noren.studio.users import UserRole, least
from noren.web.refusals import errors

exports_router = APIRouter(tags=["exports"], responses=errors(400, 401, 403, 404, 408, 409, 413, 422, 507))

_BYTES = {"schema": {"type": "string", "format": "binary"}}


def _file(description: str, *kinds: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"description": description, "content": dict.fromkeys(kinds, _BYTES)}}


def sent(download: exports.Download) -> StreamingResponse:
    """Return a download as an answer that browsers keep as a file and nobody else keeps."""
    headers = {"Content-Disposition": download.disposition, "Cache-Control": "no-store"}
    return StreamingResponse(download.chunks, media_type=download.media_type, headers=headers)


@exports_router.get(
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


add_action(
    exports_router,
    release_acts.download_secret_part,
    answer=lambda _studio, download: sent(download),
    response_class=StreamingResponse,
    responses=_file("a ZIP archive of the secret part", "application/zip"),
)


@exports_router.get(
    "/runs/{job}/script",
    response_class=StreamingResponse,
    responses=_file("a script, or a ZIP archive of both", "application/zip", "text/x-shellscript", "text/x-python"),
)
def download_script(
    job: Ident, studio: TheStudio, form: Annotated[exports.ScriptForm, Query()] = "zip"
) -> StreamingResponse:
    """Return what was done, as commands and as Python, with what they read; the seed is left out."""
    return sent(exports.script(studio, job, form))


@exports_router.get(
    "/jobs/{job}/report",
    response_class=StreamingResponse,
    responses=_file("the report: one HTML page that stands alone", "text/html"),
)
@least(UserRole.REVIEWER)
def download_report(job: Ident, studio: TheStudio) -> StreamingResponse:
    """Return the report that a job wrote (``POST /projects/{project}/reports`` starts one); it shows original rows."""
    return sent(exports.report_file(studio, job))


add_action(exports_router, release_acts.start_reconstruction, JobOut, said_job)


@exports_router.get(
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


def _decided(_studio: Studio, decision: Decision) -> DecisionOut:
    judged = dict(decision.judged) | {"sentence": decision.sentence}
    return DecisionOut.model_validate(decision.__dict__ | {"judged": judged})


def _recorded(_studio: Studio, publication: Publication) -> PublicationOut:
    return PublicationOut.model_validate(publication.as_dict())


add_action(approval_router, release_acts.approve_run, DecisionOut, _decided)
add_action(approval_router, release_acts.refuse_run, DecisionOut, _decided)


@approval_router.get("/runs/{job}/decision")
def show_decision(job: Ident, studio: TheStudio) -> DecisionOut | None:
    """Return the last approval or refusal of a run's release."""
    decision = handing_out.decision_on(studio, release_of_run(studio, job))
    return None if decision is None else _decided(studio, decision)


add_action(approval_router, release_acts.publish_run, PublicationOut, _recorded)


@approval_router.get("/projects/{project}/publications")
def list_publications(project: Ident, studio: TheStudio) -> list[PublicationOut]:
    """Return what was handed out of a project, the newest first."""
    studio.project(project)
    return [_recorded(studio, one) for one in handing_out.publications(studio, project)]


add_action(approval_router, release_acts.approve_release, DecisionOut, _decided)
add_action(approval_router, release_acts.refuse_release, DecisionOut, _decided)
add_action(approval_router, release_acts.publish_release, PublicationOut, _recorded)

ledger_router = APIRouter(tags=["ledger"], responses=errors(400, 401, 403, 404, 408, 409, 413, 422, 507))


@ledger_router.get("/projects/{project}/ledger")
def show_ledger(project: Ident, studio: TheStudio) -> dict[str, Any]:
    """Return what was released, the risk after each release, and what is left of the budget."""
    return handing_out.ledger_as_dict(studio, project)


add_action(ledger_router, release_acts.make_ledger, dict[str, Any])
add_action(ledger_router, release_acts.weigh_period, JobOut, said_job)
add_action(ledger_router, release_acts.release_period, JobOut, said_job)


@ledger_router.get(
    "/projects/{project}/ledger/releases/{number}/public",
    response_class=StreamingResponse,
    responses={200: {"content": {"application/zip": {}}, "description": "the public part and the statement"}},
)
def download_release(
    project: Ident, number: Annotated[int, Path(ge=1, le=10**6)], studio: TheStudio
) -> StreamingResponse:
    """Return the public part of a release of the ledger, and nothing else."""
    return sent(exports.ledger_public_part(studio, project, number))
