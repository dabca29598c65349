"""The attributes of a perturbed table: their values in order, as codes that kernels work on.

An attribute has a finite list of values that is known before the data are: the domain of a nominal column, the points
of a bounded grid of numbers or days, or classes of numbers. The list is public, and says nothing about who is in the
data.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl

from noren.data.cells import is_generalised
from noren.data.schema import Column, Role, Scale, ValueType
from noren.errors import ParameterError, SchemaError, ValueInCellError
from noren.kernels.arrays import Whole
from noren.tables import Texts

say = Texts(__name__)

MISSING = "(missing)"
"""How a missing value is released where missing is a category of its own."""

_LONGEST_GRID = 10_000_000
_MOST_CLASSES = 100_000
_NEARLY = 1e-6
_CLASSES = re.compile(r"^(?P<name>.+)=(?P<first>-?[\d.]+)\.\.(?P<last>-?[\d.]+):(?P<step>[\d.]+)$")


def class_ends(text: str) -> tuple[str, tuple[float, ...]]:
    """Return the column and the upper ends of the classes that ``name=first..last:step`` means.

    The first class holds everything up to ``first``.

    >>> class_ends("age=20..35:5")
    ('age', (20.0, 25.0, 30.0, 35.0))
    """
    match = _CLASSES.match(text)
    try:
        first, last, step = (float(match[part]) for part in ("first", "last", "step"))  # type: ignore[index]
        count = (last - first) / step
        if not (0 <= count <= _MOST_CLASSES and abs(count - round(count)) < _NEARLY):
            raise ValueError(text)
    except (TypeError, ValueError, ZeroDivisionError):
        raise ParameterError(say("classes_not_understood", text=text)) from None
    return str(match["name"]), tuple(first + step * i for i in range(round(count) + 1))  # type: ignore[index]


@dataclass(frozen=True)
class Attribute:
    """One attribute: what its values are, in order."""

    column: Column
    """The column as released: its domain, or its bounds and grid, list the values."""
    ends: tuple[float, ...] = ()
    """The upper ends of the classes that the original's numbers were put into; empty where values stay as they are."""

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @property
    def numeric(self) -> bool:
        """Whether values lie on a grid, so that near ones are alike."""
        return self.column.domain is None

    @property
    def size(self) -> int:
        """How many values there are."""
        if self.column.domain is not None:
            return len(self.column.domain)
        low, high = _ends(self.column)
        return int(np.floor((high - low) / self.column.grid + _NEARLY)) + 1

    def labels(self) -> list[str]:
        """Return the values as a person reads them."""
        if self.column.domain is not None:
            return list(self.column.domain)
        return [str(v) for v in self.values(np.arange(self.size)).to_list()]

    def codes(self, values: pl.Series, first_row: int = 1) -> Whole:
        """Return the place of each original value in the list; a value outside stops, with its row."""
        if is_generalised(values.dtype):
            raise SchemaError(say("generalised"), column=self.name)
        if not self.ends:
            return self.places(values, first_row)
        numbers = values.cast(pl.Float64)
        has_missing = self.column.domain is not None and MISSING in self.column.domain
        known = numbers.is_not_null().to_numpy()
        filled = numbers.fill_null(self.ends[0]).to_numpy()
        class_codes = np.searchsorted(np.asarray(self.ends), filled, side="left").astype(np.int64)
        strange = pl.Series((class_codes >= len(self.ends)) | (~known & (not has_missing)))
        self._reject_unknown_values(values, strange, first_row)
        return np.where(known, class_codes, len(self.ends)) if has_missing else class_codes

    def places(self, values: pl.Series, first_row: int = 1) -> Whole:
        """Return the place of each released value in the list."""
        if self.column.domain is None:
            low, high = _ends(self.column)
            numbers = values.to_physical().cast(pl.Float64)
            steps = (numbers - low) / self.column.grid
            off = ((steps - steps.round()).abs() > 1e-3) | (numbers < low) | (numbers > high + _NEARLY)
            self._reject_unknown_values(values, off | numbers.is_null(), first_row)
            return steps.round().cast(pl.Int64).to_numpy()
        texts = values.cast(pl.String)
        if MISSING in self.column.domain:
            texts = texts.fill_null(MISSING)
        coded = texts.cast(pl.Enum(self.column.domain), strict=False).to_physical().cast(pl.Int64)
        self._reject_unknown_values(values, coded.is_null(), first_row)
        return coded.to_numpy()

    def _reject_unknown_values(self, values: pl.Series, strange: pl.Series, first_row: int) -> None:
        if not strange.any():
            return
        row = int(strange.arg_true()[0])
        if values[row] is None:
            raise ValueInCellError(say("value_missing"), row=first_row + row, column=self.name)
        raise ValueInCellError(
            say("not_in_domain", count=self.size), row=first_row + row, column=self.name, value=values[row]
        )

    def values(self, codes: Whole, *, numbered: bool = False) -> pl.Series:
        """Return the released values of codes; numbered, a text is a number of its domain: a byte, not sixteen."""
        if self.column.domain is not None:
            kind = pl.Enum(self.column.domain) if numbered else pl.String()
            return pl.Series(self.name, self.column.domain, dtype=kind).gather(pl.Series(codes))
        low, _high = _ends(self.column)
        numbers = low + codes * self.column.grid
        parts = round(1 / self.column.grid)
        if parts > 1 and abs(parts * self.column.grid - 1) < _NEARLY:
            # 182/100 is the number a file's 1.82 is read as; 182·0.01 need not be
            numbers = np.round(numbers * parts) / parts
        if self.column.type == ValueType.DECIMAL:
            return pl.Series(self.name, numbers)
        return pl.Series(self.name, np.rint(numbers).astype(np.int64)).cast(self.column.dtype)


