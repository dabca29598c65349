"""The site's navigation follows the folders, and pages lead to themselves in the other language."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def tools() -> Iterator[None]:
    sys.path.insert(0, str(ROOT / "tools"))
    yield
    sys.path.remove(str(ROOT / "tools"))


def pages(folder: Path, *names: str) -> Path:
    for name in names:
        page = folder / name
        page.parent.mkdir(exist_ok=True)
        page.write_text("# x\n", encoding="utf-8")
    return folder


def test_parts_stand_in_the_readers_order(tmp_path: Path) -> None:
    from site_nav import navigation

    docs = pages(
        tmp_path, "legal.md", "ja/team.md", "ja/index.md", "changelog.md", "contributing.md", "guide/team.md",
        "start.md", "guide/index.md", "guide/steward.md", "data/b.md", "data/a.md", "index.md", "ledger.md",
        "empty/x.css", "results/S1.md", "reproduce.md", "methods/swap.md", "methods/index.md",
    )  # fmt: skip
    assert navigation(docs) == [
        {"Home": "index.md"},
        {"Start": "start.md"},
        {
            "Guide": [
                "guide/index.md",
                {"Data steward": "guide/steward.md"},
                {"Team": "guide/team.md"},
                {"The ledger": "ledger.md"},
                {"Data": ["data/a.md", "data/b.md"]},
            ]
        },
        {"Methods": ["methods/index.md", "methods/swap.md"]},
        {"Reproduced": ["reproduce.md", {"Results": ["results/S1.md"]}]},
        {"Legal": "legal.md"},
        {"Contributing": ["contributing.md", "changelog.md"]},
        {"日本語": ["ja/index.md", {"参加チーム": "ja/team.md"}]},
    ]


def test_a_page_that_nobody_placed_is_there_all_the_same(tmp_path: Path) -> None:
    from site_nav import navigation

    docs = pages(tmp_path, "index.md", "zeal.md", "odd-things/deep.md", "contributing.md", "ja/index.md")
    assert navigation(docs) == [
        {"Home": "index.md"},
        {"Odd things": ["odd-things/deep.md"]},
        "zeal.md",
        {"Contributing": "contributing.md"},
        {"日本語": ["ja/index.md"]},
    ]


def test_every_page_of_the_documentation_is_in_it_once() -> None:
    from site_nav import navigation

    def leaves(part: Any) -> list[str]:
        if isinstance(part, str):
            return [part]
        inside = part.values() if isinstance(part, dict) else part
        return [leaf for one in inside for leaf in leaves(one)]

    docs = ROOT / "docs"
    assert sorted(leaves(navigation(docs))) == sorted(path.relative_to(docs).as_posix() for path in docs.rglob("*.md"))


def test_every_japanese_page_has_an_english_one() -> None:
    from site_languages import twins

    docs = ROOT / "docs"
    there = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    japanese = {page for page in there if page.startswith("ja/")}
    assert {"ja/index.md", "ja/start.md", "ja/concepts.md", "ja/steward.md", "ja/team.md"} <= japanese
    assert japanese == {twin for twin in twins(there) if twin.startswith("ja/")}


def test_twins_lead_to_each_other() -> None:
    from site_languages import twins

    found = twins(
        {"index.md", "start.md", "ja/start.md", "guide/team.md", "ja/team.md", "guide/index.md", "ja/index.md"}
    )
    assert found == {
        "start.md": "ja/start.md",
        "ja/start.md": "start.md",
        "guide/team.md": "ja/team.md",
        "ja/team.md": "guide/team.md",
        "guide/index.md": "ja/index.md",
        "ja/index.md": "guide/index.md",
    }


def test_a_page_names_its_twin_below_its_title() -> None:
    from site_languages import on_page_content, on_page_markdown

    files = SimpleNamespace(
        documentation_pages=lambda: [SimpleNamespace(src_uri=name) for name in ("guide/team.md", "ja/team.md")]
    )
    english, japanese = (
        SimpleNamespace(file=SimpleNamespace(src_uri=name)) for name in ("guide/team.md", "ja/team.md")
    )
    link = "[日本語](../ja/team.md){ .noren-language lang=ja hreflang=ja }"
    assert on_page_markdown("# Team\n\nText.\n", page=english, files=files) == f"# Team\n\n{link}\n\nText.\n"
    assert "[English](../guide/team.md)" in on_page_markdown("# チーム\n\n文。\n", page=japanese, files=files)
    assert on_page_content("<p>文。</p>", page=japanese) == '<div lang="ja"><p>文。</p></div>'
    assert on_page_content("<p>Text.</p>", page=english) == "<p>Text.</p>"


def test_lines_of_japanese_are_joined_and_blocks_left_alone() -> None:
    from site_languages import joined

    assert joined("人が\n買う。\n\n- 一\n  二\n- 三\n") == "人が買う。\n\n- 一二\n- 三\n"
    block = "```text\n顧客\n購買\n```\n"
    assert joined(f"前\n後\n\n{block}") == f"前後\n\n{block}"
    assert joined("## 題\n\n| 甲 |\n|---|\n| 乙 |\n") == "## 題\n\n| 甲 |\n|---|\n| 乙 |\n"
