"""What a verdict counts in a release, wherever it lies; on a cluster see :class:`noren.execution.spark.SparkCounts`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from noren.data.fits import history_classes
from noren.data.frames import History, Records, Table
from noren.data.guessing.identifying import Identifying
from noren.data.public_part import identifying_in
from noren.data.release import Release
from noren.data.schema import Column, Role
from noren.measures.safety.table_classes import table_classes


def people_in(original: Records) -> int:
    """Return how many people the original is about."""
    return len(original.customers) if isinstance(original, History) else len(original)


class ReleaseCounts:
    """A release of which a verdict asks a few numbers, in memory, with the original where it is at hand.

    ``schema``, ``statement`` and ``rows`` are those of the public part. ``secret`` tells who is behind each pseudonym;
    nobody where the secret part is not at hand.
    """

    def __init__(self, release: Release, original: Records | None = None) -> None:
        self._public, self._original = release.public, original
        self.schema, self.statement, self.rows = release.public.schema, release.statement, len(release.public)
        self.secret, self.has_secret = release.secret, release.has_secret

    def people(self) -> int:
        """Return how many people the original is about: counted, or by the secret part."""
        if self._original is not None:
            return people_in(self._original)
        if isinstance(self._public, Table):
            return self.secret.original_rows if self.has_secret else self.rows
        return int(self.secret.pseudonyms["customer"].n_unique()) if self.has_secret else 0

    def shown(self) -> list[Column]:
        """Return the columns of which some row says something."""
        return [c for c in self.schema.columns if self._public.frame[c.name].null_count() < self.rows]

    def identifying(self) -> Mapping[str, Identifying]:
        """Return the columns that identify people."""
        return identifying_in(self._public)

    def alone(self, column: Column) -> float:
        """Return the share of pseudonyms with a value that no other has; sets and intervals are nobody's own."""
        customer, frame = self.schema.role(Role.CUSTOMER).name, self._public.frame
        people = frame[customer].n_unique()
        if frame[column.name].dtype.is_nested() or people < 2:
            return 0.0
        pairs = frame.select(customer, value=pl.col(column.name)).drop_nulls().unique()
        own = pairs.filter(pl.len().over("value") == 1)
        return own[customer].n_unique() / people if len(own) else 0.0

    def history_classes(self) -> pl.DataFrame:
        """Return each ``pseudonym`` with its ``class`` of equal histories, counted from 0."""
        classes = history_classes(self._public) if isinstance(self._public, History) else pl.DataFrame()
        return classes.with_columns(pl.col("pseudonym").cast(pl.String))

    def spent(self) -> pl.DataFrame | None:
        """Return by ``customer`` the rows and sums of numbers of the original; None where it is not at hand."""
        if not isinstance(self._original, History):
            return None
        name = self._original.schema.role(Role.CUSTOMER).name
        numbers = [c.name for c in self._original.schema.with_role(Role.PRICE, Role.QUANTITY)]
        return self._original.frame.group_by(pl.col(name).cast(pl.String).alias("customer")).agg(
            pl.len().alias("rows"),
            *(pl.col(n).cast(pl.Float64, strict=False).sum().alias(f"sum of {n}") for n in numbers),
        )

    def smallest_class(self, known: Sequence[str], sensitive: Sequence[str]) -> tuple[int | None, list[str]]:
        """Return the smallest class of rows alike in ``known``, and the sensitive columns that some class tells."""
        found = table_classes(self._table, list(known))
        least = None if found.sizes.is_empty() else int(found.sizes.min())  # type: ignore[arg-type]
        rows = self._table.frame.select(sensitive).with_columns(found.class_of.alias("\0class")).drop_nulls("\0class")
        told = rows.group_by("\0class").agg((pl.all().n_unique() == 1) & (pl.all().null_count() == 0))
        return least, [name for name in sensitive if told[name].any()]

    def different(self, names: Sequence[str]) -> int:
        """Return how many classes of rows there are that are alike in these columns."""
        return len(table_classes(self._table, list(names)).sizes)

    @property
    def _table(self) -> Table:
        if not isinstance(self._public, Table):
            raise TypeError("histories have no classes of rows")
        return self._public
