"""Forms out of parameter models: which control a parameter gets, what was typed, and what is wrong with it.

What a person types stays text until the model judges it, so that a wrong value can be shown again as it was typed, with
the error next to it. Parameters that are files have no control: they are those of the project
(:mod:`~noren.studio.folders`).
"""

from __future__ import annotations

import re
import types
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from noren.data.schema import Role, Schema
from noren.errors import NorenError
from noren.i18n import _, translated
from noren.protocols import Component
from noren.studio.folders import path_fields
from noren.sweeps.defaults import LEAST_DIVERSE
from noren.tables import table_of

Typed = Mapping[str, Sequence[str]]
"""What was typed for one component: each field's texts; ``FIELD.other`` holds a number in place of a choice."""

DIVERSE: Final = str(LEAST_DIVERSE)
"""The ℓ that a form begins with where there are sensitive values: with fewer, some class may tell everybody's."""
_OTHER = "other"
_LONGEST = 2_000


@dataclass(frozen=True)
class FormColumn:
    """A column of the project as forms offer it.

    ``values`` is how many values it has, where known; ``begins`` whether a cross tabulation begins with it.
    """

    name: str
    role: str
    values: int | None = None
    begins: bool = False


@dataclass(frozen=True)
class Control:
    """One parameter as a form shows it.

    ``kind``: whole, number, switch, choice, choice-or-number, columns (several), column (one), lines, text.
    """

    field: str
    label: str
    help: str
    kind: str
    required: bool
    main: bool
    texts: tuple[str, ...]
    """What is typed or chosen; for a switch, one text if it is on."""
    other: str = ""
    default: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    columns: tuple[FormColumn, ...] = ()
    error: str = ""

    usual: tuple[str, ...] = ()
    """What a fresh form holds."""

    @property
    def text(self) -> str:
        """The only text, or nothing."""
        return self.texts[0] if self.texts else ""

    @property
    def is_set(self) -> bool:
        """Whether it differs from what a fresh form holds."""
        return tuple(t for t in self.texts if t.strip()) != self.usual


@dataclass(frozen=True)
class _Shape:
    """What a parameter's type comes to."""

    kind: str
    choices: tuple[str, ...] = ()
    item: Any = field(default=str)


def columns_of(schema: Schema, profile: Mapping[str, Any]) -> list[FormColumn]:
    """Return the columns that forms may offer, with the number of their values: the declared ones, else those seen.

    A cross tabulation begins with the first columns that have fewer combinations of values than there are rows.
    """
    seen = {about["name"]: about for about in profile.get("columns", [])}
    columns, cells = [], 1
    for column in schema.columns:
        about = seen.get(column.name, {})
        values = about.get("domain") or about.get("distinct")
        begins = column.role == Role.QUASI and bool(values) and cells * values <= profile.get("rows", 0)
        cells *= values if begins else 1
        columns.append(FormColumn(column.name, str(column.role), values, begins))
    return columns


# --- what a parameter says of itself -------------------------------------------------------------------------


def _in_form(about: FieldInfo) -> Mapping[str, Any]:
    """Return what a field says of how a form shows it (:func:`noren.protocols.in_form`)."""
    extra = about.json_schema_extra
    hints = extra.get("form") if isinstance(extra, dict) else None
    return hints if isinstance(hints, dict) else {}


def label_of(component: type[Component] | None, name: str) -> str:
    """Return what a form calls a parameter; one that nobody gave a title is called by its name.

    >>> from noren.methods.thin import Thin
    >>> label_of(Thin, "share"), label_of(None, "noise_level")
    ('Share of the rows', 'Noise level')
    """
    title = component.model_fields[name].title if component is not None and name in component.model_fields else None
    return _(title) if title else name.replace("_", " ").capitalize()


def word_of(component: type[Component] | None, name: str, value: str) -> str:
    """Return what a form calls a value that can be chosen.

    >>> from noren.methods.hierarchy import HierarchyMethod
    >>> word_of(HierarchyMethod, "missing", "drop"), word_of(HierarchyMethod, "identifiers", "drop")
    ('delete the row', 'leave them out')
    """
    if component is None or name not in component.model_fields:
        return value
    return _(_in_form(component.model_fields[name]).get("words", {}).get(value, value))


# --- from a model to controls --------------------------------------------------------------------------------


