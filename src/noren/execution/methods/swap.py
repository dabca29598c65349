"""Rows under a similar customer's name, on a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from noren.data.arrays import must_be_exact
from noren.data.fits import columns_not_there
from noren.data.schema import Role
from noren.execution.edits import nobodys_rows, under_names
from noren.execution.frames import ROW, ClusterRecords, map_blocks
from noren.execution.names import CODE, CUSTOMER, customers_of, named
from noren.execution.periods import period_of, stop_at_empty_periods
from noren.execution.plans import plan
from noren.execution.ranks import ranked
from noren.execution.release import ClusterRelease
from noren.execution.sides import rowless
from noren.execution.thresholds import key_of_row, up_to
from noren.execution.values import as_number, small_frame
from noren.i18n import N_, _
from noren.methods.swap import WITH_OWNER, Swap, ordered_by
from noren.progress import Progress, silent

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame

__all__ = ["protect"]

_WHO, _PERIOD, _ITEM, _UNIT, _PARTNER = "who", "period", "item", "unit", "partner"
_PAIR, _SIDE, _PLACE = "pair", "side", "place"


@plan(
    Swap,
    driver=N_(
        "the items, with eight numbers each; the periods; cuts and sizes of at most 2,000 parts of the order of"
        " customers and of pairs of rows; 20,000 draws next to the last pair that changes hands"
    ),
)
def protect(method: Swap, original: ClusterRecords, *, seed: int, progress: Progress = silent) -> ClusterRelease:
    """Exchange the rows that one machine exchanges: partners and pairs of rows are found by windows, round by round."""
    from pyspark import StorageLevel

    progress(0.0, _("finding similar customers"))
    nothing = rowless(original)
    must_be_exact(nothing, (*original.schema.with_role(Role.ITEM), *ordered_by(original.schema)))
    if original.schema.with_role(Role.DATE):
        stop_at_empty_periods(method, original)
    customers, count = customers_of(original)
    rows, rounds = _rows(method, original, seed)
    units = _units(rows, customers, count, rounds)
    pairs = _pairs_of_rows(rows, _partners(units, rounds)).persist(StorageLevel.DISK_ONLY)
    there = pairs.count()
    picked = _picked(method, pairs, there, original.rows, seed)
    progress(0.5, _("exchanging rows"))
    exchanged = _exchanged(original, picked)
    notes = columns_not_there(nothing, (Role.ITEM, Role.DATE)) | nobodys_rows(original)
    moved = min(there, method.pairs_wanted(original.rows))
    statement = method.statement(notes, pairs=moved, rows=original.rows)
    return under_names(original, exchanged, named(customers, count, seed), statement, seed=seed)


def _rows(method: Swap, original: ClusterRecords, seed: int) -> tuple[DataFrame, int]:
    """Return the rows that may change hands: who, period, item as a code, its place in each round's order, and what
    rows are ordered by; and how many rounds there are.
    """
    from pyspark.sql import functions as f

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
    kept = f.col(_WHO).isNotNull() & f.col(_PERIOD).isNotNull()
    words = plain.groupBy("word").agg(f.max(kept).alias("kept")).collect()
    # items are coded in the order of their text, from 1; none is 0
    known = pl.DataFrame([tuple(row) for row in words], schema={"word": pl.String, "kept": pl.Boolean}, orient="row")
    coded = known.with_columns(pl.col("word").rank("dense").cast(pl.Int64).fill_null(0).alias(_ITEM)).sort(_ITEM)
    last = coded.filter("kept")[_ITEM].max()
    items = int(last) + 1 if isinstance(last, int) else 0
    orders = method.orders_of_items(items, seed)
    coded = coded.filter("kept").select("word", _ITEM)
    first = [pl.Series(f"r{at}", order[coded[_ITEM].to_numpy()]) for at, order in enumerate(orders)]
    table = f.broadcast(small_frame(original.session, coded.with_columns(first)).withColumnRenamed("word", "known"))
    rows = plain.filter(kept).join(table, f.col("word").eqNullSafe(f.col("known"))).drop("word", "known")
    return rows, len(orders)


def _units(rows: DataFrame, customers: DataFrame, count: int, rounds: int) -> DataFrame:
    """Return the histories of one customer in one period, numbered by period, then by customer."""
    from pyspark import StorageLevel
    from pyspark.sql import functions as f

    first = [f.min(f"r{at}").alias(f"r{at}") for at in range(rounds)]
    units = rows.groupBy(_WHO, _PERIOD).agg(f.count(f.lit(1)).alias("rows"), *first).persist(StorageLevel.DISK_ONLY)
    periods = sorted(row[0] for row in units.select(_PERIOD).distinct().collect())
    place = f.array_position(f.array(*map(f.lit, periods)), f.col(_PERIOD)) if periods else f.lit(0)
    known = customers.select(f.col(CUSTOMER).alias(_WHO), CODE)
    return units.join(known, _WHO).withColumn(_UNIT, place.cast("long") * count + f.col(CODE))


def _partners(units: DataFrame, rounds: int) -> DataFrame:
    """Return the histories that have a partner; see :func:`noren.kernels.sharing.rows.like_partners`.

    In each round those still free that agree on their first item stand by length, and neighbours become partners.
    """
    from pyspark import StorageLevel
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    units = units.withColumn(_PARTNER, f.lit(None).cast("long"))
    for at in [*(f.col(f"r{at}") for at in range(rounds)), f.lit(0.0)]:
        free = f.col(_PARTNER).isNull()
        # who has a partner is not looked at: alone, so that nobody waits for them
        alike = Window.partitionBy(_PERIOD, f.when(free, at), f.when(~free, f.col(_UNIT))).orderBy("rows", _UNIT)
        even = f.row_number().over(alike) % 2 == 1
        neighbour = f.when(even, f.lead(_UNIT).over(alike)).otherwise(f.lag(_UNIT).over(alike))
        units = units.withColumn(_PARTNER, f.when(free, neighbour).otherwise(f.col(_PARTNER)))
    found = units.filter(f.col(_PARTNER).isNotNull()).persist(StorageLevel.DISK_ONLY)
    pair = f.least(_UNIT, _PARTNER)
    return found.select(_WHO, _PERIOD, pair.alias(_PAIR), (f.col(_UNIT) != pair).cast("int").alias(_SIDE))


def _pairs_of_rows(rows: DataFrame, partners: DataFrame) -> DataFrame:
    """Return pairs of rows of partners: of one item first, then of what is left, in the order of what rows are by."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    order = [f.col(name).asc_nulls_last() for name in rows.columns if name.startswith("by")]
    laid = rows.join(partners, [_WHO, _PERIOD]).select(ROW, _ITEM, _PAIR, _SIDE, *_names(rows, "by"))

    def placed(frame: DataFrame, *group: str) -> DataFrame:
        side = Window.partitionBy(*group, _SIDE).orderBy(*order, ROW)
        both = Window.partitionBy(*group, _PLACE)
        numbered = frame.withColumn(_PLACE, f.row_number().over(side))
        return numbered.withColumn("met", f.count(f.lit(1)).over(both) == 2)

    def met(frame: DataFrame, phase: int, item: Expression) -> DataFrame:
        one, other = (f.max(f.when(f.col(_SIDE) == side, f.col(ROW))) for side in (0, 1))
        pairs = frame.filter("met").groupBy(_PAIR, item.alias(_ITEM), _PLACE)
        return pairs.agg(one.alias("one"), other.alias("other")).withColumn("phase", f.lit(phase))

    by_item = placed(laid, _PAIR, _ITEM)
    rest = placed(by_item.filter(~f.col("met")).drop("met", _PLACE), _PAIR)
    return met(by_item, 0, f.col(_ITEM)).unionByName(met(rest, 1, f.lit(0).cast("long")))


