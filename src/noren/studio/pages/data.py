"""Page of the data: upload a file, set the roles of its columns, view hierarchies and rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from noren.data.guessing.column_types import how_written
from noren.data.schema import LONGEST_NAME, PRESETS, Kind, Role, Schema
from noren.data.value_formats import DATE_FORMATS, NUMBER_FORMATS, TIME_FORMATS
from noren.errors import NorenError, listing
from noren.i18n import _
from noren.judgement.page_text import printable
from noren.studio import hierarchies as groups
from noren.studio.actions import projects as acts
from noren.studio.api.models import Ident, TheStudio, job_out
from noren.studio.forms import columns as forms
from noren.studio.pages import data_parts
from noren.studio.pages.frame import OfProject, OfReady, ProjectRequest, Typed, sentence
from noren.studio.work.reading import ENDINGS
from noren.tables import table_of

router = APIRouter()

_ROWS = 50
_COLUMNS = 100
_LONGEST_NAME = 80
_LONGEST_CELL = 120
_SCALES = {
    "nominal": lambda: _("equal or not (nominal)"),
    "interval": lambda: _("distances count (interval)"),
    "ratio": lambda: _("sums count (ratio)"),
}


@dataclass
class _Editor:
    """What the form of the columns shows."""

    schema: Schema
    fields: list[forms.ColumnFields]
    kind: str
    facts: Mapping[str, Any]
    problems: dict[str | None, list[str]]


@router.get("/projects/{project}/data")
def show(
    visit: OfProject,
    start: Annotated[int, Query(ge=0, le=10**9)] = 0,
    columns: Annotated[int, Query(ge=0, le=10**6)] = 0,
    apart: Annotated[str, Query(max_length=8)] = "",
    people: Annotated[str, Query(max_length=40)] = "",
) -> HTMLResponse:
    """Show the data of a project, or ask for them; ``apart`` asks which columns tell people apart."""
    return _page(visit, _editor(visit), start=start, first=columns, people=people if apart else None)


def _page(
    visit: ProjectRequest,
    editor: _Editor | None,
    *,
    start: int = 0,
    first: int = 0,
    people: str | None = None,
    tried: data_parts.HierarchyDraft | None = None,
) -> HTMLResponse:
    studio, project = visit.studio, visit.project
    job = studio.last_read(project.id)
    profile = studio.profile(project.id) if project.is_ready else None
    context: dict[str, Any] = {
        "job": None if job is None else job_out(studio, job),
        "active": job is not None and not job.state.is_over,
        "fixed": studio.is_fixed(project.id),
        "endings": ",".join(ENDINGS),
        "largest": studio.settings.largest_upload,
        "largest_size": data_parts.size(studio.settings.largest_upload),
        "source": None,
        "editor": editor and _editor_context(visit, editor, profile, first),
    }
    title = sentence(_("this project has no data yet; upload a file first"))
    if job is not None:
        title = _("{name} was not read") if job.state.is_over else _("Reading {name}")
        title = title.format(name=project.source.get("file") or project.name)
    if project.source:
        form = project.facts.get("form") or (editor.facts["form"] if editor else None)
        columns = len(project.facts.get("file_columns", ())) or (len(editor.fields) if editor else 0)
        context["source"] = {
            "name": project.source.get("file"),
            "size": data_parts.size(project.source["bytes"]) if "bytes" in project.source else "",
            "form": data_parts.form_sentence(form, columns) if form else "",
            "notices": data_parts.notices(project.facts),
        }
    if profile is not None:
        title = data_parts.finding(project.facts, profile)
        is_table = profile["kind"] == Kind.TABLE
        context |= {
            "history": None if profile["history"] is None else data_parts.history_context(profile["history"]),
            "unicity": data_parts.unicity_context(profile["history"]),
            "hierarchies": data_parts.hierarchies_context(visit, tried) if is_table else [],
            "categories": groups.category_facts(studio.folders.project(project.id)),
            "is_table": is_table,
            "rows": _rows(visit, start),
            "small": data_parts.size(groups.LARGEST),
            "largest_small": groups.LARGEST,
            "apart": data_parts.identifying_context(visit, people or "") if people is not None and is_table else None,
        }
    return visit.page("data.html.jinja", title=title, place="data", **context)


# --- the columns -----------------------------------------------------------------------------------------------------


def _editor(visit: ProjectRequest) -> _Editor | None:
    """Return the form of the columns: as typed if reading failed, otherwise as saved."""
    studio, project = visit.studio, visit.project.id
    facts, job = studio.known(project), studio.last_read(project)
    if not facts:
        return None
    is_draft = "toml" in facts
    schema = Schema.from_toml(facts["toml"]) if is_draft else studio.schema(project)
    names, out = facts.get("file_columns", schema.names), facts.get("leave_out", facts.get("left_out", ()))
    wrong = job.error if is_draft and job is not None and job.error.get("column") in names else {}
    problems: dict[str | None, list[str]] = {wrong["column"]: [wrong["message"]]} if wrong else {}
    return _Editor(schema, forms.fields_of(schema, names, out), str(schema.kind), facts, problems)


def _editor_context(
    visit: ProjectRequest, editor: _Editor, profile: Mapping[str, Any] | None, first: int
) -> dict[str, Any]:
    first = first if first < len(editor.fields) else 0
    about = dict(zip(visit.project.facts["columns"], profile["columns"], strict=True)) if profile else {}
    rows = profile["rows"] if profile else 0
    numbered = {field.name: i for i, field in enumerate(editor.fields)}
    questions, open_ = data_parts.questions(editor.facts), editor.facts.get("open", ())
    unanswered = [question for question in questions if question["answered"] is None]
    return {
        "kind": editor.kind,
        "columns": [
            _column_context(visit, editor, i, about.get(field.name), rows)
            for i, field in enumerate(editor.fields[first : first + _COLUMNS], start=first)
        ],
        "first": first,
        "step": _COLUMNS,
        "total": len(editor.fields),
        "unanswered": unanswered,
        "answered": [question for question in questions if question["answered"] is not None],
        "stopped": bool(open_) or any(question["stops"] for question in unanswered),
        "open": [
            {
                "name": printable(name, _LONGEST_NAME),
                "own": name,
                "index": numbered[name],
                "page": numbered[name] // _COLUMNS * _COLUMNS,
                "why": data_parts.reason_to_leave_out(name),
            }
            for name in open_
            if name in numbered
        ],
        "keeping": data_parts.keeping(editor.kind),
        "removed": listing([c.name for c in editor.schema.columns if c.role == Role.IDENTIFIER]),
        "guessed": editor.facts.get("guessed", False),
        "problems": editor.problems.get(None, []),
        "history_roles": [(str(role), _(label)) for role, label in forms.HISTORY_ROLES.items()],
        "table_roles": [(str(role), _(label)) for role, label in forms.TABLE_ROLES.items()],
        "types": [(str(kind), _(label)) for kind, label in forms.TYPES.items()],
        "presets": PRESETS,
        "number_formats": NUMBER_FORMATS,
        "formats": (*DATE_FORMATS, *TIME_FORMATS, "%Y-%m-%d %H:%M:%S"),
        "script": {
            "kind": editor.kind,
            "guessed": editor.schema.guessed,
            "text": editor.schema.text.model_dump(exclude_none=True),
            "names": [field.name for field in editor.fields],
            "others": [asdict(field) for field in editor.fields] if len(editor.fields) > _COLUMNS else [],
            "named": [str(role) for role in forms.NAMES_IN_HISTORY],
            "meanings": {str(role): _(meaning) for role, meaning in forms.ROLE_MEANINGS.items()},
            "domains": {
                # values that hold line ends, which no line of a field can
                numbered[column.name]: column.domain
                for column in editor.schema.columns
                if any("\n" in value or "\r" in value for value in column.domain or ())
            },
            "scales": {"text": _SCALES["nominal"](), "time": _SCALES["interval"](), "number": _SCALES["ratio"]()},
            "words": {name: _(text) for name, text in table_of(__name__).items()},
        },
    }


def _column_context(
    visit: ProjectRequest, editor: _Editor, i: int, about: Mapping[str, Any] | None, rows: int
) -> dict[str, Any]:
    fields = editor.fields[i]
    example, understood = editor.facts.get("examples", {}).get(fields.name), None
    if example and example[0] and not fields.out and fields.name in editor.schema.names:
        # how it was read: its spelling in words, a cell as it stands in the file, and the value it means
        cell, value = (printable(text, 60) for text in example)
        understood = {"written": how_written(editor.schema[fields.name]), "example": cell, "value": value}
    if about is not None:
        sentence, bars = data_parts.values_sentence(about, rows), data_parts.bars_drawn(about, rows)
        about = {"missing": about["missing"], "distinct": about["distinct"], "sentence": sentence, "bars": bars}
    return {
        "index": i,
        "name": printable(fields.name, _LONGEST_NAME),
        "fields": fields,
        "problems": editor.problems.get(fields.name, []),
        "meaning": _(forms.ROLE_MEANINGS[Role(fields.role)]) if fields.role in set(Role) else "",
        "about": about,
        "scale": _SCALES[fields.scale](),
        "convert": data_parts.conversion(visit, fields),
        "understood": understood,
    }


@router.post("/projects/{project}/data/columns")
def save_columns(visit: OfProject, posted: Typed) -> Response:
    """Read the data again as the form says; on an error show the form as it was typed."""
    studio, project, editor = visit.studio, visit.project.id, _editor(visit)
    if editor is None:
        return visit.to_page("data")
    converted = next((name.removeprefix("convert-") for name in posted if name.startswith("convert-")), "")
    if converted.isdigit():
        posted = posted | {f"type-{converted}": posted[f"convert-{converted}"]}
    editor.fields, kind = forms.typed(editor.fields, posted), posted.get("kind", editor.kind)
    either = (forms.HISTORY_ROLES, forms.TABLE_ROLES)
    own, others = either if kind == Kind.HISTORY else either[::-1]
    roles = {field.role for field in editor.fields if not field.out}
    if kind != editor.kind and not any(role in own and role not in others for role in roles):
        # rows are something else, and nobody said anew what columns are for: it is guessed
        return answer(visit, "kind", kind)
    editor.kind = kind
    content, leave_out = forms.content_from(editor.fields, editor.kind, editor.schema)
    problems = forms.problems_of(content)
    try:
        if not problems:
            schema = forms.schema_of(content)
            customer = next((column.name for column in schema.columns if column.role == Role.CUSTOMER), None)
            answers = {"kind": str(schema.kind), "customer": customer}
            # who did not touch what was guessed did not answer
            still_open = [
                question
                for question in forms.open_stops(studio.known(project))
                if answers.get(question["about"], question["chosen"]) == question["chosen"]
            ]
            acts.set_schema(studio, project=project, content=content, leave_out=leave_out, still_open=still_open)
            return visit.to_page("data")
        for problem in problems:
            text = f"{problem.message}; {problem.cure}" if problem.cure else problem.message
            editor.problems.setdefault(problem.column, []).append(text)
    except NorenError as error:
        editor.problems.setdefault(None, []).append(str(error))
    first = int(posted["first"]) if posted.get("first", "").isdigit() else 0
    return _page(replace(visit, status=422), editor, first=first)


@router.post("/projects/{project}/data/answer")
def answer(
    visit: OfProject,
    about: Annotated[str, Form(max_length=20)],
    value: Annotated[str, Form(max_length=LONGEST_NAME)],
    column: Annotated[str, Form(max_length=LONGEST_NAME)] = "",
) -> Response:
    """Take the answer to a question about the file."""
    try:
        acts.answer(visit.studio, visit.project.id, about, column or None, value)
    except NorenError as error:
        editor = _editor(visit)
        if editor is not None:
            editor.problems.setdefault(None, []).append(str(error))
        return _page(replace(visit, status=422), editor)
    return visit.to_page("data")


@router.post("/projects/{project}/copy")
@router.post("/projects/{project}/data/copy")
def copy(request: Request, project: Ident, studio: TheStudio) -> Response:
    """Copy the data into a new project without runs, and open it."""
    place = "#columns" if "/data/" in request.url.path else ""
    return RedirectResponse(f"/projects/{acts.copy_project(studio, project=project).id}/data{place}", 303)


@router.post("/projects/{project}/data/preset")
def use_preset(visit: OfProject, posted: Typed) -> Response:
    """Read the data again by a schema that ships with Noren."""
    try:
        acts.set_schema(visit.studio, project=visit.project.id, preset=posted.get("preset", ""))
    except NorenError as error:
        return _page(visit.again(error), _editor(visit))
    return visit.to_page("data")


# --- what there is once data were read -------------------------------------------------------------------------------


@router.post("/projects/{project}/data/hierarchy")
def build_hierarchy(visit: OfReady, posted: Typed) -> Response:
    """Build a column's hierarchy, show what would be built, or make the first one again."""
    tried = data_parts.try_hierarchy(visit, posted)
    if tried.saved:
        return visit.to_page(f"data?open={tried.place}#hierarchy-{tried.place}")
    return _page(replace(visit, status=422 if tried.problem else 200), _editor(visit), tried=tried)


@router.post("/projects/{project}/data/categories")
def drop_categories(project: Ident, studio: TheStudio) -> Response:
    """Remove the categories of items."""
    acts.remove_categories(studio, project=project)
    return RedirectResponse(f"/projects/{project}/data#categories", 303)


def _rows(visit: ProjectRequest, start: int) -> dict[str, Any]:
    total = visit.project.facts["rows"]
    start = start if start < total else 0
    some = visit.studio.preview(visit.project.id, start, _ROWS)
    columns = some["columns"][:_COLUMNS]
    return {
        "start": start,
        "count": _ROWS,
        "total": total,
        "columns": [printable(name, _LONGEST_NAME) for name in columns],
        "more": len(some["columns"]) - len(columns),
        "rows": [
            [None if cell is None else printable(cell, _LONGEST_CELL) for cell in row[:_COLUMNS]]
            for row in some["rows"]
        ],
    }
