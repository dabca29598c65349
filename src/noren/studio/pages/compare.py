"""Compare: all runs of a project on one map, and a form that fills it with many more."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, RedirectResponse, Response

from noren.errors import NorenError, ParameterError
from noren.i18n import _, ngettext
from noren.methods import methods
from noren.parameters import flags
from noren.studio import charts
from noren.studio.api.models import Ident
from noren.studio.api.surroundings import TheStudio
from noren.studio.form_words import DIVERSE
from noren.studio.forms import columns_of, has_diversity
from noren.studio.missing import place_of, unmeasured_reason
from noren.studio.pages.frame import page
from noren.studio.service import Studio
from noren.studio.store import Job, Project, State
from noren.study.findings import frontier_sentence
from noren.study.recommend import finding
from noren.study.risk_map import risk_map
from noren.study.usual import ranged_parameter, usual_values

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
        parameter = ranged_parameter(kind)
        about = {flag.field: flag for flag in flags(kind)}
        ways.append(
            {
                "method": kind.name,
                "summary": _(kind.summary),
                "parameter": parameter,
                "help": about[parameter].help if parameter else "",
                "values": usual_values(kind),
                "diversity": {"l": DIVERSE} if has_diversity(kind, columns) else {},
            }
        )
    return ways


def _state(studio: Studio, found: Project) -> dict[str, Any]:
    """Return what the page shows and refreshes: the finding, the map, the table of runs."""
    jobs = studio.store.jobs(found.id, kind="run")
    done = [job for job in jobs if job.state == State.DONE]
    active = [job for job in jobs if not job.state.is_over]
    address = f"/projects/{found.id}/results/"
    placed = risk_map([place_of(job) | {"run": job.id, "address": address + job.id} for job in done])
    return {
        "finding": finding(placed["points"]),
        "active": len(active),
        "waiting": ngettext("{count} run is under way.", "{count} runs are under way.", len(active)).format(
            count=len(active)
        )
        if active
        else "",
        "frontier": _frontier(placed, done),
        "chart": charts.risk_map_chart(placed) if done else None,
        "runs": [_line(job, studio, placed["points"][done.index(job)] if job in done else None) for job in jobs[::-1]],
    }


def _frontier(placed: dict[str, Any], done: list[Job]) -> str:
    labels = [done[i].label for i in placed["frontier"]]
    return frontier_sentence(labels, len(done) - len(placed["unplaced"])) if len(labels) > 1 else ""


def _line(job: Job, studio: Studio, point: dict[str, Any] | None) -> dict[str, Any]:
    live = studio.jobs.live(job)
    return {
        "id": job.id,
        "label": job.label,
        "state": str(live.state),
        "state_words": live.state.words,
        "done": live.done,
        "address": f"/projects/{job.project}/{'results' if job.state == State.DONE else 'runs'}/{job.id}",
        "use": None if point is None else point["use"],
        "risk": None if point is None else point["risk"],
        "verdict": None if point is None else point["verdict"],
        "use_missing": unmeasured_reason(job.summary, "cell-error", "l1-precision", "table-loss") if point else "",
        "risk_missing": unmeasured_reason(job.summary, "reid-rate", "classes") if point else "",
        "on_frontier": bool(point and point["on_frontier"]),
        "created": job.created,
    }
