"""The classes of a released table, counted on a cluster: nothing of a single class comes to the driver."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pyarrow as pa

from noren.data.cells import is_generalised, is_interval, is_set
from noren.data.schema import Column, Kind, Role
from noren.errors import SchemaError
from noren.execution.counts import MOST_VALUES, ROWS, counted
from noren.execution.frames import ClusterRecords, arrow_of, spark_type
from noren.execution.guess import ClusterEvidence
from noren.i18n import _
from noren.kernels.arrays import Real, Whole
from noren.measures.safety.classes import Classes
from noren.measures.safety.table_classes import (
    LIKELY,
    ClassSizes,
    claimed_values,
    judged,
    sensitive_columns,
    shares_in_order,
    told_of_worst,
)
from noren.protocols import Score

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame

__all__ = ["class_sizes", "judge_table"]

_VALUE, _SHARE = "noren_value", "noren_share"


def class_sizes(public: ClusterRecords) -> ClassSizes:
    """Return how many classes of each size a released table has; different sizes are at most √(2 · rows)."""
    from pyspark.sql import functions as f

    if public.schema.kind != Kind.TABLE:
        raise SchemaError(_("the release is a history"), _("give a release of a table"))
    rows, quasi = _by_class(public)
    sizes = rows.groupBy(*quasi).count().groupBy("count").agg(f.count(f.lit(1)).alias("classes"))
    found = sorted((int(row["count"]), int(row["classes"])) for row in sizes.collect())
    both = np.array(found, dtype=np.int64).reshape(-1, 2)
    in_classes = int((both[:, 0] * both[:, 1]).sum())
    return ClassSizes(both[:, 0], both[:, 1], public.rows - in_classes)


def judge_table(measure: Classes, evidence: ClusterEvidence) -> Score:
    """Return what one machine says of the classes of a table."""
    public, statement = evidence.release.public, evidence.release.statement
    sizes = class_sizes(public)
    columns = sensitive_columns(public.schema, measure.sensitive) if sizes.classes else []
    told = {c.name: _told(public, c, evidence.original, claimed_values(statement)) for c in columns}
    return judged(sizes, told, statement, public.rows, evidence.original.rows, measure.population_share)


def _by_class(public: ClusterRecords, *more: Expression) -> tuple[DataFrame, list[str]]:
    """Return the rows that are in some class, with their quasi cells in a form that can be grouped by."""
    from pyspark.sql import functions as f

    columns = public.schema.with_role(Role.QUASI)
    if not columns:
        raise SchemaError(_("no column of the release is quasi"), _("there are no classes to look at"))
    names = [public.at(column) for column in columns]
    cells = public.frame.select(*(_comparable(public, column).alias(public.at(column)) for column in columns), *more)
    return cells.filter(reduce(or_, (f.col(name).isNotNull() for name in names))), names


def _comparable(records: ClusterRecords, column: Column) -> Expression:
    """Return cells that are equal where they say the same, null where suppressed."""
    from pyspark.sql import functions as f

    cell, dtype = records.column(column), records.types[column.name]
    if is_set(dtype):
        return f.array_sort(cell)  # {a;b} is {b;a}
    if is_interval(dtype):
        return f.when(cell["lo"].isNotNull() & cell["hi"].isNotNull(), cell)
    return cell


def _told(public: ClusterRecords, column: Column, original: ClusterRecords, ell: int) -> dict[str, float]:
    """Return what the classes tell of one sensitive column; the worst class decides each number."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    rows, quasi = _by_class(public, _comparable(public, column).alias(_VALUE))
    known = original.schema[column.name] if column.name in original.schema.names else column
    dtype = public.types[column.name]
    everybody = {"": _everybody(rows, _VALUE, public, dtype, known)}
    if not is_generalised(dtype) and original.types.get(column.name) == dtype:
        everybody["_to_original"] = _everybody(original.frame, original.at(column.name), original, dtype, known)
    within = Window.partitionBy(*quasi)
    size, share = f.sum(ROWS).over(within), f.col(ROWS) / f.col("size")
    entries = rows.groupBy(*quasi, _VALUE).agg(f.count(f.lit(1)).alias(ROWS)).withColumn("size", size)
    entries = entries.withColumn("rank", f.row_number().over(within.orderBy(f.desc(ROWS)))).withColumn(_SHARE, share)
    entries = _with_moves(entries, quasi, list(everybody.values()))
    distances = [f"{kind}_{at}" for at in range(len(everybody)) for kind in ("equal", "ordered")]
    by_class = entries.groupBy(*quasi).agg(
        f.count(f.lit(1)).alias("distinct"),
        (-f.sum(f.col(_SHARE) * f.log(_SHARE))).alias("entropy"),
        f.max("size").alias("size"),
        f.max(ROWS).alias("commonest"),
        # a value that is not said tells nothing of anybody
        f.coalesce(f.max(f.when(f.col(_VALUE).isNotNull(), f.col(ROWS))), f.lit(0)).alias("said"),
        f.coalesce(f.sum(f.when(f.col("rank") >= ell, f.col(ROWS))), f.lit(0)).alias("rarer"),
        *(f.sum(name).alias(name) for name in distances),
    )
    worst = by_class.agg(
        f.min("distinct").alias("distinct"),
        f.min("entropy").alias("entropy"),
        f.coalesce(f.sum(f.expr("if(said = size, size, 0)")), f.lit(0)).alias("told_rows"),
        f.coalesce(f.sum(f.expr(f"if(said >= cast({LIKELY} AS DOUBLE) * size, size, 0)")), f.lit(0)).alias(
            "likely_rows"
        ),
        f.min("rarer").alias("rarer"),
        f.max(f.expr("try_divide(commonest, rarer)")).alias("ratio"),
        *(f.max(name).alias(name) for name in distances),
    ).first()
    if worst is None:  # pragma: no cover - an aggregate of all rows has one row
        raise SchemaError(_("no column of the release is quasi"), _("there are no classes to look at"))
    found = {
        suffix: (
            (worst[f"equal_{at}"] + 1) / 2,
            worst[f"ordered_{at}"] / (len(shares) - 1) if len(shares) > 1 else 0.0,
        )
        for at, (suffix, shares) in enumerate(everybody.items())
    }
    return told_of_worst(worst.asDict(), found)