def attribute_of(
    column: Column, *, ends: Sequence[float] = (), missing: bool = False, seen: pl.Series | None = None
) -> Attribute:
    """Return the attribute that a column makes.

    ``ends`` are the upper ends of classes, for numbers; with ``missing`` a missing value is a category of its own; a
    nominal column without a domain takes it from the data ``seen``.
    """
    if ends:
        if column.scale != Scale.RATIO:
            raise ParameterError(say("classes_of_texts"), column=column.name)
        labels = [f"≤{ends[0]:g}", *(f"{a + column.grid:g}–{b:g}" for a, b in pairwise(ends))]
        return Attribute(_as_text(column, labels, missing=missing), tuple(ends))
    if column.scale == Scale.NOMINAL:
        domain = column.domain
        if domain is None and seen is not None:
            domain = tuple(str(v) for v in seen.drop_nulls().unique().sort().to_list())
        if domain is None:
            raise SchemaError(say("no_domain"), column=column.name)
        made = Attribute(_as_text(column, domain, missing=missing))
    else:
        problem = ""
        if column.type not in (ValueType.INTEGER, ValueType.DECIMAL, ValueType.DATE):
            problem = say("other_type", type=column.type)
        elif column.minimum is None or column.maximum is None:
            problem = say("no_bounds", name=column.name)
        elif missing and column.optional:
            problem = say("number_missing", name=column.name)
        elif (_ends(column)[1] - _ends(column)[0]) / column.grid >= _LONGEST_GRID:
            problem = say("grid_too_long", most=_LONGEST_GRID)
        if problem:
            raise SchemaError(problem, column=column.name)
        made = Attribute(column)
    if made.size < 2:
        raise SchemaError(say("one_value"), column=column.name)
    return made


def _as_text(column: Column, labels: Sequence[str], *, missing: bool) -> Column:
    if MISSING in labels:
        raise SchemaError(say("missing_is_a_value", value=MISSING), column=column.name)
    # a value in place of what is missing: the column is not optional any more
    extra = (MISSING,) if missing and column.optional else ()
    return Column(name=column.name, role=Role(column.role), domain=(*labels, *extra))


def _ends(column: Column) -> tuple[float, float]:
    low, high = column.minimum, column.maximum
    if isinstance(low, dt.date) and isinstance(high, dt.date):
        day_0 = dt.date(1970, 1, 1)
        return float((low - day_0).days), float((high - day_0).days)
    if isinstance(low, float) and isinstance(high, float):
        return low, high
    raise SchemaError(say("no_bounds", name=column.name), column=column.name)
