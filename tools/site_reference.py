"""Add what the code states to pages of the site: facts of components, the Python reference, sources of methods.

Hooks of the documentation builder. A page ``methods/NAME.md``, ``attacks/NAME.md`` or ``measures/NAME.md`` explains a
component; its promise, parameters and source come from the class. ``api.md`` gets signature and docstring of every
public name, ``bibliography.md`` the source of every component. Nothing here can fall behind the code.
"""

from __future__ import annotations

import ast
import dataclasses
import doctest
import importlib
import inspect
import re
from typing import Any

ROOMS = ("methods", "attacks", "measures")
SECTIONS = ("Parameters", "Returns", "Raises", "References", "Examples")
_SECTION = re.compile(rf"^({'|'.join(SECTIONS)})\n-+\n", re.MULTILINE)
_ROLE = re.compile(r":\w+:`~?(?:[\w.]+\.)?(\w+)`")


def on_page_markdown(markdown: str, *, page: Any, **_context: Any) -> str:
    """Append what the code states on the topic of a page."""
    where = page.file.src_uri
    if where == "api.md":
        return f"{markdown.rstrip()}\n\n{api_reference()}"
    if where == "bibliography.md":
        return f"{markdown.rstrip()}\n\n{component_sources()}"
    place = re.fullmatch(rf"({'|'.join(ROOMS)})/([a-z0-9-]+)\.md", where)
    if place is None:
        return markdown
    registry = _registry(place[1])
    if place[2] == "index":
        return f"{markdown.rstrip()}\n\n{_overview(registry)}"
    from noren.registry import reference_facts

    asked = f"\n\n## Questions\n\n{question_table()}" if where == "measures/analyst.md" else ""
    return f"{markdown.rstrip()}{asked}\n\n## Facts\n\n{reference_facts(registry[place[2]])}"


def question_table() -> str:
    """Return an analyst's questions with their limits and the reasons for them."""
    from noren.tabulations.questions import questions

    def limits(question: Any, at: int) -> str:
        signs = {name: "≥" if usable > care else "≤" for name, (usable, care) in question.limits.items()}
        return ", ".join(f"{name} {signs[name]} {limit[at]:g}" for name, limit in question.limits.items())

    rows = [
        f"| `{name}` | {', '.join(question.roles)} | {question.asks} | {limits(question, 0)} | {limits(question, 1)} "
        f"| {question.reason} |"
        for name, question in questions().items()
    ]
    return "\n".join(["| Question | Needs | Answer | Usable | With care | Why |", "|---|---|---|---|---|---|", *rows])


def _registry(room: str) -> Any:
    return getattr(importlib.import_module(f"noren.{room}"), room)


def _overview(registry: Any) -> str:
    rows = [f"| [{name}]({name}.md) | {registry[name].summary} | {registry[name].source} |" for name in registry]
    return "\n".join(["| name | what it does | source |", "|---|---|---|", *rows, ""])


# --- sources ---------------------------------------------------------------------------------------------------------


def component_sources() -> str:
    """Return the source of every method, attack and measure, as its class states it."""
    parts = []
    for room in ROOMS:
        registry = _registry(room)
        rows = [f"| [{name}]({room}/{name}.md) | {registry[name].source} |" for name in registry]
        parts.append("\n".join([f"## {room.capitalize()}", "", "| Name | Source |", "|---|---|", *rows, ""]))
    return "\n".join(parts)


# --- Python reference ------------------------------------------------------------------------------------------------


def api_reference() -> str:
    """Return signature and docstring of every public name, functions first."""
    import noren

    names = {name: getattr(noren, name) for name in noren.__all__ if not name.startswith("__")}
    called = {name: value for name, value in names.items() if callable(value) and not inspect.isclass(value)}
    functions = [_function(name, value) for name, value in called.items()]
    classes = [_class(name, value) for name, value in names.items() if inspect.isclass(value)]
    version = f"### \\_\\_version\\_\\_\n\nThe version of Noren as text, for example `{noren.__version__}`.\n"
    return "\n".join(["## Functions\n", *functions, "## Classes\n", *classes, version])


