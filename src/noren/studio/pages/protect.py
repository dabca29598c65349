"""Protect: choose a method by what it promises, fill in its form, run it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse, Response

from noren.attacks import attacks as every_attack
from noren.i18n import _, active_language, ngettext
from noren.judgement.numbers import count
from noren.measures import measures as every_measure
from noren.protocols import OWN, PROMISES, Component, Method, PromiseKind, Runtime
from noren.studio.actions.runs import start_run
from noren.studio.forms import run_form
from noren.studio.forms.columns import open_stops
from noren.studio.forms.parameter_forms import fresh
from noren.studio.pages.compare import emptied_sentence, search_choices
from noren.studio.pages.frame import OfProject, OfReady, ProjectRequest, sentence
from noren.studio.store import State
from noren.studio.users import UserRole, least

router = APIRouter()

_LONG_FROM: Final = 10_000
"""Rows from which on a run whose judges take minutes is offered with quick judges alone."""


async def _sent(request: Request) -> dict[str, list[str]]:
    form = await request.form(max_files=0, max_fields=500)
    return {name: [text for text in form.getlist(name) if isinstance(text, str)] for name in form}


Sent = Annotated[dict[str, list[str]], Depends(_sent)]
Methods = Annotated[list[str], Query(max_length=8)]


@router.get("/projects/{project}/protect")
@least(UserRole.STEWARD)
def show_protect(
    visit: OfProject,
    method: Methods = [],  # noqa: B006 - FastAPI copies it
    run: Annotated[str, Query(alias="from", max_length=12)] = "",
    *,
    diverse: bool = False,
    most_rows: Annotated[str, Query(max_length=12)] = "",
) -> Response:
    """Show what can be promised, or the form of what was chosen."""
    studio, project = visit.studio, visit.project
    open_columns, questions = project.facts.get("open", []), open_stops(project.facts)
    if not project.is_ready or open_columns or questions:
        reading = studio.store.jobs(project.id, kind="read", states=(State.WAITING, State.RUNNING))
        if reading:
            title = _("Reading the data")
        elif questions:
            title = questions[0]["text"][active_language()]
        elif open_columns:
            title = _("What is “{name}” for?").format(name=", ".join(open_columns))
        else:
            title = sentence(_("this project has no data yet; upload a file first"))
        return visit.page(
            "protect.html.jinja",
            title=title,
            place="protect",
            groups=None,
            reading=reading[-1] if reading else None,
            open_columns=open_columns or [question["about"] for question in questions],
        )
    around = _around(visit)
    named = () if run else method[: run_form.MOST_STEPS]
    chosen = [kind for name in named if (kind := around.method(name)) is not None]
    draft = run_form.Draft(tuple((kind.name, fresh(kind, around.columns)) for kind in chosen))
    if run and (job := studio.job(run, kind="run")).project == project.id:
        draft = run_form.draft_of_job(job, around, diverse=diverse, most_rows=most_rows)
    if draft.steps:
        return _form(visit, around, run_form.checked(draft, around))
    title = _("Choose what to promise about {rows} rows of {people} people")
    return visit.page(
        "protect.html.jinja",
        title=title.format(rows=count(project.facts["rows"]), people=count(around.people)),
        place="protect",
        groups=by_promise(around.methods),
        reading=None,
        open_columns=[],
        searches=search_choices(visit),
        emptied=emptied_sentence(visit),
    )


@router.post("/projects/{project}/protect")
def order_run(visit: OfReady, sent: Sent) -> Response:
    """Add or take away a step, or run what was ordered; what is wrong is said next to its field."""
    around = _around(visit)
    draft = run_form.draft_of_form(sent, around)
    act = "".join(sent.get("act", ["run"])[:1])
    if act == "add":
        method = around.method("".join(sent.get("then", ())[:1]))
        if method is not None:
            added = (method.name, fresh(method, around.columns))
            draft = replace(draft, steps=(*draft.steps, added)[: run_form.MOST_STEPS])
    elif act.startswith("remove-") and act.removeprefix("remove-").isdigit():
        gone = int(act.removeprefix("remove-"))
        draft = replace(draft, steps=tuple(step for at, step in enumerate(draft.steps) if at != gone))
    if not draft.steps:
        return visit.to_page("protect")
    form = run_form.checked(draft, around)
    if act not in ("run", "quick"):
        return _form(visit, around, form, added=len(draft.steps) - 1 if act == "add" else None)
    if form.ready is None or form.errors or form.error:
        return _form(replace(visit, status=422), around, form)
    attacks, measures = draft.attacks, draft.measures
    if act == "quick":
        chosen = (around.attacks if attacks is None else attacks, around.measures if measures is None else measures)
        attacks, measures = map(tuple, run_form.quick_judges(*chosen))
    order: dict[str, Any] = {"steps": form.ready, "attacks": attacks, "measures": measures, "seed": form.seed}
    job = start_run(visit.studio, project=visit.project.id, **order)
    return visit.to_page(f"runs/{job.id}")


@router.post("/projects/{project}/protect/check")
def check_order(visit: OfReady, sent: Sent) -> JSONResponse:
    """Return what is wrong with what is typed so far, what it means and how long such a run takes."""
    around = _around(visit)
    form = run_form.checked(run_form.draft_of_form(sent, around), around)
    return JSONResponse(
        {
            "errors": dict(form.errors) | ({"": form.error} if form.error else {}),
            "meanings": {step.number: step.meaning for step in form.steps},
            **_aside_context(around, form),
        }
    )


def _around(visit: ProjectRequest) -> run_form.Surroundings:
    studio, project = visit.studio, visit.project
    return run_form.Surroundings(project, *studio.columns(project.id), studio.profile(project.id))


def _form(
    visit: ProjectRequest, around: run_form.Surroundings, form: run_form.CheckedForm, added: int | None = None
) -> Response:
    names = [step.method.name for step in form.steps]
    title = _(form.steps[0].method.summary).rstrip(".。") if len(names) == 1 else " → ".join(names)
    further = [
        (group.promise, [(method.name, _(method.summary)) for method in some])
        for group, some in by_promise(around.methods)
    ]
    there = {name for _promise, some in further for name, _summary in some} - set(names)
    # the method that people most often let follow, of those there are
    best = max(
        (method for method in around.methods if method.name in there),
        key=lambda method: method.offered_next,
        default=None,
    )

    def ticks(every: Sequence[str], chosen: Sequence[str] | None, registry: Any) -> list[tuple[str, str, bool]]:
        return [(name, _(registry[name].summary), chosen is None or name in chosen) for name in every]

    return visit.page(
        "protect_form.html.jinja",
        title=title,
        place="protect",
        checked=form,
        added=added,
        further=further,
        next_method=best.name if best is not None and best.offered_next else "",
        attacks=ticks(around.attacks, form.draft.attacks, every_attack),
        measures=ticks(around.measures, form.draft.measures, every_measure),
        **_aside_context(around, form),
    )


def _aside_context(around: run_form.Surroundings, form: run_form.CheckedForm) -> dict[str, Any]:
    """Return what the page shows beside the form: retention plans, attacks and measures, the expected time.

    ``long`` offers to leave out slow attacks and measures.
    """
    draft, rows = form.draft, int(around.profile["rows"])
    attacks = around.attacks if draft.attacks is None else draft.attacks
    measures = around.measures if draft.measures is None else draft.measures
    judges = [*(every_attack[name] for name in attacks), *(every_measure[name] for name in measures)]
    slow = any(component.runtime > Runtime.SECONDS for component in judges)
    parts: list[type[Component]] = [*(step.method for step in form.steps), *judges]
    slowest = max(parts, key=lambda component: component.runtime, default=Component)
    note = ngettext("{count} row", "{count} rows", rows).format(count=count(rows))
    if slowest.runtime > Runtime.SECONDS:
        note = _("The slowest part is {name}; these data have {rows} rows.").format(name=slowest.name, rows=count(rows))
    return {
        "plans": {step.number: plan_context(step.plan) for step in form.steps if step.plan is not None},
        "takes": {"time": slowest.runtime.words, "note": note, "long": slow and rows >= _LONG_FROM},
        "judges": f"{_('Attacks')}: {len(attacks)}, {_('Measures')}: {len(measures)}",
    }


def plan_context(plan: run_form.PlanOut) -> dict[str, Any]:
    """Return the plan of a retention for the page: k, and the probability of each attribute that a value stays."""
    cells = math.prod(attribute.values for attribute in plan.attributes)
    own = plan.plans[0].k
    alike = all(len(set(line.rho)) == 1 for line in plan.plans)
    lines = [
        {"k": f"{line.k:g}", "rho": [f"{rho:.4f}" for rho in line.rho[: 1 if alike else None]], "own": line.k == own}
        for line in sorted(plan.plans, key=lambda line: line.k)
    ]
    stays = [_("ρ, the retention probability")]
    headings = ["k", *(stays if alike else [f"ρ {attribute.name}" for attribute in plan.attributes])]
    summary = _("{cells} combinations of values for {rows} rows.").format(cells=count(cells), rows=count(plan.rows))
    if cells > plan.rows:
        summary += " " + _("With more combinations than rows, little can be learnt: choose fewer columns or classes.")
    return {"headings": headings, "lines": lines, "summary": summary}


def by_promise(methods: Sequence[type[Method]]) -> list[tuple[PromiseKind, list[type[Method]]]]:
    """Return methods under what they promise, in the order to show; the chain is made by adding steps, not chosen."""
    there = sorted(
        (method for method in methods if method.name != "chain"), key=lambda method: (-method.prominence, method.name)
    )
    kinds = dict.fromkeys([*PROMISES, *(method.promises for method in there if method.promises != OWN), OWN])
    grouped = [(kind, [method for method in there if method.promises == kind]) for kind in kinds]
    return [(PromiseKind(kind.key, _(kind.promise), _(kind.meaning)), some) for kind, some in grouped if some]
