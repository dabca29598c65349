"""Public rows numbered by their text: what one machine hands from one step of a chain to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from noren.execution.frames import ROW, ClusterRecords, as_records, cell_types, map_blocks
from noren.execution.ranks import MOST_PARTS, ROWS_OF_A_PART

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["BEFORE", "in_order_of_text"]

BEFORE = "noren_before"
"""The row of the step before that a row stands for; null for one that was inserted."""
_LINE, _PART, _PLACE = "noren_line", "noren_part", "noren_place"
_OF_A_PART = 20
"""So many texts of each part come to the driver, to choose where to cut."""


def in_order_of_text(records: ClusterRecords, rows_of_a_part: int = ROWS_OF_A_PART) -> ClusterRecords:
    """Return the rows numbered anew in the order of their text, ties by their number so far, which is kept as
    :data:`BEFORE`.

    Rows are cut into parts at texts that a hash of the row picks, so that a part that is lost is made again as it was.
    They are kept on the workers' disks: what comes after looks at them several times.
    """
    from pyspark import StorageLevel
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    parts = min(max(records.rows // rows_of_a_part, 1), MOST_PARTS)
    cuts = _cuts(_lined(records, []), records.rows, parts) if parts > 1 else []
    order = Window.partitionBy(_PART).orderBy(f.col(_LINE), f.col(BEFORE).asc_nulls_last())
    placed = _lined(records, cuts).withColumn(_PLACE, f.row_number().over(order).cast("long") - 1).drop(_LINE)
    placed = placed.persist(StorageLevel.DISK_ONLY)
    sizes = {row[_PART]: row["count"] for row in placed.groupBy(_PART).count().collect()}
    starts, before = [], 0
    for part in sorted(sizes):
        starts += [f.lit(part), f.lit(before).cast("long")]
        before += sizes[part]
    start = f.create_map(*starts)[f.col(_PART)] if starts else f.lit(0)
    return records.with_frame(placed.withColumn(ROW, start + f.col(_PLACE)).drop(_PART, _PLACE), rows=before)


def _lined(records: ClusterRecords, cuts: list[str]) -> DataFrame:
    """Return the cells with :data:`BEFORE`, their text, and the part of the order that they are in."""
    schema, types = records.schema, records.types
    cells = cell_types(schema, types)
    rising = pl.Series(cuts, dtype=pl.String)

    def kernel(block: pl.DataFrame) -> pl.DataFrame:
        line = as_records(block, schema, types).lines()
        part = rising.search_sorted(line) if len(rising) else pl.zeros(len(block), eager=True)
        return block.select(*cells, pl.col(ROW).alias(BEFORE)).with_columns(
            line.alias(_LINE), pl.Series(_PART, part, dtype=pl.Int64, strict=False)
        )

    into = cells | {BEFORE: pl.Int64(), _LINE: pl.String(), _PART: pl.Int64()}
    return map_blocks(records.frame.select(*cells, ROW), kernel, into)


def _cuts(lined: DataFrame, rows: int, parts: int) -> list[str]:
    """Return texts that cut the order into about so many parts of about equal size."""
    from pyspark.sql import functions as f

    one_in = max(rows // (parts * _OF_A_PART), 1)
    picked = lined.filter(f.pmod(f.xxhash64(_LINE), f.lit(one_in)) == 0).select(_LINE).distinct()
    texts = sorted((row[0] for row in picked.collect()), key=str.encode)
    return texts[_OF_A_PART - 1 :: _OF_A_PART]
