"""Pages for sharing: public and secret part, reports, approvals, legal documents, the ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from secrets import token_hex
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Path, Query
from fastapi.responses import RedirectResponse, Response

from noren.data.release import Release
from noren.data.schema import Kind
from noren.drawing.base import live
from noren.drawing.ledger_chart import Curves, about_measure
from noren.errors import NorenError, ParameterError
from noren.i18n import _, use_language
from noren.judgement.numbers import percent
from noren.judgement.rule import RECIPIENTS, RULES, Rule
from noren.judgement.sentences import cautions, rule_sentence, verdict_label
from noren.judgement.verdict import Reason, Verdict, VerdictStatus
from noren.ledger import Certificate
from noren.ledger.certificate import certificate_sentence
from noren.papers.case import is_pseudonymised_only, judged_case
from noren.papers.pack import About, Law, pack_files, pack_of
from noren.papers.wording import fact_fields, submitted_facts
from noren.studio import approvals, exports
from noren.studio.actions import releases as acts
from noren.studio.actions.runs import start_report as order_report
from noren.studio.api.models import job_out
from noren.studio.api.runs import sent
from noren.studio.approvals import ApprovableRelease, ledger_release, release_of_run
from noren.studio.folders import StepData
from noren.studio.pages.frame import OfReady, OfRun, OfStudio, ProjectRequest, RunRequest, Typed, sentence
from noren.studio.pages.result import untried_sentence
from noren.studio.paper_facts import LEVELS, Level, keep_facts, known_facts
from noren.studio.store import Job, State
from noren.studio.users import UserRole, least, role_missing
from noren.studio.work.results import missing_sentence
from noren.studio.work.running import original_of
from noren.tables import Texts
from noren.web.errors import ForbiddenError, NotFoundError, status_of
from noren.web.frame import local_path

router = APIRouter()
say = Texts(__name__)

_HERE = "/projects/{project}/results/{job}/publish"
_RELEASE = "/projects/{project}/ledger/releases/{number}"
Number = Annotated[int, Path(ge=1, le=10**6)]
_EASY_TO_TRY = 2**40
"""Seeds below this could be found by trying, by somebody who has the original."""


@router.get(_HERE)
def show(visit: OfRun) -> Response:
    """Show what can be had of a finished run."""
    studio, run = visit.studio, visit.run
    if run.state != State.DONE and not visit.wrong:
        return visit.to_page(f"runs/{run.id}")
    view, verdict = studio.result(run.id), studio.verdict(run.id)
    untried = untried_sentence(visit, view, verdict)
    here = f"{visit.address}/publish"
    forms = {"parquet": f"{here}/public.zip", "CSV": f"{here}/public.zip?form=csv"}
    sharing = sharing_context(visit, release_of_run(studio, run.id), here, forms)
    report, rebuilt = (exports.latest(studio, run, kind) for kind in ("report", "reconstruct"))
    return visit.page(
        "export.html.jinja",
        title=_title(verdict, every_attack=not untried, waits=bool(sharing["waiting"])),
        missing=missing_sentence(view.outcome),
        place="results",
        view=view,
        verdict_of_run=verdict,
        cautions=[caution for caution in (*cautions(verdict), untried) if caution and caution != verdict.sentence],
        report=None if report is None else job_out(studio, report),
        rebuilt=None if rebuilt is None else job_out(studio, rebuilt),
        perturbed=exports.is_perturbed(run),
        easy_seed=run.order["seed"] < _EASY_TO_TRY,
        scripts=exports.script_texts(studio, run.id),
        sharing=sharing,
        here_address=here,
    )


def _title(verdict: Verdict, *, every_attack: bool, waits: bool = False) -> str:
    """Return the headline; a release can be shared only if it is proved or all attacks were tried."""
    if verdict.reason == Reason.SENSITIVE_DISCLOSED:
        return _("This release discloses sensitive values of people. Do not share it.")
    if verdict.reason == Reason.NOT_AUDITED:
        return sentence(approvals.say("unaudited"))
    if verdict.status == VerdictStatus.BROKEN:
        return _("This release breaks your rule. Do not share it.")
    if not verdict.status.is_safe:
        return _("No attack or measure was tried. Try some before you share this release.")
    if waits:
        return sentence(approvals.say("unapproved"))
    if verdict.status == VerdictStatus.PROVED:
        return _("This release is proved to meet your rule. The public part can be released.")
    if not every_attack:
        return say("not_all_tried")
    return _("This release withstands all known attacks. The public part can be released.")


# --- files ---------------------------------------------------------------------------------------------------


@router.get(_HERE + "/public.zip")
def public_part(visit: OfRun, form: Annotated[exports.Form, Query()] = "parquet") -> Response:
    """Send the public part."""
    return sent(exports.public_part(visit.studio, visit.run.id, form))


@router.get(_HERE + "/script")
def script(visit: OfRun, form: Annotated[exports.ScriptForm, Query()] = "zip") -> Response:
    """Send what was done, as a script."""
    return sent(exports.script(visit.studio, visit.run.id, form))


@router.post(_HERE + "/report")
@least(UserRole.REVIEWER)
def start_report(visit: OfRun) -> Response:
    """Write the report, unless it is being written."""
    return _started(visit, "report", lambda: order_report(visit.studio, project=visit.project.id, runs=[visit.run.id]))


@router.post(_HERE + "/reconstruct")
def start_reconstruction(visit: OfRun) -> Response:
    """Reconstruct the table, unless that is under way."""
    return _started(visit, "reconstruct", lambda: acts.start_reconstruction(visit.studio, job=visit.run.id))


def _started(visit: RunRequest, kind: exports.Written, start: Callable[[], Job]) -> RedirectResponse:
    last = exports.latest(visit.studio, visit.run, kind)
    if last is None or last.state.is_over:
        start()
    return RedirectResponse(f"{visit.address}/publish#{kind}", 303)


@router.get(_HERE + "/report.html")
@least(UserRole.REVIEWER)
def report_file(visit: OfRun) -> Response:
    """Send the last report about this run alone."""
    return _written(visit, "report")


@router.get(_HERE + "/reconstructed")
def reconstructed_table(visit: OfRun, form: Annotated[exports.TableForm, Query()] = "csv") -> Response:
    """Send the reconstructed table."""
    return _written(visit, "reconstruct", form)


def _written(visit: RunRequest, kind: exports.Written, form: exports.TableForm = "csv") -> Response:
    last = exports.latest(visit.studio, visit.run, kind)
    if last is None:
        raise NotFoundError(_("there is no such project, run or file; it may have been removed"))
    return sent(exports.written_file(visit.studio, last.id, kind, form))


@router.post(_HERE + "/secret")
def secret_part(visit: OfRun, confirmed: Annotated[str, Form(max_length=10)] = "") -> Response:
    """Send the secret part to who confirms to keep it; ask again otherwise."""
    if confirmed != "yes":
        wrong = _("confirm first: anyone who has the secret part can undo the protection")
        return show(visit.again(wrong, {"secret": "yes"}))
    return sent(acts.download_secret_part(visit.studio, job=visit.run.id, confirmed=True))


# --- approving and sharing -----------------------------------------------------------------------------------


@router.post(_HERE + "/share")
def share(visit: OfRun, typed: Typed) -> Response:
    """Release the public part to a recipient, or request it."""
    try:
        terms: dict[str, Any] = {**acts.publish_run.of_form(typed), "job": visit.run.id}
        acts.publish_run(visit.studio, who=visit.who, **terms)
    except NorenError as error:
        return show(visit.again(error, typed, status_of(error)))
    return RedirectResponse(f"{visit.address}/publish#release", 303)


def sharing_context(
    visit: ProjectRequest, release: ApprovableRelease, address: str, downloads: Mapping[str, str]
) -> dict[str, Any]:
    """Return what the part ``approvals.html.jinja`` of a page shows: ``downloads`` are addresses by their form."""
    studio, who, digest = visit.studio, visit.who, approvals.digest_of_files(release)
    records = [one for one in approvals.records(studio, release.project) if one.what == release.what]
    standing, problem = approvals.standing_record(studio, release, digest)
    waiting = [one for one in records if one.state == "waiting"]
    return {
        "address": address,
        "downloads": downloads,
        "four_eyes": studio.settings.four_eyes,
        "standing": standing,
        "problem": problem if records and not standing and not waiting else "",
        "waiting": [(one, approvals.bar_to_approval(studio, one, release, who)) for one in waiting],
        "audited": release.audited,
        "is_safe": release.verdict.status.is_safe,
        "verdict": verdict_label(release.verdict.status)[2:],
        "records": [one for one in records if one.state != "waiting"],
        "makers": sorted(approvals.makers_of(studio, release)),
        "digest": digest,
        "key": visit.typed.get("key") or token_hex(16),
    }


@router.get("/inbox")
@least(UserRole.REVIEWER)
def show_inbox(visit: OfStudio) -> Response:
    """Show what waits for the user's decision."""
    waiting = approvals.inbox(visit.studio, visit.who)
    names = {project.id: project.name for project in visit.studio.projects()}
    title = say("inbox.title", len(waiting), count=len(waiting)) if waiting else say("inbox.empty")
    return visit.page(
        "inbox.html.jinja",
        title=title,
        place="inbox",
        waiting=waiting,
        names=names,
        four_eyes=visit.studio.settings.four_eyes,
    )


