"""The rule on places made by hand: what is taken, what lies beside it, ties, and nothing that may be handed out."""

from typing import Any

import pytest

from noren.judgement.frontier import Choice, RiskUtilityPoint, finding, frontier, recommend


def place(label: str, use: float | None, risk: float | None, word: str, **more: Any) -> RiskUtilityPoint:
    return RiskUtilityPoint(label=label, use=use, risk=risk, status=word, **more)


def changed(one: RiskUtilityPoint, **values: Any) -> RiskUtilityPoint:
    return one.model_copy(update=values)


TWO = place("k = 2", 0.80, 0.30, "broken")
THREE = place("k = 3", 0.71, 0.02, "withstands")
FOUR = place("k = 4", 0.62, 0.01, "withstands")
FIVE = place("k = 5", 0.55, 0.01, "proved")
RAW = place("raw", 1.00, 1.00, "broken")


def test_the_most_useful_that_may_be_handed_out_is_taken_with_its_neighbours() -> None:
    assert recommend([RAW, TWO, THREE, FOUR, FIVE]) == [Choice(None, chosen=2, more_useful=1, safer=3)]


@pytest.mark.parametrize(
    ("places", "chosen"),
    [
        ([THREE, changed(THREE, status=FIVE.status, risk=0.2)], 1),  # of equal use what is proved
        ([THREE, changed(THREE, risk=0.01)], 1),  # then the one with less risk
        ([THREE, THREE], 0),  # then the first
        ([FIVE, THREE], 1),  # more use before a proof
        ([changed(THREE, use=None), FOUR], 1),  # what has no place cannot be taken
    ],
)
def test_ties(places: list[RiskUtilityPoint], chosen: int) -> None:
    (choice,) = recommend(places)
    assert choice.chosen == chosen


def test_a_proof_is_safer_than_attacks_that_failed() -> None:
    (choice,) = recommend([FOUR, FIVE])
    assert (choice.chosen, choice.safer) == (0, 1)
    (choice,) = recommend([FOUR, changed(FIVE, risk=0.2)])  # proved, but at a higher risk
    assert choice.safer is None


def test_where_nothing_may_be_handed_out_the_safest_is_named() -> None:
    low = place("low", 0.5, 0.30, "broken")
    assert recommend([RAW, low, TWO]) == [Choice(None, safest=2)]  # as safe, and more useful
    assert recommend([RAW, changed(low, risk=0.2), TWO]) == [Choice(None, safest=1)]


def test_what_was_not_judged_is_neither_taken_nor_safest() -> None:
    untried = place("untried", 0.9, 0.0, "untried")
    assert recommend([untried]) == [Choice(None)]
    assert recommend([untried, TWO]) == [Choice(None, safest=1)]
    assert recommend([]) == []


def test_uses_of_different_measures_are_not_compared() -> None:
    classes = [changed(one, use_of="table-loss") for one in (TWO, THREE)]
    cells = [changed(one, use_of="l1-precision") for one in (FOUR, changed(FIVE, risk=0.1))]
    first, second = recommend([*classes, *cells])
    assert (first.use_of, first.chosen, first.more_useful) == ("table-loss", 1, 0)
    assert (second.use_of, second.chosen, second.more_useful, second.safer) == ("l1-precision", 2, None, None)
    assert frontier([*classes, *cells]) == [1, 0, 2]


def test_the_frontier_has_no_place_that_another_beats() -> None:
    assert frontier([RAW, TWO, THREE, FOUR, FIVE]) == [3, 2, 1, 0]
    assert frontier([TWO, place("worse", 0.6, 0.5, "broken")]) == [0]
    assert frontier([THREE, THREE]) == [0, 1]  # equals beat each other not


def test_what_may_not_be_handed_out_beats_nothing_that_may() -> None:
    lucky = place("lucky", 0.9, 0.0, "untried")
    assert frontier([lucky, THREE]) == [1, 0]
    assert recommend([lucky, THREE])[0] == Choice(None, chosen=1, more_useful=0)


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ([], "There is nothing to compare yet"),
        ([TWO, THREE, FOUR], "2 of 3 releases meet the rule; k = 3 (withstands) keeps the most utility, 71.0%"),
        ([TWO, RAW], "None of the 2 releases meets the rule; k = 2 has the lowest risk, 30.0%"),
        ([place("untried", 0.9, None, "untried")] * 2, "None of the 2 releases has been judged yet"),
    ],
)
def test_what_a_map_comes_to(places: list[RiskUtilityPoint], said: str) -> None:
    assert finding(places) == said


def test_needed_answers_decide_between_safe_settings_before_the_use() -> None:
    places = [RAW, TWO, THREE, FOUR, FIVE]
    (by_use,) = recommend(places)
    assert by_use.chosen is not None
    safe = [at for at, place in enumerate(places) if place.status.is_safe]
    other = next(at for at in safe if at != by_use.chosen)
    fewest = [(0 if at == other else 1, 0.5) for at in range(len(places))]
    assert recommend(places, fewest)[0].chosen == other
    nearest = [(1, 0.5 if at == other else 0.6) for at in range(len(places))]
    assert recommend(places, nearest)[0].chosen == other
    unsafe = [(0 if at not in safe else 1, 0.5) for at in range(len(places))]
    assert recommend(places, unsafe) == recommend(places)
