"""The documentation's pictures: their numbers, their words in both languages, and shapes that stay inside the frame."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
from tools.pictures import (
    LANGUAGES,
    PICTURES,
    classes,
    draw,
    frontier,
    months,
    pseudonyms,
    retention,
    survival,
    thresholds,
)
from tools.pictures.axes import Axes
from tools.pictures.canvas import WIDTH, Canvas

from noren.kernels.judging.threshold import threshold

ROOT = Path(__file__).resolve().parents[2]
SVG = "{http://www.w3.org/2000/svg}"
MEANINGS = {"original", "released", "risk", "warning", "ink", "muted", "line"}
ALL = [(name, language) for name in PICTURES for language in LANGUAGES]
PAGES = [ROOT / "docs" / "concepts.md", ROOT / "docs" / "ja" / "concepts.md"]


@pytest.fixture
def hook() -> Iterator[Any]:
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import site_pictures

        yield site_pictures.on_page_markdown
    finally:
        sys.path.remove(str(ROOT / "tools"))


def page_of(address: str) -> SimpleNamespace:
    return SimpleNamespace(file=SimpleNamespace(src_uri=address))


@pytest.mark.parametrize(("name", "language"), ALL)
def test_a_picture_is_well_formed_and_told_in_words(name: str, language: str) -> None:
    picture = draw(name, language)
    tree = ElementTree.fromstring(picture.svg)
    described = tree.find(f"{SVG}desc")
    assert described is not None
    assert tree.get("role") == "img"
    assert tree.get("aria-labelledby") == described.get("id")
    assert len(described.text or "") > 60
    assert picture.finding.endswith("。" if language == "ja" else ".")
    assert "{" not in re.sub(r"\{[^{}]*;[^{}]*\}", "", picture.finding + picture.description)  # sets are written {a; b}
    assert "\n" not in picture.as_html()


@pytest.mark.parametrize(("name", "language"), ALL)
def test_a_picture_keeps_to_its_frame_and_its_colours(name: str, language: str) -> None:
    tree = ElementTree.fromstring(draw(name, language).svg)
    left, top, width, height = map(float, str(tree.get("viewBox")).split())
    assert (left, top, width) == (0, 0, WIDTH)
    for part in tree.iter():
        assert not {"fill", "stroke", "style"} & set(part.keys())
        for look in (part.get("class") or "").split():
            kind, _, meaning = look.partition("-")
            assert (kind in {"fill", "edge"} and meaning in MEANINGS) or look in {"hollow", "faint", "small", "strong"}
        xs = [float(part.get(key, "0")) for key in ("x", "x1", "x2", "cx")]
        ys = [float(part.get(key, "0")) for key in ("y", "y1", "y2", "cy")]
        assert all(0 <= x <= width for x in xs), part.attrib
        assert all(0 <= y <= height for y in ys), part.attrib


@pytest.mark.parametrize(("name", "language"), ALL)
def test_words_stay_inside_the_frame(name: str, language: str) -> None:
    """A letter is about 0.56 of its size wide, a Japanese one as wide as it is high."""
    for part in ElementTree.fromstring(draw(name, language).svg).iter(f"{SVG}text"):
        size = 12.5 if "small" in str(part.get("class")) else 14
        wide = sum(size if ord(letter) > 0x2E7F else 0.56 * size for letter in part.text or "")
        x = float(part.get("x", "0"))
        start = {"start": x, "middle": x - wide / 2, "end": x - wide}[str(part.get("text-anchor"))]
        assert start >= -2, part.text
        assert start + wide <= WIDTH + 6, part.text


@pytest.mark.parametrize("page", PAGES, ids=["en", "ja"])
def test_the_page_of_concepts_shows_every_picture(page: Path) -> None:
    asked = re.findall(r"^<!-- picture: (\S+) -->$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(asked) == sorted(PICTURES)


def test_both_languages_say_the_same_things() -> None:
    for module in (classes, frontier, months, pseudonyms, retention, survival, thresholds):
        english, japanese = (module.WORDS[language] for language in ("en", "ja"))
        assert english.keys() == japanese.keys()
        for key, said in english.items():
            assert set(re.findall(r"\{\w+", said)) == set(re.findall(r"\{\w+", japanese[key])), (module.__name__, key)


def test_pairs_are_caught_at_126_names() -> None:
    assert thresholds.first_caught(2) == 126
    assert threshold(126, "sharp") == 63
    assert threshold(124, "sharp") > 62


@pytest.mark.parametrize(("k", "paper", "sharp"), [(2, 0.373, 0.0), (3, 0.886, 0.886), (4, 0.978, 0.978)])
def test_survival_is_that_of_the_theory_page(k: int, paper: float, sharp: float) -> None:
    assert survival.survives(k, "paper") == pytest.approx(paper, abs=5e-4)
    assert survival.survives(k, "sharp") == pytest.approx(sharp, abs=5e-4)


def test_months_by_hand() -> None:
    # found of live: 4/5, 2/4, 0/5, 1/4; together 4/5, 6/9, 6/14, 7/18
    um, mm, curve = months.rates()
    assert um == 0
    assert curve == pytest.approx([4 / 5, 6 / 9, 6 / 14, 7 / 18])
    assert mm == curve[-1]


def test_no_owner_is_surer_than_one_in_k() -> None:
    chances = retention.owners()
    assert sum(chances) == pytest.approx(1)
    assert max(chances) == chances[0] <= 1 / retention.K
    assert chances[1] == chances[2]  # Bob and Cho live in one town


def test_a_class_shows_one_history() -> None:
    rows = classes.released_rows()
    assert [row["price"] for row in rows["10"]] == [{"lo": 3.0, "hi": 4.5}, {"lo": 0.9, "hi": 2.1}]
    assert rows["10"] == rows["11"] == rows["12"]


def test_who_keeps_habits_is_linked() -> None:
    assert pseudonyms.linked() == ["Ann", "Bob"]


def test_the_frontier_is_of_releases_that_none_beats() -> None:
    places = frontier.places()
    assert len(places) == 8
    for one in places:
        beaten = any(
            other.use >= one.use and other.risk <= one.risk and (other.use, other.risk) != (one.use, one.risk)
            for other in places
        )
        assert one.on_frontier != beaten
    assert [place.k for place in places if place.survival >= frontier.ASKED] == [4, 6, 4, 6]


def test_a_page_gets_its_figure_in_its_language(hook: Any) -> None:
    asked = "# Title\n\n<!-- picture: months -->\n\nText.\n"
    english = hook(asked, page=page_of("concepts.md"))
    japanese = hook(asked, page=page_of("ja/concepts.md"))
    assert '<figure class="noren-picture" id="picture-months"><svg ' in english
    assert "bought nothing" in english
    assert "購買なし" in japanese
    assert hook("# No picture\n", page=page_of("start.md")) == "# No picture\n"


def test_an_unknown_picture_stops_the_build(hook: Any) -> None:
    from mkdocs.exceptions import PluginError

    with pytest.raises(PluginError, match=r"start\.md: there is no picture 'mnths'"):
        hook("<!-- picture: mnths -->\n", page=page_of("start.md"))


def test_text_is_escaped_and_values_have_a_place() -> None:
    canvas = Canvas(10)
    canvas.text(1, 2, "a < b & c")
    assert "a &lt; b &amp; c" in canvas.svg("x", "a < b")
    assert Axes(40, 140, 10, 110, (0, 10), (0, 1)).at(5, 0.5) == (90, 60)
