"""What a run will take, before it runs: seconds and memory from the size of the data alone.

The work of a component is a sum of terms that grow with the data (see :mod:`noren.cost_law`), each with a constant
that was measured, in seconds of a processor, on some machine; a short piece of work tells how fast this one is. An
estimate is a range, of a machine that has nothing else to do. It is ``measured`` where data of that size were
measured, ``rough`` beyond or where the component alone says what it takes, and ``unknown`` where nobody says.
"""

from __future__ import annotations

import math
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from operator import mul
from typing import Any, Literal

import numpy as np

from noren.attacks import attacks as every_attack
from noren.attacks.ensemble import Ensemble
from noren.attacks.rehearsal import runs_again
from noren.cost_law import CostLaw, Shape
from noren.data.schema import Schema
from noren.engines.blocks import cores
from noren.i18n import N_, _
from noren.judgement.outcome import fitting
from noren.measures import measures as every_measure
from noren.methods.chain import Chain
from noren.protocols import Attack, Component, Measure, Method

__all__ = [
    "Constants", "Cost", "Machine", "Part", "Shape", "constants", "estimate", "estimate_parts", "estimate_run", "pace",
    "this_machine", "together",
]  # fmt: skip

Confidence = Literal["measured", "rough", "unknown"]
Part = tuple[str, str]
"""A part of a run: what it does (``protect``, ``audit``, ``attack``, ``measure``), and the component that does it."""

_MOST_CORES = 8
"""More cores than these are not counted on."""
_BEYOND = 1.5
"""How much wider the range is where nobody measured data so large; and as much again for each tenfold."""
_OWN_WORD = 3.0
"""By which factor the time may be off that a component itself tells, of whatever machine."""
_CELL_BYTES = 48
"""The original and the release in memory, for each cell."""


@dataclass(frozen=True)
class Machine:
    """How fast a machine is: seconds for a fixed piece of work, and its cores."""

    pace: float
    cores: int


@dataclass(frozen=True)
class Cost:
    """What something takes.

    Attributes
    ----------
    seconds, low, high
        The time, and the range it lies in; where a part is unknown there is no time, and no upper end.
    memory_bytes
        The memory it needs at most beside that of an idle process, about; None where unknown.
    reasons
        What the estimate rests on, for a person.
    parts
        Of a whole run, the cost of each of its parts.
    """

    seconds: float | None
    low: float
    high: float | None
    memory_bytes: int | None
    confidence: Confidence
    reasons: tuple[str, ...] = ()
    parts: Mapping[str, Cost] = field(default_factory=dict)


@dataclass(frozen=True)
class Constants:
    """What was measured, on which machine: of each room, component and kind of data."""

    machine: Machine
    rooms: Mapping[str, Mapping[str, Mapping[str, Mapping[str, Any]]]]

    def found(self, room: str, name: str, kind: str) -> Mapping[str, Any] | None:
        """Return what is known of a component on this kind of data, or on the nearest kind."""
        known = self.rooms.get(room, {}).get(name, {})
        sort = kind.partition("-")[0]
        return known.get(kind) or next((facts for other, facts in known.items() if other.startswith(sort)), None)


@cache
def constants() -> Constants:
    """Return the constants that ``benchmarks/bench_cost.py`` measured."""
    text = (files("noren.sweeps") / "cost_constants.toml").read_text(encoding="utf-8")
    content = tomllib.loads(text)
    machine = content.pop("machine")
    return Constants(Machine(machine["pace"], machine["cores"]), content)


def pace() -> float:
    """Return the processor's seconds for a fixed piece of work, the best of five: a few milliseconds each."""
    values = (np.arange(60_000, dtype=np.float64) * 7919.0) % 60_013.0

    def work() -> float:
        begin = time.thread_time()
        order = np.argsort(values, kind="stable")
        np.bincount(order % 1000, weights=np.sqrt(values[order]))
        met: dict[int, int] = {}
        for value in order[:20_000].tolist():
            met[value % 1000] = met.get(value % 1000, 0) + 1
        return time.thread_time() - begin

    return min(work() for _ in range(5))


@cache
def this_machine() -> Machine:
    """Return how fast this machine is; it is asked once."""
    return Machine(pace(), cores())


