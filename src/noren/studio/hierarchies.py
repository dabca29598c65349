"""The hierarchies of a project: a first one for every column that could link a person, and what people gave instead.

They are made by :mod:`noren.data.hierarchies.builders`. Values come from what the schema declares where it does, so
that a hierarchy tells no more of the data than it must. Files lie in the project's folder ``hierarchies`` in ARX's
form, as the methods read them; ``hierarchies.json`` beside it keeps how each was made and what a page shows of it.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

from noren.data.frames import Table
from noren.data.hierarchies.builder import Builder, ColumnValues
from noren.data.hierarchies.builders import build, builder_of, class_sizes, usual_builder
from noren.data.hierarchies.levels import Hierarchy, hierarchy_file_name, read_hierarchy, write_hierarchy
from noren.data.hierarchies.numbers import Widths
from noren.data.schema import Role, Schema
from noren.errors import NorenError
from noren.studio.folders import read_json, write_json

__all__ = [
    "FACTS",
    "FOLDER",
    "Asked",
    "Made",
    "file_of",
    "forget_hierarchies",
    "hierarchy_facts",
    "keep_hierarchy",
    "make_hierarchies",
    "seen_hierarchy",
    "stop_at_unlisted",
]

FOLDER, FACTS = "hierarchies", "hierarchies.json"
Made = Literal["default", "widths", "built", "uploaded"]

MOST_VALUES: Final = 50_000
_one_at_a_time = threading.Lock()


@dataclass(frozen=True)
class Asked:
    """A builder in words: its name, what it needs, the label of values it has no place for."""

    by: str
    text: str = ""
    other: str = ""

    def making(self, values: ColumnValues) -> _Making:
        """Return the hierarchy that it makes of a column."""
        builder = builder_of(self.by, self.text, self.other)
        return _Making(build(builder, values), "widths" if self.by == "widths" else "built", self, _widths(builder))


# --- the first ones --------------------------------------------------------------------------------------------------


def make_hierarchies(table: Table, project: Path) -> list[str]:
    """Make the hierarchies of a table's quasi columns; return the columns whose own ones do not fit any more.

    What a person uploaded, or a builder they chose, stays as long as the column is there and every value is listed.
    """
    before = {about["name"]: about for about in hierarchy_facts(project)}
    folder = project / FOLDER
    folder.mkdir(exist_ok=True, mode=0o700)
    quasi = table.schema.with_role(Role.QUASI)
    facts, lost = [], [name for name, about in before.items() if about["made"] != "default"]
    for column in quasi:
        values = ColumnValues(table, column)
        own = _own(before.get(column.name), values, folder)
        if own is not None:
            lost.remove(column.name)
        facts.append(_written(own or _by_default(values), values, table.schema, folder))
    for file in folder.iterdir():
        if file.name not in {about["file"] for about in facts}:
            file.unlink()
    if not any(about["file"] for about in facts):
        folder.rmdir()  # methods take an empty folder for a mistake
    write_json(project / FACTS, facts)
    return lost


def forget_hierarchies(project: Path) -> None:
    """Remove the hierarchies of a project whose data have none."""
    shutil.rmtree(project / FOLDER, ignore_errors=True)
    (project / FACTS).unlink(missing_ok=True)


def keep_hierarchy(
    values: ColumnValues, schema: Schema, project: Path, given: Hierarchy | Asked | None = None
) -> dict[str, Any]:
    """Keep what a person gave for a column: a hierarchy, a builder, or nothing for the first one again.

    Parameters
    ----------
    values
        The column, with the columns of the data that the builder needs.
    schema
        All columns of the data.
    """
    making = _making(values, given)
    stop_at_unlisted(making.hierarchy, values)
    with _one_at_a_time:
        (project / FOLDER).mkdir(exist_ok=True, mode=0o700)
        about = _written(making, values, schema, project / FOLDER)
        facts = [about if one["name"] == values.name else one for one in hierarchy_facts(project)]
        write_json(project / FACTS, facts)
    return about


def seen_hierarchy(values: ColumnValues, asked: Asked) -> dict[str, Any]:
    """Return what a page shows of the hierarchy that a builder makes; nothing is kept."""
    making = _making(values, asked)
    stop_at_unlisted(making.hierarchy, values)
    return _about(making, values)


def _making(values: ColumnValues, given: Hierarchy | Asked | None) -> _Making:
    if isinstance(given, Hierarchy):
        return _Making(given, "uploaded")
    return _by_default(values) if given is None else given.making(values)


def hierarchy_facts(project: Path) -> list[dict[str, Any]]:
    """Return how the hierarchies of a project were made, and their levels."""
    return read_json(project / FACTS) or []


def file_of(column: str, schema: Schema) -> str | None:
    """Return the name of a column's file; none where the column's name is too long for one."""
    return hierarchy_file_name(column, [other for other in schema.names if other != column])


@dataclass(frozen=True)
class _Making:
    """A hierarchy and how it was made; without one, why there is none."""

    hierarchy: Hierarchy | None
    made: Made = "default"
    asked: Asked | None = None
    widths: Sequence[float] | None = None
    reason: str | None = None


def _widths(builder: Builder) -> Sequence[float] | None:
    return builder.widths if isinstance(builder, Widths) else None


def _by_default(values: ColumnValues) -> _Making:
    if max(len(values.counts), len(values.column.domain or ())) > MOST_VALUES:
        return _Making(None, reason="too-many")
    if not len(values.texts):
        return _Making(None, reason="no-values")
    builder = usual_builder(values)
    return _Making(build(builder, values), widths=_widths(builder))


def _own(about: Mapping[str, Any] | None, values: ColumnValues, folder: Path) -> _Making | None:
    """Return the hierarchy that a person gave, where it still fits."""
    if about is None or about["made"] == "default" or not about["file"]:
        return None
    try:
        file = folder / about["file"]
        asked = about["asked"] and Asked(**about["asked"])
        making = asked.making(values) if asked else _Making(read_hierarchy(file, values.name), "uploaded")
        stop_at_unlisted(making.hierarchy, values)
    except NorenError:
        return None
    return making


def _about(making: _Making, values: ColumnValues) -> dict[str, Any]:
    levels = [] if making.hierarchy is None else class_sizes(making.hierarchy, values.counts, values.column)
    return {
        "name": values.name,
        "made": making.made,
        "asked": None if making.asked is None else asdict(making.asked),
        "widths": None if making.widths is None else list(making.widths),
        "file": None,
        "reason": making.reason,
        "levels": levels,
    }


def _written(making: _Making, values: ColumnValues, schema: Schema, folder: Path) -> dict[str, Any]:
    """Write a column's file and return what a page shows of it."""
    name = file_of(values.name, schema)
    about = _about(making, values)
    if making.hierarchy is None:
        return about
    if name is None:
        return about | {"reason": "name-too-long", "levels": []}
    write_hierarchy(making.hierarchy, folder / name)
    return about | {"file": name}


def stop_at_unlisted(hierarchy: Hierarchy | None, values: ColumnValues) -> None:
    """Stop at values of a column that its hierarchy does not list, as the methods would."""
    if hierarchy is None:
        return
    from noren.data.rungs import on_rungs  # here: the search's kernels come with it, and histories need none

    name, schema = values.name, values.records.schema
    alone = schema.without([other for other in schema.names if other != name])
    table = Table(values.records.frame.select(name).unique(), alone)
    on_rungs(table, {name: hierarchy}, "category")
