"""Plans of the methods that give pseudonyms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from noren.data.arrays import must_be_exact
from noren.data.schema import Column, Role
from noren.execution.edits import (
    CODE,
    CUSTOMER,
    NAME,
    customers_of,
    in_order_of_appearance,
    named,
    nobodys_rows,
    period_of,
    stop_at_empty_periods,
    under_pseudonyms,
)
from noren.execution.frames import ROW, ClusterRecords, as_number, on_cluster
from noren.execution.plans import plan
from noren.execution.release import ClusterRelease
from noren.execution.spark_functions import StorageLevel, Window, f
from noren.i18n import N_, _
from noren.kernels.items.packed_sets import item_sets
from noren.kernels.items.union_clusters import missing_items
from noren.methods.believable_rows import OF_THE_ITEM, OF_THE_VISIT, draws_of_added, parts_of_a_moment
from noren.methods.monthly_pseudonyms import MonthlyPseudonyms
from noren.methods.pseudo_records import PseudoRecords
from noren.methods.pseudonymize import Pseudonymize
from noren.progress import Progress, silent

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame


@plan(Pseudonymize, driver=N_("cuts and sizes of at most 2,000 parts of the order of customers"))
def protect_pseudonymize(
    method: Pseudonymize, original: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterRelease:
    """Replace customers by the pseudonyms that one machine gives them."""
    return under_pseudonyms(original, original, method.statement(nobodys_rows(original)), seed=seed)


@plan(
    MonthlyPseudonyms,
    driver=N_("cuts and sizes of at most 2,000 parts of the order of customers; the days, where periods are your own"),
)
def protect_monthly_pseudonyms(
    method: MonthlyPseudonyms, original: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterRelease:
    """Replace customers by pseudonyms of their own in each period."""
    progress(0.0, _("choosing pseudonyms"))
    stop_at_empty_periods(method, original)
    at = original.at(Role.CUSTOMER)
    owned = original.frame.filter(f.col(at).isNotNull()).withColumn("noren_period", period_of(method, original))
    units = owned.groupBy(f.col(at).alias(CUSTOMER), f.col("noren_period").alias("period"))
    people, count = in_order_of_appearance(units.agg(f.min(ROW).alias("first")))
    names = named(people, count, seed).select(CUSTOMER, "period", NAME)
    # rows without a date are a period of their own
    same = (f.col(at) == f.col(CUSTOMER)) & f.col("noren_period").eqNullSafe(f.col("period"))
    public = owned.join(names, same).withColumn(at, f.col(NAME)).select(*original.frame.columns)
    pseudonyms = names.select(f.col(NAME).alias("pseudonym"), CUSTOMER, "period")
    statement = method.statement(nobodys_rows(original))
    return ClusterRelease(original, original.with_frame(public), pseudonyms, statement, seed, original.rows)


_ITEM, _MOMENT, _AT = "noren_item", "noren_moment", "noren_at"


@plan(
    PseudoRecords,
    driver=N_(
        "who bought which item, 16 bytes for each pair of customer and item, and the search for clusters among them;"
        " 40 bytes for each row to add"
    ),
)
def protect_pseudo_records(
    method: PseudoRecords, original: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterRelease:
    """Add rows until clusters of customers have equal items; the search is one machine's, rows stay on the cluster."""
    progress(0.0, _("comparing what customers bought"))
    nothing = original.rowless()
    must_be_exact(nothing, nothing.measured())
    customers, count = customers_of(original)
    least = method.least_size(count)
    words = sorted(row[0] for row in original.frame.select(original.column(Role.ITEM)).distinct().dropna().collect())
    table = pl.DataFrame({"word": words, _ITEM: range(len(words))}, schema={"word": pl.String, _ITEM: pl.Int64})
    # rows that somebody owns with codes of customers and items, and when they were bought, in days
    moment = f.lit(0.0)
    for column, unit in parts_of_a_moment(original.schema):
        moment = moment + f.coalesce(as_number(original, column), f.lit(0.0)) * unit
    rows = original.frame.withColumn(_MOMENT, moment)
    rows = rows.join(customers.select(CUSTOMER, CODE), original.column(Role.CUSTOMER) == f.col(CUSTOMER))
    items = f.broadcast(on_cluster(original.session, table))
    rows = rows.join(items, original.column(Role.ITEM) == f.col("word"), "left").drop(CUSTOMER, "word")
    bought = pl.DataFrame(rows.select(CODE, _ITEM).dropna().distinct().toArrow())
    sets = item_sets(bought[CODE].to_numpy(), bought[_ITEM].to_numpy(), count, len(words))
    cluster, searched = method.clusters_of(sets, len(words), least, seed, progress)
    progress = silent if searched < 1 else progress
    progress(0.9, _("adding rows"))
    who, what = missing_items(sets, cluster)
    whole = original
    if len(who):
        like, place = draws_of_added(len(who), seed)
        wanted = pl.DataFrame({_AT: np.arange(len(who)), "who": who, "what": what, "like": like, "place": place})
        added = _believable_rows(original, rows, on_cluster(original.session, wanted))
        owned = original.frame.filter(original.column(Role.CUSTOMER).isNotNull())
        whole = original.with_frame(owned.unionByName(added), rows=original.rows + len(who))
    sizes = np.bincount(cluster, minlength=method.clusters)
    statement = method.statement(sizes, len(who), searched, nobodys_rows(original))
    return under_pseudonyms(original, whole, statement, seed=seed, names=named(customers, count, seed))


