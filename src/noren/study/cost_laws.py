"""How the work of methods, attacks and measures grows with the data: a few terms each, none of which falls with rows.

What a term costs in seconds and bytes is measured (``benchmarks/bench_cost.py``); which terms a component has is read
off its algorithm and said here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from noren.data.frames import History, Records
from noren.data.schema import Kind, Role, Schema
from noren.i18n import N_
from noren.methods.generalize import EFFORTS
from noren.methods.pseudo_records import STEPS

__all__ = ["LAWS", "MEMORY", "NO_LAW", "ROUGH", "Shape", "law_of", "terms_of"]

_UNEVEN: Final = 2.5
"""Mean of the squared number of rows of a customer, over the square of the mean, where nobody counted: a shop's."""
_MOST_CELLS: Final = 1e7
_MOST_LADDERS: Final = 12
_WHOLE, _BLOCK = 4000, 1000
"""Customers that generalize searches in one block, and in each of several."""


@dataclass(frozen=True)
class Shape:
    """How large data are.

    Attributes
    ----------
    people
        Customers of a history; of a table, its rows.
    items
        Different items of a history.
    columns
        Columns that a method looks at: quasi columns of a table, all of a history.
    domains
        How many different values each of those columns has, where that is known.
    uneven
        Of a history, the mean of the squared number of rows of a customer, over the square of the mean.
    """

    kind: Kind
    rows: int
    people: int
    items: int = 0
    columns: int = 5
    domains: tuple[int, ...] = ()
    uneven: float = _UNEVEN

    @classmethod
    def of(cls, records: Records) -> Shape:
        """Return the shape of data at hand.

        >>> from noren.api import sample
        >>> Shape.of(sample(customers=20, rows=300, items=50, seed=1)).people
        20
        """
        schema, rows = records.schema, len(records)
        if isinstance(records, History):
            per = records.frame[schema.role(Role.CUSTOMER).name].drop_nulls().value_counts()["count"]
            things = schema.with_role(Role.ITEM)
            items = records.frame[things[0].name].n_unique() if things else 0
            mean = float(per.mean() or 0)  # type: ignore[arg-type]
            uneven = float((per.cast(float) ** 2).mean() or 0) / mean**2 if mean else _UNEVEN  # type: ignore[arg-type]
            return cls(schema.kind, rows, len(per), items, len(schema.columns), uneven=max(uneven, 1.0))
        domains = tuple(records.frame[c.name].n_unique() for c in _looked_at(schema))
        return cls(schema.kind, rows, rows, 0, len(domains), domains)

    @classmethod
    def of_profile(cls, facts: Mapping[str, Any]) -> Shape:
        """Return the shape that a :func:`~noren.study.profile.profile` tells of."""
        columns, rows, history = facts["columns"], int(facts["rows"]), facts["history"]
        if history is not None:
            return cls(Kind.HISTORY, rows, int(history["customers"]), int(history["items"] or 0), len(columns))
        quasi = [c for c in columns if c["role"] == Role.QUASI] or columns
        return cls(Kind.TABLE, rows, rows, 0, len(quasi), tuple(int(c["distinct"] or 1) for c in quasi))


def _looked_at(schema: Schema) -> tuple[Any, ...]:
    return tuple(schema.with_role(Role.QUASI)) or tuple(schema.columns)


# --- terms -----------------------------------------------------------------------------------------------------------

Term = Callable[[Shape, Mapping[str, Any]], float]


def _square(shape: Shape) -> float:
    """The mean square of a customer's number of rows: what laying two like histories on one another costs."""
    return shape.uneven * (shape.rows / max(shape.people, 1)) ** 2


def _together(shape: Shape, parameters: Mapping[str, Any]) -> int:
    """How many customers are searched together."""
    whole = shape.people if shape.people <= _WHOLE else _BLOCK
    return min(int(parameters.get("block") or whole), shape.people)


