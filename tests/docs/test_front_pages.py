"""What a stranger sees first is true and there: the README, its pictures, and the glossary."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from noren.attacks import attacks
from noren.measures import measures
from noren.methods import methods

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PICTURE = re.compile(r"!\[([^]]+)\]\(([^)]+)\)")


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("glossary_page", ROOT / "tools" / "glossary_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_readme_counts_what_there_is() -> None:
    first = README.partition("\n## ")[0]
    assert f"{len(methods)} methods" in first
    assert f"{len(attacks)} re-identification attacks and {len(measures)} measures" in first


def test_the_studio_and_the_map_stand_above_the_first_heading() -> None:
    shown = dict(map(reversed, PICTURE.findall(README.partition("\n## ")[0])))
    assert set(shown) == {"docs/images/studio.png", "docs/images/map.png"}
    assert all(len(words) > 20 for words in shown.values())  # said to whoever does not see them


@pytest.mark.parametrize("name", ["studio", "map"])
def test_pictures_are_small_enough_to_load_at_once(name: str) -> None:
    content = (ROOT / "docs" / "images" / f"{name}.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) < 150_000


@pytest.mark.parametrize("language", ["en", "ja"])
def test_the_glossary_is_up_to_date(tool: ModuleType, language: str) -> None:
    written = tool.PAGES[language].read_text(encoding="utf-8")
    assert tool.page(written, language) == written, "run python tools/glossary_page.py"


def test_the_glossary_goes_both_ways(tool: ModuleType) -> None:
    assert "| **pseudonym** | 仮名 |" in tool.page("", "en")
    assert "| **仮名** | pseudonym |" in tool.page("", "ja")


def test_every_word_leads_to_a_page(tool: ModuleType) -> None:
    assert [page for page in tool.USED_IN.values() if not (tool.DOCS / page).exists()] == []
