"""A run does what is left, keeps each answer at once, and goes on after a failure."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import noren.progress as progress_module
from noren import api
from noren.attacks import attacks
from noren.errors import ParameterError
from noren.execution.engine import Engine, OriginalInput, ReleaseInput
from noren.measures import measures
from noren.progress import Enough
from noren.protocols import Guess
from noren.work.run import Run, RunStore


@pytest.fixture
def run() -> Run:
    history = api.sample(customers=12, rows=150, items=20, seed=1)
    release = api.protect(history, "pseudonymize", seed=1)
    return Run(Engine(), OriginalInput(history.schema, None, history), ReleaseInput.of(release))


def ready(*names: str) -> list[Any]:
    return [attacks.create(name) for name in names]


def breaking(monkeypatch: pytest.MonkeyPatch, name: str, error: BaseException) -> list[str]:
    """Let one attack break down; return the list of all that are asked."""
    real, asked = Engine.attack, []

    def attack(engine: Engine, original: Any, release: Any, one: Any, **how: Any) -> Guess:
        asked.append(one.name)
        if one.name == name:
            raise error
        return real(engine, original, release, one, **how)

    monkeypatch.setattr(Engine, "attack", attack)
    return asked


def test_what_fails_is_noted_and_the_others_go_on(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    breaking(monkeypatch, "jaccard", ValueError("odd"))
    run.attack(ready("jaccard", "unique-rows"))
    run.measure([measures.create("reid-rate")])
    assert list(run.store.guesses) == ["unique-rows"]
    assert run.store.failures.keys() == {"jaccard"}
    assert run.store.scores["reid-rate"].value > 0


def test_a_run_that_was_stopped_goes_on_where_it_was(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = breaking(monkeypatch, "jaccard", Enough())
    with pytest.raises(Enough):
        run.attack(ready("unique-rows", "jaccard"))
    monkeypatch.undo()
    asked += breaking(monkeypatch, "", ValueError())
    run.attack(ready("unique-rows", "jaccard"))
    assert asked == ["unique-rows", "jaccard"]
    assert list(run.store.guesses) == ["unique-rows", "jaccard"]


def test_what_was_asked_for_by_name_and_refused_is_said(run: Run) -> None:
    by_name = RunStore(named=frozenset({"measure"}))
    with pytest.raises(ParameterError, match="reid-rate judges attacks, but there is no guess"):
        Run(run.engine, run.original, run.release, by_name).measure([measures.create("reid-rate")])
    run.measure([measures.create("reid-rate")])
    assert (run.store.scores, run.store.failures) == ({}, {})


def test_the_cheapest_attack_is_first_and_who_listens_is_last(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = breaking(monkeypatch, "", ValueError())
    run.attack(ready("ensemble", "linkage", "jaccard", "s7", "s1"))
    assert asked == ["s1", "s7", "jaccard", "linkage", "ensemble"]
    in_turn = sorted(attacks, key=lambda name: attacks[name].cost)
    assert {*in_turn[:6]} == {f"s{number}" for number in range(1, 7)}
    assert in_turn[-3:] == ["nearest", "linkage", "ensemble"]


def test_what_has_no_time_is_left_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(progress_module, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def take_a_minute(name: str, guess: Guess) -> None:
        now[0] += 60

    store = RunStore(on_guess=take_a_minute)
    Run(run.engine, run.original, run.release, store).attack(ready("linkage", "jaccard", "s1"), seconds=120)
    assert (list(store.guesses), store.left_out, store.failures) == (["s1", "jaccard"], ["linkage"], {})
    # what was found stays, and is not left out where there is no time at all
    Run(run.engine, run.original, run.release, store).attack(ready("s1", "s2"), seconds=0)
    assert (list(store.guesses), store.left_out) == (["s1", "jaccard"], ["linkage", "s2"])


def test_an_attack_under_way_ends_with_the_time(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress_module, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def attack(_engine: Engine, _original: Any, _release: Any, one: Any, *, progress: Any, **_how: Any) -> Guess:
        progress(0.5, "half of it")
        now[0] = 61.0
        progress(1.0, "all of it")
        raise AssertionError

    monkeypatch.setattr(Engine, "attack", attack)
    run.attack(ready("jaccard", "unique-rows"), seconds=60)
    assert (run.store.guesses, run.store.left_out) == ({}, ["jaccard", "unique-rows"])
    monkeypatch.undo()
    run.measure([measures.create("cell-error")])  # the time was for attacks
    assert run.store.scores.keys() == {"cell-error"}
