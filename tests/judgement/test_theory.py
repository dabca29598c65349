"""What docs/theory/judgement.md claims, under brute force and simulation."""

from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from math import comb, factorial

import numpy as np
import pytest

from noren import api
from noren.data.compatibility import class_sizes
from noren.data.release import Secret
from noren.judgement.evidence import AttackResult, Facts
from noren.judgement.judging import judge
from noren.judgement.outcome import Outcome
from noren.judgement.rule import RULES, Rule
from noren.judgement.verdict import Reason, VerdictStatus
from noren.kernels.judging.composition import class_tail
from noren.kernels.judging.shares import share_interval
from noren.kernels.judging.threshold import threshold
from noren.methods import methods


def tried(right: list[bool], attack: str = "hand") -> AttackResult:
    """What an attack got whose answers are right or wrong in this order; each names another customer."""
    places = tuple(i for i, hit in enumerate(right, start=1) if hit)
    return AttackResult(attack=attack, named=len(right), right=len(places), customers=len(places), right_at=places)


def history(*attacks: AttackResult, people: int = 1000, k: int | None = None, smallest: int | None = None) -> Facts:
    claimed = {} if k is None else {"k": k}
    return Facts(kind="history", people=people, claimed=claimed, smallest_class=smallest, tried=attacks)


# --- a guarantee ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 3, 4, 5, 6])
def test_hits_in_a_class_are_dominated_by_a_poisson_variable(size: int) -> None:
    """Whoever is named of a class: factorial moments, and so the moment-generating function, are at most Poisson's."""
    everyone = list(permutations(range(size)))
    for named in range(1, size + 1):
        hits = [sum(one[i] == i for i in range(named)) for one in everyone]
        for j in range(named + 1):
            moment = Fraction(sum(comb(hit, j) for hit in hits), len(everyone))
            assert moment <= Fraction(named, size) ** j / factorial(j)
        for s in range(1, named + 1):
            assert sum(hit >= s for hit in hits) / len(hits) <= class_tail(named, s, size) + 1e-12


@pytest.mark.parametrize(("named", "needed"), [(60, 28), (200, 68), (400, 118), (2_000, 481)])
def test_how_many_hits_refute_classes_of_five(named: int, needed: int) -> None:
    """The thresholds of the Poisson tail at alpha/20; the product bound needs 38, 104, 192 and 853."""
    for right, reason in ((needed - 1, Reason.GUARANTEE), (needed, Reason.CLAIM_REFUTED)):
        one = AttackResult(attack="a", named=named, right=right, customers=right, right_at=tuple(range(1, right + 1)))
        assert judge(history(one, people=named, k=5, smallest=5), "partner").reason == reason


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("k", [2, 3, 4, 5, 10, 11, 12])
def test_a_guarantee_is_proved_exactly_where_one_in_k_is_allowed(name: str, k: int) -> None:
    verdict = judge(history(k=k, smallest=k), name)
    proved = Fraction(1, k) <= RULES[name].tolerance
    limited = name == "sensitive"  # which also limits what nobody tried here
    assert verdict.status == (
        VerdictStatus.BROKEN if not proved else VerdictStatus.UNTRIED if limited else VerdictStatus.PROVED
    )
    assert verdict.guarantee is not None
    assert verdict.guarantee.k == k


def test_luck_within_classes_is_no_refutation_and_a_leak_is() -> None:
    lucky = tried([True] * 26 + [False] * 74)
    verdict = judge(history(lucky, people=100, k=5, smallest=5), "partner")
    assert (verdict.status, verdict.risk, verdict.evidence[0].exceeds) == (VerdictStatus.PROVED, 0.2, False)
    assert "26.0%" in verdict.sentence
    leaking = tried([True] * 80 + [False] * 20)
    verdict = judge(history(leaking, people=100, k=5, smallest=5), "partner")
    assert (verdict.status, verdict.reason) == (VerdictStatus.BROKEN, Reason.CLAIM_REFUTED)


