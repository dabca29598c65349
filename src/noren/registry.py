"""Who there is: an explicit, lazy register of components, and other people's packages by entry point.

A room lists its own as ``name → "module:Class"``; nothing is imported until it is asked for. Packages add theirs under
the entry-point groups ``noren.methods``, ``noren.attacks`` and ``noren.measures``. Two components of one name are an
error, never a silent choice; an unknown name answers with the nearest. A package that cannot be imported takes nothing
else with it: it is left out of the list, and :meth:`Registry.broken` tells it with the reason.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar, get_args

from pydantic import ValidationError

from noren.descriptions import Runtime
from noren.errors import (
    DuplicateNameError,
    NorenError,
    ParameterError,
    PluginError,
    SchemaError,
    UnknownNameError,
    reason_of,
)
from noren.foreign_words import translated
from noren.i18n import _
from noren.naming import suggestion
from noren.protocols import Attack, Component, Measure, Method, Side

__all__ = ["Registry", "build"]

Kind = TypeVar("Kind", bound=Component)


class Registry(Generic[Kind]):
    """The components of one room."""

    def __init__(self, base: type[Kind], group: str, built_in: Mapping[str, str]) -> None:
        self.base = base
        self.group = group
        self._built_in = dict(built_in)
        self._looked_at: dict[str, str | None] = {}

    @cached_property
    def _places(self) -> dict[str, str | EntryPoint]:
        places: dict[str, str | EntryPoint] = dict(self._built_in)
        for point in entry_points(group=self.group):
            if point.name in places:
                raise DuplicateNameError(
                    _("{name} is already taken in {group}; {package} must use another name").format(
                        name=point.name, group=self.group, package=point.value
                    )
                )
            places[point.name] = point
        return places

    def broken(self) -> dict[str, str]:
        """Return the components of other packages that cannot be used, with the package and the reason."""
        return {name: reason for name in sorted(self._places) if (reason := self._trouble(name)) is not None}

    def _trouble(self, name: str) -> str | None:
        """Return why a component of another package cannot be used; it is imported once to know that."""
        if isinstance(self._places[name], EntryPoint) and name not in self._looked_at:
            try:
                self[name]
            except NorenError as error:
                self._looked_at[name] = str(error)
            else:
                self._looked_at[name] = None
        return self._looked_at.get(name)

    def __iter__(self) -> Iterator[str]:
        """Go through the names of those that can be used, in order."""
        return iter(sorted(name for name in self._places if self._trouble(name) is None))

    def __len__(self) -> int:
        return sum(1 for _name in self)

    def __contains__(self, name: object) -> bool:
        return name in self._places and self._trouble(str(name)) is None

    def __getitem__(self, name: str) -> type[Kind]:
        """Return the class called ``name``."""
        place = self._places.get(name)
        if place is None:
            raise UnknownNameError(
                _("there is no {name!r} in {group}{hint}; there are {names}").format(
                    name=name, group=self.group, hint=suggestion(name, self), names=", ".join(self)
                )
            )
        if isinstance(place, EntryPoint):
            found = _loaded(place)
        else:
            module, _colon, attribute = place.partition(":")
            found = getattr(importlib.import_module(module), attribute)
        if not (isinstance(found, type) and issubclass(found, self.base)):
            raise SchemaError(
                _("{name} in {group} is not a {base}").format(name=name, group=self.group, base=self.base.__name__),
                _("let its class inherit from noren.{base}").format(base=self.base.__name__),
            )
        _stop_at_gap(found, name, self.group)
        if found.name != name:
            raise DuplicateNameError(
                _("{group} lists {name}, but its class calls itself {own}; use one name").format(
                    group=self.group, name=name, own=found.name
                )
            )
        return found

    def register(self, name: str, place: str) -> None:
        """Add a component for this process."""
        if name in self._places:
            raise DuplicateNameError(
                _("{name} is already taken in {group}; use another name").format(name=name, group=self.group)
            )
        self._places[name] = place

    def create(self, name: str, **parameters: Any) -> Kind:
        """Return the component ``name`` with its parameters set."""
        return build(self[name], parameters)


def _stop_at_gap(found: type[Component], name: str, group: str) -> None:
    """Raise where a class does not say of itself what pages, maps and sweeps must know, or says what cannot be."""
    needed = ("name", "summary", *(("side", "goal", "needs") if issubclass(found, Measure) else ()))
    missing = [word for word in needed if not hasattr(found, word)]
    if "side" in needed and getattr(found, "side", "safety") not in get_args(Side):
        missing.append("side")
    if not isinstance(getattr(found, "runtime", None), Runtime):
        missing.append("runtime")
    if missing:
        raise SchemaError(
            _("{name} in {group} does not say its {what}").format(name=name, group=group, what=", ".join(missing)),
            _('give its class side = "safety" or side = "utility"')
            if "side" in missing
            else _("give its class a value for each"),
        )
    taken = sorted(found.model_fields.keys() & _words_of_ours())
    if taken:
        raise SchemaError(
            _("{name} in {group} has the parameter {taken}, which has a meaning of its own here").format(
                name=name, group=group, taken=", ".join(taken)
            ),
            _("give it another name"),
        )
    strength = found.strength if issubclass(found, Method) else None
    if strength is not None and strength.parameter not in found.model_fields:
        raise SchemaError(
            _("{name} in {group} calls {parameter} its strength, and has no such parameter").format(
                name=name, group=group, parameter=strength.parameter
            ),
            _("its parameters are {names}").format(names=", ".join(found.model_fields) or _("none")),
        )


@cache
def _words_of_ours() -> frozenset[str]:
    """Return the names that no parameter may have: they say what a component is."""
    return frozenset(name for kind in (Component, Method, Attack, Measure) for name in kind.__class_vars__)


def _loaded(point: EntryPoint) -> Any:
    """Import a component of another package; whatever goes wrong there, name the package and say it in one line."""
    try:
        return point.load()
    except (Exception, SystemExit) as error:
        package = point.dist.name if point.dist is not None else point.value
        raise PluginError(
            _("{name} of the package {package} cannot be used ({reason}); mend or uninstall {package}").format(
                name=point.name, package=package, reason=reason_of(error)
            )
        ) from error


def build(component: type[Kind], parameters: Mapping[str, Any]) -> Kind:
    """Return ``component`` with ``parameters``; say which one is wrong and what would be right."""
    try:
        return component(**parameters)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = str(first["loc"][0]) if first["loc"] else ""
        if first["type"] == "extra_forbidden":
            raise ParameterError(
                _("{component} has no parameter {name}{hint}").format(
                    component=component.name, name=field, hint=suggestion(field, component.model_fields)
                ),
                _("its parameters are {names}").format(names=", ".join(component.model_fields) or _("none")),
            ) from None
        if first["type"] == "missing":
            raise ParameterError(
                _("{component} needs the parameter {name}").format(component=component.name, name=field),
                _("add --{flag}").format(flag=field.replace("_", "-")),
            ) from None
        said = translated(str(first["msg"]).removeprefix("Value error, "))
        if first["type"] == "value_error":
            raise ParameterError(said) from None
        described = component.model_fields[field].description if field in component.model_fields else None
        raise ParameterError(
            _("{name} = {value} does not fit {component}: {said}").format(
                name=field, value=first["input"], component=component.name, said=said
            ),
            _(described) if described else "",
        ) from None
