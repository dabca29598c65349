"""Registries of methods, attacks and measures: built-in ones, and those of other packages by entry point.

Built-in components are listed as ``name → "module:Class"`` and imported at first use. Packages add theirs under the
entry-point groups ``noren.methods``, ``noren.attacks`` and ``noren.measures``. Two components of one name are an error;
an unknown name is answered with the nearest one. A package that cannot be imported is left out of the list, and
:meth:`Registry.broken` returns the reason.

A component's fields are one model for five uses: :func:`build` in Python, flags of the command line, JSON schema for
forms, TOML of a sweep, reference page.
"""

from __future__ import annotations

import importlib
import itertools
import re
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar, Union, get_args, get_origin

import polars as pl
from pydantic import ValidationError
from pydantic_core import PydanticUndefined

from noren.data.frames import ResultSet
from noren.errors import (
    DuplicateNameError,
    NorenError,
    ParameterError,
    PluginError,
    SchemaError,
    UnknownNameError,
    reason_of,
    suggestion,
)
from noren.i18n import _, translated
from noren.protocols import Attack, Component, Measure, Method, Runtime, Side
from noren.tables import Texts

say = Texts(__name__)
Kind = TypeVar("Kind", bound=Component)
_RANGE = re.compile(r"^(-?\d+)\.\.(-?\d+)$")


class Registry(Generic[Kind]):
    """The components of one kind: methods, attacks or measures."""

    def __init__(self, base: type[Kind], group: str, built_in: Mapping[str, str]) -> None:
        self.base = base
        self.group = group
        self._built_in = dict(built_in)
        self._import_errors: dict[str, str | None] = {}

    @cached_property
    def _entries(self) -> dict[str, str | EntryPoint]:
        entries: dict[str, str | EntryPoint] = dict(self._built_in)
        for point in entry_points(group=self.group):
            if point.name in entries:
                raise DuplicateNameError(say("taken", name=f"{point.name} ({point.value})", group=self.group))
            entries[point.name] = point
        return entries

    def broken(self) -> dict[str, str]:
        """Return the components of other packages that cannot be used, with the package and the reason."""
        return {name: reason for name in sorted(self._entries) if (reason := self._import_error(name)) is not None}

    def _import_error(self, name: str) -> str | None:
        """Return why a component of another package cannot be used, None if it can; it is imported once to know."""
        if isinstance(self._entries[name], EntryPoint) and name not in self._import_errors:
            try:
                self[name]
            except NorenError as error:
                self._import_errors[name] = str(error)
            else:
                self._import_errors[name] = None
        return self._import_errors.get(name)

    def __iter__(self) -> Iterator[str]:
        """Go through the names of those that can be used, in order."""
        return iter(sorted(name for name in self._entries if self._import_error(name) is None))

    def __len__(self) -> int:
        return sum(1 for _name in self)

    def __contains__(self, name: object) -> bool:
        return name in self._entries and self._import_error(str(name)) is None

    def __getitem__(self, name: str) -> type[Kind]:
        """Return the class called ``name``."""
        place = self._entries.get(name)
        if place is None:
            hint = suggestion(str(name), self)
            raise UnknownNameError(say("unknown", name=name, group=self.group, hint=hint, names=", ".join(self)))
        if isinstance(place, EntryPoint):
            try:
                component = place.load()
            except (Exception, SystemExit) as error:  # whatever goes wrong in another package is said in one line
                package, reason = place.dist.name if place.dist is not None else place.value, reason_of(error)
                raise PluginError(say("plugin", name=place.name, package=package, reason=reason)) from error
        else:
            module, _colon, attribute = place.partition(":")
            component = getattr(importlib.import_module(module), attribute)
        if not (isinstance(component, type) and issubclass(component, self.base)):
            raise SchemaError(say("wrong_base", name=name, group=self.group, base=self.base.__name__))
        _reject_gap(component, name, self.group)
        if component.name != name:
            raise DuplicateNameError(say("two_names", group=self.group, name=name, own=component.name))
        return component

    def register(self, name: str, place: str) -> None:
        """Add a component for this process."""
        if name in self._entries:
            raise DuplicateNameError(say("taken", name=name, group=self.group))
        self._entries[name] = place

    def create(self, name: str, **parameters: Any) -> Kind:
        """Return the component ``name`` with its parameters set."""
        return build(self[name], parameters)

    def listing(self) -> ResultSet[type[Kind]]:
        """Return the components by name, printed as a table."""
        kinds = {name: self[name] for name in self}
        rows = [(name, ", ".join(sorted(kind.accepts)), _(kind.summary)) for name, kind in kinds.items()]
        return ResultSet(kinds, pl.DataFrame(rows, ["name", "works_on", "summary"], orient="row"))


