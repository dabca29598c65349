"""Messages in TOML files: every name that a module asks for is there, and every message that is there is asked for."""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from noren.tables import table_of

SOURCE = Path(__file__).resolve().parents[1] / "src"
IN_FILES = re.compile(r"^say = Texts\(__name__\)$", re.MULTILINE)
MODULES = [path for path in sorted(SOURCE.rglob("*.py")) if IN_FILES.search(path.read_text(encoding="utf-8"))]


def message_names(part: Mapping[str, Any], before: str = "") -> Iterator[str]:
    for name, value in part.items():
        if isinstance(value, dict) and set(value) != {"one", "other"}:
            yield from message_names(value, f"{before}{name}.")
        else:
            yield before + name


def written(tree: ast.AST) -> Iterator[str]:
    """Yield the strings of a module as patterns; what is put into one may be anything."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield re.escape(node.value)
        elif isinstance(node, ast.JoinedStr):
            parts = [re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+" for part in node.values]
            yield "".join(parts)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_names_of_a_module_and_of_its_file_agree(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    module = ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    names = set(message_names(table_of(module)))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "say"]
    literal = {call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)}
    assert literal - names == set(), "not in the file"
    patterns = [re.compile(pattern) for pattern in written(tree) if pattern != ".+"]
    unused = [name for name in names if not any(pattern.fullmatch(name) for pattern in patterns)]
    assert unused == [], "nobody asks for them"


def test_modules_are_looked_at() -> None:
    assert SOURCE / "noren" / "judgement" / "sentences.py" in MODULES
