"""Data flow one way: a room imports only from rooms before it, and heavy things load only when used."""

import ast
import importlib
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "noren"

# From the ground up. `__init__`, `__main__` and `cli` may see everything.
ORDER = (
    ("version", "i18n"),
    ("errors", "progress", "tables"),
    ("kernels",),
    ("engines",),
    ("data",),
    ("retention",),
    ("tabulations",),
    ("protocols",),
    ("registry",),
    ("methods",),
    ("attacks",),
    ("measures",),
    ("api",),
    ("execution",),
    ("inference",),
    ("work",),
    ("judgement",),
    ("ledger",),
    ("drawing",),
    ("reports",),
    ("papers",),
    ("sweeps",),
    ("interactive", "transformers"),
    ("web",),
    ("contest",),
    ("reproduce",),
    ("studio",),
    ("compile_ahead",),
    ("cli",),
    ("__init__", "__main__"),
)
# The same inside large packages: their modules and folders.
INSIDE = {
    "data": (
        ("value_formats", "periods"),
        ("schema",),
        ("cells",),
        ("formats",),
        ("frames",),
        ("arrays", "checks", "contest_files", "guessing", "statement"),
        ("public_part", "compatibility"),
        ("release",),
        ("reading",),
        ("categories", "hierarchies", "samples"),
        ("draws", "column_levels", "foreign"),
        ("catalog",),
        ("__init__",),
    ),
    "contest": (
        ("kinds", "credentials"),
        ("phases", "rulebook"),
        ("state",),
        ("actions", "receipts", "schemas", "standings"),
        ("client", "stability"),
        ("judging", "results", "store"),
        ("arena",),
        ("archive", "background"),
        ("service", "replay"),
        ("dependencies",),
        ("api", "pages"),
        ("app",),
        ("simulation",),
        ("__init__",),
    ),
    "studio": (
        ("folders", "result_figures", "failure_reasons", "audit_trail"),
        ("hierarchies", "users"),
        ("store",),
        ("forms", "migrations"),
        ("work",),
        ("jobs", "worker"),
        ("service",),
        ("approvals", "paper_facts"),
        ("exports",),
        ("actions", "backup"),
        ("api",),
        ("pages",),
        ("app",),
        ("__init__",),
    ),
}


def levels(order: tuple[tuple[str, ...], ...]) -> dict[str, int]:
    return {room: level for level, rooms in enumerate(order) for room in rooms}


def room_of(path: Path, package: Path = PACKAGE) -> str:
    return path.relative_to(package).parts[0].removesuffix(".py")


def imported(path: Path, package: str = "noren") -> set[str]:
    """The rooms of a package that a file imports, anywhere in it."""
    rooms = set()
    depth = package.count(".") + 1
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [node.module or ""]
            if node.module == package:
                names = [f"{package}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        rooms |= {name.split(".")[depth] for name in names if name.startswith(f"{package}.")}
    return rooms


def wrong_imports(path: Path, room: str, package: str = "noren") -> list[str]:
    level = levels(ORDER if package == "noren" else INSIDE[package.removeprefix("noren.")])
    return [other for other in imported(path, package) if other != room and level[other] >= level[room]]


@pytest.mark.parametrize("inside", ["", *INSIDE])
def test_a_room_imports_only_from_rooms_before_it(inside: str) -> None:
    folder, package = (PACKAGE / inside, f"noren.{inside}") if inside else (PACKAGE, "noren")
    files = sorted(folder.rglob("*.py"))
    known = levels(INSIDE[inside] if inside else ORDER).keys()
    rooms = {room_of(path, folder) for path in files}
    assert rooms <= known, "a new room needs its place in the order"
    assert not inside or rooms == known, "a room that is gone has no place in the order"
    wrong = {path.relative_to(folder).as_posix(): wrong_imports(path, room_of(path, folder), package) for path in files}
    assert {name: rooms for name, rooms in wrong.items() if rooms} == {}


def test_the_check_can_fail(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("def f():\n    from noren.cli import run\n")
    assert wrong_imports(bad, "kernels") == ["cli"]
    bad.write_text("from noren.data import guessing\nfrom noren.data.formats.parse import parse_text\n")
    assert sorted(wrong_imports(bad, "schema", "noren.data")) == ["formats", "guessing"]


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import noren", {"polars", "pyarrow", "numpy", "pydantic", "typer", "rich", "vl_convert"}),
        ("import noren.cli.app", {"polars", "pyarrow", "numpy", "pydantic", "vl_convert", "jinja2"}),
    ],
)
def test_heavy_things_load_only_when_used(statement: str, absent: set[str]) -> None:
    script = f"import sys; {statement}; print(*sorted(n for n in sys.modules if '.' not in n))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert absent & set(done.stdout.split()) == set()


@pytest.mark.parametrize("folder", ["benchmarks", "examples", "tools"])
def test_scripts_import_what_there_is(folder: str) -> None:
    missing = []
    for path in sorted((PACKAGE.parents[1] / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "noren":
                module = importlib.import_module(node.module or "")
                parts = hasattr(module, "__path__")
                names = [name.name for name in node.names if not hasattr(module, name.name)]
                missing += [(path.name, n) for n in names if not parts or find_spec(f"{node.module}.{n}") is None]
    assert missing == []


def test_class_names_are_unique() -> None:
    places: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    assert {name: files for name, files in places.items() if len(files) > 1} == {}
