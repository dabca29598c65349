"""Comparing runs: the map, the table, and the search for a setting that meets the rule."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import asdict
from functools import cached_property, reduce
from statistics import fmean
from typing import Annotated, Any, Final

from fastapi import APIRouter, Form, Request
from fastapi.responses import JSONResponse, Response

from noren.data.schema import Kind, Role
from noren.drawing.base import live
from noren.errors import NorenError, ParameterError, listing
from noren.i18n import _, ngettext
from noren.judgement import frontier
from noren.judgement.numbers import percent
from noren.judgement.rule import RECIPIENTS
from noren.judgement.verdict import Verdict, VerdictStatus
from noren.methods import methods
from noren.registry import flags
from noren.studio.actions import runs as acts
from noren.studio.api.models import Ident, TheStudio
from noren.studio.pages.frame import OfReady, ProjectRequest, Typed, run_visit
from noren.studio.pages.result import untried_sentence
from noren.studio.pages.runs import short_time
from noren.studio.service import Studio
from noren.studio.store import Job, State
from noren.studio.work import time_left
from noren.studio.work.results import unmeasured_reason
from noren.sweeps.advice import advice, answer, headline, rule_text
from noren.sweeps.defaults import strength_text, usual_parameters, usual_values
from noren.sweeps.page import settings_map
from noren.tables import Texts

router = APIRouter()
say = Texts(__name__)

_WIDE: Final = (700, 340)
_NARROW: Final = (250, 350)
"""The plots, in pixels, that labels are placed for; the browser's own may be a little wider or narrower."""


@router.get("/projects/{project}/compare")
def show(visit: OfReady) -> Response:
    """Show the map, the table of runs and the form for more."""
    state = _state(visit)
    return visit.page(
        "compare.html.jinja",
        title=state["finding"],
        place="compare",
        state=state,
        ways=_ways(visit),
        more_seeds=acts.MORE_SEEDS,
        searches=search_choices(visit),
        emptied=emptied_sentence(visit),
    )


@router.get("/projects/{project}/compare/state.json")
def state(visit: OfReady) -> JSONResponse:
    """Return the map and the table as they are now, for the page that fills live."""
    return JSONResponse(_state(visit))


@router.post("/projects/{project}/compare")
def sweep(visit: OfReady, typed: Typed) -> Response:
    """Start a run for every value of the chosen methods."""
    try:
        wanted = [
            {"method": way["method"], "parameters": way["diversity"] | _ranges(way, typed)}
            for way in _ways(visit)
            if f"use-{way['method']}" in typed
        ]
        if not wanted:
            raise ParameterError(_("choose at least one method"))
        acts.start_sweep(visit.studio, project=visit.project.id, methods=wanted)
    except NorenError as error:
        return show(visit.again(error, typed))
    return visit.to_page("compare")


@router.post("/projects/{project}/find")
def find_release(visit: OfReady, rule: Annotated[str, Form(max_length=40)] = "") -> Response:
    """Try a few sensible settings by the rule of the recipient; Compare then says which to take."""
    try:
        if rule not in acts.FOR_WHOM:
            raise ParameterError(_("use one of {names}").format(names=", ".join(acts.FOR_WHOM)))
        acts.start_search(visit.studio, project=visit.project.id, rule=rule)
    except NorenError as error:
        return show(visit.again(error))
    return visit.to_page("compare")


@router.post("/projects/{project}/compare/stop")
def stop(visit: OfReady) -> Response:
    """Cancel every run that waits or is under way; what is finished stays."""
    for job in visit.studio.store.jobs(visit.project.id, kind="run", states=(State.WAITING, State.RUNNING)):
        acts.act_on_job(visit.studio, job=job.id, act="cancel")
    return visit.to_page("compare")


@router.post("/projects/{project}/compare/seeds")
def be_surer(
    request: Request, project: Ident, studio: TheStudio, run: Annotated[str, Form(max_length=12)] = ""
) -> Response:
    """Run the setting to take with further seeds, which tell how far its numbers vary."""
    visit = run_visit(request, project, run, studio)
    acts.more_seeds(studio, run)
    return visit.to_page("compare")