def _names(frame: DataFrame, start: str) -> list[str]:
    return [name for name in frame.columns if name.startswith(start)]


def _picked(method: Swap, pairs: DataFrame, there: int, rows: int, seed: int) -> DataFrame:
    """Return the pairs that change hands: those of the smallest draws, each pair drawing by its place among all."""
    from pyspark import StorageLevel
    from pyspark.sql import functions as f

    wanted = method.pairs_wanted(rows)
    if wanted >= there:
        return pairs.select("one", "other")
    if not wanted:
        return pairs.select("one", "other").filter(f.lit(False))
    largest = (pairs.agg(f.max(_PAIR)).first() or (0,))[0] + 1
    along = f.col("phase").cast("double") * largest + f.col(_PAIR)
    order = [f.col(name) for name in ("phase", _PAIR, _ITEM, _PLACE)]
    numbered = ranked(pairs, order, along, "at", rows=there).select("at", "one", "other")

    def drawn(block: pl.DataFrame) -> pl.DataFrame:
        return block.with_columns(pl.Series("uniform", method.draws(block["at"].to_numpy(), seed)))

    into = {"at": pl.Int64(), "one": pl.Int64(), "other": pl.Int64(), "uniform": pl.Float64()}
    draws, keys = map_blocks(numbered, drawn, into).persist(StorageLevel.DISK_ONLY), ("uniform", "at")
    return draws.filter(up_to(keys, key_of_row(draws, keys, wanted))).select("one", "other")


def _exchanged(original: ClusterRecords, picked: DataFrame) -> ClusterRecords:
    """Return the rows, those of picked pairs with their partner's customer and what goes with customers."""
    from pyspark.sql import functions as f

    carried = [original.at(Role.CUSTOMER), *(original.at(c) for c in original.schema.with_role(*WITH_OWNER))]
    owners = picked.select(
        f.explode(f.array(f.struct("one", "other"), f.struct(f.col("other").alias("one"), f.col("one").alias("other"))))
    )
    owners = owners.select(f.col("col.one").alias("noren_to"), f.col("col.other").alias("noren_from"))
    given = original.frame.select(f.col(ROW).alias("noren_from"), *(f.col(at).alias(f"new_{at}") for at in carried))
    joined = original.frame.join(owners.join(given, "noren_from"), f.col(ROW) == f.col("noren_to"), "left")
    changed = f.col("noren_to").isNotNull()
    cells = [
        f.when(changed, f.col(f"new_{at}")).otherwise(f.col(at)).alias(at) if at in carried else f.col(at)
        for at in original.frame.columns
    ]
    return original.with_frame(joined.select(*cells))
