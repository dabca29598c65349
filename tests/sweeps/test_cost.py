"""What a run will take: exact arithmetic on constants made by hand, and that every component has its own."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from noren import api
from noren.attacks import attacks
from noren.attacks.ensemble import Ensemble
from noren.attacks.unique_rows import UniqueRows
from noren.cost_law import TERMS, CostLaw, Shape
from noren.data.frames import History, Table
from noren.data.release import Release
from noren.data.schema import Kind, Schema
from noren.judgement.outcome import fitting
from noren.measures import measures
from noren.methods import methods
from noren.methods.chain import Chain
from noren.methods.generalize import Generalize
from noren.methods.pseudo_records import PseudoRecords
from noren.methods.thin import Thin
from noren.progress import Progress, silent
from noren.protocols import Component, Method
from noren.reports.profile import profile
from noren.sweeps.cost import (
    Constants,
    Machine,
    constants,
    estimate,
    estimate_run,
    makes_generalised,
    pace,
    this_machine,
)

ROOMS: dict[str, Any] = {"methods": methods, "attacks": attacks, "measures": measures}
NEEDED: dict[str, dict[str, Any]] = {
    "generalize": {"k": 3},
    "generalize-by-count": {"k": 3},
    "hierarchy": {"k": 3, "hierarchies": Path("ladders")},
    "microaggregate": {"k": 3},
    "mondrian": {"k": 3},
    "pseudo-records": {"clusters": 10},
    "retention": {"k": 3.0},
    "chain": {"steps": ["thin", "pseudonymize"]},
}
HERE = Machine(0.01, 2)
OWN_TERMS = {
    name: term
    for registry in ROOMS.values()
    for component in map(registry.__getitem__, registry)
    if component.cost is not None
    for name, term in component.cost.own.items()
}


def facts(**more: Any) -> dict[str, Any]:
    """Two seconds at once and one for a thousand rows, half of the work on all cores."""
    usual = {"seconds": {"once": 2.0, "rows": 0.001}, "memory": {"rows": 100.0}, "spread": 2.0, "parallel": 0.5}
    return usual | {"rows": 10_000, "people": 500} | more


def known(**rooms: dict[str, dict[str, dict[str, Any]]]) -> Constants:
    return Constants(HERE, rooms)


THIN = known(methods={"thin": {"history": facts()}})


# --- arithmetic ------------------------------------------------------------------------------------------------------


def test_seconds_are_terms_times_constants_times_speed() -> None:
    cost = estimate(Thin(), Shape(Kind.HISTORY, 4000, 100), known=THIN, machine=HERE)
    # 2 + 4 seconds of a processor; half of them on two cores
    assert cost.seconds == pytest.approx(6.0 * 0.75)
    assert (cost.low, cost.high) == pytest.approx((2.25, 9.0))
    assert cost.confidence == "measured"
    assert cost.memory_bytes == 4000 * 100 + 48 * 4000 * 5
    assert cost.reasons == ("thin was measured on data of up to 10,000 rows",)


def test_a_machine_half_as_fast_with_four_cores() -> None:
    cost = estimate(Thin(), Shape(Kind.HISTORY, 4000, 100), known=THIN, machine=Machine(0.02, 4))
    assert cost.seconds == pytest.approx(2 * 6.0 * (0.5 + 0.5 / 4))


def test_no_more_than_eight_cores_are_counted_on() -> None:
    many, eight = (
        estimate(Thin(), Shape(Kind.HISTORY, 4000, 100), known=THIN, machine=Machine(0.01, cores)) for cores in (64, 8)
    )
    assert many == eight


@pytest.mark.parametrize(("rows", "people"), [(100_000, 500), (1_000, 5_000)])
def test_beyond_what_was_measured_the_range_is_wider(rows: int, people: int) -> None:
    cost = estimate(Thin(), Shape(Kind.HISTORY, rows, people), known=THIN, machine=HERE)
    assert cost.confidence == "rough"
    assert cost.seconds is not None
    assert cost.high == pytest.approx(cost.seconds * 2.0 * 1.5 * 2)  # ten times as large
    assert cost.low == pytest.approx(cost.seconds / 6.0)
    assert "only up to 10,000 rows and 500 people" in cost.reasons[0]


def test_seconds_by_the_clock_are_counted_as_they_are() -> None:
    searched = known(methods={"generalize": {"history": facts(seconds={"rounds": 1.0, "rows": 0.001}, parallel=0.0)}})
    cost = estimate(Generalize(k=3, effort=20.0), Shape(Kind.HISTORY, 1000, 100), known=searched, machine=HERE)
    assert cost.seconds == pytest.approx(21.0)
    assert "20 seconds by the clock" in cost.reasons[-1]


def test_a_chain_takes_what_its_steps_take() -> None:
    both = known(methods={"thin": {"history": facts()}, "pseudonymize": {"history": facts(memory={"rows": 900.0})}})
    shape = Shape(Kind.HISTORY, 4000, 100)
    cost = estimate(Chain(steps=["thin", "pseudonymize", "thin"]), shape, known=both, machine=HERE)
    assert list(cost.parts) == ["1. thin", "2. pseudonymize", "3. thin"]
    assert cost.seconds == pytest.approx(3 * 4.5)
    assert cost.memory_bytes == 4000 * 900 + 48 * 4000 * 5  # of the largest
    assert cost.confidence == "measured"


class Foreign(Method):
    """Somebody else's."""

    name: ClassVar[str] = "foreign"
    summary: ClassVar[str] = "Does something."

    def protect(self, original: Any, *, seed: int, progress: Progress = silent) -> Release:
        raise NotImplementedError


