"""Customers recognised by one number of each month, on a cluster: S7 and S8."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from noren.attacks.monthly_profile import S7, S8, MonthlyProfile
from noren.data.arrays import exact_values
from noren.data.cells import is_interval
from noren.data.frames import History, Records
from noren.data.schema import Role
from noren.execution.frames import ClusterRecords, map_blocks
from noren.execution.guess import ClusterGuess
from noren.execution.plans import plan
from noren.execution.sides import rowless
from noren.i18n import N_
from noren.kernels.linkage.row_layout import likeness
from noren.progress import Progress, silent

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["attack"]

_DRIVER = N_("one count")


@plan(S7, driver=_DRIVER)
@plan(S8, driver=_DRIVER)
def attack(
    attack: MonthlyProfile, original: ClusterRecords, public: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterGuess:
    """Sum up each month, put the numbers of a period in order, and take the nearest one below or above.

    Of equal numbers one is looked up for all; the different numbers of a period are put in order in one task.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    exact_values(rowless(original), original.schema.role(Role.DATE))
    at = ["period", "number"]
    known = _profiles(attack, original, "customer")
    first = _profiles(attack, public, "pseudonym").groupBy(*at).agg(f.min("pseudonym").alias("pseudonym"))
    numbers = known.select(*at).distinct().withColumn("asked", f.lit(True)).join(first, at, "full")
    there = f.when(f.col("pseudonym").isNotNull(), f.struct("number", "pseudonym"))
    order = Window.partitionBy("period").orderBy("number")
    below = f.last(there, ignorenulls=True).over(order.rowsBetween(Window.unboundedPreceding, 0))
    above = f.first(there, ignorenulls=True).over(order.rowsBetween(0, Window.unboundedFollowing))
    beside = numbers.withColumn("below", below).withColumn("above", above).filter("asked")
    named = map_blocks(
        beside.select(*at, "below", "above"),
        _most_alike,
        {"period": pl.String(), "number": pl.Float64(), "pseudonym": pl.String(), "score": pl.Float64()},
    )
    pairs = known.join(named, at).select("pseudonym", "customer", "score", "period", "day")
    return ClusterGuess(attack.name, pairs, {"profiles": known.count()}, ties=("customer", "day"))


def _most_alike(block: pl.DataFrame) -> pl.DataFrame:
    """Return the one of two pseudonyms whose number is most alike, of equals the first by text."""
    rows = block.with_row_index("row")
    two = pl.concat(
        rows.select(
            "row",
            "period",
            "number",
            pl.col(side).struct.field("pseudonym").alias("pseudonym"),
            pl.col(side).struct.field("number").alias("its"),
        )
        for side in ("below", "above")
    ).drop_nulls("pseudonym")
    alike = pl.Series("score", likeness(two["number"].to_numpy(), two["its"].to_numpy()))
    best = two.with_columns(alike).filter(pl.col("score") > 0)
    return best.sort("score", "pseudonym", descending=[True, False]).unique("row", keep="first")


def _profiles(attack: MonthlyProfile, records: ClusterRecords, who: str) -> DataFrame:
    """Return the number of every customer (or pseudonym) and period: sums of whole numbers over counts.

    ``day`` is a day of the period, by which a customer's periods stand in order of time.
    """
    from pyspark.sql import functions as f

    def kernel(block: Records, _rows: pl.Series) -> pl.DataFrame:
        if not isinstance(block, History):  # pragma: no cover - attacks on histories get histories
            raise TypeError(type(block))
        rows = block.frame.select(amount=attack.amount(block))
        dates = block[Role.DATE]
        days = (dates.struct.field("lo") if is_interval(dates.dtype) else dates).cast(pl.Date).cast(pl.Int32)
        rows = rows.with_columns(
            block[Role.CUSTOMER].alias(who), attack.row_periods(block).alias("period"), days.alias("day")
        )
        return rows.drop_nulls([who, "period"])

    into = {who: pl.String(), "period": pl.String(), "amount": pl.Int64(), "day": pl.Int32()}
    each = records.map(kernel, into).groupBy(who, "period")
    sums = each.agg(f.sum("amount").alias("total"), f.count("amount").alias("counted"), f.min("day").alias("day"))
    by = f.col("counted") if attack.averaged else f.lit(1)
    number = f.col("total").cast("double") / f.nullif(by, f.lit(0))
    return sums.select(who, "period", number.alias("number"), "day").filter("number IS NOT NULL")
