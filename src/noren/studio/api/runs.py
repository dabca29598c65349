"""Runs (start, watch, stop, look at, compare) and what leaves a studio: files, reports, approvals, the ledger."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from noren.judgement.frontier import frontier
from noren.studio import approvals, exports
from noren.studio.actions import releases as release_acts
from noren.studio.actions import runs as acts
from noren.studio.api.data import Count, Rows, Start
from noren.studio.api.models import Ident, JobOut, ListSlice, Name, TheStudio, TheWho, add_action, job_out, streamed
from noren.studio.approvals import Publication, PublicationOut
from noren.studio.service import RunQuery, Studio, find_runs, pair_of
from noren.studio.store import State
from noren.studio.users import UserRole, least
from noren.web.errors import errors

router = APIRouter(tags=["runs"], responses=errors(400, 401, 403, 404, 408, 409, 413, 422, 507))

_LOOK_EVERY, _LOOK_AT_ALL_EVERY = 0.15, 0.5
_MOVING = {"id", "sweep", "state", "done", "words", "best", "can_stop", "left", "stage"}
"""What changes while a run is under way."""
_SIGN_OF_LIFE = 15.0
_EVENTS, _ZIP = "text/event-stream", "application/zip"


add_action(router, acts.start_run, JobOut, job_out)
for start in (acts.start_sweep, acts.start_search):
    add_action(router, start, list[JobOut], lambda studio, jobs: [job_out(studio, job) for job in jobs])


class _Runs(ListSlice, RunQuery):
    sort: Literal["newest", "oldest", "name", "use", "risk"] = "oldest"


@router.get("/projects/{project}/runs")
def list_runs(project: Ident, studio: TheStudio, query: Annotated[_Runs, Query()], response: Response) -> list[JobOut]:
    """Return runs of a project, the oldest first unless another order is asked for."""
    return [job_out(studio, run.job) for run in query.part(find_runs(studio, project, query), response)]


@router.get("/projects/{project}/events", **streamed("the runs, each time something changed", _EVENTS, schema={}))
async def watch_project(project: Ident, request: Request, studio: TheStudio) -> StreamingResponse:
    """Send how far each run of a project is, each time something changed (server-sent events)."""
    await asyncio.to_thread(studio.project, project)
    events = _events(request, lambda: _runs_event(project, studio), _LOOK_AT_ALL_EVERY)
    return StreamingResponse(events, media_type=_EVENTS)


@router.get("/projects/{project}/map")
def show_map(project: Ident, studio: TheStudio) -> dict[str, Any]:
    """Return the risk–utility map of the finished runs by the project's rule: points, and which no other beats."""
    rule = studio.rule(project)
    done = studio.store.jobs(project, kind="run", states=(State.DONE,))
    places = [studio.place(job, rule) for job in done]
    best = frontier(places)
    return {
        "rule": rule.as_dict(),
        "points": [
            place.model_dump(mode="json") | {"run": job.id, "on_frontier": at in best}
            for at, (place, job) in enumerate(zip(places, done, strict=True))
        ],
        "frontier": best,
        "unplaced": [at for at, place in enumerate(places) if not place.is_placed],
    }


add_action(router, acts.start_report, JobOut, job_out)


@router.get("/jobs/{job}")
def show_job(job: Ident, studio: TheStudio) -> JobOut:
    """Return a run or another piece of work, and how far it is."""
    return job_out(studio, studio.job(job))


add_action(router, acts.remove_job)
add_action(router, acts.act_on_job, JobOut, job_out)


@router.get("/jobs/{job}/events", **streamed("the job, each time something changed", _EVENTS, schema={}))
async def watch_job(job: Ident, request: Request, studio: TheStudio) -> StreamingResponse:
    """Send the job each time something changed, until it is over (server-sent events)."""
    await asyncio.to_thread(studio.job, job)
    return StreamingResponse(_events(request, lambda: _job_event(job, studio)), media_type=_EVENTS)


_Event = tuple[str, bool] | None
"""The text of an event and whether it is the last; None if the job is gone."""


def _job_event(job: str, studio: Studio) -> _Event:
    current = studio.store.job(job)
    if current is None or not studio.sees(current.project):
        return None
    out = job_out(studio, current)
    return out.model_dump_json(exclude={"steps", "summary"}), current.state.is_over


def _runs_event(project: str, studio: Studio) -> _Event:
    if studio.store.project(project) is None or not studio.sees(project):
        return None
    jobs = [job_out(studio, job) for job in studio.store.jobs(project, kind="run")]
    return json.dumps([job.model_dump(mode="json", include=_MOVING) for job in jobs], ensure_ascii=False), False


async def _events(request: Request, look: Callable[[], _Event], every: float = _LOOK_EVERY) -> AsyncIterator[str]:
    last, quiet = "", 0.0
    is_in = request.app.state.login.is_in
    while not await request.is_disconnected() and await asyncio.to_thread(is_in, request.state.session):
        latest = await asyncio.to_thread(look)
        if latest is None:
            yield "event: gone\ndata: {}\n\n"
            return
        text, is_over = latest
        if text != last:
            last, quiet = text, 0.0
            yield f"data: {text}\n\n"
        if is_over:
            yield "event: over\ndata: {}\n\n"
            return
        await asyncio.sleep(every)
        quiet += every
        if quiet > _SIGN_OF_LIFE:
            quiet = 0.0
            yield ": still here\n\n"


