"""Plans of attacks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from noren.attacks.by_period import require_columns
from noren.attacks.jaccard import Jaccard
from noren.attacks.monthly_profile import S7, S8, MonthlyProfile
from noren.attacks.signatures import S1, S2, S3, S4, S5, S6, Signature, key_texts
from noren.attacks.unique_rows import UniqueRows
from noren.data.arrays import exact_values
from noren.data.categories import as_released
from noren.data.cells import is_interval, is_set
from noren.data.frames import History
from noren.data.schema import Role
from noren.data.statement import Statement
from noren.execution.frames import PLACE, ROW, ClusterRecords, Types, map_blocks, persisted
from noren.execution.plans import plan
from noren.execution.release import ClusterGuess, in_release_order, place_type
from noren.execution.spark_functions import StorageLevel, Window, f
from noren.kernels.compiling import read_only
from noren.kernels.items.packed_sets import CERTAIN, shared_weights, weight_of_one_in
from noren.kernels.linkage.row_layout import likeness
from noren.progress import Progress, silent

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame

# --- sets of items: what each customer bought and what each pseudonym shows ------------------------------------------

# As :mod:`noren.data.item_sets` has them. Items are numbers, the rarest first, so that two sets that have much in
# common share one of their first.


def item_set_arrays(
    original: ClusterRecords, public: ClusterRecords, statement: Statement | None = None
) -> tuple[DataFrame, DataFrame, int]:
    """Return both sides' sets. Nothing comes to the driver; workers hold a number for each item.

    With a statement, the original's items are in the words of the release: categories, where it speaks of those.

    Returns
    -------
    customers
        ``customer``, the ``first`` row, ``items`` (numbers in rising order) and their number ``size``; one who has no
        item is not there.
    pseudonyms
        ``pseudonym``, ``total`` (the weight of all it shows), ``place`` (its first in the release), and ``items``:
        ``{item, weight}`` of those that the original has, in rising order; null where it shows none of these.
    unit
        The weight of an item that is surely there.
    """
    exact_values(original.rowless(), original.schema.role(Role.ITEM))

    def bought_in(block: History, rows: pl.Series) -> pl.DataFrame:
        history = block if statement is None else as_released(block, statement)
        columns = [history[Role.CUSTOMER].alias("customer"), history[Role.ITEM].cast(pl.String).alias("name"), rows]
        return pl.DataFrame(columns).drop_nulls("customer")

    rows = original.map(bought_in, {"customer": pl.String(), "name": pl.String(), ROW: pl.Int64()})
    bought = rows.groupBy("customer", "name").agg(f.min(ROW).alias("first"))
    often = bought.filter("name IS NOT NULL").groupBy("name").count()
    # as many rows as there are items, so one task numbers them
    number = (f.row_number().over(Window.orderBy("count", "name")) - 1).cast("int")
    items = f.broadcast(often.select("name", number.alias("item")))
    known = bought.join(items, "name", "left").groupBy("customer")
    customers = known.agg(f.min("first").alias("first"), f.sort_array(f.collect_list("item")).alias("items"))
    customers = customers.withColumn("size", f.size("items")).filter("size > 0")

    several = is_set(public.types[public.schema.role(Role.ITEM).name])
    placed = in_release_order(public)
    into = {"pseudonym": pl.String(), "name": pl.String(), "weight": pl.Int64(), "place": place_type(placed)}
    weights = placed.map(_item_weights, into, also=(PLACE,))
    heaviest = weights.groupBy("pseudonym", "name").agg(f.max("weight").alias("weight"), f.min("place").alias("place"))
    pair = f.when(f.col("item").isNotNull(), f.struct("item", "weight"))
    total, listed = f.coalesce(f.sum("weight"), f.lit(0)), f.sort_array(f.collect_list(pair))
    shown = heaviest.join(items, "name", "left").groupBy("pseudonym")
    pseudonyms = shown.agg(total.alias("total"), f.min("place").alias("place"), listed.alias("items"))
    return customers, pseudonyms, CERTAIN if several else 1


def _item_weights(block: History, beside: pl.DataFrame) -> pl.DataFrame:
    """Return what each row shows of which weight; a row without any still tells that there is the pseudonym."""
    cells = block[Role.ITEM]
    columns = {"pseudonym": block[Role.CUSTOMER], "name": cells, "place": beside[PLACE]}
    rows = pl.DataFrame(columns).drop_nulls("pseudonym")
    if not is_set(cells.dtype):
        sure = pl.when(pl.col("name").is_not_null()).then(pl.lit(1, pl.Int64))
        return rows.with_columns(pl.col("name").cast(pl.String), weight=sure)
    listed = rows.with_columns(pl.col("name").list.drop_nulls().list.unique())
    listed = listed.with_columns(size=pl.col("name").list.len().cast(pl.Int64)).explode("name")
    weight = pl.Series("weight", weight_of_one_in(listed["size"].fill_null(0).clip(1).to_numpy()))
    there = pl.when(pl.col("name").is_not_null()).then(pl.col("weight"))
    return listed.with_columns(weight).select("pseudonym", pl.col("name").cast(pl.String), "place", weight=there)


def with_overlap(pairs: DataFrame, beside: Types) -> DataFrame:
    """Return the columns ``beside`` of pairs of sets, and as ``shared`` what ``items`` and ``bought`` share."""

    def kernel(block: pl.DataFrame) -> pl.DataFrame:
        released, known = (block[name].drop_nulls().explode(empty_as_null=False) for name in ("items", "bought"))
        both = released.struct.unnest()
        first, start = (
            read_only(np.append(0, block[name].list.len().fill_null(0).cast(pl.Int64).cum_sum().to_numpy()))
            for name in ("items", "bought")
        )
        shared = shared_weights(
            *(first[:-1], first[1:]),
            read_only(both["item"].cast(pl.Int32).to_numpy()),
            read_only(both["weight"].cast(pl.Int64).to_numpy()),
            *(start[:-1], start[1:]),
            read_only(known.cast(pl.Int32).to_numpy()),
        )
        return block.select(*beside).with_columns(shared=pl.Series(shared))

    return map_blocks(pairs.select(*beside, "items", "bought"), kernel, {**beside, "shared": pl.Int64()})


def similarity(overlap: Expression, total: Expression, size: Expression, unit: int) -> Expression:
    """Return the Jaccard coefficient, of whole numbers as on one machine."""
    return f.when(overlap > 0, overlap / (total + size * unit - overlap)).otherwise(0.0)


# A pseudonym's best customer is looked for among those who share one of its rarest items and have about as many. How
# similar that one is bounds the search for better ones: whoever is at least as similar shares one of the first items,
# as many of them as leave too little behind them (the *prefix*), has neither too few nor too many, and neither set has
# too little left from the first shared item on (Xiao et al. 2011, PPJoin). Pairs that pass are compared in full. Where
# no bound is found, all who share an item are compared.


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


@plan(Jaccard)
def attack_jaccard(
    attack: Jaccard, original: ClusterRecords, public: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterGuess:
    """Name the most similar customers of each released set, and so of all pseudonyms that show it."""
    (bought, released, unit), wanted = item_set_arrays(original, public), attack.candidates
    customers = persisted(bought)
    key = f.sha2(f.to_json(f.struct("total", "items")), 256)
    pseudonyms = persisted(released.withColumn("set", key))
    sets = pseudonyms.groupBy("set").agg(f.any_value("total").alias("total"), f.any_value("items").alias("items"))
    sets = persisted(sets.filter(f.size("items") > 0))
    buyers = customers.select("customer", "first", "size", f.posexplode("items").alias("place", "item"))

    def one_by_one(block: pl.DataFrame) -> pl.DataFrame:
        """Return the items of sets, their place, and the weight from each on to the last."""
        each = block.with_columns(at=pl.int_ranges(pl.col("items").list.len())).explode("items", "at")
        each = each.select("set", "total", "at", pl.col("items").struct.unnest())
        return each.with_columns(rest=pl.col("weight").cum_sum(reverse=True).over("set", order_by="at"))

    tokens = map_blocks(sets, one_by_one, _TOKEN)

    def compared(pairs: DataFrame) -> DataFrame:
        """Return the best customers of each set, among those it is paired with, of equals those who appear first."""
        both = pairs.select("set", "customer").distinct().join(sets, "set")
        both = both.join(customers.withColumnRenamed("items", "bought"), "customer")
        both = with_overlap(both, _PAIR)
        score = similarity(f.col("shared"), f.col("total"), f.col("size"), unit)
        scored = both.select("set", "customer", "first", score.alias("score")).filter("score > 0")
        order = Window.partitionBy("set").orderBy(f.desc("score"), "first")
        ranked = scored.withColumn("rank", f.row_number().over(order).cast("long"))
        return ranked.filter(f.col("rank") <= wanted).drop("first")

    progress(0.3, "")
    # sets beside a few customers of their rarest items
    total = f.col("total")
    place = f.row_number().over(Window.partitionBy("item").orderBy("first"))
    some = buyers.withColumn("n", place).filter(f.col("n") <= _FIRST_CUSTOMERS).select("item", "customer")
    rare = tokens.filter(f.col("at") < _FIRST_ITEMS)
    about = f.round(total / unit).cast("int")
    near = rare.filter("at < 2").withColumn("size", f.explode(f.array(*(about + d for d in range(-_NEAR, _NEAR + 1)))))
    of_size = near.join(buyers.select("item", "customer", "size"), ["item", "size"])
    few = rare.join(some, "item").select("set", "customer").unionByName(of_size.select("set", "customer"))
    first_answers = persisted(compared(few))
    bound = first_answers.filter(f.col("rank") == wanted).select("set", f.col("score").alias("least"))
    # sets beside all customers who may be as similar as their bound
    least = f.col("least") * (1 - _SLACK)
    candidates = tokens.join(bound, "set", "left").fillna({"least": 0.0}).filter(f.col("rest") >= least * total)
    # sizes by steps, so that the join looks up those that may do; without a bound, all there are
    low, high = _step(least * total / unit), _step(total / unit / f.greatest(least, f.lit(1e-9)))
    steps = f.sequence(f.greatest(low - 1, f.lit(0)), f.least(high + 1, f.lit(31 * _STEPS)))
    candidates = candidates.withColumn("step", f.explode(steps))
    size = f.col("size") * unit
    left = f.least(f.col("rest"), (f.col("size") - f.col("place")) * unit)
    enough = left >= least / (1 + least) * (total + size)
    right_size = (size >= least * total) & (least * size <= total)
    sized = buyers.withColumn("step", _step(f.col("size").cast("double")))
    best = persisted(compared(candidates.join(sized, ["item", "step"]).filter(enough & right_size)))
    pairs = pseudonyms.select("pseudonym", "set", "place").join(best, "set").drop("set")
    first = pseudonyms.select("pseudonym", "set").join(best.filter("rank = 1").select("set", "score"), "set", "left")
    counts: Any = first.agg(f.count(f.lit(1)), f.count("score"), f.sum("score")).first()
    many = int(counts[0])
    mean = float(counts[2] or 0.0) / many if many else 0.0
    notes = {"unlike_anybody": many - int(counts[1]), "mean_similarity": mean}
    return ClusterGuess(attack.name, pairs if wanted > 1 else pairs.drop("rank"), notes, ties=("place",))


def _step(size: Expression) -> Expression:
    return f.floor(f.log2(f.greatest(size, f.lit(1.0))) * _STEPS).cast("int")


@plan(S7, S8)
def attack_monthly_profile(
    attack: MonthlyProfile, original: ClusterRecords, public: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterGuess:
    """Sum up each month, put the numbers of a period in order, and take the nearest one below or above.

    Of equal numbers one is looked up for all; the different numbers of a period are put in order in one task.
    """
    exact_values(original.rowless(), original.schema.role(Role.DATE))
    at = ["period", "number"]
    known = _profiles(attack, original, "customer")
    first = _profiles(attack, public, "pseudonym").groupBy(*at).agg(f.min("pseudonym").alias("pseudonym"))
    numbers = known.select(*at).distinct().withColumn("asked", f.lit(True)).join(first, at, "full")
    there = f.when(f.col("pseudonym").isNotNull(), f.struct("number", "pseudonym"))
    order = Window.partitionBy("period").orderBy("number")
    below = f.last(there, ignorenulls=True).over(order.rowsBetween(Window.unboundedPreceding, 0))
    above = f.first(there, ignorenulls=True).over(order.rowsBetween(0, Window.unboundedFollowing))
    beside = numbers.withColumn("below", below).withColumn("above", above).filter("asked")
    into: Types = {"period": pl.String(), "number": pl.Float64(), "pseudonym": pl.String(), "score": pl.Float64()}
    named = map_blocks(beside.select(*at, "below", "above"), _most_alike, into)
    pairs = known.join(named, at).select("pseudonym", "customer", "score", "period", "day")
    return ClusterGuess(attack.name, pairs, {"profiles": known.count()}, ties=("customer", "day"))


def _most_alike(block: pl.DataFrame) -> pl.DataFrame:
    """Return the one of two pseudonyms whose number is most alike, of equals the first by text."""
    rows = block.with_row_index("row")
    two = pl.concat(
        rows.select("row", "period", "number", pl.col(side).struct["pseudonym"], its=pl.col(side).struct["number"])
        for side in ("below", "above")
    ).drop_nulls("pseudonym")
    alike = pl.Series("score", likeness(two["number"].to_numpy(), two["its"].to_numpy()))
    best = two.with_columns(alike).filter(pl.col("score") > 0)
    return best.sort("score", "pseudonym", descending=[True, False]).unique("row", keep="first")


def _profiles(attack: MonthlyProfile, records: ClusterRecords, who: str) -> DataFrame:
    """Return the number of every customer (or pseudonym) and period: sums of whole numbers over counts.

    ``day`` is a day of the period, by which a customer's periods stand in order of time.
    """

    def kernel(block: History, _rows: pl.Series) -> pl.DataFrame:
        rows = block.frame.select(amount=attack.amount(block))
        dates = block[Role.DATE]
        days = (dates.struct.field("lo") if is_interval(dates.dtype) else dates).cast(pl.Date).cast(pl.Int32)
        rows = rows.with_columns(
            block[Role.CUSTOMER].alias(who), attack.shown_periods(dates).alias("period"), days.alias("day")
        )
        return rows.drop_nulls([who, "period"])

    into = {who: pl.String(), "period": pl.String(), "amount": pl.Int64(), "day": pl.Int32()}
    each = records.map(kernel, into).groupBy(who, "period")
    sums = each.agg(f.sum("amount").alias("total"), f.count("amount").alias("counted"), f.min("day").alias("day"))
    by = f.col("counted") if attack.averaged else f.lit(1)
    number = f.col("total").cast("double") / f.nullif(by, f.lit(0))
    return sums.select(who, "period", number.alias("number"), "day").filter("number IS NOT NULL")


@plan(S1, S2, S3, S4, S5, S6)
def attack_signatures(
    attack: Signature, original: ClusterRecords, public: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterGuess:
    """Find the last public row of each key, join known rows with it, and let each customer's last one decide."""
    columns = [original.schema.role(role) for role in attack.key]
    require_columns(public.rowless(), columns)
    exact_values(original.rowless(), original.schema.role(Role.DATE))
    key = [f"k{at}" for at in range(len(columns))]
    public_rows = _keyed(attack, in_release_order(public), "pseudonym", PLACE)
    last = public_rows.groupBy(*key).agg(f.max(f.struct(PLACE, "pseudonym"))["pseudonym"].alias("pseudonym"))
    led = _keyed(attack, original, "customer", ROW).join(last, key, "left")
    cells = led.groupBy("customer", "period", "pseudonym").agg(
        f.count(f.lit(1)).alias("n"), f.max(ROW).alias("at"), f.min("day").alias("day")
    )
    cells = cells.persist(StorageLevel.DISK_ONLY)
    named = f.col("pseudonym").isNotNull()
    counts: Any = cells.agg(f.sum("n"), f.sum(f.when(named, f.col("n")))).first()
    decided = f.max(f.when(named, f.struct("at", "pseudonym", "n"))).alias("last")
    each = cells.filter("period IS NOT NULL").groupBy("customer", "period")
    settled = each.agg(decided, f.sum("n").alias("rows"), f.min("day").alias("day")).filter("last IS NOT NULL")
    share = (f.col("last.n") / f.col("rows")).alias("score")
    # a customer whose name is a number stands where that number does
    whole = original.types[original.schema.role(Role.CUSTOMER).name].is_integer()
    whom = f.col("customer").cast("long" if whole else "string").alias("whom")
    pairs = settled.select("last.pseudonym", "customer", share, "period", whom, "day")
    notes = {"matched_rows": int(counts[1] or 0), "known_rows": int(counts[0] or 0)}
    return ClusterGuess(attack.name, pairs, notes, ties=("whom", "day"))


