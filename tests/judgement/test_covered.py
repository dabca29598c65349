"""A verdict covers everything published: unknown columns, claims that are counted anew, names, seeds, persons."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

import noren
from noren import api
from noren.data.frames import History, Table
from noren.data.release import Release, Statement
from noren.data.samples.people import sample_people
from noren.data.schema import Schema
from noren.errors import SchemaError
from noren.execution.engine import ReleaseCounts
from noren.judgement.evidence import Facts, facts_of
from noren.judgement.judging import judge, verdict
from noren.judgement.outcome import Outcome, examine
from noren.judgement.release_facts import release_facts
from noren.judgement.rule import Rule, get_rule
from noren.judgement.sentences import public_sentence, remarks, rule_sentence
from noren.judgement.verdict import Reason, VerdictStatus

SHOP = Schema.of({"columns": {"customer": {"role": "customer"}, "date": {"role": "date"}, "item": {"role": "item"}}})


def people(**roles: dict[str, Any]) -> Table:
    """Return 24 people in two classes of twelve, with a column that is everybody's own."""
    distance = {"role": "other", "type": "decimal"}
    columns = {"age": {"role": "quasi"}, "distance": distance, "illness": {"role": "sensitive"}} | roles
    rows = {
        "age": ["20s", "30s"] * 12,
        "distance": [number + 0.25 for number in range(24)],
        "illness": ["flu", "flu", "gout", "gout"] * 6,
    }
    return Table.of(rows, Schema.of({"kind": "table", "columns": columns}))


def by_classes(data: Table) -> Outcome:
    statement = Statement("mondrian", {"k": 11, "l": 2}, notes={"classes": 2})
    release = Release.of_aligned(data, data, statement, scan=False)
    return examine(data, release, attacks=[], measures=["classes"])


# --- columns ---------------------------------------------------------------------------------------------------------


def test_a_unique_column_of_role_other_counts_as_known() -> None:
    found = judge(by_classes(people()), "public")
    assert (found.status, found.reason, found.risk) == (VerdictStatus.BROKEN, Reason.CLASS_TOO_SMALL, 1.0)
    assert "published unchanged and counted as known: distance. With these, the smallest" in found.sentence


def test_a_column_declared_unknown_is_listed_in_the_verdict() -> None:
    found = judge(by_classes(people(distance={"role": "other", "type": "decimal", "known": False})), "public")
    assert found.status == VerdictStatus.PROVED
    assert "assuming an attacker does not know: distance, illness; 9.1% is allowed." in found.sentence
    assert "An attacker who also knows distance, illness would name 100% of the rows." in remarks(found)
    assert found.as_dict()["assumed_unknown"] == ["distance", "illness"]


def test_known_columns_that_cut_classes_can_tell_a_sensitive_value() -> None:
    data = people()
    data = replace(data, frame=data.frame.with_columns(distance=(pl.col("illness") == "flu").cast(pl.Float64)))
    found = judge(by_classes(data), "1/6")
    assert (found.status, found.reason) == (VerdictStatus.BROKEN, Reason.SENSITIVE_DISCLOSED)
    assert "agree in all known columns discloses illness" in found.sentence


def test_without_a_sensitive_column_nobody_judged_what_a_class_shares() -> None:
    plain = people(distance={"role": "quasi"}, illness={"role": "quasi"})
    data = replace(plain, frame=plain.frame.with_columns(distance=pl.lit("1"), illness=pl.lit("flu")))
    found = judge(by_classes(replace(data, frame=data.frame)), "public")
    assert "No column is marked as sensitive, so what all members of a class share was not judged." in remarks(found)


def test_only_a_column_of_role_other_can_be_unknown() -> None:
    with pytest.raises(SchemaError, match="known = false"):
        Schema.of({"kind": "table", "columns": {"age": {"role": "quasi", "known": False}}})


def shop(customers: int = 30) -> History:
    rows = {
        "customer": [f"c{number // 3:03}" for number in range(3 * customers)],
        "date": ["2024-01-01"] * 3 * customers,
        "item": ["a", "b", "c"] * customers,
        "session": [f"s{number:05}" for number in range(3 * customers)],
    }
    columns = {c.name: c.model_dump(exclude={"name"}) for c in SHOP.columns} | {"session": {"role": "other"}}
    return History.of(rows, Schema.of({"columns": columns}))