@router.post("/inbox/{record}/{act}")
@least(UserRole.REVIEWER)
def decide(
    visit: OfStudio,
    record: Annotated[str, Path(pattern="^[0-9a-f]{64}$")],
    act: Literal["approve", "refuse"],
    typed: Typed,
) -> Response:
    """Approve or refuse what was requested."""
    try:
        if act == "approve":
            acts.approve(visit.studio, who=visit.who, record=record)
        else:
            acts.refuse(visit.studio, who=visit.who, record=record, reason=typed.get("reason", ""))
    except NorenError as error:
        return show_inbox(visit.again(error, typed | {"record": record}, status_of(error)))
    return RedirectResponse(local_path(typed.get("back", "/inbox")), 303)


# --- a release of the ledger ---------------------------------------------------------------------------------


@router.get(_RELEASE)
def show_release(visit: OfReady, number: Number) -> Response:
    """Show what can be done with a release of the ledger."""
    release = ledger_release(visit.studio, visit.project.id, number)
    address = _RELEASE.format(project=release.project, number=number)
    return visit.page(
        "ledger_release.html.jinja",
        title=_("Release of {period}: approval and recipients").format(period=release.label),
        place="ledger",
        verdict_of_run=release.verdict,
        sharing=sharing_context(visit, release, address, {"parquet": f"/api/v1{address}/public"}),
    )


