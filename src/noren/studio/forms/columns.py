"""The form of a project's columns: what it shows, and the schema that it is turned into."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import ConfigDict, ValidationError

from noren.data.schema import Column, Kind, Role, Scale, Schema, ValueType, reject_unclassified
from noren.errors import SchemaError
from noren.i18n import _, split_remedy, translated
from noren.tables import Texts, table_of

say = Texts("noren.studio.forms.problems")

_TEXTS: Final = table_of(__name__)
HISTORY_ROLES: Final = {Role(role): text for role, text in _TEXTS["history_roles"].items()}
TABLE_ROLES: Final = {Role(role): text for role, text in _TEXTS["table_roles"].items()}
ROLE_MEANINGS: Final = {Role(role): text for role, text in _TEXTS["role_meanings"].items()}
"""What becomes of a column with each role, in a few words."""
TYPES: Final = {ValueType(kind): text for kind, text in _TEXTS["types"].items()}
NAMES_IN_HISTORY: Final = (Role.CUSTOMER, Role.ITEM, Role.INVOICE, Role.DESCRIPTION)
"""Roles whose values are names, even where they look like numbers: customers 007 and 7 are different people."""
_PLAYED_BY: Final = {
    Role.DATE: (ValueType.DATE, ValueType.DATETIME),
    Role.TIME: (ValueType.TIME,),
    Role.PRICE: (ValueType.INTEGER, ValueType.DECIMAL),
    Role.QUANTITY: (ValueType.INTEGER, ValueType.DECIMAL),
}
_ANY_OF: Final = (Role.DATE, Role.ITEM, Role.PRICE, Role.QUANTITY)
_BOUNDS: Final = {
    ValueType.INTEGER: "0",
    ValueType.DECIMAL: "0.01",
    ValueType.DATE: "2010-12-01",
    ValueType.TIME: "08:00:00",
    ValueType.DATETIME: "2010-12-01T08:00:00",
}
_READERS: Final[Mapping[Any, Callable[[str], Any]]] = {
    ValueType.DATE: dt.date.fromisoformat,
    ValueType.TIME: dt.time.fromisoformat,
    ValueType.DATETIME: dt.datetime.fromisoformat,
}
LEAVE_OUT: Final = "leave-out"
"""What is answered where a column shall not be read at all."""
OF_THE_FILE: Final = frozenset({"kind", "customer"})
"""What is asked of the whole file, and not of one column."""
Answers = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class ColumnProblem:
    """What is wrong with a column, or with all of them; a question where an answer is missing."""

    __pydantic_config__ = ConfigDict(json_schema_serialization_defaults_required=True)

    column: str | None
    message: str
    cure: str = ""
    is_question: bool = False


def schema_of(content: Mapping[str, Any]) -> Schema:
    """Return the schema that plain data describe, or say the first problem with it."""
    settled = _settled(content)
    for about in settled.get("columns") or ():
        if isinstance(about, Mapping):
            _reject_unreadable_bound(about)
    return Schema.of(settled)


def problems_of(content: Mapping[str, Any], missing: Mapping[str, int] | None = None) -> list[ColumnProblem]:
    """Return every problem with a schema, without reading any data.

    ``missing`` tells how many cells of each column are empty, where that is known.
    """
    settled = _settled(content)
    listed = settled.get("columns")
    if listed == []:
        return [ColumnProblem(None, *split_remedy(_("every column is left out; keep at least one")))]
    if not isinstance(listed, Sequence) or not all(isinstance(about, Mapping) for about in listed):
        return _first_problem(settled)
    problems: list[ColumnProblem] = []
    columns: list[Column] = []
    allowed = TABLE_ROLES if settled.get("kind") == Kind.TABLE else HISTORY_ROLES
    for about in listed:
        try:
            _reject_unreadable_bound(about)
            columns.append(Column.model_validate(about))
        except SchemaError as error:
            problems.append(ColumnProblem(_name(about), error.problem.rule))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(str(part) for part in first["loc"])
            message = translated(str(first["msg"]).removeprefix("Value error, "))
            problems.append(ColumnProblem(_name(about), f"{place}: {message}" if place else message))
        else:
            if columns[-1].role not in allowed:
                wrong, message = columns.pop(), _("the role {role} does not fit this kind of rows; choose another")
                problems.append(ColumnProblem(wrong.name, *split_remedy(message.format(role=wrong.role))))
    for c in columns:
        fitting = types_for(str(c.role))
        if fitting and c.type not in fitting:
            message = _("the values are {type}, but “{role}” needs {needed}; change the type, or choose another role")
            types = {"type": _(TYPES[c.type]), "needed": _(" or ").join(_(TYPES[t]) for t in fitting)}
            message = message.format(role=_(HISTORY_ROLES[c.role]), **types)
            problems.append(ColumnProblem(c.name, *split_remedy(message)))
    open_ = [c.name for c in columns if "role" not in c.model_fields_set]
    question = _("What is “{name}” for?")
    problems += [ColumnProblem(name, question.format(name=name), is_question=True) for name in open_]
    empty = missing or {}
    message = _("{count:,} cells are empty; allow empty cells in this column")
    problems += [
        ColumnProblem(c.name, *split_remedy(message.format(count=empty[c.name])))
        for c in columns
        if empty.get(c.name) and not c.optional and not settled.get("guessed")
    ]
    if len(columns) == len(listed):
        problems += _whole_problems(settled, columns, open_)
    return problems


def types_for(role: str) -> tuple[ValueType, ...]:
    """Return the types whose values can play a role; none where any can."""
    return _PLAYED_BY.get(Role(role), ()) if role in set(Role) else ()


def _whole_problems(settled: Mapping[str, Any], columns: Sequence[Column], open_: Sequence[str]) -> list[ColumnProblem]:
    """Return what is wrong with the columns together."""
    if settled.get("kind") == Kind.HISTORY and columns:
        roles = [c.role for c in columns if c.name not in open_]
        if Role.CUSTOMER not in roles:
            message = _("no column has the role “{role}”; choose it for a column, or declare that each row is a person")
            return [ColumnProblem(None, *split_remedy(message.format(role=_(HISTORY_ROLES[Role.CUSTOMER]))))]
        if not set(_ANY_OF) & set(roles):
            roles_needed = ", ".join(_(HISTORY_ROLES[role]) for role in _ANY_OF)
            message = _("no column has one of these roles: {roles}; choose one of them for a column")
            return [ColumnProblem(None, *split_remedy(message.format(roles=roles_needed)))]
    return _first_problem(settled)


def _first_problem(settled: Mapping[str, Any]) -> list[ColumnProblem]:
    try:
        schema = Schema.of(settled)
        # what columns are for was asked above, one by one
        if settled.get("kind") != Kind.TABLE or all("role" in c.model_fields_set for c in schema.columns):
            reject_unclassified(schema)
    except SchemaError as error:
        return [ColumnProblem(error.problem.column, error.problem.rule, error.problem.cure)]
    return []


def _name(about: Mapping[str, Any]) -> str | None:
    name = about.get("name")
    return name if isinstance(name, str) else None


# --- settling what was said ------------------------------------------------------------------------------------------


def content_of(schema: Schema) -> dict[str, Any]:
    """Return a schema as plain data, without a role where nobody said one."""
    content = schema.model_dump(mode="json", exclude_none=True)
    for column, about in zip(schema.columns, content["columns"], strict=True):
        about["scale"] = str(column.scale)
        if "role" not in column.model_fields_set:
            del about["role"]
    return content


def _settled(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content with bounds as numbers, days and times, and names typed as names."""
    settled = dict(content)
    listed = settled.get("columns")
    if isinstance(listed, Mapping):
        listed = [dict(about) | {"name": name} for name, about in listed.items() if isinstance(about, Mapping)]
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        return settled
    history = settled.get("kind", Kind.HISTORY) == Kind.HISTORY
    columns = [dict(about) if isinstance(about, Mapping) else about for about in listed]
    for about in (one for one in columns if isinstance(one, dict)):
        if history and about.get("role") in NAMES_IN_HISTORY:
            for name in ("width", "format", "number", "minimum", "maximum", "scale"):
                about.pop(name, None)
            about["type"] = ValueType.TEXT
        for edge in ("minimum", "maximum"):
            if isinstance(about.get(edge), str):
                text, read = about[edge].strip(), _READERS.get(about.get("type"))
                about[edge] = text
                with contextlib.suppress(ValueError):  # what is no bound stays a text, to be complained of
                    about[edge] = float(text.replace(",", "")) if read is None else read(text.replace("/", "-"))
            elif isinstance(about.get(edge), bool):
                about[edge] = str(about[edge])
    return settled | {"columns": columns}


