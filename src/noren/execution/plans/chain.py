"""The plan of a chain: each step works on what the one before it left, in the order of its text."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import polars as pl

from noren.data.schema import Role
from noren.data.statement import Statement
from noren.execution.frames import MOST_PARTS, ROW, ROWS_OF_A_PART, ClusterRecords, cuts_below, numbered_in_parts
from noren.execution.plans import plan, plan_of
from noren.execution.release import LINE, ClusterRelease, lined
from noren.execution.spark_functions import StorageLevel, f
from noren.i18n import N_
from noren.methods.chain import Chain
from noren.progress import Progress, part_of, silent

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# --- public rows numbered by their text: what one machine hands from one step of a chain to the next -----------------


BEFORE = "noren_before"
"""The row of the step before that a row stands for; null for one that was inserted."""
_OF_A_PART = 20
"""So many texts of each part come to the driver, to choose where to cut."""


def in_order_of_text(records: ClusterRecords, rows_of_a_part: int = ROWS_OF_A_PART) -> ClusterRecords:
    """Return the rows numbered anew in the order of their text, ties by their number so far, which is kept as
    :data:`BEFORE`.

    Rows are cut into parts at texts that a hash of the row picks, so that a part that is lost is made again as it was.
    They are kept on the workers' disks: what comes after looks at them several times.
    """
    parts = min(max(records.rows // rows_of_a_part, 1), MOST_PARTS)
    rows = lined(records).withColumnRenamed(ROW, BEFORE)
    part = f.lit(0)
    if parts > 1:
        one_in = max(records.rows // (parts * _OF_A_PART), 1)
        picked = rows.filter(f.pmod(f.xxhash64(LINE), f.lit(one_in)) == 0).select(LINE).distinct()
        texts = sorted((row[0] for row in picked.collect()), key=str.encode)
        part = cuts_below(f.col(LINE), texts[_OF_A_PART - 1 :: _OF_A_PART])
    order = [f.col(LINE), f.col(BEFORE).asc_nulls_last()]
    placed, count = numbered_in_parts(
        rows, part, order, ROW, lambda placed: placed.drop(LINE).persist(StorageLevel.DISK_ONLY)
    )
    return records.with_frame(placed, rows=count)


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
    for stage in reversed(before):  # the rows that the step before had for theirs
        origin = stage.public.frame.select(f.col(ROW).alias("noren_place"), BEFORE)
        joined = public.join(origin, f.col(ROW) == f.col("noren_place"), "left").drop("noren_place")
        public = joined.withColumn(ROW, f.col(BEFORE)).select(*public.columns)
    names = reduce(_through, [stage.pseudonyms for stage in reversed(before)]) if before else None
    given = None
    if names is not None:  # the last step's rows under their customers' own names
        given = data.replaced(Role.CUSTOMER, names.select("pseudonym", "customer").distinct(), "left")
        given = replace(given, types={**data.types, data.schema.role(Role.CUSTOMER).name: pl.String()})
    return ClusterRelease(
        original,
        last.public.with_frame(public),
        _through(last.pseudonyms, names) if before else last.pseudonyms,
        Statement.of_chain(stage.statement for stage in made),
        seed,
        original.rows,
        given,
    )


def _through(theirs: DataFrame | None, ours: DataFrame | None) -> DataFrame | None:
    """Return who is behind each pseudonym, the customers of ``theirs`` being pseudonyms of ``ours``.

    The period is the one that ``theirs`` know, else ours; see :meth:`noren.data.release.Release.then`.
    """
    if theirs is None or ours is None:
        return None
    period = [name for name in ours.columns if name == "period" and name not in theirs.columns]
    known = ours.select(f.col("pseudonym").alias("noren_known"), f.col("customer").alias("noren_person"), *period)
    both = theirs.join(known.distinct(), f.col("customer") == f.col("noren_known"))
    return both.withColumn("customer", f.col("noren_person")).drop("noren_known", "noren_person").distinct()
