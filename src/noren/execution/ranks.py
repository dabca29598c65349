"""Rows in a global order, numbered from 0, without bringing them to one place.

The order is cut at quantiles of a number that grows with it. Which part a row is in is then a function of the row
alone, so that a part that is lost with its worker is made again just as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame

__all__ = ["MOST_PARTS", "ROWS_OF_A_PART", "ranked"]

ROWS_OF_A_PART = 500_000
MOST_PARTS = 2_000


def ranked(frame: DataFrame, order: Sequence[Expression], along: Expression, name: str, *, rows: int) -> DataFrame:
    """Return the frame with its rows' places in ``order``, from 0, as the column ``name``.

    Parameters
    ----------
    order
        What rows are ordered by; no two rows may be alike in it.
    along
        A number that never falls along the order: it is what the order is cut by.
    rows
        How many rows there are, about; it decides into how many parts they are cut. At most 2,000 numbers of the cuts
        and the sizes of the parts are held by the driver.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    part = f"{name}_part"
    count = min(max(rows // ROWS_OF_A_PART, 1), MOST_PARTS)
    cut = frame.withColumn(part, f.lit(0))
    if count > 1:
        shares = [i / count for i in range(1, count)]
        (cuts,) = frame.select(f.percentile_approx(along, shares, 10 * count)).first() or ((),)
        bounds = f.array(*(f.lit(float(bound)) for bound in sorted(set(cuts or ()))))
        # how many cuts lie below: an array of numbers that rises
        cut = frame.withColumn(part, f.size(f.filter(bounds, lambda bound: bound < along.cast("double"))))
    sizes = {row[part]: row["count"] for row in cut.groupBy(part).count().collect()}
    before, starts = 0, {}
    for at in sorted(sizes):
        starts[at] = before
        before += sizes[at]
    start = f.lit(0).cast("long")
    if len(starts) > 1:
        known = f.create_map(*(f.lit(item) for pair in starts.items() for item in pair))
        start = known[f.col(part)].cast("long")
    place = f.row_number().over(Window.partitionBy(part).orderBy(*order)).cast("long")
    return cut.withColumn(name, place - 1 + start).drop(part)
