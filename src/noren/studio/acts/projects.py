"""What stewards do with projects."""

from __future__ import annotations

import shutil
from typing import Annotated, Final, Literal

from noren.data import catalog
from noren.errors import ParameterError
from noren.i18n import N_, _
from noren.judgement.rule import rule_named
from noren.studio.acts import Ident, asked
from noren.studio.project_files import copy_files
from noren.studio.service import Studio
from noren.studio.store import Project
from noren.studio.users import UserRole
from noren.web.actions import action
from noren.web.refusals import DiskFullError, is_disk_full

SAMPLES: Final = ("history", "people")
"""What can be made up: a shop's purchases, and a table of people."""
_LONGEST_NAME = 120


@action(
    UserRole.STEWARD,
    "POST /projects",
    status=201,
    body="ProjectIn",
    body_text="A new project: empty, with made-up data, or with a public data set found on this machine.",
)
def add_project(
    studio: Studio,
    *,
    name: Annotated[str, asked(min_length=1, max_length=_LONGEST_NAME, examples=["Shop A, 2026"])],
    sample: Annotated[str | None, asked(model=Literal[SAMPLES] | None)] = None,
    dataset: Annotated[str | None, asked(max_length=60)] = None,
) -> Project:
    """Add a project."""
    name = _project_name(name)
    if sample is not None and dataset is not None:
        raise ParameterError(_("a project has one kind of data"), _("choose a sample or a data set"))
    if sample is not None and sample not in SAMPLES:
        raise ParameterError(_("there is no such sample"), _("choose one of {names}").format(names=SAMPLES))
    if dataset is not None:
        catalog.find(dataset)
    source = {"sample": sample} if sample else {"dataset": dataset} if dataset else {}
    project = studio.store.add_project(name, source)
    studio.folders.project(project.id).mkdir(parents=True, mode=0o700)
    if source:
        studio.read(project)
    return project


def add_samples(studio: Studio) -> None:
    """Offer samples where there is nothing yet."""
    if studio.settings.samples and not studio.store.projects():
        add_project(studio, name=N_("A shop's purchases (made up)"), sample="history")
        add_project(studio, name=N_("A table of people (made up)"), sample="people")


@action(
    UserRole.STEWARD,
    "PATCH /projects/{project}",
    body="ProjectChange",
    body_text="Another name, another rule, archived or not; what is left out stays.",
)
def change_project(
    studio: Studio,
    *,
    project: Ident,
    name: Annotated[str | None, asked(min_length=1, max_length=_LONGEST_NAME)] = None,
    rule: Annotated[
        str | None,
        asked(
            min_length=1,
            max_length=40,
            description="public, partner, inside, pwscup2018, or a tolerance such as 1/8; every run is judged by it",
        ),
    ] = None,
    archived: Annotated[bool | None, asked(description="archived projects are kept, and left out of lists")] = None,
) -> Project:
    """Give a project another name, judge its releases by another rule, archive it or bring it back."""
    studio.project(project)
    if rule is not None:
        rule = rule.strip()
        if rule.endswith(".toml"):  # files of the server are not for those who use it
            raise ParameterError(_("a file cannot be named here"), _("choose a rule, or write a tolerance like 1/8"))
        rule_named(rule)
        studio.store.change_project(project, rule=rule)
    if name is not None:
        studio.store.change_project(project, name=_project_name(name))
    if archived is not None:
        studio.store.change_project(project, archived=archived)
    return studio.project(project)


@action(UserRole.STEWARD, "POST /projects/{project}/copy", status=201)
def copy_project(studio: Studio, *, project: Ident) -> Project:
    """Make a project of the same data without the runs, in which the columns can be read in another way."""
    found = studio.ready_project(project)
    schema = studio.folders.schema(project).read_text(encoding="utf-8")
    name = _("{name}, once more").format(name=found.name)[:_LONGEST_NAME]
    made = studio.store.add_project(name, found.source)
    facts = found.facts
    answered = {name: facts[name] for name in ("questions", "answers", "examples") if name in facts}
    try:
        studio.store.change_project(made.id, rule=found.rule)
        copy_files(studio.folders.project(project), studio.folders.project(made.id))
        studio.read(made, {"schema": schema, "leave_out": facts.get("left_out", [])} | answered)
    except Exception as error:  # half a copy is nobody's
        remove_project(studio, project=made.id)
        if is_disk_full(error):
            raise DiskFullError from None
        raise
    return studio.project(made.id)


@action(UserRole.STEWARD, "DELETE /projects/{project}", status=204)
def remove_project(studio: Studio, *, project: Ident) -> None:
    """Remove a project with everything made from it."""
    studio.project(project)
    for job in studio.store.jobs(project):
        studio.jobs.cancel(job.id)
    studio.store.remove_project(project)
    shutil.rmtree(studio.folders.project(project), ignore_errors=True)


def _project_name(name: str) -> str:
    name = " ".join(name.split())[:_LONGEST_NAME]
    if not name or not name.isprintable():
        raise ParameterError(_("a project needs a name"), _("write one"))
    return name
