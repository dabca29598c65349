"""Every case of a verdict by hand: the word, the reason, and the sentence with the numbers of the facts."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest

from noren import api
from noren.data.frames import History, Table
from noren.data.release import Release, Secret, Statement
from noren.data.samples.people import sample_people
from noren.data.schema import Schema
from noren.judgement.evidence import AttackResult, Facts, SensitiveDisclosure, TableFacts, facts_of, table_facts
from noren.judgement.frontier import RiskUtilityPoint, finding, frontier, frontier_sentence
from noren.judgement.judging import judge
from noren.judgement.outcome import Outcome, examine, people_in, run_outcome
from noren.judgement.release_facts import claimed_by
from noren.judgement.rule import RULES, get_rule
from noren.judgement.sentences import cautions, rule_sentence, verdict_label
from noren.judgement.verdict import Reason, VerdictStatus
from noren.protocols import Guess, Score
from noren.reports.report import report_html
from noren.reports.run_view import run_view

SCHEMA = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi"}, "illness": {"role": "sensitive"}}})


def tried(attack: str, named: int, right: int, *, first: int = 1, customers: int | None = None) -> AttackResult:
    """Return what an attack got whose right answers stand together, from place ``first`` on."""
    places = tuple(range(first, first + right))
    return AttackResult(
        attack=attack, named=named, right=right, customers=right if customers is None else customers, right_at=places
    )


def history(*attacks: AttackResult, **more: Any) -> Facts:
    return Facts(**{"kind": "history", "people": 100, "tried": attacks} | more)


def table(
    least: int | None = 5, *, claimed: float | None = 5, told: tuple[SensitiveDisclosure, ...] = (), **more: Any
) -> Facts:
    chance = 0.0 if least is None else 1 / least
    found = TableFacts(
        rows=4_000, rows_in_classes=4_000, classes=9, least=least, below=0.0, prosecutor=chance, journalist=chance,
        marketer=0.1, holds=None if claimed is None else least is None or least >= claimed, disclosures=told,
    )  # fmt: skip
    known = {} if claimed is None else {"k": claimed}
    return Facts(**{"kind": "table", "people": 4_000, "claimed": known, "table": found} | more)


@pytest.mark.parametrize(
    ("facts", "word", "said"),
    [
        (history(), "untried", "Untried: no attack was judged, so nothing is known about the risk of this release."),
        (
            history(tried("near", 12, 4, first=9)),
            "withstands",
            (
                "Withstands the attack tried, though nothing is proved: near names 12 people, 4 correctly, which is "
                "4.0% of the customers; 20.0% is allowed."
            ),
        ),
        (
            history(tried("near", 9, 0), tried("far", 0, 0)),
            "withstands",
            "Withstands the 2 attacks tried, though nothing is proved: none of them re-identifies anybody.",
        ),
        (
            history(tried("near", 99, 80), tried("dotted.name", 20, 1)),
            "broken",
            "Broken: near re-identifies 80.0% of the 100 people; 20.0% is allowed.",
        ),
        (
            history(tried("near", 14, 12)),
            "broken",
            (
                "Broken: of the 11 people that near is most confident about, 11 are named correctly; 9 are more than "
                "chance explains where 20.0%"
            ),
        ),
        (
            history(tried("near", 30, 4), claimed={"k": 5}, smallest_class=5),
            "proved",
            (
                "Proved: at least 5 customers share each released history, so nobody is re-identified with a "
                "probability above 20.0%, whatever an attacker does; 20.0% is allowed."
            ),
        ),
        (
            history(claimed={"k": 5}, smallest_class=3),
            "broken",
            "Broken: the promise of k = 5 is not kept: only 3 customers share some history.",
        ),
        (history(claimed={"k": 5}, smallest_class=5, audited=False), "untried", "the audit failed"),
        (history(tried("near", 9, 0), failed=("linkage",)), "withstands", "1 test did not finish: linkage."),
    ],
)
def test_what_is_said_of_a_history(facts: Facts, word: str, said: str) -> None:
    verdict = judge(facts)
    assert verdict.status == word
    assert said in verdict.sentence


@pytest.mark.parametrize(
    ("facts", "word", "said"),
    [
        (
            table(),
            "proved",
            (
                "every row is indistinguishable from at least 4 others, so looking a person up succeeds with a "
                "probability of at most 20.0%"
            ),
        ),
        (table(1), "broken", "The promise of k = 5 is not kept; the smallest class has 1 row, "),
        (table(2, claimed=None), "broken", "the smallest class has 2 rows"),
        (table(6, claimed=None), "withstands", "although the method guarantees nothing: the smallest class has 6 rows"),
        (table(None), "proved", "No released row contains anything"),
        (Facts(kind="table", people=9), "untried", "were not counted"),
        (
            table(proven_k=8.0, claimed=8),
            "proved",
            "no row can be linked to a person with a probability above 12.5% (k = 8), whatever an attacker knows",
        ),
        (table(proven_k=3.0, claimed=3), "untried", "(k = 3) where 20.0% is allowed"),
        (table(proven_k=2.0, claimed=3), "broken", "k = 2, below the 3"),
        (
            table(proven_k=3.0, claimed=3, tried=(tried("row-linkage", 4_000, 400, first=3_000),)),
            "withstands",
            "Withstands the attack tried, though only 33.3% is proved: row-linkage names 4,000 rows, 400 correctly, "
            "which is 10.0% of the people; 20.0% is allowed.",
        ),
        (
            table(proven_k=3.0, claimed=3, tried=(tried("row-linkage", 4_000, 801),)),
            "broken",
            "Broken: row-linkage re-identifies 20.0% of the 4,000 people; 20.0% is allowed.",
        ),
        (table(proven_k=3.0, claimed=3, tried=(tried("row-linkage", 60, 60),)), "broken", "more than chance explains"),
        (
            table(tried=(tried("row-linkage", 4_000, 860, first=2_000),)),
            "proved",
            "indistinguishable from at least 4 others",
        ),
        (table(claimed=None, tried=(tried("row-linkage", 4_000, 860),)), "withstands", "guarantees nothing"),
        (
            table(tried=(tried("row-linkage", 4_000, 3_000),)),
            "broken",
            (
                "Broken: every row is indistinguishable from at least 4 others, but row-linkage names 4,000 rows, "
                "3,000 correctly, which chance does not explain."
            ),
        ),
    ],
)
def test_what_is_said_of_a_table(facts: Facts, word: str, said: str) -> None:
    verdict = judge(facts)
    assert verdict.status == word
    assert said.lower() in verdict.sentence.lower()


def test_a_word_that_sounds_safe_never_stands_beside_a_number_that_does_not() -> None:
    for right in range(0, 101, 3):
        for rule in RULES.values():
            verdict = judge(history(tried("near", 100, right, first=1)), rule)
            assert not verdict.status.is_safe or (verdict.risk or 0.0) <= rule.tolerance
    lucky = judge(history(tried("near", 30, 24), claimed={"k": 5}, smallest_class=5, people=30))
    assert lucky.reason == Reason.CLAIM_REFUTED
    by_luck = judge(history(tried("near", 30, 7, first=20), claimed={"k": 5}, smallest_class=5, people=30))
    assert (by_luck.status, by_luck.risk) == (VerdictStatus.PROVED, 0.2)
    assert "This draw: 23.3% named by the attack tried, within what chance explains." in by_luck.sentence


def test_the_evidence_stands_in_the_order_of_damage() -> None:
    first, second = judge(history(tried("dotted.name", 20, 1), tried("near", 99, 80))).evidence
    assert (first.attack, first.named, first.right, first.customers, first.exceeds) == ("near", 99, 80, 0.8, True)
    assert (first.chance, round(first.rate, 3)) == (0.01, 0.808)
    assert first.low < first.rate < first.high
    assert (second.attack, second.named, second.right, second.exceeds) == ("dotted.name", 20, 1, False)


def test_another_rule_judges_the_same_facts() -> None:
    facts = history(claimed={"k": 5}, smallest_class=5)
    assert [str(judge(facts, rule).status) for rule in ("public", "partner", "inside")] == [
        "broken",
        "proved",
        "proved",
    ]
    assert judge(facts, "0.1").rule.least_k == 10
    assert "9.1% (k = 11)" in rule_sentence(get_rule("public"))


def test_an_unjudged_attack_tells_nothing_of_safety() -> None:
    secret = Secret(pl.DataFrame({"pseudonym": [], "customer": []}), pl.Series([0]), 0)
    schema = Schema.preset("pwscup2018")
    empty = History(pl.DataFrame(schema={c.name: c.dtype for c in schema.columns}), schema)
    outcome = Outcome("public", Release(empty, secret, Statement("hand")), {"x": Guess("x", pl.DataFrame())}, people=10)
    assert judge(outcome).status == VerdictStatus.UNTRIED


# --- tables ----------------------------------------------------------------------------------------------------------


def told(column: str, certain: int | None, likely: int | None) -> SensitiveDisclosure:
    return SensitiveDisclosure(column=column, certain=certain, likely=likely, least=2 if certain == 0 else 1)


def test_a_class_of_one_sensitive_value_is_a_warning() -> None:
    harmless = judge(table(told=(told("income", 0, 0), told("illness", 0, 700))))
    assert harmless.status == VerdictStatus.PROVED
    assert cautions(harmless) == [
        "The illness of 700 of 4,000 people can be guessed: at least 80.0% of their class have the same."
    ]
    leaking = judge(table(told=(told("illness", 649, 649), told("income", 1, 1))))
    assert leaking.status == VerdictStatus.BROKEN
    worst, other, cure = cautions(leaking)
    assert worst.startswith("649 of 4,000 people are in classes where everyone has the same illness: ")
    assert worst in leaking.sentence
    assert other.startswith("1 of 4,000 people is in a class where everyone has the same income: ")
    assert "(ℓ = 2)" in cure


def test_what_nobody_counted_is_not_called_safe() -> None:
    notes = {"rows": 4_000, "sensitive": {"illness": {"l_distinct": 1.0}}, "holds": True}
    found = table_facts(Score(5.0, {"prosecutor": 0.2}, notes), 5)
    verdict = judge(table().model_copy(update={"table": found}))
    assert verdict.status == VerdictStatus.BROKEN
    assert "discloses illness of all its members" in verdict.sentence


def released(rows: Sequence[tuple[str | None, str | None]]) -> Outcome:
    """Return rows of age and illness as they are, judged by their classes; the method claims k = 2."""
    data = Table(pl.DataFrame(rows, schema=["age", "illness"], orient="row"), SCHEMA)
    release = Release.of_aligned(data, data, Statement("mondrian", {"k": 2}, notes={"classes": 2}))
    return examine(data, release, measures=["classes"], label="by hand")


def test_a_class_with_one_value_tells_it_of_everybody_in_it() -> None:
    # the two in their twenties have flu; the five in their thirties differ, though four of five have gout
    verdict = judge(released([("20s", "flu")] * 2 + [("30s", "gout")] * 4 + [("30s", "flu")]), "1/2")
    sentence = "2 of 7 people are in classes where everyone has the same illness: the class discloses it."
    assert (verdict.status, verdict.sentence) == (VerdictStatus.BROKEN, f"Broken: {sentence}")
    assert cautions(verdict)[:2] == [
        sentence,
        "The illness of 5 of 7 people can be guessed: at least 80.0% of their class have the same.",
    ]


def test_two_values_in_each_class_are_safe_and_what_is_not_said_tells_nothing() -> None:
    safe = judge(released([("20s", "flu"), ("20s", "gout"), ("30s", None), ("30s", None), ("30s", None)]), "1/2")
    assert safe.status == VerdictStatus.PROVED
    assert cautions(safe) == []
    assert "every row is indistinguishable from at least 1 others" in safe.sentence


def test_the_report_and_the_page_say_the_same_of_people_by_brute_force() -> None:
    data = sample_people(rows=800, seed=3)
    outcome = run_outcome(data, "mondrian", k=5, seed=1, attacks=[], measures=["classes"])
    public = outcome.release.public
    quasi = [c.name for c in public.schema.columns if c.role == "quasi"]
    ills: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for row in public.texts().to_dicts():
        ills[tuple(row[name] for name in quasi)][row["illness"]] += 1
    alike = sum(sum(found.values()) for found in ills.values() if len(found) == 1)
    assert alike > 0
    facts = run_view(data, outcome).facts
    assert facts.table is not None
    assert {one.column: one.certain for one in facts.table.disclosures}["illness"] == alike
    assert judge(facts).status == VerdictStatus.BROKEN
    page = report_html(data, [outcome])
    assert f"{alike} of 800 people are in classes where everyone has the same illness" in page
    assert verdict_label(VerdictStatus.BROKEN) in page
    assert "◆ proved" not in page


def test_asking_for_two_values_of_each_sensitive_column_makes_it_safe() -> None:
    data = sample_people(rows=800, seed=3)
    outcome = run_outcome(data, "mondrian", k=5, l=2, seed=1, attacks=[], measures=["classes"])
    assert judge(outcome).status == VerdictStatus.PROVED
    found = facts_of(outcome).table
    assert found is not None
    assert {one.certain for one in found.disclosures} == {0}
    assert api.measure(data, outcome.release, "classes").notes["holds"] is True


# --- several releases ------------------------------------------------------------------------------------------------

SAFE = RiskUtilityPoint(label="k = 3", status="withstands", use=0.562, risk=0.04)
SAFER = RiskUtilityPoint(label="k = 6", status="proved", use=0.4, risk=0.0)
BROKEN = RiskUtilityPoint(label="names only", status="broken", use=1.0, risk=0.8)
UNTRIED = RiskUtilityPoint(label="raw", use=1.0)


@pytest.mark.parametrize(
    ("places", "said"),
    [
        (
            [BROKEN, SAFE, SAFER, UNTRIED],
            "2 of 4 releases meet the rule; k = 3 (withstands) keeps the most utility, 56.2%",
        ),
        ([BROKEN, SAFE], "1 of 2 releases meets the rule: k = 3 (withstands) keeps 56.2% of the utility"),
        ([BROKEN, BROKEN], "None of the 2 releases meets the rule; names only has the lowest risk, 80.0%"),
        ([BROKEN], "names only does not meet the rule: its risk is 80.0%"),
        ([UNTRIED, UNTRIED], "None of the 2 releases has been judged yet"),
        ([UNTRIED], "The release has not been judged yet"),
        ([SAFE.model_copy(update={"use": None})] * 2, "2 of 2 releases meet the rule"),
        ([], "There is nothing to compare yet"),
    ],
)
def test_the_finding_of_several(places: list[RiskUtilityPoint], said: str) -> None:
    assert finding(places) == said


def test_braces_in_a_label_are_only_text() -> None:
    odd = SAFE.model_copy(update={"label": "{label} {0}"})
    assert "{label} {0} (withstands)" in finding([odd, BROKEN])


def test_the_frontier_keeps_what_no_other_beats() -> None:
    def places(*pairs: tuple[float, float]) -> list[RiskUtilityPoint]:
        return [RiskUtilityPoint(label=f"{use}", use=use, risk=risk, status="withstands") for use, risk in pairs]

    assert frontier(places((1.0, 1.0), (0.6, 0.0), (0.5, 0.0), (0.4, 0.0))) == [1, 0]
    assert frontier(places((0.5, 0.2), (0.5, 0.2))) == [0, 1]
    assert frontier(places((0.2, 0.1), (0.9, 0.1), (0.9, 0.3))) == [1]


def test_the_frontier_in_words() -> None:
    a, b, c = (RiskUtilityPoint(label=x, status="withstands", use=use, risk=risk) for x, use, risk in
               (("a", 0.5, 0.0), ("b", 0.9, 0.5), ("c", 0.4, 0.1)))  # fmt: skip
    assert frontier_sentence([a, b]).startswith("No release is worse than another")
    only = "Of the 2 releases that meet the rule, one is at least as safe and as useful as every other: a."
    assert frontier_sentence([a, c]) == only
    assert frontier_sentence([a, b, c]).startswith("Of the 3 releases that meet the rule, 2 are on the Pareto frontier")
    assert frontier_sentence([a, b, c]).endswith(": a, b.")


def test_people_are_customers_or_rows(history: History) -> None:
    schema = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi"}}})
    assert (people_in(history), people_in(Table.of({"age": ["1", "1"]}, schema))) == (30, 2)


def test_what_a_chain_claims_is_what_its_last_step_claims() -> None:
    chain = Statement.of_chain([Statement("thin", {}), Statement("mondrian", {"k": 5})])
    assert claimed_by(chain) == {"k": 5}
