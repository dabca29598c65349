"""Rows of a table that are taken for people, on a cluster: nobody may stand in several of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from noren.data.guessing.people import PeopleColumn, Repeats, may_identify, namings, stop_if_people_repeat
from noren.data.schema import Kind
from noren.execution.frames import ROW, ClusterRecords, polars_of
from noren.execution.session import BATCH_ROWS

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression

__all__ = ["stop_at_repeated_people"]


def stop_at_repeated_people(records: ClusterRecords) -> None:
    """Stop where rows of a table are taken for people, and somebody stands in several of them.

    Which columns tell whom a row is about is judged by the first 65,536 rows, as for a file that is read block by
    block; their values are counted in all rows, on the cluster.
    """
    from pyspark.sql import functions as f

    names = [column.name for column in records.schema.columns if may_identify(column)]
    if records.schema.kind != Kind.TABLE or not names:
        return
    some = records.frame.filter(f.col(ROW) < BATCH_ROWS).select(
        *(records.column(n).alias(records.at(n)) for n in names)
    )
    read = polars_of(some.toArrow())
    first = read.select(pl.col(records.at(n)).cast(records.types[n]).alias(n) for n in names)
    found = namings(records.schema, first)
    if not found:
        return
    values = {name: _filled(records, name) for name in found}
    row = records.frame.agg(
        *(f.count(its).alias(f"filled_{records.at(n)}") for n, its in values.items()),
        *(f.count_distinct(its).alias(f"distinct_{records.at(n)}") for n, its in values.items()),
    ).first()
    counts = {} if row is None else row.asDict()
    counted = [
        PeopleColumn(n, how, Repeats(counts[f"filled_{records.at(n)}"], counts[f"distinct_{records.at(n)}"]))
        for n, how in found.items()
    ]
    stop_if_people_repeat(counted, records.rows)


def _filled(records: ClusterRecords, name: str) -> Expression:
    """Return the values that say something, null where they do not."""
    from pyspark.sql import functions as f

    value, dtype = records.column(name), records.types[name]
    if dtype == pl.String:
        return f.when(value.rlike(r"(?U)\S"), value)
    return f.when(~f.isnan(value), value) if dtype.is_float() else value
