"""What is done with projects and users: add, bring a file, say what its columns mean, answer questions, remove."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

from pydantic import Base64Bytes, Field

from noren.data import catalog
from noren.data.hierarchies.levels import CheckedFile
from noren.data.schema import PRESETS, Kind, Role, Schema, reject_unclassified
from noren.errors import InputError, NorenError, ParameterError
from noren.i18n import N_, _
from noren.judgement.rule import get_rule
from noren.studio.actions import Ident, StrictInput, body, parameter
from noren.studio.folders import SOURCE_FILE, copy_files
from noren.studio.forms import columns as forms
from noren.studio.hierarchies import LARGEST, forget_categories, set_hierarchies
from noren.studio.service import Studio
from noren.studio.store import Job, Project
from noren.studio.users import User, UserRole
from noren.web.actions import action
from noren.web.errors import ConflictError
from noren.web.uploads import display_name, write_upload
from noren.work.queue import new_id

SAMPLES: Final = ("history", "people")
"""What can be made up: a shop's purchases, and a table of people."""
_LONGEST_NAME = 120


@action(UserRole.STEWARD, "POST /projects", status=201, **body("ProjectIn"))
def add_project(
    studio: Studio,
    *,
    name: Annotated[str, parameter(min_length=1, max_length=_LONGEST_NAME, examples=["Shop A, 2026"])],
    sample: Annotated[str | None, parameter(model=Literal[SAMPLES] | None)] = None,
    dataset: Annotated[str | None, parameter(max_length=60)] = None,
) -> Project:
    """Add a project."""
    name = _project_name(name)
    if sample is not None and dataset is not None:
        raise ParameterError(_("choose a sample or a data set, not both"))
    if sample is not None and sample not in SAMPLES:
        raise ParameterError(_("use one of {names}").format(names=", ".join(SAMPLES)), value=sample)
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
        add_project(studio, name=N_("Shop purchases (synthetic)"), sample="history")
        add_project(studio, name=N_("Table of people (synthetic)"), sample="people")


@action(UserRole.STEWARD, "PATCH /projects/{project}", **body("ProjectChange"))
def change_project(
    studio: Studio,
    *,
    project: Ident,
    name: Annotated[str | None, parameter(min_length=1, max_length=_LONGEST_NAME)] = None,
    rule: Annotated[
        str | None,
        parameter(
            min_length=1,
            max_length=40,
            description="public, partner, inside, pwscup2018, or a tolerance such as 1/8; every run is judged by it",
        ),
    ] = None,
    archived: Annotated[bool | None, parameter(description="archived projects are kept, and left out of lists")] = None,
) -> Project:
    """Give a project another name, judge its releases by another rule, archive it or bring it back."""
    studio.project(project)
    if rule is not None:
        rule = rule.strip()
        if rule.endswith(".toml"):  # files of the server are not for those who use it
            raise ParameterError(_("choose a rule, or set a tolerance such as 1/8"))
        get_rule(rule)
        studio.store.change_project(project, rule=rule)
    if name is not None:
        studio.store.change_project(project, name=_project_name(name))
    if archived is not None:
        studio.store.change_project(project, archived=archived)
    return studio.project(project)


@action(UserRole.STEWARD, "PUT /projects/{project}/readers", **body("ReadersIn"))
def share_project(
    studio: Studio,
    *,
    project: Ident,
    readers: Annotated[Sequence[str], parameter(model=list[str], max_length=1_000, examples=[["cora"]])],
) -> list[str]:
    """Let these readers see a project, and no others; stewards and reviewers see every project."""
    studio.project(project)
    known = {user.login for user in studio.store.users.all() if user.role == UserRole.READER and not user.revoked}
    for login in readers:
        if login not in known:
            raise ParameterError(
                _("there is no reader of that login; use one of {names}").format(names=", ".join(sorted(known)) or "–"),
                value=login[:64],
            )
    studio.store.share(project, sorted(set(readers)))
    return studio.store.readers(project)