def signature(called: Any, *, bound: bool = False) -> str:
    """Return a signature without types; ``...`` stands for a default that is made anew, ``bound`` leaves self out.

    >>> signature(lambda a, *, b=1: a)
    '(a, *, b=1)'
    """
    parameters = []
    for number, parameter in enumerate(inspect.signature(called).parameters.values()):
        if bound and number == 0 and parameter.name in ("self", "cls"):
            continue
        default = parameter.default
        if default is dataclasses._HAS_DEFAULT_FACTORY:  # type: ignore[attr-defined]
            default = _Shown("...")
        elif inspect.isfunction(default):
            default = _Shown(default.__name__)
        parameters.append(parameter.replace(annotation=inspect.Parameter.empty, default=default))
    return str(inspect.Signature(parameters))


class _Shown:
    """A default that is shown as it is."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _function(name: str, value: Any) -> str:
    return f"### {name}\n\n```plain\nnoren.{name}{signature(value)}\n```\n\n{docstring(value)}\n"


def _class(name: str, value: Any) -> str:
    parts = [f"### {name}", f"```plain\nnoren.{name}{signature(value)}\n```", docstring(value)]
    rows = [f"| `{member}` | {line} |" for member, line in _members(value)]
    if rows:
        parts.append("\n".join(["| Member | |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _members(owner: type) -> list[tuple[str, str]]:
    """Return methods and properties of Noren's own, with the first line of what they say."""
    members = []
    for name, value in inspect.getmembers_static(owner):
        plain = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        read = getattr(plain, "fget", None) or getattr(plain, "func", None) or plain
        if name.startswith("_") or not str(getattr(read, "__module__", "")).startswith("noren."):
            continue
        text = inspect.getdoc(read)
        if not text or not inspect.isfunction(read):
            continue
        called = signature(plain, bound=True) if inspect.isfunction(plain) else ""
        members.append((f"{name}{called}", _plain(text.partition("\n")[0]).replace("|", "\\|")))
    return members


def docstring(value: Any) -> str:
    """Return a docstring as Markdown: paragraphs, then the sections of NumPy's style."""
    written = inspect.getdoc(value) or ""
    text, *rest = _SECTION.split(written)
    imports = _imports(written, value)
    parts = [_paragraphs(text, imports)]
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        if title == "Examples":
            parts.append(f"**Examples**\n\n{_paragraphs(body, imports)}")
        elif title in ("Parameters", "Returns", "Raises"):
            parts.append(f"**{title}**\n\n{_terms(body)}")
        else:
            parts.append(f"**{title}**\n\n{_plain(body.strip())}")
    return "\n\n".join(part for part in parts if part)


def _terms(body: str) -> str:
    """Return a list of terms with their explanations, which are indented below them."""
    terms: list[str] = []
    for line in body.strip().splitlines():
        if line[:1].isspace():
            terms[-1] += f" {line.strip()}"
        elif line:
            names = ", ".join(f"`{name.strip()}`" for name in line.split(","))
            terms.append(f"- {names}:")
    return _plain("\n".join(terms))


def _imports(text: str, value: Any) -> str:
    """Return what must be imported for the examples of a docstring, which see the names of their module.

    >>> _imports(">>> docstring(1)", docstring).partition(" import ")[2]
    'docstring\\n'
    """
    import noren

    tree = ast.parse("".join(example.source for example in doctest.DocTestParser().get_examples(text)))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {alias.asname or alias.name for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)
             for alias in node.names}  # fmt: skip
    bound |= {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
    known = vars(importlib.import_module(getattr(value, "__module__", "noren")))
    lines: dict[str, list[str]] = {}
    for name in sorted({node.id for node in nodes} - bound):
        if inspect.ismodule(known.get(name)):
            lines[f"import {known[name].__name__} as {name}"] = []
        elif name in known:
            module = "noren" if name in noren.__all__ else getattr(known[name], "__module__", value.__module__)
            lines.setdefault(f"from {module} import", []).append(name)
    return "".join(f">>> {' '.join([line, ', '.join(names)]).strip()}\n" for line, names in sorted(lines.items()))


def _paragraphs(text: str, imports: str) -> str:
    """Return paragraphs; those that are sessions of Python become blocks, the first with its imports."""
    parts = []
    for part in filter(None, (part.strip("\n") for part in re.split(r"\n\s*\n", text.strip()))):
        session = part.startswith(">>>")
        parts.append(f"```python\n{imports}{part}\n```" if session else _plain(part))
        imports = "" if session else imports
    return "\n\n".join(parts)


def _plain(text: str) -> str:
    """Return text with the marks of docstrings as those of Markdown.

    >>> _plain("Hold ``k`` or raise :class:`~noren.errors.SchemaError`.")
    'Hold `k` or raise `SchemaError`.'
    """
    return _ROLE.sub(r"`\1`", text).replace("``", "`")
