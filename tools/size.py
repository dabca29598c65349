"""Print the size of each package beside its ceiling and goal: `python tools/size.py`; `--lower` lowers the ceilings.

The ceilings are in `tests/size.toml` and are enforced by `tests/test_size.py`. `--lower` replaces a ceiling where
today's number is below it, removes packages that no longer exist, and never raises anything: a change that needs more
room raises its ceiling by hand and says why in its commit. README, documentation and catalogue have fixed limits.
"""

import argparse
import ast
import math
import tomllib
from pathlib import Path
from typing import Any

import tomli_w
from babel.messages.pofile import read_po

ROOT = Path(__file__).resolve().parents[1]
CEILINGS = ROOT / "tests" / "size.toml"
TOP = "top level"
FOLDERS = {"packages": ROOT / "src" / "noren", "tests": ROOT / "tests"}


def counted(folder: Path) -> dict[str, dict[str, int]]:
    """Return lines and files per subfolder; the modules of the folder itself count as one, named "top level"."""
    sizes: dict[str, dict[str, int]] = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).parts
        size = sizes.setdefault(parts[0] if len(parts) > 1 else TOP, {"lines": 0, "files": 0})
        size["lines"] += path.read_bytes().count(b"\n")
        size["files"] += 1
    return sizes


def texts() -> dict[str, dict[str, int]]:
    """Return the words of README and documentation, generated pages apart, and the entries of the catalogue."""
    words = {"README": 0, "documentation": 0, "generated pages": 0}
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        generated = page.parent.name in ("results", "packs") or page.name in ("scale.md", "comparison.md")
        kind = "README" if page.parent == ROOT else "generated pages" if generated else "documentation"
        words[kind] += len(page.read_text(encoding="utf-8").split())
    with (FOLDERS["packages"] / "locale" / "ja" / "LC_MESSAGES" / "noren.po").open("rb") as file:
        entries = len(read_po(file))
    return {name: {"words": count} for name, count in words.items()} | {"catalogue": {"entries": entries}}


def measured() -> dict[str, Any]:
    """Return today's numbers in the layout of the file of ceilings."""
    functions = sum(
        isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for path in FOLDERS["packages"].rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
    )
    sizes: dict[str, Any] = {kind: counted(folder) for kind, folder in FOLDERS.items()}
    sizes["tests"] = {name: {"lines": size["lines"]} for name, size in sizes["tests"].items()}
    lines = sum(size["lines"] for size in sizes["packages"].values())
    sizes["texts"] = texts()
    sizes["density"] = {"noren": {"functions_per_1000_lines": math.ceil(10_000 * functions / lines) / 10}}
    return sizes


def excesses(ceilings: dict[str, Any], sizes: dict[str, Any]) -> list[str]:
    """Return one line for each number above its ceiling."""
    return [
        f"{kind}, {name}: {count:,} {unit}, ceiling {ceilings[kind].get(name, {}).get(unit, 0):,}"
        for kind in ceilings
        for name, size in sizes[kind].items()
        for unit, count in size.items()
        if count > ceilings[kind].get(name, {}).get(unit, 0)
    ]


def lowered(ceilings: dict[str, Any], sizes: dict[str, Any]) -> dict[str, Any]:
    """Return the ceilings, each at most as high as today's number."""
    return {
        kind: rows
        if kind == "texts"
        else {
            name: {unit: min(limit, sizes[kind][name].get(unit, limit)) for unit, limit in limits.items()}
            for name, limits in rows.items()
            if name in sizes[kind]
        }
        for kind, rows in ceilings.items()
    }


def main() -> None:
    """Print the table; with ``--lower``, lower the ceilings."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lower", action="store_true", help="lower the ceilings to today's numbers")
    ceilings, sizes = tomllib.loads(CEILINGS.read_text(encoding="utf-8")), measured()
    if parser.parse_args().lower:
        ceilings = lowered(ceilings, sizes)
        CEILINGS.write_text(tomli_w.dumps(ceilings), encoding="utf-8")
    print(f"{'package':<16}{'files':>8}{'lines':>10}{'ceiling':>10}{'goal':>10}")
    for name, size in sizes["packages"].items():
        limits = ceilings["packages"].get(name, {})
        numbers = f"{size['lines']:>10,}{limits.get('lines', 0):>10,}{limits.get('goal', 0):>10,}"
        print(f"{name:<16}{size['files']:>8}{numbers}")
    lines = sum(size["lines"] for size in sizes["packages"].values())
    ceiling, goal = (sum(limits[unit] for limits in ceilings["packages"].values()) for unit in ("lines", "goal"))
    print(f"{'total':<24}{lines:>10,}{ceiling:>10,}{goal:>10,}")
    for name, size in sizes["texts"].items():
        print(*(f"{name}: {count:,} {unit}, at most {ceilings['texts'][name][unit]:,}" for unit, count in size.items()))
    print(*excesses(ceilings, sizes), sep="\n")


if __name__ == "__main__":
    main()