def estimate(
    component: Component,
    shape: Shape,
    *,
    generalised: bool = False,
    known: Constants | None = None,
    machine: Machine | None = None,
) -> Cost:
    """Return what a method, an attack or a measure will take on data of this shape.

    Parameters
    ----------
    generalised
        Of an attack or a measure: whether the release has sets and intervals.
    known, machine
        The constants and the machine; those measured, and this one, where left out.

    Examples
    --------
    Two seconds at once and one for a thousand rows, where they were measured up to ten thousand:

    >>> from noren.data.schema import Kind
    >>> from noren.methods.thin import Thin
    >>> facts = {"seconds": {"once": 2.0, "rows": 0.001}, "memory": {"rows": 100.0}, "spread": 1.5, "parallel": 0.0,
    ...          "rows": 10_000, "people": 500}
    >>> slow = Constants(Machine(0.01, 2), {"methods": {"thin": {"history": facts}}})
    >>> cost = estimate(Thin(), Shape(Kind.HISTORY, 4000, 100), known=slow, machine=Machine(0.005, 2))
    >>> cost.seconds, cost.low, cost.high, cost.confidence
    (3.0, 2.0, 4.5, 'measured')
    """
    known = known or constants()
    machine = machine or this_machine()
    if isinstance(component, Chain):
        return _all(
            {
                f"{at}. {step.name}": estimate(step, shape, known=known, machine=machine)
                for at, step in enumerate(component.steps, start=1)
            }
        )
    room = _room(component)
    kind = str(shape.kind)
    if room != "methods":
        kind += "-generalised" if generalised else "-exact"
    law, facts = component.cost, known.found(room, component.name, kind)
    if law is None or (facts is None and not law.seconds):
        said = _("nobody measured how long {name} takes").format(name=component.name)
        return Cost(None, 0.0, None, None, "unknown", (said,))
    parameters = component.parameters()
    if facts is None:
        seconds, bytes_ = (_sum(law, of, shape, parameters) for of in (law.seconds, law.memory))
        spread, confidence, reasons = _own_range(law, component.name)
    else:
        seconds = _sum(law, facts["seconds"], shape, parameters) * _speed(facts, known.machine, machine)
        bytes_ = _sum(law, facts["memory"], shape, parameters)
        spread, confidence, reasons = _range(facts, shape, law, component.name)
    memory = bytes_ + _CELL_BYTES * shape.rows * max(shape.columns, 1)
    effort = parameters.get("effort")
    if isinstance(effort, float):
        seconds += effort
        reasons = (*reasons, _("it searches {seconds:g} seconds by the clock").format(seconds=effort))
    return Cost(seconds, seconds / spread, seconds * spread, round(memory), confidence, reasons)


def estimate_run(
    method: Method,
    shape: Shape,
    schema: Schema,
    *,
    attacks: Sequence[Attack | str] | None = None,
    measures: Sequence[Measure | str] | None = None,
    known: Constants | None = None,
    machine: Machine | None = None,
) -> Cost:
    """Return what it will take to protect, attack and measure, as :func:`~noren.judgement.outcome.run_outcome` does.

    Left out, attacks and measures are those that would run. An ensemble runs members that nobody asked
    for, and rehearses: it protects and runs its members once more. Measures that will turn out not to fit are counted,
    too.
    """
    return together(
        estimate_parts(method, shape, schema, attacks=attacks, measures=measures, known=known, machine=machine)
    )


def together(parts: Mapping[Part, Cost]) -> Cost:
    """Return what the parts of a run take one after the other, each under its name for a person."""
    said = {"protect": _("protect: {name}"), "attack": _("attack: {name}"), "measure": _("measure: {name}")}
    return _all({said.get(does, _(does)).format(name=name): cost for (does, name), cost in parts.items()})


def estimate_parts(
    method: Method,
    shape: Shape,
    schema: Schema,
    *,
    attacks: Sequence[Attack | str] | None = None,
    measures: Sequence[Measure | str] | None = None,
    known: Constants | None = None,
    machine: Machine | None = None,
) -> dict[Part, Cost]:
    """Return what each part of a run will take, in the order in which they come: see :func:`estimate_run`."""
    known = known or constants()
    generalised = makes_generalised(method)
    attackers = [_ready(every_attack, one) for one in (fitting(every_attack, schema) if attacks is None else attacks)]
    if measures is None:
        there = (
            {"original", "public", "secret"}
            | ({"guess"} if attackers else set())
            | (set() if generalised else {"exact"})
        )
        measures = [name for name in fitting(every_measure, schema) if every_measure[name].needs <= there]
    judges = [_ready(every_measure, one) for one in measures]
    asked = {one.name for one in attackers}
    votes = [one for one in attackers if isinstance(one, Ensemble)]
    heard = {name for one in votes for name in one.members or fitting(every_attack, schema)}
    attackers += [every_attack.create(name) for name in sorted(heard - asked)]
    protect = ("protect", method.name)
    parts: dict[Part, Cost] = {protect: estimate(method, shape, known=known, machine=machine)}
    if {"k", "min_class"} & _last(method).parameters().keys():
        audit = _ready(every_measure, "classes")
        parts[N_("audit"), ""] = estimate(audit, shape, generalised=generalised, known=known, machine=machine)
    for one in [*attackers, *judges]:
        cost = estimate(one, shape, generalised=generalised, known=known, machine=machine)
        parts["attack" if isinstance(one, Attack) else "measure", one.name] = cost
    if all(runs_again(step) for step in (method.steps if isinstance(method, Chain) else (method,))):
        for vote in (one for one in votes if one.rehearse):
            again = [protect, *(("attack", name) for name in vote.members or sorted({*heard} - {vote.name}))]
            own = ("attack", vote.name)
            parts[own] = together({part: parts[part] for part in (own, *again)})
    return parts


