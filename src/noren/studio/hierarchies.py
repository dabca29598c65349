"""Hierarchies of a project's columns, and categories of its items: building, saving, describing."""

from __future__ import annotations

import contextlib
import csv
import io
import tempfile
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import polars as pl
from pydantic import ConfigDict

from noren.data.categories import Categories, complete, in_categories, read_categories, write_categories
from noren.data.frames import History, Table
from noren.data.hierarchies.builder import Builder, ColumnValues
from noren.data.hierarchies.builders import builder_of, class_sizes, usual_builder
from noren.data.hierarchies.levels import (
    CheckedFile,
    Hierarchy,
    check_files,
    hierarchy_file_name,
    read_hierarchy,
    write_hierarchy,
)
from noren.data.hierarchies.names import FromColumn, Similar
from noren.data.hierarchies.numbers import Widths
from noren.data.schema import Column, Kind, Role, Schema
from noren.errors import FormatError, InputError, NorenError, ParameterError
from noren.i18n import _
from noren.studio.folders import DATA_FILE, read_json, write_json
from noren.tables import Texts
from noren.web.errors import NotFoundError
from noren.work.queue import new_id

say = Texts(__name__)
FOLDER, FACTS = "hierarchies", "hierarchies.json"
MOST_VALUES: Final = 50_000
LARGEST: Final = 2_000_000
"""Bytes of a small file."""
_MOST_LEVELS: Final = 30
_SHOWN: Final = 20
_MOST_COMPARED: Final = 5_000
_CATEGORIES, _CATEGORY_FACTS = "categories.csv", "categories.json"
_one_at_a_time = threading.Lock()


@dataclass(frozen=True)
class BuilderRequest:
    """A request to build a hierarchy: the builder, its parameters, the label of all other values."""

    __pydantic_config__ = ConfigDict(json_schema_serialization_defaults_required=True)

    by: str
    text: str = ""
    other: str = ""


# --- the first ones --------------------------------------------------------------------------------------------------


def make_hierarchies(table: Table, project: Path) -> list[str]:
    """Make the hierarchies of a table's quasi-identifiers; return the columns whose uploaded ones no longer fit.

    What a person uploaded, or a builder they chose, stays as long as the column is there and every value is listed.
    """
    before = {about["name"]: about for about in hierarchy_facts(project)}
    folder = project / FOLDER
    folder.mkdir(exist_ok=True, mode=0o700)
    quasi = table.schema.with_role(Role.QUASI)
    facts, lost = [], [name for name, about in before.items() if about["made"] != "default"]
    for column in quasi:
        values, about = ColumnValues(table, column), before.get(column.name)
        making = None
        if about is not None and about["made"] != "default" and about["file"]:
            with contextlib.suppress(NorenError):  # what a person gave, where it still fits
                request = BuilderRequest(**about["request"]) if about["request"] else None
                making = _making(request or read_hierarchy(folder / about["file"], column.name), values)
                lost.remove(column.name)
        facts.append(_written(making or _making(None, values, check=False), values, table.schema, folder))
    for file in folder.iterdir():
        if file.name not in {about["file"] for about in facts}:
            file.unlink()
    if not any(about["file"] for about in facts):
        folder.rmdir()  # methods take an empty folder for a mistake
    write_json(project / FACTS, facts)
    return lost


def keep_hierarchy(
    values: ColumnValues,
    schema: Schema,
    project: Path,
    source: Hierarchy | BuilderRequest | None = None,
    *,
    keep: bool = True,
) -> dict[str, Any]:
    """Save a hierarchy for a column: an uploaded one, what a builder makes, or the default again.

    ``values`` hold the column with those that the builder reads, ``schema`` all columns of the data. Without ``keep``
    it is only looked at.
    """
    making = _making(source, values)
    if not keep:
        return making[1]
    with _one_at_a_time:
        (project / FOLDER).mkdir(exist_ok=True, mode=0o700)
        about = _written(making, values, schema, project / FOLDER)
        facts = [about if other["name"] == values.name else other for other in hierarchy_facts(project)]
        write_json(project / FACTS, facts)
    return about


def hierarchy_facts(project: Path) -> list[dict[str, Any]]:
    """Return how the hierarchies of a project were made, and their levels."""
    return read_json(project / FACTS) or []


_Making = tuple[Hierarchy | None, dict[str, Any]]
"""A hierarchy, and what a page shows of it; without one, that tells the reason."""