@router.get("/runs/{job}/result")
def show_result(job: Ident, studio: TheStudio) -> dict[str, Any]:
    """Return everything a page shows of a finished run, and its verdict by the rule of the project."""
    view, verdict = studio.result(job), studio.verdict(job)
    place = view.place(verdict).model_dump(mode="json")
    return view.model_dump(mode="json") | {"verdict": verdict.as_dict(), "place": place}


@router.get("/runs/{job}/crosstab")
def show_crosstab(job: Ident, studio: TheStudio, a: Name, b: Name) -> dict[str, Any]:
    """Return the cross tabulation of two columns: original, released, reconstructed."""
    return pair_of(studio.crosstabs(job), a, b)


@router.get("/runs/{job}/rows")
def show_row_pairs(
    job: Ident, studio: TheStudio, start: Start = 0, count: Count = 50, only_changed: bool = False
) -> Rows:
    """Return original rows next to released ones."""
    return Rows(**studio.row_pairs(job, start, count, only_changed=only_changed))


exports_router = APIRouter(tags=["exports"], responses=errors(400, 401, 403, 404, 408, 409, 413, 422, 507))


def sent(download: exports.Download) -> StreamingResponse:
    """Return a download as an answer that browsers keep as a file and nobody else keeps."""
    headers = {"Content-Disposition": download.disposition, "Cache-Control": "no-store"}
    return StreamingResponse(download.chunks, media_type=download.media_type, headers=headers)


@exports_router.get(
    "/runs/{job}/public",
    **streamed("a ZIP archive: public.parquet, statement.json and, where asked for, public.csv", _ZIP),
)
def download_public_part(job: Ident, studio: TheStudio, form: Annotated[exports.Form, Query()] = "parquet") -> Response:
    """Return the public part of a release and its statement, once it was released to somebody."""
    return sent(exports.public_part(studio, job, form))


add_action(
    exports_router,
    release_acts.download_secret_part,
    answer=lambda _studio, download: sent(download),
    **streamed("a ZIP archive of the secret part", _ZIP),
)


@exports_router.get(
    "/runs/{job}/script", **streamed("a script, or a ZIP archive of both", _ZIP, "text/x-shellscript", "text/x-python")
)
def download_script(job: Ident, studio: TheStudio, form: Annotated[exports.ScriptForm, Query()] = "zip") -> Response:
    """Return what was done, as commands and as Python, with what they read; the seed is left out."""
    return sent(exports.script(studio, job, form))


@exports_router.get("/jobs/{job}/report", **streamed("the report: one HTML page that stands alone", "text/html"))
@least(UserRole.REVIEWER)
def download_report(job: Ident, studio: TheStudio) -> Response:
    """Return the report that a job wrote (``POST /projects/{project}/reports`` starts one); it shows original rows."""
    return sent(exports.written_file(studio, job, "report"))


add_action(exports_router, release_acts.start_reconstruction, JobOut, job_out)


@exports_router.get(
    "/jobs/{job}/reconstruction", **streamed("the reconstructed table", "text/csv", "application/vnd.apache.parquet")
)
def download_reconstruction(
    job: Ident, studio: TheStudio, form: Annotated[exports.TableForm, Query()] = "csv"
) -> Response:
    """Return the table that a job reconstructed."""
    return sent(exports.written_file(studio, job, "reconstruct", form))


approval_router = APIRouter(tags=["sharing"], responses=errors(400, 401, 403, 404, 408, 409, 413, 422, 507))


for act in (release_acts.publish_run, release_acts.publish_release, release_acts.approve, release_acts.refuse):
    add_action(approval_router, act, PublicationOut)


@approval_router.get("/projects/{project}/publications", response_model=list[PublicationOut])
def list_publications(project: Ident, studio: TheStudio) -> list[Publication]:
    """Return the records of a project, also those that wait for an approval or were refused, the newest first."""
    return approvals.records(studio, studio.project(project).id)


@approval_router.get("/inbox", response_model=list[PublicationOut])
@least(UserRole.REVIEWER)
def show_inbox(studio: TheStudio, who: TheWho) -> list[Publication]:
    """Return the records that wait for the user's decision, the oldest first."""
    return approvals.inbox(studio, who)


ledger_router = APIRouter(tags=["ledger"], responses=errors(400, 401, 403, 404, 408, 409, 413, 422, 507))


@ledger_router.get("/projects/{project}/ledger")
def show_ledger(project: Ident, studio: TheStudio) -> dict[str, Any]:
    """Return what was released, the risk after each release, and what is left of the budget."""
    return approvals.ledger_as_dict(studio, project)


add_action(ledger_router, release_acts.make_ledger, dict[str, Any])
add_action(ledger_router, release_acts.weigh_period, JobOut, job_out)
add_action(ledger_router, release_acts.release_period, JobOut, job_out)


@ledger_router.get(
    "/projects/{project}/ledger/releases/{number}/public",
    **streamed("the public part and the statement", _ZIP, schema={}),
)
def download_release(project: Ident, number: Annotated[int, Path(ge=1, le=10**6)], studio: TheStudio) -> Response:
    """Return the public part of a release of the ledger, once it was released to somebody."""
    release = approvals.ledger_release(studio, project, number)
    approvals.note_download(studio, release, "parquet")
    files = [(name, release.folder / name) for name in ("public.parquet", "statement.json")]
    name = exports.file_name(studio.project(project).name, release.label, ending="public.zip")
    return sent(exports.Download(name, "application/zip", exports.packed(files)))
