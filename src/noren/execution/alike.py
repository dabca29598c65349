"""Tables made alike by combinations of values: counted on the cluster, chosen by the driver, joined to the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING

import polars as pl

from noren.data.frames import Table
from noren.data.schema import Column, Role
from noren.data.statement import Statement
from noren.execution.counts import ROWS, combinations
from noren.execution.frames import ROW, ClusterRecords, arrow_of, cell_types, map_blocks, spark_type
from noren.execution.names import CUSTOMER, NAME, in_order_of_appearance, named
from noren.execution.release import ClusterRelease
from noren.kernels.arrays import Whole
from noren.methods.table_parts import Identifiers, released_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["combined", "released"]

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
    from pyspark.sql import functions as f

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
    before, into = cell_types(records.schema, records.types), cell_types(records.schema, types) | {ROW: pl.Int64()}

    def kernel(block: pl.DataFrame) -> pl.DataFrame:
        return block.with_columns(pl.col(name).cast(dtype).cast(into[name]) for name, dtype in before.items())

    return records.with_frame(map_blocks(records.frame, kernel, into), types=types)


def _shown(rows: ClusterRecords, values: pl.DataFrame, cells: Mapping[str, pl.Series]) -> DataFrame:
    """Return the rows of known combinations with their cells beside them."""
    from pyspark.sql import functions as f

    keys = {f"noren_key_{rows.at(name)}": values[name] for name in values.columns}
    new = {f"noren_cell_{rows.at(name)}": its for name, its in cells.items()}
    lookup = pl.DataFrame(keys | new).unique(list(keys), keep="any")
    into = dict(lookup.schema)
    known = rows.session.createDataFrame(arrow_of(lookup, into), spark_type(into))
    equal = (rows.column(name).eqNullSafe(f.col(f"noren_key_{rows.at(name)}")) for name in values.columns)
    joined = rows.frame.join(f.broadcast(known) if len(lookup) <= _BROADCAST else known, reduce(and_, equal))
    return joined.drop(*keys)


def _pseudonyms(rows: ClusterRecords, name: str, seed: int) -> DataFrame:
    from pyspark.sql import functions as f

    who = rows.column(name)
    units = rows.frame.filter(who.isNotNull()).groupBy(who.alias(CUSTOMER)).agg(f.min(ROW).alias("first"))
    people, count = in_order_of_appearance(units)
    return named(people, count, seed)