def test_what_nobody_measured_is_unknown_and_so_is_what_it_is_part_of() -> None:
    shape = Shape(Kind.HISTORY, 4000, 100)
    cost = estimate(Foreign(), shape)
    assert (cost.seconds, cost.low, cost.high, cost.memory_bytes, cost.confidence) == (None, 0.0, None, None, "unknown")
    assert cost.reasons == ("nobody measured how long foreign takes",)
    both = estimate(Chain(steps=[Thin(), Foreign()]), shape, known=THIN, machine=HERE)
    assert (both.seconds, both.high, both.memory_bytes, both.confidence) == (None, None, None, "unknown")
    assert both.low == pytest.approx(2.25)
    assert both.reasons == ("nobody measured how long foreign takes",)


class Frank(Foreign):
    """Somebody else's, who says what it takes."""

    name: ClassVar[str] = "frank"
    cost: ClassVar[CostLaw | None] = CostLaw(
        ("once", "rows", "faces"),
        own={"faces": lambda shape, parameters: 2.0 * shape.people},
        seconds={"once": 1.0, "faces": 0.01},
        memory={"rows": 10.0},
    )


def test_what_a_component_says_itself_is_a_rough_estimate() -> None:
    cost = estimate(Frank(), Shape(Kind.HISTORY, 4000, 100), machine=HERE)
    assert cost.seconds == pytest.approx(1 + 0.01 * 200)
    assert (cost.low, cost.high) == pytest.approx((1.0, 9.0))
    assert cost.memory_bytes == 4000 * 10 + 48 * 4000 * 5
    assert cost.confidence == "rough"
    assert cost.reasons == ("how long frank takes is its own word, nobody measured it",)


def test_an_attack_goes_by_the_kind_of_release_or_the_nearest_there_is() -> None:
    quick, slow = facts(seconds={"once": 1.0}, parallel=0.0), facts(seconds={"once": 9.0}, parallel=0.0)
    two = known(attacks={"unique-rows": {"history-exact": quick, "history-generalised": slow}})
    one = known(attacks={"unique-rows": {"history-exact": quick}})
    shape = Shape(Kind.HISTORY, 100, 10)
    said = [
        estimate(UniqueRows(), shape, generalised=generalised, known=which, machine=HERE).seconds
        for which in (two, one)
        for generalised in (False, True)
    ]
    assert said == [1.0, 9.0, 1.0, 1.0]


# --- terms -----------------------------------------------------------------------------------------------------------