def _everybody(rows: DataFrame, name: str, records: ClusterRecords, dtype: pl.DataType, column: Column) -> pl.DataFrame:
    """Return the values of a sensitive column in order, with everybody's shares; they are held by the driver."""
    from pyspark.sql import functions as f

    cure = _("round its values first, or give it another role than sensitive")
    by = {"value": f.col(name)}
    found = counted(rows, by, rows=records.rows, most=MOST_VALUES, cure=cure).rename({ROWS: "len"})
    typed = found if is_generalised(dtype) else found.with_columns(pl.col("value").cast(dtype))
    return shares_in_order(typed, column)


def _with_moves(entries: DataFrame, quasi: list[str], everybody: list[pl.DataFrame]) -> DataFrame:
    """Add what each value of a class adds to its distance from everybody: ``equal_0``, ``ordered_0``, ``equal_1``, …

    Where values are ordered, a class's share up to a place stays the same from one of its values to the next; the sum
    of its differences from everybody's over such a run is read off everybody's running sums.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f
    from pyspark.sql.types import DoubleType, StructField, StructType

    kept, placed, sums = list(entries.columns), entries, []
    for at, shares in enumerate(everybody):
        lookup = shares.select(known="value", all="all", place="place").with_columns(pl.col("place").cast(pl.Int64))
        into = dict(lookup.schema)
        known = f.broadcast(entries.sparkSession.createDataFrame(arrow_of(lookup, into), spark_type(into)))
        in_order = Window.partitionBy(*quasi).orderBy(f"place_{at}")
        placed = (
            placed.join(known, f.col(_VALUE).eqNullSafe(f.col("known")))
            .withColumnRenamed("place", f"place_{at}")
            .withColumn(f"equal_{at}", f.abs(f.col(_SHARE) - f.col("all")) - f.col("all"))
            .withColumn(f"upto_{at}", f.sum(_SHARE).over(in_order))
            .withColumn(f"next_{at}", f.lead(f"place_{at}", 1, len(shares)).over(in_order))
            .withColumn(f"first_{at}", f.row_number().over(in_order) == 1)
            .drop("known", "all")
        )
        kept.append(f"equal_{at}")
        running = np.cumsum(shares["all"].to_numpy())
        sums.append((running, np.concatenate([[0.0], np.cumsum(running)])))

    def moved(batch: pa.RecordBatch, at: int) -> pa.Array:
        running, before = sums[at]
        upto, place, to, first = (
            batch.column(f"{name}_{at}").to_numpy(zero_copy_only=False) for name in ("upto", "place", "next", "first")
        )
        # nothing of a class lies below its first value
        return pa.array(_run(upto, place, to, running, before) + np.where(first, before[place], 0.0))

    def kernel(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            arrays = [*(batch.column(name) for name in kept), *(moved(batch, at) for at in range(len(sums)))]
            yield pa.RecordBatch.from_arrays(arrays, names=[field.name for field in into_type])

    ordered = [StructField(f"ordered_{at}", DoubleType()) for at in range(len(sums))]
    into_type = StructType([*(placed.schema[name] for name in kept), *ordered])
    return placed.mapInArrow(kernel, into_type)


def _run(level: Real, start: Whole, stop: Whole, running: Real, before: Real) -> Real:
    """Return the sum of ``|level - running[j]|`` over ``start ≤ j < stop``, ``before`` being the sums of ``running``.

    >>> all_ = np.array([0.2, 0.5, 1.0])
    >>> _run(np.array([0.4]), np.array([0]), np.array([3]), all_, np.array([0.0, 0.2, 0.7, 1.7])).round(9).tolist()
    [0.9]
    """
    cut = np.clip(np.searchsorted(running, level, side="right"), start, stop)
    below = level * (cut - start) - (before[cut] - before[start])
    above = (before[stop] - before[cut]) - level * (stop - cut)
    answer: Real = below + above
    return answer
