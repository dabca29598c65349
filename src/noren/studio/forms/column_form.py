"""The form in which a person says what columns mean: from a schema to fields, and back.

Fields are numbered by the column's place, for a name may hold anything. A form shows some columns of a wide file at a
time; the others stay as they are. What was typed is kept as it was typed, right or wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from noren.data.schema import Column, Kind, Scale, Schema, ValueType

__all__ = ["ColumnFields", "content_from", "fields_of", "typed"]

_TYPES_OF = {
    Scale.NOMINAL: {ValueType.TEXT},
    Scale.INTERVAL: {ValueType.DATE, ValueType.TIME, ValueType.DATETIME},
    Scale.RATIO: {ValueType.INTEGER, ValueType.DECIMAL},
}


@dataclass(frozen=True)
class ColumnFields:
    """What the form says of one column, as text. ``role`` is empty where nobody said one."""

    name: str
    out: bool = False
    role: str = ""
    type: str = "text"
    width: str = ""
    format: str = ""
    number: str = ""
    domain: str = ""
    minimum: str = ""
    maximum: str = ""
    optional: bool = False

    @property
    def scale(self) -> str:
        """Which arithmetic the values allow."""
        return str(next((scale for scale, types in _TYPES_OF.items() if self.type in types), Scale.NOMINAL))


def fields_of(schema: Schema, names: Sequence[str], left_out: Sequence[str]) -> list[ColumnFields]:
    """Return the fields of every column of a file, in its order; those left out are told so."""
    own = {column.name: _fields(column) for column in schema.columns}
    if not set(own) <= set(names):  # a file without a header, its columns named by the schema alone
        return list(own.values())
    return [own.get(name) or ColumnFields(name, out=name in left_out, optional=True) for name in names]


def _fields(column: Column) -> ColumnFields:
    return ColumnFields(
        name=column.name,
        role=str(column.role) if "role" in column.model_fields_set else "",
        type=str(column.type),
        width="" if column.width is None else _number(column.width),
        format=column.format or "",
        number=column.number or "",
        domain="\n".join(column.domain or ()),
        minimum=_bound(column.minimum),
        maximum=_bound(column.maximum),
        optional=column.optional,
    )


def _bound(bound: Any) -> str:
    if bound is None:
        return ""
    return _number(bound) if isinstance(bound, float) else str(bound.isoformat())


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def typed(before: Sequence[ColumnFields], posted: Mapping[str, str]) -> list[ColumnFields]:
    """Return the fields as a form sent them; columns that it did not show stay."""
    return [_typed(one, i, posted) if f"row-{i}" in posted else one for i, one in enumerate(before)]


def _typed(before: ColumnFields, i: int, posted: Mapping[str, str]) -> ColumnFields:
    texts = {
        field: posted.get(f"{field}-{i}", getattr(before, field)).strip()
        for field in ("role", "type", "width", "format", "number", "minimum", "maximum")
    }
    domain = posted.get(f"domain-{i}", before.domain).replace("\r\n", "\n").replace("\r", "\n")
    return replace(before, **texts, domain=domain, out=f"out-{i}" in posted, optional=f"optional-{i}" in posted)


def content_from(fields: Sequence[ColumnFields], kind: str, before: Schema) -> tuple[dict[str, Any], list[str]]:
    """Return the schema that the fields mean, as plain data, and the columns to leave out."""
    own = {column.name: column for column in before.columns}
    content: dict[str, Any] = {
        "name": "custom",
        "kind": kind if kind in set(Kind) else str(before.kind),
        "text": before.text.model_dump(exclude_none=True),
        # what was guessed of grids and lists stays a guess, which rejects no row, until somebody says otherwise
        "guessed": before.guessed and all(_as_guessed(one, own[one.name]) for one in fields if one.name in own),
        "columns": [_about(one, own.get(one.name)) for one in fields if not one.out],
    }
    return content, [one.name for one in fields if one.out]


def _as_guessed(fields: ColumnFields, before: Column) -> bool:
    """Tell whether nobody changed what is said of the values a column may have."""
    guess = _fields(before)
    same = ("width", "minimum", "maximum", "optional")
    return fields.domain.strip() == guess.domain.strip() and all(
        getattr(fields, name) == getattr(guess, name) for name in same if fields.type == guess.type
    )


def _about(fields: ColumnFields, before: Column | None) -> dict[str, Any]:
    about: dict[str, Any] = {"name": fields.name, "type": fields.type}
    if fields.role:
        about["role"] = fields.role
    if fields.optional:
        about["optional"] = True
    if fields.type == ValueType.TEXT:
        domain = _domain(fields.domain, before)
        return about | ({"domain": domain} if domain else {})
    about |= {edge: getattr(fields, edge) for edge in ("minimum", "maximum") if getattr(fields, edge)}
    if fields.scale == Scale.INTERVAL:
        about |= {"format": fields.format} if fields.format else {}
        return about | ({"width": before.width} if before and before.width and str(before.type) == fields.type else {})
    about |= {"number": fields.number} if fields.number else {}
    return about | ({"width": fields.width} if fields.width else {})


def _domain(text: str, before: Column | None) -> list[str]:
    own = list(before.domain or ()) if before is not None else []
    if text == "\n".join(own).replace("\r\n", "\n").replace("\r", "\n"):
        return own  # a value may hold a line end; a line of a field cannot
    return [line for line in text.split("\n") if line.strip()]
