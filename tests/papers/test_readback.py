"""Papers read back against the public part they are about: ten releases, two laws, two languages, no contradiction."""

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest

from noren.data.cells import kind_counts
from noren.papers import case, wording
from noren.papers.case import ReleasedColumn

TOOL = Path(__file__).resolve().parents[2] / "tools" / "papers_readback.py"


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("papers_readback", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_forty_documents_contradict_their_public_parts_nowhere(tool: ModuleType) -> None:
    done = tool.read_back()
    assert done.contradictions == []
    assert done.documents == 40
    assert done.compared > 2_000


def test_the_tool_tells_its_figures(tool: ModuleType, monkeypatch, capsys) -> None:
    one = list(tool.releases())[:1]
    monkeypatch.setattr(tool, "releases", lambda: iter(one))
    assert tool.main() == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("1 release × 2 laws × 2 languages: 18 files with the data cards, ")
    assert second == "4 documents, 0 contradictions"


def _without_template(key: str, template: str) -> Mapping[str, Mapping[str, str]]:
    return {**wording.drafts(), key: {"en": template, "ja": template}}


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("empty columns are contained", "columns contained"),
        ("an empty cell is not counted", "counts"),
        ("a kind of cell is taken for another", "cells"),
        ("the original's unicity is nobody's", "whose unicity"),
    ],
)
def test_a_contradiction_is_noticed(tool: ModuleType, monkeypatch, what: str, expected: str) -> None:
    emptied = [release for release in tool.releases() if release[0] == "empty columns"]
    monkeypatch.setattr(tool, "releases", lambda: iter(emptied))
    if what == "empty columns are contained":
        monkeypatch.setattr(ReleasedColumn, "has_values", True)
    elif what == "an empty cell is not counted":
        real = kind_counts
        monkeypatch.setattr(case, "kind_counts", lambda cells: real(cells[1:]))
    elif what == "a kind of cell is taken for another":
        texts = _without_template("common.done_set", "{count} cells ({share}) say one value")
        monkeypatch.setattr(wording, "drafts", lambda: texts)
    else:
        texts = _without_template("gdpr.unicity_original", "{finding}")
        monkeypatch.setattr(wording, "drafts", lambda: texts)
    contradictions = tool.read_back().contradictions
    assert contradictions
    assert any(expected in line for line in contradictions)
