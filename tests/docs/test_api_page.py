"""The page of the Python names has every name, no other, and each signature as it is."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path

import pytest

import noren

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
SECTIONS = re.compile(r"^### (\S+)\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^```plain\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINE = re.compile(r"(?:(?P<owner>\w+)\.)?(?P<name>\w+)(?P<signature>\(.*\))?")


def sections() -> dict[str, str]:
    return {title.replace("\\", ""): text for title, text in SECTIONS.findall(PAGE)}


def written(called: object) -> str:
    """Return a signature as the page writes it: without types, functions by their names, fresh values as ``...``."""
    parameters = []
    for parameter in inspect.signature(called).parameters.values():  # type: ignore[arg-type]
        default = parameter.default
        if default is dataclasses._HAS_DEFAULT_FACTORY:  # type: ignore[attr-defined]
            default = ...
        elif inspect.isfunction(default):
            default = _Named(default.__name__)
        parameters.append(parameter.replace(annotation=inspect.Parameter.empty, default=default))
    return str(inspect.Signature(parameters)).replace("=Ellipsis", "=...")


class _Named:
    """Shown as a bare name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


def as_shown(line: str) -> str:
    """Return what a line of the page should say of the thing it names."""
    found = LINE.fullmatch(line)
    assert found, line
    owner = noren if found["owner"] in (None, "noren") else getattr(noren, found["owner"])
    if found["signature"] is None:
        known = {field.name for field in dataclasses.fields(owner)} if dataclasses.is_dataclass(owner) else set()
        known |= set(getattr(owner, "model_fields", ()))
        return line if found["name"] in known or hasattr(owner, found["name"]) else f"there is no {line}"
    called = getattr(owner, found["name"])
    shown = written(called)
    if inspect.isclass(owner) and inspect.isfunction(called) and not found["signature"].startswith("(self"):
        shown = re.sub(r"^\(self(, )?", "(", shown)
    prefix = f"{found['owner']}." if found["owner"] else ""
    return f"{prefix}{found['name']}{shown}"


def test_the_page_names_every_name_and_no_other() -> None:
    titles = [title.replace("\\", "") for title, _text in SECTIONS.findall(PAGE)]
    assert sorted(titles) == sorted(noren.__all__)


@pytest.mark.parametrize("name", sorted(set(noren.__all__) - {"NorenError", "__version__"}))
def test_signatures_are_the_real_ones(name: str) -> None:
    text = sections()[name]
    shown = [line for block in SHOWN.findall(text) for line in block.splitlines()]
    assert shown, f"{name} has no signature"
    assert all(line.startswith((f"noren.{name}(", f"{name}.", f"{name}(")) for line in shown)
    assert shown == [as_shown(line) for line in shown]


def test_every_name_has_an_example() -> None:
    # the three classes to inherit from share one example, below the last of them
    without = {name for name, text in sections().items() if "```python\n" not in text}
    assert without == {"Method", "Attack"}


@pytest.mark.parametrize(
    "line",
    ["noren.protect(original, way)", "Release.publish(folder)", "Release.hidden", "Guess(attack, pairs, notes={})"],
)
def test_a_wrong_line_is_told(line: str) -> None:
    assert as_shown(line) != line


def test_a_right_line_passes() -> None:
    line = "Release.load(folder)"
    assert as_shown(line) == line
