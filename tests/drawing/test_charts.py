"""Charts are well-formed SVG: as many bars as asked for, the house's colours, texts escaped."""

import re
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import polars as pl
import pytest

from noren.data.schema import Column
from noren.drawing import bars, risk_map
from noren.drawing.base import COLOURS, picture
from noren.drawing.histograms import Axis, BarCounts, axis_of
from noren.judgement.frontier import RiskUtilityPoint
from noren.judgement.page_text import printable
from noren.judgement.verdict import VerdictStatus

SVG = "{http://www.w3.org/2000/svg}"
ITEM = Column(name="item", role="item")
QUANTITY = Column(name="quantity", role="quantity")


def histogram(axis: Axis, values: BarCounts, *, top: float, released: bool) -> str:
    return picture(bars.histogram(axis, values, top=top, released=released))


def risk_utility_map(places: list[RiskUtilityPoint], **how: Any) -> str:
    return picture(risk_map.risk_utility_map(places, **how))


def parse(svg: str) -> ET.Element:
    return ET.fromstring(svg)


def texts(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in parse(svg).iter(f"{SVG}text")]


def filled(svg: str, colour: str) -> list[str]:
    return [p.get("d", "") for p in parse(svg).iter(f"{SVG}path") if p.get("fill") == COLOURS[colour]]


def items(*names: str) -> tuple[Axis, BarCounts]:
    made = axis_of(pl.Series(names, dtype=pl.String), ITEM)
    assert made is not None
    return made, BarCounts(np.arange(len(names), 0, -1.0), 0.0, 0.0)


def numbers(heights: list[float]) -> tuple[Axis, BarCounts]:
    made = axis_of(pl.Series(range(len(heights))), QUANTITY)
    assert made is not None
    return made, BarCounts(np.array(heights), 0.0, 0.0)


@pytest.mark.parametrize(("released", "colour", "other"), [(False, "indigo", "teal"), (True, "teal", "indigo")])
def test_bars_stand_in_proportion(released: bool, colour: str, other: str) -> None:
    drawn = histogram(*numbers([1, 2, 4]), top=4, released=released)
    tall = [float(re.findall(r"v(-?[\d.]+)", d)[0]) for d in filled(drawn, colour)]
    assert [round(t / tall[0], 2) for t in tall] == [1, 2, 4]
    assert filled(drawn, other) == []


def test_the_axis_names_column_and_width() -> None:
    said = texts(histogram(*numbers([1.0] * 30), top=1, released=False))
    assert "quantity, bars of 1" in said
    assert {"0", "29"} <= set(said)
    tailed = axis_of(pl.Series([*range(30), 5000]), QUANTITY)
    assert tailed is not None
    said = texts(histogram(tailed, BarCounts(np.ones(len(tailed.labels)), 0.0, 0.0), top=1, released=False))
    assert {"0", "≥30"} <= set(said)


@pytest.mark.parametrize("count", [1, 2, 5, 37])
def test_few_labels_begin_at_the_first_bar_and_end_at_the_last(count: int) -> None:
    axis, spread = numbers([5.0] * count)
    said = texts(histogram(axis, spread, top=5, released=False))
    assert {axis.labels[0], axis.labels[-1]} <= set(said)
    assert len(set(said) & set(axis.labels)) <= 9


def test_nothing_to_draw_is_still_a_picture() -> None:
    axis, _spread = numbers([1, 2])
    assert filled(histogram(axis, BarCounts(np.zeros(2), 0, 2), top=0, released=True), "paper") == []


def test_ten_of_many_items_are_drawn() -> None:
    drawn = histogram(*items(*(f"i{i:02}" for i in range(30))), top=30, released=True)
    assert len(filled(drawn, "teal")) == 10
    assert {f"i{i:02}" for i in range(10)} <= set(texts(drawn))


def test_long_names_that_begin_alike_stay_apart() -> None:
    drawn = histogram(*items("SET OF THREE CAKE TINS PANTRY", "SET OF THREE CAKE TINS RETRO"), top=2, released=False)
    assert len(filled(drawn, "indigo")) == 2
    assert {"SET OF THREE CAKE…", "SET OF THREE… (2)"} <= set(texts(drawn))


def test_names_are_escaped() -> None:
    drawn = histogram(*items("<script>a</script>", "a & 'b' \"c\"", "]]>", "\x1b[31m"), top=4, released=False)
    assert "<script" not in drawn
    assert {"<script>a</script>", "a & 'b' \"c\"", "]]>", "�[31m"} <= set(texts(drawn))


