"""All animals of the zoo, by family."""

from __future__ import annotations

from tests.zoo.animal import Animal, animals_of
from tests.zoo.animals import containers, countries, events, holes, people, shops

__all__ = ["ZOO"]

ZOO: tuple[Animal, ...] = tuple(
    one for module in (shops, countries, containers, holes, events, people) for one in animals_of(module)
)
"""Every animal, each by a name of its own."""
