"""Periods on a cluster: the names that :mod:`noren.data.periods` gives, as expressions."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import polars as pl

from noren.data.schema import Role
from noren.execution.frames import ClusterRecords, cell_types
from noren.execution.sides import rowless
from noren.methods.by_period import MethodByPeriod

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression

__all__ = ["days_there_are", "period_of", "stop_at_empty_periods"]


def period_of(method: MethodByPeriod, records: ClusterRecords) -> Expression:
    """Return the name of each row's period; null where the row has no date."""
    from pyspark.sql import functions as f

    day = records.column(Role.DATE).cast("date")
    if method.period == "month":
        return f.concat(f.year(day), f.lit("/"), f.month(day))
    if method.period == "week":
        return f.concat(f.extract(f.lit("YEAROFWEEK"), day), f.lit("/W"), f.weekofyear(day))
    if method.period == "quarter":
        return f.concat(f.year(day), f.lit("/Q"), f.quarter(day))
    name = f.lit(None).cast("string")
    for first in method.first_days:
        name = f.when(day >= f.lit(first), f.lit(f"{first.year}/{first.month}/{first.day}")).otherwise(name)
    return name


def days_there_are(records: ClusterRecords) -> list[date]:
    """Return the days on which something happens, in order; as many as a calendar has."""
    days = records.frame.select(records.column(Role.DATE).cast("date").alias("day")).distinct().dropna()
    return sorted(row["day"] for row in days.collect())


def stop_at_empty_periods(method: MethodByPeriod, records: ClusterRecords) -> date | None:
    """Stop where custom periods and data do not fit, as one machine does; return the last day of the data."""
    method.days_of(rowless(records))
    if method.period != "custom":
        return None
    days = days_there_are(records)
    at, column = records.at(Role.DATE), records.schema.role(Role.DATE)
    types = cell_types(records.schema, records.types)
    blanks = {name: pl.Series(name, [None] * len(days), dtype=dtype) for name, dtype in types.items()}
    calendar = pl.DataFrame(blanks | {at: pl.Series(at, days, dtype=pl.Date).cast(records.types[column.name])})
    method.periods(records.block(calendar))  # type: ignore[arg-type]
    return days[-1] if days else None
