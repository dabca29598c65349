"""What is inferred, by a rule that limits it and by one that does not."""

import pytest

from noren.inference.findings import Estimate, Inferred
from noren.judgement.evidence import Facts
from noren.judgement.judging import judge
from noren.judgement.rule import Rule, get_rule
from noren.judgement.sentences import cautions, rule_sentence
from noren.judgement.verdict import Reason, VerdictStatus


def exactly(value: float) -> Estimate:
    return Estimate(value=value, low=value, high=value)


def membership(found: int, members: int = 1000, controls: int = 1000) -> Inferred:
    """An alarm above any of the highest controls finds so many members."""
    numbers = {"auc": exactly(0.9), "tpr at 0.01": exactly(0.1), "tpr at 0.1": exactly(found / members)}
    above = (found,) * (controls // 10 + 1)
    return Inferred(
        threat="membership", by="likelihood", members=members, controls=controls, numbers=numbers, above=above
    )


def attribute(right: int, of_control: int, people: int = 1000) -> Inferred:
    m, c = right / people, of_control / people
    numbers = {"success": exactly(m), "control": exactly(c), "risk": exactly((m - c) / (1 - c))}
    return Inferred(
        threat="attribute", by="vote", about="illness", members=people, controls=people, numbers=numbers,
        right=right, right_of_control=of_control,
    )  # fmt: skip


def facts(*inferred: Inferred, k: int = 11) -> Facts:
    return Facts(kind="history", people=1000, claimed={"k": k}, smallest_class=k, inferred=inferred)


def test_a_rule_without_limits_says_the_number_beside_its_word() -> None:
    verdict = judge(facts(membership(950)), "public")
    assert verdict.status == VerdictStatus.PROVED
    [said] = cautions(verdict)
    assert said.startswith("Membership can be inferred: the true positive rate is 95.0%")
    assert said.endswith("this rule does not limit it.")


def test_who_can_be_told_to_be_in_the_data_breaks_a_release_whose_rule_forbids_it() -> None:
    verdict = judge(facts(membership(950), attribute(300, 300)), "sensitive")
    assert (verdict.status, verdict.reason) == (VerdictStatus.BROKEN, Reason.TOO_MUCH_INFERRED)
    assert verdict.sentence.startswith("Broken: Membership can be inferred: the true positive rate is 95.0%")
    assert verdict.risk == pytest.approx(1 / 11)  # being named is another matter


def test_a_secret_told_beyond_control_breaks_it_too() -> None:
    verdict = judge(facts(membership(100), attribute(700, 300)), "sensitive")
    assert (verdict.status, verdict.reason) == (VerdictStatus.BROKEN, Reason.TOO_MUCH_INFERRED)
    assert (
        "illness is guessed correctly for 70.0% of the people in the data and for 30.0% of the control group, a "
        "risk of 57.1%" in verdict.sentence
    )


def test_what_seems_too_much_and_is_not_sure_is_no_safe_word() -> None:
    # 230 of 1,000 found where 100 are false alarms: 0.13 beyond, but at 1 in 2,000 it may be 0.08
    verdict = judge(facts(membership(230), attribute(310, 300)), "sensitive")
    assert (verdict.status, verdict.reason) == (VerdictStatus.UNTRIED, Reason.INFERENCE_UNSURE)
    assert "too few people" in verdict.sentence
    assert judge(facts(membership(300), attribute(310, 300)), "sensitive").status == VerdictStatus.BROKEN


def test_what_is_within_the_limits_proves_nothing() -> None:
    verdict = judge(facts(membership(190), attribute(310, 300)), "sensitive")
    assert (verdict.status, verdict.reason) == (VerdictStatus.WITHSTANDS, Reason.NOT_INFERRED_BEYOND)
    assert "9.1%" in verdict.sentence
    assert len(cautions(verdict)) == 2


@pytest.mark.parametrize(
    ("tried", "missing"),
    [((), "membership inference, attribute inference"), ((membership(100),), "attribute inference")],
)
def test_a_limit_that_nobody_tried_is_untried(tried: tuple[Inferred, ...], missing: str) -> None:
    verdict = judge(facts(*tried), "sensitive")
    assert (verdict.status, verdict.reason) == (VerdictStatus.UNTRIED, Reason.NOT_INFERRED)
    assert f"this rule limits {missing}" in verdict.sentence


def test_what_is_broken_without_inferences_stays_so() -> None:
    verdict = judge(facts(k=11).model_copy(update={"smallest_class": 3}), "sensitive")
    assert (verdict.status, verdict.reason) == (VerdictStatus.BROKEN, Reason.CLAIM_NOT_KEPT)


def test_facts_of_before_load_and_new_ones_come_back() -> None:
    kept = facts(membership(950), attribute(700, 300))
    assert Facts.model_validate(kept.model_dump(mode="json")) == kept
    old = kept.model_dump(mode="json")
    del old["inferred"]
    assert Facts.model_validate(old) == facts()


def test_a_rule_of_ones_own_may_limit_one_of_them() -> None:
    rule = get_rule({"tolerance": "1/5", "membership": "1/4"})
    assert Rule.model_validate(rule.as_dict()) == rule
    assert judge(facts(membership(950)), rule).status == VerdictStatus.BROKEN
    assert judge(facts(membership(150)), rule).status == VerdictStatus.WITHSTANDS
    assert "membership may be inferred by at most 25.0%" in rule_sentence(rule)
    assert "being in the data" not in rule_sentence(get_rule("public"))


def test_means_over_seeds_are_sure_only_where_the_draws_and_one_release_are() -> None:
    one = membership(950)
    assert one.model_copy(update={"draws": (0.85, 0.85, 0.85)}).surely(0.01) == pytest.approx(one.surely(0.01))
    assert one.model_copy(update={"draws": (0.9, 0.1, 0.5)}).surely(0.01) < 0
