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
from noren.studio.forms.columns import open_stops
from noren.studio.forms.parameter_forms import fresh
from noren.studio.forms.run_form import (
    MOST_STEPS,
    CheckedForm,
    Draft,
    PlanOut,
    Surroundings,
    checked,
    draft_of_form,
    draft_of_job,
    quick_judges,
)
from noren.studio.pages.compare import said_searches
from noren.studio.pages.frame import OfProject, OfReady, ProjectRequest
from noren.studio.store import State

router = APIRouter()

_LONG_FROM: Final = 10_000
"""Rows from which on a run whose judges take minutes is offered with quick judges alone."""


async def _sent(request: Request) -> dict[str, list[str]]:
    form = await request.form(max_files=0, max_fields=500)
    sent: dict[str, list[str]] = {}
    for name, value in form.multi_items():
        if isinstance(value, str):
            sent.setdefault(name, []).append(value)
    return sent


Sent = Annotated[dict[str, list[str]], Depends(_sent)]
Methods = Annotated[list[str], Query(max_length=8)]


@router.get("/projects/{project}/protect")
def show_protect(
    visit: OfProject,
    method: Methods = [],  # noqa: B006 - FastAPI copies it
    run: Annotated[str, Query(alias="from", max_length=12)] = "",
    *,
    diverse: bool = False,
) -> Response:
    """Show what can be promised, or the form of what was chosen."""
    studio, found = visit.studio, visit.project
    if not found.is_ready or found.facts.get("open") or open_stops(found.facts):
        reading = studio.store.jobs(found.id, kind="read", states=(State.WAITING, State.RUNNING))
        open_columns, asked = found.facts.get("open", []), open_stops(found.facts)
        if reading:
            title = _("The data are being read")
        elif asked:
            title = _("One answer is missing: {question}").format(question=asked[0]["text"][active_language()])
        elif open_columns:
            title = _("Nobody said yet what {columns} is for").format(columns=", ".join(open_columns))
        else:
            title = _("There is nothing to protect yet")
        return visit.page(
            "protect.html.jinja",
            title=title,
            place="protect",
            groups=None,
            reading=reading[-1] if reading else None,
            open_columns=open_columns or [one["about"] for one in asked],
        )
    around = _around(visit)
    if run:
        job = studio.job(run, kind="run")
        draft = draft_of_job(job, around, diverse=diverse) if job.project == found.id else Draft(())
    else:
        chosen = [one for name in method[:MOST_STEPS] if (one := around.method(name)) is not None]
        draft = Draft(tuple((one.name, fresh(one, around.columns)) for one in chosen))
    if draft.steps:
        return _form(visit, around, checked(draft, around))
    title = _("Choose what the release of {rows} rows about {people} people shall promise")
    return visit.page(
        "protect.html.jinja",
        title=title.format(rows=count(found.facts["rows"]), people=count(around.people)),
        place="protect",
        groups=[
            (group, [(method, around.missing_file(method)) for method in some])
            for group, some in by_promise(around.methods)
        ],
        reading=None,
        open_columns=[],
        searches=said_searches(visit),
    )


@router.post("/projects/{project}/protect")
def order_run(visit: OfReady, sent: Sent) -> Response:
    """Add or take away a step, or run what was ordered; what is wrong is said next to its field."""
    around = _around(visit)
    draft = draft_of_form(sent, around)
    act = "".join(sent.get("act", ["run"])[:1])
    if act == "add":
        method = around.method("".join(sent.get("then", ())[:1]))
        if method is not None:
            added = (method.name, fresh(method, around.columns))
            draft = replace(draft, steps=(*draft.steps, added)[:MOST_STEPS])
    elif act.startswith("remove-") and act.removeprefix("remove-").isdigit():
        gone = int(act.removeprefix("remove-"))
        draft = replace(draft, steps=tuple(step for at, step in enumerate(draft.steps) if at != gone))
    if not draft.steps:
        return visit.to_page("protect")
    told = checked(draft, around)
    if act not in ("run", "quick"):
        return _form(visit, around, told, added=len(draft.steps) - 1 if act == "add" else None)
    if told.ready is None or told.errors or told.error:
        return _form(replace(visit, status=422), around, told)
    attacks, measures = draft.attacks, draft.measures
    if act == "quick":
        chosen = (around.attacks if attacks is None else attacks, around.measures if measures is None else measures)
        attacks, measures = map(tuple, quick_judges(*chosen))
    order: dict[str, Any] = {"steps": told.ready, "attacks": attacks, "measures": measures, "seed": told.seed}
    job = start_run(visit.studio, project=visit.project.id, **order)
    return visit.to_page(f"runs/{job.id}")


@router.post("/projects/{project}/protect/check")
def check_order(visit: OfReady, sent: Sent) -> JSONResponse:
    """Return what is wrong with what is typed so far, what it means and how long such a run takes."""
    around = _around(visit)
    told = checked(draft_of_form(sent, around), around)
    return JSONResponse(
        {
            "errors": dict(told.errors) | ({"": told.error} if told.error else {}),
            "meanings": {step.number: step.meaning for step in told.steps},
            **_beside(around, told),
        }
    )