def test_a_column_by_which_pseudonyms_are_singled_out_breaks_a_history() -> None:
    data = shop()
    release = api.protect(data, "pseudonymize", seed=2**40, keep=["session"])
    found = judge(examine(data, release, attacks=[], measures=[]))
    assert (found.status, found.reason, found.risk) == (VerdictStatus.BROKEN, Reason.SINGLED_OUT, 1.0)
    assert "100% of the pseudonyms have a value of session that nobody else has" in found.sentence


def test_a_public_column_of_names_breaks_what_is_proved() -> None:
    facts = Facts(kind="history", people=50, claimed={"k": 5}, smallest_class=5, identifying=("Customer Name",))
    found = judge(facts)
    assert (found.status, found.reason, found.risk) == (VerdictStatus.BROKEN, Reason.IDENTIFIED, 1.0)


# --- claims ----------------------------------------------------------------------------------------------------------


def classes_of_four() -> Facts:
    return Facts(kind="history", people=60, claimed={"k": 4}, smallest_class=4)


def test_fewer_candidates_than_the_rule_asks_for_break_a_release_without_an_attack() -> None:
    found = judge(classes_of_four(), "partner")
    assert (found.status, found.reason, found.risk) == (VerdictStatus.BROKEN, Reason.CLASS_TOO_SMALL, 0.25)
    assert "only 4 customers share some history, and each is re-identified with a probability of up to 25.0%" in str(
        found.sentence
    )


def test_the_k_of_retention_is_computed_anew() -> None:
    data = sample_people(rows=300, seed=1)
    release = api.protect(data, "retention", k=5, attributes=["sex", "education"], seed=2**40)
    assert verdict(data, release, "partner", attacks=[]).status == VerdictStatus.PROVED
    said = release.statement
    for notes, k in (({"k": 50.0}, 5), ({"rows": 10**6}, 1)):  # with other rows than there are, nothing counts
        forged = replace(
            release, statement=replace(said, parameters={**said.parameters, "k": 50.0}, notes={**said.notes, **notes})
        )
        found = judge(Outcome("forged", forged), "partner")
        assert (found.status, found.reason) == (VerdictStatus.BROKEN, Reason.CLAIM_NOT_KEPT)
        assert found.guarantee is not None
        assert found.guarantee.k == pytest.approx(k, rel=1e-6)


def dealt(order: np.ndarray[Any, Any], method: str = "generalize-by-count") -> tuple[History, Release]:
    """Return 100 customers in classes of five, whose names are given out in an order inside classes."""
    rows = {"customer": [f"c{n:03}" for n in range(100)], "date": ["2024-01-01"] * 100}
    rows["item"] = [f"item {n // 5}" for n in range(100)]
    original = History.of(rows, SHOP)
    names = pl.Series([f"{1000 + 5 * (n // 5) + order[n]}" for n in range(100)])
    aligned = replace(original, frame=original.frame.with_columns(names.alias("customer")))
    statement = Statement(method, {"k": 5}, notes={})
    return original, Release.of_aligned(original, aligned, statement, seed=2**40)


def test_names_dealt_in_alphabetical_order_prove_nothing() -> None:
    original, release = dealt(np.tile(np.arange(5), 20))
    assert release_facts(release).names_random is False
    found = judge(examine(original, release, attacks=[], measures=[]), "partner")
    assert (found.status, found.reason, found.guarantee) == (VerdictStatus.UNTRIED, Reason.NAMES_NOT_RANDOM, None)


def test_names_drawn_at_random_pass() -> None:
    generator = np.random.default_rng(5)
    passed = sum(
        bool(release_facts(dealt(np.concatenate([generator.permutation(5) for _class in range(20)]))[1]).names_random)
        for _trial in range(60)
    )
    assert passed == 60


def test_names_in_the_order_of_what_people_spent_are_found_with_the_original() -> None:
    columns = {c.name: c.model_dump(exclude={"name"}) for c in SHOP.columns} | {"price": {"role": "price"}}
    generator = np.random.default_rng(3)
    spent = generator.permutation(100)
    rows = {"customer": [f"c{n:03}" for n in range(100)], "date": ["2024-01-01"] * 100, "item": ["a"] * 100}
    original = History.of(rows | {"price": spent.astype(float)}, Schema.of({"columns": columns}))
    names = pl.Series(1000 + spent).cast(pl.String).alias("customer")
    frame = original.frame.with_columns(names, pl.lit(None, pl.Float64).alias("price"))
    statement = Statement("generalize", {"k": 5})
    release = Release.of_aligned(original, replace(original, frame=frame), statement, seed=2**40)
    assert tuple(release_facts(release, given).names_random for given in (None, original)) == (True, False)


