"""Customer segments of data drawn from a release, on a cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from noren.data.fits import columns_not_there
from noren.execution.draws import ORIGINAL, purchases_and_draws
from noren.execution.guess import ClusterEvidence
from noren.execution.plans import plan
from noren.execution.sides import rowless
from noren.i18n import N_
from noren.kernels.arrays import Whole
from noren.kernels.judging.statistics import table_error
from noren.measures.utility.rfm import Rfm
from noren.progress import Progress, silent
from noren.protocols import Score

__all__ = ["measure"]


@plan(Rfm, driver=N_("the items, and for each draw a table of ranks: 1,000 numbers where there are ten"))
def measure(measure: Rfm, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Rank the customers of all draws at once; those of one draw are put in order in one task."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    spent = f.sum(f.col("price") * f.col("quantity"))
    people = (
        purchases_and_draws(measure, evidence)
        .groupBy("draw", "customer")
        .agg(
            f.max("day").alias("last"),
            f.count_distinct(f.floor("day")).cast("double").alias("often"),
            spent.alias("spent"),
        )
    )
    many = f.count(f.lit(1)).over(Window.partitionBy("draw"))
    views = ("last", "often", "spent")
    ranked = people.withColumn("many", many)
    for view in views:
        smaller = f.rank().over(Window.partitionBy("draw").orderBy(view)) - 1
        ranked = ranked.withColumn(f"of_{view}", f.floor(smaller * measure.ranks / f.col("many")).cast("int"))
    counted = ranked.groupBy("draw", *(f"of_{view}" for view in views)).count().collect()
    tables: dict[int, Whole] = {}
    for row in counted:
        empty: Any = np.zeros((measure.ranks,) * len(views), dtype=np.int64)
        tables.setdefault(row["draw"], empty)[tuple(row[1:4])] = row["count"]
    if ORIGINAL not in tables:
        raise measure.nothing_to_compare(evidence.original.schema)
    nothing = np.zeros_like(tables[ORIGINAL])
    errors = [table_error(tables[ORIGINAL], tables.get(draw, nothing)) for draw in range(measure.draws)]
    score = measure.score_of([{"value": error} for error in errors])
    return replace(score, notes={**score.notes, **columns_not_there(rowless(evidence.original), measure.asked)})
