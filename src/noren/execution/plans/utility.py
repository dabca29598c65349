"""Plans of the measures of utility."""

from __future__ import annotations

from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from noren.data.arrays import exact_values, numbers
from noren.data.categories import as_released, release_categories
from noren.data.compatibility import missing_columns
from noren.data.draws import Draws
from noren.data.frames import History
from noren.data.schema import Kind, Role, Scale
from noren.data.statement import Statement
from noren.errors import ParameterError, SchemaError
from noren.execution.frames import (
    MOST_COMBINATIONS,
    PLACE,
    ROW,
    ROWS,
    ClusterRecords,
    Types,
    as_records,
    counts_by_key,
    map_blocks,
    population_sds,
)
from noren.execution.plans import plan
from noren.execution.plans.attacks import item_set_arrays, similarity, with_overlap
from noren.execution.release import IS_PUBLIC, ClusterEvidence, both_sides, in_release_order, persisting, place_type
from noren.execution.spark_functions import StorageLevel, Window, f
from noren.kernels.arrays import Whole
from noren.kernels.judging.cell_error import exact_sum
from noren.kernels.judging.statistics import STATISTICS, table_error
from noren.measures.safety.jaccard_mean import JaccardMean, score_of
from noren.measures.utility.cell_error import CellError, cell_errors, error_of
from noren.measures.utility.l1_precision import L1Precision, direct_l1
from noren.measures.utility.purchases import OnDraws, columns_there, purchase_rows
from noren.measures.utility.rfm import Rfm
from noren.measures.utility.row_changes import E4, E5, E6, RowChange
from noren.measures.utility.statistics import COLUMNS, Figures, Statistics, parts_of
from noren.measures.utility.table_losses import CellLoss, CellPairs, EntropyLoss, TableLoss, on_hierarchy
from noren.measures.utility.table_rows import shared_names
from noren.progress import Progress, silent
from noren.protocols import Score
from noren.retention.perturbation import LARGEST_TABLE, Perturbation, perturbation_of
from noren.retention.reconstructed import ObservedRecords
from noren.tables import Texts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

say = Texts(__name__)

# --- data sets drawn from a release: the same that one machine draws -------------------------------------------------


ORIGINAL = -1
"""The number of the original among the draws."""
_AT_ONCE = 10
_VALUES = ("day", "price", "quantity")
_NAMES: Types = {"draw": pl.Int32(), "customer": pl.String(), "item": pl.String()}
_ROWS: Types = {**_NAMES, **dict.fromkeys(_VALUES, pl.Float64())}


def purchases_and_draws(measure: OnDraws, evidence: ClusterEvidence) -> DataFrame:
    """Return the purchases of the original, as draw :data:`ORIGINAL`, and those of each draw from the release.

    The driver holds the items of the original, and the least and greatest value of each column: what suppressed cells
    are drawn from.
    """
    original, public = evidence.histories()
    public = in_release_order(public)
    if place_type(public) != pl.Int64():
        raise ParameterError(say("unwritten"))
    roles, seed, spans = measure.compared_roles, measure.seed, _spans(original)
    categories = release_categories(evidence.release.statement)

    def drawn(numbers: range, block: History, beside: pl.DataFrame) -> pl.DataFrame:
        draws = Draws(spans, block, seed=seed, categories=categories, places=beside[PLACE].to_numpy())
        return pl.concat(purchase_rows(draws[at], roles).with_columns(draw=pl.lit(at)) for at in numbers)

    starts, every = range(0, measure.draws, _AT_ONCE), range(measure.draws)
    parts = [public.map(partial(drawn, every[at : at + _AT_ONCE]), _ROWS, also=(PLACE,)) for at in starts]
    known = original.map(lambda block, _rows: purchase_rows(block, roles).with_columns(draw=pl.lit(ORIGINAL)), _ROWS)
    return reduce(lambda frame, other: frame.unionByName(other), parts, known)


def _spans(original: ClusterRecords) -> History:
    """Return a few rows that have the original's items, least and greatest values, and a blank where there is one."""
    none = original.rowless()
    measured = none.measured()
    cells = [original.column(column) for column in measured]
    figures = [
        f.collect_set(cell) if column.scale == Scale.NOMINAL else f.array(f.min(cell), f.max(cell))
        for column, cell in zip(measured, cells, strict=True)
    ]
    spans: Any = original.frame.agg(*figures, *(f.count(f.when(cell.isNull(), 1)) for cell in cells)).first()
    values = [[value for value in spans[at] or () if value is not None] for at in range(len(measured))]
    blank = [[None] if spans[len(measured) + at] or not values[at] else [] for at in range(len(measured))]
    length = max((len(v) + len(b) for v, b in zip(values, blank, strict=True)), default=0)
    whole = none.frame.clear(length)  # so many blank rows
    for column, v, b in zip(measured, values, blank, strict=True):
        listed = [*b, *v, *(v or b)[-1:] * (length - len(v) - len(b))]
        whole = whole.with_columns(pl.Series(column.name, listed, strict=False).cast(column.dtype))
    return History(whole, original.schema)