def test_a_claim_of_an_unknown_method_is_not_believed() -> None:
    generator = np.random.default_rng(5)
    order = np.concatenate([generator.permutation(5) for _class in range(20)])
    original, release = dealt(order, method="by hand")
    found = judge(examine(original, release, attacks=[], measures=[]), "partner")
    assert (found.status, found.reason) == (VerdictStatus.UNTRIED, Reason.UNKNOWN_METHOD)
    known = judge(examine(*dealt(order), attacks=[], measures=[]), "partner")
    assert known.status == VerdictStatus.PROVED


@pytest.mark.parametrize(("seed", "chosen"), [(7, True), (2**32 - 1, True), (2**32, False), (None, False)])
def test_a_seed_that_can_be_tried_out_is_a_condition(seed: int | None, chosen: bool) -> None:
    data = api.sample(customers=20, rows=300, items=50, seed=1)
    release = api.protect(data, "generalize-by-count", k=5, seed=seed)
    facts = facts_of(Outcome("", release, people=20))
    assert facts.chosen_seed is chosen
    found = judge(facts)
    assert found.status == VerdictStatus.PROVED
    assert any("chosen by hand" in said for said in remarks(found)) is chosen
    assert "seed" not in public_sentence(found)


# --- rules -----------------------------------------------------------------------------------------------------------


def twelve_months(k: int) -> Facts:
    return Facts(kind="history", people=500, claimed={"k": k}, smallest_class=k, periods=12, once=0.7)


def test_a_rule_may_ask_for_a_person_over_all_releases() -> None:
    person = Rule(tolerance="1/5", per="person")
    per_guess = judge(twelve_months(5), "partner")
    assert per_guess.status == VerdictStatus.PROVED
    assert "no single guess" in per_guess.sentence
    assert "up to 70.0% of the customers are named correctly at least once" in per_guess.sentence
    broken = judge(twelve_months(5), person)
    assert (broken.status, broken.reason) == (VerdictStatus.BROKEN, Reason.NAMED_ONCE)
    assert "a probability of up to 93.1%" in broken.sentence
    assert "Classes of 55 would satisfy the rule, or at most 1 releases" in broken.sentence
    assert judge(twelve_months(54), person).status == VerdictStatus.BROKEN
    assert judge(twelve_months(55), person).status == VerdictStatus.PROVED
    assert Rule.model_validate(person.as_dict()) == person
    assert "at least once" in rule_sentence(person)


@pytest.mark.parametrize("k", [3, 5, 7, 11])
def test_one_release_in_classes_of_k_keeps_one_in_k_per_person(k: int) -> None:
    facts = Facts(kind="history", people=60, claimed={"k": k}, smallest_class=k)
    assert judge(facts, Rule(tolerance=f"1/{k}", per="person")).status == VerdictStatus.PROVED


def test_exactly_the_tolerance_may_be_singled_out() -> None:
    found = [judge(Facts(kind="history", people=60, alone={"town": share})).reason for share in (0.2, 0.21)]
    assert found == [Reason.NOT_TRIED, Reason.SINGLED_OUT]


def test_the_error_level_is_said_of_the_test_that_has_it() -> None:
    said = rule_sentence(get_rule("partner"))
    assert "a plain count, without an error level" in said
    assert "This second test has a false-alarm probability of 1.0%, shared by 20 attackers" in said


def test_a_table_without_sensitive_columns_is_judged_with_its_other_columns() -> None:
    data = pl.DataFrame({"age": [1, 1, 2, 2, 3, 3] * 5, "town": [*"aabbcc"] * 5})
    roles = {"age": "quasi", "town": "other"}
    judged = noren.verdict(data, noren.protect(data, "mondrian", k=2, seed=1, schema=roles), schema=roles)
    assert judged.status == "proved"
    assert judged.facts.known_least == 10


def test_what_customers_spent_is_summed_by_hand() -> None:
    roles = {"who": "customer", "paid": "price", "n": "quantity"}
    schema = Schema.of({"columns": {name: {"role": role, "optional": True} for name, role in roles.items()}})
    rows = {"who": ["b", "a", None, "b"], "paid": [1.5, None, 5.0, 2.0], "n": [1, 2, 3, 4]}
    original = History.of(rows, schema)
    release = api.protect(original.take(pl.Series([0, 1])), "pseudonymize", seed=1)
    spent = ReleaseCounts(release, original).spent()
    assert spent is not None
    assert spent.rows() == [("b", 2, 3.5, 5.0), ("a", 1, 0.0, 2.0)]
    assert ReleaseCounts(release).spent() is None
