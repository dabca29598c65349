"""Sets of items on a cluster: what each customer bought and what each pseudonym shows.

As :mod:`noren.data.arrays` has them. Items are numbers, the rarest first, so that two sets that have much in common
share one of their first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from noren.data.arrays import exact_values
from noren.data.categories import as_released
from noren.data.cells import is_set
from noren.data.frames import Records
from noren.data.schema import Role
from noren.data.statement import Statement
from noren.execution.frames import PLACE, ROW, ClusterRecords, Types, history_of, map_blocks
from noren.execution.sides import in_release_order, place_type, rowless
from noren.kernels.arrays import Whole
from noren.kernels.compiling import read_only
from noren.kernels.items.packed_sets import CERTAIN, shared_weights, weight_of_one_in

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame

__all__ = ["SetSides", "set_sides", "similarity", "with_overlap"]


@dataclass(frozen=True)
class SetSides:
    """The two sides.

    Attributes
    ----------
    customers
        ``customer``, the ``first`` row, ``items`` (numbers in rising order) and their number ``size``; one who has no
        item is not there.
    pseudonyms
        ``pseudonym``, ``total`` (the weight of all it shows), ``place`` (its first in the release), and ``items``:
        ``{item, weight}`` of those that the original has, in rising order; null where it shows none of these.
    unit
        The weight of an item that is surely there.
    """

    customers: DataFrame
    pseudonyms: DataFrame
    unit: int


def set_sides(original: ClusterRecords, public: ClusterRecords, statement: Statement | None = None) -> SetSides:
    """Return both sides' sets. Nothing comes to the driver; workers hold a number for each item.

    With a statement, the original's items are in the words of the release: categories, where it speaks of those.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    exact_values(rowless(original), original.schema.role(Role.ITEM))

    def bought_in(block: Records, rows: pl.Series) -> pl.DataFrame:
        history = history_of(block) if statement is None else as_released(history_of(block), statement)
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
    said = placed.map(_shown, into, also=(PLACE,))
    heaviest = said.groupBy("pseudonym", "name").agg(f.max("weight").alias("weight"), f.min("place").alias("place"))
    pair = f.when(f.col("item").isNotNull(), f.struct("item", "weight"))
    pseudonyms = (
        heaviest.join(items, "name", "left")
        .groupBy("pseudonym")
        .agg(
            f.coalesce(f.sum("weight"), f.lit(0)).alias("total"),
            f.min("place").alias("place"),
            f.sort_array(f.collect_list(pair)).alias("items"),
        )
    )
    return SetSides(customers, pseudonyms, CERTAIN if several else 1)


def _shown(block: Records, beside: Any) -> pl.DataFrame:
    """Return what each row shows of which weight; a row without any still tells that there is the pseudonym."""
    history = history_of(block)
    cells = history[Role.ITEM]
    columns = {"pseudonym": history[Role.CUSTOMER], "name": cells, "place": beside[PLACE]}
    shown = pl.DataFrame(columns).drop_nulls("pseudonym")
    if not is_set(cells.dtype):
        sure = pl.when(pl.col("name").is_not_null()).then(pl.lit(1, pl.Int64))
        return shown.with_columns(pl.col("name").cast(pl.String), weight=sure)
    listed = shown.with_columns(pl.col("name").list.drop_nulls().list.unique())
    listed = listed.with_columns(size=pl.col("name").list.len().cast(pl.Int64)).explode("name")
    weight = pl.Series("weight", weight_of_one_in(listed["size"].fill_null(0).clip(1).to_numpy()))
    there = pl.when(pl.col("name").is_not_null()).then(pl.col("weight"))
    return listed.with_columns(weight).select("pseudonym", pl.col("name").cast(pl.String), "place", weight=there)


def with_overlap(pairs: DataFrame, beside: Types) -> DataFrame:
    """Return the columns ``beside`` of pairs of sets, and as ``shared`` what ``items`` and ``bought`` share."""

    def kernel(block: pl.DataFrame) -> pl.DataFrame:
        released, known = (block[name].drop_nulls().explode(empty_as_null=False) for name in ("items", "bought"))
        both = released.struct.unnest()
        shared = shared_weights(
            _starts(block["items"]),
            read_only(both["item"].cast(pl.Int32).to_numpy()),
            read_only(both["weight"].cast(pl.Int64).to_numpy()),
            _starts(block["bought"]),
            read_only(known.cast(pl.Int32).to_numpy()),
        )
        return block.select(*beside).with_columns(shared=pl.Series(shared))

    return map_blocks(pairs.select(*beside, "items", "bought"), kernel, {**beside, "shared": pl.Int64()})


def _starts(sets: pl.Series) -> Whole:
    sizes = sets.list.len().fill_null(0).cast(pl.Int64).to_numpy()
    return read_only(np.concatenate(([0], np.cumsum(sizes))))


def similarity(overlap: Expression, total: Expression, size: Expression, unit: int) -> Expression:
    """Return the Jaccard coefficient, of whole numbers as on one machine."""
    from pyspark.sql import functions as f

    return f.when(overlap > 0, overlap / (total + size * unit - overlap)).otherwise(0.0)
