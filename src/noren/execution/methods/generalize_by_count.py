"""Customers of like length made alike, on a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from noren.data.arrays import must_be_exact
from noren.data.categories import read_categories
from noren.data.cells import generalised_dtype
from noren.data.schema import Column, Role, Scale
from noren.execution.edits import behind, nobodys_rows
from noren.execution.frames import ROW, ClusterRecords
from noren.execution.names import CODE, CUSTOMER, NAME, customers_of, named
from noren.execution.plans import plan
from noren.execution.ranks import ranked
from noren.execution.release import ClusterRelease
from noren.execution.sides import rowless
from noren.execution.values import as_number, population_sds, small_frame
from noren.i18n import N_, _
from noren.methods.alike import stop_if_too_few, suppressed_columns
from noren.methods.generalize_by_count import GeneralizeByCount, sorted_by
from noren.progress import Progress, silent

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame

__all__ = ["alike", "in_words", "protect"]

GROUP, PLACE = "noren_group", "noren_place"


@plan(
    GeneralizeByCount,
    driver=N_("cuts and sizes of at most 2,000 parts of the order of customers; the items, where there are categories"),
)
def protect(
    method: GeneralizeByCount, original: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterRelease:
    """Make histories alike, k by k: customers are numbered by length, rows by their place in it."""
    progress(0.0, _("grouping customers by their number of purchases"))
    nothing = rowless(original)
    must_be_exact(nothing, nothing.measured())
    customers, count = customers_of(original)
    stop_if_too_few(method.k, count)
    words, meaning = in_words(original, method.categories)
    members = named(_grouped(customers, method.k, count), count, seed)
    progress(0.2, _("generalising rows"))
    laid = _laid_together(words, members)
    public = alike(original, words, laid, [GROUP, PLACE], suppress_cells=method.suppress_cells)
    notes = meaning | suppressed_columns(nothing) | nobodys_rows(original)
    return ClusterRelease(original, public, behind(members), method.statement(notes), seed, original.rows)


def in_words(original: ClusterRecords, categories: Path | None) -> tuple[ClusterRecords, dict[str, Any]]:
    """Return rows whose items are categories where a file says so, and what a statement notes."""
    from pyspark.sql import functions as f

    if categories is None:
        return original, {}
    at = original.at(Role.ITEM)
    known = read_categories(categories)
    items = [row[0] for row in original.frame.select(at).distinct().dropna().collect()]
    groups = known.groups_of(pl.Series(items, dtype=pl.String))
    table = pl.DataFrame(
        {"noren_item": items, "noren_category": [known.of_item[item] for item in items]},
        schema={"noren_item": pl.String, "noren_category": pl.String},
    )
    told = f.broadcast(small_frame(original.session, table))
    joined = original.frame.join(told, f.col(at) == f.col("noren_item"), "left")
    frame = joined.withColumn(at, f.col("noren_category")).select(*original.frame.columns)
    return original.with_frame(frame), {"categories": groups}


def _grouped(customers: DataFrame, k: int, count: int) -> DataFrame:
    """Return the customers with their group and how many rows its shortest member has.

    They stand by number of rows, longest first, then by first appearance, as ``kernels.sharing.count_groups`` says.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    longest_first = -f.col("count")
    along = longest_first + f.col(CODE) / count
    placed = ranked(customers, [longest_first, f.col(CODE)], along, "rank", rows=count)
    group = f.least(f.floor(f.col("rank") / k), f.lit(count // k - 1)).cast("long")
    shortest = f.min("count").over(Window.partitionBy(GROUP))
    return placed.withColumn(GROUP, group).withColumn("shortest", shortest)


def _laid_together(words: ClusterRecords, members: DataFrame) -> DataFrame:
    """Return the rows that stay, under their pseudonyms, with their group and their place in it."""
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    at = words.at(Role.CUSTOMER)
    keys = [as_number(words, column).desc_nulls_last() for column in sorted_by(words.schema)]
    place = f.row_number().over(Window.partitionBy(CUSTOMER).orderBy(*keys, ROW)).cast("long")
    known = members.select(CUSTOMER, NAME, GROUP, "shortest")
    joined = words.frame.join(known, f.col(at) == f.col(CUSTOMER))
    placed = joined.withColumn(PLACE, place - 1).filter(f.col(PLACE) < f.col("shortest"))
    return placed.withColumn(at, f.col(NAME)).select(*words.frame.columns, GROUP, PLACE)


def alike(
    original: ClusterRecords, words: ClusterRecords, laid: DataFrame, by: list[str], *, suppress_cells: bool
) -> ClusterRecords:
    """Return rows of which all that are alike in ``by`` say the same; see :func:`noren.methods.alike.alike`.

    ``laid`` holds the rows that stay, under their pseudonyms.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as f

    measured = rowless(original).measured()
    window = Window.partitionBy(*by)
    ordered = [column for column in measured if column.scale != Scale.NOMINAL]
    sds = population_sds(original, ordered) if suppress_cells else {}
    cells: dict[str, Expression] = {original.at(Role.CUSTOMER): f.col(original.at(Role.CUSTOMER))}
    types = dict(original.types)
    for column in measured:
        at = original.at(column)
        whole = f.count(at).over(window) == f.count(f.lit(1)).over(window)
        if column.scale == Scale.NOMINAL:
            said = f.sort_array(f.collect_set(at).over(window))
            types[column.name] = pl.List(pl.String())
        else:
            said = f.struct(f.min(at).over(window).alias("lo"), f.max(at).over(window).alias("hi"))
            types[column.name] = generalised_dtype(column)
            if column.name in sds:
                values = f.collect_list(as_number(words, column)).over(window)
                whole = whole & _worth_saying(values, column, sds[column.name])
        cells[at] = f.when(whole, said)
    suppressed = [f.lit(None).cast(field.dataType).alias(field.name) for field in original.frame.schema.fields]
    kept = [
        cells[field.name].alias(field.name) if field.name in cells else blank
        for field, blank in zip(original.frame.schema.fields, suppressed, strict=True)
        if field.name != ROW
    ]
    return original.with_frame(laid.select(*kept, ROW), types=types)


def _worth_saying(values: Expression, column: Column, sd: float) -> Expression:
    """Tell whether an interval around values costs them no more than a suppressed cell, 1 each.

    What it costs is said by :func:`noren.kernels.judging.cell_error.interval_error`; at a tie, which rounding must not
    decide, a cell says more than nothing. A set never costs more.
    """
    from pyspark.sql import functions as f

    if sd == 0:
        return f.lit(True)  # all values of the column are equal: the cell is exact
    lo, hi, width = f.array_min(values), f.array_max(values), f.lit(column.grid)
    inside = f.aggregate(
        values,
        f.lit(0.0),
        lambda total, x: total + ((lo - x) * (lo - x) + (hi - x) * (hi - x) + (hi - lo) * width),
    )
    return inside / (2 * (hi - lo + width)) / sd <= f.size(values) * (1 + 1e-12)
