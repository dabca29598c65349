"""Generated purchases in the columns of any history schema."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from noren.data.contest_files import write_lines
from noren.data.frames import History
from noren.data.reading import write_blocks
from noren.data.samples import generator
from noren.data.samples.shape import HistoryShape, ShapeCounter
from noren.data.schema import Column, Kind, Role, Schema, ValueType
from noren.errors import ParameterError
from noren.i18n import _
from noren.progress import Progress, silent

__all__ = ["sample_blocks", "sample_history", "write_sample"]


def sample_blocks(
    schema: Schema, *, customers: int = 400, rows: int = 38_000, items: int = 2_800, seed: int = 0
) -> Iterator[pl.DataFrame]:
    """Yield blocks of generated purchases in the columns of ``schema``."""
    _must_be_history(schema)
    columns = [_made_of(column) for column in schema.columns]
    for block in generator.generate(customers, rows, items, seed):
        yield block.select(columns)


def sample_history(
    schema: Schema | str = "sample", *, customers: int = 400, rows: int = 38_000, items: int = 2_800, seed: int = 0
) -> History:
    """Return generated purchases as a history, with the customers' master table."""
    schema = schema if isinstance(schema, Schema) else Schema.load(schema)
    frame = pl.concat(sample_blocks(schema, customers=customers, rows=rows, items=items, seed=seed))
    return History(frame, schema, master=generator.master(customers, seed))


def write_sample(
    path: Path,
    schema: Schema,
    *,
    customers: int = 400,
    rows: int = 38_000,
    items: int = 2_800,
    seed: int = 0,
    master: Path | None = None,
    progress: Progress = silent,
) -> HistoryShape:
    """Write generated purchases to a file, block by block, and return their shape."""
    _must_be_history(schema)
    counter = ShapeCounter(schema.role(Role.CUSTOMER).name, schema.role(Role.ITEM).name)
    done = 0

    def counted() -> Iterator[pl.DataFrame]:
        nonlocal done
        for block in sample_blocks(schema, customers=customers, rows=rows, items=items, seed=seed):
            counter.add(block)
            done += len(block)
            progress(done / rows)
            yield block

    write_blocks(counted(), schema, path)
    if master is not None:
        birthday = pl.col("birthday").dt.to_string("%Y/%-m/%-d")
        write_lines(generator.master(customers, seed).select("customer", "sex", birthday, "country"), master)
    return counter.shape()


def _must_be_history(schema: Schema) -> None:
    if schema.kind != Kind.HISTORY:
        raise ParameterError(
            _("the schema {schema} describes a table, and samples are histories").format(schema=schema.name),
            _("use one of {names}").format(names="sample, pwscup2016, pwscup2017, pwscup2018, online-retail"),
        )


def _made_of(column: Column) -> pl.Expr:
    """Return the generated column that plays this column's part."""
    if column.role == Role.DATE and column.type == ValueType.DATETIME:
        return pl.col("date").dt.combine(pl.col("time")).alias(column.name)
    if column.role != Role.OTHER:
        return pl.col(str(column.role)).cast(column.dtype).alias(column.name)
    if column.name.lower() == "country":
        return pl.col("country").alias(column.name)
    raise ParameterError(
        _("samples have nothing for the column {name!r}").format(name=column.name),
        _("take it out of the schema, or use a preset"),
    )
