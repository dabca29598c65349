"""Runs: one under way, and all of a project."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from noren.i18n import N_, _, ngettext
from noren.studio.api.models import Ident, JobOut, said_job
from noren.studio.api.surroundings import TheStudio
from noren.studio.missing import place_of, unmeasured_reason
from noren.studio.pages.frame import local_path, page
from noren.studio.planning import said_seconds
from noren.studio.service import NotThereError, Studio
from noren.studio.store import Job, Project, State
from noren.studio.work.stages import STAGES
from noren.study.findings import count, decimal, percent

router = APIRouter()

_PAGE = 50
_STAGES = {
    "protect": N_("Protect"),
    "attack": N_("Attack it"),
    "measure": N_("Measure what is left"),
    "show": N_("Prepare the pages"),
}
_BEST = {
    "generalize": N_("best U so far, the mean error of a cell (lower is more useful)"),
    "hierarchy": N_("least loss so far (lower is more useful)"),
    "pseudo-records": N_("fewest added rows so far (fewer are more useful)"),
}
_ANY_BEST = N_("best so far (lower is better)")
_STATES = {
    "waiting": N_("waits for its turn"),
    "running": N_("is running"),
    "done": N_("done"),
    "failed": N_("failed"),
    "cancelled": N_("cancelled"),
    "interrupted": N_("interrupted"),
}
_USE_OF = {
    "cell-error": N_("1 − U"),
    "l1-precision": N_("records in the right cell"),
    "table-loss": N_("of what cells told apart"),
}
_RISK_OF = {
    "reid-rate": N_("of the customers named rightly"),
    "prosecutor": N_("chance to tell somebody's row"),
    "proof": N_("1/k, proven"),
}


# --- one run -------------------------------------------------------------------------------------------------


@router.get("/projects/{project}/runs/{job}")
def show_job(request: Request, project: Ident, job: Ident, studio: TheStudio) -> Response:
    """Show how far a run is, and what went wrong where it failed; one that is done shows its result."""
    found, project_found = _run_of(studio, project, job)
    if found.state == State.DONE:
        return RedirectResponse(f"/projects/{project}/results/{job}", 303)
    said = said_job(found, studio.jobs)
    return page(
        request,
        "job.html.jinja",
        title=_title(said),
        place="results",
        project=project_found,
        job=said,
        stages=[(name, _(_STAGES[name])) for name, _end in STAGES["run"]],
        best_label=_(_best_label(said)),
        ahead=_ahead(studio, found),
        elapsed=_elapsed(found),
        page_words={
            "over": {state: _title(said, state) for state in ("done", "failed", "cancelled", "interrupted")},
            "begun": _title(said, "running"),
            "stopping": _("It stops its search and keeps the best so far …"),
            "lost": _("The studio does not answer; trying again …"),
            "back": _("The studio answers again."),
            "seconds": _("{count} s"),
            "minutes": _("{minutes} min {count} s"),
        },
    )


def _run_of(studio: Studio, project: str, job: str) -> tuple[Job, Project]:
    found, project_found = studio.job(job, kind="run"), studio.project(project)
    if found.project != project:
        raise NotThereError(_("there is no such run; it may have been removed"))
    return found, project_found


def _title(job: JobOut, state: str = "") -> str:
    sentences = {
        "waiting": _("{label} waits for its turn"),
        "running": _("{label} is running"),
        "done": _("{label} is done"),
        "failed": _("{label} failed"),
        "cancelled": _("{label} was cancelled"),
        "interrupted": _("{label} was interrupted"),
    }
    return sentences[state or job.state].format(label=job.label)


def _best_label(job: JobOut) -> str:
    can = [step.method for step in job.steps if step.method in _BEST]
    return _BEST[can[0]] if len(can) == 1 else _ANY_BEST


def _ahead(studio: Studio, job: Job) -> int:
    """Return how many runs come before one that waits."""
    if job.state != State.WAITING:
        return 0
    others = [other for other in studio.store.jobs(kind="run", states=(State.WAITING,)) if other.created < job.created]
    return len(others) + len(studio.store.jobs(kind="run", states=(State.RUNNING,)))


def _elapsed(job: Job) -> float | None:
    """Return for how many seconds a job has been running, or ran."""
    if job.started is None:
        return None
    end = dt.datetime.now(dt.UTC) if job.ended is None else dt.datetime.fromisoformat(job.ended)
    return max((end - dt.datetime.fromisoformat(job.started)).total_seconds(), 0.0)


@router.post("/jobs/{job}/{act}")
def act_on_job(
    job: Ident,
    act: Literal["cancel", "enough", "again", "remove"],
    studio: TheStudio,
    back: Annotated[str, Form(max_length=500)] = "/",
) -> Response:
    """Do what a button of a job says, and go back to where it stood."""
    found = studio.job(job)
    onward = local_path(back)
    if act == "remove":
        studio.remove_job(job)
    elif act == "again":
        again = studio.again(job)
        if again.kind == "run":
            onward = f"/projects/{again.project}/runs/{again.id}"
    elif act == "enough":
        studio.enough(job)
    elif not found.state.is_over:
        studio.cancel(job)
    return RedirectResponse(onward, 303)


# --- all runs ------------------------------------------------------------------------------------------------


@router.get("/projects/{project}/runs")
def go_to_results(project: Ident) -> Response:
    """Lead to the list of runs."""
    return RedirectResponse(f"/projects/{project}/results", 303)


@router.get("/projects/{project}/results")
def show_runs(
    request: Request, project: Ident, studio: TheStudio, start: Annotated[int, Query(ge=0, le=10**6)] = 0
) -> Response:
    """Show all runs of a project, the newest first."""
    found = studio.project(project)
    jobs = studio.store.jobs(project, kind="run")[::-1]
    return page(
        request,
        "runs.html.jinja",
        title=_finding(jobs),
        place="results",
        project=found,
        lines=[_line(job, studio) for job in jobs[start : start + _PAGE]],
        start=start,
        page_size=_PAGE,
        total=len(jobs),
    )


def _finding(jobs: Sequence[Job]) -> str:
    """Return what all runs together say, in a sentence."""
    done = [place_of(job) for job in jobs if job.state == State.DONE and "map" in job.summary]
    under_way = sum(not job.state.is_over for job in jobs)
    if not jobs:
        return _("Nothing was protected yet")
    if not done:
        if not under_way:
            return _("No run came to its end")
        return ngettext("{count} run is under way", "{count} runs are under way", under_way).format(count=under_way)
    if len(done) == 1 and done[0]["verdict"] == "withstands" and done[0]["use"] is not None:
        return _("The one release, {label}, withstands the attacks tried and keeps {use} of the use").format(
            label=done[0]["label"], use=percent(done[0]["use"])
        )
    safe = [place for place in done if place["verdict"] == "withstands"]
    useful = [place for place in safe if place["use"] is not None]
    if not safe:
        return ngettext(
            "The one release does not withstand the attacks tried",
            "None of {count} releases withstands the attacks tried",
            len(done),
        ).format(count=count(len(done)))
    if not useful:
        return _("{safe} of {count} releases withstand the attacks tried").format(
            safe=count(len(safe)), count=count(len(done))
        )
    best = max(useful, key=lambda place: float(place["use"]))
    return ngettext(
        "{safe} of {count} releases withstands the attacks tried: {label} keeps {use} of the use",
        "{safe} of {count} releases withstand the attacks tried; the most useful, {label}, keeps {use} of the use",
        len(safe),
    ).format(safe=count(len(safe)), count=count(len(done)), label=best["label"], use=percent(best["use"]))


def _line(job: Job, studio: Studio) -> dict[str, Any]:
    said = said_job(job, studio.jobs)
    place = place_of(job) if "map" in job.summary else {}
    use, risk = place.get("use"), place.get("risk")
    error = decimal(1 - use) if use is not None and place.get("use_of") == "cell-error" else None
    return {
        "job": said,
        "address": f"/projects/{job.project}/{'results' if job.state == State.DONE else 'runs'}/{job.id}",
        "state": _(_STATES[said.state]),
        "verdict": place.get("verdict"),
        "use": None if use is None else percent(use),
        "error": error,
        "use_of": _(_USE_OF.get(place.get("use_of") or "", "")),
        "use_missing": unmeasured_reason(job.summary, *_USE_OF),
        "risk_missing": unmeasured_reason(job.summary, *_RISK_OF, "classes"),
        "failed": len(job.summary.get("failed", [])),
        "risk": None if risk is None else percent(risk),
        "risk_of": _(_RISK_OF.get(place.get("risk_of") or "", "")),
        "when": job.ended or job.started or job.created,
        "took": None if (took := _elapsed(job)) is None or not job.ended else said_seconds(took),
    }
