"""The two shapes of data: purchase histories and personal tables.

A :class:`History` has one row per purchase and a customer with many rows; a :class:`Table` has one row per person. Both
are a Polars frame and the schema that says what its columns mean. Columns may hold exact values or generalised cells
(:mod:`noren.data.cells`); the type of the column says which.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from noren.data.cells import is_generalised, lift
from noren.data.formats.parse import parse_values
from noren.data.formats.render import cell_text, lines_of
from noren.data.formats.spelling import Spelling
from noren.data.schema import Column, Kind, Role, Schema
from noren.errors import SchemaError
from noren.i18n import _
from noren.naming import listing

if TYPE_CHECKING:
    from typing import Self

__all__ = ["History", "Records", "Table"]


@dataclass(frozen=True)
class Records:
    """Rows and what their columns mean; the common ground of histories and tables."""

    frame: pl.DataFrame
    schema: Schema
    spelling: Spelling = field(default_factory=Spelling, repr=False)

    def __post_init__(self) -> None:
        _stop_at_missing(self.frame, self.schema)

    @classmethod
    def of(cls, data: Any, schema: Schema) -> Self:
        """Make records of a Polars or pandas data frame (or anything Arrow understands), typed by ``schema``."""
        frame = data if isinstance(data, pl.DataFrame) else pl.DataFrame(data)
        _stop_at_missing(frame, schema)
        return cls(parse_values(frame, schema), schema)

    def __len__(self) -> int:
        return len(self.frame)

    def __getitem__(self, role: Role | str) -> pl.Series:
        """Return the column with ``role``."""
        return self.frame[self.schema.role(role).name]

    def cells(self, column: Column) -> pl.Series:
        """Return a column as generalised cells, lifting exact values."""
        return lift(self.frame[column.name], column)

    @property
    def generalised(self) -> bool:
        """Whether any column holds generalised cells."""
        dtypes = self.frame.schema
        return any(is_generalised(dtypes[n]) for n in self.schema.names)

    def texts(self, suppressed: str = "*") -> pl.DataFrame:
        """Return every cell as the file spells it."""
        dtypes = self.frame.schema
        canonical = self.frame.select(
            cell_text(pl.col(c.name), c, dtypes[c.name]).fill_null(suppressed).alias(c.name)
            for c in self.schema.columns
        )
        return self.spelling.apply(canonical)

    def lines(self, suppressed: str = "*") -> pl.Series:
        """Return every row as one comma-separated line of text."""
        return lines_of(self.texts(suppressed))

    def take(self, rows: pl.Series) -> Self:
        """Return the rows at positions ``rows``, in that order, spelling included."""
        return replace(self, frame=self.frame[rows], spelling=self.spelling.take(rows))

    def digest(self) -> str:
        """Return the SHA-256 of the rows as text, each followed by one line feed."""
        content = hashlib.sha256()
        for start in range(0, len(self), 1 << 18):
            part = replace(self, frame=self.frame[start : start + (1 << 18)], spelling=Spelling())
            content.update(("\n".join(part.lines().to_list()) + "\n").encode())
        return content.hexdigest()


def _stop_at_missing(frame: pl.DataFrame, schema: Schema) -> None:
    there = set(frame.columns)
    missing = [name for name in schema.names if name not in there]
    if missing:
        raise SchemaError(
            _("the data have no column {name!r}").format(name=missing[0]),
            _("their columns are {names}").format(names=listing(frame.columns)),
        )


@dataclass(frozen=True)
class History(Records):
    """Purchases: who, when, what, at what price, how many; with an optional master table of the customers.

    Examples
    --------
    >>> history = History.of({"customer": ["a", "b"], "date": ["2010/12/1"] * 2, "item": ["x", "y"],
    ...                       "price": [1.5, 2.0], "quantity": [1, 2]}, Schema.preset("pwscup2018"))
    >>> history.customers.to_list(), history.lines()[1]
    (['a', 'b'], 'b,2010/12/1,y,2,2')
    """

    master: pl.DataFrame | None = None

    def __post_init__(self) -> None:
        if self.schema.kind != Kind.HISTORY:
            raise SchemaError(
                _("the schema {schema} describes a table").format(schema=self.schema.name),
                _("use a schema of kind history"),
            )
        super().__post_init__()

    @property
    def customers(self) -> pl.Series:
        """The customers, in order of first appearance."""
        return self[Role.CUSTOMER].drop_nulls().unique(maintain_order=True)

    def measured(self) -> tuple[Column, ...]:
        """Return the columns that a release generalises and U counts (S0): date, item, price, quantity."""
        return tuple(
            c for role in (Role.DATE, Role.ITEM, Role.PRICE, Role.QUANTITY) for c in self.schema.with_role(role)
        )


@dataclass(frozen=True)
class Table(Records):
    """People: one row each, with identifying, linking and sensitive columns."""

    def __post_init__(self) -> None:
        if self.schema.kind != Kind.TABLE:
            raise SchemaError(
                _("the schema {schema} describes a history").format(schema=self.schema.name),
                _("use a schema of kind table"),
            )
        super().__post_init__()

    def with_role(self, *roles: Role | str) -> pl.DataFrame:
        """Return the columns with any of ``roles``."""
        names: Iterable[str] = [c.name for c in self.schema.with_role(*roles)]
        return self.frame.select(names)