class ComponentPackage(types.ModuleType):
    """The package of a registry; called, it lists the components: ``noren.methods()``."""

    def __call__(self) -> ResultSet[Any]:
        """Return the components by name."""
        listed: ResultSet[Any] = getattr(self, self.__name__.rpartition(".")[2]).listing()
        return listed


def _reject_gap(component: type[Component], name: str, group: str) -> None:
    """Raise if a class lacks a fact that pages, maps and sweeps need, or contradicts itself."""
    needed = ("name", "summary", *(("side", "goal", "needs") if issubclass(component, Measure) else ()))
    missing = [word for word in needed if not hasattr(component, word)]
    if "side" in needed and getattr(component, "side", "safety") not in get_args(Side):
        missing.append("side")
    if not isinstance(getattr(component, "runtime", None), Runtime):
        missing.append("runtime")
    if missing:
        raise SchemaError(say("missing_facts", name=name, group=group, attributes=", ".join(missing)))
    ours = {name for kind in (Component, Method, Attack, Measure) for name in kind.__class_vars__}
    taken = sorted(component.model_fields.keys() & ours)
    if taken:
        raise SchemaError(say("reserved_parameter", name=name, group=group, taken=", ".join(taken)))
    strength = component.strength if issubclass(component, Method) else None
    if strength is not None and strength.parameter not in component.model_fields:
        names = ", ".join(component.model_fields) or _("none")
        raise SchemaError(say("no_strength", name=name, group=group, parameter=strength.parameter, names=names))


def build(component: type[Kind], parameters: Mapping[str, Any]) -> Kind:
    """Return ``component`` with ``parameters``; an error names the wrong one and what would be right."""
    try:
        return component(**parameters)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = str(first["loc"][0]) if first["loc"] else ""
        if first["type"] == "extra_forbidden":
            names, hint = ", ".join(component.model_fields) or _("none"), suggestion(field, component.model_fields)
            problem = say("no_parameter", component=component.name, name=field, hint=hint, names=names)
            raise ParameterError(problem) from None
        if first["type"] == "missing":
            flag = field.replace("_", "-")
            raise ParameterError(say("needed", component=component.name, name=field, flag=flag)) from None
        reason = translated(str(first["msg"]).removeprefix("Value error, "))
        if first["type"] == "value_error":
            raise ParameterError(reason) from None
        about = component.model_fields.get(field)
        problem = say("invalid_value", name=field, value=first["input"], component=component.name, reason=reason)
        raise ParameterError(problem, _((about and (about.description or about.title)) or "")) from None


# --- flags -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Flag:
    """One parameter as the command line shows it."""

    field: str
    flag: str
    type: str
    default: Any
    required: bool
    help: str
    is_switch: bool
    is_list: bool