@router.post(_RELEASE + "/share")
def share_release(visit: OfReady, number: Number, typed: Typed) -> Response:
    """Release a period of the ledger to a recipient, or request it."""
    try:
        about: dict[str, Any] = {"project": visit.project.id, "number": number}
        acts.publish_release(visit.studio, who=visit.who, **{**acts.publish_release.of_form(typed), **about})
    except NorenError as error:
        return show_release(visit.again(error, typed, status_of(error)), number)
    return visit.to_page(f"ledger/releases/{number}")


@router.get("/projects/{project}/results/{job}/papers")
@least(UserRole.REVIEWER)
def show_papers(visit: OfRun, law: Annotated[Law, Query()] = "appi") -> Response:
    """Show which papers there are for a law, and ask for what is not known."""
    studio, run = visit.studio, visit.run
    if run.state != State.DONE:
        return visit.to_page(f"runs/{run.id}")
    case = judged_case(Release.load(studio.job_folder(run) / "release"), studio.verdict(run.id))
    pack, stored = pack_of(case, law), known_facts(studio, run)
    # what the publications tell: to whom it went last, and when
    records = [record for record in approvals.publications(studio, run.project) if record.what == run.id][:1]
    known = {"recipient": records[0].to, "provided_on": records[0].when[:10]} if records else {}
    known |= {name: text for name, (text, _level) in stored.items()}
    keys, papers = dict.fromkeys(blank.key for _document, blank in pack.fields() if blank.key), len(pack.documents)
    left = len(pack.fields()) - sum(bool(known.get(key)) for key in keys)
    return visit.page(
        "papers.html.jinja",
        title=say("papers", papers, count=papers, left=left),
        place="results",
        verdict_of_run=case.verdict,
        law=law,
        laws=[(name, say(f"law.{name}")) for name in ("appi", "gdpr")],
        kinds=[(name, say(f"kind.{name}")) for name in ("auto", "anonymised", "pseudonymised")],
        documents=[(document.title, document.audience) for document in pack.documents],
        facts={key: fact_fields()[key] for key in keys},
        known=known,
        stored=stored,
        reaches=[(level, say(f"reach.{level}")) for level in reversed(LEVELS)],
        keeps=[(level, say(f"keep.{level}")) for level in reversed(LEVELS)],
        only_names=is_pseudonymised_only(case.release),
    )


@router.post("/projects/{project}/results/{job}/papers")
@least(UserRole.REVIEWER)
def write(
    visit: OfRun,
    typed: Typed,
    law: Annotated[Law, Form()],
    about: Annotated[About, Form()] = "auto",
    language: Annotated[Literal["en", "ja"], Form()] = "ja",
    keep: Annotated[Level, Form()] = "release",
) -> Response:
    """Keep what was filled in, and send the papers unless it was only to be kept."""
    if keep != "release" and not visit.who.may(UserRole.STEWARD):
        raise ForbiddenError(role_missing(visit.who, UserRole.STEWARD))
    studio, run = visit.studio, visit.studio.finished(visit.run.id)
    keep_facts(studio, run, submitted_facts(typed), keep)
    if typed.get("only") == "keep":
        return RedirectResponse(f"{visit.address}/papers?law={law}", 303)
    release = Release.load(studio.job_folder(run) / "release")
    case = judged_case(release, studio.verdict(run.id), original_of(run.order))
    known = {name: text for name, (text, _level) in known_facts(studio, run).items() if text}
    with use_language(language):
        files = list(pack_files(pack_of(case, law, known=known, about=about), case))
    name = exports.file_name(visit.project.name, run.label, ending=f"papers-{law}-{language}.zip")
    return sent(exports.Download(name, "application/zip", exports.packed(files)))