def _sharing(parameters: Mapping[str, Any]) -> int:
    return int(parameters.get("k") or 4)  # the common size that survival ends up with is about that


def _pair_looks(shape: Shape, parameters: Mapping[str, Any]) -> float:
    near = min(12 * _sharing(parameters) + 12, _together(shape, parameters))
    return shape.people * near * _square(shape)


def _rounds(shape: Shape, parameters: Mapping[str, Any]) -> float:
    k = _sharing(parameters)
    effort = parameters.get("effort", "normal")
    if effort not in EFFORTS or (k == 2 and shape.people % 2 == 0 and not parameters.get("survival")):
        return 0.0
    return EFFORTS[effort].rounds * EFFORTS[effort].tries * shape.people * _square(shape)


def _steps(shape: Shape, parameters: Mapping[str, Any]) -> float:
    if parameters.get("variant", "balanced") != "balanced":
        return 0.0
    return STEPS[parameters.get("effort", "normal")] * math.sqrt(shape.rows * float(shape.people))


def _united(shape: Shape, parameters: Mapping[str, Any]) -> float:
    """Rows that are added, at most: each member is given what all others of its cluster have."""
    return shape.rows * shape.people / max(int(parameters.get("clusters", 1)), 1)


TERMS: Final[Mapping[str, Term]] = {
    "once": lambda shape, parameters: 1.0,
    "rows": lambda shape, parameters: float(shape.rows),
    "cells": lambda shape, parameters: float(shape.rows) * shape.columns,
    "ordered cells": lambda shape, parameters: shape.rows * shape.columns * math.log2(shape.rows + 2),
    "pairs of columns": lambda shape, parameters: shape.rows * shape.columns**2 / 2,
    "pairs of values": lambda shape, parameters: float(sum(a * b for a, b in combinations(shape.domains, 2))),
    "levels": lambda shape, parameters: float(shape.rows) * 3 ** min(shape.columns, _MOST_LADDERS),
    "combinations": lambda shape, parameters: min(float(math.prod(shape.domains)), _MOST_CELLS),
    "pairs of people": lambda shape, parameters: float(shape.people) ** 2,
    "rows by people": lambda shape, parameters: float(shape.rows) * shape.people,
    "pairs of rows": lambda shape, parameters: float(shape.rows) ** 2,
    "own pairs of rows": lambda shape, parameters: shape.people * _square(shape),
    "pairs of buyers": lambda shape, parameters: float(shape.rows) ** 2 / max(shape.items, 1),
    "pairs of items": lambda shape, parameters: float(shape.items) ** 2,
    "people by items": lambda shape, parameters: float(shape.people) * shape.items,
    "people together": lambda shape, parameters: float(shape.people) * _together(shape, parameters),
    "looks at pairs": _pair_looks,
    "rounds": _rounds,
    "steps": _steps,
    "united rows": _united,
    "clusters by rows": lambda shape, parameters: float(int(parameters.get("clusters", 1)) * shape.rows),
    "clusters by items": lambda shape, parameters: float(int(parameters.get("clusters", 0)) * shape.items),
}


def terms_of(law: tuple[str, ...], shape: Shape, parameters: Mapping[str, Any]) -> list[float]:
    """Return how large each term of a law is.

    >>> terms_of(("once", "rows", "pairs of people"), Shape(Kind.HISTORY, 300, 20), {})
    [1.0, 300.0, 400.0]
    """
    return [TERMS[term](shape, parameters) for term in law]


# --- laws ------------------------------------------------------------------------------------------------------------

_BY_ROWS = ("once", "rows")
_BY_PEOPLE = ("once", "rows", "pairs of people")
_EVERYBODY = ("once", "rows", "pairs of people", "rows by people")
_BY_CELLS = ("once", "cells")
_RECONSTRUCTED = ("once", "cells", "pairs of columns", "pairs of values", "combinations")
_BY_SETS = ("once", "rows", "own pairs of rows", "pairs of buyers", "pairs of items", "people by items")
_SIGNATURES = {f"s{n}": _BY_PEOPLE for n in range(1, 9)}