def flags(component: type[Component]) -> list[Flag]:
    """Return the command-line flags of a component."""
    listed = []
    for name, about in component.model_fields.items():
        bare: Any = about.annotation
        optional = False
        if get_origin(bare) in (Union, types.UnionType):
            members = [a for a in get_args(bare) if a is not type(None)]
            optional = len(members) < len(get_args(bare))
            if len(members) == 1:  # without what pydantic is told beside it
                bare = get_args(members[0])[0] if get_origin(members[0]) is Annotated else members[0]
        is_list = get_origin(bare) in (list, tuple, set, frozenset)
        kind = _("list, separated by commas") if is_list else _type_name(bare)
        default = about.get_default(call_default_factory=True) if not about.is_required() else None
        flag = Flag(
            field=name,
            flag="--" + name.replace("_", "-"),
            type=kind + (" | " + _("none") if optional else ""),
            default=None if default is PydanticUndefined else default,
            required=about.is_required(),
            help=_(about.description or about.title or ""),
            is_switch=bare is bool,
            is_list=is_list,
        )
        listed.append(flag)
    return listed


def _type_name(annotation: Any) -> str:
    if str(get_origin(annotation)) == "typing.Literal":
        return " | ".join(map(str, get_args(annotation)))
    if get_origin(annotation) in (Union, types.UnionType):
        return " | ".join(map(_type_name, get_args(annotation)))
    names = {int: _("whole number"), float: _("number"), bool: _("yes or no"), str: _("text"), Path: _("file")}
    return names.get(annotation, getattr(annotation, "__name__", str(annotation)))


def from_flags(component: type[Kind], words: Sequence[str]) -> Kind:
    """Build a component from ``--flag value`` words (see :func:`share_flags`)."""
    return share_flags([component], words)[0]


def share_flags(components: Sequence[type[Kind]], words: Sequence[str]) -> list[Kind]:
    """Build components from ``--flag value`` words; a flag goes to every component that has it.

    Switches are ``--flag`` and ``--no-flag``; lists are separated by commas; ``--flag=value`` works too.
    """
    return [build(c, p) for c, p in zip(components, _shared(components, words), strict=True)]


def sweep_flags(components: Sequence[type[Component]], words: Sequence[str]) -> list[dict[str, Any]]:
    """Return for each component the values that ``--flag values`` words list, for :func:`expand`: ``--k 2..6,10``.

    A flag goes to every component that has it, as in :func:`share_flags`; values to try are separated by commas.
    """
    shared = _shared(components, words)
    for component, parameters in zip(components, shared, strict=True):
        for flag in flags(component):
            value = parameters.get(flag.field)
            if isinstance(value, str) and not flag.is_list:
                parameters[flag.field] = [part.strip() for part in value.split(",") if part.strip()]
    return shared


def _shared(components: Sequence[type[Component]], arguments: Sequence[str]) -> list[dict[str, Any]]:
    """Return for each component the values of those flags that it has."""
    known = [{f.flag: f for f in flags(c)} for c in components]
    parameters: list[dict[str, Any]] = [{} for _component in components]
    words = list(arguments)
    while words:
        word = words.pop(0)
        flag, equals, value = word.partition("=")
        if not flag.startswith("--"):
            raise ParameterError(_("{word!r} was not expected; parameters look like --k 3").format(word=word))
        off = "--" + flag[5:] if flag.startswith("--no-") else ""
        takers = [i for i, k in enumerate(known) if flag in k or (off in k and k[off].is_switch)]
        if not takers:
            every = sorted({name for k in known for name in k})
            hint, names = suggestion(flag, every), ", ".join(every) or _("none")
            component = ", ".join(c.name for c in components)
            raise ParameterError(say("no_parameter", component=component, name=flag, hint=hint, names=names))
        about = known[takers[0]].get(flag) or known[takers[0]][off]
        answer: Any
        if about.flag != flag:
            answer = False
        elif about.is_switch and not equals:
            answer = True
        else:
            if not equals:
                if not words:
                    raise ParameterError(_("{flag} needs a value").format(flag=flag), f"{flag} {about.type}")
                value = words.pop(0)
            answer = [v for v in value.split(",") if v] if about.is_list else value
        for i in takers:
            if about.field in parameters[i]:
                raise ParameterError(_("{flag} is given twice; give it once").format(flag=about.flag))
            parameters[i][about.field] = answer
    return parameters


# --- sweeps ------------------------------------------------------------------------------------------------


