"""One call protects, attacks and measures; what does not fit the data or lacks its evidence is left out."""

from dataclasses import replace
from typing import Any, ClassVar

import polars as pl
import pytest

import noren
from noren import api
from noren.attacks import attacks
from noren.data.frames import History, Table
from noren.data.release import Release, Secret, Statement
from noren.data.schema import Schema
from noren.errors import ParameterError
from noren.judgement.judging import verdict
from noren.judgement.outcome import examine, label_of, run_outcome
from noren.judgement.sentences import public_sentence
from noren.measures import measures
from noren.methods.generalize_by_count import GeneralizeByCount
from noren.methods.pseudonymize import Pseudonymize
from noren.protocols import Attack, Guess
from noren.work.run import fitting

NOBODY: dict[str, Any] = {"attacks": [], "measures": []}


class KnowsEverybody(Attack):
    name: ClassVar[str] = "knows-everybody"
    summary: ClassVar[str] = "Reads the answer from its parameter."
    answer: Any

    def attack(self, original: Any, public: Any, *, seed: int, progress: Any = None) -> Guess:
        return Guess(self.name, self.answer)


def test_an_outcome_holds_what_the_single_steps_return(history: History) -> None:
    outcome = run_outcome(history, "generalize-by-count", k=3, seed=7)
    release = api.protect(history, "generalize-by-count", k=3, seed=7)
    guess = api.attack(history, release, "unique-rows")
    assert outcome.label == "generalize-by-count, k = 3"
    assert outcome.release.public.frame.equals(release.public.frame)
    assert {"unique-rows"} <= outcome.guesses.keys()
    assert outcome.guesses["unique-rows"].pairs.equals(guess.pairs)
    for name in ("cell-error", "effective", "reid-rate"):
        assert outcome.scores[name] == api.measure(history, release, name, guesses=outcome.guesses)


def test_a_budget_loses_no_proof_and_makes_no_verdict_better(history: History) -> None:
    proof = api.protect(history, "generalize-by-count", k=5, seed=1)
    found = verdict(history, proof, "partner", attacks=["linkage", "s2"], budget=0)
    assert (found.status, found.facts.left_out) == ("proved", ("s2", "linkage"))
    bare = api.protect(history, "pseudonymize", seed=1)
    untried = noren.judge(history, bare, "partner", budget="0s")
    assert (untried.status, untried.reason, untried.evidence) == ("untried", "not-tried", ())
    assert set(untried.facts.left_out) == set(fitting(attacks, history.schema))
    assert "Not tried here: " in untried.sentence
    assert "Not tried here: " not in public_sentence(untried)
    with pytest.raises(ParameterError, match="budget = soon is out of range; use 90s, 10m, 2h"):
        verdict(history, bare, budget="soon")


def test_a_ready_method_is_taken_as_it_is(history: History) -> None:
    outcome = run_outcome(history, GeneralizeByCount(k=5), seed=1, label="five", **NOBODY)
    assert (outcome.label, outcome.release.statement.parameters["k"]) == ("five", 5)


def test_names_choose_attacks_and_measures(history: History) -> None:
    outcome = run_outcome(history, "pseudonymize", seed=1, attacks=["unique-rows"], measures=["cell-error"])
    assert (list(outcome.guesses), list(outcome.scores)) == (["unique-rows"], ["cell-error"])
    assert outcome.scores["cell-error"].value == 0.0


def test_a_ready_attack_is_judged(history: History) -> None:
    release = Pseudonymize().protect(history, seed=1)
    attack = KnowsEverybody(answer=release.secret.pseudonyms)
    outcome = examine(history, release, attacks=[attack], measures=["reid-rate", "effective"])
    assert outcome.scores["reid-rate"].value == 1.0
    assert outcome.scores["effective"].parts["knows-everybody.right"] == 30


def test_without_attacks_nothing_is_said_about_safety(history: History) -> None:
    outcome = run_outcome(history, "pseudonymize", seed=1, attacks=[])
    assert outcome.guesses == {}
    assert "cell-error" in outcome.scores
    assert not {"effective", "reid-rate"} & outcome.scores.keys()


def test_a_published_release_is_attacked_but_not_judged(history: History) -> None:
    made = Pseudonymize().protect(history, seed=1)
    empty = Secret(made.secret.pseudonyms.clear(), made.secret.origin.clear(), 0)
    outcome = examine(history, replace(made, secret=empty))
    assert len(outcome.guesses["unique-rows"]) == 30
    assert not {"cell-error", "effective", "reid-rate"} & outcome.scores.keys()
    with pytest.raises(ParameterError, match="secret part"):
        examine(history, replace(made, secret=empty), measures=["cell-error"])


def test_attacks_on_histories_leave_tables_alone() -> None:
    schema = Schema.of({"kind": "table", "columns": {"age": {"role": "quasi", "type": "integer"}}})
    people = Table.of({"age": [1, 2]}, schema)
    release = Release.of_aligned(people, people, Statement("copy"))
    outcome = examine(people, release)
    assert (outcome.label, list(outcome.guesses)) == ("copy", ["row-linkage"])
    # without a column of texts there is nothing to predict, and one column goes with no other
    left_out = {"prediction", "association"}
    assert outcome.scores.keys() == {n for n in measures if measures[n].fits(schema)} - left_out
    assert "cell-error" not in outcome.scores


def test_progress_grows_to_the_end(history: History) -> None:
    told: list[float] = []
    run_outcome(
        history, "generalize-by-count", k=2, seed=1, progress=lambda done, words="", best=None: told.append(done)
    )
    assert told == sorted(told)
    assert (told[0], told[-1]) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("statement", "label"),
    [
        (Statement("pseudonymize"), "pseudonymize"),
        (Statement("generalize-by-count", {"k": 3, "suppress_cells": False}), "generalize-by-count, k = 3"),
        (Statement("elsewhere", {"keep": False, "rate": 0.5}), "elsewhere, no-keep, rate = 0.5"),
    ],
)
def test_a_label_tells_what_differs_from_the_defaults(statement: Statement, label: str) -> None:
    assert label_of(statement) == label


def test_the_same_seed_gives_the_same_release(history: History) -> None:
    first, second = (run_outcome(history, "pseudonymize", seed=5, **NOBODY).release for _run in range(2))
    assert isinstance(first.public.frame, pl.DataFrame)
    assert first.public.frame.equals(second.public.frame)
    assert not first.public.frame.equals(run_outcome(history, "pseudonymize", seed=6, **NOBODY).release.public.frame)
