"""Compare: all runs of a project on one map, and a form that fills it with many more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from noren.drawing import live as charts
from noren.errors import NorenError, ParameterError
from noren.i18n import _, ngettext
from noren.judgement.place import Place, frontier
from noren.judgement.recommend import recommend
from noren.judgement.sentences import finding, frontier_sentence
from noren.methods import methods
from noren.parameters import flags
from noren.studio.api.models import Ident
from noren.studio.api.surroundings import TheStudio
from noren.studio.compared import TriedSetting, tried_settings
from noren.studio.forms.parameter_forms import DIVERSE, columns_of, has_diversity
from noren.studio.missing import measures_of, unmeasured_reason
from noren.studio.pages.frame import page
from noren.studio.service import Studio
from noren.studio.store import Job, Project, State
from noren.sweeps.words import answer, headline, rule_words

router = APIRouter()


@router.get("/projects/{project}/compare")
def show(request: Request, project: Ident, studio: TheStudio) -> Response:
    """Show the map, the table of runs and the form for more."""
    return _page(request, studio, studio.ready_project(project), {}, "")


def _page(
    request: Request, studio: Studio, found: Project, typed: dict[str, str], wrong: str, status: int = 200
) -> Response:
    state = _state(studio, found)
    return page(
        request,
        "compare.html.jinja",
        title=state["finding"],
        place="compare",
        project=found,
        status=status,
        state=state,
        ways=_ways(studio, found),
        typed=typed,
        wrong=wrong,
    )


@router.get("/projects/{project}/compare/state.json")
def state(project: Ident, studio: TheStudio) -> JSONResponse:
    """Return the map and the table as they are now, for the page that fills live."""
    return JSONResponse(_state(studio, studio.ready_project(project)))


@router.post("/projects/{project}/compare")
async def sweep(request: Request, project: Ident, studio: TheStudio) -> Response:
    """Start a run for every value of the chosen methods."""
    from starlette.concurrency import run_in_threadpool

    form = await request.form()
    typed = {name: value for name, value in form.items() if isinstance(value, str) and name != "csrf"}
    return await run_in_threadpool(_sweep, request, project, studio, typed)


def _sweep(request: Request, project: str, studio: Studio, typed: dict[str, str]) -> Response:
    found = studio.ready_project(project)
    try:
        wanted = [
            {"method": way["method"], "parameters": way["diversity"] | _ranges(way, typed)}
            for way in _ways(studio, found)
            if f"use-{way['method']}" in typed
        ]
        if not wanted:
            raise ParameterError(_("no method is chosen"), _("tick one or more"))
        studio.sweep(project, wanted)
    except NorenError as error:
        return _page(request, studio, found, typed, str(error), 422)
    return RedirectResponse(f"/projects/{project}/compare", 303)


def _ranges(way: dict[str, Any], typed: dict[str, str]) -> dict[str, Any]:
    """Return the values that were written for the parameter a method is swept by."""
    if way["parameter"] is None:
        return {}
    text = typed.get(f"values-{way['method']}", "")
    values = [part.strip() for part in text.replace("…", "..").replace("、", ",").split(",") if part.strip()]
    if not values:
        raise ParameterError(
            _("no value is given for {parameter} of {method}").format(parameter=way["parameter"], method=way["method"]),
            _("write values such as 2..6 or 2, 3, 5"),
        )
    return {way["parameter"]: values}


def _ways(studio: Studio, found: Project) -> list[dict[str, Any]]:
    """Return the methods that can be swept on these data, and by which parameter."""
    ways = []
    columns = columns_of(studio.schema(found.id), studio.profile(found.id))
    for kind in studio.fitting(found.id, methods):
        if kind.name == "chain":
            continue
        parameter = None if kind.strength is None else kind.strength.parameter
        about = {flag.field: flag for flag in flags(kind)}
        ways.append(
            {
                "method": kind.name,
                "summary": _(kind.summary),
                "parameter": parameter,
                "help": about[parameter].help if parameter else "",
                "values": kind.usual_values(int(found.facts["people"])),
                "diversity": {"l": DIVERSE} if has_diversity(kind, columns) else {},
            }
        )
    return ways


def _state(studio: Studio, found: Project) -> dict[str, Any]:
    """Return what the page shows and refreshes: what to take and why, the map, the table of runs."""
    jobs = studio.store.jobs(found.id, kind="run")
    done = [job for job in jobs if job.state == State.DONE]
    active = sum(not job.state.is_over for job in jobs)
    rule = studio.rule(found.id)
    settings = tried_settings(studio, done, rule)
    places = [one.place for one in settings]
    choices, best = recommend(places), frontier(places)
    first, *why = answer(settings, choices) if settings else [finding([])]
    marks = {settings[i].label: "frontier" for i in best}
    marks |= {settings[choice.chosen].label: "taken" for choice in choices if choice.chosen is not None}
    runs = dict(run for one in settings for run in ((job.id, place) for job, place in one.runs))
    waiting = ngettext("{count} run is under way.", "{count} runs are under way.", active)
    return {
        "finding": headline(settings, choices) if settings else first,
        "answer": why,
        "rule": rule_words(rule, choices),
        "active": active,
        "waiting": waiting.format(count=active) if active else "",
        "frontier": frontier_sentence([one for one in places if one.is_placed]) if len(best) > 1 else "",
        "chart": charts.risk_map_chart(_map(settings, best)) if settings else None,
        "runs": [_line(job, studio, runs.get(job.id), marks.get(job.label, "")) for job in jobs[::-1]],
    }


def _map(settings: Sequence[TriedSetting], best: Sequence[int]) -> dict[str, Any]:
    """Return one point for each setting; a click opens its newest run."""
    points = [
        one.place.model_dump(mode="json")
        | {
            "verdict": str(one.place.word),
            "address": f"/projects/{one.newest.project}/results/{one.newest.id}",
            "on_frontier": i in best,
        }
        for i, one in enumerate(settings)
    ]
    return {
        "points": points,
        "frontier": list(best),
        "unplaced": [i for i, one in enumerate(settings) if not one.place.is_placed],
    }


def _line(job: Job, studio: Studio, place: Place | None, mark: str) -> dict[str, Any]:
    live = studio.jobs.live(job)
    return {
        "id": job.id,
        "label": job.label,
        "state": str(live.state),
        "state_words": live.state.words,
        "done": live.done,
        "address": f"/projects/{job.project}/{'results' if job.state == State.DONE else 'runs'}/{job.id}",
        "use": None if place is None else place.use,
        "risk": None if place is None else place.risk,
        "verdict": None if place is None else str(place.word),
        "use_missing": unmeasured_reason(job.summary, *measures_of("use")) if place else "",
        "risk_missing": unmeasured_reason(job.summary, *measures_of("risk")) if place else "",
        "mark": mark if place else "",
        "created": job.created,
    }
