"""A project's data: upload, schema, profile, rows, categories."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from noren.data.schema import LONGEST_NAME, PRESETS, Schema
from noren.errors import InputError, NorenError
from noren.studio import groupings
from noren.studio.api.models import Ident, JobOut, said_job
from noren.studio.api.surroundings import TheStudio
from noren.studio.forms.columns import content_of, problems_of, schema_of
from noren.web.error_models import errors
from noren.web.uploads import received, shown_name, small_body, stop_if_told_too_large, told_length

router = APIRouter(tags=["data"], responses=errors(400, 401, 403, 404, 408, 409, 413, 422, 507))

Start = Annotated[int, Query(ge=0, le=10**9)]
Count = Annotated[int, Query(ge=1, le=500)]
ColumnName = Annotated[str, Query(alias="column", min_length=1, max_length=LONGEST_NAME)]
FileName = Annotated[str, Query(alias="name", min_length=1, max_length=300)]
_MOST_VALUES = 5_000
ANY_BYTES = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class SchemaIn(BaseModel):
    """What the columns mean: as TOML, as plain data, or the name of a preset; and which columns to leave out."""

    model_config = ConfigDict(extra="forbid")

    toml: str | None = Field(default=None, max_length=2**20)
    content: dict[str, Any] | None = None
    preset: Literal[PRESETS] | None = None  # type: ignore[valid-type]
    leave_out: list[str] = Field(default_factory=list, max_length=1_000)

    def schema_asked(self) -> Schema:
        """Return the schema that is meant."""
        if self.preset is not None:
            return Schema.preset(self.preset)
        if self.toml is not None:
            return Schema.from_toml(self.toml)
        return schema_of(self.content or {})


class SchemaOut(BaseModel):
    """What the columns mean: ``toml`` as the command line takes it, ``content`` as plain data."""

    toml: str
    content: dict[str, Any]
    leave_out: list[str]


class ColumnProblemOut(BaseModel):
    """What is wrong with a column (or with all), or a question about it."""

    column: str | None
    message: str
    cure: str
    is_question: bool


class Checked(BaseModel):
    """Every problem with a schema, without reading the data by it."""

    problems: list[ColumnProblemOut]
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


# --- the file --------------------------------------------------------------------------------------------------------


@router.put("/projects/{project}/file", status_code=202, openapi_extra=ANY_BYTES)
async def upload(project: Ident, request: Request, studio: TheStudio, name: FileName) -> JobOut:
    """Send a file (CSV, Parquet, Excel) as the body; it is kept as it comes and read by a job."""
    studio.project(project)
    stop_if_told_too_large(request, studio.settings.largest_upload, name)
    studio.stop_without_room(project, told_length(request))
    job = await received(request, name, lambda chunks: studio.receive(project, name, chunks))
    return said_job(job, studio.jobs)


# --- what the columns mean -------------------------------------------------------------------------------------------


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
    told = {"Content-Disposition": 'attachment; filename="schema.toml"'}
    return Response(studio.schema(project).to_toml(), media_type="application/toml; charset=utf-8", headers=told)


@router.put("/projects/{project}/schema", status_code=202)
def set_schema(project: Ident, asked: SchemaIn, studio: TheStudio) -> JobOut:
    """Read the data again with another schema."""
    studio.project(project)
    return said_job(studio.set_schema(project, asked.schema_asked(), asked.leave_out), studio.jobs)


@router.post("/projects/{project}/schema/check")
def check_schema(project: Ident, asked: SchemaIn, studio: TheStudio) -> Checked:
    """Return every problem with a schema, without saving it and without reading the data by it."""
    found = studio.project(project)
    try:
        content = asked.content if asked.content is not None else content_of(asked.schema_asked())
    except InputError as error:
        said = error.problem
        problem = ColumnProblemOut(column=said.column, message=said.rule, cure=said.cure, is_question=False)
        return Checked(problems=[problem], toml=None)
    missing: dict[str, int] = {}
    if found.is_ready:
        counts = (column["missing"] for column in studio.profile(project)["columns"])
        missing = dict(zip(found.facts["columns"], counts, strict=True))
    problems = problems_of(content, missing)
    toml = None
    if not problems:
        try:
            toml = schema_of(content).to_toml()
        except NorenError:
            toml = None
    shown = [
        ColumnProblemOut(column=p.column, message=p.message, cure=p.cure, is_question=p.is_question) for p in problems
    ]
    return Checked(problems=shown, toml=toml)


@router.get("/projects/{project}/values")
def show_values(project: Ident, studio: TheStudio, column: ColumnName) -> Values:
    """Return the different values of a column, to declare them as its domain."""
    import polars as pl

    from noren.data.formats.render import value_text

    about = studio.schema(project)[column]
    own = pl.scan_parquet(studio.folders.data(project)).select(pl.col(about.name).drop_nulls().unique().sort())
    texts = own.select(value_text(pl.col(about.name), about)).collect().to_series()
    return Values(values=texts.head(_MOST_VALUES).to_list(), total=len(texts))


# --- what the data look like -----------------------------------------------------------------------------------------


@router.get("/projects/{project}/profile")
def show_profile(project: Ident, studio: TheStudio) -> dict[str, Any]:
    """Return what the data look like: missing, distinct, histograms, rows per customer."""
    return studio.profile(project)


@router.get("/projects/{project}/rows")
def show_rows(project: Ident, studio: TheStudio, start: Start = 0, count: Count = 50) -> Rows:
    """Return rows of the data."""
    return Rows(**studio.preview(project, start, count))


# --- categories --------------------------------------------------------------------------------------


@router.get("/projects/{project}/categories")
def show_categories(project: Ident, studio: TheStudio) -> CategoriesOut | None:
    """Return the categories of items, where somebody gave some."""
    studio.ready_project(project)
    found = groupings.category_facts(studio.folders.project(project))
    return None if found is None else CategoriesOut(**found)


@router.put("/projects/{project}/categories", openapi_extra=ANY_BYTES)
async def upload_categories(
    project: Ident, request: Request, studio: TheStudio, name: FileName = "categories.csv", fill: bool = False
) -> CategoriesOut:
    """Give items categories: item,category[,name], one row per item, as the body; ``fill`` names the others unknown."""
    studio.project(project)
    content = await small_body(request, name, groupings.LARGEST)
    found = await asyncio.to_thread(groupings.set_categories, studio, project, content, shown_name(name), fill=fill)
    return CategoriesOut(**found)


@router.delete("/projects/{project}/categories", status_code=204)
def remove_categories(project: Ident, studio: TheStudio) -> Response:
    """Speak of items again, not of categories."""
    groupings.remove_categories(studio, project)
    return Response(status_code=204)
