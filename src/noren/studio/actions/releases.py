"""What is done with releases: share, approve and refuse; download the secret part; the ledger of a project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from noren.api import draw_seed
from noren.data.schema import Kind
from noren.errors import ParameterError
from noren.i18n import _
from noren.judgement.rule import RULES
from noren.ledger import Ledger
from noren.studio import approvals, exports
from noren.studio.actions import Ident, MethodStep, body, parameter
from noren.studio.approvals import Publication, ledger_release, release_of_run
from noren.studio.folders import StepData, method_of
from noren.studio.service import Studio
from noren.studio.store import Job, State
from noren.studio.users import StudioIdentity, UserRole
from noren.web.actions import action
from noren.web.errors import ConflictError, NotFoundError


@action(UserRole.STEWARD, "POST /runs/{job}/secret", **body("Confirmation"))
def download_secret_part(
    studio: Studio,
    *,
    job: Ident,
    confirmed: Annotated[
        bool,
        parameter(model=Literal[True], description="I keep this file to myself: it tells who is behind each pseudonym"),
    ],
) -> exports.Download:
    """Return the secret part: who is behind each pseudonym, where each row came from, and the seed."""
    if not confirmed:
        raise ConflictError(_("confirm first: anyone who has the secret part can undo the protection"))
    run = studio.finished(job)
    folder = studio.job_folder(run) / "release" / "secret"
    if not folder.is_dir():
        raise NotFoundError(_("this release has no secret part"))
    files = sorted(path for path in folder.iterdir() if path.is_file())
    studio.store.trail.add("secret-taken", project=run.project, job=run.id)
    name = exports.file_name(studio.project(run.project).name, run.label, ending="SECRET.zip")
    return exports.Download(name, "application/zip", exports.packed((f"secret/{p.name}", p) for p in files))


@action(UserRole.STEWARD, "POST /runs/{job}/reconstruction", status=202)
def start_reconstruction(studio: Studio, *, job: Ident) -> Job:
    """Estimate in the background what a table perturbed by retention was before, from the public part alone."""
    run = studio.finished(job)
    if not exports.is_perturbed(run):
        raise ConflictError(_("only what retention perturbed can be reconstructed"))
    return studio.submit(run.project, "reconstruct", run.label, {"runs": [{"id": run.id, "label": run.label}]})


# --- approving and sharing --------------------------------------------------------------------------------------------

Number = Annotated[int, parameter(ge=1, le=10**6)]
Record = Annotated[
    str, parameter(pattern="^[0-9a-f]{64}$", description="a record: the digest of its entry of the trail")
]
To = Annotated[str, parameter(min_length=1, max_length=500, examples=["Example University, laboratory of Prof. A"])]
Purpose = Annotated[str, parameter(min_length=1, max_length=500, examples=["forecasting of sales"])]
Until = Annotated[str | None, parameter(max_length=10, examples=["2027-03-31"])]
Reason = Annotated[
    str, parameter(max_length=500, description="why it is released, where its verdict is broken or untried")
]
Key = Annotated[
    str, parameter(max_length=64, description="posts with the same key are one act; empty: those with the same terms")
]


@action(UserRole.STEWARD, "POST /runs/{job}/publications", status=201, **body("PublicationIn"))
def publish_run(
    studio: Studio,
    *,
    who: StudioIdentity,
    job: Ident,
    to: To,
    purpose: Purpose,
    until: Until = None,
    reason: Reason = "",
    key: Key = "",
) -> Publication:
    """Release a run's public part to a recipient; with four-eyes approval, request it."""
    release = release_of_run(studio, job)
    return approvals.publish(studio, release, who, to=to, purpose=purpose, until=until, reason=reason, key=key)


@action(
    UserRole.STEWARD,
    "POST /projects/{project}/ledger/releases/{number}/publications",
    status=201,
    **body("PublicationIn"),
)
def publish_release(
    studio: Studio,
    *,
    who: StudioIdentity,
    project: Ident,
    number: Number,
    to: To,
    purpose: Purpose,
    until: Until = None,
    reason: Reason = "",
    key: Key = "",
) -> Publication:
    """Release a period of the ledger to a recipient; with four-eyes approval, request it."""
    release = ledger_release(studio, project, number)
    return approvals.publish(studio, release, who, to=to, purpose=purpose, until=until, reason=reason, key=key)