def _making(source: Hierarchy | BuilderRequest | None, values: ColumnValues, *, check: bool = True) -> _Making:
    """Return the hierarchy of a column: the one given, what a builder makes, or the default.

    With ``check``, stop at values that it does not list, as the methods would.
    """
    name, made, reason = values.name, "default", None
    builder: Builder | None = None
    hierarchy = source if isinstance(source, Hierarchy) else None
    if hierarchy is not None:
        made = "uploaded"
    elif isinstance(source, BuilderRequest):
        made, builder = "widths" if source.by == "widths" else "built", builder_of(source.by, source.text, source.other)
    elif max(len(values.counts), len(values.column.domain or ())) > MOST_VALUES:
        reason = "too-many"
    elif not len(values.texts):
        reason = "no-values"
    else:
        builder = usual_builder(values)
    if builder is not None:
        hierarchy = builder.build(values)
    if hierarchy is not None and check:
        # here: the search's kernels come with it, and histories need none
        from noren.data.column_levels import column_levels

        schema = values.records.schema
        alone = schema.without([other for other in schema.names if other != name])
        column_levels(Table(values.records.frame.select(name).unique(), alone), {name: hierarchy}, "category")
    return hierarchy, {
        "name": name,
        "made": made,
        "request": asdict(source) if isinstance(source, BuilderRequest) else None,
        "widths": list(builder.parameters) if isinstance(builder, Widths) else None,
        "file": None,
        "reason": reason,
        "levels": [] if hierarchy is None else class_sizes(hierarchy, values.counts, values.column),
    }


def _written(making: _Making, values: ColumnValues, schema: Schema, folder: Path) -> dict[str, Any]:
    """Write a column's file and return what a page shows of it."""
    hierarchy, about = making
    name = hierarchy_file_name(values.name, [other for other in schema.names if other != values.name])
    if hierarchy is None:
        return about
    if name is None:
        return about | {"reason": "name-too-long", "levels": []}
    write_hierarchy(hierarchy, folder / name)
    return about | {"file": name}


def hierarchy_file(project: Path, schema: Schema, column: str) -> Path:
    """Return the file of a column's hierarchy."""
    _linking_column(schema, column)
    file = next(about["file"] for about in hierarchy_facts(project) if about["name"] == column)
    if not file:
        raise NotFoundError(_("this column has no hierarchy"))
    return project / FOLDER / str(file)


def set_hierarchy(project: Path, schema: Schema, column: str, content: bytes, name: str) -> dict[str, Any]:
    """Keep an uploaded hierarchy for a column."""
    linking = _linking_column(schema, column)
    with _aside(project, content, name) as file:
        text = io.StringIO(content.decode("utf-8-sig", errors="replace"), newline="")
        with contextlib.suppress(csv.Error, StopIteration):
            levels = len(next(csv.reader(text, delimiter=";")))
            if levels > _MOST_LEVELS:
                raise FormatError(say("many_levels", count=levels, most=_MOST_LEVELS), row=1)
        hierarchy = read_hierarchy(file, column)
    return keep_hierarchy(ColumnValues(_table(project, schema, [linking.name]), linking), schema, project, hierarchy)


def set_hierarchies(project: Path, schema: Schema, files: Sequence[tuple[str, bytes]]) -> list[CheckedFile]:
    """Keep many uploaded hierarchies, each for the column it is named after; return what is wrong with the others.

    A file with a problem is not kept; the column has what it had before.
    """
    linking = [column.name for column in schema.with_role(Role.QUASI)] if schema.kind == Kind.TABLE else []
    if not linking:
        raise ParameterError(say("not_linking"))
    table = _table(project, schema, linking)
    with tempfile.TemporaryDirectory(dir=project) as place:
        paths = []
        for i, (name, content) in enumerate(files):
            # under its person's name, as far as a file can have it; what is wrong with it names it so
            path = Path(place) / str(i) / (hierarchy_file_name(name.removesuffix(".csv")) or "file.csv")
            path.parent.mkdir(mode=0o700)
            path.write_bytes(content)
            paths.append(path)
        checked = check_files(paths, table, most_levels=_MOST_LEVELS)
        for file in checked:
            if file.hierarchy is not None and file.column is not None and not file.problems:
                values = ColumnValues(table, table.schema[file.column])
                keep_hierarchy(values, schema, project, replace(file.hierarchy, name=file.column))
    return checked