def test_terms_by_hand() -> None:
    shape = Shape(Kind.HISTORY, rows=1000, people=100, items=50, columns=5, uneven=2.0)

    def term(name: str, parameters: dict[str, Any]) -> float:
        return {**TERMS, **OWN_TERMS}[name](shape, parameters)

    assert term("own pairs of rows", {}) == 100 * 2.0 * 10**2
    assert term("looks at pairs", {"k": 3}) == 100 * 48 * 200
    assert term("looks at pairs", {"k": 30}) == 100 * 100 * 200
    assert term("rounds", {"k": 3, "effort": "normal"}) == 30 * 8 * 100 * 200
    assert term("rounds", {"k": 2, "effort": "normal"}) == 0
    assert term("rounds", {"k": 3, "effort": 5.0}) == 0
    assert term("people together", {"block": 20}) == 2000
    assert term("steps", {"effort": "quick"}) == 2500 * math.sqrt(100_000)
    assert term("steps", {"variant": "repaired"}) == 0
    assert term("united rows", {"clusters": 20}) == 5000
    table = Shape(Kind.TABLE, rows=1000, people=1000, columns=3, domains=(2, 3, 4))
    law = CostLaw(("pairs of values", "combinations", "cells"))
    assert law.sizes(law.terms, table, {}) == [26.0, 24.0, 3000.0]


@pytest.mark.parametrize("term", [*TERMS, *OWN_TERMS])
@given(
    st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 10**5), st.sampled_from([{}, {"k": 3, "clusters": 9}])
)
def test_no_term_falls_when_there_are_more_rows(
    term: str, rows: int, more: int, people: int, parameters: dict[str, Any]
) -> None:
    size = {**TERMS, **OWN_TERMS}[term]
    one, other = (size(Shape(Kind.HISTORY, m, min(people, rows), 30), parameters) for m in (rows, rows + more))
    assert 0 <= one <= other


# --- what was measured -----------------------------------------------------------------------------------------------


def built(room: str, name: str) -> Component:
    component: Component = ROOMS[room].create(name, **NEEDED.get(name, {}))
    return component


@pytest.mark.parametrize(("room", "name"), [(room, name) for room, registry in ROOMS.items() for name in registry])
def test_every_component_but_the_chain_has_a_law_and_constants(room: str, name: str) -> None:
    law = ROOMS[room][name].cost
    if name == "chain":  # the sum of its steps
        assert law is None
        return
    assert law.unknown() == []
    for kind in ROOMS[room][name].accepts:
        ending = "" if room == "methods" else "-exact"
        found = constants().found(room, name, f"{kind}{ending}")
        assert found is not None, kind
        assert set(found["seconds"]) <= set(law.terms)
        assert sum(found["seconds"].values()) > 0
        assert min(found["seconds"].values()) >= 0
        assert min(found["memory"].values(), default=0) >= 0
        assert found["spread"] >= 1.25
        assert 0 <= found["parallel"] <= 1


def test_no_constant_is_about_nobody() -> None:
    for room, registry in ROOMS.items():
        assert set(constants().rooms[room]) <= set(registry)


