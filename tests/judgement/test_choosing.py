"""What is called a choice, what a map leaves out, and words that cannot be read both ways."""

import pytest

from noren.judgement.evidence import AttackResult, Facts
from noren.judgement.frontier import (
    RiskUtilityPoint,
    combined_point,
    far_beyond,
    far_sentence,
    frontier_sentence,
    releasable_points,
)
from noren.judgement.judging import judge
from noren.judgement.rule import get_rule
from noren.judgement.sentences import attack_outcome_text, headline_sentence, remarks
from noren.judgement.verdict import Verdict

RAW = RiskUtilityPoint(label="raw", status="broken", use=1.0, risk=0.99)
FOUR = RiskUtilityPoint(label="k = 4", status="broken", use=0.7, risk=0.25)
FIVE = RiskUtilityPoint(label="k = 5", status="proved", use=0.6, risk=0.2)
SIX = RiskUtilityPoint(label="k = 6", status="proved", use=0.5, risk=0.16)
WORSE = RiskUtilityPoint(label="worse", status="withstands", use=0.4, risk=0.2)
PARTNER = get_rule("partner")


def test_nothing_that_names_nearly_everybody_is_worth_a_choice() -> None:
    assert releasable_points([RAW, FOUR, FIVE, SIX, WORSE]) == [3, 2]
    said = frontier_sentence([RAW, FOUR, FIVE, SIX, WORSE])
    assert said.startswith("Of the 3 releases that meet the rule, 2 are on the Pareto frontier")
    assert said.endswith(": k = 6, k = 5.")
    assert frontier_sentence([RAW, FIVE]).endswith("as every other: k = 5.")
    assert frontier_sentence([RAW, FOUR]) == "No release meets the rule."


@pytest.mark.parametrize(("rule", "far"), [("public", [RAW, FOUR]), ("partner", [RAW]), ("inside", [RAW])])
def test_what_is_broken_at_more_than_twice_the_tolerance_is_far(rule: str, far: list[RiskUtilityPoint]) -> None:
    assert [one for one in (RAW, FOUR, FIVE, WORSE) if far_beyond(one, get_rule(rule))] == far


def test_several_runs_are_the_worst_verdict_the_mean_use_and_the_highest_risk() -> None:
    assert combined_point([FIVE, FOUR, SIX]) == RiskUtilityPoint(label="k = 4", status="broken", use=0.6, risk=0.25)
    assert combined_point([SIX, RiskUtilityPoint(label="k = 6", status="untried")]) == SIX.model_copy(
        update={"status": "untried"}
    )


def test_what_is_not_drawn_is_one_sentence() -> None:
    assert far_sentence([], PARTNER) == ""
    assert far_sentence([RAW], PARTNER) == (
        "Not drawn: raw. It does not meet the rule: its risk is 99.0%, and 20.0% is allowed."
    )
    assert "of these 2 meets the rule: their risk is 99.0%, and" in far_sentence([RAW, RAW], PARTNER)
    assert far_sentence([RAW, FOUR], PARTNER) == (
        "Not drawn: raw; k = 4. None of these 2 meets the rule: their risk is 25.0% – 99.0%, and 20.0% is allowed."
    )


def attacked(hits: int, **more: object) -> Verdict:
    """Return the verdict on 100 customers of whom an attack names each, so many rightly, spread over its answers."""
    at = tuple(range(1, 101, 100 // max(hits, 1)))[:hits]
    tried = AttackResult(attack="jaccard", named=100, right=hits, customers=hits, right_at=at)
    return judge(Facts(kind="history", people=100, tried=(tried,), **more), PARTNER)


def test_an_attack_is_told_by_whom_it_named() -> None:
    broken, withstood, nobody = attacked(50), attacked(3), attacked(0)
    assert attack_outcome_text(broken.evidence[0], broken) == "re-identified 50 of 100: more than is allowed"
    assert attack_outcome_text(withstood.evidence[0], withstood) == "re-identified 3 of 100: withstood"
    assert attack_outcome_text(nobody.evidence[0], nobody) == "re-identified nobody"


def test_what_chance_explains_stands_beside_a_proof_and_not_in_its_headline() -> None:
    lucky = attacked(25, claimed={"k": 5}, smallest_class=5)
    assert str(lucky.status) == "proved"
    outcome = attack_outcome_text(lucky.evidence[0], lucky)
    assert outcome == "re-identified 25 of 100, which chance explains: the proof holds"
    assert headline_sentence(lucky).endswith("whatever an attacker does; 20.0% is allowed.")
    drawn, not_covered = remarks(lucky)
    by_chance = "Expected: at most 20.0%. This draw: 25.0% named by the attack tried, within what chance explains."
    assert drawn == by_chance
    assert not_covered.startswith("Not covered: whether someone is in the data, ")
    assert lucky.sentence == f"{headline_sentence(lucky)} {drawn} {not_covered}"
    rare = attacked(38, claimed={"k": 5}, smallest_class=5)  # below alpha, and above alpha over 20 attackers
    assert str(rare.status) == "proved"
    assert "chance explains" not in rare.sentence
    assert (
        "38.0% named, which happens by chance with a probability of at most 0.17%; this is rare, but" in rare.sentence
    )


def test_what_broke_down_is_told_beside_the_headline() -> None:
    half = attacked(3, failed=("linkage",))
    assert remarks(half)[-1] == "1 test did not finish: linkage."
    assert "linkage" not in headline_sentence(half)
    assert remarks(attacked(50, failed=("linkage",))) == []
