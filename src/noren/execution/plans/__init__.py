"""Which components have a plan for a cluster, and what the driver holds of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

from noren.errors import ParameterError, listing
from noren.i18n import _
from noren.protocols import Attack, Component, Method
from noren.tables import table_of

Side = Literal["method", "attack", "measure"]


@dataclass(frozen=True)
class ClusterPlan:
    """How one component runs on a cluster.

    ``run`` is called as the component's own function is, with what lies on a cluster in place of what lies in memory:

    - a method's: ``run(method, original: ClusterRecords, *, seed, progress) -> ClusterRelease``
    - an attack's: ``run(attack, original: ClusterRecords, public: ClusterRecords, *, seed, progress) -> ClusterGuess``
    - a measure's: ``run(measure, evidence: ClusterEvidence, *, progress) -> Score``

    ``driver`` says what the driver holds, and by what that is bounded; the texts are in ``plans.toml``.
    """

    run: Callable[..., Any]
    driver: str


_known: dict[tuple[Side, str], ClusterPlan] = {}
PLANS = ("attacks", "generalize", "histories", "safety", "tables", "utility")
"""The modules that make plans known when they are imported."""


def plan(*components: type[Component]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function known as the plan of some components."""

    def known(run: Callable[..., Any]) -> Callable[..., Any]:
        for component in components:
            _known[_side(component), component.name] = ClusterPlan(run, table_of(__name__)[run.__name__])
        return run

    return known


def _side(component: Component | type[Component]) -> Side:
    kind = component if isinstance(component, type) else type(component)
    return "method" if issubclass(kind, Method) else "attack" if issubclass(kind, Attack) else "measure"


def plans(side: Side) -> dict[str, ClusterPlan]:
    """Return the plans there are for methods, attacks or measures, by name."""
    for module in PLANS:
        import_module(f"{__name__}.{module}")
    return {name: known for (of, name), known in sorted(_known.items()) if of == side}


def has_plan(component: Component | type[Component]) -> bool:
    """Tell whether a component runs on a cluster."""
    return component.name in plans(_side(component))


def plan_of(component: Component | type[Component]) -> ClusterPlan:
    """Return the plan of a component; stop where it has none."""
    there = plans(_side(component))
    if component.name not in there:
        message = _("{component} does not run on Spark; use --engine local, or one of {names}")
        raise ParameterError(message.format(component=component.name, names=listing(list(there))))
    return there[component.name]