# --- what a perturbed table was before, from a release: counted there, estimated on the driver -----------------------


def seen_on_cluster(public: ClusterRecords, statement: Statement, made: Perturbation) -> ObservedRecords:
    """Return the different records of a release with their counts.

    Of a table that is too large to be worked out whole, records are dealt into folds as they follow each other. Alike
    ones do, as releases are sorted; so they are counted with all their attributes and kept in order.
    """
    if made.cells <= LARGEST_TABLE:
        return _counted(public, made)
    every = perturbation_of(public.schema, statement)
    return _counted(public, every).only([every.names.index(name) for name in made.names])


def _counted(records: ClusterRecords, made: Perturbation, *, before: bool = False) -> ObservedRecords:
    """Return the different records with their counts, in the order of the first row of each."""
    most = LARGEST_TABLE if made.cells <= LARGEST_TABLE else MOST_COMBINATIONS
    names = [f"a{at}" for at in range(len(made.names))]
    if PLACE in records.frame.columns:
        records = records.with_frame(records.frame.withColumn(ROW, f.col(PLACE)))

    coder = made.codes if before else made.places
    coded = records.map(
        lambda block, rows: pl.DataFrame(dict(zip(names, coder(block.frame), strict=True))).with_columns(rows),
        dict.fromkeys([*names, ROW], pl.Int64()),
    )
    by = {name: f.col(name) for name in names}
    counts = counts_by_key(coded, by, rows=records.rows, most=most, first=f.min(ROW)).sort("first")
    return ObservedRecords([counts[name].to_numpy() for name in names], made.sizes, counts[ROWS].to_numpy())