def fresh(component: type[Component], columns: Sequence[FormColumn]) -> dict[str, list[str]]:
    """Return what a form holds before anybody typed: defaults, and a sensible start where there is none."""
    typed = typed_of(component, {}, columns)
    if "attributes" in typed:
        typed["attributes"] = [c.name for c in columns if c.begins] or typed["attributes"]
    starts = {name: start for name, about in _fields(component).items() if (start := _in_form(about).get("start"))}
    if has_diversity(component, columns):
        starts["l"] = DIVERSE
    for name, text in starts.items():
        if not typed.get(name):
            typed[name] = [text]
    return typed


def has_diversity(component: type[Component], columns: Sequence[FormColumn]) -> bool:
    """Tell whether a method can ask for several sensitive values in each class, and there are such values."""
    return "l" in component.model_fields and any(c.role == Role.SENSITIVE for c in columns)


def typed_of(
    component: type[Component], parameters: Mapping[str, Any], columns: Sequence[FormColumn]
) -> dict[str, list[str]]:
    """Return parameters as somebody would have typed them."""
    typed: dict[str, list[str]] = {}
    for name, about in _fields(component).items():
        shape = _shape(about)
        default = None if about.is_required() else about.get_default(call_default_factory=True)
        value = parameters.get(name, default)
        if shape.kind == "columns" and not value:
            value = _usual(columns)
        if value is None or value in ("", (), []):
            typed[name] = []
        elif shape.kind == "switch":
            typed[name] = ["yes"] if value else []
        elif shape.kind == "lines":
            typed[name] = ["\n".join(str(v) for v in value)]
        elif shape.kind == "columns":
            typed[name] = [str(v) for v in value]
        elif shape.kind == "choice-or-number" and str(value) not in shape.choices:
            typed[name], typed[f"{name}.{_OTHER}"] = [_OTHER], [_plain(value)]
        else:
            typed[name] = [_plain(value)]
    return typed


def controls(
    component: type[Component], typed: Typed, columns: Sequence[FormColumn], errors: Mapping[str, str] | None = None
) -> list[Control]:
    """Return the controls of a component, holding what was typed, each with its error."""
    usual = fresh(component, columns)
    made = []
    for name, about in _fields(component).items():
        shape = _shape(about)
        default = None if about.is_required() else about.get_default(call_default_factory=True)
        hints = _in_form(about)
        words = _(hints.get("help") or about.description or "")
        main = about.is_required() or hints.get("main") or (name == "l" and has_diversity(component, columns))
        offered, choices = [], [(value, word_of(component, name, value)) for value in shape.choices]
        if shape.kind == "columns":
            offered = [c for c in columns if c.role != Role.IDENTIFIER]
        elif shape.kind == "column":
            offered = [c for c in columns if c.role == Role.SENSITIVE]
            none = _("the only one") if len(offered) == 1 else _("each of them")
            choices = [("", none), *((column.name, column.name) for column in offered)]
        elif shape.kind == "choice-or-number":
            choices.append((_OTHER, _(hints.get("number", "")) or _("a number")))
        made.append(
            Control(
                field=name,
                label=label_of(component, name),
                help=words[:1].upper() + words[1:],
                kind=shape.kind,
                required=about.is_required(),
                main=bool(main),
                texts=tuple(typed.get(name, ())),
                other="".join(typed.get(f"{name}.{_OTHER}", ())),
                default="" if default in (None, ()) or shape.kind in ("switch", "choice") else _plain(default),
                choices=tuple(choices),
                columns=tuple(offered),
                error=(errors or {}).get(name, ""),
                usual=tuple(usual.get(name, ())),
            )
        )
    return made


def _fields(component: type[Component]) -> dict[str, FieldInfo]:
    """Return the parameters that have a control; a chain's steps are forms of their own."""
    hidden = {*path_fields(component), "steps"}
    return {name: about for name, about in component.model_fields.items() if name not in hidden}


