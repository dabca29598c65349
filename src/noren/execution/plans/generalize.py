"""Plans of the methods that generalise histories."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import polars as pl

from noren.data.arrays import require_exact
from noren.data.categories import read_categories
from noren.data.cells import generalised_dtype
from noren.data.schema import Column, Role, Scale
from noren.errors import ParameterError
from noren.execution.edits import CODE, CUSTOMER, NAME, customers_of, named, ownerless_notes, owners_of
from noren.execution.frames import ROW, ClusterRecords, as_number, map_groups, on_cluster, population_sds, ranked
from noren.execution.plans import plan
from noren.execution.release import ClusterRelease
from noren.execution.spark_functions import StorageLevel, Window, f
from noren.i18n import _
from noren.kernels.arrays import Whole
from noren.kernels.judging.cell_error import counted_sd
from noren.kernels.judging.statistics import weighted_median
from noren.kernels.sharing.alignment import FEATURES, RowArrays, customer_features, row_arrays
from noren.kernels.sharing.shared_histories import SharedGroups
from noren.methods.generalize import NO_ITEM, Generalize
from noren.methods.generalize_by_count import GeneralizeByCount, sorted_by
from noren.methods.shared_values import require_enough_customers, suppressed_columns
from noren.progress import Progress, silent
from noren.protocols import Method

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame

GROUP, PLACE = "noren_group", "noren_place"


@plan(GeneralizeByCount)
def protect_generalize_by_count(
    method: GeneralizeByCount, original: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterRelease:
    """Make histories alike, k by k: customers are numbered by length, rows by their place in it."""
    _refuse(method, most_rows=method.most_rows is not None)
    progress(0.0, _("grouping customers by their number of purchases"))
    nothing = original.rowless()
    require_exact(nothing, nothing.measured())
    customers, count = customers_of(original)
    require_enough_customers(method.k, count)
    words, meaning = with_categories(original, method.categories)
    # by number of rows, longest first, then by first appearance, as kernels.sharing.count_groups says
    longest_first = -f.col("count")
    along = longest_first + f.col(CODE) / count
    placed = ranked(customers, [longest_first, f.col(CODE)], along, "rank", rows=count)
    group = f.least(f.floor(f.col("rank") / method.k), f.lit(count // method.k - 1)).cast("long")
    shortest = f.min("count").over(Window.partitionBy(GROUP))
    members = named(placed.withColumn(GROUP, group).withColumn("shortest", shortest), count, seed)
    progress(0.2, _("generalising rows"))
    # the rows that stay, under their pseudonyms, with their group and their place in it
    at = words.at(Role.CUSTOMER)
    keys = [as_number(words, column).desc_nulls_last() for column in sorted_by(words.schema)]
    place = f.row_number().over(Window.partitionBy(CUSTOMER).orderBy(*keys, ROW)).cast("long")
    # customers are few enough to be looked up in memory, part by part: their rows need no sorting to find them
    looked_up = members.select(CUSTOMER, NAME, GROUP, "shortest").hint("shuffle_hash")
    joined = words.frame.join(looked_up, f.col(at) == f.col(CUSTOMER))
    laid = joined.withColumn(PLACE, place - 1).filter(f.col(PLACE) < f.col("shortest"))
    laid = laid.withColumn(at, f.col(NAME)).select(*words.frame.columns, GROUP, PLACE)
    public = alike(original, words, laid, [GROUP, PLACE], suppress_cells=method.suppress_cells)
    notes = meaning | suppressed_columns(nothing) | ownerless_notes(original)
    return ClusterRelease(original, public, owners_of(members), method.statement(notes), seed, original.rows)


def with_categories(original: ClusterRecords, categories: Path | None) -> tuple[ClusterRecords, dict[str, Any]]:
    """Return rows whose items are categories where a file says so, and what a statement notes."""
    if categories is None:
        return original, {}
    known = read_categories(categories)
    items = [row[0] for row in original.frame.select(original.at(Role.ITEM)).distinct().dropna().collect()]
    groups = known.groups_of(pl.Series(items, dtype=pl.String))
    cells = {"item": items, "category": [known.of_item[item] for item in items]}
    table = pl.DataFrame(cells, schema={"item": pl.String, "category": pl.String})
    lookup = f.broadcast(on_cluster(original.frame.sparkSession, table))
    return original.replaced(Role.ITEM, lookup, "left"), {"categories": groups}


def alike(
    original: ClusterRecords, words: ClusterRecords, laid: DataFrame, by: list[str], *, suppress_cells: bool
) -> ClusterRecords:
    """Give rows that agree in ``by`` the same values; see :func:`noren.methods.shared_values.share_values`.

    ``laid`` holds the rows that stay, under their pseudonyms.
    """
    measured = original.rowless().measured()
    window = Window.partitionBy(*by)
    ordered = [column for column in measured if column.scale != Scale.NOMINAL]
    sds = population_sds(original, ordered) if suppress_cells else {}
    cells: dict[str, Expression] = {original.at(Role.CUSTOMER): f.col(original.at(Role.CUSTOMER))}
    types = dict(original.types)
    for column in measured:
        at = original.at(column)
        whole = f.count(at).over(window) == f.count(f.lit(1)).over(window)
        if column.scale == Scale.NOMINAL:
            generalised = f.sort_array(f.collect_set(at).over(window))
            types[column.name] = pl.List(pl.String())
        else:
            generalised = f.struct(f.min(at).over(window).alias("lo"), f.max(at).over(window).alias("hi"))
            types[column.name] = generalised_dtype(column)
            if column.name in sds:
                values = f.collect_list(as_number(words, column)).over(window)
                whole = whole & _worth_saying(values, column, sds[column.name])
        cells[at] = f.when(whole, generalised)
    fields = [field for field in original.frame.schema.fields if field.name != ROW]
    columns = [cells.get(field.name, f.lit(None).cast(field.dataType)).alias(field.name) for field in fields]
    return original.with_frame(laid.select(*columns, ROW), types=types)


def _worth_saying(values: Expression, column: Column, sd: float) -> Expression:
    """Tell whether an interval around values costs them no more than a suppressed cell, 1 each.

    What it costs is said by :func:`noren.kernels.judging.cell_error.interval_error`; at a tie, which rounding must not
    decide, a cell says more than nothing. A set never costs more.
    """
    if sd == 0:
        return f.lit(True)  # all values of the column are equal: the cell is exact
    lo, hi, width = f.array_min(values), f.array_max(values), f.lit(column.grid)
    inside = f.aggregate(
        values, f.lit(0.0), lambda total, x: total + ((lo - x) * (lo - x) + (hi - x) * (hi - x) + (hi - lo) * width)
    )
    return inside / (2 * (hi - lo + width)) / sd <= f.size(values) * (1 + 1e-12)


_ROWS_OF_A_PART = 200_000
_BLOCK, _SEAT, _NUMBER, _ITEM = "noren_block", "noren_seat", "noren_number", "noren_item"
_BLOCK_FACTS = {
    "cost": pl.Float64(),
    "inside": pl.Int64(),
    "bound": pl.Float64(),
    "proved": pl.Boolean(),
    "anything": pl.Float64(),
}


class _Units(NamedTuple):
    """What values of the ordered columns are counted in: the middle, the deviation and the grid of whole columns."""

    origins: list[float]
    sds: list[float]
    widths: list[float]

    def laid(self, rows: pl.DataFrame, by: str) -> RowArrays:
        """Return rows, sorted by customer and place, for the search."""
        counts = rows.group_by(by, maintain_order=True).len()["len"].to_numpy()
        start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        columns = [rows[f"n{at}"].fill_null(float("nan")).to_numpy() for at in range(len(self.sds))]
        item = np.full(len(rows), NO_ITEM)
        if _ITEM in rows.columns:
            item = rows[_ITEM].rank("dense").cast(pl.Int64).fill_null(0).to_numpy() - 1
        return row_arrays(start, columns, self.sds, self.widths, item, self.origins)


def _refuse(method: Method, **wanted: bool) -> None:
    """Stop where a parameter is wanted that only one machine can use."""
    if names := ", ".join(name for name, is_wanted in wanted.items() if is_wanted):
        message = _("{method} does not run on Spark with {names}; use --engine local, or leave these out")
        raise ParameterError(message.format(method=method.name, names=names))


@plan(Generalize)
def protect_generalize(
    method: Generalize, original: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterRelease:
    """Search blocks of customers on the workers, each as one machine searches it."""
    # what makes blocks depend on one another or on the clock, or bounds all from below, one machine does
    _refuse(
        method,
        survival=method.survival is not None,
        lower_bound=method.lower_bound != "none",
        effort=not isinstance(method.effort, str),
        most_rows=method.most_rows is not None,
        within=bool(method.within),
    )
    progress(0.0, _("aligning histories"))
    nothing = original.rowless()
    measured = nothing.measured()
    require_exact(nothing, measured)
    ordered, nominal = method.searched_columns(measured)
    customers, count = customers_of(original)
    require_enough_customers(method.k or 2, count)
    words, meaning = with_categories(original, method.categories)
    units = _units(original, ordered)
    # what the search looks at: rows that somebody owns, their customers' numbers, values and items
    joined = words.frame.join(customers.select(CUSTOMER, CODE), words.column(Role.CUSTOMER) == f.col(CUSTOMER))
    values = [as_number(words, column).alias(f"n{at}") for at, column in enumerate(ordered)]
    rows = joined.select(ROW, CODE, *values, *(words.column(column).alias(_ITEM) for column in nominal))
    # the features of every customer, in the order of their numbers; customers are laid in parts
    of_each = [f"f{at}" for at in range(FEATURES)]

    def kernel(part: pl.DataFrame) -> pl.DataFrame:
        part = part.sort(CODE, ROW)
        features = customer_features(units.laid(part, CODE))
        return pl.DataFrame(features, schema=of_each).with_columns(part[CODE].unique(maintain_order=True))

    parts = rows.withColumn("part", f.pmod(f.col(CODE), f.lit(max(original.rows // _ROWS_OF_A_PART, 1))))
    by_part = map_groups(parts, ["part"], kernel, {CODE: pl.Int64()} | dict.fromkeys(of_each, pl.Float64()))
    features = pl.DataFrame(by_part.toArrow()).sort(CODE).select(of_each).to_numpy()
    method.reject_if_too_long(features[:, 0].astype(np.int64))
    blocks = method.blocks(features)
    progress(0.1, _("comparing histories"))
    results = _searched(method, rows, blocks, units, seed).persist(StorageLevel.DISK_ONLY)
    facts = sorted(results.filter(f"{ROW} IS NULL").select(_BLOCK, *_BLOCK_FACTS).collect())
    groups = [SharedGroups([], row["cost"], row["bound"], row["proved"], 0, row["anything"]) for row in facts]
    progress(0.9, _("generalising rows"))
    people = named(customers, count, seed)
    numbered_rows = results.filter(f"{ROW} IS NOT NULL").select(ROW, _BLOCK, _NUMBER)
    laid = words.replaced(Role.CUSTOMER, people.select(CUSTOMER, NAME)).frame.join(numbered_rows, ROW)
    public = alike(original, words, laid, [_BLOCK, _NUMBER], suppress_cells=method.suppress_cells)
    alone = count - sum(row["inside"] for row in facts)
    # how many cells count, and how many known ones are in rows that nobody owns
    nobodys = original.frame.filter(original.column(Role.CUSTOMER).isNull())
    known = nobodys.agg(*(f.count(original.column(column)) for column in measured)).first() or ()
    cells = max(original.rows * len(measured), 1), float(sum(known))
    notes = meaning | method.notes_of(groups, *cells, alone=alone)
    notes |= suppressed_columns(nothing) | ownerless_notes(original)
    return ClusterRelease(original, public, owners_of(people, public), method.statement(notes), seed, original.rows)


def _units(original: ClusterRecords, ordered: list[Column]) -> _Units:
    """Return the units of whole columns, from how often each value is there."""
    owned = original.column(Role.CUSTOMER).isNotNull()
    values = [f.struct(f.lit(at).alias("at"), as_number(original, c).alias("value")) for at, c in enumerate(ordered)]
    if not values:
        return _Units([], [], [])
    cells = original.frame.select(owned.cast("long").alias("owned"), f.explode(f.array(*values)).alias("cell"))
    counts = cells.groupBy("cell.at", "cell.value").agg(f.count(f.lit(1)).alias("all"), f.sum("owned").alias("owned"))
    table = pl.DataFrame(counts.toArrow()).drop_nulls("value").sort("at", "value")
    of = [table.filter(pl.col("at") == at) for at in range(len(ordered))]
    value = [column_counts["value"].to_numpy() for column_counts in of]
    return _Units(
        [weighted_median(v, column_counts["owned"].to_numpy()) for v, column_counts in zip(value, of, strict=True)],
        [counted_sd(v, column_counts["all"].to_numpy()) for v, column_counts in zip(value, of, strict=True)],
        [column.grid for column in ordered],
    )


def _searched(method: Generalize, rows: DataFrame, blocks: list[Whole], units: _Units, seed: int) -> DataFrame:
    """Return the generalised row of every row that stays, and in a line without a row what each block costs."""
    sizes = np.array([len(block) for block in blocks])
    seats = pl.DataFrame(
        {
            CODE: np.concatenate(blocks).astype(np.int64),
            _BLOCK: np.repeat(np.arange(len(blocks)), sizes),
            _SEAT: np.concatenate([np.arange(size) for size in sizes]),
        }
    )
    into = {ROW: pl.Int64(), _BLOCK: pl.Int64(), _NUMBER: pl.Int64()} | _BLOCK_FACTS

    def kernel(block: pl.DataFrame) -> pl.DataFrame:
        block, at = block.sort(_SEAT, ROW), int(block[_BLOCK][0])
        laid = units.laid(block, _SEAT)
        result = method.search_block(laid, at, seed, spread=map)
        number = np.full(len(block), -1, dtype=np.int64)
        first = 0
        for group in result.groups:
            table = method.rows_worth_keeping(laid, group.table)
            number[table] = first + np.arange(table.shape[1])
            first += table.shape[1]
        numbered = block.select(ROW, _BLOCK, pl.Series(_NUMBER, number)).filter(pl.col(_NUMBER) >= 0)
        inside = sum(len(group.members) for group in result.groups)
        facts = pl.DataFrame(
            [[at], [result.cost], [inside], [result.bound], [result.proved], [result.anything]],
            schema={_BLOCK: pl.Int64(), **_BLOCK_FACTS},
        )
        return pl.concat([numbered, facts], how="diagonal")

    return map_groups(rows.join(on_cluster(rows.sparkSession, seats), CODE), [_BLOCK], kernel, into)
