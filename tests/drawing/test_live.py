"""Charts: the numbers they are given are the numbers they draw."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import vl_convert

from noren.drawing.bars import bars, counts_bars, crosstab_panels, paired_histogram
from noren.drawing.base import MOST_MARKS, live, mark_count
from noren.drawing.ledger_chart import Curves
from noren.drawing.risk_map import risk_utility_map
from noren.errors import ParameterError
from noren.i18n import use_language
from noren.judgement.frontier import RiskUtilityPoint
from noren.judgement.verdict import VerdictStatus

AGE = {
    "column": "age",
    "nominal": False,
    "unit": "number",
    "width": 5.0,
    "labels": ["<20", "20", "25"],
    "others": False,
}
ITEM = {"column": "item", "nominal": True, "unit": "value", "width": 1.0, "labels": ["tea", "cup", ""], "others": True}
AGES = AGE | {"original": [1, 4, 5], "released": [2, 4.5, 3], "reconstructed": None, "unsaid": 0.05, "values": 30}
ITEMS = ITEM | {
    "original": [3, 2, 5],
    "released": [3, 1, 6],
    "reconstructed": [3, 2.5, 4.5],
    "unsaid": 0.0,
    "values": 70,
}
SIZES = {"labels": ["1", "2", "3–4"], "from": [1, 2, 3], "to": [1, 2, 4], "counts": [5, 3, 2], "members": [5, 6, 7]}
PAIR = {
    "a": "age",
    "b": "item",
    "labels_a": AGE["labels"],
    "labels_b": ITEM["labels"],
    "axis_a": AGE,
    "axis_b": ITEM,
    "original": [[1, 0, 9], [2, 4, 0], [0, 0, 8]],
    "released": [[1, 0, 8], [1, 5, 0], [0, 3, 7]],
    "reconstructed": None,
}
PLACES = [
    RiskUtilityPoint(label="k = 2", use=0.9, risk=0.5, status=VerdictStatus.BROKEN, risk_of="attacks"),
    RiskUtilityPoint(label="k = 5", use=0.5, risk=0.0, status=VerdictStatus.WITHSTANDS, risk_of="attacks"),
    RiskUtilityPoint(label="thin", use=0.4, risk=0.2, status=VerdictStatus.UNTRIED),
]


def rows(spec: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = spec["data"]["values"]
    return found


def layer(spec: dict[str, Any], mark: str) -> list[dict[str, Any]]:
    return [one for one in spec["layer"] if one["mark"]["type"] == mark]


# --- bars --------------------------------------------------------------------------------------------------


def test_bars_are_as_high_as_told() -> None:
    spec = live(bars(["a", "b"], {"rows": [3, 7]}, label_title="letter", value_title="rows"))
    assert [(row["label"], row["value"]) for row in rows(spec)] == [("a", 3), ("b", 7)]
    assert spec["encoding"]["y"]["scale"]["domain"] == [0, 7]
    assert "color" not in spec["encoding"]


def test_several_series_stand_beside_each_other_and_are_named() -> None:
    spec = live(bars(["a", "b"], {"original": [3, 7], "released": [2, 8]}))
    assert [row["value"] for row in rows(spec)] == [3, 7, 2, 8]
    colour = spec["encoding"]["color"]
    assert colour["scale"] == {"domain": ["original", "released"], "range": ["$indigo", "$teal"]}
    assert spec["encoding"]["xOffset"]["field"] == "series"


def test_labels_that_look_alike_stay_bars_of_their_own() -> None:
    spec = live(bars(["x" * 30, "x" * 31, ""], {"rows": [1, 2, 3]}))
    assert len({row["label"] for row in rows(spec)}) == 3


def test_before_and_after_share_their_axes() -> None:
    panels = live(paired_histogram(AGES))["panels"]
    assert [[row["value"] for row in rows(panel)] for panel in panels] == [[1, 4, 5], [2, 4.5, 3]]
    assert [panel["encoding"]["y"]["scale"]["domain"] for panel in panels] == [[0, 5], [0, 5]]
    higher = live(paired_histogram(AGES | {"released": [2, 9, 3]}))["panels"]
    assert [panel["encoding"]["y"]["scale"]["domain"] for panel in higher] == [[0, 9], [0, 9]]
    assert panels[0]["title"] == "original"
    assert panels[1]["title"] == "released (5.0% of the rows suppressed)"
    assert panels[0]["encoding"]["x"]["axis"]["title"] == "age, bars of 5"
    assert [panel["mark"]["color"] for panel in panels] == ["$indigo", "$teal"]


def test_the_rest_of_many_values_does_not_dwarf_the_named_ones() -> None:
    panels = live(paired_histogram(ITEMS))["panels"]
    assert len(panels) == 3
    assert [[row["value"] for row in rows(panel)] for panel in panels] == [[3, 2], [3, 1], [3, 2.5]]
    assert panels[2]["encoding"]["x"]["scale"]["domain"] == [0, 3]
    assert panels[0]["title"] == {"text": "original", "subtitle": "item (the 2 most frequent of 70 values)"}
    assert panels[0]["encoding"]["y"]["axis"]["title"] is None


def test_small_classes_are_marked() -> None:
    spec = live(counts_bars(SIZES, label_title="size", value_title="people", heights="members", risky=1))
    assert [(row["value"], row["risky"]) for row in rows(spec)] == [(5, True), (6, False), (7, False)]
    assert spec["encoding"]["color"]["condition"] == {"test": "datum.risky", "value": "$persimmon"}


def test_nothing_to_count_is_an_empty_chart() -> None:
    none: dict[str, list[Any]] = {"labels": [], "from": [], "to": [], "counts": []}
    assert rows(live(counts_bars(none, label_title="size", value_title="people"))) == []


# --- cross tabulations -------------------------------------------------------------------------------------


def test_shaded_tables_share_a_scale_that_the_rest_does_not_bend() -> None:
    original, released, changed = live(crosstab_panels(PAIR))["panels"]
    assert [row["value"] for row in rows(original)] == [1, 0, 9, 2, 4, 0, 0, 0, 8]
    assert [row["value"] for row in rows(released)] == [1, 0, 8, 1, 5, 0, 0, 3, 7]
    scales = [panel["layer"][0]["encoding"]["color"]["scale"] for panel in (original, released)]
    assert [scale["domain"] for scale in scales] == [[0, 5], [0, 5]]
    assert all(scale["clamp"] for scale in scales)
    assert original["title"] == "original (darkest: ≥ 5.0 rows)"
    assert [row["b"] for row in rows(original)[:3]] == ["tea", "cup", "all other values"]
    assert [row["value"] for row in rows(changed)] == [0, 0, -1, -1, 1, 0, 0, 3, -1]
    assert changed["layer"][0]["encoding"]["color"]["scale"]["domain"] == [-3, 0, 3]
    assert [row["sign"] for row in rows(changed)] == ["", "", "−", "−", "+", "", "", "+", "−"]


def test_what_changed_is_reckoned_from_the_reconstructed_table() -> None:
    pair = PAIR | {"reconstructed": [[1, 0, 9], [2, 4, 0], [0, 1, 7]]}
    panels = live(crosstab_panels(pair))["panels"]
    assert len(panels) == 4
    assert [row["value"] for row in rows(panels[3])] == [0, 0, 0, 0, 0, 0, 0, 1, -1]


def test_the_largest_cross_tabulation_is_few_marks() -> None:
    labels = [str(i) for i in range(20)]
    table = [[float(i * j) for i in range(20)] for j in range(20)]
    axis = AGE | {"labels": labels}
    pair = PAIR | {"labels_a": labels, "labels_b": labels, "axis_a": axis, "axis_b": axis}
    spec = live(crosstab_panels(pair | {"original": table, "released": table, "reconstructed": table}))
    assert mark_count(spec) == 5 * 400 <= MOST_MARKS


def test_too_many_marks_are_refused() -> None:
    with pytest.raises(ParameterError, match="5,001 marks"):
        live({"data": {"values": [{}] * 5_001}, "mark": "point"})


# --- risk --------------------------------------------------------------------------------------------------


def test_the_map_draws_every_place() -> None:
    spec = live(risk_utility_map(PLACES, near=True, addresses=["/a", "/b", ""]))
    (points,), (line,) = layer(spec, "point"), layer(spec, "line")
    assert [(row["use"], row["risk"]) for row in rows(points)] == [(0.9, 0.5), (0.5, 0.0), (0.4, 0.2)]
    assert [row.get("address") for row in rows(points)] == ["/a", "/b", None]
    assert points["encoding"]["href"] == {"field": "address"}
    assert [row["use"] for row in rows(line)] == [0.5, 0.9]
    assert line["mark"]["interpolate"] == "step-before"
    verdicts = points["encoding"]["shape"]["scale"]
    assert dict(zip(verdicts["domain"], verdicts["range"], strict=True)) == {
        "proved": "diamond",
        "withstands": "circle",
        "broken": "triangle-up",
        "untried": "square",
    }
    assert points["encoding"]["y"]["axis"]["title"] == "customers re-identified (down is safer)"
    said = {row["short"] for text in layer(spec, "text") for row in rows(text)}
    assert said == {"k = 2", "k = 5", "thin"}


def test_an_empty_map_is_a_chart() -> None:
    spec = live(risk_utility_map([]))
    assert mark_count(spec) == 0
    assert layer(spec, "point")[0]["encoding"]["x"]["scale"]["domain"] == [0.0, 1.0]


def test_each_attack_has_its_line_and_the_worst_is_persimmon() -> None:
    found: dict[str, list[float | None]] = {
        "jaccard": [0.1, 0.2, 0.3],
        "linkage": [None, 0.25, 0.4],
        "s1": [0.1, 0.2, 0.29],
    }
    spec = live(Curves(["2010-12", "2011-01", "2011-02"], found, {"mm": 0.35, "um": 0.01}).chart(titled=False))
    assert len(rows(spec)) == 8
    assert layer(spec, "line")[0]["encoding"]["color"]["condition"]["test"] == {"field": "attack", "equal": "linkage"}
    rule, leads = layer(spec, "rule")
    assert [row["share"] for row in rows(rule)] == [0.35]
    names = {row["attack"]: row["level"] for row in rows(layer(spec, "text")[0])}
    assert {row["attack"]: row["share"] for row in rows(leads)} == {"jaccard": 0.3, "linkage": 0.4, "s1": 0.29}
    assert names["jaccard"] == pytest.approx(0.3)
    assert names["s1"] < 0.29  # moved, so that the names do not touch
    assert names["linkage"] == pytest.approx(0.4)


@pytest.mark.parametrize(("measure", "limit"), [("mm", None), ("emm", 0.35), ("um", 0.01)])
def test_a_budget_is_drawn_against_its_own_measure(measure: str, limit: float | None) -> None:
    curves = Curves(["1", "2"], {"s1": [0.1, 0.2]}, {"emm": 0.35, "um": 0.01}, measure=measure)
    spec = live(curves.chart(titled=False))
    drawn = [row["share"] for rule in layer(spec, "rule") for row in rows(rule) if "attack" not in row]
    assert drawn == ([] if limit is None else [limit])
    if limit is not None:
        (said,) = [row["text"] for mark in layer(spec, "text")[1:] for row in rows(mark)]
        assert said.startswith(f"budget {measure.upper()} ")


def test_a_proposed_release_is_hollow() -> None:
    spec = live(Curves(["1", "2"], {"s1": [0.1, 0.2]}, proposed=True).chart(titled=False))
    assert [row["proposed"] for row in rows(spec)] == [False, True]
    assert [row for rule in layer(spec, "rule") for row in rows(rule) if "attack" not in row] == []


MADE: list[Callable[[], dict[str, Any]]] = [
    lambda: live(bars(["a", "b"], {"original": [3, 7], "released": [2, 8]})),
    lambda: live(paired_histogram(AGES)),
    lambda: live(paired_histogram(ITEMS)),
    lambda: live(counts_bars(SIZES, label_title="size", value_title="people", risky=1)),
    lambda: live(crosstab_panels(PAIR)),
    lambda: live(risk_utility_map(PLACES, near=True)),
    lambda: live(Curves(["1", "2"], {"s1": [0.1, 0.2], "s2": [None, 0.1]}, {"mm": 0.15}).chart(titled=False)),
]


@pytest.mark.parametrize("make", MADE)
def test_every_chart_is_one_that_vega_understands(make: Callable[[], dict[str, Any]]) -> None:
    for language in ("en", "ja"):
        with use_language(language):
            spec = make()
        for panel in spec.get("panels", [spec]):
            made = vl_convert.vegalite_to_vega(panel)
            assert made["marks"]
