"""What stewards do with runs: start one, a sweep or a search for a release, stop it, start it again, remove it.

What a search tries is what ``noren explore`` would try of these methods, and the answer is on the page Compare.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import Field

from noren.api import draw_seed
from noren.attacks import attacks as every_attack
from noren.data.release import Statement
from noren.errors import NorenError, ParameterError
from noren.i18n import _
from noren.judgement.outcome import label_of
from noren.judgement.rule import get_rule
from noren.measures import measures as every_measure
from noren.methods import methods as every_method
from noren.protocols import Method, Runtime
from noren.studio.actions import IDENT, Ident, MethodStep, body, parameter
from noren.studio.actions.projects import change_project
from noren.studio.folders import StepData, with_project_files, without_paths
from noren.studio.forms.run_form import checked_methods, quick_judges
from noren.studio.service import Studio
from noren.studio.store import Job, State
from noren.studio.users import UserRole
from noren.studio.work.results import forget_failures
from noren.studio.work.running import forget_shared, original_of
from noren.sweeps.defaults import sensible_methods, sensible_values, usual_parameters
from noren.sweeps.plan import data_key, expanded, placing_measures
from noren.sweeps.sweep import own_seed, sweep_folder
from noren.web.actions import action
from noren.web.errors import ConflictError
from noren.work.queue import new_id
from noren.work.run import fitting

FOR_WHOM: Final = ("partner", "public", "inside")
"""The rules that a release is found for, the usual one first."""
MORE_SEEDS: Final = 4
"""With how many further seeds the setting to take runs, to be surer of it."""
_MANY_ROWS: Final = 100_000
"""With more rows than these, only quick attacks and measures judge."""
_TOO_MANY_ROWS: Final = 500_000
"""With more rows than these, a slow method is left to whoever asks for it by name, where another fits."""
_MOST_RUNS: Final = 200

Attacks = Annotated[Sequence[str] | None, parameter(max_length=60, description="left out: every attack that fits")]
Measures = Annotated[Sequence[str] | None, parameter(max_length=60, description="left out: every measure that fits")]
Seed = Annotated[int | None, parameter(ge=0, lt=2**63, description="left out: drawn at random; never shown again")]


@action(UserRole.STEWARD, "POST /projects/{project}/runs", status=202, **body("Order"))
def start_run(
    studio: Studio,
    *,
    project: Ident,
    attacks: Attacks = None,
    measures: Measures = None,
    seed: Seed = None,
    steps: Annotated[Sequence[StepData], parameter(model=list[MethodStep], min_length=1, max_length=8)],
    sweep: str | None = None,
) -> Job:
    """Protect the data, attack the release and measure it, in the background."""
    owner, (folder, schema) = studio.ready_project(project), studio.columns(project)
    methods = checked_methods(owner, folder, schema, steps, attacks=attacks, measures=measures)
    made = [Statement(method.name, without_paths(method)) for method in methods]
    order = {
        "steps": [{"method": statement.method, "parameters": statement.parameters} for statement in made],
        "attacks": None if attacks is None else list(attacks),
        "measures": None if measures is None else list(measures),
        "seed": draw_seed() if seed is None else seed,
        "rule": owner.rule,
        "engine": studio.settings.engine,
    }
    label = label_of(made[0] if len(made) == 1 else Statement.of_chain(made))
    return studio.submit(project, "run", label, order, sweep)


@action(UserRole.STEWARD, "POST /projects/{project}/sweeps", status=202, **body("SweepOrder"))
def start_sweep(
    studio: Studio,
    *,
    project: Ident,
    attacks: Attacks = None,
    measures: Measures = None,
    seed: Seed = None,
    methods: Annotated[Sequence[StepData], parameter(model=list[MethodStep], min_length=1, max_length=20)],
    again: bool = True,
) -> list[Job]:
    """Start a run for every combination of parameters.

    The runs are those of ``noren explore``. The seed is that of ``noren explore --cache`` with the project's folder, so
    that either goes on with what the other did. Settings that have a run, or will have, run only where ``again`` says
    so.
    """
    owner, (folder, schema) = studio.ready_project(project), studio.columns(project)
    rule = studio.rule(project)
    ready: list[Method] = []
    for each in methods:
        kind = every_method[each["method"]]
        parameters = with_project_files(kind, dict(each.get("parameters", {})), folder)
        made = expanded(kind, parameters, int(owner.facts["people"]), schema=schema, rule=rule)
        ready += [method for method in made if method not in ready]
    if not 1 <= len(ready) <= _MOST_RUNS:
        raise ParameterError(_("a sweep has 1 to {most} runs, not {count:,}").format(most=_MOST_RUNS, count=len(ready)))
    orders: list[list[StepData]] = [[{"method": method.name, "parameters": without_paths(method)}] for method in ready]
    if not again:
        jobs = studio.store.jobs(project, kind="run")
        there = [job.order["steps"] for job in jobs if not job.state.is_over or job.state == State.DONE]
        orders = [steps for steps in orders if steps not in there]
    name = new_id()
    if seed is None:
        where = {"root": str(studio.settings.folder.resolve()), "project": project}
        seed = own_seed(sweep_folder(folder), data_key(original_of(where)))
    return [
        start_run(studio, project=project, steps=steps, attacks=attacks, measures=measures, seed=seed, sweep=name)
        for steps in orders
    ]


# --- find a release --------------------------------------------------------------------------------------------------


class Search(NamedTuple):
    """What is tried to find a release by a rule, as a sweep takes it: methods with values, and who judges.

    Everybody judges where nobody is named, else those who are quick.
    """

    methods: Sequence[StepData]
    attacks: Sequence[str] | None
    measures: Sequence[str] | None


def search_for(studio: Studio, project: str, rule: str) -> Search:
    """Return what would be tried by a rule; an error says why nothing can be found."""
    owner, (folder, schema), by = studio.ready_project(project), studio.columns(project), get_rule(rule)
    values = sensible_values(by, int(owner.facts["people"]))
    there = [kind for kind in studio.fitting(project, every_method) if kind.name != "chain"]
    with_files = []  # those that have the files of the project that they cannot do without
    for kind in there:
        available = {"k", *with_project_files(kind, {}, folder)}
        if all(name in available for name, about in kind.model_fields.items() if about.is_required()):
            with_files.append(kind)
    kinds = sensible_methods(with_files)
    if not kinds:
        raise ParameterError(
            _("no method that makes people indistinguishable fits these data; set the roles of the columns")
        )
    rows = int(owner.facts["rows"])
    slowest = Runtime.SECONDS if rows > _TOO_MANY_ROWS else Runtime.MINUTES
    quick = [kind for kind in kinds if kind.runtime <= slowest] or kinds[-1:]
    attacks: list[str] | None = None
    measures: list[str] | None = None
    if rows > _MANY_ROWS:
        attacks, measures = quick_judges(fitting(every_attack, schema), fitting(every_measure, schema))
        measures += [name for name in placing_measures(schema) if name not in measures]
        # what is not proved must withstand every attack that fits, and not the quick ones alone
        values = [k for k in values if k >= by.least_k]
    wanted: list[StepData] = [
        {"method": kind.name, "parameters": usual_parameters(kind, schema, values)} for kind in quick
    ]
    return Search(wanted, attacks, measures)


@action(UserRole.STEWARD, "POST /projects/{project}/find", status=202, **body("SearchOrder"))
def start_search(
    studio: Studio, *, project: Ident, rule: Annotated[str, parameter(model=Literal[FOR_WHOM])]
) -> list[Job]:
    """Judge the project by the rule of the recipient, and try a few sensible settings by it.

    None are run twice.
    """
    search, before = search_for(studio, project, rule), studio.project(project).rule
    change_project(studio, project=project, rule=rule)
    try:
        return start_sweep(studio, project=project, again=False, **search._asdict())
    except NorenError:
        change_project(studio, project=project, rule=before)
        raise


def more_seeds(studio: Studio, run: str) -> list[Job]:
    """Run the setting of a finished run with further seeds, judged by the same attacks and measures."""
    finished = studio.finished(run)
    order = {name: finished.order.get(name) for name in ("steps", "attacks", "measures")} | {"sweep": new_id()}
    return [
        start_run(studio, project=finished.project, seed=draw_seed(), **order)  # type: ignore[arg-type]
        for _time in range(MORE_SEEDS)
    ]


# --- what becomes of a run -------------------------------------------------------------------------------------------


@action(UserRole.STEWARD, "POST /jobs/{job}/{act}")
def act_on_job(studio: Studio, *, job: Ident, act: Annotated[Literal["cancel", "enough", "again"], parameter()]) -> Job:
    """Cancel a job, ask it to stop and keep the best so far, or start it again with the same seed.

    A run that made its release goes on as the same run: what it finished stays, and what failed is tried again. Any
    other job that was cancelled, failed or interrupted is started anew.
    """
    target = studio.job(job)
    if act == "cancel":
        studio.jobs.cancel(job)
        return studio.job(job)
    if act == "enough":
        if not studio.jobs.enough(job):
            raise ConflictError(_("not possible while the job is {state}").format(state=target.state.words))
        return target
    has_failed = target.state == State.DONE and bool(target.summary.get("failed"))
    if not has_failed and (not target.state.is_over or target.state == State.DONE):
        raise ConflictError(_("not possible while the job is {state}").format(state=target.state.words))
    folder = studio.job_folder(target)
    if has_failed or (target.kind == "run" and target.state != State.CANCELLED and (folder / "release").is_dir()):
        studio.store.trail.add("resumed", project=target.project, job=target.id)
        forget_failures(folder)
        studio.jobs.submit(target, done=0.0, error={})
        return studio.job(target.id)
    return studio.submit(target.project, target.kind, target.label, target.order, target.sweep)


@action(UserRole.STEWARD, "DELETE /jobs/{job}", status=204)
def remove_job(studio: Studio, *, job: Ident) -> None:
    """Remove a run with its release.

    Sweeps do not find it any more either.
    """
    target = studio.job(job)
    studio.jobs.cancel(job)
    studio.store.remove_job(job)
    others = [studio.job_folder(other) for other in studio.store.jobs(target.project, kind="run")]
    forget_shared(studio.folders.project(target.project), studio.job_folder(target), others)
    shutil.rmtree(studio.job_folder(target), ignore_errors=True)


@action(UserRole.REVIEWER, "POST /projects/{project}/reports", status=202, **body("ReportOrder"))
def start_report(
    studio: Studio,
    *,
    project: Ident,
    runs: Annotated[Sequence[Annotated[str, Field(**IDENT)]], parameter(min_length=1, max_length=50)],
) -> Job:
    """Write a report that stands alone in one file, about one or several runs.

    It is in the language now spoken.
    """
    owner = studio.ready_project(project)
    jobs = [studio.finished(run) for run in runs]
    if not jobs or any(job.project != project for job in jobs):
        raise ParameterError(_("choose finished runs of this project"))
    about = {"runs": [{"id": job.id, "label": job.label} for job in jobs], "title": owner.name, "rule": owner.rule}
    return studio.submit(project, "report", owner.name, about)
