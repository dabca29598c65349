"""Pseudonyms on a cluster: the same that one machine gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from noren.data.schema import Role
from noren.execution.frames import ROW, ClusterRecords, map_blocks
from noren.execution.ranks import ranked
from noren.kernels.draws import first_pseudonym, raw_at

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["CODE", "CUSTOMER", "NAME", "customers_of", "in_order_of_appearance", "named"]

CUSTOMER, CODE, NAME = "customer", "code", "name"


def in_order_of_appearance(units: DataFrame, first: str = "first") -> tuple[DataFrame, int]:
    """Return units (one row each, ``first`` their first row in the original) with their number :data:`CODE`, and how
    many they are.
    """
    from pyspark import StorageLevel
    from pyspark.sql import functions as f

    # looked at several times, and far fewer than rows
    units = units.persist(StorageLevel.DISK_ONLY)
    count = units.count()
    at = f.col(first)
    return ranked(units, [at], at, CODE, rows=count), count


def customers_of(records: ClusterRecords) -> tuple[DataFrame, int]:
    """Return the customers: :data:`CUSTOMER`, ``first`` row, ``count`` of rows, :data:`CODE` in order of appearance."""
    from pyspark.sql import functions as f

    who = records.column(Role.CUSTOMER)
    units = (
        records.frame.filter(who.isNotNull())
        .groupBy(who.alias(CUSTOMER))
        .agg(f.min(ROW).alias("first"), f.count(f.lit(1)).alias("count"))
    )
    return in_order_of_appearance(units)


def named(units: DataFrame, count: int, seed: int) -> DataFrame:
    """Return units numbered by :data:`CODE` from 0 with the pseudonyms that one machine gives them, as :data:`NAME`.

    One machine sorts ``count`` draws; unit j is called after the place of the j-th smallest. Here the draws are made
    and ordered on the cluster.
    """
    from pyspark.sql import functions as f

    first = first_pseudonym(count, seed)
    session = units.sparkSession
    sign = np.uint64(1 << 63)

    def draws(block: pl.DataFrame) -> pl.DataFrame:
        raw = raw_at(block["id"].to_numpy(), seed=seed) ^ sign  # unsigned order as the order of signed numbers
        return block.select(pl.col("id"), pl.Series("raw", raw.view(np.int64)))

    drawn = map_blocks(session.range(count), draws, {"id": pl.Int64(), "raw": pl.Int64()})
    order = ranked(drawn, [f.col("raw"), f.col("id")], f.col("raw"), CODE, rows=count)
    names = order.select(CODE, (f.col("id") + first).cast("string").alias(NAME))
    return units.join(names, CODE)
