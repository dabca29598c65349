"""The data of a project: uploads, columns, questions; hierarchies and groups of values."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Any, Literal

import polars as pl
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field

from noren.data.formats.render import value_text
from noren.data.hierarchies.builders import builders_for
from noren.data.schema import LONGEST_NAME
from noren.errors import ParameterError
from noren.i18n import _
from noren.studio import hierarchies as groups
from noren.studio.actions import StrictInput
from noren.studio.actions import projects as acts
from noren.studio.api.models import BYTES, Ident, JobOut, TheStudio, add_action, job_out
from noren.studio.forms.columns import ColumnProblem, content_of
from noren.studio.hierarchies import BuilderRequest, hierarchy_facts
from noren.studio.service import Studio
from noren.studio.store import Job
from noren.web.errors import DiskFullError, errors
from noren.web.uploads import declared_length, display_name, received, reject_declared_too_large, small_body

router = APIRouter(tags=["data"], responses=errors(400, 401, 403, 404, 408, 409, 413, 422, 507))

Start = Annotated[int, Query(ge=0, le=10**9)]
Count = Annotated[int, Query(ge=1, le=500)]
ColumnName = Annotated[str, Query(alias="column", min_length=1, max_length=LONGEST_NAME)]
FileName = Annotated[str, Query(alias="name", min_length=1, max_length=300)]
Pairs = Annotated[list[str] | None, Query(alias="map", max_length=500, description="NAME=ORIGINAL, or NAME= for none")]
Truth = Annotated[str | None, Query(max_length=LONGEST_NAME, description="the column that says whose row each is")]
_MOST_VALUES = 5_000
ANY_BYTES = {"requestBody": {"required": True, "content": {"application/octet-stream": BYTES}}}


class SchemaOut(BaseModel):
    """What the columns mean: ``toml`` as the command line takes it, ``content`` as plain data."""

    toml: str
    content: dict[str, Any]
    leave_out: list[str]


class Checked(BaseModel):
    """Every problem with a schema, without reading the data by it."""

    problems: list[ColumnProblem]
    toml: str | None


class Rows(BaseModel):
    """Some rows, as text; null where a cell is empty."""

    columns: list[str]
    start: int
    total: int
    rows: list[list[Any]]


class Values(BaseModel):
    """The different values of a column, as text, in order; ``total`` counts those beyond the bound too."""

    values: list[str]
    total: int


class CategoriesOut(BaseModel):
    """The categories of items: how many, of how many items, and the largest (code, name, items, rows)."""

    categories: int
    items: int
    largest: list[tuple[str, str, int, int]]


@router.put("/projects/{project}/file", status_code=202, openapi_extra=ANY_BYTES)
async def upload(project: Ident, request: Request, studio: TheStudio, name: FileName) -> JobOut:
    """Send a file (CSV, Parquet, Excel) as the body; it is kept as it comes and read by a job."""
    return await _job_of(project, request, studio, name, acts.upload)


@router.put("/projects/{project}/judged", status_code=202, openapi_extra=ANY_BYTES)
async def judge_file(
    project: Ident, request: Request, studio: TheStudio, name: FileName, pairs: Pairs = None, truth: Truth = None
) -> JobOut:
    """Send a file that somebody calls anonymised or synthetic as the body; a job judges it, then it is removed."""
    mapping = dict(pair.rpartition("=")[::2] for pair in pairs or ())
    return await _job_of(project, request, studio, name, partial(acts.judge_file, map=mapping, truth=truth or None))


@router.get("/projects/{project}/judged/{job}")
def show_judged(project: Ident, job: Ident, studio: TheStudio) -> dict[str, Any]:
    """Return the verdict on a file from elsewhere by the rule of the project, as ``noren judge --json`` does."""
    return studio.verdict_of_file(job, project).as_dict()


async def _job_of(
    project: str, request: Request, studio: Studio, name: str, keep: Callable[[Studio, str, str, Iterator[bytes]], Job]
) -> JobOut:
    """Keep a file as it comes, and return the job that works on it."""
    studio.project(project)
    reject_declared_too_large(request, studio.settings.largest_upload, name)
    if declared_length(request) > shutil.disk_usage(studio.folders.project(project)).free:
        raise DiskFullError
    job = await received(request, name, lambda chunks: keep(studio, project, name, chunks))
    return job_out(studio, job)


@router.get("/projects/{project}/schema")
def show_schema(project: Ident, studio: TheStudio) -> SchemaOut:
    """Return what the columns mean; a column of which nobody said what it is for has no role."""
    schema = studio.schema(project)
    left_out = studio.project(project).facts.get("left_out", [])
    return SchemaOut(toml=schema.to_toml(), content=content_of(schema), leave_out=left_out)


@router.get(
    "/projects/{project}/schema.toml",
    response_class=Response,
    responses={200: {"content": {"application/toml": {}}, "description": "the file"}},
)
def download_schema(project: Ident, studio: TheStudio) -> Response:
    """Return what the columns mean as a file for the command line."""
    headers = {"Content-Disposition": 'attachment; filename="schema.toml"'}
    return Response(studio.schema(project).to_toml(), media_type="application/toml; charset=utf-8", headers=headers)


add_action(router, acts.set_schema, JobOut, job_out)
add_action(router, acts.check_schema, Checked)


@router.get("/projects/{project}/values")
def show_values(project: Ident, studio: TheStudio, column: ColumnName) -> Values:
    """Return the different values of a column, to declare them as its domain."""
    about = studio.schema(project)[column]
    own = pl.scan_parquet(studio.folders.data(project)).select(pl.col(about.name).drop_nulls().unique().sort())
    texts = own.select(value_text(pl.col(about.name), about)).collect().to_series()
    return Values(values=texts.head(_MOST_VALUES).to_list(), total=len(texts))


@router.get("/projects/{project}/profile")
def show_profile(project: Ident, studio: TheStudio) -> dict[str, Any]:
    """Return what the data look like: missing, distinct, histograms, rows per customer."""
    return studio.profile(project)


@router.get("/projects/{project}/rows")
def show_rows(project: Ident, studio: TheStudio, start: Start = 0, count: Count = 50) -> Rows:
    """Return rows of the data."""
    return Rows(**studio.preview(project, start, count))


@router.get("/projects/{project}/categories")
def show_categories(project: Ident, studio: TheStudio) -> CategoriesOut | None:
    """Return the categories of items, where somebody gave some."""
    studio.ready_project(project)
    facts = groups.category_facts(studio.folders.project(project))
    return None if facts is None else CategoriesOut(**facts)


@router.put("/projects/{project}/categories", openapi_extra=ANY_BYTES)
async def upload_categories(
    project: Ident, request: Request, studio: TheStudio, name: FileName = "categories.csv", fill: bool = False
) -> CategoriesOut:
    """Give items categories: item,category[,name], one row per item, as the body; ``fill`` names the others unknown."""
    studio.project(project)
    content = await small_body(request, name, groups.LARGEST)
    facts = await asyncio.to_thread(
        groups.set_categories, *studio.columns(project), content, display_name(name), fill=fill
    )
    return CategoriesOut(**facts)


add_action(router, acts.remove_categories)

_CSV: dict[int | str, dict[str, Any]] = {200: {"content": {"text/csv": {}}, "description": "the file"}}
_MOST_PROBLEMS = 50


class LevelOut(BaseModel):
    """One level of a hierarchy: its labels, the rows of the rarest, some labels with their rows, how many more."""

    labels: int
    least: int
    examples: list[tuple[str, int]]
    more: int


class HierarchyOut(BaseModel):
    """How a column's hierarchy was made; ``reason`` tells why there is none. One only looked at has no ``file``."""

    name: str
    made: Literal["default", "widths", "built", "uploaded"]
    request: BuilderRequest | None
    widths: list[float] | None
    file: str | None
    reason: str | None
    levels: list[LevelOut]


