"""A project's hierarchies: built, looked at before they are kept, sent one by one or many at once, taken away."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse
from pydantic import Base64Bytes, BaseModel, ConfigDict, Field

from noren.data.hierarchies.builders import builders_for
from noren.data.hierarchies.checking import CheckedFile
from noren.errors import ParameterError
from noren.i18n import _
from noren.studio import groupings
from noren.studio.api.data import ANY_BYTES, ColumnName, FileName
from noren.studio.api.models import Ident
from noren.studio.api.surroundings import TheStudio
from noren.studio.hierarchies import Asked, hierarchy_facts
from noren.web.error_models import errors
from noren.web.uploads import shown_name, small_body

router = APIRouter(tags=["data"], responses=errors(400, 401, 403, 404, 408, 409, 413, 422, 507))

_CSV: dict[int | str, dict[str, Any]] = {200: {"content": {"text/csv": {}}, "description": "the file"}}
_MOST_FILES = 100
_MOST_TOLD = 50


class LevelOut(BaseModel):
    """One level of a hierarchy: its labels, the rows of the rarest, some labels with their rows, how many more."""

    labels: int
    least: int
    shown: list[tuple[str, int]]
    more: int


class AskedOut(BaseModel):
    """The builder that made a hierarchy, in words."""

    by: str
    text: str
    other: str


class HierarchyOut(BaseModel):
    """How a column's hierarchy was made; ``reason`` tells why there is none. One only looked at has no ``file``."""

    name: str
    made: Literal["default", "widths", "built", "uploaded"]
    asked: AskedOut | None
    widths: list[float] | None
    file: str | None
    reason: str | None
    levels: list[LevelOut]


class HierarchyIn(BaseModel):
    """How to build a hierarchy: ``by`` a builder ``with`` what it needs, or by ``widths``; neither: the first again.

    ``other`` is the label of values that the builder has no place for. Unless ``keep`` it is only looked at.
    """

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    widths: list[Annotated[float, Field(gt=0, le=1e15)]] | None = Field(default=None, min_length=1, max_length=20)
    by: str | None = Field(default=None, max_length=40)
    text: str = Field(default="", alias="with", max_length=500_000)
    other: str = Field(default="", max_length=200)
    keep: bool = True

    def asked(self) -> Asked | None:
        """Return the builder that is meant."""
        if self.widths is not None:
            return Asked("widths", ", ".join(f"{width:.15g}" for width in self.widths))
        return None if self.by is None else Asked(self.by, self.text, self.other)


class BuilderOut(BaseModel):
    """A builder that can group a column's values: its name, what it does, what it needs, an example of that."""

    by: str
    summary: str
    asks: str
    example: str


class FileIn(BaseModel):
    """A file: its name, and its content in Base64."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=300)
    content: Base64Bytes = Field(max_length=4 * groupings.LARGEST // 3 + 100)


class FilesIn(BaseModel):
    """Many hierarchies at once, each named after its column."""

    model_config = ConfigDict(extra="forbid")

    files: list[FileIn] = Field(min_length=1, max_length=_MOST_FILES)


class FileOut(BaseModel):
    """What became of a file: the column it was kept for, or why it was not; ``total`` counts all problems."""

    name: str
    column: str | None
    kept: bool
    problems: list[str]
    total: int
    notes: list[str]


@router.get("/projects/{project}/hierarchies")
def list_hierarchies(project: Ident, studio: TheStudio) -> list[HierarchyOut]:
    """Return the hierarchies of the columns that could link a person, level by level."""
    studio.ready_project(project)
    return [HierarchyOut(**about) for about in hierarchy_facts(studio.folders.project(project))]


@router.post("/projects/{project}/hierarchies")
def upload_hierarchies(project: Ident, sent: FilesIn, studio: TheStudio) -> list[FileOut]:
    """Give many columns their hierarchies at once; every problem of every file is told, and the right ones are kept."""
    studio.ready_project(project)
    files = [(shown_name(one.name), one.content) for one in sent.files]
    found = groupings.set_hierarchies(studio, project, files)
    return [_file_out(name, one) for (name, _content), one in zip(files, found, strict=True)]


def _file_out(name: str, one: CheckedFile) -> FileOut:
    problems = [problem.sentence() for problem in one.problems[:_MOST_TOLD]]
    return FileOut(
        name=name,
        column=one.column,
        kept=not one.problems,
        problems=problems,
        total=len(one.problems),
        notes=list(one.notes),
    )


@router.get("/projects/{project}/hierarchy", response_class=FileResponse, responses=_CSV)
def download_hierarchy(project: Ident, studio: TheStudio, column: ColumnName) -> FileResponse:
    """Return a column's hierarchy as a file, in ARX's form."""
    path = groupings.hierarchy_file(studio, project, column)
    return FileResponse(path, media_type="text/csv; charset=utf-8", filename=path.name)


@router.put("/projects/{project}/hierarchy", openapi_extra=ANY_BYTES)
async def upload_hierarchy(
    project: Ident, request: Request, studio: TheStudio, column: ColumnName, name: FileName = "hierarchy.csv"
) -> HierarchyOut:
    """Give a column another hierarchy: value;label;…;*, one row per value, as the body."""
    studio.project(project)
    content = await small_body(request, name, groupings.LARGEST)
    about = await asyncio.to_thread(groupings.set_hierarchy, studio, project, column, content, shown_name(name))
    return HierarchyOut(**about)


@router.post("/projects/{project}/hierarchy")
def build_hierarchy(project: Ident, sent: HierarchyIn, studio: TheStudio, column: ColumnName) -> HierarchyOut:
    """Build a column's hierarchy, or look at what would be built, or make the first one again."""
    asked = sent.asked()
    if asked is None and not sent.keep:
        raise ParameterError(_("there is nothing to preview"), _("name a builder (by)"))
    return HierarchyOut(**groupings.build_hierarchy(studio, project, column, asked, keep=sent.keep))


@router.get("/projects/{project}/builders")
def list_builders(project: Ident, studio: TheStudio, column: ColumnName) -> list[BuilderOut]:
    """Return the builders that can group a column's values."""
    about = studio.schema(project)[column]
    return [
        BuilderOut(by=one.by, summary=_(one.summary), asks=_(one.asks) if one.asks else "", example=one.example)
        for one in builders_for(about)
    ]