@plan(CellError)
def measure_cell_error(_measure: CellError, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Sum up what the cells of each column cost, block by block of rows that stand beside their originals."""
    original, public = evidence.histories()
    statement = evidence.release.statement
    columns = original.rowless().measured()
    paired = both_sides(evidence)
    spread = population_sds(original, [column for column in columns if column.scale != Scale.NOMINAL])
    original_columns, public_columns = (original.schema, original.types), (public.schema, public.types)

    def kernel(block: pl.DataFrame) -> pl.DataFrame:
        original_rows = as_released(as_records(block, *original_columns), statement)
        is_public = block[IS_PUBLIC].fill_null(value=False)
        released = as_records(block.filter(is_public), *public_columns, "p").frame
        costs = {}
        for at, column in enumerate(columns):
            values = exact_values(original_rows, column)
            errors = cell_errors(values.filter(is_public), released[column.name], column, spread.get(column.name, 0.0))
            lost = (values.is_not_null() & ~is_public).sum()
            costs[f"u{at}"] = exact_sum(np.append(errors, float(lost)))
        return pl.DataFrame({"deleted": [int((~is_public).sum())]} | {name: [cost] for name, cost in costs.items()})

    into = {"deleted": pl.Int64()} | {f"u{at}": pl.Float64() for at in range(len(columns))}
    sums = map_blocks(paired, kernel, into).agg(*(f.sum(name).alias(name) for name in into)).first()
    totals = {str(column.role): float(sums[f"u{at}"] or 0.0) for at, column in enumerate(columns)} if sums else {}
    return error_of(totals, original.rows, int(sums["deleted"] or 0) if sums else 0)


@plan(EntropyLoss, TableLoss)
def measure_cell_losses(measure: CellLoss, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Return what one machine says of such cells."""
    original, release = evidence.original, evidence.release
    if original.schema.kind != Kind.TABLE or release.public.schema.kind != Kind.TABLE:
        raise SchemaError(say("of_history"))
    if release.original_rows != original.rows:
        made_of = {"released": release.original_rows, "original": original.rows}
        raise ParameterError(say("other_original", **made_of))
    quasi, known = measure.compared(original.schema, release.public.schema)
    public = release.public
    # the values of every original row, its released cells, and whether it was deleted
    values = original.frame.select(ROW, *(original.column(n).alias(f"v{at}") for at, n in enumerate(quasi)))
    cells = public.frame.select(
        f.col(ROW).alias("noren_of"), *(public.column(n).alias(f"s{at}") for at, n in enumerate(quasi))
    )
    both = values.join(cells, f.col(ROW) == f.col("noren_of"), "left")
    rows = both.withColumn("gone", f.col("noren_of").isNull()).drop(ROW, "noren_of").persist(StorageLevel.DISK_ONLY)
    pairs = {}
    try:
        for at, name in enumerate(quasi):
            keys = {"value": f.col(f"v{at}"), "cell": f.col(f"s{at}"), "gone": f.col("gone")}
            counts = counts_by_key(rows, keys, rows=original.rows, most=MOST_COMBINATIONS)
            value, cell = counts["value"].cast(original.types[name]), counts["cell"].cast(public.types[name])
            gone, times = counts["gone"].to_numpy(), counts[ROWS].to_numpy()
            pairs[name] = CellPairs(value.alias(name), cell.alias(name), gone, times)
    finally:
        rows.unpersist()
    climbed = {name: on_hierarchy(original.schema, pairs[name], name, its) for name, its in known.items()}
    return measure.of_pairs(pairs, public.schema, climbed)


@plan(E4, E5)
def moved(measure: RowChange, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Sum up how far the cells of rows that stand beside their originals moved."""
    original, public = evidence.histories()
    original_columns, public_columns = (original.schema, original.types), (public.schema, public.types)
    column = original.schema.role(measure.role)

    def kernel(block: pl.DataFrame) -> pl.DataFrame:
        known, released = as_records(block, *original_columns), as_records(block, *public_columns, "p")
        is_public = released[Role.CUSTOMER].is_not_null()
        values, public_values = (numbers(exact_values(side, column).filter(is_public)) for side in (known, released))
        errors = measure.row_errors(values, public_values)
        counts = {"moved": [np.count_nonzero(errors)], "compared": [np.count_nonzero(~np.isnan(values))]}
        return pl.DataFrame({"total": [float(errors.sum())]} | counts)

    into = {"total": pl.Float64(), "moved": pl.Int64(), "compared": pl.Int64()}
    paired = both_sides(evidence).filter(IS_PUBLIC)
    sums: Any = map_blocks(paired, kernel, into).agg(*(f.sum(name) for name in into)).first()
    return measure.score_of(float(sums[0] or 0.0), int(sums[1] or 0), int(sums[2] or 0), original.rows)


@plan(E6)
def deleted(measure: E6, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Count the original rows that public rows stand for."""
    left = evidence.release.public.frame.select(ROW).dropna().distinct().count()
    return measure.score_of(evidence.release.original_rows - left, evidence.original.rows)


_PAIR: Types = {"customer": pl.String(), "total": pl.Int64(), "size": pl.Int32()}


@plan(JaccardMean)
def measure_jaccard_mean(_measure: JaccardMean, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Join each pseudonym's set with that of its customer, and take mean, spread and median."""
    original, public = evidence.histories()
    customers, pseudonyms, unit = item_set_arrays(original, public, evidence.release.statement)
    who = original.frame.select(original.column(Role.CUSTOMER).cast("string").alias("customer")).dropna().distinct()
    bought = customers.select("customer", f.col("items").alias("bought"), "size")
    everybody = who.join(bought, "customer", "left").fillna({"size": 0})
    true: Any = evidence.release.pseudonyms
    pairs = true.select(f.col("pseudonym").cast("string"), f.col("customer").cast("string")).distinct()
    released = pairs.join(pseudonyms, "pseudonym")
    both = with_overlap(released.join(everybody, "customer"), _PAIR)
    both = both.select("customer", similarity(f.col("shared"), f.col("total"), f.col("size"), unit).alias("like"))
    median = f.percentile("like", f.lit(0.5))
    figures = [f.avg("like"), f.min("like"), median, f.max("like"), f.stddev_pop("like")]
    result: Any = both.agg(f.count("like"), f.count_distinct("customer"), *figures).first()
    return score_of(int(result[0]), who.count() - int(result[1]), result[2:])


@plan(L1Precision)
def measure_l1_precision(measure: L1Precision, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Return the share of records in the right cell."""
    original, release = evidence.original, evidence.release
    if original.schema.kind != Kind.TABLE or release.public.schema.kind != Kind.TABLE:
        raise SchemaError(say("of_history"))
    if release.statement.method == "retention":
        statement = release.statement
        before = partial(_counted, original, before=True)  # in the values that were perturbed
        after = partial(seen_on_cluster, release.public, statement)
        return measure.of_seen(release.public.schema, statement, before, after, progress)
    names = shared_names(original.schema, release.public.schema)
    return direct_l1(names, lambda some: _apart(original, release.public, some), original.rows, release.public.rows)


def _apart(original: ClusterRecords, public: ClusterRecords, names: list[str]) -> float:
    """Add up, over the combinations of values of some columns, by how many rows both tables differ."""
    keys, sides = {name: f"k{at}" for at, name in enumerate(names)}, []
    texts = [name for name in names if original.types[name] != public.types[name]]
    for records, sign in ((original, 1), (public, -1)):
        cells = {name: records.column(name) for name in names}
        cells |= {name: cells[name].cast("string") for name in texts}
        sides.append(records.frame.select(*(cells[n].alias(key) for n, key in keys.items()), f.lit(sign).alias("sign")))
    by_key = sides[0].union(sides[1]).groupBy(*keys.values()).agg(f.sum("sign").alias("more"))
    row = by_key.agg(f.sum(f.abs("more"))).first()
    return float(row[0] or 0) if row is not None else 0.0


@plan(Rfm)
def measure_rfm(measure: Rfm, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Rank the customers of all draws at once; those of one draw are put in order in one task."""
    each = purchases_and_draws(measure, evidence).groupBy("draw", "customer")
    often, spent = f.count_distinct(f.floor("day")).cast("double"), f.sum(f.col("price") * f.col("quantity"))
    people = each.agg(f.max("day").alias("last"), often.alias("often"), spent.alias("spent"))
    many = f.count(f.lit(1)).over(Window.partitionBy("draw"))
    views = ("last", "often", "spent")
    ranked = people.withColumn("many", many)
    for view in views:
        smaller = f.rank().over(Window.partitionBy("draw").orderBy(view)) - 1
        ranked = ranked.withColumn(f"of_{view}", f.floor(smaller * measure.ranks / f.col("many")).cast("int"))
    counts = ranked.groupBy("draw", *(f"of_{view}" for view in views)).count().collect()
    tables: dict[int, Whole] = {}
    for row in counts:
        empty: Any = np.zeros((measure.ranks,) * len(views), dtype=np.int64)
        tables.setdefault(row["draw"], empty)[tuple(row[1:4])] = row["count"]
    if ORIGINAL not in tables:
        raise measure.nothing_to_compare(evidence.original.schema)
    nothing = np.zeros_like(tables[ORIGINAL])
    errors = [table_error(tables[ORIGINAL], tables.get(draw, nothing)) for draw in range(measure.draws)]
    absent = missing_columns(evidence.original.rowless(), measure.compared_roles)
    return measure.score_of([{"value": error} for error in errors], absent)


@plan(Statistics)
def measure_statistics(measure: Statistics, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Work out the statistics of all draws at once; a median is found from the different values, in one worker."""
    with persisting() as keep:
        rows = keep(purchases_and_draws(measure, evidence))
        figures_of_each = [
            figure
            for name in _VALUES
            for figure in (f.sum(name), f.avg(name), f.var_pop(name), f.max(name), f.min(name), f.percentile(name, 0.5))
        ]
        results: dict[int, Any] = {row["draw"]: row[1:] for row in rows.groupBy("draw").agg(*figures_of_each).collect()}
        # the items that most customers bought in each draw, ties as on one machine: there the original's items are
        # numbered by their text and others behind them, and the higher number wins
        buyers = rows.select("draw", "item", "customer").distinct().groupBy("draw", "item").count()
        own = buyers.filter(f.col("draw") == ORIGINAL).select("item", f.lit(0).alias("new"))
        ranked = buyers.join(f.broadcast(own), "item", "left").fillna({"new": 1})
        order = Window.partitionBy("draw").orderBy(f.desc("count"), f.desc("new"), f.desc("item"))
        sold = ranked.withColumn("place", f.row_number().over(order)).filter(f.col("place") <= measure.top)
        best: dict[int, set[str]] = {}
        for row in sold.select("draw", "item").collect():
            best.setdefault(row["draw"], set()).add(row["item"])
    if ORIGINAL not in results:
        raise measure.nothing_to_compare(evidence.original.schema)

    def figures(draw: int, many: int) -> Figures:
        table = np.zeros((len(COLUMNS), len(STATISTICS)))
        if draw in results:
            total, mean, variance, *rest = np.array(results[draw], dtype=np.float64).reshape(len(COLUMNS), -1).T
            table = np.column_stack([total, mean, variance, np.sqrt(variance), *rest])
        return Figures(many, table, frozenset(best.get(draw, ())))

    known = figures(ORIGINAL, evidence.original.rows)
    there = columns_there(evidence.original.schema, measure.compared_roles)
    draws = [figures(draw, evidence.release.public.rows) for draw in range(measure.draws)]
    absent = missing_columns(evidence.original.rowless(), measure.compared_roles)
    return measure.score_of([parts_of(known, drawn, there) for drawn in draws], absent)
