"""Methods one after another, on a cluster."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import polars as pl

from noren.data.schema import Role
from noren.data.statement import Statement
from noren.execution.frames import ROW, ClusterRecords
from noren.execution.order_of_text import BEFORE, in_order_of_text
from noren.execution.plans import plan, plan_of
from noren.execution.release import ClusterRelease
from noren.i18n import N_
from noren.methods.chain import Chain
from noren.progress import Progress, part_of, silent

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["protect"]


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
    from pyspark.sql import functions as f

    who = given.at(Role.CUSTOMER)
    known = names.select(f.col("pseudonym").alias("noren_known"), f.col("customer").alias("noren_person")).distinct()
    frame = given.frame.join(known, f.col(who).cast("string") == f.col("noren_known"), "left")
    named = frame.withColumn(who, f.col("noren_person")).drop("noren_known", "noren_person")
    types = {**given.types, given.schema.role(Role.CUSTOMER).name: pl.String()}
    return replace(given, frame=named, types=types)


def _behind(public: DataFrame, before: DataFrame) -> DataFrame:
    """Return public rows with the rows that the step before had for theirs."""
    from pyspark.sql import functions as f

    origin = before.select(f.col(ROW).alias("noren_place"), BEFORE)
    joined = public.join(origin, f.col(ROW) == f.col("noren_place"), "left").drop("noren_place")
    return joined.withColumn(ROW, f.col(BEFORE)).select(*public.columns)


def _through(theirs: DataFrame | None, ours: DataFrame | None) -> DataFrame | None:
    """Return who is behind each pseudonym, the customers of ``theirs`` being pseudonyms of ``ours``.

    The period is the one that ``theirs`` know, else ours; see :meth:`noren.data.release.Release.then`.
    """
    from pyspark.sql import functions as f

    if theirs is None or ours is None:
        return None
    period = [name for name in ours.columns if name == "period" and name not in theirs.columns]
    known = ours.select(f.col("pseudonym").alias("noren_known"), f.col("customer").alias("noren_person"), *period)
    both = theirs.join(known.distinct(), f.col("customer") == f.col("noren_known"))
    told = both.withColumn("customer", f.col("noren_person")).drop("noren_known", "noren_person")
    return told.distinct()