def _around(visit: ProjectRequest) -> Surroundings:
    studio, found = visit.studio, visit.project
    return Surroundings(found, *studio.columns(found.id), studio.profile(found.id))


# --- pages ---------------------------------------------------------------------------------------------------


def _form(visit: ProjectRequest, around: Surroundings, told: CheckedForm, added: int | None = None) -> Response:
    names = [step.method.name for step in told.steps]
    if len(names) == 1:
        title = _(told.steps[0].method.summary).rstrip(".。")
    else:
        title = _("{count} methods, one after another: {names}").format(count=len(names), names=" → ".join(names))
    further = [
        (group.promise, [(method.name, _(method.summary)) for method in some if not around.missing_file(method)])
        for group, some in by_promise(around.methods)
    ]
    there = {name for _promise, some in further for name, _summary in some} - set(names)
    # the method that people most often let follow, of those there are
    best = max((one for one in around.methods if one.name in there), key=lambda one: one.offered_next, default=None)

    def ticks(every: Sequence[str], chosen: Sequence[str] | None, registry: Any) -> list[tuple[str, str, bool]]:
        return [(name, _(registry[name].summary), chosen is None or name in chosen) for name in every]

    return visit.page(
        "protect_form.html.jinja",
        title=title,
        place="protect",
        told=told,
        added=added,
        further=further,
        next_method=best.name if best is not None and best.offered_next else "",
        attacks=ticks(around.attacks, told.draft.attacks, every_attack),
        measures=ticks(around.measures, told.draft.measures, every_measure),
        **_beside(around, told),
    )


def _beside(around: Surroundings, told: CheckedForm) -> dict[str, Any]:
    """Return what is told beside the fields: what retention keeps, who judges, how long the slowest part takes.

    Quick judges alone are offered where others would take ``long``.
    """
    draft, rows = told.draft, int(around.profile["rows"])
    attacks = around.attacks if draft.attacks is None else draft.attacks
    measures = around.measures if draft.measures is None else draft.measures
    judges = [*(every_attack[name] for name in attacks), *(every_measure[name] for name in measures)]
    slow = any(one.runtime > Runtime.SECONDS for one in judges)
    parts: list[type[Component]] = [*(step.method for step in told.steps), *judges]
    slowest = max(parts, key=lambda one: one.runtime, default=Component)
    note = _("These data have {rows} rows.").format(rows=count(rows))
    if slowest.runtime > Runtime.SECONDS:
        note = _("The slowest part is {name}; these data have {rows} rows.").format(name=slowest.name, rows=count(rows))
    said = ngettext("{count} measure judges the release", "{count} measures judge the release", len(measures))
    said = said.format(count=len(measures))
    if around.attacks:
        tries = ngettext("{count} attack tries it", "{count} attacks try it", len(attacks)).format(count=len(attacks))
        said = _("{judges}, {attackers}").format(judges=said, attackers=tries)
    return {
        "plans": {step.number: said_plan(step.plan) for step in told.steps if step.plan is not None},
        "takes": {"time": slowest.runtime.words, "note": note, "long": slow and rows >= _LONG_FROM},
        "judges": said,
    }


def said_plan(plan: PlanOut) -> dict[str, Any]:
    """Return the plan of a retention in words: k, and the probability of each attribute that a value stays."""
    cells = math.prod(one.values for one in plan.attributes)
    own = plan.plans[0].k
    alike = all(len(set(line.rho)) == 1 for line in plan.plans)
    lines = [
        {"k": f"{line.k:g}", "rho": [f"{rho:.4f}" for rho in line.rho[: 1 if alike else None]], "own": line.k == own}
        for line in sorted(plan.plans, key=lambda line: line.k)
    ]
    stays = [_("ρ, the chance that a value stays")]
    headings = ["k", *(stays if alike else [f"ρ {one.name}" for one in plan.attributes])]
    said = _("{cells} combinations of values for {rows} rows.").format(cells=count(cells), rows=count(plan.rows))
    if cells > plan.rows:
        said += " " + _("With more combinations than rows little can be learnt; choose fewer columns or classes.")
    return {"headings": headings, "lines": lines, "said": said}


def by_promise(methods: Sequence[type[Method]]) -> list[tuple[PromiseKind, list[type[Method]]]]:
    """Return methods under what they promise, in the order to show; the chain is made by adding steps, not chosen."""
    there = sorted((one for one in methods if one.name != "chain"), key=lambda one: (-one.prominence, one.name))
    kinds = dict.fromkeys([*PROMISES, *(one.promises for one in there if one.promises != OWN), OWN])
    found = [(kind, [one for one in there if one.promises == kind]) for kind in kinds]
    return [(PromiseKind(kind.key, _(kind.promise), _(kind.meaning)), some) for kind, some in found if some]