@action(UserRole.STEWARD, "POST /projects/{project}/copy", status=201)
def copy_project(studio: Studio, *, project: Ident) -> Project:
    """Make a project of the same data without the runs, in which the columns can be read in another way."""
    source_project = studio.ready_project(project)
    schema = studio.folders.schema(project).read_text(encoding="utf-8")
    name = _("Copy of {name}").format(name=source_project.name)[:_LONGEST_NAME]
    made = studio.store.add_project(name, source_project.source)
    facts = source_project.facts
    answered = {name: facts[name] for name in ("questions", "answers", "examples") if name in facts}
    try:
        studio.store.change_project(made.id, rule=source_project.rule)
        copy_files(studio.folders.project(project), studio.folders.project(made.id))
        studio.read(made, {"schema": schema, "leave_out": facts.get("left_out", [])} | answered)
    except Exception:  # half a copy is nobody's
        remove_project(studio, project=made.id)
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
        raise ParameterError(_("a name or reason needs 1 to {most} characters; change it").format(most=_LONGEST_NAME))
    return name


Toml = Annotated[str | None, parameter(max_length=2**20)]
Content = Annotated[dict[str, Any] | None, parameter()]
Preset = Annotated[Literal[PRESETS] | None, parameter()]  # type: ignore[valid-type]
LeaveOut = Annotated[Sequence[str], parameter(default_factory=list, max_length=1_000)]


def upload(studio: Studio, project: str, name: str, chunks: Iterator[bytes]) -> Job:
    """Keep a file, bounded in size, and have it read."""
    before = studio.project(project)
    studio.stop_when_protected(project)
    target, file_name = studio.folders.project(project) / SOURCE_FILE, display_name(name)
    aside = target.with_name(f"upload-{new_id()}.part")
    try:
        source = {"file": file_name, "bytes": write_upload(aside, chunks, studio.settings.largest_upload, file_name)}
        studio.store.change_project(project, source=source, facts={})
        aside.replace(target)
    finally:
        aside.unlink(missing_ok=True)
    return studio.read(replace(before, source=source, facts={}))


def judge_file(studio: Studio, project: str, name: str, chunks: Iterator[bytes], **columns: Any) -> Job:
    """Keep a file from elsewhere, bounded in size, until a job has judged it; ``columns`` are its map and truth."""
    studio.ready_project(project)
    file_name = display_name(name)
    aside = studio.folders.project(project) / f"upload-{new_id()}.part"
    try:
        write_upload(aside, chunks, studio.settings.largest_upload, file_name)
        return studio.submit(project, "judge", file_name, {"file_name": file_name} | columns, file=aside)
    finally:
        aside.unlink(missing_ok=True)


@action(UserRole.STEWARD, "PUT /projects/{project}/schema", status=202, **body("SchemaIn"))
def set_schema(
    studio: Studio,
    *,
    project: Ident,
    toml: Toml = None,
    content: Content = None,
    preset: Preset = None,
    leave_out: LeaveOut = (),
    still_open: Sequence[Mapping[str, Any]] = (),
) -> Job:
    """Read the data again with another schema.

    Columns that nobody needs are left out; the questions ``still_open`` stay so.
    """
    before = studio.project(project)
    schema = _requested_schema(toml, content, preset)
    studio.stop_when_protected(project)
    reject_unclassified(schema)
    if not before.source:
        raise ConflictError(_("this project has no data yet; upload a file first"))
    known = studio.known(project)
    more = {"questions": list(still_open)} | {name: known[name] for name in ("answers", "examples") if name in known}
    return studio.read(before, {"schema": schema.to_toml(), "leave_out": list(leave_out)} | more)


@action(UserRole.STEWARD, "POST /projects/{project}/schema/check", **body("SchemaIn"))
def check_schema(
    studio: Studio,
    *,
    project: Ident,
    toml: Toml = None,
    content: Content = None,
    preset: Preset = None,
    leave_out: LeaveOut = (),
) -> dict[str, Any]:
    """Return every problem with a schema, without saving it and without reading the data by it."""
    current = studio.project(project)
    try:
        if content is None:
            content = forms.content_of(_requested_schema(toml, content, preset))
    except InputError as error:
        problem = error.problem
        return {"problems": [forms.ColumnProblem(problem.column, problem.rule, problem.cure)], "toml": None}
    missing: dict[str, int] = {}
    if current.is_ready:
        counts = (column["missing"] for column in studio.profile(project)["columns"])
        missing = dict(zip(current.facts["columns"], counts, strict=True))
    problems = forms.problems_of(content, missing)
    toml = None
    if not problems:
        with contextlib.suppress(NorenError):
            toml = forms.schema_of(content).to_toml()
    return {"problems": problems, "toml": toml}


