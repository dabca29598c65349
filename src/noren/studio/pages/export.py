"""Publish: what can be handed out, what tells about it, and, behind a warning of its own, what must be kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from noren.errors import NorenError
from noren.i18n import _
from noren.judgement.sentences import besides, cautions, headline_sentence
from noren.judgement.verdict import Reason, Verdict, Word
from noren.studio import exports
from noren.studio.api.exports import sent
from noren.studio.api.models import Ident, said_job
from noren.studio.api.surroundings import TheStudio, TheWho
from noren.studio.handing_out import release_of_run
from noren.studio.missing import is_unaudited, missing_sentence
from noren.studio.pages.frame import page
from noren.studio.pages.handing_out import Act, TypedIn, acted, handing_of
from noren.studio.pages.result import rule_words, run_of, untried_sentence
from noren.studio.service import Studio
from noren.studio.store import Job, Project, State
from noren.studio.users import UserRole, Who, least

router = APIRouter()

_HERE = "/projects/{project}/results/{job}/publish"


@router.get(_HERE)
def show(request: Request, project: Ident, job: Ident, studio: TheStudio, who: TheWho) -> Response:
    """Show what can be had of a finished run."""
    found, run = run_of(studio, project, job)
    if run.state != State.DONE:
        return RedirectResponse(f"/projects/{found.id}/runs/{run.id}", 303)
    return _page(request, studio, found, run, who)


def _page(
    request: Request,
    studio: Studio,
    found: Project,
    run: Job,
    who: Who,
    *,
    wrong: str = "",
    not_done: NorenError | None = None,
    typed: Mapping[str, str] | None = None,
    status: int = 200,
) -> Response:
    view, verdict = studio.result(run.id), studio.verdict(run.id)
    untried = untried_sentence(studio, found, view, verdict)
    here = _HERE.format(project=found.id, job=run.id)
    handing = handing_of(studio, release_of_run(studio, run.id), who, here)
    report, rebuilt = (exports.latest(studio, run, kind) for kind in ("report", "reconstruct"))
    return page(
        request,
        "export.html.jinja",
        title=_title(verdict, every_attack=not untried, may_leave=handing["may_leave"]),
        unaudited=is_unaudited(view.told),
        missing=missing_sentence(view.told),
        place="results",
        project=found,
        status=status,
        run=run,
        view=view,
        verdict_of_run=verdict,
        headline=headline_sentence(verdict),
        besides=besides(verdict),
        rule=rule_words(found)["rule"],
        cautions=[said for said in (*cautions(verdict), untried) if said and said != verdict.sentence],
        report=None if report is None else said_job(report, studio.jobs),
        rebuilt=None if rebuilt is None else said_job(rebuilt, studio.jobs),
        perturbed=exports.is_perturbed(run),
        easy_seed=exports.seed_is_easy(run),
        official=exports.is_official(studio, run),
        scripts=exports.script_texts(studio, run.id),
        wrong=wrong,
        not_done="" if not_done is None else str(not_done),
        typed=typed or {},
        handing=handing,
        result_address=f"/projects/{found.id}/results/{run.id}",
        here_address=here,
    )


def _title(verdict: Verdict, *, every_attack: bool, may_leave: bool = True) -> str:
    """Return what a steward should know first; that it can be handed out only where it is proved or all was tried."""
    if verdict.reason == Reason.SENSITIVE_TOLD:
        return _("This release discloses sensitive values of people: do not hand it out as it is")
    if verdict.reason == Reason.NOT_AUDITED:
        return _("Nobody checked whether this release keeps what it claims, for the audit failed: do not hand it out.")
    if verdict.word == Word.BROKEN:
        return _("This release is broken by the rule: do not hand it out as it is")
    if not verdict.word.is_safe:
        return _("Nobody knows yet what this release gives away: attack it or measure it before you hand it out")
    if not may_leave:
        return _("Another user must approve this release before it is handed out")
    if verdict.word == Word.PROVED:
        return _("This release is proved safe by the rule; its public part can be handed out")
    if not every_attack:
        return _("This release withstands the attacks tried; others were not tried: try them before you hand it out")
    return _("This release withstands all that was tried; its public part can be handed out")


# --- what can be handed out ----------------------------------------------------------------------------------


@router.get(_HERE + "/public.zip")
def public_part(
    project: Ident, job: Ident, studio: TheStudio, form: Annotated[exports.Form, Query()] = "parquet"
) -> Response:
    """Send the public part."""
    _found, run = run_of(studio, project, job)
    return sent(exports.public_part(studio, run.id, form))


@router.get(_HERE + "/script")
def script(
    project: Ident, job: Ident, studio: TheStudio, form: Annotated[exports.ScriptForm, Query()] = "zip"
) -> Response:
    """Send what was done, as a script."""
    _found, run = run_of(studio, project, job)
    return sent(exports.script(studio, run.id, form))


# --- what is written when asked for --------------------------------------------------------------------------


@router.post(_HERE + "/report")
@least(UserRole.REVIEWER)
def start_report(project: Ident, job: Ident, studio: TheStudio) -> Response:
    """Write the report, unless it is being written."""
    found, run = run_of(studio, project, job)
    return _started(studio, found, run, "report", lambda: studio.report(found.id, [run.id]))


@router.post(_HERE + "/reconstruct")
def start_reconstruction(project: Ident, job: Ident, studio: TheStudio) -> Response:
    """Reconstruct the table, unless that is under way."""
    found, run = run_of(studio, project, job)
    return _started(studio, found, run, "reconstruct", lambda: exports.reconstruct(studio, run.id))


def _started(
    studio: Studio, found: Project, run: Job, kind: exports.Written, start: Callable[[], Job]
) -> RedirectResponse:
    last = exports.latest(studio, run, kind)
    if last is None or last.state.is_over:
        start()
    return RedirectResponse(_HERE.format(project=found.id, job=run.id) + f"#{kind}", 303)


@router.get(_HERE + "/report.html")
@least(UserRole.REVIEWER)
def report_file(project: Ident, job: Ident, studio: TheStudio) -> Response:
    """Send the last report about this run alone."""
    _found, run = run_of(studio, project, job)
    return sent(exports.report_file(studio, exports.written_for(studio, run, "report").id))


@router.get(_HERE + "/reconstructed")
def reconstructed_table(
    project: Ident, job: Ident, studio: TheStudio, form: Annotated[exports.TableForm, Query()] = "csv"
) -> Response:
    """Send the reconstructed table."""
    _found, run = run_of(studio, project, job)
    return sent(exports.reconstructed_table(studio, exports.written_for(studio, run, "reconstruct").id, form))


# --- what must be kept ---------------------------------------------------------------------------------------


@router.post(_HERE + "/secret")
def secret_part(
    request: Request,
    project: Ident,
    job: Ident,
    studio: TheStudio,
    who: TheWho,
    confirmed: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    """Send the secret part to who confirms to keep it; ask again otherwise."""
    found, run = run_of(studio, project, job)
    if confirmed != "yes":
        wrong = _("Tick the box first: whoever has this file can undo the protection.")
        return _page(request, studio, found, run, who, wrong=wrong, status=422)
    return sent(exports.secret_part(studio, run.id, confirmed=True))


# --- approving and handing out -------------------------------------------------------------------------------


@router.post(_HERE + "/{act}")
@least(UserRole.REVIEWER)
def decide(
    request: Request, project: Ident, job: Ident, act: Act, studio: TheStudio, who: TheWho, typed: TypedIn
) -> Response:
    """Approve or refuse the release, or record that it is handed out."""
    found, run = run_of(studio, project, job)
    wrong = acted(studio, release_of_run(studio, run.id), who, act, typed)
    if wrong is not None:
        status = int(getattr(wrong, "status", 422))
        return _page(request, studio, found, run, who, not_done=wrong, typed=typed, status=status)
    anchor = "handed-out" if act == "hand-out" else "approval"
    return RedirectResponse(_HERE.format(project=found.id, job=run.id) + f"#{anchor}", 303)
