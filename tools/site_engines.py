"""Write what runs on which engine into ``docs/engines.md``, from the registers and the plans.

python tools/site_engines.py
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "engines.md"
MARK = "<!-- made by tools/site_engines.py from here on -->"
ACCELERATED = ("noren.engines.accelerated", "noren.kernels.sharing.pairing")
"""Where work goes to a graphics processor; costs of pairs go by a door that their kernel leaves open."""

_EVERYBODY = "everybody is compared with nearly everybody, and the answers depend on each other"
_PAIRS = "pairs of items of one customer: of somebody with a tenth of all rows there are more than a cluster holds"
_SAMPLE = "a model learns from 20,000 rows drawn at random, which one machine holds; there is nothing to share out"
_CELLS = "not written; what is counted of a guess is bounded by the number of periods"
WITHOUT = {
    "recoded": _EVERYBODY,
    "shifted": _EVERYBODY,
    "association": "counts by pairs of values: as many as rows, where a column has another text in every row",
    "clustering": _SAMPLE,
    "consistency": _EVERYBODY,
    "e1": _PAIRS,
    "e2": _PAIRS,
    "e3": _PAIRS,
    "earlier-period": _EVERYBODY,
    "emm": _CELLS,
    "ensemble": "rehearses the release and runs the other attacks, some of which have no plan",
    "frequent-itemsets": "no aggregate: which sets are counted depends on those of a size less, basket by basket",
    "item-candidates": "customers choose one after another from what is left",
    "item-similarity": _PAIRS,
    "linkage": _EVERYBODY,
    "microaggregate": "not written; its groups are searched for in blocks, as those of generalize are",
    "mm": _CELLS,
    "nearest": _EVERYBODY,
    "prediction": _SAMPLE,
    "profile": _EVERYBODY,
    "row-linkage": _EVERYBODY,
    "um": _CELLS,
}
"""Why a component has no plan for a cluster."""


def page(written: str) -> str:
    """Return the page: what was written by hand, and the tables as they are now."""
    from noren.attacks import attacks
    from noren.execution.plans import plans
    from noren.measures import measures
    from noren.methods import methods

    by_hand = written.partition(MARK)[0].rstrip()
    rooms: tuple[tuple[str, Any, Any], ...] = (
        ("Methods", methods, "method"),
        ("Attacks", attacks, "attack"),
        ("Measures", measures, "measure"),
    )
    tables = [f"## {title}\n\n{_table(title.lower(), register, plans(side))}" for title, register, side in rooms]
    return "\n\n".join([by_hand, MARK, *tables]) + "\n"


def _table(room: str, register: Any, known: dict[str, Any]) -> str:
    rows = []
    for name in register:
        component = register[name]
        data = " and ".join(sorted("histories" if kind == "history" else "tables" for kind in component.accepts))
        gpu = "yes" if _reaches(component.__module__) else "–"
        held = known[name].driver if name in known else f"no plan: {WITHOUT[name]}"
        rows.append(f"| [{name}]({room}/{name}.md) | {data} | {'yes' if name in known else '–'} | {gpu} | {held} |")
    return "\n".join(["| name | of | Spark | GPU | what the driver holds on Spark |", "|---|---|---|---|---|", *rows])


def _reaches(module: str) -> bool:
    """Tell whether a module works with the graphics processor, itself or by those that it works with."""
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
    """Return the modules of ours that a module imports, registers aside: they know everybody."""
    path = ROOT / "src" / Path(*module.split("."))
    file = path.with_suffix(".py")
    if not file.is_file():
        return ()
    return tuple(_named(ast.parse(file.read_text(encoding="utf-8"))))


def _named(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("noren."):
            yield str(node.module)


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    print(PAGE.relative_to(ROOT))
