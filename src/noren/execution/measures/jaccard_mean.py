"""How similar released sets of items are to their customers', on a cluster."""

from __future__ import annotations

from typing import Any

import polars as pl

from noren.data.schema import Role
from noren.execution.frames import Types
from noren.execution.guess import ClusterEvidence
from noren.execution.item_sets import set_sides, similarity, with_overlap
from noren.execution.plans import plan
from noren.execution.sides import original_of, public_of
from noren.i18n import N_
from noren.measures.safety.jaccard_mean import JaccardMean, score_of
from noren.progress import Progress, silent
from noren.protocols import Score

__all__ = ["measure"]

_PAIR: Types = {"customer": pl.String(), "total": pl.Int64(), "size": pl.Int32()}


@plan(JaccardMean, driver=N_("eight numbers; each worker holds a number for every item"))
def measure(_measure: JaccardMean, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Join each pseudonym's set with that of its customer, and take mean, spread and median."""
    from pyspark.sql import functions as f

    original, public = original_of(evidence), public_of(evidence)
    sides = set_sides(original, public, evidence.release.statement)
    who = original.frame.select(original.column(Role.CUSTOMER).cast("string").alias("customer")).dropna().distinct()
    bought = sides.customers.select("customer", f.col("items").alias("bought"), "size")
    customers = who.join(bought, "customer", "left").fillna({"size": 0})
    true = evidence.release.pseudonyms
    if true is None:  # pragma: no cover - the release of a history tells who is behind its pseudonyms
        raise TypeError(true)
    pairs = true.select(f.col("pseudonym").cast("string"), f.col("customer").cast("string")).distinct()
    shown = pairs.join(sides.pseudonyms, "pseudonym")
    both = with_overlap(shown.join(customers, "customer"), _PAIR)
    both = both.select("customer", similarity(f.col("shared"), f.col("total"), f.col("size"), sides.unit).alias("like"))
    median = f.percentile("like", f.lit(0.5))
    figures = [f.avg("like"), f.min("like"), median, f.max("like"), f.stddev_pop("like")]
    found: Any = both.agg(f.count("like"), f.count_distinct("customer"), *figures).first()
    return score_of(int(found[0]), who.count() - int(found[1]), found[2:])
