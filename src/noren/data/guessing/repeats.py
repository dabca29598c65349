"""How often values come again, and whether one column's values stand under another's: baskets under customers.

Everything is counted on filled cells: empty ones, nulls and NaN say nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from noren.data.schema import Column, ValueType

__all__ = ["Repeats", "belongs", "filled", "holds_plain_values", "looks_like_ids", "may_name", "varies_within"]

_MOSTLY = 0.9
_LONGEST_ID = 64


@dataclass(frozen=True)
class Repeats:
    """How many cells of a column are filled, and with how many different values.

    >>> Repeats.of(pl.Series(["a", "b", "a", "", None]))
    Repeats(filled=3, distinct=2)
    """

    filled: int
    distinct: int

    @classmethod
    def of(cls, values: pl.Series) -> Repeats:
        """Count the values of a column."""
        known = filled(values)
        return cls(len(known), known.n_unique())

    @property
    def each(self) -> float:
        """In how many rows a value stands, on average."""
        return self.filled / self.distinct if self.distinct else 0.0

    @property
    def repeated(self) -> int:
        """How many cells hold a value that stood before."""
        return self.filled - self.distinct


def holds_plain_values(values: pl.Series) -> bool:
    """Tell whether a column has values that can be compared: no lists, no bytes, no objects."""
    return not (values.dtype.is_nested() or values.dtype in (pl.Object, pl.Binary))


def filled(values: pl.Series) -> pl.Series:
    """Return the values that say something."""
    return values.filter(_is_filled(values))


def _is_filled(values: pl.Series) -> pl.Series:
    said = values.is_not_null()
    if values.dtype == pl.String:
        said &= values.str.strip_chars() != ""
    elif values.dtype.is_float():
        said &= values.is_not_nan()
    return said.fill_null(value=False)


def may_name(column: Column) -> bool:
    """Tell whether values can be names of somebody or something: texts or whole numbers, 12345.0 among them."""
    return column.type in (ValueType.TEXT, ValueType.INTEGER) or (
        column.type == ValueType.DECIMAL and column.width == 1.0
    )


def looks_like_ids(column: Column, values: pl.Series) -> bool:
    """Tell whether values look like numbers of people or things: whole numbers, or short texts with a digit or an @.

    >>> looks_like_ids(Column(name="x"), pl.Series(["A1", "A2"])), looks_like_ids(Column(name="x"), pl.Series(["Nara"]))
    (True, False)
    """
    if not may_name(column) or not holds_plain_values(values):
        return False
    known = filled(values)
    if column.type != ValueType.TEXT or known.dtype.is_numeric():
        return len(known) > 0
    texts = known.cast(pl.String)
    coded = texts.str.contains(r"[0-9@]|^[0-9A-Fa-f]{12,}$") & ~texts.str.contains(r"\s\S+\s")
    coded &= texts.str.len_chars() <= _LONGEST_ID
    return len(coded) > 0 and float(coded.mean()) >= _MOSTLY  # type: ignore[arg-type]


def varies_within(head: pl.DataFrame, person: str, column: str) -> bool:
    """Tell whether some person has more than one value of ``column``."""
    both = _both(head, person, column)
    return both.n_unique() > both[person].n_unique() if len(both) else False


def belongs(head: pl.DataFrame, inner: str, outer: str, *, slack: float = 0.01) -> bool:
    """Tell whether every value of ``inner``, but for a share of ``slack``, goes with one value of ``outer``.

    Baskets do so with customers.

    >>> rows = pl.DataFrame({"basket": [1, 1, 2, 3], "who": ["a", "a", "a", "b"]})
    >>> belongs(rows, "basket", "who"), belongs(rows, "who", "basket")
    (True, False)
    """
    both = _both(head, inner, outer)
    if not len(both):
        return False
    return both.n_unique() <= (1 + slack) * both[inner].n_unique()


def _both(head: pl.DataFrame, first: str, second: str) -> pl.DataFrame:
    said = _is_filled(head[first]) & _is_filled(head[second])
    return head.select(first, second).filter(said)