def _keyed(attack: Signature, records: ClusterRecords, who: str, at: str) -> DataFrame:
    """Return the keys of rows that have one, whose they are, when, and what they are ordered by."""
    known = at == ROW
    roles = (Role.CUSTOMER, *attack.key, *([Role.DATE] if known else []))
    columns = [records.schema.role(role) for role in attack.key]
    names = [records.schema.role(role).name for role in roles]
    texts = [*(f"k{place}" for place in range(len(columns))), who, *(["period"] if known else [])]
    into = dict.fromkeys(texts, pl.String()) | {at: pl.Int64() if known else place_type(records)}
    into |= {"day": pl.Int32()} if known else {}

    def kernel(block: History, beside: Any) -> pl.DataFrame:
        texts = [text.alias(f"k{place}") for place, text in enumerate(key_texts(block, columns))]
        parts = [*texts, block[Role.CUSTOMER].alias(who), (beside if known else beside[at]).alias(at)]
        if known:
            days = block[Role.DATE].cast(pl.Date)
            parts += [attack.periods(days).alias("period"), days.cast(pl.Int32).alias("day")]
        filled = block.frame.select(pl.all_horizontal(pl.col(names).is_not_null())).to_series()
        return pl.DataFrame(parts).filter(filled)

    return records.map(kernel, into, also=() if known else (at,))


