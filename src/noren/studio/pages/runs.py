"""Runs: one under way, and all of a project."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from noren.engines.choice import parse_engine
from noren.i18n import N_, _, ngettext
from noren.judgement.numbers import decimal, percent
from noren.judgement.place import Place
from noren.judgement.rule import rule_named
from noren.judgement.sentences import finding, rule_sentence
from noren.measures.places import place_of_measure
from noren.methods import methods
from noren.studio.api.models import Ident, JobOut, said_job
from noren.studio.api.surroundings import TheStudio
from noren.studio.folders import STAGES_FILE, read_json
from noren.studio.forms.planning import said_seconds
from noren.studio.missing import measures_of, unmeasured_reason
from noren.studio.pages.frame import page
from noren.studio.service import Studio
from noren.studio.store import Job, Project, State
from noren.studio.work.stages import STAGES
from noren.web.cluster_stages import stage_rows
from noren.web.frame import local_path
from noren.web.refusals import NotThereError

router = APIRouter()

_PAGE = 50
_STAGES = {
    "protect": N_("Protect"),
    "attack": N_("Attack it"),
    "measure": N_("Measure what is left"),
    "show": N_("Prepare the pages"),
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
_RISK_OF = {
    "attacks": N_("of the customers named rightly"),
    "classes": N_("chance to tell somebody's row"),
    "guarantee": N_("1/k, proven"),
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
        cluster=stage_rows(read_json(studio.job_folder(found) / STAGES_FILE) or []),
        on_cluster=parse_engine(found.order.get("engine", "local")).address is not None,
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
    told = [methods[step.method].best_so_far for step in job.steps if step.method in methods]
    can = [words for words in told if words]
    return can[0] if len(can) == 1 else _ANY_BEST


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
    jobs, rule = studio.store.jobs(project, kind="run")[::-1], rule_named(found.rule)
    places = {job.id: studio.place(job, rule) for job in jobs if job.state == State.DONE}
    return page(
        request,
        "runs.html.jinja",
        title=_finding(jobs, list(places.values())),
        rule=rule_sentence(rule),
        place="results",
        project=found,
        lines=[_line(job, studio, places.get(job.id, Place(label=job.label))) for job in jobs[start : start + _PAGE]],
        start=start,
        page_size=_PAGE,
        total=len(jobs),
    )


def _finding(jobs: Sequence[Job], places: Sequence[Place]) -> str:
    """Return what all runs together say, in a sentence."""
    under_way = sum(not job.state.is_over for job in jobs)
    if not jobs:
        return _("Nothing was protected yet")
    if places:
        return finding(places)
    if not under_way:
        return _("No run came to its end")
    return ngettext("{count} run is under way", "{count} runs are under way", under_way).format(count=under_way)


def _share_words(of: str | None) -> str:
    """Return what a share of use or risk is of, by the measure that tells it."""
    place = place_of_measure(of)
    return _(_RISK_OF.get(of or "", "") if place is None else place.what)


def _line(job: Job, studio: Studio, place: Place) -> dict[str, Any]:
    said = said_job(job, studio.jobs)
    use, risk = place.use, place.risk
    error = decimal(1 - use) if use is not None and place.use_of == "cell-error" else None
    return {
        "job": said,
        "address": f"/projects/{job.project}/{'results' if job.state == State.DONE else 'runs'}/{job.id}",
        "state": _(_STATES[said.state]),
        "verdict": place.word,
        "use": None if use is None else percent(use),
        "error": error,
        "use_of": _share_words(place.use_of),
        "use_missing": unmeasured_reason(job.summary, *measures_of("use")),
        "risk_missing": unmeasured_reason(job.summary, *measures_of("risk")),
        "failed": len(job.summary.get("failed", [])),
        "risk": None if risk is None else percent(risk),
        "risk_of": _share_words(place.risk_of),
        "when": job.ended or job.started or job.created,
        "took": None if (took := _elapsed(job)) is None or not job.ended else said_seconds(took),
    }
