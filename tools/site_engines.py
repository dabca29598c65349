"""Add to the page of engines which component runs where, from the registries and the plans for Spark."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
ACCELERATED = ("noren.engines.accelerated", "noren.kernels.sharing.pairing")
"""Modules that hand work to a graphics processor; the second one for the costs of pairs of customers."""

_ASSIGNMENT = "compares nearly all pairs of people, and the answers depend on each other"
_ITEM_PAIRS = "counts pairs of items per customer; one customer with a tenth of all rows has too many"
_SAMPLE = "trains a model on 20,000 sampled rows, which fit one machine"
_PERIODS = "not written yet; its memory would be bounded by the number of periods"
WITHOUT = {
    "analyst": "draws from margins of all rows of an item and of a class together",
    "association": "counts pairs of values: as many as rows if a column has a different text in every row",
    "clustering": _SAMPLE,
    "consistency": _ASSIGNMENT,
    "e1": _ITEM_PAIRS,
    "e2": _ITEM_PAIRS,
    "e3": _ITEM_PAIRS,
    "earlier-period": _ASSIGNMENT,
    "emm": _PERIODS,
    "ensemble": "runs the other attacks, some of which have no plan",
    "frequent-itemsets": "which sets are counted depends on the smaller frequent sets",
    "item-candidates": "customers choose one after another from what is left",
    "item-similarity": _ITEM_PAIRS,
    "linkage": _ASSIGNMENT,
    "microaggregate": "not written yet; it searches in blocks, as generalize does",
    "mm": _PERIODS,
    "nearest": _ASSIGNMENT,
    "prediction": _SAMPLE,
    "profile": _ASSIGNMENT,
    "recoded": _ASSIGNMENT,
    "row-linkage": _ASSIGNMENT,
    "shifted": _ASSIGNMENT,
    "um": _PERIODS,
}
"""Why a component has no plan for a cluster."""


def on_page_markdown(markdown: str, *, page: Any, **_context: Any) -> str:
    """Append the tables to the page of engines; MkDocs calls this for each page."""
    return f"{markdown.rstrip()}\n\n{tables()}\n" if page.file.src_uri == "engines.md" else markdown


def tables() -> str:
    """Return a table each of the methods, attacks and measures."""
    from noren.attacks import attacks
    from noren.execution.plans import plans
    from noren.measures import measures
    from noren.methods import methods

    rooms: tuple[tuple[str, Any, Any], ...] = (
        ("Methods", methods, "method"),
        ("Attacks", attacks, "attack"),
        ("Measures", measures, "measure"),
    )
    return "\n\n".join(f"## {title}\n\n{_table(title.lower(), room, plans(side))}" for title, room, side in rooms)


def _table(room: str, register: Any, known: dict[str, Any]) -> str:
    """Return a line for each component, and below why some have no plan for Spark, by reason."""
    rows: list[str] = []
    reasons: dict[str, list[str]] = {}
    for name in register:
        gpu = "yes" if _reaches(register[name].__module__) else "–"
        held = known[name].driver if name in known else "–"
        rows.append(f"| [{name}]({room}/{name}.md) | {'yes' if name in known else '–'} | {gpu} | {held} |")
        if name not in known:
            reasons.setdefault(WITHOUT[name], []).append(f"`{name}`")
    lines = ["| Name | Spark | GPU | The Spark driver holds |", "|---|---|---|---|", *rows, ""]
    if reasons:
        lines += ["Not on Spark:", "", *(f"- {', '.join(names)}: {reason}" for reason, names in reasons.items())]
    return "\n".join(lines).rstrip()


def _reaches(module: str) -> bool:
    """Return whether a module uses the graphics processor, itself or through modules that it imports."""
    met, waiting = {module}, [module]
    while waiting:
        for name in _imports(waiting.pop()):
            if name.startswith(ACCELERATED):
                return True
            if name not in met:
                met.add(name)
                waiting.append(name)
    return False


@cache
def _imports(module: str) -> tuple[str, ...]:
    """Return the modules of Noren that a module imports; packages with a registry are left out."""
    path = ROOT / "src" / Path(*module.split("."))
    file = path.with_suffix(".py")
    if not file.is_file():
        return ()
    return tuple(_named(ast.parse(file.read_text(encoding="utf-8"))))


def _named(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("noren."):
            yield str(node.module)
