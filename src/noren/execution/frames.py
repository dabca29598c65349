"""Histories and tables that lie on a cluster.

A Spark frame has the schema's columns as ``c0``, ``c1``, … (people call columns what they like, and Spark reads dots
and spaces its own way) and :data:`ROW`, where each row stands in the original, counted from 0 as one machine reads it.
So rows need no order to be told apart, and a draw by row is the same anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa

from noren.data.arrays import MICROSECONDS_PER_DAY, NANOSECONDS_PER_MINUTE
from noren.data.cells import is_generalised
from noren.data.frames import History, Table
from noren.data.schema import Column, Kind, Role, Schema
from noren.errors import ParameterError, SchemaError
from noren.execution.spark_functions import StorageLevel, Window, f
from noren.i18n import _

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
    from pyspark.sql import DataFrame, SparkSession

ROW = "noren_row"
"""The column that says where a row stands in the original; null for a row that was inserted."""

PLACE = "noren_place"
"""Beside the rows of a release that was read: where each stands in it, counted from 0."""

Types = Mapping[str, pl.DataType]


@dataclass(frozen=True)
class ClusterRecords:
    """Rows on a cluster and what their columns mean.

    ``frame`` has the columns ``c0, c1, …`` of the schema, in its order, and :data:`ROW`. ``types`` are the Polars types
    of the schema's columns, generalised cells included: what a block is read as.
    """

    frame: DataFrame
    schema: Schema
    rows: int
    types: Types

    def __repr__(self) -> str:
        return f"ClusterRecords(rows={self.rows}, schema={self.schema.name!r})"

    def at(self, column: Column | Role | str) -> str:
        """Return what a column, a role's column or a column's name is called in the frame."""
        if isinstance(column, Role):
            column = self.schema.role(column)
        name = column.name if isinstance(column, Column) else column
        return f"c{self.schema.names.index(name)}"

    def column(self, column: Column | Role | str) -> Expression:
        """Return a column as an expression."""
        return f.col(self.at(column))

    def with_frame(self, frame: DataFrame, *, rows: int | None = None, types: Types | None = None) -> ClusterRecords:
        """Return other rows of the same schema."""
        return replace(self, frame=frame, rows=self.rows if rows is None else rows, types=types or self.types)

    def without(self, names: Collection[str]) -> ClusterRecords:
        """Return the rows less some columns."""
        left = [name for name in self.schema.names if name not in names]
        cells = [f.col(self.at(name)).alias(f"c{place}") for place, name in enumerate(left)]
        frame = self.frame.select(*cells, ROW)
        types = {name: self.types[name] for name in left}
        return replace(self, frame=frame, schema=self.schema.without(list(names)), types=types)

    def some(self) -> Any:
        """Return some of the rows as records of one machine, 50,000 at most: what very many are judged by."""
        return as_records(pl.DataFrame(self.frame.limit(50_000).toArrow()), self.schema, self.types)

    def map(self, kernel: Callable[[Any, Any], pl.DataFrame], into: Types, *, also: Sequence[str] = ()) -> DataFrame:
        """Run ``kernel(records, rows)`` on blocks of rows, and return the frame of what it gives, typed ``into``.

        Records are a history or a table, as the schema says. ``rows`` is the block's column :data:`ROW`. ``also`` names
        further columns of the frame; the kernel is then given them as a frame in place of the series ``rows``,
        :data:`ROW` among them.
        """
        schema, types = self.schema, self.types
        beside: Any = [ROW, *also] if also else ROW
        return map_blocks(self.frame, lambda block: kernel(as_records(block, schema, types), block[beside]), into)

    def edited(
        self,
        kernel: Callable[[Any, Any], pl.DataFrame],
        *,
        types: Types,
        schema: Schema | None = None,
        also: Sequence[str] = (),
    ) -> ClusterRecords:
        """Return the rows as a kernel changes them; it is called as by :meth:`map`, and gives the schema's columns."""
        made = schema or self.schema

        def changed(block: Any, beside: Any) -> pl.DataFrame:
            return as_cells(kernel(block, beside), made.names).with_columns(beside[ROW] if also else beside)

        frame = self.map(changed, frame_types(made, types), also=also)
        return replace(self, frame=frame, schema=made, types=types)

    def replaced(self, column: Role, known: DataFrame, how: str = "inner") -> ClusterRecords:
        """Return the rows with the values of a column replaced: ``known`` has each value, and what stands for it.

        Rows whose value is not known are left out, or with ``how="left"`` have none.
        """
        at = self.at(column)
        lookup = known.toDF("noren_known", "noren_told")
        # a customer with a tenth of all rows: Spark cuts such a part into several while it joins
        joined = self.frame.join(lookup, f.col(at) == f.col("noren_known"), how)
        return self.with_frame(joined.withColumn(at, f.col("noren_told")).select(*self.frame.columns))

    @property
    def generalised(self) -> bool:
        """Whether any column holds sets or intervals."""
        return any(map(is_generalised, self.types.values()))

    def people(self) -> int:
        """Return how many people the rows are about."""
        if self.schema.kind == Kind.TABLE:
            return self.rows
        return self.frame.select(self.at(Role.CUSTOMER)).dropna().distinct().count()

    def rowless(self) -> History:
        """Return a history of the same columns and types without any row: what is asked of types is asked of it."""
        if self.schema.kind != Kind.HISTORY:
            raise SchemaError(_("the original is a table; this measure judges purchase histories"))
        nothing = pl.DataFrame(schema=frame_types(self.schema, self.types))
        history: History = as_records(nothing, self.schema, self.types)
        return history


