"""The page, Markdown, JSON and pictures: whole, escaped, loading nothing."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.reproduce import toy

from noren.errors import OutputError
from noren.reproduce.frame import Comparison, Datum, Erratum, Extent, PaperDocument, PaperSection
from noren.reproduce.run import Reproduction, reproduce
from noren.reproduce.writing import grid, headline, long_grid, markdown, markdown_table, overview, page, write


@pytest.fixture
def report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reproduction:
    monkeypatch.setattr("noren.data.catalog.search_folders", lambda: (tmp_path,))
    return reproduce([toy.document(tmp_path)], Extent(quick=True), folder=tmp_path / "kept", workers=1)


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.anchors: set[str] = set()
        self.links: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.seen.append(tag)
        if given.get("id"):
            self.anchors.add(str(given["id"]))
        if tag == "a":
            self.links.add(str(given["href"]))
        assert not {"src", "onload", "onclick"} & set(given)
        if tag not in {"meta", "br", "wbr", "link", "img"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_runs_nothing(report: Reproduction) -> None:
    text = page(report, "2026-01-01")
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    assert not {"script", "link", "img", "iframe"} & set(tags.seen)
    assert "default-src 'none'" in text
    assert {link.removeprefix("#") for link in tags.links} <= tags.anchors
    assert {"S9", "S9-table-1", "S9-figure-2", "S9-people", "S9-erratum-sign"} <= tags.anchors
    assert "&lt;script&gt;" in text
    assert "Not run: the data set adult is not in" in text
    assert "4 of 6 numbers were not run" in text
    assert "Run on 2026-01-01." in text


def test_files_are_written_whole_and_not_over_others(report: Reproduction, tmp_path: Path) -> None:
    out = write(report, tmp_path / "out")
    assert sorted(path.name for path in out.iterdir()) == [
        "S9-table-1-1.svg", "S9.json", "S9.md", "index.html", "index.md", "reproduce.json"
    ]  # fmt: skip
    content = json.loads((out / "reproduce.json").read_text())
    assert content["quick"] is True
    assert content["counts"]["not_run"] == 4
    assert [part["key"] for part in content["documents"][0]["parts"]] == ["table-1", "figure-2", "people"]
    assert content["documents"][0]["parts"][2]["missing"].startswith("the data set adult")
    assert json.loads((out / "S9.json").read_text())["errata"][0]["key"] == "sign"
    text = (out / "S9.md").read_text()
    assert re.findall(r"\]\((\S+\.svg)\)", text) == ["S9-table-1-1.svg"]
    assert "| 1² | 1.000 | 1.000 | 0.000 ✓ |" in text
    assert "| 2² | 4.000 | – |  |" in text
    assert str(tmp_path) not in (out / "S9.md").read_text().replace("Not run: ", "").split("## ", 3)[1]
    with pytest.raises(OutputError, match="is not empty; name another folder"):
        write(report, out)
    write(report, out, replace=True)


def test_the_same_results_give_the_same_page(report: Reproduction) -> None:
    assert page(report, "x") == page(report, "x")


CELLS = [
    Datum("a", "em", 1.0, 1.25, digits=2, tolerance=0.5, exact=True),
    Datum("a", "auto", 1.0, 2.0, 0.125, 5, digits=2, tolerance=0.5, note="a | b"),
    Datum("b", "em", 1.0, 3.0, digits=2, tolerance=0.5, exact=True, erratum="e"),
    Datum("b", "auto", 1.0, None, digits=2, tolerance=0.5),
    Datum("c", "em", "safe", "hit"),
]


def test_a_line_for_each_row() -> None:
    shown = grid(CELLS)
    assert shown.headings == (
        ("", ""), ("em", "paper"), ("em", "ours"), ("em", "difference"), ("auto", "paper"), ("auto", "ours"),
        ("auto", "difference"), ("", "note"),
    )  # fmt: skip
    assert shown.rows == (
        ("a", "1.00", "1.25", "+0.25 ✓", "1.00", "2.00 ± 0.12", "+1.00 ✗", "a | b"),
        ("b", "1.00", "3.00", "+2.00 †", "1.00", "–", "", "erratum e"),
        ("c", "safe", "hit", "✗", "", "", "", ""),
    )
    assert "a \\| b" in markdown_table(shown)


def test_a_line_for_each_cell() -> None:
    assert [row[0] for row in long_grid(CELLS).rows] == ["a, em", "a, auto", "b, em", "b, auto", "c, em"]


def test_a_column_the_paper_does_not_have() -> None:
    assert grid([Datum("a", "ours alone", ours=0.5)]).headings == (("", ""), ("ours alone", "ours"))
    assert grid([Datum("a", ours=-0.00001, paper=0.0, digits=2)]).rows == (("a", "0.00", "-0.00", "0.00"),)


def test_the_headline(report: Reproduction, tmp_path: Path) -> None:
    def of(*cells: Datum) -> str:
        part = PaperSection("check", "all", "All", (), lambda _found: Comparison(cells))
        return headline(reproduce([PaperDocument("S9", "", "", (part,))], folder=tmp_path / "kept"))

    assert (
        headline(report) == "2 of 3 exact numbers match the paper, errata explain 1, 0 are unexplained; "
        "1 of 1 claims about random numbers hold"
    )
    assert of(CELLS[0]) == "All 1 exact numbers match the paper"
    assert of(CELLS[1]) == "0 of 1 claims about random numbers hold"
    assert of(Datum("a", paper=1.0, ours=2.0)) == "Nothing was compared"
    assert of(replace(CELLS[2], erratum="")) == "Exact numbers that differ from the paper without an erratum: 1"


def test_the_overview_counts_and_names_what_differs(report: Reproduction) -> None:
    def one(found: object) -> Comparison:
        return Comparison(
            [
                Datum("a", "em", 1.0, 1.0, exact=True, tolerance=0),
                Datum("b", "em", 2.0, 3.0, exact=True, tolerance=0, erratum="sign"),
                Datum("b", "auto", 2.0, 3.0, exact=True, tolerance=0, erratum="sign"),
                Datum("f", "em", 2.0, 4.0, exact=True, tolerance=0, erratum="lost", unexplained=True),
                Datum("c", "em", 4.0, 9.0, tolerance=1, note="by chance"),
                Datum("d", "em", 4.0, 4.5, tolerance=1),
                Datum("e", "em", 4.0),
            ]
        )

    made = reproduce([PaperDocument("S8", "Title", "Someone.", (PaperSection("table", "1", "A table", (), one),))])
    text = overview(made, "2026-01-01")
    assert "| [S8](S8.md) | 4 | 1 | 2 | 1 | 2 | 1 | 1 |" in text
    assert re.findall(r"^### (.*)", text, re.MULTILINE) == ["Explained by an erratum", "Unexplained", "Random claims"]
    assert "| S8, table-1: f, em | 2.000 | 4.000 | +2.000 ‡ | erratum lost |" in text
    assert "errata explain 2, 1 are unexplained" in text
    assert "| S8, table-1: b, em | 2.000 | 3.000 | +1.000 † | erratum sign |" in text
    assert "| S8, table-1: c, em | 4.000 | 9.000 | +5.000 ✗ | by chance |" in text
    assert "Run on 2026-01-01." in text
    assert made.counts == made.documents[0].counts
    assert made.counts["exact_equal"] == 1
    assert "\n\nnone\n\n" in overview(replace(made, documents=()), "2026-01-01")


def test_an_erratum_that_derives_nothing_says_so(tmp_path: Path) -> None:
    lost = Erratum("lost", "Page 2 has 7; we get 8.", unexplained=True)
    part = PaperSection("check", "all", "All", (), lambda _found: Comparison())
    document = PaperDocument("S9", "Toy", "Nobody.", (part,), lambda: [lost])
    made = reproduce([document], folder=tmp_path / "kept")
    assert "### lost (unexplained)\n\nPage 2 has 7; we get 8." in markdown(made.documents[0], "")
    assert "<h4>lost (unexplained)</h4>\n<p>Page 2 has 7; we get 8.</p>" in page(made, "")
