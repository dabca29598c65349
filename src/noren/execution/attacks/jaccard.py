"""The most similar sets of items, on a cluster: an exact join by the rarest items.

A pseudonym's best customer is looked for among those who share one of its rarest items and have about as many. How
similar that one is bounds the search for better ones: whoever is at least as similar shares one of the first items, as
many of them as leave too little behind them (the *prefix*), has neither too few nor too many, and neither set has too
little left from the first shared item on (Xiao et al. 2011, PPJoin). Pairs that pass are compared in full. Where no
bound is found, all who share an item are compared.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from noren.attacks.jaccard import Jaccard
from noren.execution.frames import ClusterRecords, Types, kept, map_blocks
from noren.execution.guess import ClusterGuess
from noren.execution.item_sets import set_sides, similarity, with_overlap
from noren.execution.plans import plan
from noren.i18n import N_
from noren.progress import Progress, silent

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame

__all__ = ["attack"]

_FIRST_ITEMS = 4
"""How many of a set's rarest items are looked up for a first answer."""
_FIRST_CUSTOMERS = 16
"""How many customers of an item are looked at whatever their size."""
_NEAR = 2
"""By how many items the sets of others may differ in size, to be looked at first."""
_STEPS = 4
"""Into how many parts a doubling of size is cut."""
_SLACK = 1e-9
"""Bounds are loosened by this share, so that rounding loses nobody; who passes is compared exactly."""


_TOKEN: Types = {"set": pl.String(), "total": pl.Int64(), "at": pl.Int32(), "item": pl.Int32(), "rest": pl.Int64()}

_PAIR: Types = {
    "set": pl.String(),
    "customer": pl.String(),
    "first": pl.Int64(),
    "total": pl.Int64(),
    "size": pl.Int32(),
}


@plan(Jaccard, driver=N_("three numbers; each worker holds a number for every item"))
def attack(
    attack: Jaccard, original: ClusterRecords, public: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterGuess:
    """Name the most similar customers of each released set, and so of all pseudonyms that show it."""
    from pyspark.sql import functions as f

    sides, wanted = set_sides(original, public), attack.candidates
    customers = kept(sides.customers)
    key = f.sha2(f.to_json(f.struct("total", "items")), 256)
    pseudonyms = kept(sides.pseudonyms.withColumn("set", key))
    sets = pseudonyms.groupBy("set").agg(f.any_value("total").alias("total"), f.any_value("items").alias("items"))
    sets = kept(sets.filter(f.size("items") > 0))
    buyers = customers.select("customer", "first", "size", f.posexplode("items").alias("place", "item"))
    tokens = map_blocks(sets, _tokens, _TOKEN)

    def compared(pairs: DataFrame) -> DataFrame:
        """Return the best customers of each set, among those it is paired with."""
        both = pairs.select("set", "customer").distinct().join(sets, "set")
        both = both.join(customers.withColumnRenamed("items", "bought"), "customer")
        both = with_overlap(both, _PAIR)
        score = similarity(f.col("shared"), f.col("total"), f.col("size"), sides.unit)
        return _best(both.select("set", "customer", "first", score.alias("score")).filter("score > 0"), wanted)

    progress(0.3, "")
    found = kept(compared(_first_pairs(tokens, buyers, sides.unit)))
    bound = found.filter(f.col("rank") == wanted).select("set", f.col("score").alias("least"))
    best = kept(compared(_pairs(tokens, buyers, bound, sides.unit)))
    pairs = pseudonyms.select("pseudonym", "set", "place").join(best, "set").drop("set")
    counts: Any = (
        pseudonyms.select("pseudonym", "set")
        .join(best.filter("rank = 1").select("set", "score"), "set", "left")
        .agg(f.count(f.lit(1)), f.count("score"), f.sum("score"))
        .first()
    )
    many, named, total = int(counts[0]), int(counts[1]), float(counts[2] or 0.0)
    notes = {"unlike_anybody": many - named, "mean_similarity": total / many if many else 0.0}
    return ClusterGuess(attack.name, pairs if wanted > 1 else pairs.drop("rank"), notes, ties=("place",))


def _tokens(block: pl.DataFrame) -> pl.DataFrame:
    """Return the items of sets one by one, their place, and the weight from each on to the last."""
    each = block.with_columns(at=pl.int_ranges(pl.col("items").list.len())).explode("items", "at")
    each = each.select("set", "total", "at", pl.col("items").struct.unnest())
    return each.with_columns(rest=pl.col("weight").cum_sum(reverse=True).over("set", order_by="at"))


def _best(scored: DataFrame, wanted: int) -> DataFrame:
    """Return the most similar customers of each set with their rank, of equals those who appear first."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    order = Window.partitionBy("set").orderBy(f.desc("score"), "first")
    ranked = scored.withColumn("rank", f.row_number().over(order).cast("long"))
    return ranked.filter(f.col("rank") <= wanted).drop("first")


def _first_pairs(tokens: DataFrame, buyers: DataFrame, unit: int) -> DataFrame:
    """Return sets beside a few customers of their rarest items."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    place = f.row_number().over(Window.partitionBy("item").orderBy("first"))
    some = buyers.withColumn("n", place).filter(f.col("n") <= _FIRST_CUSTOMERS).select("item", "customer")
    rare = tokens.filter(f.col("at") < _FIRST_ITEMS)
    about = f.round(f.col("total") / unit).cast("int")
    near = rare.filter("at < 2").withColumn("size", f.explode(f.array(*(about + d for d in range(-_NEAR, _NEAR + 1)))))
    of_size = near.join(buyers.select("item", "customer", "size"), ["item", "size"])
    return rare.join(some, "item").select("set", "customer").unionByName(of_size.select("set", "customer"))


def _pairs(tokens: DataFrame, buyers: DataFrame, bound: DataFrame, unit: int) -> DataFrame:
    """Return sets beside all customers who may be as similar as their bound."""
    from pyspark.sql import functions as f

    least, total = f.col("least") * (1 - _SLACK), f.col("total")
    asked = tokens.join(bound, "set", "left").fillna({"least": 0.0}).filter(f.col("rest") >= least * total)
    # sizes by steps, so that the join looks up those that may do; without a bound, all there are
    low, high = _step(least * total / unit), _step(total / unit / f.greatest(least, f.lit(1e-9)))
    steps = f.sequence(f.greatest(low - 1, f.lit(0)), f.least(high + 1, f.lit(31 * _STEPS)))
    asked = asked.withColumn("step", f.explode(steps))
    size = f.col("size") * unit
    left = f.least(f.col("rest"), (f.col("size") - f.col("place")) * unit)
    enough = left >= least / (1 + least) * (total + size)
    right_size = (size >= least * total) & (least * size <= total)
    sized = buyers.withColumn("step", _step(f.col("size").cast("double")))
    return asked.join(sized, ["item", "step"]).filter(enough & right_size).select("set", "customer")


def _step(size: Expression) -> Expression:
    from pyspark.sql import functions as f

    return f.floor(f.log2(f.greatest(size, f.lit(1.0))) * _STEPS).cast("int")