def _believable_rows(original: ClusterRecords, rows: DataFrame, wanted: DataFrame) -> DataFrame:
    """Return a row for each that is wanted; see :func:`noren.methods.believable_rows.believable_rows`."""
    from_item = [
        original.at(column)
        for column in original.schema.columns
        if column.role in OF_THE_ITEM or _follows_item(original, column)
    ]
    cells = [name for name in original.frame.columns if name != ROW]
    from_visit = [name for name in cells if name not in from_item]
    wanted = wanted.withColumnRenamed("what", _ITEM)
    sold = _numbered(rows.filter(f.col(_ITEM).isNotNull()), [_ITEM])
    bought = _one_of(wanted, sold, [_ITEM], "like")
    bought = bought.select(_AT, "who", "place", f.col(_MOMENT).alias("moment"), *from_item)
    bought = bought.persist(StorageLevel.DISK_ONLY)
    nearest = _nearest_moment(rows, bought).withColumnRenamed("who", CODE)
    visits = _numbered(rows, [CODE, _MOMENT])
    made = _one_of(nearest, visits.select(CODE, _MOMENT, "number", "many", *from_visit), [CODE, _MOMENT], "place")
    return made.select(*cells, f.lit(None).cast("long").alias(ROW))


def _numbered(rows: DataFrame, by: list[str]) -> DataFrame:
    """Return rows with their number among those alike in ``by``, from 0 in the original's order, and how many."""
    alike = Window.partitionBy(*by)
    number = f.row_number().over(alike.orderBy(ROW)).cast("long") - 1
    return rows.withColumn("number", number).withColumn("many", f.count(f.lit(1)).over(alike))


def _one_of(wanted: DataFrame, rows: DataFrame, by: list[str], uniform: str) -> DataFrame:
    """Return what is wanted with the columns of one of the rows that are alike in ``by``, all equally likely."""
    many = rows.filter("number = 0").select(*by, f.col("many").alias("of"))
    number = f.least(f.floor(f.col(uniform) * f.col("of")), f.col("of") - 1).cast("long")
    chosen = wanted.join(many, by).withColumn("number", number)
    there = rows.drop(*(name for name in wanted.columns if name in rows.columns and name not in by), "many")
    return chosen.join(there, [*by, "number"]).drop("of", "number")


def _nearest_moment(rows: DataFrame, wanted: DataFrame) -> DataFrame:
    """Return what is wanted with the customer's moment nearest to ``moment``, the earlier of two equally near."""
    asked = wanted.select("who", f.col("moment").alias("when"), f.lit(0).alias("kind"), _AT)
    there = rows.select(f.col(CODE).alias("who"), f.col(_MOMENT).alias("when")).distinct()
    both = asked.unionByName(there.withColumn("kind", f.lit(1)), allowMissingColumns=True)
    moment = f.when(f.col("kind") == 1, f.col("when"))
    by_who = Window.partitionBy("who")

    def last(*order: Expression) -> Expression:
        so_far = by_who.orderBy(*order).rowsBetween(Window.unboundedPreceding, Window.currentRow)
        return f.last(moment, ignorenulls=True).over(so_far)

    before = last(f.col("when").asc(), f.col("kind").asc())
    after = last(f.col("when").desc(), f.col("kind").desc())
    found = both.withColumn("before", before).withColumn("after", after).filter("kind = 0")
    nearer = f.abs(f.col("after") - f.col("when")) < f.abs(f.col("before") - f.col("when"))
    nearest = f.when(f.col("before").isNull() | nearer, f.col("after")).otherwise(f.col("before"))
    return wanted.join(found.select(_AT, nearest.alias(_MOMENT)), _AT)


def _follows_item(original: ClusterRecords, column: Column) -> bool:
    """Tell whether a column has fewer values beside its first for an item than for a visit, as a category has."""
    if column.role in OF_THE_VISIT:
        return False
    owned = original.column(Role.CUSTOMER).isNotNull()
    visit = [original.at(c) for c in original.schema.with_role(*OF_THE_VISIT)]
    item, own = [original.at(Role.ITEM)], [original.at(column)]

    def different(names: list[str]) -> Expression:
        return f.count_distinct(f.struct(*(f.when(owned, f.col(name)).alias(name) for name in names)))

    asked = [different(names) for names in (item + own, item, visit + own, visit)]
    of_items, items, of_visits, visits = original.frame.agg(*asked).first() or (0, 0, 0, 0)
    return bool(of_items - items < of_visits - visits)
