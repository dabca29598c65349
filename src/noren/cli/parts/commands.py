"""What a command returns, and the one place that prints it.

A command is a function that returns an :class:`Output`: plain data for ``--json``, and lines, tables and notes for
people. :func:`printing`, which :class:`~noren.cli.parts.help_pages.App` puts around every function that is registered,
declares ``--json``, prints one of the two and sets the exit code.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import typer

from noren.cli.parts.inputs import Json
from noren.cli.parts.screen import say, show_json, show_table, situation

__all__ = ["COMPONENT_FLAGS", "Note", "Output", "Part", "Table", "printing", "show"]

COMPONENT_FLAGS = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Settings of a command that takes the parameters of methods, attacks or measures as flags."""


@dataclass(frozen=True)
class Table:
    """A table on standard output; columns of numbers are set to the right."""

    headings: Sequence[str]
    rows: Iterable[Sequence[str]]
    title: str = ""


@dataclass(frozen=True)
class Note:
    """Something that is not the result: it goes to standard error."""

    text: str


Part = str | Table | Note
"""A line on standard output, a table there, or a note."""


@dataclass(frozen=True)
class Output:
    """What a command answers.

    Attributes
    ----------
    data
        The answer as plain data, for ``--json``.
    parts
        The answer for people, in order. A generator runs only where its parts are shown.
    exit_code
        0 done, 1 a check said no or a part failed, 2 bad input.
    remarks
        Lines for standard error after the answer, with ``--json`` too: why the exit code is what it is.
    """

    data: Any
    parts: Iterable[Part] = ()
    exit_code: int = 0
    remarks: Sequence[str] = ()

    def show(self) -> None:
        """Print the data where ``--json`` was given, else the parts."""
        if situation.json:
            show_json(self.data)
        else:
            show(self.parts)
        say(*self.remarks)


def show(parts: Iterable[Part]) -> None:
    """Print lines, tables and notes in order."""
    for part in parts:
        match part:
            case Table(headings, rows, title):
                show_table(title, headings, rows)
            case Note(text):
                say(text)
            case _:
                sys.stdout.write(f"{part}\n")  # in one piece: a reader may leave after it


def printing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the command for typer: it prints the :class:`Output` of ``function`` and leaves with its exit code.

    ``--json`` is added where the function returns an output. A parameter whose type is a dataclass stands for the
    options that are the fields of that class.
    """
    signature = inspect.signature(function, eval_str=True)
    parameters: list[inspect.Parameter] = []
    groups: dict[str, tuple[Callable[..., Any], list[str]]] = {}
    for parameter in signature.parameters.values():
        if inspect.isclass(parameter.annotation) and dataclasses.is_dataclass(parameter.annotation):
            fields = inspect.signature(parameter.annotation, eval_str=True).parameters
            groups[parameter.name] = (parameter.annotation, list(fields))
            parameters += fields.values()
        else:
            parameters.append(parameter)
    if signature.return_annotation in (Output, Output | None):
        parameters.append(inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=Json))

    @functools.wraps(function)
    def command(**values: Any) -> None:
        if "as_json" not in signature.parameters:
            situation.json = values.pop("as_json", False)
        for name, (options, fields) in groups.items():
            values[name] = options(**{field: values.pop(field) for field in fields})
        output = function(**values)
        if isinstance(output, Output):
            output.show()
            if output.exit_code:
                raise typer.Exit(output.exit_code)

    keyword = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters]
    command.__signature__ = signature.replace(parameters=keyword)  # type: ignore[attr-defined]
    command.__annotations__ = {parameter.name: parameter.annotation for parameter in keyword}
    return command
