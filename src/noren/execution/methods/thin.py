"""Fewer rows, on a cluster."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import polars as pl

from noren.data.frames import Records
from noren.data.schema import Role
from noren.execution.edits import behind, nobodys_rows, renamed
from noren.execution.frames import ROW, ClusterRecords
from noren.execution.names import CUSTOMER, customers_of, named
from noren.execution.plans import plan
from noren.execution.release import ClusterRelease
from noren.execution.sides import rowless
from noren.execution.thresholds import key_of_row, up_to
from noren.i18n import N_, _
from noren.methods.thin import Thin, pairs_of_facts
from noren.progress import Progress, silent

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["protect"]

_ORDER = ("telling", "uniform", ROW)


@plan(
    Thin,
    driver=N_("cuts and sizes of at most 2,000 parts of the order of customers; 20,000 draws next to the last deleted"),
)
def protect(method: Thin, original: ClusterRecords, *, seed: int, progress: Progress = silent) -> ClusterRelease:
    """Delete rows up to a cut in the order that one machine deletes them in."""
    from pyspark import StorageLevel
    from pyspark.sql import functions as f

    progress(0.0, _("choosing rows to delete"))
    customers, count = customers_of(original)
    names = named(customers, count, seed)
    nobodys = nobodys_rows(original)
    owned = original.rows - sum(nobodys.values())
    order = _order(method, original, seed).filter(f.col(CUSTOMER).isNotNull()).persist(StorageLevel.DISK_ONLY)
    wanted, there = method.rows_to_delete(owned), owned
    if not method.allow_vanish:
        last = order.groupBy(CUSTOMER).agg(f.max(f.struct(*_ORDER)).alias("last"))
        last = last.select(CUSTOMER, f.col(f"last.{ROW}").alias("noren_last"))
        order = order.join(last, CUSTOMER).filter(f.col(ROW) != f.col("noren_last"))
        there -= count
    rows = original
    if wanted:
        gone = order if wanted >= there else order.filter(up_to(_ORDER, key_of_row(order, _ORDER, wanted)))
        left = original.frame.join(gone.select(ROW), ROW, "left_anti").select(*original.frame.columns)
        rows = original.with_frame(left)
    public = renamed(rows, names)
    pseudonyms = behind(names, public if method.allow_vanish else None)
    statement = method.statement(nobodys, kept=max(wanted - there, 0))
    return ClusterRelease(original, public, pseudonyms, statement, seed, original.rows)


def _order(method: Thin, original: ClusterRecords, seed: int) -> DataFrame:
    """Return every row's customer and what decides when it goes: how telling it is, its draw, its place."""
    from pyspark.sql import functions as f

    measured = [column.name for column in rowless(original).measured()] if method.rarest else []
    facts = [f"t{at}" for at in range(len(measured))]
    who = original.schema.role(Role.CUSTOMER).name

    def kernel(records: Records, rows: pl.Series) -> pl.DataFrame:
        texts = records.texts()
        draws = pl.Series("uniform", method.draws(rows.to_numpy(), seed))
        told = [texts[name].alias(fact) for name, fact in zip(measured, facts, strict=True)]
        return pl.DataFrame([rows.alias(ROW), records.frame[who].alias(CUSTOMER), draws, *told])

    into = {ROW: pl.Int64(), CUSTOMER: pl.String(), "uniform": pl.Float64()} | {fact: pl.String() for fact in facts}
    drawn = original.map(kernel, into)
    if not facts:
        return drawn.withColumn("telling", f.lit(0.0))
    pairs = pairs_of_facts(facts)
    chances = []
    for at, pair in enumerate(pairs):
        shared = drawn.select(*pair, CUSTOMER).distinct().groupBy(*pair).agg(f.count(f.lit(1)).alias(f"shared{at}"))
        drawn = drawn.join(shared, list(pair))
        chances.append(f.lit(1.0) / f.col(f"shared{at}"))
    telling = reduce(lambda total, chance: total + chance, chances, f.lit(0.0)) / len(pairs)
    return drawn.select(ROW, CUSTOMER, "uniform", (-telling).alias("telling"))
