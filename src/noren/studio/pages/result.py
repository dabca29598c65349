"""Result: what attackers achieve against a release, what stays useful, and what became of the data."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from noren.attacks import attacks as every_attack
from noren.data.schema import Kind
from noren.errors import NorenError
from noren.i18n import _
from noren.judgement.glossary import GlossaryEntry, terms
from noren.judgement.outcome import fitting
from noren.judgement.rule import RECIPIENTS, RULES, rule_named
from noren.judgement.sentences import (
    besides,
    cautions,
    guessed_sentences,
    headline_sentence,
    outcome_words,
    rule_sentence,
    told_sentences,
)
from noren.judgement.verdict import Verdict, Word
from noren.methods import methods as every_method
from noren.registry import flags
from noren.reports.run_view import RunView, StepView
from noren.studio.api.models import Ident
from noren.studio.api.surroundings import TheStudio
from noren.studio.folders import STAGES_FILE, read_json
from noren.studio.forms.parameter_forms import label_of, word_of
from noren.studio.judged import Result
from noren.studio.missing import engine_sentences, failures, is_unaudited, missing_sentence
from noren.studio.page_numbers import Fact, diversity_facts, key_facts, measured, table_risk_facts, useful_facts
from noren.studio.pages.frame import page
from noren.studio.pages.result_parts import change_words, classes_of, crosstab_of, histogram_of, row_pairs_of
from noren.studio.service import Studio
from noren.studio.store import Job, Project, State
from noren.web.cluster_stages import stage_rows
from noren.web.refusals import NotThereError

__all__ = ["router", "rule_words", "run_of", "untried_sentence"]

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
    return _page(request, studio, found, run, a=a, b=b, start=start, only_changed=only_changed)


def _page(
    request: Request,
    studio: Studio,
    found: Project,
    run: Job,
    *,
    a: str | None = None,
    b: str | None = None,
    start: int = 0,
    only_changed: bool = False,
    status: int = 200,
    wrong: str = "",
    typed: str = "",
) -> Response:
    view, verdict = studio.result(run.id), studio.verdict(run.id)
    table = verdict.facts.table
    told = [] if table is None or verdict.facts.proven_k is not None else told_sentences(table)
    return page(
        request,
        "result.html.jinja",
        title=verdict.sentence,
        place="results",
        project=found,
        run=run,
        view=view,
        verdict_of_run=verdict,
        **rule_words(found),
        failed=failures(view.told),
        untried=untried_sentence(studio, found, view, verdict),
        missing=missing_sentence(view.told),
        unaudited=is_unaudited(view.told),
        engines=engine_sentences(view.engines),
        cluster=stage_rows(read_json(studio.job_folder(run) / STAGES_FILE) or []),
        useful=useful_facts(view),
        risk=[*table_risk_facts(verdict), *diversity_facts(view)],
        headline=headline_sentence(verdict),
        besides=besides(verdict),
        key=key_facts(view, verdict),
        outcomes={one.attack: outcome_words(one, verdict) for one in verdict.evidence},
        told_by_class=[*told, cautions(verdict)[-1]] if told else [],
        guessed_by_class=[] if table is None or verdict.facts.proven_k is not None else guessed_sentences(table),
        summaries={name: _(every_attack[name].summary) for name in every_attack},
        measures={
            group: [measured(one) for one in view.measures if one.group == group] for group in ("utility", "safety")
        },
        precision=_precision(view),
        histograms=[histogram_of(bars) for bars in view.histograms],
        classes=classes_of(view),
        change_words=change_words,
        steps=[_step(step) for step in view.statement.steps],
        terms=_terms(view),
        crosstab=crosstab_of(studio, run, a, b),
        pairs=row_pairs_of(studio, run, view, start, only_changed=only_changed, kept={"a": a, "b": b}),
        here_address=f"/projects/{found.id}/results/{run.id}",
        status=status,
        wrong=wrong,
        typed=typed,
    )


# --- the rule ------------------------------------------------------------------------------------------------


def rule_words(project: Project) -> dict[str, Any]:
    """Return what a page says of the rule in force, and which others there are."""
    return {
        "rule": rule_sentence(rule_named(project.rule)),
        "rules": [(name, f"{name}: {_(RECIPIENTS[name])}") for name in RULES],
        "own_rule": "" if project.rule in RULES else project.rule,
    }


@router.post("/projects/{project}/results/{job}/rule")
def set_rule(
    request: Request,
    project: Ident,
    job: Ident,
    studio: TheStudio,
    rule: Annotated[str, Form(max_length=40)] = "",
    tolerance: Annotated[str, Form(max_length=40)] = "",
) -> Response:
    """Judge every release of a project by another rule; a tolerance of one's own goes before a name."""
    found, run = run_of(studio, project, job)
    try:
        studio.set_rule(project, tolerance.strip() or rule)
    except NorenError as error:
        return _page(request, studio, found, run, status=422, wrong=str(error), typed=tolerance)
    return RedirectResponse(f"/projects/{project}/results/{job}#rule", 303)


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
        change_words=change_words,
        here_address=f"/projects/{found.id}/results/{run.id}",
    )


# --- what leaks and what stays -------------------------------------------------------------------------------


def untried_sentence(studio: Studio, project: Project, view: Result, verdict: Verdict) -> str:
    """Return which attacks fit these data and were not tried against this release; nothing where all were."""
    known = {one.attack for one in view.facts.tried} | {one["component"] for one in failures(view.told)}
    names = [name for name in fitting(every_attack, studio.schema(project.id)) if name not in known]
    said = _("Not tried here: {names}. The verdict says nothing about them.")
    if verdict.word == Word.PROVED:
        said = _("Not tried here: {names}. What is proved holds against them too.")
    return said.format(names=", ".join(names)) if names else ""


def _precision(view: RunView) -> list[dict[str, Any]]:
    """Return the precision of each marginal, with the noise and reconstructed, where values were perturbed."""
    score = view.measure("l1-precision")
    marginals: dict[str, dict[str, Fact]] = {}
    for part, value in ({} if score is None else score.parts).items():
        name, mark, what = part.rpartition(", ")
        if what in ("perturbed", "reconstructed"):
            which = marginals.setdefault(name if mark else _("all columns together"), {})
            which[what] = Fact(f"measures.l1-precision.{part}", name, value, f"{value:.3f}", "useful-high", "")
    return [{"name": name} | facts for name, facts in marginals.items() if "perturbed" in facts]


# --- statement and explanations ------------------------------------------------------------------------------


def _step(step: StepView) -> dict[str, Any]:
    method = every_method[step.method] if step.method in every_method else None  # noqa: SIM401 - no get
    about = {} if method is None else {flag.field: flag for flag in flags(method)}
    return {
        "method": step.method,
        "summary": "" if method is None else _(method.summary),
        "promise": _(step.promise),
        "parameters": [
            {
                "name": label_of(method, name),
                "value": word_of(method, name, value) if isinstance(value, str) else _plain(value),
                "help": about[name].help if name in about else "",
            }
            for name, value in step.parameters.items()
            if value not in (None, [], {})
        ],
        "notes": [(name.replace("_", " "), _plain(value)) for name, value in step.notes.items() if value != []],
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


def _terms(view: RunView) -> list[GlossaryEntry]:
    """Return what the words of this page mean."""
    attacked = ("risk", "named", "right", "rate", "chance", "share", "best", "needed", "error")
    own = () if view.kind == Kind.HISTORY else ("risk",)
    wanted = (*Word, *attacked, *own, "shift", "unsaid", "deleted")
    return list(terms(*wanted).values())
