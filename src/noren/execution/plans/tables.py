"""Plans of the methods for tables, and of chains of methods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING

import polars as pl

from noren.data.cells import in_texts
from noren.data.frames import Records, Table
from noren.data.schema import Role, Scale
from noren.data.statement import Statement
from noren.errors import ParameterError, ValueInCellError
from noren.execution.edits import CUSTOMER, NAME, in_order_of_appearance, named
from noren.execution.frames import (
    MOST_COMBINATIONS,
    MOST_PARTS,
    MOST_VALUES,
    ROW,
    ROWS,
    ROWS_OF_A_PART,
    ClusterRecords,
    counts_by_key,
    cuts_below,
    numbered_in_parts,
    on_cluster,
)
from noren.execution.plans import plan, plan_of
from noren.execution.release import LINE, ClusterRelease, with_row_text
from noren.execution.spark_functions import StorageLevel, f
from noren.i18n import _
from noren.methods.chain import Chain
from noren.methods.hierarchy import HierarchyMethod
from noren.methods.mondrian import Mondrian
from noren.methods.retention import Retention
from noren.methods.table_parts import Identifiers, released_schema, require_enough_rows
from noren.progress import Progress, part_of, silent

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# --- tables made alike by combinations of values: counted on the cluster, chosen by the driver, joined to the rows ---


_BROADCAST = 500_000
"""Combinations up to which every worker is given all of them; beyond, rows go to where their combination is."""


def released(
    original: ClusterRecords,
    table: Table,
    generalised: Mapping[str, pl.Series],
    keep_rows: pl.Series,
    statement: Statement,
    *,
    seed: int,
    identifiers: Identifiers,
) -> ClusterRelease:
    """Return the release of rows whose combination in ``table`` is shown as found; those not kept are deleted.

    Identifiers are dropped or replaced by the pseudonyms that one machine gives, the rest is as it is.
    """
    cells = {name: its.filter(keep_rows) for name, its in generalised.items()}
    values = table.frame.select(cells.keys()).filter(keep_rows)
    schema = released_schema(original.schema, {name: its.dtype for name, its in cells.items()}, identifiers)
    hidden = [column.name for column in schema.columns if column.role == Role.IDENTIFIER]
    texts = {name: pl.String() if name in hidden else dtype for name, dtype in original.types.items()}
    rows = original
    if texts != original.types:
        rows = original.edited(lambda block, _rows: block.frame.cast(texts), types=texts)
    keys = {f"noren_key_{rows.at(name)}": values[name] for name in values.columns}
    new = {f"noren_cell_{rows.at(name)}": its for name, its in cells.items()}
    lookup = pl.DataFrame(keys | new).unique(list(keys), keep="any")
    known = on_cluster(rows.frame.sparkSession, lookup)
    equal = (rows.column(name).eqNullSafe(f.col(f"noren_key_{rows.at(name)}")) for name in values.columns)
    frame = rows.frame.join(f.broadcast(known) if len(lookup) <= _BROADCAST else known, reduce(and_, equal))
    output = {c.name: f"noren_cell_{rows.at(c)}" if c.name in cells else rows.at(c) for c in schema.columns}
    pairs = []
    for name in hidden:
        who, output[name] = rows.column(name), f"noren_name_{rows.at(name)}"
        units = rows.frame.filter(who.isNotNull()).groupBy(who.alias(CUSTOMER)).agg(f.min(ROW).alias("first"))
        names = named(*in_order_of_appearance(units), seed)
        names = names.select(f.col(CUSTOMER).alias("noren_customer"), f.col(NAME).alias(output[name]))
        frame = frame.join(names, who == f.col("noren_customer"), "left").drop("noren_customer")
        pairs.append(frame.select(f.col(output[name]).alias("pseudonym"), who.alias("customer")).dropna().distinct())
    # a row that says nothing is none, as on one machine
    some = reduce(or_, (f.col(name).isNotNull() for name in output.values()))
    public = frame.filter(some).select(*(f.col(name).alias(f"c{at}") for at, name in enumerate(output.values())), ROW)
    types = {c.name: cells[c.name].dtype if c.name in cells else rows.types[c.name] for c in schema.columns}
    # a pseudonym of two columns stands for a person of each
    behind = reduce(lambda first, two: first.union(two), pairs).distinct() if pairs else None
    released_rows = ClusterRecords(public, schema, original.rows, types)
    return ClusterRelease(original, released_rows, behind, statement, seed, original.rows)


@plan(HierarchyMethod, Mondrian)
def protect_combinations(
    method: HierarchyMethod | Mondrian, original: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterRelease:
    """Generalise combinations of values as one machine does rows; those of equal values always stay together."""
    if isinstance(method, Mondrian) and method.relaxed:
        raise ParameterError(
            _(
                "--relaxed separates equal rows by their order, which Spark does not keep; leave it out, "
                "or use --engine local"
            )
        )
    quasi, sensitive = method.looked_at(original.schema)
    require_enough_rows(method.k, original.rows)
    progress(0.0, _("counting combinations"))
    columns = [*quasi, *sensitive]
    by = {original.at(column): original.column(column) for column in columns}
    counts = counts_by_key(original.frame, by, rows=original.rows, most=MOST_COMBINATIONS)
    frame = counts.select(pl.col(original.at(c)).cast(original.types[c.name]).alias(c.name) for c in columns)
    table = Table(frame, original.schema.model_copy(update={"columns": tuple(columns), "official": None}))
    looked_at = table, quasi, sensitive, counts[ROWS].to_numpy()
    if isinstance(method, Mondrian):
        parted = method.parted(*looked_at, progress=progress)
        cells, deleted, statement = parted.cells, parted.deleted, method.statement(original.schema, parted)
    else:
        chosen = method.levelled(*looked_at, progress=progress)
        cells = {name: in_texts(its) for name, its in chosen.cells(table).items()}
        deleted, statement = chosen.deleted, method.statement(original.schema, chosen)
    return released(original, table, cells, ~deleted, statement, seed=seed, identifiers=method.identifiers)


@plan(Retention)
def protect_retention(
    method: Retention, original: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterRelease:
    """Perturb the chosen columns; row i gets the i-th numbers, as on one machine."""
    seen = None
    if method.domains == "data":
        # the values of the columns whose domains are to be taken from the data; the others are left empty
        names = method.released_names(original.schema)
        values_of = {}
        for name in names:
            if original.schema[name].scale == Scale.NOMINAL and original.schema[name].domain is None:
                by = {"value": original.column(name)}
                counts = counts_by_key(original.frame, by, rows=original.rows, most=MOST_VALUES)
                values_of[name] = counts["value"].cast(original.types[name]).drop_nulls().alias(name)
        longest = max(map(len, values_of.values()), default=0)
        columns = [values_of.get(name, pl.Series(name, [], pl.String)) for name in names]
        seen = pl.DataFrame([values.extend_constant(None, longest - len(values)) for values in columns])
    perturbation = method.plan(original.schema, original.rows, seen)
    progress(0.1, _("perturbing"))
    schema = perturbation.released_schema(original.schema)
    types = {column.name: column.dtype for column in schema.columns}

    def kernel(block: Records, rows: pl.Series) -> pl.DataFrame:
        places = rows.to_numpy()
        try:
            codes = perturbation.codes(block.frame)
        except ValueInCellError as error:  # a value outside its domain is named with its row of the original
            cell = error.problem
            row = None if cell.row is None else int(places[cell.row - 1]) + 1
            raise ValueInCellError(cell.rule, cell.cure, row=row, column=cell.column, value=cell.value) from None
        return perturbation.frame(perturbation.perturbed(codes, seed=seed, places=places))

    public = original.edited(kernel, types=types, schema=schema)
    statement = method.statement(perturbation, original.rows, original.schema, seed)
    return ClusterRelease(original, public, None, statement, seed, original.rows)


# --- chains: each step works on what the one before it left, its rows numbered in the order of their text ------------


BEFORE = "noren_before"
"""The row of the step before that a row stands for; null for one that was inserted."""
_OF_A_PART = 20
"""So many texts of each part come to the driver, to choose where to cut."""


def in_order_of_text(records: ClusterRecords, rows_of_a_part: int = ROWS_OF_A_PART) -> ClusterRecords:
    """Return the rows numbered anew in the order of their text, ties by their number so far, which is kept as
    :data:`BEFORE`.

    Rows are cut into parts at texts that a hash of the row picks, so that a part that is lost is made again as it was.
    They are kept on the workers' disks: what comes after looks at them several times.
    """
    parts = min(max(records.rows // rows_of_a_part, 1), MOST_PARTS)
    rows = with_row_text(records).withColumnRenamed(ROW, BEFORE)
    part = f.lit(0)
    if parts > 1:
        one_in = max(records.rows // (parts * _OF_A_PART), 1)
        picked = rows.filter(f.pmod(f.xxhash64(LINE), f.lit(one_in)) == 0).select(LINE).distinct()
        texts = sorted((row[0] for row in picked.collect()), key=str.encode)
        part = cuts_below(f.col(LINE), texts[_OF_A_PART - 1 :: _OF_A_PART])
    order = [f.col(LINE), f.col(BEFORE).asc_nulls_last()]
    placed, count = numbered_in_parts(
        rows, part, order, ROW, lambda placed: placed.drop(LINE).persist(StorageLevel.DISK_ONLY)
    )
    return records.with_frame(placed, rows=count)


@plan(Chain)
def protect_chain(method: Chain, original: ClusterRecords, *, seed: int, progress: Progress = silent) -> ClusterRelease:
    """Run all steps, each on the rows of the one before, numbered by their text as one machine sees them."""
    data, made = original, []
    for at, (step, own) in enumerate(zip(method.steps, method.seeds(seed), strict=True)):
        report = part_of(progress, at / len(method.steps), (at + 1) / len(method.steps), step.name)
        with method.on_step(at, data.schema):
            made.append(plan_of(step).run(step, data, seed=own, progress=report))
        if at + 1 < len(method.steps):
            data = in_order_of_text(made[-1].public)
            # what the next step sees, and what stands for its rows
            made[-1] = replace(made[-1], public=data)
            data = data.with_frame(data.frame.drop(BEFORE))
    last, before = made[-1], made[:-1]
    public = last.public.frame
    for stage in reversed(before):  # the rows that the step before had for theirs
        origin = stage.public.frame.select(f.col(ROW).alias("noren_place"), BEFORE)
        joined = public.join(origin, f.col(ROW) == f.col("noren_place"), "left").drop("noren_place")
        public = joined.withColumn(ROW, f.col(BEFORE)).select(*public.columns)
    names = reduce(_through, [stage.pseudonyms for stage in reversed(before)]) if before else None
    last_input = None
    if names is not None:  # the last step's rows under their customers' own names
        last_input = data.replaced(Role.CUSTOMER, names.select("pseudonym", "customer").distinct(), "left")
        last_input = replace(last_input, types={**data.types, data.schema.role(Role.CUSTOMER).name: pl.String()})
    return ClusterRelease(
        original,
        last.public.with_frame(public),
        _through(last.pseudonyms, names) if before else last.pseudonyms,
        Statement.of_chain(stage.statement for stage in made),
        seed,
        original.rows,
        last_input,
    )


def _through(theirs: DataFrame | None, ours: DataFrame | None) -> DataFrame | None:
    """Return who is behind each pseudonym, the customers of ``theirs`` being pseudonyms of ``ours``.

    The period is the one that ``theirs`` know, else ours; see :meth:`noren.data.release.Release.then`.
    """
    if theirs is None or ours is None:
        return None
    period = [name for name in ours.columns if name == "period" and name not in theirs.columns]
    known = ours.select(f.col("pseudonym").alias("noren_known"), f.col("customer").alias("noren_person"), *period)
    both = theirs.join(known.distinct(), f.col("customer") == f.col("noren_known"))
    return both.withColumn("customer", f.col("noren_person")).drop("noren_known", "noren_person").distinct()