class HierarchyIn(StrictInput):
    """How to build a hierarchy: ``by`` a builder ``with`` what it needs, or by ``widths``; neither: the first again.

    ``other`` is the label of values that the builder has no place for. Unless ``keep`` it is only looked at.
    """

    widths: list[Annotated[float, Field(gt=0, le=1e15)]] | None = Field(default=None, min_length=1, max_length=20)
    by: str | None = Field(default=None, max_length=40)
    text: str = Field(default="", alias="with", max_length=500_000)
    other: str = Field(default="", max_length=200)
    keep: bool = True


class BuilderOut(BaseModel):
    """A builder that can group a column's values: its name, what it does, what it needs, an example of that."""

    by: str
    summary: str
    asks: str
    example: str


class FileOut(BaseModel):
    """The result of uploading a file: its column, or its problems; ``total`` counts all problems."""

    name: str
    column: str | None
    accepted: bool
    problems: list[str]
    total: int
    notes: list[str]


@router.get("/projects/{project}/hierarchies")
def list_hierarchies(project: Ident, studio: TheStudio) -> list[HierarchyOut]:
    """Return the hierarchies of the columns that could link a person, level by level."""
    studio.ready_project(project)
    return [HierarchyOut(**about) for about in hierarchy_facts(studio.folders.project(project))]


