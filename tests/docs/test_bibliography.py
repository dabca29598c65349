"""The bibliography has the source of every component, and project files state what the code states."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml  # type: ignore[import-untyped]

import noren
from noren.attacks import attacks
from noren.measures import measures
from noren.methods import methods

ROOT = Path(__file__).resolve().parents[2]
WRITTEN = (ROOT / "docs" / "bibliography.md").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def tools() -> Iterator[None]:
    sys.path.insert(0, str(ROOT / "tools"))
    yield
    sys.path.remove(str(ROOT / "tools"))


def test_every_component_has_its_source() -> None:
    from site_reference import on_page_markdown

    page = SimpleNamespace(file=SimpleNamespace(src_uri="bibliography.md"))
    shown = on_page_markdown(WRITTEN, page=page)
    for folder, register in (("methods", methods), ("attacks", attacks), ("measures", measures)):
        for name in register:
            assert register[name].source
            assert f"| [{name}]({folder}/{name}.md) | {register[name].source} |" in shown


def test_every_author_named_as_a_source_is_cited() -> None:
    sources = [register[name].source for register in (methods, attacks, measures) for name in register]
    named = {
        match for source in sources for match in re.findall(r"([A-Z][\w-]+)(?: and [\w .-]+| et al\.)? (\d{4})", source)
    }
    missing = {(who, year) for who, year in named if who != "Cup" and (who not in WRITTEN or year not in WRITTEN)}
    assert missing == set()


def test_the_citation_is_that_of_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (cited["cff-version"], cited["title"], cited["license"]) == ("1.2.0", "Noren", "Apache-2.0")
    assert cited["authors"] == [{"name": "The Noren authors"}]
    assert cited["version"] == noren.__version__
    assert [reference["notes"][:2] for reference in cited["references"]] == ["S0", "S1", "S2", "S3", "S4"]
    assert all({"type", "title", "authors"} <= reference.keys() for reference in cited["references"])
