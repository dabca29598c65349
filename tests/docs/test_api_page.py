"""The API page: every public name with its signature and the first line of its docstring, generated from the code."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

import noren

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "api.md"
SECTION = re.compile(r"^### (\S+)\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)


@pytest.fixture(autouse=True)
def tools() -> Iterator[None]:
    sys.path.insert(0, str(ROOT / "tools"))
    yield
    sys.path.remove(str(ROOT / "tools"))


def shown() -> str:
    """Return the page as the site shows it."""
    from site_reference import on_page_markdown

    page = SimpleNamespace(file=SimpleNamespace(src_uri="api.md"))
    return on_page_markdown(PAGE.read_text(encoding="utf-8"), page=page)


def test_the_introduction_is_short_and_the_rest_generated() -> None:
    written = PAGE.read_text(encoding="utf-8")
    assert len(written.split()) <= 300
    assert SECTION.findall(written) == []


def test_every_public_name_has_its_signature_and_first_line() -> None:
    sections = {title.replace("\\", ""): text for title, text in SECTION.findall(shown())}
    assert sorted(sections) == sorted(noren.__all__)
    for name in set(noren.__all__) - {"__version__"}:
        value = getattr(noren, name)
        assert f"```plain\nnoren.{name}(" in sections[name]
        names = [p for p in inspect.signature(value).parameters if p not in ("self", "args", "kwargs")]
        line = next(line for line in sections[name].splitlines() if line.startswith(f"noren.{name}("))
        assert [p for p in names if not re.search(rf"[(, *]{p}[,)=]", line)] == []
        first = (inspect.getdoc(value) or "").partition("\n")[0].replace("``", "`")
        assert re.sub(r":\w+:`~?(?:[\w.]+\.)?(\w+)`", r"`\1`", first) in sections[name]
    assert f"`{noren.__version__}`" in sections["__version__"]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("check", "noren.check(original, release=None, *, schema, guess=None, limit=20)"),
        ("Score", "noren.Score(value, parts=..., notes=..., measure='', goal=None)"),
        ("Release", "| `publish(folder, rule=None, *, "),
        ("History", "| `of(data, schema"),
    ],
)
def test_signatures_are_written_without_types(name: str, line: str) -> None:
    sections = dict(SECTION.findall(shown()))
    assert line in sections[name]


def test_sections_of_docstrings_become_lists_and_blocks() -> None:
    from site_reference import docstring

    def example() -> None:
        """Do ``this`` by :func:`~noren.api.protect`.

        Parameters
        ----------
        rows, columns
            How many
            of both.

        Examples
        --------
        Names of the module.

        >>> Path("a") / SimpleNamespace.__name__
        PosixPath('a/SimpleNamespace')
        """

    assert docstring(example) == (
        "Do `this` by `protect`.\n\n**Parameters**\n\n- `rows`, `columns`: How many of both.\n\n"
        "**Examples**\n\nNames of the module.\n\n"
        "```python\n>>> from pathlib import Path\n>>> from types import SimpleNamespace\n"
        ">>> Path(\"a\") / SimpleNamespace.__name__\nPosixPath('a/SimpleNamespace')\n```"
    )


def test_other_pages_are_left_alone() -> None:
    from site_reference import on_page_markdown

    page = SimpleNamespace(file=SimpleNamespace(src_uri="legal.md"))
    assert on_page_markdown("# Law\n", page=page) == "# Law\n"