add_action(
    router,
    acts.upload_hierarchies,
    list[FileOut],
    lambda _studio, checked: [
        FileOut(
            name=name,
            column=file.column,
            accepted=not file.problems,
            problems=[problem.sentence() for problem in file.problems[:_MOST_PROBLEMS]],
            total=len(file.problems),
            notes=list(file.notes),
        )
        for name, file in checked
    ],
)


@router.get("/projects/{project}/hierarchy", response_class=FileResponse, responses=_CSV)
def download_hierarchy(project: Ident, studio: TheStudio, column: ColumnName) -> FileResponse:
    """Return a column's hierarchy as a file, in ARX's form."""
    path = groups.hierarchy_file(*studio.columns(project), column)
    return FileResponse(path, media_type="text/csv; charset=utf-8", filename=path.name)


@router.put("/projects/{project}/hierarchy", openapi_extra=ANY_BYTES)
async def upload_hierarchy(
    project: Ident, request: Request, studio: TheStudio, column: ColumnName, name: FileName = "hierarchy.csv"
) -> HierarchyOut:
    """Give a column another hierarchy: value;label;…;*, one row per value, as the body."""
    studio.project(project)
    content = await small_body(request, name, groups.LARGEST)
    about = await asyncio.to_thread(
        lambda: groups.set_hierarchy(*studio.columns(project), column, content, display_name(name))
    )
    return HierarchyOut(**about)


@router.post("/projects/{project}/hierarchy")
def build_hierarchy(project: Ident, sent: HierarchyIn, studio: TheStudio, column: ColumnName) -> HierarchyOut:
    """Build a column's hierarchy, or look at what would be built, or make the first one again."""
    request = None if sent.by is None else BuilderRequest(sent.by, sent.text, sent.other)
    if sent.widths is not None:
        request = BuilderRequest("widths", ", ".join(f"{width:.15g}" for width in sent.widths))
    if request is None and not sent.keep:
        raise ParameterError(_("choose a builder (by)"))
    return HierarchyOut(**groups.build_hierarchy(*studio.columns(project), column, request, keep=sent.keep))


@router.get("/projects/{project}/builders")
def list_builders(project: Ident, studio: TheStudio, column: ColumnName) -> list[BuilderOut]:
    """Return the builders that can group a column's values."""
    about = studio.schema(project)[column]
    return [
        BuilderOut(by=way.by, summary=_(way.summary), asks=_(way.asks) if way.asks else "", example=way.example)
        for way in builders_for(about)
    ]
