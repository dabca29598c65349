"""Data flow one way: a room imports only from rooms before it, and heavy things load only when used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "noren"

# From the ground up. `__init__`, `__main__` and `cli` may see everything.
ORDER = (
    ("version", "i18n"),
    ("naming", "errors", "progress", "foreign_words", "tables"),
    ("kernels",),
    ("engines",),
    ("data",),
    ("retention",),
    ("descriptions",),
    ("protocols",),
    ("registry",),
    ("parameters",),
    ("methods",),
    ("attacks",),
    ("measures",),
    ("api",),
    ("execution",),
    ("inference",),
    ("judgement",),
    ("ledger",),
    ("work",),
    ("drawing",),
    ("reports",),
    ("papers",),
    ("sweeps",),
    ("web",),
    ("contest",),
    ("reproduce",),
    ("studio",),
    ("compile_ahead",),
    ("cli",),
    ("__init__", "__main__"),
)
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The rooms of noren that a file imports, anywhere in it."""
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [node.module or ""]
            if node.module == "noren":
                names = [f"noren.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        rooms |= {name.split(".")[1] for name in names if name.startswith("noren.")}
    return rooms


def wrong_imports(path: Path, room: str) -> list[str]:
    return [other for other in imported(path) if other != room and LEVEL[other] >= LEVEL[room]]


def test_a_room_imports_only_from_rooms_before_it() -> None:
    files = sorted(PACKAGE.rglob("*.py"))
    assert {room_of(path) for path in files} <= LEVEL.keys(), "a new room needs its place in ORDER"
    wrong = {path.relative_to(PACKAGE).as_posix(): wrong_imports(path, room_of(path)) for path in files}
    assert {name: rooms for name, rooms in wrong.items() if rooms} == {}


def test_the_check_can_fail(tmp_path: Path) -> None:
    bad = tmp_path / "bad.py"
    bad.write_text("def f():\n    from noren.cli import run\n")
    assert wrong_imports(bad, "kernels") == ["cli"]


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
