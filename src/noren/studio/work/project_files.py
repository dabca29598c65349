"""Methods that read files of their own (hierarchies, categories) read those of the project, and no others.

A form cannot name a file of this machine: parameters that are paths are not taken from anybody, they are filled in
here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_args

from noren.errors import ParameterError
from noren.i18n import _
from noren.methods import methods
from noren.methods.chain import Chain
from noren.protocols import Component, Method
from noren.registry import build

__all__ = ["PROJECT_FILES", "method_of", "path_fields", "with_project_files", "without_paths"]

PROJECT_FILES: Final = {"hierarchies": "hierarchies", "categories": "categories.csv"}
"""The parameters that are files, and where a project keeps them."""


def path_fields(component: type[Component]) -> list[str]:
    """Return the parameters of a component that are files."""
    return [
        name
        for name, about in component.model_fields.items()
        if about.annotation is Path or Path in get_args(about.annotation)
    ]


def with_project_files(component: type[Component], given: Mapping[str, Any], project: Path) -> dict[str, Any]:
    """Return parameters with the project's own files in them."""
    if issubclass(component, Chain):  # its steps could name files
        raise ParameterError(_("a chain is made by its steps"), _("name the methods one after another"))
    parameters = {name.replace("-", "_"): value for name, value in given.items()}
    for name in path_fields(component):
        if parameters.pop(name, None) is not None:
            raise ParameterError(
                _("{name} cannot be chosen here").format(name=name), _("upload the file to the project instead")
            )
        there = project / PROJECT_FILES.get(name, "")
        if name in PROJECT_FILES and there.exists():
            parameters[name] = there
    return parameters


def without_paths(component: Component) -> dict[str, Any]:
    """Return the parameters of a component as plain data, without files."""
    hidden = path_fields(type(component))
    return {name: value for name, value in component.parameters().items() if name not in hidden}


def method_of(steps: Sequence[Mapping[str, Any]], project: Path) -> Method:
    """Return the method that steps mean: one, or a chain of them."""
    ready = [
        (methods[step["method"]], with_project_files(methods[step["method"]], step.get("parameters", {}), project))
        for step in steps
    ]
    if len(ready) == 1:
        return build(*ready[0])
    return Chain(steps=[{"method": kind.name} | parameters for kind, parameters in ready])
