"""Result: what attackers achieve against a release, what stays useful, and what became of the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from noren.attacks import attacks as every_attack
from noren.i18n import _
from noren.methods import methods as every_method
from noren.parameters import flags
from noren.studio import words
from noren.studio.api.models import Ident
from noren.studio.api.surroundings import TheStudio
from noren.studio.facts import Fact, measured, table_risk_facts, useful_facts
from noren.studio.form_words import label_of, word_of
from noren.studio.missing import failures, is_unaudited, missing_sentence, verdict_of
from noren.studio.pages.frame import page
from noren.studio.pages.result_parts import classes_of, crosstab_of, histogram_of, row_pairs_of
from noren.studio.service import NotThereError, Studio
from noren.studio.store import Job, Project, State
from noren.study.outcomes import fitting
from noren.study.report_words import glossary

__all__ = ["router", "run_of"]

router = APIRouter()

Start = Annotated[int, Query(ge=0, le=10**9)]
Column = Annotated[str | None, Query(max_length=200)]


def run_of(studio: Studio, project: str, job: str) -> tuple[Project, Job]:
    """Return a project and a run of it, or say that it is gone."""
    found, run = studio.ready_project(project), studio.job(job, kind="run")
    if run.project != found.id:
        raise NotThereError(_("there is no such run; it may have been removed"))
    return found, run


@router.get("/projects/{project}/results/{job}")
def show(
    request: Request,
    project: Ident,
    job: Ident,
    studio: TheStudio,
    a: Column = None,
    b: Column = None,
    start: Start = 0,
    only_changed: bool = False,
) -> Response:
    """Show a finished run; one that is under way has a page of its own."""
    found, run = run_of(studio, project, job)
    if run.state != State.DONE:
        return RedirectResponse(f"/projects/{found.id}/runs/{run.id}", 303)
    view = studio.result(job)
    return page(
        request,
        "result.html.jinja",
        title=missing_sentence(view) if is_unaudited(view) else words.verdict_sentence(view),
        place="results",
        project=found,
        run=run,
        view=view,
        kind=verdict_of(view),
        failed=failures(view),
        untried=untried_sentence(studio, found, view),
        missing=missing_sentence(view),
        unaudited=is_unaudited(view),
        bounds=words.bound_lines(view),
        useful=useful_facts(view),
        risk=table_risk_facts(view),
        told_by_class=words.told_by_class(view),
        guessed_by_class=words.guessed_by_class(view) or [said for said in [words.named_caution(view)] if said],
        attacks=_attacks(view),
        measures=_measures(view),
        precision=_precision(view),
        histograms=[histogram_of(bars) for bars in view["histograms"]],
        classes=classes_of(view),
        crosstab=crosstab_of(studio, run, a, b),
        pairs=row_pairs_of(studio, run, view, start, only_changed=only_changed, kept={"a": a, "b": b}),
        change_words=words.change_words,
        steps=[_step(step) for step in view["statement"]["steps"]],
        terms=_terms(view),
        here_address=f"/projects/{found.id}/results/{run.id}",
    )


@router.get("/projects/{project}/results/{job}/crosstab")
def show_crosstab(
    request: Request, project: Ident, job: Ident, studio: TheStudio, a: Column = None, b: Column = None
) -> Response:
    """Show the cross tabulation alone, for a page that is open."""
    found, run = run_of(studio, project, job)
    return page(
        request,
        "result_crosstab.html.jinja",
        title="",
        place="results",
        project=found,
        crosstab=crosstab_of(studio, run, a, b),
        here_address=f"/projects/{found.id}/results/{run.id}",
    )


@router.get("/projects/{project}/results/{job}/rows")
def show_rows(
    request: Request, project: Ident, job: Ident, studio: TheStudio, start: Start = 0, only_changed: bool = False
) -> Response:
    """Show a page of rows alone, for a page that is open."""
    found, run = run_of(studio, project, job)
    view = studio.result(job)
    return page(
        request,
        "result_rows.html.jinja",
        title="",
        place="results",
        project=found,
        pairs=row_pairs_of(studio, run, view, start, only_changed=only_changed, kept={}),
        change_words=words.change_words,
        here_address=f"/projects/{found.id}/results/{run.id}",
    )


# --- what leaks and what stays -------------------------------------------------------------------------------


def _attacks(view: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        dict(one)
        | {
            "worst": one["attack"] == view["most_damaging"],
            "summary": _(every_attack[one["attack"]].summary) if one["attack"] in every_attack else "",
        }
        for one in view["attacks"]
    ]


def untried_sentence(studio: Studio, project: Project, view: Mapping[str, Any]) -> str:
    """Return which attacks fit these data and were not tried against this release; nothing where all were."""
    if view["table_risk"] is not None:
        return ""
    known = {one["attack"] for one in view["attacks"]} | {one["component"] for one in failures(view)}
    names = [name for name in fitting(every_attack, studio.schema(project.id)) if name not in known]
    said = _("Not tried here: {names}. The verdict says nothing about them.")
    return said.format(names=", ".join(names)) if names else ""


def _measures(view: Mapping[str, Any]) -> dict[str, list[Any]]:
    shown: dict[str, list[Any]] = {"utility": [], "safety": []}
    for one in view["measures"]:
        shown[one["group"]].append(measured(one))
    return shown


def _precision(view: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the precision of each marginal, with the noise and reconstructed, where values were perturbed."""
    parts: dict[str, float] = next((one["parts"] for one in view["measures"] if one["name"] == "l1-precision"), {})
    marginals: dict[str, dict[str, Fact]] = {}
    for part, value in parts.items():
        name, mark, what = part.rpartition(", ")
        if what in ("perturbed", "reconstructed"):
            which = marginals.setdefault(name if mark else _("all columns together"), {})
            which[what] = Fact(f"measures.l1-precision.{part}", name, value, f"{value:.3f}", "useful-high", "")
    return [{"name": name} | facts for name, facts in marginals.items() if "perturbed" in facts]


# --- statement and explanations ------------------------------------------------------------------------------


def _step(step: Mapping[str, Any]) -> dict[str, Any]:
    method = every_method[step["method"]] if step["method"] in every_method else None  # noqa: SIM401 - no get
    about = {} if method is None else {flag.field: flag for flag in flags(method)}
    return {
        "method": step["method"],
        "summary": "" if method is None else _(method.summary),
        "promise": _(step["promise"]),
        "parameters": [
            {
                "name": label_of(step["method"], name),
                "value": word_of(name, value) if isinstance(value, str) else _plain(value),
                "help": about[name].help if name in about else "",
            }
            for name, value in step["parameters"].items()
            if value not in (None, [], {})
        ],
        "notes": [(name.replace("_", " "), _plain(value)) for name, value in step["notes"].items() if value != []],
    }


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, float | int):
        return f"{value:,.6g}"
    if isinstance(value, list):
        return ", ".join(_plain(one) for one in value)
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_plain(one)}" for name, one in value.items())
    return str(value)


def _terms(view: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return what the words of this page mean."""
    known = glossary()
    wanted = ["named", "right", "needed", "chance", "share", "error"] if view["table_risk"] is None else []
    return [(name, known[name]) for name in [*wanted, "shift", "unsaid", "deleted"]]