def _shape(about: FieldInfo) -> _Shape:
    kind = _bare(about.annotation)
    if get_origin(kind) in (Union, types.UnionType):
        parts = [_bare(part) for part in get_args(kind) if part is not type(None)]
        words = [part for part in parts if get_origin(part) is Literal]
        if len(parts) == 2 and words:
            return _Shape("choice-or-number", tuple(str(v) for v in get_args(words[0])))
        kind = parts[0] if len(parts) == 1 else str
    pick = _in_form(about).get("pick")
    if pick == "column":
        return _Shape("column")
    if get_origin(kind) is Literal:
        return _Shape("choice", tuple(str(v) for v in get_args(kind)))
    if get_origin(kind) in (list, tuple, set, frozenset):
        return _Shape("columns" if pick == "columns" else "lines", item=_bare(get_args(kind)[0]))
    return _Shape({bool: "switch", int: "whole", float: "number"}.get(kind, "text"))


def _bare(annotation: Any) -> Any:
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _usual(columns: Sequence[FormColumn]) -> list[str]:
    return [c.name for c in columns if c.role == Role.QUASI]


def _plain(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(str(v) for v in value)
    return f"{value:g}" if isinstance(value, float) else str(value)


# --- from what was typed to parameters -----------------------------------------------------------------------


def understood(component: type[Component], typed: Typed, columns: Sequence[FormColumn]) -> dict[str, Any]:
    """Return what was typed as parameters, still texts where the model must judge them; defaults are left out.

    >>> from noren.methods.thin import Thin
    >>> understood(Thin, {"share": [" 0.2 "], "rarest": ["yes"]}, [])
    {'share': '0.2', 'rarest': True, 'allow_vanish': False}
    """
    parameters: dict[str, Any] = {}
    for name, about in _fields(component).items():
        shape = _shape(about)
        texts = [_tidy(text, shape.kind) for text in typed.get(name, ()) if text.strip()]
        if shape.kind == "switch":
            parameters[name] = bool(texts)
        elif shape.kind == "columns":
            if texts and set(texts) != set(_usual(columns)):
                parameters[name] = texts
        elif not texts:
            continue
        elif shape.kind == "lines":
            # one on a line; numbers and days may also stand side by side
            apart = r"[\n,;]+" if shape.item is str else r"[\s,;]+"
            parameters[name] = [part for text in texts for part in (p.strip() for p in re.split(apart, text)) if part]
        elif shape.kind == "choice-or-number" and texts[0] == _OTHER:
            parameters[name] = _tidy("".join(typed.get(f"{name}.{_OTHER}", ())), "number") or "?"
        else:
            parameters[name] = texts[0]
    return parameters


def _tidy(text: str, kind: str) -> str:
    """Return a text without what surrounds it; digits of full width are digits."""
    whole = text if kind in ("text", "columns", "column") else unicodedata.normalize("NFKC", text)
    return whole.strip()[:_LONGEST]


def check(
    component: type[Component], typed: Typed, columns: Sequence[FormColumn], files: Mapping[str, Any] | None = None
) -> tuple[Component | None, dict[str, str]]:
    """Return the component that was typed, or what is wrong with which field; ``""`` is the form as a whole.

    >>> from noren.methods.thin import Thin
    >>> check(Thin, {"share": ["2"]}, [])
    (None, {'share': 'use 1 or less'})
    """
    parameters = understood(component, typed, columns) | dict(files or {})
    errors = {
        name: _("choose at least one column")
        for name, about in _fields(component).items()
        if _shape(about).kind == "columns" and _usual(columns) and not typed.get(name)
    }
    try:
        made = component(**parameters)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            # that parameters contradict each other is said at k, around which most turns
            place = str(detail["loc"][0]) if detail["loc"] else "k" if "k" in component.model_fields else ""
            if detail["type"] == "literal_error" and list(typed.get(place, ())) == [_OTHER]:
                continue  # a number was meant, and what is wrong with it is said too
            message = translated(str(detail["msg"]).removeprefix("Value error, "))
            if text := table_of(__name__)["wrong"].get(detail["type"]):
                message = _(text).format(bound=next(iter(detail.get("ctx", {}).values()), None))
            errors.setdefault(place, message)
        return None, errors
    except NorenError as error:
        return None, errors | {_culprit(component, parameters, str(error)): str(error)}
    return (None if errors else made), errors


def _culprit(component: type[Component], parameters: Mapping[str, Any], message: str) -> str:
    """Return the parameter without which the same is no longer said."""
    for name in parameters:
        try:
            component(**{key: value for key, value in parameters.items() if key != name})
        except ValidationError:
            return name
        except NorenError as error:
            if str(error) != message:
                return name
        else:
            return name
    return ""
