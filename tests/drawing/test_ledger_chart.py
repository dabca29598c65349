"""The risk over releases as a picture: one line per attack, names beside the lines, the budget marked when broken."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ledger.books import history, ledger

from noren import i18n
from noren.drawing.base import COLOURS, ENDINGS, heading_lines
from noren.drawing.ledger_chart import Curves, _spread, write_ledger_chart
from noren.errors import ParameterError

SVG = "{http://www.w3.org/2000/svg}"
CURVES = Curves(
    ["2010/12", "2011/1", "2011/2"], {"s1": [0.1, 0.2, 0.15], "s7": [0.3, 0.25, 0.4], "new": [None, 0.1, 0]}
)


@pytest.fixture
def japanese() -> Iterator[None]:
    i18n.activate("ja")
    yield
    i18n.activate("en")


def drawn(curves: Curves, path: Path) -> ET.Element:
    return ET.fromstring(write_ledger_chart(curves, path).read_text(encoding="utf-8"))


def texts(picture: ET.Element) -> list[str]:
    return ["".join(node.itertext()) for node in picture.iter(f"{SVG}text")]


def lines(picture: ET.Element, colour: str) -> list[str]:
    """The paths drawn in a colour without being filled."""
    found = [p for p in picture.iter(f"{SVG}path") if p.get("stroke") == COLOURS[colour]]
    return [p.get("d", "") for p in found if p.get("fill") in (None, "none")]


def test_every_attack_has_its_line_and_its_name(tmp_path: Path) -> None:
    picture = drawn(CURVES, tmp_path / "c.svg")
    said = texts(picture)
    for word in ("s1 0.150", "s7 0.400", "new 0.000", "2010/12", "2011/1", "2011/2"):
        assert word in said
    assert any("MM: pseudonyms found (down is safer)" in text for text in said)
    # the attack that finds most is persimmon, the others indigo; a line has a point per release
    worst, others = lines(picture, "persimmon"), lines(picture, "indigo")
    assert [re.sub(r"[^ML]", "", path) for path in worst] == ["MLL"]
    assert sorted(re.sub(r"[^ML]", "", path) for path in others) == ["ML", "MLL"]


def test_the_heading_is_the_finding() -> None:
    assert CURVES.finding() == "After 2011/2, the best attack, s7, finds 40.0% of the pseudonyms"
    kept = Curves(["2010/12"], {"s1": [0.1]}, {"mm": 0.2, "um": 0.01})
    assert kept.finding() == "After 2010/12, the best attack, s1, finds 10.0% of the pseudonyms; the budget is 20.0%"
    most = Curves(["2010/12"], {"s1": [0.1]}, {"emm": 0.2, "mm": 0.01}, measure="emm")
    finding = "Up to 2010/12, the best attack, s1, finds 10.0% of the pseudonyms at most; the budget is 20.0%"
    assert most.finding() == finding
    users = Curves(["2010/12", "2011/1"], {"s1": [0.1, 0.3]}, {"um": 0.25}, measure="um")
    assert users.finding() == (
        "After 2011/1, the best attack, s1, finds 30.0% of the customers in every period;"
        " the budget of 25.0% is exceeded"
    )
    over = Curves(CURVES.periods, CURVES.rates, {"mm": 0.35}, proposed=True)
    assert over.finding() == (
        "With 2011/2, the best attack, s7, would find 40.0% of the pseudonyms; the budget of 35.0% is exceeded"
    )


def test_a_broken_budget_is_ringed(tmp_path: Path) -> None:
    over = Curves(CURVES.periods, CURVES.rates, {"mm": 0.28})
    assert over.beyond() == [(0, 0.3), (2, 0.4)]
    picture = drawn(over, tmp_path / "c.svg")
    assert "budget MM 28.0%" in texts(picture)
    assert len(lines(picture, "persimmon")) == 1 + 2
    kept = drawn(Curves(CURVES.periods, CURVES.rates, {"mm": 0.5, "um": 0.01}), tmp_path / "c.svg")
    assert len(lines(kept, "persimmon")) == 1
    assert "budget UM" not in " ".join(texts(kept))


def test_a_budget_is_drawn_against_its_own_measure(tmp_path: Path) -> None:
    # MM fell after the second release; EMM remembers, so a budget of EMM that MM would keep is broken
    found_mm, found_emm = {"s1": [0.1, 0.6, 0.2]}, {"s1": [0.1, 0.6, 0.6]}
    budget = {"emm": 0.5}
    assert "budget" not in Curves(CURVES.periods, found_mm, budget).finding()
    assert Curves(CURVES.periods, found_mm, budget).beyond() == []
    drawn_emm = Curves(CURVES.periods, found_emm, budget, measure="emm")
    assert drawn_emm.beyond() == [(1, 0.6), (2, 0.6)]
    said = texts(drawn(drawn_emm, tmp_path / "c.svg"))
    assert "budget EMM 50.0%" in said
    assert any("EMM: pseudonyms found at most so far (down is safer)" in text for text in said)
    assert "EMM of each attack" in write_ledger_chart(drawn_emm, tmp_path / "c.html").read_text(encoding="utf-8")


def test_the_tightest_budget_is_the_one_to_look_at(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l", budget={"emm": 1.0, "um": 0.99})
    book.add(history(), seed=1)
    risk = book.risk()
    assert risk is not None
    assert book.left() == {"emm": 1.0 - risk.emm, "um": 0.99 - risk.um}
    tightest = min(book.left(), key=book.left().__getitem__)
    curves = Curves.of(book)
    assert curves.measure == tightest
    assert tightest in curves.budget
    assert curves.rates == {name: [found[tightest]] for name, found in risk.attacks.items()}
    assert max(found[-1] or 0 for found in curves.rates.values()) == risk.value(tightest)
    assert ledger(tmp_path / "none").tightest() == "mm"


def test_each_kind_of_file(tmp_path: Path) -> None:
    starts = {".html": b"<!doctype html>", ".svg": b"<svg", ".png": b"\x89PNG"}
    for ending in ENDINGS:
        content = write_ledger_chart(CURVES, tmp_path / f"c{ending}").read_bytes()
        assert content.startswith(starts[ending])
    with pytest.raises(ParameterError, match=r"no chart ends in '.pdf'; use one of .html, .svg, .png"):
        write_ledger_chart(CURVES, tmp_path / "c.pdf")
    assert len(list(tmp_path.iterdir())) == 3


def test_the_page_loads_nothing_and_tells_the_numbers(tmp_path: Path) -> None:
    hostile = Curves(["<b>"], {"<script>x": [0.125]}, {"um": 0.3})
    page = write_ledger_chart(hostile, tmp_path / "c.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<b>" not in page
    assert "&lt;script&gt;x" in page
    assert "0.125" in page
    assert "budget for UM: 0.3" in page
    assert re.findall(r"(?:src|href)=", page.replace("xlink:href", "")) == []


def test_a_ledger_is_drawn(tmp_path: Path) -> None:
    book = ledger(tmp_path / "l")
    with pytest.raises(ParameterError, match="nothing was released yet"):
        Curves.of(book)
    book.add(history(), seed=2)  # s1 names one of two who are alike, and is right
    assert Curves.of(book).rates == {"s1": [0.5]}
    assert Curves.of(book).verdict == book.verdicts()["2010/12"]
    page = write_ledger_chart(Curves.of(book), tmp_path / "c.html").read_text(encoding="utf-8")
    assert "Broken: " in page
    assert "Rule partner" in page
    weighed = Curves.of(book, book.weigh(history(), seed=1))
    assert (weighed.periods, weighed.rates, weighed.proposed) == (["2010/12", "2011/1"], {"s1": [0.5, 0.75]}, True)
    drawn(Curves.of(book), tmp_path / "c.svg")


def test_what_is_certified_is_drawn_and_held_against_the_budget(tmp_path: Path) -> None:
    sure = Curves(["2010/12", "2011/1"], {"s1": [0.1, 0.35]}, {"mm": 0.3}, certified=[None, 0.25])
    assert sure.beyond() == []  # luck of an attack breaks nothing that is certified
    assert sure.finding().endswith("; on average, no attacker can find more than 25.0%; the budget is 30.0%")
    assert "certified 0.250" in texts(drawn(sure, tmp_path / "c.svg"))
    page = write_ledger_chart(sure, tmp_path / "c.html").read_text(encoding="utf-8")
    assert "certified" in page
    assert Curves(["1"], {"s1": [0.1]}, {"mm": 0.3}, certified=[0.4]).beyond() == [(0, 0.4)]


def test_many_releases_are_not_all_named(tmp_path: Path) -> None:
    periods = [f"{2000 + n // 12}/{n % 12 + 1}" for n in range(60)]
    said = texts(drawn(Curves(periods, {"s1": [0.1] * 60}), tmp_path / "c.svg"))
    named = [text for text in said if text in periods]
    assert 5 < len(named) < 15
    assert named[-1] == periods[-1]


def test_it_speaks_japanese(tmp_path: Path, japanese: None) -> None:
    page = write_ledger_chart(CURVES, tmp_path / "c.html").read_text(encoding="utf-8")
    assert '<html lang="ja">' in page


@given(st.lists(st.floats(0, 300), max_size=12).map(sorted))
def test_names_stand_apart_in_order_and_inside(wanted: list[float]) -> None:
    places = _spread(wanted, 15, 300)
    assert len(places) == len(wanted)
    assert all(later - earlier >= 15 - 1e-6 for earlier, later in pairwise(places))
    assert all(-1e-6 <= place <= 300 for place in places)


def test_headings_break_between_words_and_before_no_closing_sign() -> None:
    english = (
        "After 12 releases the best attack, s7, finds 21.1% of the pseudonyms; the budget of 20.0% is broken by now"
    )
    assert " ".join(heading_lines(english)) == english
    assert len(heading_lines(english)) == 2
    japanese = (
        "十二か月分を公開したのち、最も強い攻撃 s7 は仮名の 26.7% を言い当てます。予算の 26.5% を超えています。" * 2
    )
    lines = heading_lines(japanese)
    assert len(lines) > 2
    assert "".join(lines).replace(" ", "") == japanese.replace(" ", "")
    assert [line for line in lines if line[0] in "、。）.%" or line.endswith(("26", "26."))] == []