LAWS: Final[Mapping[str, Mapping[str, tuple[str, ...]]]] = {
    "methods": {
        "generalize": ("once", "rows", "people together", "looks at pairs", "rounds"),
        "generalize-by-count": ("once", "rows", "own pairs of rows"),
        "hierarchy": ("once", "cells", "ordered cells", "levels"),
        "mondrian": ("once", "cells", "ordered cells"),
        "monthly-pseudonyms": _BY_ROWS,
        "perturb": _BY_ROWS,
        "pseudo-records": ("once", "rows", "steps", "united rows", "clusters by rows"),
        "pseudonymize": _BY_ROWS,
        "retention": _BY_CELLS,
        "swap": _BY_ROWS,
        "thin": _BY_ROWS,
    },
    "attacks": {
        "consistency": _EVERYBODY,
        "ensemble": _BY_PEOPLE,
        "item-candidates": _BY_PEOPLE,
        "jaccard": _EVERYBODY,
        "linkage": _EVERYBODY,
        "nearest": ("once", "rows", "pairs of people", "rows by people", "pairs of rows"),
        "profile": _EVERYBODY,
        "unique-rows": _BY_ROWS,
    }
    | _SIGNATURES,
    "measures": {
        "association": _RECONSTRUCTED,
        "cell-error": _BY_ROWS,
        "class-size": _BY_CELLS,
        "classes": _EVERYBODY,
        "clustering": _RECONSTRUCTED,
        "discernibility": _BY_CELLS,
        "e1": _BY_SETS,
        "e2": _BY_SETS,
        "e3": _BY_SETS,
        "e4": _BY_ROWS,
        "e5": _BY_ROWS,
        "e6": _BY_ROWS,
        "effective": _BY_PEOPLE,
        "emm": _BY_PEOPLE,
        "entropy-loss": _BY_CELLS,
        "frequent-itemsets": _BY_SETS,
        "item-similarity": _BY_SETS,
        "jaccard-mean": _EVERYBODY,
        "l1-precision": _RECONSTRUCTED,
        "mm": _BY_PEOPLE,
        "prediction": _RECONSTRUCTED,
        "reid-rate": _BY_PEOPLE,
        "rfm": _BY_PEOPLE,
        "statistics": _BY_ROWS,
        "survival": _EVERYBODY,
        "table-loss": _BY_CELLS,
        "um": _BY_PEOPLE,
    },
}
"""Of each room, the terms of each component's time."""

NO_LAW: Final[Mapping[str, Mapping[str, str]]] = {"methods": {"chain": N_("the sum of its steps")}}
"""Components that have none, and why."""

ROUGH: Final[Mapping[str, Mapping[str, str]]] = {
    "methods": {"hierarchy": N_("how long the search through the levels takes depends on the hierarchies")},
    "measures": dict.fromkeys(
        ("association", "clustering", "l1-precision", "prediction"),
        N_("how long the reconstruction of a perturbed table takes depends on the model that fits it"),
    )
    | {"classes": N_("how long counting the customers who fit takes depends on how many fit each history")},
}
"""Components whose time depends on more than the shape, and on what."""

MEMORY: Final = {
    Kind.HISTORY: ("once", "rows", "pairs of people", "people by items", "pairs of items", "clusters by items"),
    Kind.TABLE: ("once", "cells", "combinations"),
}
"""The terms of the memory of all components: rows, and tables of people or items."""


def law_of(room: str, name: str) -> tuple[str, ...] | None:
    """Return the terms of a component's time; None where nobody measured it.

    >>> law_of("attacks", "unique-rows"), law_of("attacks", "somebody-elses")
    (('once', 'rows'), None)
    """
    return LAWS[room].get(name)
