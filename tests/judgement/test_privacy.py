"""Differential privacy in statements, facts and verdicts: recomputed, under its conditions, and what follows."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from noren import api
from noren.data.frames import Table
from noren.data.release import Release
from noren.data.schema import Column, Schema
from noren.errors import ParameterError
from noren.inference.findings import membership_result
from noren.judgement.evidence import Facts
from noren.judgement.judging import judge
from noren.judgement.outcome import Outcome
from noren.judgement.release_facts import release_facts
from noren.judgement.rule import get_rule
from noren.judgement.sentences import public_sentence, rule_sentence
from noren.judgement.verdict import Reason, VerdictStatus
from noren.methods.retention import Retention
from noren.retention.perturbation import Privacy, perturbation_of

SECRET = 2**60 + 7
ROWS = 4000


def people(rows: int = ROWS, *, guessed: bool = False) -> Table:
    """Return people of two columns whose domains are declared."""
    columns = [Column(name="sex", role="quasi", domain=("f", "m")), Column(name="town", role="quasi", domain=(*"abc",))]
    schema = Schema(kind="table", columns=columns, guessed=guessed)
    return Table.of({"sex": ["f", "m"] * (rows // 2), "town": [*"ab"] * (rows // 2)}, schema)


def released(k: float = 20, *, seed: int = SECRET, rows: int = ROWS, **parameters: Any) -> Release:
    return api.protect(people(rows), "retention", k=k, seed=seed, **parameters)


def facts(privacy: Privacy | None = None, **fields: Any) -> Facts:
    return Facts(kind="table", people=1000, proven_k=100.0, privacy=privacy, **fields)


def of_epsilon(epsilon: float) -> Privacy:
    return Privacy(local=5.0, epsilon=epsilon, delta=1e-6, rows=1000)


def test_a_release_has_the_epsilon_that_follows_from_its_k() -> None:
    privacy = release_facts(released()).privacy
    assert privacy is not None
    assert privacy.local == pytest.approx(log((ROWS - 1) / 19) / 2, abs=2e-4)
    assert 0 < privacy.epsilon < privacy.local
    assert (privacy.delta, privacy.adjacency) == (1e-6, "row")
    assert privacy.at(1e-6) == privacy.epsilon < privacy.at(1e-9)


def test_the_figures_of_a_statement_are_not_believed() -> None:
    release = released()
    lie = release.statement.notes | {"privacy": {"local": 0.0, "epsilon": 0.0, "delta": 0.0, "adjacency": "row"}}
    told = replace(release, statement=replace(release.statement, notes=lie))
    assert release_facts(told).privacy == release_facts(release).privacy
    assert release.statement.notes["privacy"]["epsilon"] == release_facts(release).privacy.epsilon  # type: ignore[union-attr]


def test_a_published_folder_keeps_it(tmp_path: Path) -> None:
    release = released()
    release.publish(tmp_path / "public")
    assert release_facts(Release.load(tmp_path / "public")).privacy == release_facts(release).privacy


@pytest.mark.parametrize(
    "release",
    [
        released(seed=7),
        released(domains="data"),
        api.protect(people(guessed=True), "retention", k=20, seed=SECRET),
        released(seed=2**32 - 1),
    ],
    ids=["seed", "domains from the data", "guessed schema", "last seed that can be tried"],
)
def test_no_epsilon_without_its_conditions(release: Release) -> None:
    assert "privacy" not in release.statement.notes
    assert release_facts(release).privacy is None
    verdict = judge(Outcome("", release), "epsilon=9,tolerance=1/3")
    assert (verdict.status, verdict.reason) == (VerdictStatus.UNTRIED, Reason.EPSILON_UNKNOWN)
    assert "no ε is proved" in verdict.sentence


def with_column(release: Release, role: str) -> Release:
    schema = release.public.schema
    beside = Column(name="beside", role=role, domain=("x", "y"))
    frame = release.public.frame.with_columns(pl.Series("beside", ["x", "y"] * (ROWS // 2))).sort(pl.all())
    return replace(release, public=Table(frame, schema.model_copy(update={"columns": (*schema.columns, beside)})))


def with_rows(release: Release, frame: pl.DataFrame) -> Release:
    return replace(release, public=Table(frame, release.public.schema))


@pytest.mark.parametrize(
    "change",
    [
        lambda release: with_column(release, "quasi"),
        lambda release: with_column(release, "sensitive"),
        lambda release: with_rows(release, release.public.frame.head(ROWS // 2)),
        lambda release: with_rows(release, release.public.frame.sample(ROWS, shuffle=True, seed=1)),
        lambda release: with_rows(release, pl.concat([release.public.frame] * 2).sort(pl.all())),
        lambda release: with_rows(release, release.public.frame.with_columns(pl.col("town").replace("a", "?"))),
    ],
    ids=["column", "sensitive column", "fewer rows", "order", "twice as many rows", "value outside the domain"],
)
def test_rows_that_the_noise_cannot_have_made_prove_nothing(change: Any) -> None:
    release = change(released())
    told = release_facts(release)
    assert (told.proven_k, told.privacy) == (1.0, None)
    assert judge(Outcome("", release), "epsilon=9,tolerance=1/3").status == VerdictStatus.BROKEN


def test_rows_in_the_order_of_their_domains_are_those_of_the_noise() -> None:
    columns = [Column(name="sex", role="quasi", domain=("m", "f")), Column(name="age", role="quasi", type="integer")]
    columns[1] = columns[1].model_copy(update={"minimum": 0.0, "maximum": 120.0})
    table = Table.of({"sex": ["f", "m"] * 500, "age": list(range(100)) * 10}, Schema(kind="table", columns=columns))
    release = Retention(k=2).protect(table, seed=SECRET)
    by_domain = with_rows(release, release.public.frame.sort(pl.col("sex").cast(pl.Enum(["m", "f"])), "age"))
    assert not by_domain.public.frame.equals(release.public.frame)
    assert release_facts(by_domain, table) == release_facts(release, table)
    # side by side, yet in the order of people
    by_people = release.public.frame.unique(maintain_order=True).sort("age", descending=True)
    alike = by_people.with_row_index("at").join(release.public.frame, on=["sex", "age"], maintain_order="left")
    assert release_facts(with_rows(release, alike.drop("at"))).proven_k == 1.0


def test_less_noise_than_stated_is_seen_with_the_original() -> None:
    release = released()
    attributes = [about | {"rho": 0.1} for about in release.statement.notes["attributes"]]
    notes = release.statement.notes | {"attributes": attributes}
    forged = replace(release, statement=replace(release.statement, notes=notes))
    assert release_facts(forged).proven_k > 20  # type: ignore[operator]
    assert release_facts(forged, people()).proven_k == 1.0
    assert release_facts(release, people()) == release_facts(release)


def test_epsilon_is_zero_where_nothing_is_kept() -> None:
    privacy = release_facts(Retention(rho=0).protect(people(), seed=SECRET)).privacy
    assert privacy is not None
    assert f"{privacy.local:g} {privacy.epsilon:g}" == "0 0"


def test_a_seed_added_later_takes_it_away() -> None:
    release = released()
    guessable = replace(release, secret=replace(release.secret, seed=12))
    assert release_facts(guessable).privacy is None


def test_a_rule_in_epsilon() -> None:
    release = released()
    epsilon = release_facts(release).privacy.epsilon  # type: ignore[union-attr]
    proved = judge(Outcome("", release), f"epsilon={epsilon}")
    assert proved.status == VerdictStatus.PROVED
    assert f"ε = {epsilon:g} at δ = 1e-06" in public_sentence(proved)
    assert proved.as_dict()["privacy"]["epsilon"] == epsilon
    broken = judge(Outcome("", release), f"epsilon={epsilon - 1e-3}")
    assert (broken.status, broken.reason) == (VerdictStatus.UNTRIED, Reason.EPSILON_TOO_HIGH)
    assert f"only ε ≤ {epsilon:g} is proved" in broken.sentence
    assert broken.risk == pytest.approx(1 / 20)
    # the same ε needs a larger δ
    stricter = judge(Outcome("", release), f"epsilon={epsilon},delta=1e-12")
    assert stricter.reason == Reason.EPSILON_TOO_HIGH


def test_what_is_broken_stays_broken() -> None:
    verdict = judge(facts(of_epsilon(0.1), identifying=("name",)), "epsilon=1")
    assert verdict.reason == Reason.IDENTIFIED


def test_rules_in_epsilon_are_read() -> None:
    rule = get_rule("epsilon=1, delta=1e-7")
    assert (rule.epsilon, rule.delta, rule.tolerance) == (1.0, 1e-7, get_rule("partner").tolerance)
    assert get_rule(rule.as_dict()) == rule
    assert "ε ≤ 1 at δ = 1e-07" in rule_sentence(rule)
    assert "delta" not in get_rule("partner").as_dict()
    for wrong in ("epsilon=0", "epsilon=x", "epsilon=inf", "epsilon=1,delta=1", "epsilom=1"):
        with pytest.raises(ParameterError):
            get_rule(wrong)


def test_sensitive_is_proved_where_the_ceilings_are_within_its_limits() -> None:
    # attributes: 1 - e^-ε within a tenth; membership: (e^ε - 1)/10 within a tenth
    assert judge(facts(of_epsilon(0.1)), "sensitive").status == VerdictStatus.PROVED
    verdict = judge(facts(of_epsilon(0.11)), "sensitive")
    assert (verdict.status, verdict.reason) == (VerdictStatus.UNTRIED, Reason.NOT_INFERRED)
    assert "membership" not in verdict.sentence.partition(".")[0]  # its ceiling is within the limit
    assert judge(facts(of_epsilon(0.69)), get_rule("membership=0.1,tolerance=1/11")).status == VerdictStatus.PROVED
    assert judge(facts(of_epsilon(0.70)), get_rule("membership=0.1,tolerance=1/11")).status == VerdictStatus.UNTRIED
    assert judge(facts(), "sensitive").reason == Reason.NOT_INFERRED


def test_chance_does_not_unsettle_a_proof_but_evidence_does() -> None:
    rng = np.random.default_rng(1)

    def tried(people: int, shift: float) -> Facts:
        member = np.repeat([True, False], people)
        scores = rng.normal(size=2 * people) + shift * member
        found = membership_result("hand", scores, member, np.zeros(2 * people, dtype=bool))
        return facts(of_epsilon(0.05), inferred=(found,))

    seems = tried(60, 0.9)
    assert seems.inferred[0].excess > 0.1
    assert judge(seems, "sensitive").status == VerdictStatus.PROVED
    assert judge(tried(400, 9.0), "sensitive").reason == Reason.TOO_MUCH_INFERRED


@pytest.mark.parametrize("epsilon", [0.05, 0.3, 1.0, 3.0])
def test_ceilings_hold_for_randomised_response(epsilon: float) -> None:
    # the strongest test at ε: a coin that tells the truth with e^ε/(1+e^ε); at FPR 0.1 it may draw lots
    right = exp(epsilon) / (1 + exp(epsilon))
    wrong = 1 - right
    at = 0.1 / wrong * right if wrong >= 0.1 else right + (0.1 - wrong) / right * wrong
    there = facts(Privacy(local=epsilon, epsilon=epsilon, delta=1e-12, rows=1))
    assert there.ceiling("membership") >= at - 0.1 - 1e-12
    assert there.ceiling("membership") == pytest.approx(at - 0.1, abs=1e-9)
    assert there.ceiling("attribute") >= (right - wrong) / (1 - wrong) - 1e-12


def test_noise_of_a_perturbation_needs_some_noise() -> None:
    release = released()
    plan = perturbation_of(release.public.schema, release.statement)
    still = replace(plan, rhos=(1.0, 1.0))
    assert still.privacy(ROWS, release.public.schema, {"domains": "declared"}) is None
    assert plan.privacy(0, release.public.schema, {"domains": "declared"}) is None


@pytest.mark.parametrize("rows", [2, 20, 2002, 20_000])
def test_any_number_of_people(rows: int) -> None:
    release = Retention(rho=0.5).protect(people(rows), seed=SECRET)
    privacy = release_facts(release).privacy
    assert privacy is not None
    assert privacy.epsilon <= privacy.local == pytest.approx(log(3) + log(4), abs=1e-4)


def test_public_rows_stand_in_an_order_of_their_own() -> None:
    public = released().public.frame
    assert public.equals(public.sort(pl.all().cast(pl.String)))
