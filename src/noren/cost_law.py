"""How the work of a component grows with the data: a few terms, none of which falls with rows.

Which terms a component has is read off its algorithm and said by its class; what a term costs in seconds and bytes is
measured (``benchmarks/bench_cost.py``), or said by the class where nobody measured it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Final

from noren.data.frames import History, Records
from noren.data.schema import Kind, Role, Schema
from noren.i18n import N_

__all__ = [
    "BY_CELLS",
    "BY_PEOPLE",
    "BY_ROWS",
    "BY_SETS",
    "EVERYBODY",
    "MEMORY",
    "RECONSTRUCTED",
    "TERMS",
    "CostLaw",
    "Shape",
    "Term",
    "mean_square",
]

_UNEVEN: Final = 2.5
"""Mean of the squared number of rows of a customer, over the square of the mean, where nobody counted: a shop's."""
_MOST_CELLS: Final = 1e7
_MOST_LADDERS: Final = 12


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
        """Return the shape that a :func:`~noren.reports.profile.profile` tells of."""
        columns, rows, history = facts["columns"], int(facts["rows"]), facts["history"]
        if history is not None:
            return cls(Kind.HISTORY, rows, int(history["customers"]), int(history["items"] or 0), len(columns))
        quasi = [c for c in columns if c["role"] == Role.QUASI] or columns
        return cls(Kind.TABLE, rows, rows, 0, len(quasi), tuple(int(c["distinct"] or 1) for c in quasi))


def _looked_at(schema: Schema) -> tuple[Any, ...]:
    return tuple(schema.with_role(Role.QUASI)) or tuple(schema.columns)


# --- terms -----------------------------------------------------------------------------------------------------------

Term = Callable[[Shape, Mapping[str, Any]], float]
"""How large a part of the work is, by the shape of the data and the parameters."""


def mean_square(shape: Shape) -> float:
    """Return the mean square of a customer's number of rows: what laying two like histories on one another costs."""
    return shape.uneven * (shape.rows / max(shape.people, 1)) ** 2


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
    "own pairs of rows": lambda shape, parameters: shape.people * mean_square(shape),
    "pairs of buyers": lambda shape, parameters: float(shape.rows) ** 2 / max(shape.items, 1),
    "pairs of items": lambda shape, parameters: float(shape.items) ** 2,
    "people by items": lambda shape, parameters: float(shape.people) * shape.items,
    "clusters by items": lambda shape, parameters: float(int(parameters.get("clusters", 0)) * shape.items),
}
"""The terms that any component may have."""


# --- laws ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CostLaw:
    """The terms of a component's time.

    Attributes
    ----------
    terms
        Which they are, by name: of ``TERMS``, or of its own.
    own
        Terms that no other component has.
    seconds, memory
        What one of a term takes, in seconds of a processor and in bytes, where no benchmark measured it.
    rough
        On what the time depends beside the shape; nothing where it does not.

    Examples
    --------
    >>> law = CostLaw(("once", "rows", "pairs of people"))
    >>> law.sizes(law.terms, Shape(Kind.HISTORY, 300, 20), {})
    [1.0, 300.0, 400.0]
    """

    terms: tuple[str, ...]
    own: Mapping[str, Term] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    memory: Mapping[str, float] = field(default_factory=dict)
    rough: str = ""

    def unknown(self) -> list[str]:
        """Return the terms that nobody explains."""
        named = dict.fromkeys([*self.terms, *self.seconds, *self.memory])
        return [term for term in named if term not in self.own and term not in TERMS]

    def sizes(self, terms: Sequence[str], shape: Shape, parameters: Mapping[str, Any]) -> list[float]:
        """Return how large each of some terms is."""
        return [(self.own.get(term) or TERMS[term])(shape, parameters) for term in terms]


BY_ROWS: Final = CostLaw(("once", "rows"))
BY_PEOPLE: Final = CostLaw(("once", "rows", "pairs of people"))
EVERYBODY: Final = CostLaw(("once", "rows", "pairs of people", "rows by people"))
BY_CELLS: Final = CostLaw(("once", "cells"))
BY_SETS: Final = CostLaw(("once", "rows", "own pairs of rows", "pairs of buyers", "pairs of items", "people by items"))
RECONSTRUCTED: Final = CostLaw(
    ("once", "cells", "pairs of columns", "pairs of values", "combinations"),
    rough=N_("how long the reconstruction of a perturbed table takes depends on the model that fits it"),
)

MEMORY: Final = {
    Kind.HISTORY: ("once", "rows", "pairs of people", "people by items", "pairs of items", "clusters by items"),
    Kind.TABLE: ("once", "cells", "combinations"),
}
"""The terms of the memory of all components: rows, and tables of people or items."""