def build_hierarchy(
    project: Path, schema: Schema, column: str, request: BuilderRequest | None, *, keep: bool
) -> dict[str, Any]:
    """Build a column's hierarchy, or restore the default; without ``keep`` it is only a preview."""
    linking = _linking_column(schema, column)
    builder = None if request is None else builder_of(request.by, request.text, request.other)
    others = builder.parameters if isinstance(builder, FromColumn) else ()  # columns that the builder reads, too
    values = ColumnValues(_table(project, schema, [linking.name, *(schema[other].name for other in others)]), linking)
    if request is not None and request.by == Similar.by and len(values.counts) > _MOST_COMPARED:
        raise ParameterError(say("many_names", count=len(values.counts)), column=column)
    return keep_hierarchy(values, schema, project, request, keep=keep or request is None)


def _linking_column(schema: Schema, column: str) -> Column:
    candidate = schema[column]
    if schema.kind != Kind.TABLE or candidate.role != Role.QUASI:
        raise ParameterError(say("not_linking"), column=column)
    return candidate


def _table(project: Path, schema: Schema, columns: Sequence[str]) -> Table:
    frame = pl.scan_parquet(project / DATA_FILE).select(list(dict.fromkeys(columns))).collect()
    return Table(frame, schema.without([name for name in schema.names if name not in columns]))


def category_facts(project: Path) -> dict[str, Any] | None:
    """Return what a page shows of the items' categories, where somebody gave some."""
    return read_json(project / _CATEGORY_FACTS) or None


def set_categories(project: Path, schema: Schema, content: bytes, name: str, *, fill: bool) -> dict[str, Any]:
    """Keep an uploaded mapping of items to categories; ``fill`` puts items it does not list into one of their own."""
    if schema.kind != Kind.HISTORY:
        raise ParameterError(say("no_history"))
    items = pl.scan_parquet(project / DATA_FILE).select(schema.role(Role.ITEM).name).collect().to_series()
    with _aside(project, content, name) as file:
        categories = read_categories(file)
        if fill:
            categories = complete(categories, items.drop_nulls().unique().to_list())
        in_categories(items.unique(), categories.of_item)
    write_categories(categories, project / _CATEGORIES)
    return _save_category_facts(categories, items, project)


def refresh_categories(history: History, project: Path) -> list[str]:
    """Keep the categories of a project if they fit its data; return the column of items if they do not any more."""
    if not (project / _CATEGORIES).exists():
        return []
    if not history.schema.with_role(Role.ITEM):
        forget_categories(project)
        return []
    items = history[Role.ITEM]
    try:
        categories = read_categories(project / _CATEGORIES)
        in_categories(items.unique(), categories.of_item)
    except NorenError:
        forget_categories(project)
        return [history.schema.role(Role.ITEM).name]
    _save_category_facts(categories, items, project)
    return []


def _save_category_facts(categories: Categories, items: pl.Series, project: Path) -> dict[str, Any]:
    rows = items.drop_nulls().cast(pl.String).alias("item").value_counts(name="rows")
    by_category = (
        rows.with_columns(category=in_categories(rows["item"], categories.of_item))
        .group_by("category")
        .agg(items=pl.len(), rows=pl.col("rows").sum())
        .sort(["rows", "category"], descending=[True, False])
    )
    facts = {
        "categories": len(by_category),
        "items": int(by_category["items"].sum()),
        "largest": [[c, categories.name(c), i, r] for c, i, r in by_category.head(_SHOWN).iter_rows()],
    }
    write_json(project / _CATEGORY_FACTS, facts)
    return facts


def forget_categories(project: Path) -> None:
    """Remove the categories of a project whose data have no items, or others."""
    for name in (_CATEGORIES, _CATEGORY_FACTS):
        (project / name).unlink(missing_ok=True)


@contextlib.contextmanager
def _aside(folder: Path, content: bytes, name: str) -> Iterator[Path]:
    """Yield a file with the content for a reader; what is wrong with it names the person's file."""
    if content.startswith(b"\x1f\x8b"):
        raise FormatError(say("compressed"), file=name)
    file = folder / f"upload-{new_id()}.part"
    try:
        file.write_bytes(content)
        yield file
    except InputError as error:
        problem = error.problem
        named = name if error.file is not None or problem.row is not None else None
        raise type(error)(
            problem.rule, problem.cure, file=named, row=problem.row, column=problem.column, value=problem.value
        ) from None
    finally:
        file.unlink(missing_ok=True)
