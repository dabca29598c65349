"""The page of engines says what there is."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from noren.attacks import attacks
from noren.measures import measures
from noren.methods import methods

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_engines", ROOT / "tools" / "site_engines.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_stand_on_the_page_of_engines_only(tool: ModuleType) -> None:
    here, there = (SimpleNamespace(file=SimpleNamespace(src_uri=uri)) for uri in ("engines.md", "legal.md"))
    shown = tool.on_page_markdown("# Engines\n", page=here)
    assert shown.startswith("# Engines\n\n## Methods\n")
    assert all(f"[{name}](" in shown for register in (methods, attacks, measures) for name in register)
    assert tool.on_page_markdown("# Law\n", page=there) == "# Law\n"


def test_what_has_a_plan_and_what_works_on_a_graphics_processor(tool: ModuleType) -> None:
    rows = [line.split(" | ") for line in tool.tables().splitlines() if line.startswith("| [")]
    told = {row[0].split("[")[1].split("]")[0]: row[1:3] for row in rows}
    assert told["jaccard"] == ["yes", "yes"]
    assert told["s1"] == ["yes", "–"]
    assert told["linkage"] == ["–", "yes"]
    assert told["consistency"] == ["–", "–"]


def test_what_has_no_plan_has_a_reason(tool: ModuleType) -> None:
    page = tool.tables()
    without = [
        line.split("]")[0].removeprefix("| [") for line in page.splitlines() if "](" in line and ") | – |" in line
    ]
    listed = [name for line in page.splitlines() if line.startswith("- `") for name in line.split("`")[1::2]]
    assert sorted(without) == sorted(listed)
