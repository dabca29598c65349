"""Plans of the methods that change, exchange, delete and add rows of histories, and of those that give pseudonyms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from noren.data.arrays import require_exact
from noren.data.compatibility import missing_columns
from noren.data.frames import History, Records
from noren.data.schema import Role
from noren.execution.edits import (
    CODE,
    CUSTOMER,
    NAME,
    customers_of,
    in_order_of_appearance,
    key_of_row,
    named,
    ownerless_notes,
    owners_of,
    period_of,
    reject_empty_periods,
    under_pseudonyms,
    up_to,
)
from noren.execution.frames import ROW, ClusterRecords, as_number, map_blocks, on_cluster, ranked
from noren.execution.plans import plan
from noren.execution.release import ClusterRelease
from noren.execution.spark_functions import StorageLevel, Window, f
from noren.i18n import _
from noren.kernels.items.packed_sets import item_sets
from noren.kernels.items.union_clusters import missing_items
from noren.methods.monthly_pseudonyms import MonthlyPseudonyms
from noren.methods.perturb import MOVED, Perturb
from noren.methods.pseudo_records import OF_THE_ITEM, OF_THE_VISIT, PseudoRecords, draws_of_added, parts_of_a_moment
from noren.methods.pseudonymize import Pseudonymize
from noren.methods.swap import WITH_OWNER, Swap, ordered_by
from noren.methods.thin import Thin, pairs_of_facts, rows_kept
from noren.progress import Progress, silent

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_BASKET, _ITEM = "noren_basket", "noren_item"


@plan(Perturb)
def protect_perturb(
    method: Perturb, original: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterRelease:
    """Move each row by the noise that its place in the original draws."""
    nothing, schema = original.rowless(), original.schema
    method.reject_if_nothing_moves(schema)
    progress(0.1, _("perturbing"))
    last_day = reject_empty_periods(method, original) if method.moves_dates(schema) else None
    frame = original.frame
    packs = {column.name: f"noren_pack{at}" for at, column in enumerate(method.moved_by_packs(schema))}
    there = schema.with_role(Role.ITEM)
    for name, pack in packs.items():
        require_exact(nothing, (schema[name], *there))
        # the pack of a row's item is its most common quantity, the smaller of two equally common ones
        item = original.column(there[0]) if there else f.lit("one")
        sized = frame.withColumn("noren_size", f.abs(original.column(name))).withColumn("noren_item", item)
        counted = sized.filter(f.col("noren_size") > 0).groupBy("noren_item", "noren_size").count()
        best = f.min(f.struct((-f.col("count")).alias("often"), "noren_size")).alias("best")
        usual = counted.groupBy(f.col("noren_item").alias("noren_sold")).agg(best)
        known = usual.select("noren_sold", f.col("best.noren_size").cast("double").alias(pack))
        joined = sized.join(known, f.col("noren_item").eqNullSafe(f.col("noren_sold")), "left")
        frame = joined.select(*frame.columns, f.coalesce(f.col(pack), f.lit(1.0)).alias(pack))
    frame, also = frame.filter(original.column(Role.CUSTOMER).isNotNull()), list(packs.values())
    if method.moves_dates(schema) and method.whole_baskets:
        # the first row of a basket: same customer, same day, same invoice where there is one
        invoice = [original.column(column) for column in schema.with_role(Role.INVOICE)]
        day = original.column(Role.DATE).cast("date")
        basket = Window.partitionBy(original.column(Role.CUSTOMER), day, *invoice)
        frame = frame.withColumn(_BASKET, f.min(ROW).over(basket))
        also.append(_BASKET)

    def kernel(records: History, beside: pl.DataFrame | pl.Series) -> pl.DataFrame:
        more = beside.to_frame() if isinstance(beside, pl.Series) else beside
        moved = method.moved(
            records,
            more[ROW].to_numpy(),
            seed,
            packs={name: more[at].to_numpy() for name, at in packs.items()},
            basket=more[_BASKET].to_numpy() if _BASKET in more.columns else None,
            last_day=last_day,
        )
        return records.frame.with_columns(moved)

    done = original.with_frame(frame).edited(kernel, types=original.types, also=also)
    notes = missing_columns(nothing, MOVED) | ownerless_notes(original)
    return under_pseudonyms(original, done, method.statement(notes), seed=seed)


_WHO, _PERIOD, _UNIT, _PARTNER = "who", "period", "unit", "partner"
_PAIR, _SIDE, _PLACE = "pair", "side", "place"


@plan(Swap)
def protect_swap(method: Swap, original: ClusterRecords, *, seed: int, progress: Progress = silent) -> ClusterRelease:
    """Exchange the rows that one machine exchanges: partners and pairs of rows are found by windows, round by round."""
    progress(0.0, _("finding similar customers"))
    nothing = original.rowless()
    require_exact(nothing, (*original.schema.with_role(Role.ITEM), *ordered_by(original.schema)))
    if original.schema.with_role(Role.DATE):
        reject_empty_periods(method, original)
    customers, count = customers_of(original)
    rows, rounds = _rows(method, original, seed)
    first = [f.min(f"r{at}").alias(f"r{at}") for at in range(rounds)]
    units = rows.groupBy(_WHO, _PERIOD).agg(f.count(f.lit(1)).alias("rows"), *first).persist(StorageLevel.DISK_ONLY)
    # the histories of one customer in one period are numbered by period, then by customer
    periods = sorted(row[0] for row in units.select(_PERIOD).distinct().collect())
    place = f.array_position(f.array(*map(f.lit, periods)), f.col(_PERIOD)) if periods else f.lit(0)
    known = customers.select(f.col(CUSTOMER).alias(_WHO), CODE)
    units = units.join(known, _WHO).withColumn(_UNIT, place.cast("long") * count + f.col(CODE))
    # partners as noren.kernels.sharing.rows.like_partners finds them: in each round those still free that agree on
    # their first item stand by length, and neighbours become partners
    units = units.withColumn(_PARTNER, f.lit(None).cast("long"))
    for at in [*(f.col(f"r{at}") for at in range(rounds)), f.lit(0.0)]:
        free = f.col(_PARTNER).isNull()
        # who has a partner is not looked at: alone, so that nobody waits for them
        alike = Window.partitionBy(_PERIOD, f.when(free, at), f.when(~free, f.col(_UNIT))).orderBy("rows", _UNIT)
        even = f.row_number().over(alike) % 2 == 1
        neighbour = f.when(even, f.lead(_UNIT).over(alike)).otherwise(f.lag(_UNIT).over(alike))
        units = units.withColumn(_PARTNER, f.when(free, neighbour).otherwise(f.col(_PARTNER)))
    matched = units.filter(f.col(_PARTNER).isNotNull()).persist(StorageLevel.DISK_ONLY)
    first_of, side = f.least(_UNIT, _PARTNER), (f.col(_UNIT) != f.least(_UNIT, _PARTNER)).cast("int")
    partners = matched.select(_WHO, _PERIOD, first_of.alias(_PAIR), side.alias(_SIDE))
    pairs = _pairs_of_rows(rows, partners).persist(StorageLevel.DISK_ONLY)
    there, wanted = pairs.count(), method.pairs_wanted(original.rows)
    # those change hands that have the smallest draws, each pair drawing by its place among all
    picked = pairs.select("one", "other")
    if not wanted:
        picked = picked.filter(f.lit(False))
    elif wanted < there:
        largest = (pairs.agg(f.max(_PAIR)).first() or (0,))[0] + 1
        along = f.col("phase").cast("double") * largest + f.col(_PAIR)
        order = [f.col(name) for name in ("phase", _PAIR, _ITEM, _PLACE)]
        numbered = ranked(pairs, order, along, "at", rows=there).select("at", "one", "other")
        into = {"at": pl.Int64(), "one": pl.Int64(), "other": pl.Int64(), "uniform": pl.Float64()}
        drawn = map_blocks(
            numbered,
            lambda block: block.with_columns(pl.Series("uniform", method.draws(block["at"].to_numpy(), seed))),
            into,
        )
        draws, keys = drawn.persist(StorageLevel.DISK_ONLY), ("uniform", "at")
        picked = draws.filter(up_to(keys, key_of_row(draws, keys, wanted))).select("one", "other")
    progress(0.5, _("swapping rows"))
    # the rows of picked pairs get their partner's customer and what goes with customers
    carried = [original.at(Role.CUSTOMER), *(original.at(c) for c in original.schema.with_role(*WITH_OWNER))]
    owners = picked.union(picked.select("other", "one")).toDF("noren_to", "noren_from")
    new_owner = original.frame.select(f.col(ROW).alias("noren_from"), *(f.col(at).alias(f"new_{at}") for at in carried))
    joined = original.frame.join(owners.join(new_owner, "noren_from"), f.col(ROW) == f.col("noren_to"), "left")
    changed = f.col("noren_to").isNotNull()
    new = {at: f.when(changed, f.col(f"new_{at}")).otherwise(f.col(at)).alias(at) for at in carried}
    exchanged = original.with_frame(joined.select(*(new.get(at, f.col(at)) for at in original.frame.columns)))
    notes = missing_columns(nothing, (Role.ITEM, Role.DATE)) | ownerless_notes(original)
    statement = method.statement({"changed_hands": 2 * min(there, wanted) / max(original.rows, 1)} | notes)
    return under_pseudonyms(original, exchanged, statement, seed=seed, names=named(customers, count, seed))


def _rows(method: Swap, original: ClusterRecords, seed: int) -> tuple[DataFrame, int]:
    """Return the rows that may change hands: who, period, item as a code, its place in each round's order, and what
    rows are ordered by; and how many rounds there are.
    """
    dated = bool(original.schema.with_role(Role.DATE))
    there = original.schema.with_role(Role.ITEM)
    item = original.column(there[0]) if there else f.lit("one")
    plain = original.frame.select(
        ROW,
        original.column(Role.CUSTOMER).alias(_WHO),
        (period_of(method, original) if dated else f.lit("")).alias(_PERIOD),
        item.alias("word"),
        *(as_number(original, c).alias(f"by{at}") for at, c in enumerate(ordered_by(original.schema))),
    )
    owned = f.col(_WHO).isNotNull() & f.col(_PERIOD).isNotNull()
    words = plain.groupBy("word").agg(f.max(owned).alias("kept")).collect()
    # items are coded in the order of their text, from 1; none is 0
    known = pl.DataFrame([tuple(row) for row in words], schema={"word": pl.String, "kept": pl.Boolean}, orient="row")
    coded = known.with_columns(pl.col("word").rank("dense").cast(pl.Int64).fill_null(0).alias(_ITEM)).sort(_ITEM)
    last = coded.filter("kept")[_ITEM].max()
    items = int(last) + 1 if isinstance(last, int) else 0
    orders = method.orders_of_items(items, seed)
    coded = coded.filter("kept").select("word", _ITEM)
    first = [pl.Series(f"r{at}", order[coded[_ITEM].to_numpy()]) for at, order in enumerate(orders)]
    table = on_cluster(original.frame.sparkSession, coded.with_columns(first)).withColumnRenamed("word", "known")
    same = f.col("word").eqNullSafe(f.col("known"))
    return plain.filter(owned).join(f.broadcast(table), same).drop("word", "known"), len(orders)


def _pairs_of_rows(rows: DataFrame, partners: DataFrame) -> DataFrame:
    """Return pairs of rows of partners: of one item first, then of what is left, in the order of what rows are by."""
    by = [name for name in rows.columns if name.startswith("by")]
    order = [f.col(name).asc_nulls_last() for name in by]
    laid = rows.join(partners, [_WHO, _PERIOD]).select(ROW, _ITEM, _PAIR, _SIDE, *by)

    first, other = (f.max(f.when(f.col(_SIDE) == side, f.col(ROW))) for side in (0, 1))
    phases: list[DataFrame] = []
    for group, item in (([_PAIR, _ITEM], f.col(_ITEM)), ([_PAIR], f.lit(0).cast("long"))):
        side = Window.partitionBy(*group, _SIDE).orderBy(*order, ROW)
        placed = laid.withColumn(_PLACE, f.row_number().over(side))
        placed = placed.withColumn("met", f.count(f.lit(1)).over(Window.partitionBy(*group, _PLACE)) == 2)
        met = placed.filter("met").groupBy(_PAIR, item.alias(_ITEM), _PLACE)
        pairs = met.agg(first.alias("one"), other.alias("other"))
        phases.append(pairs.withColumn("phase", f.lit(len(phases))))
        laid = placed.filter(~f.col("met")).drop("met", _PLACE)
    return phases[0].unionByName(phases[1])


_ORDER = ("telling", "uniform", ROW)


@plan(Thin)
def protect_thin(method: Thin, original: ClusterRecords, *, seed: int, progress: Progress = silent) -> ClusterRelease:
    """Delete rows up to a cut in the order that one machine deletes them in."""
    progress(0.0, _("choosing rows to delete"))
    customers, count = customers_of(original)
    names = named(customers, count, seed)
    nobodys = ownerless_notes(original)
    owned = original.rows - sum(nobodys.values())
    measured = [column.name for column in original.rowless().measured()] if method.rarest else []
    facts = [f"t{at}" for at in range(len(measured))]
    who = original.schema.role(Role.CUSTOMER).name

    def kernel(records: Records, rows: pl.Series) -> pl.DataFrame:
        texts = records.texts()
        draws = pl.Series("uniform", method.draws(rows.to_numpy(), seed))
        values = [texts[name].alias(fact) for name, fact in zip(measured, facts, strict=True)]
        return pl.DataFrame([rows.alias(ROW), records.frame[who].alias(CUSTOMER), draws, *values])

    into = {ROW: pl.Int64(), CUSTOMER: pl.String(), "uniform": pl.Float64()} | {fact: pl.String() for fact in facts}
    drawn = original.map(kernel, into)
    telling, pairs = f.lit(0.0), pairs_of_facts(facts) if facts else []
    for at, pair in enumerate(pairs):
        shared = drawn.select(*pair, CUSTOMER).distinct().groupBy(*pair).agg(f.count(f.lit(1)).alias(f"shared{at}"))
        drawn = drawn.join(shared, list(pair))
        telling = telling + f.lit(1.0) / f.col(f"shared{at}")
    # what decides when a row goes: how telling it is, its draw, its place
    order = drawn.select(ROW, CUSTOMER, "uniform", (-(telling / len(pairs)) if pairs else telling).alias("telling"))
    order = order.filter(f.col(CUSTOMER).isNotNull()).persist(StorageLevel.DISK_ONLY)
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
    public = rows.replaced(Role.CUSTOMER, names.select(CUSTOMER, NAME))
    pseudonyms = owners_of(names, public if method.allow_vanish else None)
    statement = method.statement(nobodys | rows_kept(max(wanted - there, 0)))
    return ClusterRelease(original, public, pseudonyms, statement, seed, original.rows)


@plan(Pseudonymize)
def protect_pseudonymize(
    method: Pseudonymize, original: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterRelease:
    """Replace customers by the pseudonyms that one machine gives them."""
    return under_pseudonyms(original, original, method.statement(ownerless_notes(original)), seed=seed)


@plan(MonthlyPseudonyms)
def protect_monthly_pseudonyms(
    method: MonthlyPseudonyms, original: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterRelease:
    """Replace customers by pseudonyms of their own in each period."""
    progress(0.0, _("choosing pseudonyms"))
    reject_empty_periods(method, original)
    at = original.at(Role.CUSTOMER)
    owned = original.frame.filter(f.col(at).isNotNull()).withColumn("noren_period", period_of(method, original))
    units = owned.groupBy(f.col(at).alias(CUSTOMER), f.col("noren_period").alias("period"))
    people, count = in_order_of_appearance(units.agg(f.min(ROW).alias("first")))
    names = named(people, count, seed).select(CUSTOMER, "period", NAME)
    # rows without a date are a period of their own
    same = (f.col(at) == f.col(CUSTOMER)) & f.col("noren_period").eqNullSafe(f.col("period"))
    public = owned.join(names, same).withColumn(at, f.col(NAME)).select(*original.frame.columns)
    pseudonyms = names.select(f.col(NAME).alias("pseudonym"), CUSTOMER, "period")
    statement = method.statement(ownerless_notes(original))
    return ClusterRelease(original, original.with_frame(public), pseudonyms, statement, seed, original.rows)


_MOMENT, _AT = "noren_moment", "noren_at"


@plan(PseudoRecords)
def protect_pseudo_records(
    method: PseudoRecords, original: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterRelease:
    """Add rows until clusters of customers have equal items; the search is one machine's, rows stay on the cluster."""
    progress(0.0, _("comparing rows"))
    nothing = original.rowless()
    require_exact(nothing, nothing.measured())
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
    items = f.broadcast(on_cluster(original.frame.sparkSession, table))
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
        added = _believable_rows(original, rows, on_cluster(original.frame.sparkSession, wanted))
        owned = original.frame.filter(original.column(Role.CUSTOMER).isNotNull())
        whole = original.with_frame(owned.unionByName(added), rows=original.rows + len(who))
    sizes = np.bincount(cluster, minlength=method.clusters)
    statement = method.statement(sizes, len(who), searched, ownerless_notes(original))
    return under_pseudonyms(original, whole, statement, seed=seed, names=named(customers, count, seed))