@action(UserRole.REVIEWER, "POST /publications/{record}/approval", status=201)
def approve(studio: Studio, *, who: StudioIdentity, record: Record) -> Publication:
    """Approve what was requested, as it is; nobody approves what she made or requested."""
    return approvals.decide(studio, record, who)


@action(UserRole.REVIEWER, "POST /publications/{record}/refusal", status=201, **body("Refusal"))
def refuse(
    studio: Studio,
    *,
    who: StudioIdentity,
    record: Record,
    reason: Annotated[str, parameter(min_length=1, max_length=500)],
) -> Publication:
    """Refuse what was requested, for a reason."""
    return approvals.decide(studio, record, who, reason)


# --- the ledger ------------------------------------------------------------------------------------------------------

Limit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
RuleWord = Annotated[str, Field(pattern=rf"^({'|'.join(RULES)}|[0-9.][0-9./]{{0,11}})$")]
Period = Annotated[str | None, parameter(max_length=20, examples=["2011/1"])]


@action(UserRole.STEWARD, "POST /projects/{project}/ledger", status=201, **body("LedgerIn"))
def make_ledger(
    studio: Studio,
    *,
    project: Ident,
    steps: Annotated[
        Sequence[StepData],
        parameter(model=list[MethodStep], default=[], max_length=8, description="left out: noise, and fresh names"),
    ] = (),
    period: Annotated[Literal["month", "week", "quarter"], parameter()] = "month",
    budget: Annotated[
        Mapping[str, float] | None, parameter(model=dict[Literal["um", "mm", "emm"], Limit], default={})
    ] = None,
    attacks: Annotated[Sequence[str] | None, parameter(min_length=1, max_length=60)] = None,
    rule: Annotated[
        str | None, parameter(model=RuleWord, description="a rule's name, or a tolerance such as 0.2 or 1/8")
    ] = "partner",
) -> dict[str, Any]:
    """Make the empty ledger of a project."""
    owner = studio.ready_project(project)
    if owner.facts["kind"] != Kind.HISTORY:
        raise ParameterError(_("a ledger is for purchase histories; use a purchase history"))
    if studio.folders.ledger(project).exists():
        raise ConflictError(_("this project has a ledger already"))
    # unless somebody says otherwise, a period is protected by noise and fresh names
    usual: list[StepData] = [{"method": "perturb"}, {"method": "monthly-pseudonyms"}]
    # a step goes by the ledger's periods, whatever the run it is taken from went by
    ways = []
    for step in steps or usual:
        values = {name: value for name, value in step.get("parameters", {}).items() if name not in ("period", "starts")}
        ways.append(method_of([{"method": step["method"], "parameters": values}], studio.folders.project(project)))
    Ledger.create(
        studio.folders.ledger(project),
        schema=studio.schema(project),
        chain=ways,
        period=period,
        budget=budget,
        attacks=attacks,
        rule=rule,
    )
    return approvals.ledger_as_dict(studio, project)


@action(UserRole.STEWARD, "POST /projects/{project}/ledger/weigh", status=202, **body("PeriodIn"))
def weigh_period(studio: Studio, *, project: Ident, period: Period = None) -> Job:
    """See what the release of a period would add to the risk; nothing is released."""
    return _start_period(studio, project, "weigh", period)


@action(UserRole.STEWARD, "POST /projects/{project}/ledger/releases", status=202, **body("PeriodIn"))
def release_period(studio: Studio, *, project: Ident, period: Period = None) -> Job:
    """Release a period, unless the budget would be broken."""
    return _start_period(studio, project, "add", period)


def _start_period(studio: Studio, project: str, act: Literal["weigh", "add"], period: str | None) -> Job:
    to_come = approvals.periods_to_come(studio, project)
    if not to_come:
        raise ConflictError(_("every period of the data was released"))
    if period is not None and period not in to_come:
        raise ParameterError(_("use one of {names}").format(names=", ".join(to_come)), value=period)
    if studio.store.jobs(project, kind="ledger", states=(State.WAITING, State.RUNNING)):
        raise ConflictError(_("the ledger is at work; wait until it is done"))
    order = {"act": act, "period": period or to_come[0], "seed": draw_seed()}
    return studio.submit(project, "ledger", period or to_come[0], order)
