"""The plan of a chain: each step works on what the one before it left, in the order of its text."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import polars as pl

from noren.data.schema import Role
from noren.data.statement import Statement
from noren.execution.frames import MOST_PARTS, ROW, ROWS_OF_A_PART, ClusterRecords, as_records, cell_types, map_blocks
from noren.execution.plans import plan, plan_of
from noren.execution.release import ClusterRelease
from noren.execution.spark_functions import StorageLevel, Window, f
from noren.i18n import N_
from noren.methods.chain import Chain
from noren.progress import Progress, part_of, silent

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# --- public rows numbered by their text: what one machine hands from one step of a chain to the next -----------------


BEFORE = "noren_before"
"""The row of the step before that a row stands for; null for one that was inserted."""
_LINE, _PART, _PLACE = "noren_line", "noren_part", "noren_place"
_OF_A_PART = 20
"""So many texts of each part come to the driver, to choose where to cut."""


def in_order_of_text(records: ClusterRecords, rows_of_a_part: int = ROWS_OF_A_PART) -> ClusterRecords:
    """Return the rows numbered anew in the order of their text, ties by their number so far, which is kept as
    :data:`BEFORE`.

    Rows are cut into parts at texts that a hash of the row picks, so that a part that is lost is made again as it was.
    They are kept on the workers' disks: what comes after looks at them several times.
    """
    parts = min(max(records.rows // rows_of_a_part, 1), MOST_PARTS)
    cuts = _cuts(_lined(records, []), records.rows, parts) if parts > 1 else []
    order = Window.partitionBy(_PART).orderBy(f.col(_LINE), f.col(BEFORE).asc_nulls_last())
    placed = _lined(records, cuts).withColumn(_PLACE, f.row_number().over(order).cast("long") - 1).drop(_LINE)
    placed = placed.persist(StorageLevel.DISK_ONLY)
    sizes = {row[_PART]: row["count"] for row in placed.groupBy(_PART).count().collect()}
    starts, before = [], 0
    for part in sorted(sizes):
        starts += [f.lit(part), f.lit(before).cast("long")]
        before += sizes[part]
    start = f.create_map(*starts)[f.col(_PART)] if starts else f.lit(0)
    return records.with_frame(placed.withColumn(ROW, start + f.col(_PLACE)).drop(_PART, _PLACE), rows=before)


def _lined(records: ClusterRecords, cuts: list[str]) -> DataFrame:
    """Return the cells with :data:`BEFORE`, their text, and the part of the order that they are in."""
    schema, types = records.schema, records.types
    cells = cell_types(schema, types)
    rising = pl.Series(cuts, dtype=pl.String)

    def kernel(block: pl.DataFrame) -> pl.DataFrame:
        line = as_records(block, schema, types).lines()
        part = rising.search_sorted(line) if len(rising) else pl.zeros(len(block), eager=True)
        return block.select(*cells, pl.col(ROW).alias(BEFORE)).with_columns(
            line.alias(_LINE), pl.Series(_PART, part, dtype=pl.Int64, strict=False)
        )

    into = cells | {BEFORE: pl.Int64(), _LINE: pl.String(), _PART: pl.Int64()}
    return map_blocks(records.frame.select(*cells, ROW), kernel, into)


def _cuts(lined: DataFrame, rows: int, parts: int) -> list[str]:
    """Return texts that cut the order into about so many parts of about equal size."""
    one_in = max(rows // (parts * _OF_A_PART), 1)
    picked = lined.filter(f.pmod(f.xxhash64(_LINE), f.lit(one_in)) == 0).select(_LINE).distinct()
    texts = sorted((row[0] for row in picked.collect()), key=str.encode)
    return texts[_OF_A_PART - 1 :: _OF_A_PART]


@plan(Chain, driver=N_("what its steps hold; 20 texts of rows for each of at most 2,000 parts of their order"))
def protect(method: Chain, original: ClusterRecords, *, seed: int, progress: Progress = silent) -> ClusterRelease:
    """Run all steps, each on the rows of the one before, numbered by their text as one machine sees them."""
    data, made = original, []
    for at, (step, own) in enumerate(zip(method.steps, method.seeds(seed), strict=True)):
        told = part_of(progress, at / len(method.steps), (at + 1) / len(method.steps), step.name)
        with method.on_step(at, data.schema):
            made.append(plan_of(step).run(step, data, seed=own, progress=told))
        if at + 1 < len(method.steps):
            data = in_order_of_text(made[-1].public)
            # what the next step sees, and what stands for its rows
            made[-1] = replace(made[-1], public=data)
            data = data.with_frame(data.frame.drop(BEFORE))
    last, before = made[-1], made[:-1]
    public = last.public.frame
    for stage in reversed(before):
        public = _behind(public, stage.public.frame)
    names = reduce(_through, [stage.pseudonyms for stage in reversed(before)]) if before else None
    return ClusterRelease(
        original,
        last.public.with_frame(public),
        _through(last.pseudonyms, names) if before else last.pseudonyms,
        Statement.of_chain(stage.statement for stage in made),
        seed,
        original.rows,
        None if names is None else _by_name(data, names),
    )


def _by_name(given: ClusterRecords, names: DataFrame) -> ClusterRecords:
    """Return rows under their customers' own names."""
    who = given.at(Role.CUSTOMER)
    known = names.select(f.col("pseudonym").alias("noren_known"), f.col("customer").alias("noren_person")).distinct()
    frame = given.frame.join(known, f.col(who).cast("string") == f.col("noren_known"), "left")
    named = frame.withColumn(who, f.col("noren_person")).drop("noren_known", "noren_person")
    types = {**given.types, given.schema.role(Role.CUSTOMER).name: pl.String()}
    return replace(given, frame=named, types=types)


def _behind(public: DataFrame, before: DataFrame) -> DataFrame:
    """Return public rows with the rows that the step before had for theirs."""
    origin = before.select(f.col(ROW).alias("noren_place"), BEFORE)
    joined = public.join(origin, f.col(ROW) == f.col("noren_place"), "left").drop("noren_place")
    return joined.withColumn(ROW, f.col(BEFORE)).select(*public.columns)


def _through(theirs: DataFrame | None, ours: DataFrame | None) -> DataFrame | None:
    """Return who is behind each pseudonym, the customers of ``theirs`` being pseudonyms of ``ours``.

    The period is the one that ``theirs`` know, else ours; see :meth:`noren.data.release.Release.then`.
    """
    if theirs is None or ours is None:
        return None
    period = [name for name in ours.columns if name == "period" and name not in theirs.columns]
    known = ours.select(f.col("pseudonym").alias("noren_known"), f.col("customer").alias("noren_person"), *period)
    both = theirs.join(known.distinct(), f.col("customer") == f.col("noren_known"))
    told = both.withColumn("customer", f.col("noren_person")).drop("noren_known", "noren_person")
    return told.distinct()
