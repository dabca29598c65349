"""What is counted on a cluster and then held by the driver, each with its bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import polars as pl

from noren.data.schema import Column
from noren.errors import ParameterError
from noren.execution.frames import ClusterRecords, polars_of
from noren.i18n import _

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame

__all__ = ["MOST_COMBINATIONS", "MOST_VALUES", "ROWS", "combinations", "counted", "distinct_values"]

MOST_COMBINATIONS = 10_000_000
"""Combinations of values that the driver holds with their counts: a search over them needs about 2 GB for each core."""
MOST_VALUES = 1_000_000
"""Values of one column that the driver holds."""
ROWS = "noren_rows"
"""How many rows a combination has."""


def counted(
    frame: DataFrame, by: Mapping[str, Expression], *, rows: int, most: int, cure: str, **also: Expression
) -> pl.DataFrame:
    """Count rows by key and bring the counts to the driver, sorted by key; stop where there are more than ``most``.

    ``rows`` says how many rows the frame has; where they are few, nobody needs to count keys first. ``also`` are
    further aggregates of each key.
    """
    from pyspark import StorageLevel
    from pyspark.sql import functions as f

    further = (expression.alias(name) for name, expression in also.items())
    keys = frame.groupBy(*(key.alias(name) for name, key in by.items()))
    groups = keys.agg(f.count(f.lit(1)).alias(ROWS), *further)
    if rows <= most:
        return polars_of(groups.toArrow()).sort(list(by), nulls_last=False)
    groups = groups.persist(StorageLevel.DISK_ONLY)
    try:
        count = groups.count()
        if count > most:
            raise ParameterError(
                _("the driver would hold {count:,} combinations of values, more than {most:,}").format(
                    count=count, most=most
                ),
                cure,
            )
        return polars_of(groups.toArrow()).sort(list(by), nulls_last=False)
    finally:
        groups.unpersist()


def combinations(records: ClusterRecords, columns: Sequence[Column]) -> pl.DataFrame:
    """Return the combinations of values of some columns, under their names in the frame, with :data:`ROWS`."""
    by = {records.at(column): records.column(column) for column in columns}
    cure = _("name fewer columns with --quasi, or round their values first; --engine local has no such bound")
    return counted(records.frame, by, rows=records.rows, most=MOST_COMBINATIONS, cure=cure)


def distinct_values(records: ClusterRecords, name: str) -> pl.Series:
    """Return the values of a column that occur, sorted."""
    cure = _("declare the column's values in the schema, or leave it out")
    by = {records.at(name): records.column(name)}
    found = counted(records.frame, by, rows=records.rows, most=MOST_VALUES, cure=cure)
    return found[records.at(name)].cast(records.types[name]).drop_nulls().alias(name)