@router.get("/projects/{project}/ledger")
def show_ledger(visit: OfReady) -> Response:
    """Show the ledger, or how to begin one."""
    studio, project = visit.studio, visit.project
    book = approvals.ledger_as_dict(studio, project.id) if studio.folders.ledger(project.id).exists() else None
    last = next(reversed(studio.store.jobs(project.id, kind="ledger")), None)
    weighed = last.summary if last and last.state == State.DONE and not last.summary["released"] else None
    fits = project.facts["kind"] == Kind.HISTORY
    curve = weighed["curve"] if weighed else book["curve"] if book else None
    chart: dict[str, Any] | None = None
    rows: list[list[str]] = []
    if curve:
        lines = dict(curve["attacks"])
        if any(value is not None for value in curve["certified"]):
            lines[_("Certified")] = curve["certified"]
        rows = [[name, *("–" if value is None else percent(value) for value in line)] for name, line in lines.items()]
    if book and curve and curve["periods"]:
        how = {"measure": curve["measure"], "certified": curve["certified"], "proposed": weighed is not None}
        chart = live(Curves(curve["periods"], curve["attacks"], book["budget"], **how).chart(titled=False))
    if not fits:
        title = sentence(_("a ledger is for purchase histories; use a purchase history"))
    elif book is None:
        title = say("ledger.none")
    elif not book["entries"]:
        title = say("ledger.empty")
    else:
        newest, certificate = book["entries"][-1], book["certificate"]
        share = newest["risk"]["emm"] if certificate is None else certificate["rate"]["mm"]
        name = "ledger.found" if certificate is None else "ledger.certified"
        title = say(name, period=newest["period"], share=percent(share))
    return visit.page(
        "ledger.html.jinja",
        title=title,
        place="ledger",
        fits=fits,
        book=book,
        weighed=weighed,
        weighed_words=Verdict.model_validate(weighed["judged"]).sentence if weighed else "",
        weighed_certified=_certified(weighed["certificate"]) if weighed else "",
        certified_words=_certified(book["certificate"]) if book and book["entries"] else "",
        recipients=RECIPIENTS,
        rule_words=rule_sentence(Rule.model_validate(book["rule"])) if book else "",
        active=job_out(studio, last) if last and not last.state.is_over else None,
        failed=job_out(studio, last).error if last and last.state == State.FAILED else None,
        chart_spec=chart,
        curve=curve,
        about_measure=about_measure,
        curve_rows=rows,
        runs=studio.store.jobs(project.id, kind="run", states=(State.DONE,)),
        records=approvals.publications(studio, project.id),
    )


@router.post("/projects/{project}/ledger")
def begin(visit: OfReady, typed: Typed) -> Response:
    """Make the ledger."""
    studio, project, way, rule = visit.studio, visit.project.id, typed.get("way", ""), typed.get("rule", "")
    steps: Sequence[StepData] = ()
    try:
        if way not in ("", "usual"):  # as a run did it
            job = studio.finished(way)
            if job.project != project:
                raise ParameterError(_("choose finished runs of this project"))
            steps = job.order["steps"]
        # the most that EMM may come to, as it was written: 0.3, 30% or nothing
        share, budget = typed.get("budget", "").strip().replace("％", "%"), {}
        if share:
            try:
                budget["emm"] = float(share.removesuffix("%").strip()) / (100 if share.endswith("%") else 1)
            except ValueError:
                raise ParameterError(say("no_share", text=share)) from None
        if rule and rule not in RULES:  # never a file of the server's
            raise ParameterError(say("no_rule", word=rule, hint="", names=", ".join(RULES)))
        period: Any = typed.get("period", "month")
        acts.make_ledger(studio, project=project, steps=steps, period=period, budget=budget, rule=rule or None)
    except NorenError as error:
        return show_ledger(visit.again(error, typed))
    return visit.to_page("ledger")


@router.post("/projects/{project}/ledger/{act}")
def go_on(visit: OfReady, act: Literal["weigh", "add"], typed: Typed) -> Response:
    """Weigh the next release, or make it."""
    start = acts.weigh_period if act == "weigh" else acts.release_period
    try:
        start(visit.studio, project=visit.project.id, period=typed.get("period"))
    except NorenError as error:
        return show_ledger(visit.again(error, status=409))
    return visit.to_page("ledger")


def _certified(certificate: Mapping[str, Any] | None) -> str:
    """Return what is certified, in the reader's language."""
    return certificate_sentence(None if certificate is None else Certificate.model_validate(certificate))
