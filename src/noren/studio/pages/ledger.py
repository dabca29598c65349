"""Ledger: what was released period by period, and what the next release would add to the risk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from fastapi import APIRouter
from fastapi.responses import Response

from noren.data.schema import Kind
from noren.drawing.ground import live
from noren.drawing.ledger_chart import Curves, about_measure
from noren.errors import NorenError, ParameterError
from noren.i18n import _
from noren.judgement.numbers import percent
from noren.judgement.rule import RECIPIENTS, RULES, Rule
from noren.judgement.sentences import rule_sentence, word_text
from noren.judgement.verdict import Verdict, Word
from noren.ledger import Certificate
from noren.ledger.certificate import certificate_sentence
from noren.studio import handing_out
from noren.studio.acts import releases as acts
from noren.studio.api.models import said_job
from noren.studio.folders import StepData
from noren.studio.pages.frame import OfReady, Typed, Visit
from noren.studio.store import State

router = APIRouter()


@router.get("/projects/{project}/ledger")
def show_ledger(visit: OfReady) -> Response:
    """Show the ledger, or how to begin one."""
    return _ledger_page(visit, {}, "")


@router.post("/projects/{project}/ledger")
def begin(visit: OfReady, typed: Typed) -> Response:
    """Make the ledger."""
    studio, project, way, rule = visit.studio, visit.project.id, typed.get("way", ""), typed.get("rule", "")
    steps: Sequence[StepData] = ()
    try:
        if way not in ("", "usual"):  # as a run did it
            job = studio.finished(way)
            if job.project != project:
                raise ParameterError(_("this run belongs to another project"), _("choose one of this project's"))
            steps = job.order["steps"]
        budget = _budget(typed.get("budget", ""))
        if rule and rule not in RULES:  # never a file of the server's
            raise ParameterError(
                _("there is no rule {word!r}{hint}").format(word=rule, hint=""),
                _("choose one of {names}").format(names=", ".join(RULES)),
            )
        period: Any = typed.get("period", "month")
        acts.make_ledger(studio, project=project, steps=steps, period=period, budget=budget, rule=rule or None)
    except NorenError as error:
        return _ledger_page(visit, typed, str(error), 422)
    return visit.to_page("ledger")


@router.post("/projects/{project}/ledger/{act}")
def go_on(visit: OfReady, act: Literal["weigh", "add"], typed: Typed) -> Response:
    """Weigh the next release, or make it."""
    start = acts.weigh_period if act == "weigh" else acts.release_period
    try:
        start(visit.studio, project=visit.project.id, period=typed.get("period"))
    except NorenError as error:
        return _ledger_page(visit, {}, str(error), 409)
    return visit.to_page("ledger")


def _ledger_page(visit: Visit, typed: Mapping[str, str], wrong: str, status: int = 200) -> Response:
    studio, found = visit.studio, visit.project
    has_ledger = studio.folders.ledger(found.id).exists()
    book = handing_out.ledger_as_dict(studio, found.id) if has_ledger else None
    jobs = studio.store.jobs(found.id, kind="ledger")
    last = jobs[-1] if jobs else None
    weighed = last.summary if last and last.state == State.DONE and not last.summary["released"] else None
    fits = found.facts["kind"] == Kind.HISTORY
    curve = weighed["curve"] if weighed else book["curve"] if book else None
    chart: dict[str, Any] | None = None
    rows: list[list[str]] = []
    if curve:
        lines = dict(curve["found"])
        if any(value is not None for value in curve["certified"]):
            lines[_("certified")] = curve["certified"]
        rows = [[name, *("–" if value is None else percent(value) for value in line)] for name, line in lines.items()]
    if book and curve and curve["periods"]:
        how = {"measure": curve["measure"], "certified": curve["certified"], "proposed": weighed is not None}
        chart = live(Curves(curve["periods"], curve["found"], book["budget"], **how).chart(titled=False))
    return visit.page(
        "ledger.html.jinja",
        title=_title(book, fits=fits),
        place="ledger",
        status=status,
        fits=fits,
        book=book,
        weighed=weighed,
        weighed_words=Verdict.model_validate(weighed["judged"]).sentence if weighed else "",
        weighed_certified=_certified(weighed["certificate"]) if weighed else "",
        certified_words=_certified(book["certificate"]) if book and book["entries"] else "",
        weighed_word=weighed["verdict"]["verdict"] if weighed else "",
        rules=list(RULES),
        recipients=RECIPIENTS,
        rule_words=rule_sentence(Rule.model_validate(book["rule"])) if book else "",
        verdict_word=lambda word: word_text(Word(word)),
        active=said_job(studio, last) if last and not last.state.is_over else None,
        failed=said_job(studio, last).error if last and last.state == State.FAILED else None,
        chart_spec=chart,
        curve=curve,
        curve_words=about_measure(curve["measure"]) if curve else "",
        curve_rows=rows,
        runs=studio.store.jobs(found.id, kind="run", states=(State.DONE,)),
        typed=typed,
        wrong=wrong,
        records=handing_out.publications(studio, found.id),
    )


def _title(book: Mapping[str, Any] | None, *, fits: bool) -> str:
    if not fits:
        return _("A ledger is for purchase histories that are released again and again")
    if book is None:
        return _("Releasing again and again adds up: a ledger tells the risk before the next release")
    if not book["entries"]:
        return _("Nothing was released yet; see what the first period would risk")
    risk, last, certificate = book["entries"][-1]["risk"], book["entries"][-1]["period"], book["certificate"]
    if certificate is not None:
        return _("Until {period}, nobody can find more than {share} of customer months in the mean").format(
            period=last, share=percent(certificate["rate"]["mm"])
        )
    return _("Until {period}, an attack found {share} of customer months when it did best").format(
        period=last, share=percent(risk["emm"])
    )


def _certified(kept: Mapping[str, Any] | None) -> str:
    """Return what is certified, in the reader's language."""
    return certificate_sentence(None if kept is None else Certificate.model_validate(kept))


def _budget(text: str) -> dict[str, float]:
    """Return the most that EMM may come to, as it was written: 0.3, 30% or nothing."""
    text = text.strip().replace("％", "%")
    if not text:
        return {}
    try:
        value = float(text.removesuffix("%").strip()) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise ParameterError(_("{text!r} is no share").format(text=text), _("write 0.3 or 30%")) from None
    return {"emm": value}