def test_a_chart_has_no_colour_but_the_houses() -> None:
    every = histogram(*numbers([1, 2]), top=2, released=True) + risk_utility_map(PLACES)
    used = set(re.findall(r'(?:fill|stroke)="([^"]+)"', every))
    assert used <= {*COLOURS.values(), "none", "transparent"}
    assert 'aria-label="' not in every


def place(label: str, use: float, risk: float, word: VerdictStatus) -> RiskUtilityPoint:
    return RiskUtilityPoint(label=label, use=use, use_of="cell-error", risk=risk, risk_of="attacks", status=word)


PLACES = [
    place("names only", 1.0, 1.0, VerdictStatus.BROKEN),
    place("k = 2", 0.6, 0.1, VerdictStatus.WITHSTANDS),
    place("k = 3", 0.5, 0.2, VerdictStatus.UNTRIED),
]


def test_the_map_labels_every_point_and_shapes_tell_the_verdicts() -> None:
    drawn = risk_utility_map(PLACES)
    assert {"names only", "k = 2", "k = 3"} <= set(texts(drawn))
    shapes = [filled(drawn, colour) for colour in ("persimmon", "teal", "muted")]
    assert [len(s) for s in shapes] == [1, 1, 1]
    proved = filled(risk_utility_map([place("k = 9", 0.4, 0.1, VerdictStatus.PROVED), *PLACES]), "teal")
    assert len(proved) == 2
    assert len({s[0] for s in shapes} | set(proved)) == 4


def test_the_same_places_are_the_same_bytes() -> None:
    drawn = [risk_utility_map(PLACES, taken=[1]) for _time in range(2)]
    assert drawn[0] == drawn[1]
    assert "NaN" not in drawn[0]


def test_a_ring_is_about_the_one_to_take() -> None:
    rings = list(parse(risk_utility_map(PLACES, taken=[1])).iter(f"{SVG}path"))
    found = [
        p for p in rings if p.get("stroke") == COLOURS["indigo"] and p.get("fill") in (None, "none", "transparent")
    ]
    assert len(found) == 1


def test_what_may_be_handed_out_is_not_beaten_by_what_may_not() -> None:
    drawn = parse(
        risk_utility_map([place("a", 0.8, 0.1, VerdictStatus.BROKEN), place("b", 0.6, 0.2, VerdictStatus.PROVED)])
    )
    (line,) = [p.get("d", "") for p in drawn.iter(f"{SVG}path") if p.get("stroke-dasharray")]
    assert line.count("L") >= 1


def test_the_frontier_rises_before_it_runs_right() -> None:
    drawn = parse(risk_utility_map(PLACES, size=(100, 100)))
    (line,) = [p.get("d", "") for p in drawn.iter(f"{SVG}path") if p.get("stroke-dasharray")]
    points = [tuple(map(float, pair.split(","))) for pair in re.findall(r"[ML]([\d.]+,[\d.]+)", line)]
    (x0, y0), (x1, y1), (x2, y2) = points
    assert x0 == x1 < x2
    assert y0 > y1 == y2


def test_the_map_takes_use_below_nothing_and_no_risk() -> None:
    worse = [place("a", -0.5, 0.0, VerdictStatus.WITHSTANDS), place("b", 0.2, 0.0, VerdictStatus.WITHSTANDS)]
    said = texts(risk_utility_map(worse))
    assert {"a", "b"} <= set(said)
    assert {"utility kept, 1 − U (right is more useful)", "customers re-identified (down is safer)"} <= set(said)


def test_a_crowd_has_its_labels_led_to_their_points() -> None:
    crowd = [place(f"release {i}", 0.5 + i / 1000, 0.0, VerdictStatus.WITHSTANDS) for i in range(6)]
    drawn = risk_utility_map(crowd)
    leads = [n for n in parse(drawn).iter(f"{SVG}line") if n.get("stroke") == COLOURS["muted"] and n.get("y2") != "0"]
    assert len([t for t in set(texts(drawn)) if t.startswith("release ")]) == 6
    assert len(leads) >= 2


def test_printable_cuts_and_shows_control_characters() -> None:
    assert printable("abc", 3) == "abc"
    assert printable("abcd", 3) == "ab…"
    assert printable("a\u202eb\nc") == "a�b�c"


def test_a_name_that_looks_like_a_colour_stays_a_name() -> None:
    assert {"$indigo", "$teal"} <= set(texts(histogram(*items("$indigo", "$teal"), top=2, released=False)))