def _requested_schema(toml: str | None, content: Mapping[str, Any] | None, preset: str | None) -> Schema:
    if preset is not None:
        return Schema.preset(preset)
    return forms.schema_of(content or {}) if toml is None else Schema.from_toml(toml)


def answer(studio: Studio, project: str, about: str, column: str | None, value: str) -> Job | None:
    """Keep an answer to a question about the file; read it again where values or people would be others.

    ``about`` and ``value`` are those of a :class:`~noren.data.guessing.Question`; besides, anybody may
    say what rows are (``kind``), and of any column its role.
    """
    current, known = studio.project(project), studio.known(project)
    if not current.source or not known:
        raise ConflictError(_("this project has no data yet; upload a file first"))
    names, questions = known.get("file_columns", []), known.get("questions", [])
    could: dict[str, set[str]] = {
        "kind": set(Kind),
        "customer": set(names),
        "role": {*Role, forms.LEAVE_OUT},
        "format": {a["value"] for q in questions for a in q["answers"] if q["column"] == column},
    }
    could["number"] = could["format"]
    if value not in could.get(about, set()) or (about in ("role", "format", "number") and column not in names):
        raise ParameterError(_("this question has no such answer"), value=value)
    answers = forms.with_answer(known.get("answers", []), about, column, value)
    similar = (entry for entry in questions if entry["about"] == about)
    question = next((entry for entry in similar if about in ("kind", "customer") or entry["column"] == column), None)
    taken = None if question is None else forms.answer_of(question, known.get("answers", [])) or question["chosen"]
    if current.is_ready and value == taken:
        studio.store.change_project(project, facts=dict(current.facts) | {"answers": answers})
        return None
    studio.stop_when_protected(project)
    if about == "role" and column is not None and studio.give_role(current, answers, column, value):
        return None
    return studio.read(current, {"answers": answers})


@action(UserRole.STEWARD, "DELETE /projects/{project}/categories", status=204)
def remove_categories(studio: Studio, *, project: Ident) -> None:
    """Remove the categories of items."""
    studio.ready_project(project)
    forget_categories(studio.folders.project(project))


class FileIn(StrictInput):
    """A file: its name, and its content in Base64."""

    name: str = Field(min_length=1, max_length=300)
    content: Base64Bytes = Field(max_length=4 * LARGEST // 3 + 100)


@action(UserRole.STEWARD, "POST /projects/{project}/hierarchies", **body("FilesIn"))
def upload_hierarchies(
    studio: Studio, *, project: Ident, files: Annotated[list[FileIn], parameter(min_length=1, max_length=100)]
) -> list[tuple[str, CheckedFile]]:
    """Give many columns their hierarchies at once; every problem of every file is told, and the right ones are kept."""
    sent = [(display_name(file.name), file.content) for file in files]
    checked = set_hierarchies(*studio.columns(project), sent)
    return [(name, file) for (name, _content), file in zip(sent, checked, strict=True)]


Login = Annotated[str, parameter(min_length=2, max_length=64)]
_PASSWORD = parameter(min_length=10, max_length=1000)


@action(UserRole.ADMINISTRATOR, "POST /users", status=201, **body("UserIn"))
def add_user(
    studio: Studio,
    *,
    login: Login,
    name: Annotated[str, parameter(max_length=80)] = "",
    password: Annotated[str, _PASSWORD],
    role: Annotated[UserRole, parameter()],
) -> User:
    """Add a user; from the first on, everybody logs in with a password of her own."""
    return studio.store.users.add(login, name, password, role)


@action(UserRole.ADMINISTRATOR, "PATCH /users/{login}", **body("UserChange"))
def change_user(
    studio: Studio,
    *,
    login: Login,
    role: Annotated[UserRole | None, parameter()] = None,
    password: Annotated[str | None, _PASSWORD] = None,
) -> User:
    """Give a user another role or password."""
    if role is not None:
        studio.store.users.set_role(login, role)
    if password is not None:
        studio.store.users.set_password(login, password)
    return studio.store.users.get(login)


@action(UserRole.ADMINISTRATOR, "DELETE /users/{login}", status=204)
def revoke_user(studio: Studio, *, login: Login) -> None:
    """Revoke a user; open pages are told with their next request."""
    studio.store.users.revoke(login)