def _reject_unreadable_bound(about: Mapping[str, Any]) -> None:
    kind = about.get("type")
    for edge in ("minimum", "maximum"):
        if isinstance(about.get(edge), str) and kind in _BOUNDS:
            raise SchemaError(
                say("bad_bounds", type=kind, example=_BOUNDS[ValueType(kind)]), column=_name(about), value=about[edge]
            )


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
        kind = ValueType(self.type) if self.type in set(ValueType) else ValueType.TEXT
        return str(Column.model_construct(name=self.name, type=kind).scale)


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
        width=_bound_text(column.width),
        format=column.format or "",
        number=column.number or "",
        domain="\n".join(column.domain or ()),
        minimum=_bound_text(column.minimum),
        maximum=_bound_text(column.maximum),
        optional=column.optional,
    )


def _bound_text(bound: Any) -> str:
    if bound is None:
        return ""
    if not isinstance(bound, float | int):
        return str(bound.isoformat())
    return str(int(bound)) if bound == int(bound) else repr(bound)


def typed(before: Sequence[ColumnFields], posted: Mapping[str, str]) -> list[ColumnFields]:
    """Return the fields as a form sent them; columns that it did not show stay."""
    fields = list(before)
    for i, column in enumerate(before):
        if f"row-{i}" in posted:
            texts = {
                field: posted.get(f"{field}-{i}", getattr(column, field)).strip()
                for field in ("role", "type", "width", "format", "number", "minimum", "maximum")
            }
            domain = posted.get(f"domain-{i}", column.domain).replace("\r\n", "\n").replace("\r", "\n")
            fields[i] = replace(
                column, **texts, domain=domain, out=f"out-{i}" in posted, optional=f"optional-{i}" in posted
            )
    return fields


