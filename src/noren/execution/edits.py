"""What plans of methods share: pseudonyms, edited rows, periods and thresholds of draws."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from noren.data.frames import History
from noren.data.schema import Role
from noren.data.statement import Statement
from noren.execution.frames import ROW, ClusterRecords, cuts_below, map_blocks, ranked
from noren.execution.release import ClusterRelease
from noren.execution.spark_functions import StorageLevel, f
from noren.kernels.random_draws import first_pseudonym, raw_at
from noren.methods.by_period import MethodByPeriod

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame

CUSTOMER, CODE, NAME = "customer", "code", "name"


def in_order_of_appearance(units: DataFrame) -> tuple[DataFrame, int]:
    """Return units (``first`` is the first row of each in the original) numbered as :data:`CODE`, and how many."""
    # looked at several times, and far fewer than rows
    units = units.persist(StorageLevel.DISK_ONLY)
    count, at = units.count(), f.col("first")
    return ranked(units, [at], at, CODE, rows=count), count


def customers_of(records: ClusterRecords) -> tuple[DataFrame, int]:
    """Return the customers: :data:`CUSTOMER`, ``first`` row, ``count`` of rows, :data:`CODE` in order of appearance."""
    who = records.column(Role.CUSTOMER)
    each = records.frame.filter(who.isNotNull()).groupBy(who.alias(CUSTOMER))
    return in_order_of_appearance(each.agg(f.min(ROW).alias("first"), f.count(f.lit(1)).alias("count")))


def named(units: DataFrame, count: int, seed: int) -> DataFrame:
    """Return units numbered by :data:`CODE` from 0 with the pseudonyms that one machine gives them, as :data:`NAME`.

    One machine sorts ``count`` draws; unit j is called after the place of the j-th smallest. Here the draws are made
    and ordered on the cluster.
    """
    first = first_pseudonym(count, seed)
    sign = np.uint64(1 << 63)  # unsigned order as the order of signed numbers
    drawn = map_blocks(
        units.sparkSession.range(count),
        lambda ids: ids.with_columns(raw=(raw_at(ids["id"].to_numpy(), seed=seed) ^ sign).view(np.int64)),
        {"id": pl.Int64(), "raw": pl.Int64()},
    )
    order = ranked(drawn, [f.col("raw"), f.col("id")], f.col("raw"), CODE, rows=count)
    names = order.select(CODE, (f.col("id") + first).cast("string").alias(NAME))
    return units.join(names, CODE)


# --- histories whose rows stay rows: cells are edited, rows deleted, names replaced ----------------------------------


def ownerless_notes(records: ClusterRecords) -> dict[str, Any]:
    """Return what a statement notes of rows that nobody owns, as ``noren.data.compatibility`` does on one machine."""
    count = records.frame.filter(records.column(Role.CUSTOMER).isNull()).count()
    return {"rows_without_customer": count} if count else {}


def under_pseudonyms(
    original: ClusterRecords, rows: ClusterRecords, statement: Statement, *, seed: int, names: DataFrame | None = None
) -> ClusterRelease:
    """Return the release of rows that still say their customers: each gets the pseudonym that one machine gives.

    ``names`` are those of all customers, where they are known already.
    """
    known = named(*customers_of(original), seed) if names is None else names
    renamed = rows.replaced(Role.CUSTOMER, known.select(CUSTOMER, NAME))
    return ClusterRelease(original, renamed, owners_of(known), statement, seed, original.rows)


def owners_of(names: DataFrame, public: ClusterRecords | None = None) -> DataFrame:
    """Return who is behind each pseudonym; given public rows, behind each that they have."""
    pairs = names.selectExpr(f"{NAME} AS pseudonym", f"{CUSTOMER} AS customer")
    if public is None:
        return pairs
    public_pseudonyms = public.frame.select(public.column(Role.CUSTOMER).alias("pseudonym")).distinct()
    return pairs.join(public_pseudonyms, "pseudonym", "left_semi")


# --- periods: the names that :mod:`noren.data.periods` gives, as expressions -----------------------------------------


def period_of(method: MethodByPeriod, records: ClusterRecords) -> Expression:
    """Return the name of each row's period; null where the row has no date."""
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


def reject_empty_periods(method: MethodByPeriod, records: ClusterRecords) -> date | None:
    """Stop where custom periods and data do not fit, as one machine does; return the last day of the data."""
    method.days_of(records.rowless())
    if method.period != "custom":
        return None
    distinct_days = records.frame.select(records.column(Role.DATE).cast("date").alias("day")).distinct().dropna()
    days = sorted(row["day"] for row in distinct_days.collect())  # as many as a calendar has
    date_column = records.schema.role(Role.DATE).name
    blanks = {name: pl.Series(name, [None] * len(days), dtype=dtype) for name, dtype in records.types.items()}
    dates = pl.Series(date_column, days, dtype=pl.Date).cast(records.types[date_column])
    method.periods(History(pl.DataFrame(blanks | {date_column: dates}), records.schema))
    return days[-1] if days else None


# --- where to cut an order after so many rows, without putting the rows in that order --------------------------------


FEW_KEYS = 20_000
"""So many keys at most come to the driver."""
_CUTS = 1_000


def key_of_row(frame: DataFrame, keys: Sequence[str], number: int, *, few: int = FEW_KEYS) -> tuple[Any, ...]:
    """Return the keys of the row that is ``number``-th, from 1, in the order of ``keys``.

    All rows are counted between a thousand cuts, then those between the two cuts where the row must be, and so on until
    they are few. Where all of them are equal in one key the next one goes on; no two rows may be equal in all.
    """
    shares = [i / _CUTS for i in range(1, _CUTS)]
    left = list(keys)
    while True:
        at = f.col(left[0])
        count, low, high, cuts = frame.agg(
            f.count(at), f.min(at), f.max(at), f.percentile_approx(at, shares, 10 * _CUTS)
        ).first() or (0, None, None, ())
        if count <= few:
            rows_in_order = sorted(tuple(row) for row in frame.select(*keys).collect())
            return rows_in_order[number - 1]
        if low == high:
            left.pop(0)
            continue
        between = cuts_below(at, sorted({low, *cuts}))
        sizes = {row[0]: row[1] for row in frame.groupBy(between.alias("part")).count().collect()}
        for part in sorted(sizes):
            if number <= sizes[part]:
                frame = frame.filter(between == part)
                break
            number -= sizes[part]


def up_to(keys: Sequence[str], last: tuple[Any, ...]) -> Expression:
    """Tell whether a row stands at or before the one with the keys ``last``."""
    here = f.lit(True)
    for name, bound in reversed(list(zip(keys, last, strict=True))):
        here = (f.col(name) < f.lit(bound)) | ((f.col(name) == f.lit(bound)) & here)
    return here