@pytest.mark.parametrize(("room", "name"), [(room, name) for room, registry in ROOMS.items() for name in registry])
def test_more_rows_take_longer_and_the_time_lies_in_its_range(room: str, name: str) -> None:
    component = built(room, name)
    kind = min(component.accepts)
    last = 0.0
    for rows in (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000):
        people = rows // 20 if kind == Kind.HISTORY else rows
        cost = estimate(component, Shape(kind, rows, people, rows // 30, 6, (9, 9, 4, 4, 2, 2)), machine=HERE)
        assert cost.seconds is not None
        assert cost.high is not None
        assert cost.low < cost.seconds < cost.high
        assert cost.seconds >= last
        last = cost.seconds
    assert cost.confidence == "rough"


def test_effort_costs() -> None:
    shape = Shape(Kind.HISTORY, 40_000, 400, 2_000)
    quick, normal, thorough = (
        estimate(Generalize(k=3, effort=effort), shape, machine=HERE).seconds or 0.0
        for effort in ("quick", "normal", "thorough")
    )
    assert quick < normal < thorough
    few, many = (
        estimate(PseudoRecords(clusters=80, effort=effort), shape, machine=HERE).seconds or 0.0
        for effort in ("quick", "thorough")
    )
    assert few < many / 10


def test_this_machine_is_asked_once() -> None:
    assert this_machine() is this_machine()
    assert 0 < pace() < 1
    assert this_machine().cores >= 1


# --- whole runs ------------------------------------------------------------------------------------------------------


def test_a_whole_run_is_the_method_its_audit_and_all_who_would_judge(history: History) -> None:
    method = Generalize(k=3)
    whole = estimate_run(method, Shape.of(history), history.schema, machine=HERE)
    attackers = [f"attack: {name}" for name in fitting(attacks, history.schema)]
    judges = [name for name in fitting(measures, history.schema) if "exact" not in measures[name].needs]
    assert list(whole.parts) == ["protect: generalize", "audit", *attackers, *(f"measure: {name}" for name in judges)]
    assert whole.seconds == pytest.approx(sum(part.seconds or 0 for part in whole.parts.values()))
    assert whole.memory_bytes == max(part.memory_bytes or 0 for part in whole.parts.values())


def test_a_run_of_what_is_asked_for(history: History) -> None:
    shape = Shape.of(history)
    vote = Ensemble(members=("jaccard", "s6"))  # runs those that nobody asked for
    whole = estimate_run(Thin(), shape, history.schema, attacks=["jaccard", vote], measures=[], machine=HERE)
    assert list(whole.parts) == ["protect: thin", "attack: jaccard", "attack: ensemble", "attack: s6"]
    # a rehearsal protects once more and runs the members once more
    plain = estimate_run(
        *(Thin(), shape, history.schema),
        attacks=["jaccard", vote.model_copy(update={"rehearse": False})],
        measures=[],
        machine=HERE,
    )
    again = [plain.parts[name].low for name in plain.parts]
    assert whole.parts["attack: ensemble"].low == pytest.approx(sum(again))
    searched = estimate_run(Generalize(k=3), shape, history.schema, attacks=[vote], measures=[], machine=HERE)
    assert not searched.parts["attack: ensemble"].parts
    alone = estimate_run(Thin(), shape, history.schema, attacks=["ensemble"], measures=[], machine=HERE)
    assert len(alone.parts) == 1 + len(fitting(attacks, history.schema))
    exact = estimate_run(Thin(), shape, history.schema, attacks=[], machine=HERE)
    assert "measure: e1" in exact.parts
    assert "measure: reid-rate" not in exact.parts  # nobody guesses


def test_who_generalises() -> None:
    assert makes_generalised(Generalize(k=3))
    assert not makes_generalised(Thin())
    assert makes_generalised(Chain(steps=[Thin(), Generalize(k=3)]))
    assert not makes_generalised(Foreign())


# --- shapes ----------------------------------------------------------------------------------------------------------


def test_shape_of_a_history_and_of_its_profile() -> None:
    history = api.sample(customers=30, rows=900, items=60, seed=3, schema="pwscup2018")
    shape = Shape.of(history)
    assert (shape.kind, shape.rows, shape.people, shape.columns) == (Kind.HISTORY, 900, 30, 5)
    assert shape.items == history.frame["item"].n_unique()
    counts = np.array(history.frame["customer"].value_counts()["count"], dtype=float)
    assert shape.uneven == pytest.approx((counts**2).mean() / counts.mean() ** 2)
    told = Shape.of_profile(profile(history))
    assert (told.kind, told.rows, told.people, told.items, told.columns) == (Kind.HISTORY, 900, 30, shape.items, 5)


def test_shape_of_a_table_and_of_its_profile() -> None:
    columns = {"age": {"role": "quasi", "type": "integer"}, "sex": {"role": "quasi"}, "illness": {"role": "sensitive"}}
    schema = Schema.of({"kind": "table", "columns": columns})
    table = Table.of({"age": [20, 21, 21, 20], "sex": list("ffmm"), "illness": ["flu", "cold", "flu", "none"]}, schema)
    shape = Shape.of(table)
    assert shape == Shape.of_profile(profile(table))
    assert (shape.rows, shape.people, shape.columns, shape.domains) == (4, 4, 2, (2, 2))


def test_an_empty_history_has_a_shape() -> None:
    schema = Schema.preset("pwscup2018")
    empty = History.of({name: [] for name in schema.names}, schema)
    assert Shape.of(empty).people == 0
    cost = estimate(Generalize(k=3), Shape.of(empty), machine=HERE)
    assert cost.seconds is not None
