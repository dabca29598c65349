"""What stewards do with the data of a project: bring a file, say what its columns mean, answer questions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Base64Bytes, Field
from sqlalchemy.exc import OperationalError

from noren.data.hierarchies.levels import CheckedFile
from noren.data.schema import PRESETS, Kind, Role, Schema, stop_at_unclassified
from noren.errors import InputError, NorenError, ParameterError
from noren.i18n import _
from noren.studio.acts import Ident, Strict, asked
from noren.studio.forms.columns import (
    LEAVE_OUT,
    ColumnProblem,
    answer_of,
    content_of,
    problems_of,
    schema_of,
    with_answer,
)
from noren.studio.hierarchies import LARGEST, forget_categories, set_hierarchies
from noren.studio.service import Studio
from noren.studio.store import Job
from noren.studio.users import UserRole
from noren.web.actions import action
from noren.web.refusals import DiskFullError, NotNowError, is_disk_full
from noren.web.uploads import shown_name, write_upload
from noren.work.queue import new_id

Toml = Annotated[str | None, asked(max_length=2**20)]
Content = Annotated[dict[str, Any] | None, asked()]
Preset = Annotated[Literal[PRESETS] | None, asked()]  # type: ignore[valid-type]
LeaveOut = Annotated[Sequence[str], asked(default_factory=list, max_length=1_000)]
_SCHEMA = {
    "body": "SchemaIn",
    "body_text": "What the columns mean: as TOML, as plain data, or the name of a preset; "
    "and which columns to leave out.",
}


def upload(studio: Studio, project: str, name: str, chunks: Iterator[bytes]) -> Job:
    """Keep a file, bounded in size, and have it read."""
    found = studio.project(project)
    studio.stop_when_protected(project)
    target, shown = studio.folders.source(project), shown_name(name)
    aside = target.with_name(f"upload-{new_id()}.part")
    try:
        received = write_upload(aside, chunks, studio.settings.largest_upload, shown)
        source = {"file": shown, "bytes": received}
        studio.store.change_project(project, source=source, facts={})
        aside.replace(target)
    except (OSError, OperationalError) as error:
        if is_disk_full(error):
            raise DiskFullError from None
        raise
    finally:
        aside.unlink(missing_ok=True)
    return studio.read(replace(found, source=source, facts={}))


@action(UserRole.STEWARD, "PUT /projects/{project}/schema", status=202, **_SCHEMA)
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
    found = studio.project(project)
    schema = _schema_asked(toml, content, preset)
    studio.stop_when_protected(project)
    stop_at_unclassified(schema)
    if not found.source:
        raise NotNowError(_("there are no data yet; upload a file first"))
    known = studio.known(project)
    asked = {"questions": list(still_open)} | {name: known[name] for name in ("answers", "examples") if name in known}
    return studio.read(found, {"schema": schema.to_toml(), "leave_out": list(leave_out)} | asked)


@action(UserRole.STEWARD, "POST /projects/{project}/schema/check", **_SCHEMA)
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
    found = studio.project(project)
    try:
        if content is None:
            content = content_of(_schema_asked(toml, content, preset))
    except InputError as error:
        said = error.problem
        return {"problems": [ColumnProblem(said.column, said.rule, said.cure)], "toml": None}
    missing: dict[str, int] = {}
    if found.is_ready:
        counts = (column["missing"] for column in studio.profile(project)["columns"])
        missing = dict(zip(found.facts["columns"], counts, strict=True))
    problems = problems_of(content, missing)
    toml = None
    if not problems:
        with contextlib.suppress(NorenError):
            toml = schema_of(content).to_toml()
    return {"problems": problems, "toml": toml}


def _schema_asked(toml: str | None, content: Mapping[str, Any] | None, preset: str | None) -> Schema:
    if preset is not None:
        return Schema.preset(preset)
    return schema_of(content or {}) if toml is None else Schema.from_toml(toml)


def answer(studio: Studio, project: str, about: str, column: str | None, value: str) -> Job | None:
    """Keep an answer to a question about the file, and read it again by the answer where that changes anything.

    ``about`` and ``value`` are those of a :class:`~noren.data.guessing.Question`; besides, anybody may
    say what rows are (``kind``), and of any column its role.
    """
    found, known = studio.project(project), studio.known(project)
    if not found.source or not known:
        raise NotNowError(_("there are no data yet; upload a file first"))
    names, questions = known.get("file_columns", []), known.get("questions", [])
    could: dict[str, set[str]] = {
        "kind": set(Kind),
        "customer": set(names),
        "role": {*Role, LEAVE_OUT},
        "format": {a["value"] for q in questions for a in q["answers"] if q["column"] == column},
    }
    could["number"] = could["format"]
    if value not in could.get(about, set()) or (about in ("role", "format", "number") and column not in names):
        raise ParameterError(_("this is no answer to that question"), _("choose one of those on the page"), value=value)
    answers = with_answer(known.get("answers", []), about, column, value)
    asked = (one for one in questions if one["about"] == about)
    question = next((one for one in asked if about in ("kind", "customer") or one["column"] == column), None)
    taken = None if question is None else answer_of(question, known.get("answers", [])) or question["chosen"]
    if found.is_ready and value == taken:
        studio.store.change_project(project, facts=dict(found.facts) | {"answers": answers})
        return None
    studio.stop_when_protected(project)
    return studio.read(found, {"answers": answers})


@action(UserRole.STEWARD, "DELETE /projects/{project}/categories", status=204)
def remove_categories(studio: Studio, *, project: Ident) -> None:
    """Speak of items again, not of categories."""
    studio.ready_project(project)
    forget_categories(studio.folders.project(project))


class FileIn(Strict):
    """A file: its name, and its content in Base64."""

    name: str = Field(min_length=1, max_length=300)
    content: Base64Bytes = Field(max_length=4 * LARGEST // 3 + 100)


@action(
    UserRole.STEWARD,
    "POST /projects/{project}/hierarchies",
    body="FilesIn",
    body_text="Many hierarchies at once, each named after its column.",
)
def upload_hierarchies(
    studio: Studio,
    *,
    project: Ident,
    files: Annotated[list[FileIn], asked(min_length=1, max_length=100)],
) -> list[tuple[str, CheckedFile]]:
    """Give many columns their hierarchies at once; every problem of every file is told, and the right ones are kept."""
    sent = [(shown_name(one.name), one.content) for one in files]
    found = set_hierarchies(*studio.columns(project), sent)
    return [(name, one) for (name, _content), one in zip(sent, found, strict=True)]