def search_choices(visit: ProjectRequest) -> list[dict[str, str]]:
    """Return the search offered for each recipient, or why it is not possible."""
    recipients = {"partner": _("A partner"), "public": _("The public"), "inside": _("Inside")}
    searches: list[dict[str, str]] = []
    for rule in acts.FOR_WHOM:
        sentences, wrong, before = [_("For {whom}.").format(whom=_(RECIPIENTS[rule]))], "", visit.project.rule
        try:
            sweep = acts.search_for(visit.studio, visit.project.id, rule)
        except NorenError as error:
            wrong = str(error)
            sentences.append(wrong)
        else:
            names = ", ".join(setting["method"] for setting in sweep.methods)
            ks = ", ".join(map(str, sweep.methods[0]["parameters"]["k"]))
            sentences.append(_("Tries {methods} with k = {ks}.").format(methods=names, ks=ks))
            if sweep.measures is not None:
                sentences.append(_("Attacks and measures that take long are left out, and the result says which."))
            if rule != before:
                sentences.append(say("changes_rule", before=before, rule=rule))
        text = reduce(lambda text, more: _("{sentence} {more}").format(sentence=text, more=more), sentences)
        searches.append({"rule": rule, "name": recipients[rule], "text": text, "wrong": wrong})
    return searches


def emptied_sentence(visit: ProjectRequest) -> str:
    """Return which columns of purchases every release of a search leaves empty; nothing where there are none."""
    schema = visit.studio.schema(visit.project.id)
    names = [c.name for c in schema.columns if c.role in (Role.INVOICE, Role.TIME, Role.DESCRIPTION, Role.OTHER)]
    return say("emptied", columns=listing(names)) if schema.kind == Kind.HISTORY and names else ""


def _ranges(way: dict[str, Any], typed: dict[str, str]) -> dict[str, Any]:
    """Return the values that were written for the parameter a method is swept by."""
    if way["parameter"] is None:
        return {}
    text = typed.get(f"values-{way['method']}", "")
    values = [part.strip() for part in text.replace("…", "..").replace("、", ",").split(",") if part.strip()]
    if not values:
        raise ParameterError(say("no_values", parameter=way["parameter"], method=way["method"]))
    return {way["parameter"]: values}


def _ways(visit: ProjectRequest) -> list[dict[str, Any]]:
    """Return the methods that can be swept on these data, and by which parameter."""
    ways, studio, project = [], visit.studio, visit.project
    schema, rule = studio.schema(project.id), studio.rule(project.id)
    for kind in studio.fitting(project.id, methods):
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
                "values": usual_values(kind, int(project.facts["people"]), rule),
                "diversity": usual_parameters(kind, schema, ()) if parameter else {},
            }
        )
    return ways


def _state(visit: ProjectRequest) -> dict[str, Any]:
    """Return what the page shows and refreshes: what to take and why, the map, the table of runs."""
    studio, project = visit.studio, visit.project
    jobs = studio.store.jobs(project.id, kind="run")
    searching = _search(studio, jobs)
    rule = studio.rule(project.id)
    # runs of one setting differ in their seeds
    tried: dict[str, list[tuple[Job, frontier.RiskUtilityPoint]]] = {}
    runs = {job.id: studio.place(job, rule) for job in jobs if job.state == State.DONE}
    for job in (job for job in jobs if job.id in runs):
        tried.setdefault(job.label, []).append((job, runs[job.id]))
    settings = [TriedSetting(studio, of_setting) for of_setting in tried.values()]
    places = [setting.place for setting in settings]
    choices = frontier.recommend(places)
    marks = {settings[i].label: "frontier" for i in frontier.releasable_points(places)}
    taken = [settings[choice.chosen] for choice in choices if choice.chosen is not None]
    marks |= {setting.label: "taken" for setting in taken}
    found = headline(settings, choices) if settings else frontier.finding([])
    if searching:
        found = say("best_so_far" if settings else "searching", finding=found, **searching["counts"])
    # the map: one point for each setting, which opens its newest run
    drawn = settings_map(settings, choices, rule)
    chart: dict[str, Any] | None = None
    if drawn is not None:
        addresses = [settings[i].newest.address for i in drawn.drawn]
        narrow = drawn.chart(_NARROW, narrow=True, addresses=addresses)
        chart = live(drawn.chart(_WIDE, addresses=addresses) | {"narrow": narrow})
    return {
        "finding": found,
        "answer": answer(settings, choices)[1:] if settings else [],
        "advice": [asdict(setting) for setting in advice(settings, choices)],
        "taken": [
            {
                "label": setting.label,
                "address": setting.newest.address,
                "run": setting.newest.id,
                "once": len(setting.runs) == 1,
                "untried": untried_sentence(visit, studio.result(setting.newest.id), studio.verdict(setting.newest.id))
                if setting.place.status == VerdictStatus.WITHSTANDS
                else "",
            }
            for setting in taken
        ],
        "rule": rule_text(rule, choices),
        "active": searching.get("active", 0),
        "done": searching.get("done", 0.0),
        "waiting": searching.get("text", ""),
        "frontier": frontier.frontier_sentence([p for p in places if p.is_placed]) if len(settings) > 1 else "",
        "chart": chart,
        "shapes": {} if drawn is None else drawn.shapes,
        "words": [] if drawn is None else drawn.words,
        "far": "" if drawn is None else drawn.far,
        "runs": [_line(job, studio, runs.get(job.id), marks.get(job.label, "")) for job in jobs[::-1]],
    }