def test_honest_classes_are_all_but_never_called_refuted() -> None:
    generator = np.random.default_rng(7)
    for k in (2, 3, 5):
        for _trial in range(200):
            hits = np.concatenate([generator.permutation(k) == np.arange(k) for _class in range(100 // k)])
            verdict = judge(history(tried(hits.tolist()), people=len(hits), k=k, smallest=k), str(Fraction(1, k)))
            assert verdict.status == VerdictStatus.PROVED


def test_a_claim_that_is_not_counted_is_none() -> None:
    assert judge(history(k=5, smallest=4), "partner").reason == Reason.CLAIM_NOT_KEPT
    assert (
        judge(history(smallest=9), "partner").status == VerdictStatus.UNTRIED
    )  # equal histories, but nobody claims them
    unaudited = history(k=5, smallest=5).model_copy(update={"audited": False})
    assert judge(unaudited, "partner").reason == Reason.NOT_AUDITED


def test_alike_pseudonyms_of_one_person_prove_nothing() -> None:
    """Of months under names of their own, five that are alike may be five months of one customer."""
    shop = api.sample(customers=6, rows=1200, items=15, seed=2, schema="pwscup2018")
    steps = (methods.create("monthly-pseudonyms"), methods.create("generalize-by-count", k=5))
    release = api.protect(shop, methods.create("chain", steps=steps), seed=1, audit=False)
    assert min(class_sizes(release.public)) >= 5  # type: ignore[arg-type]
    published = replace(release, secret=Secret.empty())
    for one in (release, published):
        verdict = judge(Outcome("months", one, people=6), "partner")
        assert (verdict.status, verdict.guarantee) == (VerdictStatus.UNTRIED, None)
    whole = api.protect(shop, "generalize-by-count", k=5, seed=1)
    assert judge(Outcome("whole", whole, people=6), "partner").status == VerdictStatus.PROVED


# --- attacks ----------------------------------------------------------------------------------------------------------


def test_more_than_the_tolerance_named_is_never_called_safe() -> None:
    for name, rule in RULES.items():
        for people in (1, 2, 10, 97):
            for right in range(people + 1):
                verdict = judge(history(tried([False] * (people - right) + [True] * right), people=people), name)
                if Fraction(right, people) > rule.tolerance:
                    assert verdict.status == VerdictStatus.BROKEN, (name, people, right)
                assert not (verdict.status.is_safe and (verdict.risk or 0) > float(rule.tolerance) + 1e-9)


def test_exactly_the_tolerance_is_allowed() -> None:
    assert judge(history(tried([False] * 40 + [True] * 10), people=50), "partner").status == VerdictStatus.WITHSTANDS
    assert judge(history(tried([False] * 39 + [True] * 11), people=50), "partner").status == VerdictStatus.BROKEN


def test_few_who_are_named_for_sure_break_a_release() -> None:
    verdict = judge(history(tried([True] * 12)), "partner")
    assert (verdict.status, verdict.reason) == (VerdictStatus.BROKEN, Reason.BEYOND_CHANCE)
    assert verdict.evidence[0].customers < 0.02
    assert judge(history(tried([True] * 3)), "partner").status == VerdictStatus.WITHSTANDS


def test_the_surest_answers_count_though_the_rest_is_wrong() -> None:
    surest_first = tried([True] * 15 + [False] * 185)
    assert judge(history(surest_first), "partner").status == VerdictStatus.BROKEN
    assert judge(history(surest_first), Rule(tolerance="1/5", answers="all")).status == VerdictStatus.WITHSTANDS


def test_the_sharp_bound_refutes_what_the_papers_lets_pass() -> None:
    """Of 99 named, 60 are right: the sharp bound needs fewer, the paper's more; the worst attack comes first."""
    half, none, sure = tried([i % 5 < 3 for i in range(99)], "half"), tried([False] * 99, "none"), tried([True] * 9)
    found = {
        bound: judge(history(half, none, sure, people=100_000), Rule(tolerance=Fraction(1, 3), bound=bound))
        for bound in ("sharp", "paper")
    }
    beyond = {bound: {one.attack: one.beyond_chance for one in verdict.evidence} for bound, verdict in found.items()}
    assert beyond["sharp"] == {"half": True, "none": False, "hand": True}
    assert beyond["paper"] == {"half": False, "none": False, "hand": True}
    assert found["paper"].evidence[0].attack == "hand"
    assert (found["sharp"].evidence[-1].attack, found["sharp"].evidence[-1].best_right) == ("none", 0)


def test_a_lucky_beginning_refutes_nothing() -> None:
    """24 of the first 35 would be enough had 35 been said beforehand; among 200 answers that is luck."""
    lucky = tried([i % 3 != 2 for i in range(35)] + [False] * 165)
    assert threshold(35, "sharp") <= lucky.right == 24
    assert judge(history(lucky, people=100_000), "inside").status == VerdictStatus.WITHSTANDS


@pytest.mark.parametrize("p", [Fraction(1, 11), Fraction(1, 5), Fraction(1, 3)])
def test_releases_within_the_tolerance_are_called_broken_in_alpha_of_all_cases_at_most(p: Fraction) -> None:
    rule = Rule(tolerance=p, alpha=Fraction(1, 10), attackers=1)
    generator = np.random.default_rng(11)
    alarms = 0
    for _trial in range(400):  # independent answers satisfy H0; the share of customers is far below the tolerance
        right = (generator.random(120) < float(p)).tolist()
        alarms += judge(history(tried(right), people=100_000), rule).status == VerdictStatus.BROKEN
    assert alarms / 400 <= 0.1 + 3 * (0.1 * 0.9 / 400) ** 0.5


def test_nobody_named_and_nothing_tried() -> None:
    verdict = judge(history(tried([])), "partner")
    assert (verdict.status, verdict.reason) == (VerdictStatus.WITHSTANDS, Reason.NOBODY_NAMED)
    assert judge(history(), "partner").reason == Reason.NOT_TRIED


def test_the_interval_holds_what_it_says() -> None:
    """Clopper and Pearson: by brute force over all outcomes of ten answers, the chance is covered in 95 % or more."""
    for chance in (0.05, 0.2, 0.5, 0.9):
        covered = sum(
            comb(10, right) * chance**right * (1 - chance) ** (10 - right)
            for right in range(11)
            if share_interval(right, 10)[0] <= chance <= share_interval(right, 10)[1]
        )
        assert covered >= 0.95


def test_facts_come_back_from_the_disk_as_they_were() -> None:
    facts = history(tried([True, False, True]), people=50, k=3, smallest=3)
    assert Facts.model_validate_json(facts.model_dump_json()) == facts
    assert judge(Facts.model_validate(facts.model_dump(mode="json")), "inside") == judge(facts, "inside")
