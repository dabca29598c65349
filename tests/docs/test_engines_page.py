"""The page of engines says what there is."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_engines", ROOT / "tools" / "site_engines.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(tool: ModuleType) -> None:
    written = tool.PAGE.read_text(encoding="utf-8")
    assert tool.page(written) == written, "run python tools/site_engines.py"


def test_what_has_a_plan_and_what_works_on_a_graphics_processor(tool: ModuleType) -> None:
    rows = [line.split(" | ") for line in tool.page("").splitlines() if line.startswith("| [")]
    told = {row[0].split("[")[1].split("]")[0]: row[2:4] for row in rows}
    assert told["jaccard"] == ["yes", "yes"]
    assert told["s1"] == ["yes", "–"]
    assert told["linkage"] == ["–", "yes"]
    assert told["consistency"] == ["–", "–"]