def makes_generalised(method: Method) -> bool:
    """Tell whether a method's release has sets and intervals.

    >>> from noren.methods.generalize_by_count import GeneralizeByCount
    >>> makes_generalised(GeneralizeByCount(k=2))
    True
    """
    steps = method.steps if isinstance(method, Chain) else (method,)
    return any(step.generalises for step in steps)


def _room(component: Component) -> str:
    if isinstance(component, Method):
        return "methods"
    return "attacks" if isinstance(component, Attack) else "measures"


def _ready(registry: Any, one: Any) -> Any:
    return registry.create(one) if isinstance(one, str) else one


def _last(method: Method) -> Method:
    return method.steps[-1] if isinstance(method, Chain) else method


def _sum(law: CostLaw, of_terms: Mapping[str, float], shape: Shape, parameters: Mapping[str, Any]) -> float:
    return float(sum(map(mul, of_terms.values(), law.sizes(tuple(of_terms), shape, parameters))))


def _speed(facts: Mapping[str, Any], measured_on: Machine, machine: Machine) -> float:
    """Return the seconds here for one of a processor there: by pace, and by Amdahl's law for what runs on all cores."""
    share = float(facts["parallel"])
    by_cores = 1 - share + share / max(min(machine.cores, _MOST_CORES), 1)
    return machine.pace / measured_on.pace * by_cores


def _own_range(law: CostLaw, name: str) -> tuple[float, Confidence, tuple[str, ...]]:
    said = _("how long {name} takes is its own word, nobody measured it").format(name=name)
    return _OWN_WORD, "rough", (said, *([_(law.rough)] if law.rough else []))


def _range(
    facts: Mapping[str, Any], shape: Shape, law: CostLaw, name: str
) -> tuple[float, Confidence, tuple[str, ...]]:
    """Return by which factor the time may be off, and what that rests on."""
    spread = float(facts["spread"])
    beyond = max(shape.rows / facts["rows"], shape.people / facts["people"])
    if law.rough:
        return spread * _BEYOND * (1 + math.log10(max(beyond, 1))), "rough", (_(law.rough),)
    if beyond <= 1:
        said = _("{name} was measured on data of up to {rows:,} rows").format(name=name, rows=facts["rows"])
        return spread, "measured", (said,)
    said = _("{name} was not measured on data so large, only up to {rows:,} rows and {people:,} people").format(
        name=name, rows=facts["rows"], people=facts["people"]
    )
    return spread * _BEYOND * (1 + math.log10(beyond)), "rough", (said,)


def _all(parts: Mapping[str, Cost]) -> Cost:
    """Return what parts take one after the other: their times together, the memory of the largest."""
    order: tuple[Confidence, ...] = ("measured", "rough", "unknown")
    worst = order[max((order.index(part.confidence) for part in parts.values()), default=0)]
    reasons = tuple(dict.fromkeys(said for part in parts.values() if part.confidence == worst for said in part.reasons))
    return Cost(
        seconds=_total(part.seconds for part in parts.values()),
        low=sum(part.low for part in parts.values()),
        high=_total(part.high for part in parts.values()),
        memory_bytes=_largest(part.memory_bytes for part in parts.values()),
        confidence=worst,
        reasons=reasons,
        parts=dict(parts),
    )


def _total(values: Iterable[float | None]) -> float | None:
    known = list(values)
    return None if None in known else float(sum(value for value in known if value is not None))


def _largest(values: Iterable[int | None]) -> int | None:
    known = list(values)
    return None if None in known else max((value for value in known if value is not None), default=0)
