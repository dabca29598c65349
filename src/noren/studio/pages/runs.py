"""Pages of runs: the progress of one run, and the list of all runs of a project."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from pydantic import ConfigDict, Field

from noren.engines.choice import parse_engine
from noren.i18n import _, ngettext
from noren.judgement import sentences
from noren.judgement.frontier import RiskUtilityPoint, finding
from noren.judgement.rule import get_rule
from noren.judgement.verdict import VerdictStatus
from noren.measures import place_of_measure
from noren.methods import methods
from noren.studio.actions import runs as acts
from noren.studio.api.models import Ident, TheStudio, job_out
from noren.studio.folders import STAGES_FILE, read_json
from noren.studio.pages.data_parts import size
from noren.studio.pages.frame import OfProject, OfReady, page
from noren.studio.service import RunInList, RunQuery, Studio, find_runs, methods_of
from noren.studio.store import Job, State
from noren.studio.work import STAGES
from noren.studio.work.reading import ENDINGS
from noren.studio.work.results import unmeasured_reason
from noren.tables import table_of
from noren.web.frame import local_path, stage_rows

router = APIRouter()

_PAGE = 50
_WORDS = table_of(__name__)
_STAGES, _RISK_OF = _WORDS["stages"], _WORDS["risk_of"]


@router.get("/projects/{project}/runs/{job}")
def show_job(visit: OfProject, job: Ident) -> Response:
    """Show how far a run is, and what went wrong where it failed; one that is done shows its result."""
    studio, run = visit.studio, visit.studio.job(job, kind="run", project=visit.project.id)
    if run.state == State.DONE:
        return visit.to_page(f"results/{job}")
    out = job_out(studio, run)
    best = [words for step in out.steps if step.method in methods and (words := methods[step.method].best_so_far)]
    titles = {state: f"{out.label}: {state.words}" for state in State}
    ahead = 0
    if run.state == State.WAITING:
        others = studio.store.jobs(kind="run", states=(State.WAITING, State.RUNNING))
        ahead = sum(other.state == State.RUNNING or other.created < run.created for other in others)
    return visit.page(
        "job.html.jinja",
        title=titles[run.state],
        place="results",
        job=out,
        stages=[(name, _(_STAGES[name])) for name, _end in STAGES["run"]],
        best_label=_(best[0]) if len(best) == 1 else _("best so far (lower is better)"),
        cluster=stage_rows(read_json(studio.job_folder(run) / STAGES_FILE) or []),
        on_cluster=parse_engine(run.order.get("engine", "local")).address is not None,
        ahead=ahead,
        elapsed=run.elapsed,
        left=short_time(out.left),
        question=_question(run, "cancel"),
        page_words={
            "over": {str(state): title for state, title in titles.items()},
            "begun": titles[State.RUNNING],
            "stopping": _("Stopping; the best result so far is kept."),
            "lost": _("The server does not answer."),
        },
        short_time=short_time,
    )


def short_time(seconds: float | None) -> str:
    """Return a duration as ``m:ss`` or ``h:mm:ss``, rounded up; empty if it is unknown. runs.js does the same.

    >>> short_time(65), short_time(3600)
    ('1:05', '1:00:00')
    """
    if seconds is None:
        return ""
    minutes, rest = divmod(math.ceil(seconds), 60)
    return f"{minutes}:{rest:02}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{rest:02}"


@router.post("/jobs/{job}/{act}")
def act_on_job(
    request: Request,
    job: Ident,
    act: Literal["cancel", "enough", "again", "remove"],
    studio: TheStudio,
    back: Annotated[str, Form(max_length=500)] = "/",
    sure: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    """Do what a button of a job says, and go back to where it stood; what is lost for ever, once somebody is sure."""
    target = studio.job(job)
    onward = local_path(back)
    if sure != "yes" and (act == "remove" or (act == "cancel" and not target.state.is_over)):
        return page(
            request,
            "sure.html.jinja",
            title=_question(target, act),
            place="data" if target.kind == "read" else "results",
            project=studio.project(target.project),
            action=f"/jobs/{job}/{act}",
            back=onward,
            yes=_("Remove") if act == "remove" else _("Cancel job"),
        )
    if act == "remove":
        acts.remove_job(studio, job=job)
    elif act != "cancel" or not target.state.is_over:
        done = acts.act_on_job(studio, job=job, act=act)
        if act == "again" and done.kind == "run":
            onward = f"/projects/{done.project}/runs/{done.id}"
    return RedirectResponse(onward, 303)


def _question(job: Job, act: str) -> str:
    """Return what is asked before something is lost."""
    if act == "remove" and job.kind == "judge":
        return _("Remove {name}?").format(name=job.label)
    if act == "remove":
        return _("Remove {label} with its release?").format(label=job.label)
    return _("Cancel {label}? Unfinished work is lost.").format(label=job.label)


@router.get("/projects/{project}/runs")
def go_to_results(project: Ident) -> Response:
    """Lead to the list of runs."""
    return RedirectResponse(f"/projects/{project}/results", 303)


class _RunListQuery(RunQuery):
    model_config = ConfigDict(extra="ignore")  # other parts of an address are for others

    start: int = Field(default=0, ge=0, le=10**6)


@router.get("/projects/{project}/results")
def show_runs(visit: OfProject, query: Annotated[_RunListQuery, Query()]) -> Response:
    """Show the runs of a project that are asked for, a page of them, and what all of its runs say."""
    studio, project = visit.studio, visit.project
    every, matches = find_runs(studio, project.id, RunQuery()), find_runs(studio, project.id, query)
    jobs, judged = [run.job for run in every], []
    for file in studio.store.jobs(project.id, kind="judge")[: -_PAGE - 1 : -1]:
        verdict = studio.verdict_of_file(file.id, project.id).status if file.state == State.DONE else None
        judged.append({"job": file, "verdict": verdict, "question": _question(file, "remove")})
    return visit.page(
        "runs.html.jinja",
        title=_finding(jobs, [run.place for run in every if run.place is not None]),
        rule=sentences.rule_sentence(get_rule(project.rule)),
        place="results",
        lines=[_line(run, studio) for run in matches[query.start :][:_PAGE]],
        query=query,
        choices={
            "sort": [(name, _(words)) for name, words in _WORDS["orders"].items()],
            "state": [("", _("Any")), *((str(state), state.words) for state in State)],
            "method": [("", _("Any")), *((name, name) for name in methods_of(jobs))],
            "verdict": [("", _("Any")), *((str(word), sentences.verdict_label(word)) for word in VerdictStatus)],
        },
        page_size=_PAGE,
        judged=judged,
        endings=",".join(ENDINGS),
        largest=studio.settings.largest_upload,
        largest_size=size(studio.settings.largest_upload),
        match_count=len(matches),
        total=len(jobs),
        page_words={"left": _("Time left, about")},
    )


def _finding(jobs: Sequence[Job], places: Sequence[RiskUtilityPoint]) -> str:
    """Return what all runs together say, in a sentence."""
    under_way = sum(not job.state.is_over for job in jobs)
    if not jobs:
        return _("Nothing was protected yet")
    if places:
        return finding(places)
    if not under_way:
        return _("No run finished")
    return ngettext("{count} run is under way", "{count} runs are under way", under_way).format(count=under_way)


def _share_words(of: str | None) -> str:
    """Return what a share of use or risk is of, by the measure that tells it."""
    place = place_of_measure(of)
    return _(_RISK_OF.get(of or "", "") if place is None else place.what)


def _line(run: RunInList, studio: Studio) -> dict[str, Any]:
    job = run.job
    place = run.place or RiskUtilityPoint(label=job.label)
    out = job_out(studio, job)
    return {
        "job": out,
        "question": _question(job, "remove" if job.state.is_over else "cancel"),
        "address": job.address,
        "state": job.state.words,
        "left": short_time(out.left),
        "place": place,
        "use_of": _share_words(place.use_of),
        "use_missing": unmeasured_reason(job.summary, "use"),
        "risk_missing": unmeasured_reason(job.summary, "risk"),
        "failed": len(job.summary.get("failed", [])),
        "risk_of": _share_words(place.risk_of),
        "when": job.ended or job.started or job.created,
        "took": short_time(job.elapsed) if job.ended else "",
    }


# --- files from elsewhere ------------------------------------------------------------------------------------


@router.get("/projects/{project}/judged/{job}")
def show_judged(visit: OfReady, job: Ident) -> Response:
    """Show the verdict on a file from elsewhere, how far judging it is, or why it could not be judged."""
    studio, file = visit.studio, visit.studio.job(job, kind="judge", project=visit.project.id)
    about: dict[str, Any] = {}
    title = (_("{name} was not judged") if file.state.is_over else _("Judging {name}")).format(name=file.label)
    if file.state == State.DONE:
        verdict = studio.verdict_of_file(job, visit.project.id)
        title = sentences.headline_sentence(verdict)
        about = {
            "verdict_of_file": verdict,
            "flaws": [sentences.flaw_sentence(flaw, verdict) for flaw in verdict.flaws[1:]],
            "columns": [] if verdict.facts.foreign is None else list(verdict.facts.foreign.columns.items()),
        }
    shown = {"job": job_out(studio, file), "question": _question(file, "remove")}
    return visit.page("judged.html.jinja", title=title, place="results", **shown | about)