def _believable_rows(original: ClusterRecords, rows: DataFrame, wanted: DataFrame) -> DataFrame:
    """Return a row for each that is wanted; see :func:`noren.methods.pseudo_records.believable_rows`."""
    # what goes with the item, as a category does, has fewer values beside its first for an item than for a visit
    schema, owned = original.schema, original.column(Role.CUSTOMER).isNotNull()
    item, visit = [original.at(Role.ITEM)], [original.at(column) for column in schema.with_role(*OF_THE_VISIT)]
    others = [original.at(c) for c in schema.columns if c.role not in (*OF_THE_ITEM, *OF_THE_VISIT)]
    keys = [item, visit, *([*key, at] for at in others for key in (item, visit))]
    different = [f.count_distinct(f.struct(*(f.when(owned, f.col(n)).alias(n) for n in names))) for names in keys]
    items, visits, *many = original.frame.agg(*different).first() or [0] * len(keys)
    from_item = [original.at(column) for column in schema.with_role(*OF_THE_ITEM)]
    counts = zip(others, many[::2], many[1::2], strict=True)
    from_item += [at for at, of_items, of_visits in counts if of_items - items < of_visits - visits]
    cells = [name for name in original.frame.columns if name != ROW]
    from_visit = [name for name in cells if name not in from_item]
    bought = _one_of(wanted.withColumnRenamed("what", _ITEM), rows.filter(f.col(_ITEM).isNotNull()), [_ITEM], "like")
    bought = bought.select(_AT, "who", "place", f.col(_MOMENT).alias("when"), *from_item)
    bought = bought.persist(StorageLevel.DISK_ONLY)
    # the customer's moment nearest to when the like was bought, the earlier of two equally near
    sought = bought.select("who", "when", f.lit(0).alias("kind"), _AT)
    there = rows.select(f.col(CODE).alias("who"), f.col(_MOMENT).alias("when")).distinct()
    both = sought.unionByName(there.withColumn("kind", f.lit(1)), allowMissingColumns=True)
    moment, by_who = f.when(f.col("kind") == 1, f.col("when")), Window.partitionBy("who")
    orders = {"before": [f.asc("when"), f.asc("kind")], "after": [f.desc("when"), f.desc("kind")]}
    for name, order in orders.items():
        so_far = by_who.orderBy(*order).rowsBetween(Window.unboundedPreceding, Window.currentRow)
        both = both.withColumn(name, f.last(moment, ignorenulls=True).over(so_far))
    nearer = f.abs(f.col("after") - f.col("when")) < f.abs(f.col("before") - f.col("when"))
    nearest = f.when(f.col("before").isNull() | nearer, f.col("after")).otherwise(f.col("before"))
    nearest_moments = both.filter("kind = 0").select(_AT, nearest.alias(_MOMENT))
    placed = bought.join(nearest_moments, _AT).withColumnRenamed("who", CODE)
    made = _one_of(placed, rows.select(CODE, _MOMENT, ROW, *from_visit), [CODE, _MOMENT], "place")
    return made.select(*cells, f.lit(None).cast("long").alias(ROW))


def _one_of(wanted: DataFrame, rows: DataFrame, by: list[str], uniform: str) -> DataFrame:
    """Return what is wanted with the columns of one of the rows that are alike in ``by``, all equally likely.

    Those alike are numbered from 0 in the original's order.
    """
    alike = Window.partitionBy(*by)
    rows = rows.withColumn("number", f.row_number().over(alike.orderBy(ROW)).cast("long") - 1)
    rows = rows.withColumn("many", f.count(f.lit(1)).over(alike))
    many = rows.filter("number = 0").select(*by, f.col("many").alias("of"))
    number = f.least(f.floor(f.col(uniform) * f.col("of")), f.col("of") - 1).cast("long")
    chosen = wanted.join(many, by).withColumn("number", number)
    there = rows.drop(*(name for name in wanted.columns if name in rows.columns and name not in by), "many")
    return chosen.join(there, [*by, "number"]).drop("of", "number")