def as_records(frame: pl.DataFrame, schema: Schema, types: Types, letter: str = "c") -> Any:
    """Return a block of a cluster's frame as the history or the table that its schema says it is.

    Its cells are in ``c0``, ``c1``, … or another letter's.
    """
    named = frame.select(pl.col(f"{letter}{at}").cast(types[name]).alias(name) for at, name in enumerate(schema.names))
    return History(named, schema) if schema.kind == Kind.HISTORY else Table(named, schema)


def as_cells(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return the columns ``names`` of a frame under the names that a cluster's frame has."""
    return frame.select(pl.col(name).alias(f"c{at}") for at, name in enumerate(names))


def frame_types(schema: Schema, types: Types) -> dict[str, pl.DataType]:
    """Return the types of the columns ``c0, c1, …`` and of :data:`ROW`."""
    return {f"c{at}": types[name] for at, name in enumerate(schema.names)} | {ROW: pl.Int64()}


def persisted(frame: DataFrame) -> DataFrame:
    """Keep a frame on the workers' disks, and return it without a past for the planner.

    Spark writes plans out, one inside the other as often as it is used, and the words of a few kept frames can take
    minutes and fill its driver. Where a worker is lost the rows are made again.
    """
    from pyspark.sql import DataFrame as Frame

    session, held = frame.sparkSession, frame.persist(StorageLevel.DISK_ONLY)._jdf
    rows = held.queryExecution().toRdd()
    return Frame(session._jsparkSession.internalCreateDataFrame(rows, held.schema(), False), session)


# --- kernels on blocks -----------------------------------------------------------------------------------------------


def map_blocks(frame: DataFrame, kernel: Callable[[pl.DataFrame], pl.DataFrame], into: Types) -> DataFrame:
    """Run a kernel on blocks of a frame, Arrow all the way; its answer has the columns and types ``into``."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if batch.num_rows:
                yield from arrow_of(kernel(pl.DataFrame(batch)), into).to_batches()

    return frame.mapInArrow(run, spark_type(into))


def map_groups(
    frame: DataFrame, by: Iterable[str], kernel: Callable[[pl.DataFrame], pl.DataFrame], into: Types
) -> DataFrame:
    """Run a kernel on each group of rows with equal ``by``; a group is held in a worker's memory whole."""
    return frame.groupBy(*by).applyInArrow(lambda group: arrow_of(kernel(pl.DataFrame(group)), into), spark_type(into))


def arrow_of(frame: pl.DataFrame, into: Types) -> pa.Table:
    """Return a Polars frame as Arrow data that Spark takes, with the columns of ``into`` in its order."""
    plain = frame.select(pl.col(name).cast(carried(dtype)) for name, dtype in into.items())
    return plain.to_arrow().cast(arrow_schema(into))


def to_driver(frame: DataFrame) -> pl.DataFrame:
    """Return a frame that the driver can hold, in its order; Spark's own driver holds one part of it at a time."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            stream = pa.BufferOutputStream()
            with pa.ipc.new_stream(stream, batch.schema) as writer:
                writer.write_batch(batch)
            yield pa.RecordBatch.from_pydict({"part": [stream.getvalue().to_pybytes()]})

    parts: Any = frame.mapInArrow(run, "part binary").toLocalIterator()
    tables = [pl.DataFrame(pa.ipc.open_stream(row["part"]).read_all()) for row in parts]
    return pl.concat(tables) if tables else pl.DataFrame(frame.limit(0).toArrow())


def on_cluster(session: SparkSession, frame: pl.DataFrame) -> DataFrame:
    """Return a frame of the driver as one of the cluster."""
    into = dict(frame.schema)
    return session.createDataFrame(arrow_of(frame, into), spark_type(into))


def carried(dtype: Any) -> pl.DataType:
    """Return the type that Spark carries values of ``dtype`` in: clock times as whole numbers, domains as texts."""
    if isinstance(dtype, pl.Struct):
        return pl.Struct({field.name: carried(field.dtype) for field in dtype.fields})
    if isinstance(dtype, pl.List):
        return pl.List(carried(dtype.inner))
    if isinstance(dtype, pl.Enum | pl.Categorical):
        return pl.String()
    if dtype == pl.Time or dtype.is_unsigned_integer():
        return pl.Int64()
    whole: pl.DataType = pl.Datetime("us") if dtype == pl.Datetime else dtype
    return whole


def arrow_schema(types: Types) -> pa.Schema:
    """Return the Arrow types that values are carried in."""
    empty = pl.DataFrame(schema={name: carried(dtype) for name, dtype in types.items()})
    return pa.schema([pa.field(field.name, _small(field.type)) for field in empty.to_arrow().schema])


def _small(dtype: pa.DataType) -> pa.DataType:
    """Return the type with 32-bit offsets, which Spark expects."""
    if pa.types.is_large_string(dtype) or pa.types.is_string_view(dtype):
        return pa.string()
    if pa.types.is_large_list(dtype) or pa.types.is_list(dtype):
        return pa.list_(pa.field("element", _small(dtype.value_type)))
    if pa.types.is_struct(dtype):
        return pa.struct([pa.field(part.name, _small(part.type)) for part in dtype])
    return dtype


def spark_type(types: Types) -> Any:
    """Return the Spark type of a frame with these columns."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(arrow_schema(types), prefer_timestamp_ntz=True)


# --- rows in a global order, numbered from 0, without bringing them to one place -------------------------------------

# The order is cut at quantiles of a number that grows with it. Which part a row is in is then a function of the row
# alone, so that a part that is lost with its worker is made again just as it was.


ROWS_OF_A_PART = 500_000
MOST_PARTS = 2_000


def ranked(frame: DataFrame, order: Sequence[Expression], along: Expression, name: str, *, rows: int) -> DataFrame:
    """Return the frame with its rows' places in ``order``, from 0, as the column ``name``.

    ``order`` is what rows are ordered by, no two alike; ``along`` a number that never falls along it, by which it is
    cut into parts, as many as about so many ``rows`` need. The driver holds at most 2,000 cuts and the sizes of the
    parts.
    """
    count = min(max(rows // ROWS_OF_A_PART, 1), MOST_PARTS)
    part = f.lit(0)
    if count > 1:
        shares = [i / count for i in range(1, count)]
        (cuts,) = frame.select(f.percentile_approx(along, shares, 10 * count)).first() or ((),)
        part = cuts_below(along.cast("double"), sorted({float(bound) for bound in cuts or ()}))
    return numbered_in_parts(frame, part, order, name)[0]


def cuts_below(value: Expression, cuts: Sequence[Any]) -> Expression:
    """Return how many of some cuts lie below a value."""
    return f.size(f.filter(f.array(*map(f.lit, cuts)), lambda cut: cut < value)) if cuts else f.lit(0)


def numbered_in_parts(
    frame: DataFrame,
    part: Expression,
    order: Sequence[Expression],
    name: str,
    keep: Callable[[DataFrame], DataFrame] = lambda placed: placed,
) -> tuple[DataFrame, int]:
    """Return the frame with its rows' places, part by part in rising order, in each in ``order``, and the rows' count.

    ``keep`` may keep the rows with their places in each part; they are looked at twice.
    """
    at = f"{name}_part"
    within = f.row_number().over(Window.partitionBy(at).orderBy(*order)).cast("long") - 1
    placed = keep(frame.withColumn(at, part).withColumn(name, within))
    before, starts = 0, {}
    for number, size in sorted((row[0], row[1]) for row in placed.groupBy(at).count().collect()):
        starts[number] = before
        before += size
    start = f.lit(0).cast("long")
    if len(starts) > 1:
        start = f.create_map(*(f.lit(item) for pair in starts.items() for item in pair))[f.col(at)].cast("long")
    return placed.withColumn(name, f.col(name) + start).drop(at), before


# --- cells of a cluster's frame as numbers, and their spread ---------------------------------------------------------


def as_number(records: ClusterRecords, column: Column | Role) -> Expression:
    """Return ordered values as numbers, null where missing: what :func:`noren.data.arrays.numbers` says of a row."""
    if isinstance(column, Role):
        column = records.schema.role(column)
    value, dtype = records.column(column), records.types[column.name]
    if dtype == pl.Date:
        return f.unix_date(value).cast("double")
    if isinstance(dtype, pl.Datetime):
        return f.unix_micros(value.cast("timestamp")).cast("double") / MICROSECONDS_PER_DAY
    if dtype == pl.Time:  # carried as nanoseconds
        return value.cast("double") / NANOSECONDS_PER_MINUTE
    number = value.cast("double")
    return f.when(~f.isnan(number), number + f.lit(0.0))  # -0.0 is 0.0


def population_sds(records: ClusterRecords, columns: list[Column]) -> dict[str, float]:
    """Return the population standard deviation of each ordered column; exactly 0 where all values are equal."""
    if not columns:
        return {}
    numbers = records.frame.select(*(as_number(records, c).alias(f"n{at}") for at, c in enumerate(columns)))
    figures = [figure(f"n{at}") for at in range(len(columns)) for figure in (f.min, f.max, f.stddev_pop)]
    row = numbers.agg(*figures).first() or ()
    return {
        column.name: 0.0 if row[3 * at] == row[3 * at + 1] else float(row[3 * at + 2])
        for at, column in enumerate(columns)
    }


# --- what is counted on a cluster and then held by the driver, each with its bound -----------------------------------


MOST_COMBINATIONS = 10_000_000
"""Combinations of values that the driver holds with their counts: a search over them needs about 2 GB for each core."""
MOST_VALUES = 1_000_000
"""Values of one column that the driver holds."""
ROWS = "noren_rows"
"""How many rows a combination has."""


def counts_by_key(
    frame: DataFrame, by: Mapping[str, Expression], *, rows: int, most: int, **also: Expression
) -> pl.DataFrame:
    """Count rows by key and bring the counts to the driver, sorted by key; stop where there are more than ``most``.

    ``rows`` says how many rows the frame has; where they are few, nobody needs to count keys first. ``also`` are
    further aggregates of each key.
    """
    further = (expression.alias(name) for name, expression in also.items())
    keys = frame.groupBy(*(key.alias(name) for name, key in by.items()))
    groups = keys.agg(f.count(f.lit(1)).alias(ROWS), *further)
    groups = groups if rows <= most else groups.persist(StorageLevel.DISK_ONLY)
    try:
        if rows > most and (count := groups.count()) > most:
            raise ParameterError(
                _(
                    "the driver would hold {count:,} combinations of values, more than {most:,}; use fewer columns, "
                    "round their values, or use --engine local"
                ).format(count=count, most=most)
            )
        return pl.DataFrame(groups.toArrow()).sort(list(by), nulls_last=False)
    finally:
        groups.unpersist()
