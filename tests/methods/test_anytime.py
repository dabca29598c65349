"""Searches that somebody stops: the release is valid, no worse than the best reported, and says so."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from noren import api
from noren.data.frames import History, Table
from noren.data.hierarchies import interval_hierarchy, write_hierarchy
from noren.data.schema import Schema
from noren.kernels.lattice import search as lattice
from noren.measures.safety.survival import Survival
from noren.methods import methods
from noren.methods.generalize import Generalize
from noren.methods.pseudo_records import PseudoRecords
from noren.progress import Enough
from noren.protocols import Evidence, Method


class Listener:
    """Hears every report, and says enough at the n-th one that has a best, and ever after."""

    def __init__(self, stop_at: int | None = None) -> None:
        self.stop_at = stop_at
        self.bests: list[float] = []
        self.shares: list[float] = []

    def __call__(self, done: float, words: str = "", best: float | None = None) -> None:
        self.shares.append(done)
        if best is not None:
            self.bests.append(best)
        if self.stop_at is not None and len(self.bests) >= self.stop_at:
            raise Enough


@pytest.fixture(scope="module")
def shop() -> History:
    return api.sample(customers=45, rows=900, items=60, seed=4, schema="pwscup2018")


@pytest.fixture
def ages(tmp_path: Path) -> tuple[Table, Path]:
    """A table of 300 people by two numbers, and hierarchies of four levels for them."""
    schema = Schema.of(
        {"kind": "table", "columns": {name: {"role": "quasi", "type": "integer"} for name in ("age", "income", "zip")}}
    )
    random = np.random.default_rng(1)
    for name in schema.names:
        write_hierarchy(interval_hierarchy(name, range(40), [5, 10, 20]), tmp_path / f"{name}.csv")
    return Table.of({name: random.integers(0, 40, 300) for name in schema.names}, schema), tmp_path


SEARCHES: dict[str, dict[str, Any]] = {
    "k": {"method": "generalize", "k": 3},
    "blocks": {"method": "generalize", "k": 4, "block": 15},
    "pairs in blocks": {"method": "generalize", "k": 2, "block": 16},
    "survival": {"method": "generalize", "survival": 0.4, "effort": "quick"},
    "cells": {"method": "generalize", "k": 3, "suppress_cells": False},
}


@pytest.mark.parametrize("stop_at", [1, 2, 7])
@pytest.mark.parametrize("which", SEARCHES)
def test_enough_keeps_the_best_groups(shop: History, which: str, stop_at: int) -> None:
    listener = Listener(stop_at)
    release = api.protect(shop, **SEARCHES[which], seed=1, progress=listener)  # audited: every claim of k holds
    notes = release.statement.notes
    assert notes["stopped"] is True
    assert len(listener.bests) == stop_at
    assert listener.bests == sorted(listener.bests, reverse=True)
    assert listener.shares == sorted(listener.shares)
    assert listener.shares[-1] == pytest.approx(0.02 + 0.9 * notes["searched"])
    assert notes["U"] <= listener.bests[-1] + 1e-12
    assert api.measure(shop, release, "cell-error").value == pytest.approx(notes["U"], abs=1e-9)
    if "blocks" not in notes:
        assert notes["U"] == pytest.approx(listener.bests[-1], abs=1e-12)
    if which == "survival":
        assert Survival(attackers=13).measure(Evidence(shop, release)).value >= 0.4


def test_enough_between_blocks_gives_the_others_the_first_groups(shop: History) -> None:
    # stopped after 1 of 3 blocks: the others count as deleted in what was reported, and are not in the release
    listener = Listener()
    Generalize(k=3, block=15).protect(shop, seed=1, progress=listener)
    first_block = listener.bests[1:].index(min(b for b in listener.bests if b > 0.6))
    stopping = Listener(first_block + 2)
    release = Generalize(k=3, block=15).protect(shop, seed=1, progress=stopping)
    assert release.statement.notes["blocks"] == 3
    assert release.statement.notes["U"] < stopping.bests[-1] - 0.1


@pytest.mark.parametrize("which", [*SEARCHES, "one block of pairs"])
def test_enough_at_the_first_report_passes(shop: History, which: str) -> None:
    def progress(done: float, words: str = "", best: float | None = None) -> None:
        raise Enough

    parameters = SEARCHES.get(which, {"method": "generalize", "k": 2})
    with pytest.raises(Enough):
        api.protect(shop, **parameters, seed=1, progress=progress)


@pytest.mark.parametrize("k", [2, 3])
def test_enough_while_there_are_no_groups_passes(shop: History, k: int) -> None:
    def progress(done: float, words: str = "", best: float | None = None) -> None:
        if words == "comparing histories":
            raise Enough

    with pytest.raises(Enough):
        Generalize(k=k).protect(shop, seed=1, progress=progress)


@pytest.mark.parametrize("name", ["generalize-by-count", "perturb", "swap", "thin", "monthly-pseudonyms"])
def test_what_has_no_best_lets_enough_pass(shop: History, name: str) -> None:
    listener = Listener()
    parameters = {"k": 3} if name == "generalize-by-count" else {}
    required = {n: 0.2 for n, f in methods[name].model_fields.items() if f.is_required() and n != "k"}
    method: Method = methods.create(name, **parameters, **required)
    method.protect(shop, seed=1, progress=listener)
    assert listener.bests == []
    with pytest.raises(Enough):
        method.protect(shop, seed=1, progress=Listener(0))


@pytest.mark.parametrize(
    "parameters",
    [
        *SEARCHES.values(),
        {"method": "pseudo-records", "clusters": 12, "effort": "quick"},
        {"method": "generalize", "k": 2},
    ],
    ids=str,
)
def test_whoever_listens_gets_the_same_bytes(shop: History, parameters: dict[str, Any]) -> None:
    listener = Listener()
    heard = api.protect(shop, **parameters, seed=3, progress=listener)
    silent = api.protect(shop, **parameters, seed=3)
    assert heard.public.digest() == silent.public.digest()
    assert heard.statement == silent.statement
    assert "stopped" not in heard.statement.notes
    assert parameters == {"method": "generalize", "k": 2} or listener.bests


@pytest.mark.parametrize("stop_at", [1, 3])
def test_enough_keeps_pairs_while_the_optimum_is_not_proved(stop_at: int) -> None:
    shop = api.sample(customers=44, rows=900, items=60, seed=4, schema="pwscup2018")
    listener = Listener(stop_at)
    stopped = api.protect(shop, "generalize", k=2, seed=1, progress=listener)  # audited
    notes = stopped.statement.notes
    assert (notes["stopped"], len(listener.bests)) == (True, stop_at)
    assert notes["lower_bound"] <= notes["U"] <= listener.bests[-1] + 1e-12
    optimum = api.protect(shop, "generalize", k=2, seed=1).statement.notes
    assert optimum["proved_optimal"]
    assert notes["lower_bound"] <= optimum["U"] <= notes["U"] + 1e-12


def test_work_that_takes_long_repeats_its_best(shop: History, monkeypatch: pytest.MonkeyPatch) -> None:
    usual, often = Listener(), Listener()
    Generalize(k=3, effort="quick").protect(shop, seed=1, progress=usual)
    monkeypatch.setattr("noren.kernels.sharing.shared_histories._QUIET", 0.0)
    Generalize(k=3, effort="quick").protect(shop, seed=1, progress=often)
    assert len(often.bests) > 10 * len(usual.bests)
    assert sorted(set(often.bests)) == sorted(set(usual.bests))
    stopped = Generalize(k=3, effort="quick").protect(shop, seed=1, progress=Listener(len(often.bests) // 2))
    assert stopped.statement.notes["U"] == often.bests[len(often.bests) // 2 - 1]  # in the middle of a round


def test_enough_keeps_the_best_clusters(shop: History) -> None:
    listener = Listener(1)
    release = PseudoRecords(clusters=12, effort="thorough").protect(shop, seed=1, progress=listener)
    assert release.inserted_rows == listener.bests[-1]
    assert release.statement.notes["stopped"] is True
    assert release.statement.notes["searched"] == pytest.approx(50_000 / (250_000 * 45))
    held = release.public.frame.group_by("customer").agg(release.public.frame["item"].unique().sort())
    assert held["item"].n_unique() <= 12


def test_a_chain_goes_on_after_a_step_was_stopped(shop: History) -> None:
    said: list[str] = []

    def progress(done: float, words: str = "", best: float | None = None) -> None:
        said.append(words)
        if best is not None:
            raise Enough

    steps: list[str | dict[str, Any]] = [
        {"method": "thin", "share": 0.1},
        {"method": "generalize", "k": 3},
        "pseudonymize",
    ]
    release = api.protect(shop, steps, seed=1, progress=progress)
    assert [step.notes.get("stopped", False) for step in release.statement.steps] == [False, True, False]
    assert said[-1].startswith("pseudonymize")


# --- hierarchies -----------------------------------------------------------------------------------------------------


@pytest.fixture
def held_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk of the part that starts at the values themselves, the last to be found best, waits for a stop."""
    walk = lattice._walk
    again = threading.Event()

    def waiting(*given: Any) -> Any:
        part, record = given[-2:]
        while part.sum() == 0 and record[1] != lattice._STOP:
            again.wait(0.001)
        return walk(*given)

    monkeypatch.setattr(lattice, "_walk", waiting)
    monkeypatch.setattr(lattice, "_QUIET", 0.001)


