"""What every builder of hierarchies is: a small value with its parameters, read from one line of text.

The command line, the page and the REST interface ask in the same words: ``by`` names the builder, ``with`` holds what
it needs (``5, 10, 20``), ``other`` is the label of values that it has no place for.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Final

from noren.data.hierarchies.column_values import ColumnValues
from noren.data.hierarchies.levels import Hierarchy
from noren.data.schema import ValueType
from noren.errors import ParameterError
from noren.i18n import _

__all__ = ["ANY", "Builder", "numbers_in", "parts_of"]

ANY: Final = frozenset(ValueType)


@dataclass(frozen=True)
class Builder(ABC):
    """One way to make a hierarchy of a column's values; the last level is always ``*``.

    Attributes
    ----------
    by
        Its name.
    summary, asks, example
        What it does; what ``with`` holds; an example of that.
    types
        The types of values that it can group.
    """

    by: ClassVar[str]
    summary: ClassVar[str]
    asks: ClassVar[str] = ""
    example: ClassVar[str] = ""
    types: ClassVar[frozenset[ValueType]] = ANY

    @classmethod
    @abstractmethod
    def of_text(cls, text: str, other: str) -> Builder:
        """Return the builder that ``with`` and ``other`` ask for."""

    @abstractmethod
    def build(self, values: ColumnValues) -> Hierarchy:
        """Return the hierarchy of a column's values."""


def parts_of(text: str, marks: str = ",") -> list[str]:
    """Return the parts of a list that a person typed, also with the commas of Japanese text.

    >>> parts_of("5, 10、20,")
    ['5', '10', '20']
    """
    for mark in "、，":
        text = text.replace(mark, marks[0])
    return [part.strip() for part in text.split(marks[0]) if part.strip()]


def numbers_in(text: str, what: str, example: str) -> list[float]:
    """Return the numbers of a list that a person typed; ``what`` they are and an ``example`` are told of others."""
    try:
        return [float(part) for part in parts_of(text.replace(";", ","))]
    except ValueError:
        raise ParameterError(what, _("write them like {example}").format(example=example), value=text) from None
