"""The rule on points made by hand: what is taken, what lies beside it, ties, and nothing that withstands."""

from typing import Any

import pytest

from noren.study.recommend import Choice, finding, frontier_of, recommend


def point(label: str, use: float | None, risk: float | None, *, safe: bool, **more: Any) -> dict[str, Any]:
    verdict = "withstands" if safe else "broken"
    return {"label": label, "use": use, "risk": risk, "withstands": safe, "verdict": verdict} | more


TWO = point("k = 2", 0.80, 0.10, safe=False, survival=0.0)
THREE = point("k = 3", 0.71, 0.02, safe=True, survival=0.94)
FOUR = point("k = 4", 0.62, 0.01, safe=True, survival=0.99)
FIVE = point("k = 5", 0.55, 0.01, safe=True, survival=0.98)
RAW = point("raw", 1.00, 1.00, safe=False, survival=0.0)


def test_the_most_useful_that_withstands_is_taken_with_its_neighbours() -> None:
    assert recommend([RAW, TWO, THREE, FOUR, FIVE]) == [Choice(None, chosen=2, more_useful=1, safer=3)]


@pytest.mark.parametrize(
    ("points", "chosen"),
    [
        ([THREE, THREE | {"risk": 0.01}], 1),  # of equal use the one with less risk
        ([THREE, THREE | {"survival": 0.95}], 1),  # then the one that survives more
        ([THREE, dict(THREE)], 0),  # then the first
        ([FOUR, THREE], 1),
        ([THREE | {"use": None}, FOUR], 1),  # a point without a place cannot be taken
    ],
)
def test_ties(points: list[dict[str, Any]], chosen: int) -> None:
    (choice,) = recommend(points)
    assert choice.chosen == chosen


def test_where_nothing_withstands_the_safest_is_named() -> None:
    low = point("low", 0.5, 0.10, safe=False, survival=0.2)
    assert recommend([RAW, TWO, low]) == [Choice(None, safest=2)]  # less survival lost, at the same risk
    assert recommend([RAW, low | {"survival": 0.0}, TWO]) == [Choice(None, safest=2)]  # as safe, and more useful


def test_what_was_not_judged_is_neither_taken_nor_safest() -> None:
    untried = point("untried", 0.9, 0.0, safe=False) | {"verdict": "untried"}
    assert recommend([untried]) == [Choice(None)]
    assert recommend([untried, TWO]) == [Choice(None, safest=1)]
    assert recommend([]) == []


def test_uses_of_different_measures_are_not_compared() -> None:
    classes = [one | {"use_of": "table-loss"} for one in (TWO, THREE)]
    cells = [one | {"use_of": "l1-precision"} for one in (FOUR, FIVE)]
    first, second = recommend([*classes, *cells])
    assert (first.use_of, first.chosen, first.more_useful) == ("table-loss", 1, 0)
    assert (second.use_of, second.chosen, second.more_useful, second.safer) == ("l1-precision", 2, None, None)
    assert frontier_of([*classes, *cells]) == [1, 0, 2]


def test_the_frontier_has_no_point_that_another_beats() -> None:
    assert frontier_of([RAW, TWO, THREE, FOUR, FIVE]) == [3, 2, 1, 0]
    worse = point("worse", 0.6, 0.5, safe=False)
    assert frontier_of([TWO, worse]) == [0]
    assert frontier_of([THREE, dict(THREE)]) == [0, 1]  # equals beat each other not


def test_one_that_does_not_withstand_beats_none_that_does() -> None:
    lucky = point("lucky", 0.9, 0.0, safe=False)
    assert frontier_of([lucky, THREE]) == [1, 0]
    assert recommend([lucky, THREE])[0] == Choice(None, chosen=1, more_useful=0)


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([], "There is nothing to compare yet"),
        ([TWO], "One release so far; a sweep shows what else is possible"),
        ([TWO, THREE, FOUR], "Of 3 releases, 2 withstand the attacks tried; k = 3 keeps the most use of them, 71.0%"),
        ([TWO, RAW], "None of the 2 releases withstands the attacks tried; k = 2 gives least away, 10.0%"),
        ([TWO | {"verdict": "untried"}] * 2, "None of the 2 releases was attacked and measured yet"),
    ],
)
def test_what_a_map_comes_to(points: list[dict[str, Any]], said: str) -> None:
    assert finding(points) == said
