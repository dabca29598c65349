"""Methods that read files of their own (hierarchies, categories) read those of the project, and no others.

A form cannot name a file of this machine: parameters that are paths are not taken from anybody, they are filled in
here.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_args

from noren.errors import ParameterError
from noren.i18n import _
from noren.methods import methods
from noren.methods.chain import Chain
from noren.protocols import Component, Method
from noren.registry import build
from noren.studio.folders import SOURCE_FILE

StepData = Mapping[str, Any]
"""A method and its parameters: ``{"method": "thin", "parameters": {"share": 0.1}}``."""
PROJECT_FILES: Final = {"hierarchies": "hierarchies", "categories": "categories.csv"}
"""The parameters that are files, and where a project keeps them."""
_GIVEN: Final = (*PROJECT_FILES.values(), "hierarchies.json", "categories.json")
"""What people gave beside the data, and what is known of it."""


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


def method_of(steps: Sequence[StepData], project: Path) -> Method:
    """Return the method that steps mean: one, or a chain of them."""
    ready = [
        (methods[step["method"]], with_project_files(methods[step["method"]], step.get("parameters", {}), project))
        for step in steps
    ]
    if len(ready) == 1:
        return build(*ready[0])
    return Chain(steps=[{"method": kind.name} | parameters for kind, parameters in ready])


def copy_files(project: Path, made: Path) -> None:
    """Give a new project the data of another, and what people gave beside them; only their owner may read the copy.

    An uploaded file is never written to, only replaced; so a second link to it is a copy that takes no room.
    """
    made.mkdir(parents=True, mode=0o700)
    source = project / SOURCE_FILE
    if source.exists():
        try:
            os.link(source, made / SOURCE_FILE)
        except OSError:  # a disk without links
            _copy_privately(source, made / SOURCE_FILE)
    for given in (project / name for name in _GIVEN):
        if given.is_dir():
            (made / given.name).mkdir(mode=0o700)
            for file in given.iterdir():
                _copy_privately(file, made / given.name / file.name)
        elif given.exists():
            _copy_privately(given, made / given.name)


def _copy_privately(file: Path, target: Path) -> None:
    target.touch(mode=0o600, exist_ok=False)
    shutil.copyfile(file, target)