def _search(studio: Studio, jobs: Sequence[Job]) -> dict[str, Any]:
    """Return how far the runs that are under way are, with those that were started together with them."""
    active = [job for job in jobs if not job.state.is_over]
    if not active:
        return {}
    sweeps = {job.sweep for job in active if job.sweep}
    together = [job for job in jobs if job in active or job.sweep in sweeps]
    done = fmean(1.0 if job.state.is_over else studio.jobs.live(job).done for job in together)
    begun, now = min((job.started for job in together if job.started), default=None), dt.datetime.now(dt.UTC)
    left = time_left((now - dt.datetime.fromisoformat(begun)).total_seconds(), done) if begun else None
    waiting = ngettext("{count} run is under way", "{count} runs are under way", len(active)).format(count=len(active))
    parts = [waiting, percent(done), *([f"{_('Time left, about')} {short_time(left)}"] if left else [])]
    counts = {"tried": len(together) - len(active), "count": len(together)}
    return {"active": len(active), "done": done, "text": " · ".join(parts), "counts": counts}


def _line(job: Job, studio: Studio, place: frontier.RiskUtilityPoint | None, mark: str) -> dict[str, Any]:
    live = studio.jobs.live(job)
    return {
        "id": job.id,
        "label": job.label,
        "state": str(live.state),
        "state_words": live.state.words,
        "done": live.done,
        "address": job.address,
        "use": None if place is None else place.use,
        "risk": None if place is None else place.risk,
        "verdict": None if place is None else str(place.status),
        "use_missing": unmeasured_reason(job.summary, "use") if place else "",
        "risk_missing": unmeasured_reason(job.summary, "risk") if place else "",
        "mark": mark if place else "",
        "created": job.created,
    }


class TriedSetting:
    """A setting with its finished runs, the oldest first, and their places (:class:`~noren.sweeps.advice.Candidate`).

    ``newest`` is the run that a click opens.
    """

    def __init__(self, studio: Studio, runs: Sequence[tuple[Job, frontier.RiskUtilityPoint]]) -> None:
        first, steps = runs[0][0], runs[0][0].order["steps"]
        self.runs, self.newest, self._studio = runs, runs[-1][0], studio
        self.label = first.label
        self.method = str(steps[0]["method"]) if len(steps) == 1 else "chain"
        self.strength = strength_text(self.method, steps[0]["parameters"])
        self.place = frontier.combined_point([place for _job, place in runs]).model_copy(update={"label": first.label})
        self.uses = [place.use for _job, place in runs if place.use is not None]

    @cached_property
    def verdict(self) -> Verdict:
        """How safe the worst run is."""
        worst, _place = min(self.runs, key=lambda run: (run[1].status.order, -(run[1].risk or 0.0)))
        return self._studio.verdict(worst.id)

    @cached_property
    def scores(self) -> dict[str, float]:
        """The mean of each measure over the runs that have it."""
        values: dict[str, list[float]] = {}
        for job, _place in self.runs:
            for measure in self._studio.result(job.id).measures:
                if measure.value is not None:
                    values.setdefault(measure.name, []).append(measure.value)
        return {name: fmean(some) for name, some in values.items()}
