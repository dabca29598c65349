"""Which measures tell the use of a release on the risk–utility map."""

from __future__ import annotations

from noren.data.schema import Kind
from noren.descriptions import Placing
from noren.measures import measures
from noren.protocols import Measure

__all__ = ["place_of_measure", "placing"]


def placing(kind: Kind | None = None) -> list[type[Measure]]:
    """Return the measures that tell the use of data of a kind, the one that is asked first before others.

    >>> [measure.name for measure in placing(Kind.TABLE)]
    ['table-loss', 'l1-precision']
    """
    every = [measures[name] for name in measures]
    told = [(m.places.rank, m.name, m) for m in every if m.places is not None]
    return [m for _rank, _name, m in sorted(told, key=lambda one: one[:2]) if kind is None or kind in m.accepts]


def place_of_measure(name: str | None) -> Placing | None:
    """Return how the measure of a name places releases; None where there is no such measure, or it places none."""
    return measures[name].places if name is not None and name in measures else None
