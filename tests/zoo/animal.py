"""What an animal of the zoo is: a file as somebody might bring it, and its right reading, written down by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

__all__ = ["Animal", "Reading", "animal", "animals_of"]


@dataclass(frozen=True)
class Reading:
    """What a sensible person of the shop would say that a file holds.

    Parameters
    ----------
    columns
        For every column its role and, where it matters, its type: ``"price decimal"``. Where two readings can be
        defended both stand there: ``"date|other date|integer"``.
    people
        How many different people the rows are about; unknown ones do not count.
    cells
        Some values as they must come out: row (from 1, without the header), column, value.
    """

    kind: Literal["history", "table"]
    columns: Mapping[str, str]
    rows: int
    people: int
    cells: tuple[tuple[int, str, object], ...] = ()

    def roles(self, column: str) -> set[str]:
        """Return the roles that a column may have."""
        return set(self.columns[column].split()[0].split("|"))

    def types(self, column: str) -> set[str]:
        """Return the types that a column may have; none where any will do."""
        parts = self.columns[column].split()
        return set(parts[1].split("|")) if len(parts) > 1 else set()


@dataclass(frozen=True)
class Animal:
    """A file with its right reading, and what may be asked about it.

    Parameters
    ----------
    asks
        Of these questions (``kind``, ``customer``, ``format``, ``number``) one must be asked: the file alone does not
        tell.
    may_ask
        Questions that are no fault.
    flags
        How the owner of the file answers on the command line.
    formats
        How the owner answers a question about a column's dates.
    """

    name: str
    family: str
    story: str
    write: Callable[[Path], Path]
    reading: Reading
    asks: frozenset[str] = frozenset()
    may_ask: frozenset[str] = frozenset()
    flags: tuple[str, ...] = ()
    formats: Mapping[str, str] = field(default_factory=dict)


def animal(
    family: str,
    story: str,
    reading: Reading,
    *,
    asks: str = "",
    may_ask: str = "",
    flags: str = "",
    formats: Mapping[str, str] | None = None,
) -> Callable[[Callable[[Path], Path]], Animal]:
    """Make an animal of the function that writes its file; the function's name is the animal's."""

    def named(write: Callable[[Path], Path]) -> Animal:
        return Animal(
            name=write.__name__.replace("_", "-"),
            family=family,
            story=story,
            write=write,
            reading=reading,
            asks=frozenset(asks.split()),
            may_ask=frozenset(may_ask.split()),
            flags=tuple(flags.split()),
            formats=formats or {},
        )

    return named


def animals_of(module: object) -> Iterator[Animal]:
    """Yield the animals of a module in the order they stand there."""
    return (one for one in vars(module).values() if isinstance(one, Animal))