def test_enough_keeps_the_best_levels(ages: tuple[Table, Path], held_up: None) -> None:
    table, folder = ages
    listener = Listener(3)
    release = api.protect(table, "hierarchy", k=5, hierarchies=folder, suppression=0, seed=1, progress=listener)
    notes = release.statement.notes
    assert notes["stopped"] is True
    assert notes["searched"] < 1
    assert notes["score"] <= listener.bests[-1]
    assert release.deleted_rows == 0


def test_enough_while_no_levels_keep_k_passes(
    ages: tuple[Table, Path], held_up: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, folder = ages

    def progress(done: float, words: str = "", best: float | None = None) -> None:
        if words == "searching":
            assert best is None
            raise Enough

    monkeypatch.setattr("noren.methods.hierarchy.cores", lambda: 1)  # the first walk waits, and all others for it
    with pytest.raises(Enough):
        api.protect(table, "hierarchy", k=5, hierarchies=folder, seed=1, progress=progress)


def test_levels_are_the_same_for_whoever_listens(ages: tuple[Table, Path]) -> None:
    table, folder = ages
    listener = Listener()
    heard = api.protect(table, "hierarchy", k=5, hierarchies=folder, seed=1, progress=listener)
    silent = api.protect(table, "hierarchy", k=5, hierarchies=folder, seed=1)
    assert heard.public.digest() == silent.public.digest()
    assert heard.statement == silent.statement
    assert listener.bests[-1] == heard.statement.notes["score"]
