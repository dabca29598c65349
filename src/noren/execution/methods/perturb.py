"""Small noise on dates, prices and quantities, on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import polars as pl

from noren.data.arrays import must_be_exact
from noren.data.fits import columns_not_there
from noren.data.frames import History, Records
from noren.data.schema import Role
from noren.execution.edits import nobodys_rows, under_pseudonyms
from noren.execution.frames import ROW, ClusterRecords, cell_types, of_records
from noren.execution.periods import stop_at_empty_periods
from noren.execution.plans import plan
from noren.execution.release import ClusterRelease
from noren.execution.sides import rowless
from noren.i18n import N_, _
from noren.methods.perturb import MOVED, Perturb
from noren.progress import Progress, silent

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["protect"]

_BASKET = "noren_basket"


@plan(
    Perturb,
    driver=N_("cuts and sizes of at most 2,000 parts of the order of customers; the days, where periods are your own"),
)
def protect(method: Perturb, original: ClusterRecords, *, seed: int, progress: Progress = silent) -> ClusterRelease:
    """Move each row by the noise that its place in the original draws."""

    nothing, schema = rowless(original), original.schema
    method.stop_if_nothing_moves(schema)
    progress(0.1, _("moving dates"))
    last_day = stop_at_empty_periods(method, original) if method.moves_dates(schema) else None
    frame = original.frame
    also = []
    for at, column in enumerate(method.moved_by_packs(schema)):
        must_be_exact(nothing, (column, *schema.with_role(Role.ITEM)))
        frame = _with_packs(original.with_frame(frame), column.name, f"noren_pack{at}")
        also.append(f"noren_pack{at}")
    frame = frame.filter(original.column(Role.CUSTOMER).isNotNull())
    if method.moves_dates(schema) and method.whole_baskets:
        frame = _with_baskets(original.with_frame(frame))
        also.append(_BASKET)
    packs = {column.name: f"noren_pack{at}" for at, column in enumerate(method.moved_by_packs(schema))}
    rows = original.with_frame(frame)

    def kernel(records: Records, beside: pl.DataFrame | pl.Series) -> pl.DataFrame:
        more = beside.to_frame() if isinstance(beside, pl.Series) else beside
        moved = method.moved(
            cast("History", records),
            more[ROW].to_numpy(),
            seed,
            packs={name: more[at].to_numpy() for name, at in packs.items()},
            basket=more[_BASKET].to_numpy() if _BASKET in more.columns else None,
            last_day=last_day,
        )
        changed = History(records.frame.with_columns(moved), records.schema)
        return of_records(changed).with_columns(more[ROW])

    done = rows.map(kernel, cell_types(schema, original.types) | {ROW: pl.Int64()}, also=also)
    notes = columns_not_there(nothing, MOVED) | nobodys_rows(original)
    return under_pseudonyms(original, original.with_frame(done), method.statement(notes), seed=seed)


def _with_packs(rows: ClusterRecords, quantity: str, name: str) -> DataFrame:
    """Return rows with the pack of their item: its most common quantity, the smaller of two equally common ones."""
    from pyspark.sql import functions as f

    there = rows.schema.with_role(Role.ITEM)
    item = rows.column(there[0]) if there else f.lit("one")
    sized = rows.frame.withColumn("noren_size", f.abs(rows.column(quantity))).withColumn("noren_item", item)
    counted = sized.filter(f.col("noren_size") > 0).groupBy("noren_item", "noren_size").count()
    best = f.min(f.struct((-f.col("count")).alias("often"), "noren_size")).alias("best")
    usual = counted.groupBy(f.col("noren_item").alias("noren_sold")).agg(best)
    packs = usual.select("noren_sold", f.col("best.noren_size").cast("double").alias(name))
    joined = sized.join(packs, f.col("noren_item").eqNullSafe(f.col("noren_sold")), "left")
    return joined.select(*rows.frame.columns, f.coalesce(f.col(name), f.lit(1.0)).alias(name))


def _with_baskets(rows: ClusterRecords) -> DataFrame:
    """Return rows with the first row of their basket: same customer, same day, same invoice where there is one."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    day = rows.column(Role.DATE).cast("date")
    invoice = [rows.column(column) for column in rows.schema.with_role(Role.INVOICE)]
    basket = Window.partitionBy(rows.column(Role.CUSTOMER), day, *invoice)
    return rows.frame.withColumn(_BASKET, f.min(ROW).over(basket))
