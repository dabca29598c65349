"""What leaves the studio: downloads of a finished run."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from noren.studio import exports
from noren.studio.api.models import Ident, JobOut, said_job
from noren.studio.api.surroundings import TheStudio
from noren.studio.users import UserRole, least
from noren.web.error_models import errors

__all__ = ["router", "sent"]

router = APIRouter(tags=["exports"], responses=errors(400, 401, 403, 404, 408, 409, 413, 422, 507))

_BYTES = {"schema": {"type": "string", "format": "binary"}}


def _file(description: str, *kinds: str) -> dict[int | str, dict[str, Any]]:
    return {200: {"description": description, "content": dict.fromkeys(kinds, _BYTES)}}


def sent(download: exports.Download) -> StreamingResponse:
    """Return a download as an answer that browsers keep as a file and nobody else keeps."""
    headers = {"Content-Disposition": download.disposition, "Cache-Control": "no-store"}
    return StreamingResponse(download.chunks, media_type=download.media_type, headers=headers)


class Confirmation(BaseModel):
    """That whoever asks knows what the secret part is."""

    model_config = ConfigDict(extra="forbid")

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
    return said_job(exports.reconstruct(studio, job), studio.jobs)


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
