"""Cells of a cluster's frame as numbers, their spread, and small frames that go to the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from noren.data.schema import Column, Role
from noren.execution.frames import ClusterRecords, arrow_of

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["as_number", "population_sds", "small_frame"]

_MICROSECONDS_PER_DAY = 86_400_000_000
_NANOSECONDS_PER_MINUTE = 60_000_000_000


def as_number(records: ClusterRecords, column: Column | Role) -> Expression:
    """Return ordered values as numbers, null where missing: what :func:`noren.data.arrays.numbers` says of a row."""
    from pyspark.sql import functions as f

    if isinstance(column, Role):
        column = records.schema.role(column)
    value, dtype = records.column(column), records.types[column.name]
    if dtype == pl.Date:
        return f.unix_date(value).cast("double")
    if isinstance(dtype, pl.Datetime):
        return f.unix_micros(value.cast("timestamp")).cast("double") / _MICROSECONDS_PER_DAY
    if dtype == pl.Time:  # carried as nanoseconds
        return value.cast("double") / _NANOSECONDS_PER_MINUTE
    number = value.cast("double")
    return f.when(~f.isnan(number), number + f.lit(0.0))  # -0.0 is 0.0


def population_sds(records: ClusterRecords, columns: list[Column]) -> dict[str, float]:
    """Return the population standard deviation of each ordered column; exactly 0 where all values are equal."""
    from pyspark.sql import functions as f

    if not columns:
        return {}
    numbers = records.frame.select(*(as_number(records, c).alias(f"n{at}") for at, c in enumerate(columns)))
    asked = [told(f"n{at}") for at in range(len(columns)) for told in (f.min, f.max, f.stddev_pop)]
    row = numbers.agg(*asked).first() or ()
    return {
        column.name: 0.0 if row[3 * at] == row[3 * at + 1] else float(row[3 * at + 2])
        for at, column in enumerate(columns)
    }


def small_frame(session: SparkSession, frame: pl.DataFrame) -> DataFrame:
    """Return a small frame of one machine's on the cluster."""
    return session.createDataFrame(arrow_of(frame, dict(frame.schema)))