@plan(UniqueRows)
def attack_unique_rows(
    attack: UniqueRows, original: ClusterRecords, public: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterGuess:
    """Count the original's rows by their text, and join those that occur once with the release's."""
    whose = original.schema.role(Role.CUSTOMER).name
    shared = [name for name in original.schema.names if name != whose and name in public.schema.names]
    row = [f"r{at}" for at in range(len(shared))]
    customer, pseudonym = f.col("customer"), f.col("pseudonym")
    known = _texts(attack, original, shared, "customer")
    once = known.groupBy(*row).agg(f.count(f.lit(1)).alias("times"), f.max("customer").alias("customer"))
    unique = once.filter((f.col("times") == 1) & customer.isNotNull()).drop("times")
    seen = _texts(attack, in_release_order(public), shared, "pseudonym").filter(pseudonym.isNotNull())
    matches = seen.join(unique, row)
    last, first = f.max(f.struct(PLACE, "customer"))["customer"], f.min(PLACE)
    decided = matches.groupBy("pseudonym").agg(last.alias("customer"), first.alias("place"))
    pairs = decided.withColumn("score", f.lit(1.0))
    times = seen.groupBy(*row).agg(f.count(f.lit(1)).alias("times"))
    counts = unique.join(times, row, "left").agg(f.count(f.lit(1)), f.sum("times")).first()
    notes = {"unique_rows": int(counts[0] or 0), "found_rows": int(counts[1] or 0)} if counts else {}
    return ClusterGuess(attack.name, pairs, notes, ties=("place",))


def _texts(attack: UniqueRows, records: ClusterRecords, names: list[str], who: str) -> DataFrame:
    """Return the texts of some columns as ``r0``, ``r1``, …, the customer as ``who``, and the place in the release."""
    placed = [PLACE] if PLACE in records.frame.columns else []
    into = {f"r{at}": pl.String() for at in range(len(names))} | {who: pl.String()}

    def kernel(block: History, beside: Any) -> pl.DataFrame:
        texts = attack.texts(block)
        cells = [texts[f"said {name}"].alias(f"r{at}") for at, name in enumerate(names)]
        return pl.DataFrame([*cells, texts["customer"].alias(who), *(beside[name] for name in placed)])

    return records.map(kernel, into | {name: place_type(records) for name in placed}, also=placed)
