"""Give each component's page what the code knows of it: promise, parameters, source.

A page ``methods/NAME.md``, ``attacks/NAME.md`` or ``measures/NAME.md`` tells the story; this hook of the documentation
builder adds the facts from the class, so that they cannot fall behind it.
"""

import re
from typing import Any

ROOMS = ("methods", "attacks", "measures")


def on_page_markdown(markdown: str, *, page: Any, **_context: Any) -> str:
    """Append the facts of the component that the page is about."""
    place = re.fullmatch(rf"({'|'.join(ROOMS)})/([a-z0-9-]+)\.md", page.file.src_uri)
    if place is None:
        return markdown
    registry = _registry(place[1])
    if place[2] == "index":
        return f"{markdown.rstrip()}\n\n{_overview(registry)}"
    from noren.registry import reference_facts

    return f"{markdown.rstrip()}\n\n## Facts\n\n{reference_facts(registry[place[2]])}"


def _registry(room: str) -> Any:
    import importlib

    return getattr(importlib.import_module(f"noren.{room}"), room)


def _overview(registry: Any) -> str:
    rows = [f"| [{name}]({name}.md) | {registry[name].summary} | {registry[name].source} |" for name in registry]
    return "\n".join(["| name | what it does | source |", "|---|---|---|", *rows, ""])
