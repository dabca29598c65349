"""Base class of the builders of hierarchies, and the values of a column that they get.

A builder is a small value with its parameters, read from one line of text. The command line, the page and the REST
interface ask in the same words: ``by`` names the builder, ``with`` holds what it needs (``5, 10, 20``), ``other`` is
the label of values that it has no place for.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

import polars as pl

from noren.data.frames import Records
from noren.data.hierarchies.levels import MISSING_MARK, Hierarchy, texts, texts_of
from noren.data.schema import Column, Scale, ValueType
from noren.errors import ParameterError, listing, quoted
from noren.i18n import _
from noren.progress import Progress, silent
from noren.tables import table_of

if TYPE_CHECKING:
    from typing import Self

_MOST_LISTED: Final = 10


@dataclass(frozen=True)
class ColumnValues:
    """A column of data for which a hierarchy is to be made; ``progress`` reports long work."""

    records: Records
    column: Column
    progress: Progress = silent

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @cached_property
    def typed(self) -> pl.Series:
        """The different values, in order."""
        return self.records.frame[self.name].drop_nulls().unique().sort()

    @cached_property
    def counts(self) -> pl.DataFrame:
        """How many rows (``rows``) have each text (``0``); missing cells are none of them."""
        return texts_of(self.records, self.column).drop_nulls().alias("0").value_counts(name="rows", sort=True)

    @cached_property
    def texts(self) -> pl.Series:
        """The texts a hierarchy lists, in order: those of the data and of the schema's domain.

        Methods take :data:`.MISSING_MARK` for a missing value unless a hierarchy lists it.
        """
        if self.column.scale == Scale.NOMINAL:
            own = pl.concat([self.counts["0"], pl.Series("0", self.column.domain or (), dtype=pl.String)])
            return own.filter(own != MISSING_MARK).unique().sort()
        return texts(self.typed, self.column).alias("0")

    @cached_property
    def rows(self) -> pl.Series:
        """How many rows each of :attr:`texts` has."""
        counted = self.texts.to_frame("0").join(self.counts, on="0", how="left", maintain_order="left")
        return counted["rows"].fill_null(0)

    def hierarchy(self, levels: Sequence[pl.Series]) -> Hierarchy:
        """Return the hierarchy of :attr:`texts` by the labels of each level."""
        return Hierarchy.of_labels(self.name, self.texts, levels)


@dataclass(frozen=True)
class Builder(ABC):
    """One way to make a hierarchy of a column's values; the last level is always ``*``.

    Attributes
    ----------
    parameters, other
        What it needs, as it was typed and read; the label of values that it has no place for.
    by
        Its name.
    summary, asks, example
        What it does; what ``with`` holds; an example of that.
    types
        The types of values that it can group.
    """

    parameters: tuple[Any, ...] = ()
    other: str = ""

    by: ClassVar[str]
    summary: ClassVar[str]
    asks: ClassVar[str]
    example: ClassVar[str]
    types: ClassVar[frozenset[ValueType]]

    def __init_subclass__(cls, by: str) -> None:
        about = table_of(__name__)[by]
        cls.by, cls.summary = by, about["summary"]
        cls.asks, cls.example = about.get("asks", ""), about.get("example", "")
        cls.types = frozenset(map(ValueType, about.get("types", ValueType)))

    @classmethod
    def of_text(cls, text: str = "", other: str = "") -> Self:
        """Return the builder that ``with`` and ``other`` ask for."""
        return cls(cls._read(text), other)

    @classmethod
    def _read(cls, text: str) -> tuple[Any, ...]:
        """Return the parameters in a text; by default there are none."""
        if text.strip():
            raise ParameterError(_("{by} takes no parameters; omit them").format(by=cls.by), value=text)
        return ()

    @classmethod
    def _numbers(cls, text: str) -> list[float]:
        """Return the numbers of a list in a text."""
        try:
            return [float(part) for part in parts_of(text.replace(";", ","))]
        except ValueError:
            raise cls._misread(text) from None

    @classmethod
    def _misread(cls, text: str) -> ParameterError:
        message = _("{by} expects {parameters}; write them like {example}")
        return ParameterError(message.format(by=cls.by, parameters=_(cls.asks), example=cls.example), value=text)

    def _reject_misfits(self, column: str, texts: pl.Series, by: str = "") -> None:
        """Stop at values that the builder, or the way ``by`` of it, cannot group and has no label for."""
        if len(texts) and not self.other:
            message = _("{by} cannot group these values: {values}; correct them, or set a label for all other values")
            values = listing([quoted(text) for text in texts], _MOST_LISTED)
            raise ParameterError(message.format(by=by or self.by, values=values), column=column)

    def _fitted(self, values: ColumnValues, fits: pl.Series, levels: Sequence[pl.Series]) -> Hierarchy:
        """Return the hierarchy of the values that fit; others become ``other``, or stop it where that is empty."""
        fits = fits.fill_null(value=False)
        self._reject_misfits(values.name, values.texts.filter(~fits))
        return values.hierarchy([own.set(~fits, self.other) for own in levels])

    def build(self, values: ColumnValues) -> Hierarchy:
        """Return the hierarchy of a column's values; stop where they are of a type it is not for, or there are none."""
        if values.column.type not in self.types:
            problem = _("{setting} does not apply to values of type {type}")
            builders = table_of(__name__).items()
            names = ", ".join(by for by, about in builders if values.column.type in about.get("types", ValueType))
            remedy = _("use one of {names}").format(names=names)
            problem = problem.format(setting=self.by, type=values.column.type)
            raise ParameterError(problem, remedy, column=values.name)
        if not len(values.texts):
            raise ParameterError(_("the column has no values; name another column"), column=values.name)
        return self._build(values)

    @abstractmethod
    def _build(self, values: ColumnValues) -> Hierarchy:
        """Return the hierarchy of a column that has values of one of the types."""


def parts_of(text: str) -> list[str]:
    """Return the parts of a comma-separated list, also with Japanese commas.

    >>> parts_of("5, 10、20,")
    ['5', '10', '20']
    """
    return [part.strip() for part in re.split("[,、，]", text) if part.strip()]
