"""What the public part says of its columns: enough to read it, and nothing of the original that its rows do not say.

A schema is the steward's. Its title, its name (often that of a file), its domains and its bounds may tell who is in the
data and which values there were before some were taken out. A preset ships with Noren, so what it says is public.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from noren.data.schema import PRESETS, Column, Role, Schema
from noren.data.statement import Statement

__all__ = ["published_schema", "published_statement"]

_NAMING = (Role.CUSTOMER, Role.IDENTIFIER)
_FILES = ("categories", "hierarchies")


def published_schema(schema: Schema, statement: Statement, shown: pl.DataFrame | None = None) -> Schema:
    """Return the schema to publish with rows ``shown``; the attributes of a retention keep what its promise rests on.

    >>> columns = {"customer": {"role": "customer", "domain": ["ann", "bob"]},
    ...            "item": {"role": "item", "domain": ["x", "y"]}}
    >>> own = Schema.of({"name": "acme", "title": "ours", "columns": columns})
    >>> rows = pl.DataFrame({"customer": ["p1"], "item": ["x"]})
    >>> said = published_schema(own, Statement("by hand"), rows)
    >>> said.name, said.title, said["customer"].domain, said["item"].domain
    ('custom', '', None, ('x',))
    """
    preset = Schema.preset(schema.name) if schema.name in PRESETS else None
    known = {} if preset is None else {column.name: column for column in preset.columns}
    stated = _stated(statement)
    columns = tuple(
        column if column.name in stated or known.get(column.name) == column else _published(column, shown)
        for column in schema.columns
    )
    return schema.model_copy(
        update={
            "name": "custom" if preset is None else schema.name,
            "title": schema.title if preset is not None and schema.title == preset.title else "",
            "guessed": False,
            "columns": columns,
        }
    )


def _published(column: Column, shown: pl.DataFrame | None) -> Column:
    domain = None
    if column.domain is not None and column.role not in _NAMING and shown is not None and column.name in shown.columns:
        said = _texts(shown[column.name])
        domain = tuple(value for value in column.domain if value in said) or None
    return column.model_copy(update={"domain": domain, "minimum": None, "maximum": None})


def _texts(cells: pl.Series) -> set[str]:
    """Return the texts that some cell says, alone or in a set."""
    cells = cells.drop_nulls()
    if isinstance(cells.dtype, pl.List):
        cells = cells.explode(empty_as_null=False)
    return set(cells.cast(pl.String).unique().to_list())


def _stated(statement: Statement) -> set[str]:
    """Return the attributes whose domains a statement rests on."""
    told = [step.notes.get("attributes") for step in statement.steps if step.method == "retention"]
    listed = [about for some in told if isinstance(some, list) for about in some]
    return {str(about.get("name")) for about in listed if isinstance(about, dict)}


def published_statement(statement: Statement) -> dict[str, Any]:
    """Return what a statement says, as plain data: of the steward's files their names, not where they lie.

    >>> published_statement(Statement("hierarchy", {"k": 5, "hierarchies": "/home/ann/ladders"}))["parameters"]
    {'k': 5, 'hierarchies': 'ladders'}
    """
    said = statement.as_dict()
    parameters = _named(said["parameters"])
    if isinstance(parameters.get("steps"), list):
        parameters["steps"] = [_named(step) if isinstance(step, dict) else step for step in parameters["steps"]]
    return said | {"parameters": parameters}


def _named(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: Path(value).name if isinstance(value, str) and _is_place(name, value) else value
        for name, value in parameters.items()
    }


def _is_place(name: str, value: str) -> bool:
    return bool(value) and (name in _FILES or Path(value).is_absolute())