def expand(component: type[Kind], parameters: Mapping[str, Any]) -> list[Kind]:
    """Return the component at every combination of listed values; ``"2..20"`` means every whole number between.

    A parameter that is a list itself is not spread out.
    """
    about = {f.field: f for f in flags(component)}
    choices: dict[str, list[Any]] = {}
    for flag_name, value in parameters.items():
        name = flag_name.replace("-", "_")
        is_list = name in about and about[name].is_list
        values = [value] if is_list or not isinstance(value, list) else value
        choices[name] = [number for v in values for number in spread(v)]
    return [
        build(component, dict(zip(choices, combination, strict=True)))
        for combination in itertools.product(*choices.values())
    ]


def spread(value: Any) -> list[Any]:
    """Return every whole number of a range such as ``"2..20"``; another value as it is.

    >>> spread("2..4"), spread("2")
    ([2, 3, 4], ['2'])
    """
    span = _RANGE.match(value) if isinstance(value, str) else None
    if span is None:
        return [value]
    first, last = int(span[1]), int(span[2])
    if last < first or last - first > 100_000:
        raise ParameterError(say("range", value=value))
    return list(range(first, last + 1))


# --- description -------------------------------------------------------------------------------------------


def describe(component: type[Component]) -> dict[str, Any]:
    """Return the facts and parameters of a component as plain data; forms are made from its JSON ``schema``."""
    description: dict[str, Any] = {
        "name": component.name,
        "summary": _(component.summary),
        "source": component.source,
        "accepts": sorted(component.accepts),
        "roles": [str(role) for role in component.roles],
        "runtime": component.runtime.name.lower(),
        "schema": component.model_json_schema(),
    }
    if issubclass(component, Method):
        strength = component.strength
        description["promise"] = _(component.promises.promise)
        description["strength"] = strength and {
            "parameter": strength.parameter,
            "safer": strength.safer,
            "values": component.usual_values(),
        }
    if issubclass(component, Measure):
        description |= {
            "side": component.side,
            "goal": component.goal,
            "bounds": list(component.bounds),
            "unit": _(component.unit),
            "needs": sorted(component.needs),
        }
    return description


def reference_facts(component: type[Component]) -> str:
    """Return what the code knows of a component as Markdown: summary, source, value, parameters."""
    facts = [(_("Summary"), _(component.summary))]
    if component.source:
        facts.append((_("Source"), component.source))
    facts.append((_("Works on"), ", ".join(sorted(component.accepts))))
    if component.roles:
        facts.append((_("Required roles"), ", ".join(component.roles)))
    if issubclass(component, Method):
        promises = {_("Promise"): component.promises.promise, _("Good for"): component.good_for}
        promises[_("Not suitable for")] = component.wrong_for
        facts += [(name, _(fact)) for name, fact in promises.items() if fact]
        if component.strength is not None:
            way = _("higher is safer") if component.strength.safer == "higher" else _("lower is safer")
            facts.append((_("Strength"), f"`{component.strength.parameter}`; {way}"))
    facts.append((_("Runtime"), component.runtime.words))
    if issubclass(component, Measure):
        facts.append((_("Kind"), component.side))
        low, high = component.bounds
        better = _("lower is better") if component.goal == "lower" else _("higher is better")
        span = f"[{low:g}, {'∞' if high is None else f'{high:g}'}]"
        facts.append((_("Value"), f"{_(component.unit)}; {span}; {better}"))
        facts.append((_("Uses"), ", ".join(sorted(component.needs))))
    listed = flags(component)
    lines = [f"- **{name}**: {fact}" for name, fact in facts]
    if not listed:
        return "\n".join([*lines, f"- **{_('Parameters')}**: {_('none')}", ""])
    headings = ("", _("Type"), _("Default"), _("Meaning"))
    lines += ["", f"| {' | '.join(headings)} |", "|---|---|---|---|"]
    for f in listed:
        default = _("required") if f.required else f"`{f.default}`"
        kind = f.type.replace("|", "\\|")
        lines.append(f"| `{f.flag}` | {kind} | {default} | {f.help} |")
    return "\n".join([*lines, ""])
