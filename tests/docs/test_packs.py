"""The packs in the documentation are those of the tool: all items, stamped where the release is broken."""

import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "packs"


@pytest.mark.parametrize(("k", "is_broken"), [(3, True), (6, False)])
def test_the_packs_of_the_2018_final_data(k: int, is_broken: bool) -> None:
    page = (PAGES / f"pwscup2018-k{k}.md").read_text(encoding="utf-8")
    for item in range(1, 6):
        assert f"| 第{item}号：" in page
    documents, sections = page.count("\n## "), page.count("\n### ")
    assert documents == 6
    assert page.count("> **▲ 破られた") == (documents + sections if is_broken else 0)
    assert f"公開内容がすべて同じ人の最少人数（数え上げ）：{k} 人" in page
    assert "【要記入：" in page


def test_a_page_is_made_of_a_folder_of_papers(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("papers_pages", ROOT / "tools" / "papers_pages.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    told = {"documents": {"1-a": "A"}, "verdict": {"sentence": "It is so."}}
    (tmp_path / "papers.json").write_text(json.dumps(told), encoding="utf-8")
    (tmp_path / "1-a.md").write_text("# A\n\n## B\n\ntext\n", encoding="utf-8")
    tool.main(tmp_path, tmp_path / "page.md", "4")
    page = (tmp_path / "page.md").read_text(encoding="utf-8")
    assert page.startswith("# 2018 年本戦データの文書一式（k = 4）\n")
    assert page.endswith("It is so.\n\n## A\n\n### B\n\ntext\n")
