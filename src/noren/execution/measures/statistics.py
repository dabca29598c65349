"""Sums, means and best-sellers of data drawn from a release, on a cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from noren.data.fits import columns_not_there
from noren.execution.draws import ORIGINAL, purchases_and_draws
from noren.execution.guess import ClusterEvidence
from noren.execution.plans import plan
from noren.execution.sides import keeping, rowless
from noren.i18n import N_
from noren.kernels.judging.statistics import STATISTICS
from noren.measures.utility.purchases import columns_there
from noren.measures.utility.statistics import COLUMNS, Figures, Statistics, parts_of
from noren.progress import Progress, silent
from noren.protocols import Score

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["measure"]

_VALUES = ("day", "price", "quantity")


@plan(Statistics, driver=N_("the items, and for each draw 21 statistics and its best-sellers"))
def measure(measure: Statistics, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Work out the statistics of all draws at once; a median is found from the different values, in one worker."""
    from pyspark.sql import functions as f

    original = rowless(evidence.original)
    with keeping() as keep:
        rows = keep(purchases_and_draws(measure, evidence))
        asked = [
            figure
            for name in _VALUES
            for figure in (f.sum(name), f.avg(name), f.var_pop(name), f.max(name), f.min(name), f.percentile(name, 0.5))
        ]
        found: dict[int, Any] = {row["draw"]: row[1:] for row in rows.groupBy("draw").agg(*asked).collect()}
        best = _best(rows, measure.top)
    if ORIGINAL not in found:
        raise measure.nothing_to_compare(evidence.original.schema)

    def figures(draw: int, many: int) -> Figures:
        return Figures(many, _table(found.get(draw)), frozenset(best.get(draw, ())))

    known, there = figures(ORIGINAL, evidence.original.rows), columns_there(evidence.original.schema, measure.asked)
    draws = [figures(draw, evidence.release.public.rows) for draw in range(measure.draws)]
    score = measure.score_of([parts_of(known, drawn, there) for drawn in draws])
    return replace(score, notes={**score.notes, **columns_not_there(original, measure.asked)})


def _table(found: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the statistics of each column; zeros of no rows."""
    if found is None:
        return np.zeros((len(COLUMNS), len(STATISTICS)))
    total, mean, variance, most, least, median = np.array(found, dtype=np.float64).reshape(len(COLUMNS), -1).T
    return np.column_stack([total, mean, variance, np.sqrt(variance), most, least, median])


def _best(rows: DataFrame, top: int) -> dict[int, list[str]]:
    """Return the items that most customers bought in each draw, ties as on one machine.

    There the original's items are numbered by their text and others behind them, and the higher number wins.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    buyers = rows.select("draw", "item", "customer").distinct().groupBy("draw", "item").count()
    own = buyers.filter(f.col("draw") == ORIGINAL).select("item", f.lit(0).alias("new"))
    ranked = buyers.join(f.broadcast(own), "item", "left").fillna({"new": 1})
    order = Window.partitionBy("draw").orderBy(f.desc("count"), f.desc("new"), f.desc("item"))
    best = ranked.withColumn("place", f.row_number().over(order)).filter(f.col("place") <= top)
    found: dict[int, list[str]] = {}
    for row in best.select("draw", "item").collect():
        found.setdefault(row["draw"], []).append(row["item"])
    return found
