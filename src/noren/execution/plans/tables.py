"""Plans of the methods for tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING

import polars as pl

from noren.data.cells import in_texts
from noren.data.frames import Records, Table
from noren.data.schema import Column, Role, Scale
from noren.data.statement import Statement
from noren.errors import ParameterError, ValueInCellError
from noren.execution.edits import CUSTOMER, NAME, in_order_of_appearance, named
from noren.execution.frames import (
    ROW,
    ROWS,
    ClusterRecords,
    combinations,
    distinct_values,
    on_cluster,
)
from noren.execution.plans import plan
from noren.execution.release import ClusterRelease
from noren.execution.spark_functions import f
from noren.i18n import N_, _
from noren.kernels.arrays import Whole
from noren.methods.hierarchy import HierarchyMethod
from noren.methods.mondrian import Mondrian
from noren.methods.retention import Retention
from noren.methods.table_parts import Identifiers, released_schema, stop_if_too_few_rows
from noren.progress import Progress, silent
from noren.retention.perturbation import Perturbation

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# --- tables made alike by combinations of values: counted on the cluster, chosen by the driver, joined to the rows ---


_BROADCAST = 500_000
"""Combinations up to which every worker is given all of them; beyond, rows go to where their combination is."""


def combined(records: ClusterRecords, columns: Sequence[Column]) -> tuple[Table, Whole]:
    """Return the combinations of values of some columns as a table of them alone, and how many rows each has."""
    found = combinations(records, columns)
    frame = found.select(pl.col(records.at(c)).cast(records.types[c.name]).alias(c.name) for c in columns)
    schema = records.schema.model_copy(update={"columns": tuple(columns), "official": None})
    return Table(frame, schema), found[ROWS].to_numpy()


def released(
    original: ClusterRecords,
    values: pl.DataFrame,
    cells: Mapping[str, pl.Series],
    statement: Statement,
    *,
    seed: int,
    identifiers: Identifiers,
) -> ClusterRelease:
    """Return the release of rows whose combination of ``values`` is shown as ``cells``; other rows are deleted.

    Identifiers are dropped or replaced by the pseudonyms that one machine gives, the rest is as it is.
    """
    schema = released_schema(original.schema, {name: its.dtype for name, its in cells.items()}, identifiers)
    hidden = [column.name for column in schema.columns if column.role == Role.IDENTIFIER]
    rows = _with_texts(original, hidden)
    frame = _shown(rows, values, cells)
    pairs = []
    for name in hidden:
        names = _pseudonyms(rows, name, seed).select(
            f.col(CUSTOMER).alias("noren_customer"), f.col(NAME).alias(f"noren_name_{rows.at(name)}")
        )
        frame = frame.join(names, rows.column(name) == f.col("noren_customer"), "left").drop("noren_customer")
        both = frame.select(
            f.col(f"noren_name_{rows.at(name)}").alias("pseudonym"), rows.column(name).alias("customer")
        )
        pairs.append(both.dropna().distinct())
    shown = [
        f"noren_cell_{rows.at(c)}"
        if c.name in cells
        else f"noren_name_{rows.at(c)}"
        if c.name in hidden
        else rows.at(c)
        for c in schema.columns
    ]
    # a row that says nothing is none, as on one machine
    said = reduce(or_, (f.col(name).isNotNull() for name in shown))
    public = frame.filter(said).select(*(f.col(name).alias(f"c{at}") for at, name in enumerate(shown)), ROW)
    types = {c.name: cells[c.name].dtype if c.name in cells else rows.types[c.name] for c in schema.columns}
    released_rows = ClusterRecords(public, schema, original.rows, types)
    # a pseudonym of two columns stands for a person of each
    known = reduce(lambda one, two: one.union(two), pairs).distinct() if pairs else None
    return ClusterRelease(original, released_rows, known, statement, seed, original.rows)


def _with_texts(records: ClusterRecords, names: Sequence[str]) -> ClusterRecords:
    """Return the rows with some columns as text."""
    types = {name: pl.String() if name in names else dtype for name, dtype in records.types.items()}
    if types == dict(records.types):
        return records
    return records.edited(lambda block, _rows: block.frame.cast(types), types=types)


def _shown(rows: ClusterRecords, values: pl.DataFrame, cells: Mapping[str, pl.Series]) -> DataFrame:
    """Return the rows of known combinations with their cells beside them."""
    keys = {f"noren_key_{rows.at(name)}": values[name] for name in values.columns}
    new = {f"noren_cell_{rows.at(name)}": its for name, its in cells.items()}
    lookup = pl.DataFrame(keys | new).unique(list(keys), keep="any")
    known = on_cluster(rows.session, lookup)
    equal = (rows.column(name).eqNullSafe(f.col(f"noren_key_{rows.at(name)}")) for name in values.columns)
    joined = rows.frame.join(f.broadcast(known) if len(lookup) <= _BROADCAST else known, reduce(and_, equal))
    return joined.drop(*keys)


def _pseudonyms(rows: ClusterRecords, name: str, seed: int) -> DataFrame:
    who = rows.column(name)
    units = rows.frame.filter(who.isNotNull()).groupBy(who.alias(CUSTOMER)).agg(f.min(ROW).alias("first"))
    people, count = in_order_of_appearance(units)
    return named(people, count, seed)


@plan(
    HierarchyMethod,
    driver=N_("distinct combinations of quasi values (with l or t, of sensitive values too), at most 10,000,000"),
)
def protect_hierarchy(
    method: HierarchyMethod, original: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterRelease:
    """Generalise by the levels that one machine chooses."""
    quasi, sensitive = method.looked_at(original.schema)
    stop_if_too_few_rows(method.k, original.rows)
    progress(0.0, _("counting combinations"))
    table, counts = combined(original, [*quasi, *sensitive])
    chosen = method.levelled(table, quasi, sensitive, counts, progress=progress)
    kept = ~chosen.deleted
    cells = {name: in_texts(its.filter(kept)) for name, its in chosen.cells(table).items()}
    values = table.frame.select(cells.keys()).filter(kept)
    statement = method.statement(original.schema, chosen)
    return released(original, values, cells, statement, seed=seed, identifiers=method.identifiers)


@plan(
    Mondrian,
    driver=N_("distinct combinations of quasi values (with l or t, of sensitive values too), at most 10,000,000"),
)
def protect_mondrian(
    method: Mondrian, original: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterRelease:
    """Cut the combinations as one machine cuts the rows; those of equal values always stay together."""
    if method.relaxed:
        raise ParameterError(
            _("relaxed cuts part rows of equal value by their order, which no cluster keeps"),
            _("leave out --relaxed, or use --engine local"),
        )
    quasi, sensitive = method.looked_at(original.schema)
    stop_if_too_few_rows(method.k, original.rows)
    progress(0.0, _("counting combinations"))
    table, counts = combined(original, [*quasi, *sensitive])
    parted = method.parted(table, quasi, sensitive, counts, progress=progress)
    kept = ~parted.deleted
    cells = {name: its.filter(kept) for name, its in parted.cells.items()}
    values = table.frame.select(cells.keys()).filter(kept)
    statement = method.statement(original.schema, parted)
    return released(original, values, cells, statement, seed=seed, identifiers=method.identifiers)


@plan(
    Retention,
    driver=N_("with --domains data, the values of columns without a declared domain, at most 1,000,000 of each"),
)
def protect_retention(
    method: Retention, original: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterRelease:
    """Perturb the chosen columns; row i gets the i-th numbers, as on one machine."""
    perturbation = method.plan(original.schema, original.rows, _seen(method, original))
    progress(0.1, _("perturbing"))
    schema = perturbation.released_schema(original.schema)
    types = {column.name: column.dtype for column in schema.columns}

    def kernel(block: Records, rows: pl.Series) -> pl.DataFrame:
        places = rows.to_numpy()
        return perturbation.frame(perturbation.perturbed_at(_codes(perturbation, block, places), places, seed=seed))

    public = original.edited(kernel, types=types, schema=schema)
    return ClusterRelease(original, public, None, method.statement(perturbation, original.rows), seed, original.rows)


def _seen(method: Retention, original: ClusterRecords) -> pl.DataFrame | None:
    """Return the values of the columns whose domains are to be taken from the data; the others are left empty."""
    if method.domains != "data":
        return None
    names = method.released_names(original.schema)
    asked = [n for n in names if original.schema[n].scale == Scale.NOMINAL and original.schema[n].domain is None]
    found = {name: distinct_values(original, name) for name in asked}
    longest = max(map(len, found.values()), default=0)
    columns = [found.get(name, pl.Series(name, [], pl.String)) for name in names]
    return pl.DataFrame([values.extend_constant(None, longest - len(values)) for values in columns])


def _codes(perturbation: Perturbation, block: Records, places: Whole) -> list[Whole]:
    """Return the codes of a block; a value outside its domain is named with its row of the original."""
    try:
        return perturbation.codes(block.frame)
    except ValueInCellError as error:
        said = error.problem
        row = None if said.row is None else int(places[said.row - 1]) + 1
        raise ValueInCellError(said.rule, said.cure, row=row, column=said.column, value=said.value) from None