def content_from(fields: Sequence[ColumnFields], kind: str, before: Schema) -> tuple[dict[str, Any], list[str]]:
    """Return the schema that the fields mean, as plain data, and the columns to leave out."""
    own = {column.name: column for column in before.columns}
    # what was guessed of grids and lists stays a guess, which rejects no row, until somebody says otherwise
    guessed = before.guessed
    for field, guess in ((field, _fields(own[field.name])) for field in fields if field.name in own):
        same = ("width", "minimum", "maximum", "optional") if field.type == guess.type else ()
        guessed &= field.domain.strip() == guess.domain.strip()
        guessed &= all(getattr(field, name) == getattr(guess, name) for name in same)
    content: dict[str, Any] = {
        "name": "custom",
        "kind": kind if kind in set(Kind) else str(before.kind),
        "text": before.text.model_dump(exclude_none=True),
        "guessed": guessed,
        "columns": [_about(field, own.get(field.name)) for field in fields if not field.out],
    }
    return content, [field.name for field in fields if field.out]


def _about(fields: ColumnFields, before: Column | None) -> dict[str, Any]:
    about: dict[str, Any] = {"name": fields.name, "type": fields.type}
    if fields.role:
        about["role"] = fields.role
    if fields.optional:
        about["optional"] = True
    if fields.type == ValueType.TEXT:
        domain = list(before.domain or ()) if before is not None else []
        # a value may hold a line end; a line of a field cannot
        if fields.domain != "\n".join(domain).replace("\r\n", "\n").replace("\r", "\n"):
            domain = [line for line in fields.domain.split("\n") if line.strip()]
        return about | ({"domain": domain} if domain else {})
    about |= {edge: getattr(fields, edge) for edge in ("minimum", "maximum") if getattr(fields, edge)}
    if fields.scale == Scale.INTERVAL:
        about |= {"format": fields.format} if fields.format else {}
        return about | ({"width": before.width} if before and before.width and str(before.type) == fields.type else {})
    about |= {"number": fields.number} if fields.number else {}
    return about | ({"width": fields.width} if fields.width else {})


# --- questions about the file ----------------------------------------------------------------------------------------


def with_answer(answers: Answers, about: str, column: str | None, value: str) -> list[dict[str, Any]]:
    """Return the answers with one more; the last answer to a question counts.

    Who says what rows are answers everything anew that was about roles: they are other roles.

    >>> given = with_answer([], "format", "day", "%d/%m/%Y")
    >>> with_answer(given, "format", "day", "%m/%d/%Y")
    [{'about': 'format', 'column': 'day', 'value': '%m/%d/%Y'}]
    """
    column = None if about in OF_THE_FILE else column
    others = [dict(entry) for entry in answers if (entry["about"], entry["column"]) != (about, column)]
    if about == "kind":
        others = [old for old in others if old["about"] not in ("role", "customer") or old["value"] == LEAVE_OUT]
    return [*others, {"about": about, "column": column, "value": value}]


def answer_of(question: Mapping[str, Any], answers: Answers) -> str | None:
    """Return what was answered to a question, if anything was."""
    column = None if question["about"] in OF_THE_FILE else question["column"]
    values = (entry["value"] for entry in answers if (entry["about"], entry["column"]) == (question["about"], column))
    return next(values, None)


def open_stops(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the questions that must be answered before anything is protected, and are not."""
    answers = facts.get("answers", [])
    return [asks for asks in facts.get("questions", []) if asks["stops"] and answer_of(asks, answers) is None]


def left_out(answers: Answers) -> list[str]:
    """Return the columns that somebody said to leave out."""
    return [str(entry["column"]) for entry in answers if entry["about"] == "role" and entry["value"] == LEAVE_OUT]
