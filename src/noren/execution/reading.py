"""Reading what lies in partitioned Parquet: the same rows, typed and numbered as one machine reads them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import polars as pl

from noren.data.formats.parquet import SUCCESS, parquet_parts
from noren.data.formats.parse import CellPlace, parse_values
from noren.data.formats.source import Source
from noren.data.interchange import missing_column
from noren.data.schema import Schema
from noren.errors import FileError
from noren.execution.frames import ROW, ClusterRecords, cell_types, map_blocks
from noren.execution.places import Place, is_local, local_path
from noren.i18n import _

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["numbered", "read"]


def read(session: SparkSession, address: str | Path, schema: Schema) -> ClusterRecords:
    """Read a Parquet file or a folder of them, Hive-style paths included, as one machine reads it.

    The driver holds one number for each file. Rows are numbered by the file's place among all, in the order of paths,
    and by where they stand in it; no row is moved for that.
    """
    _must_be_complete(session, address)
    raw, rows = numbered(session, address)
    if not rows:
        raise FileError(_("the file holds no rows"), _("give a file with at least one row"), file=str(address))
    for name in schema.names:
        if name not in raw.columns:
            raise missing_column(name, [column for column in raw.columns if column != ROW], ())
    plain = raw.select(*(raw[f"`{name}`"].alias(f"c{at}") for at, name in enumerate(schema.names)), ROW)
    types = {column.name: column.dtype for column in schema.columns}
    names, file = schema.names, str(address)

    def typed(block: pl.DataFrame) -> pl.DataFrame:
        given = block.select(pl.col(f"c{at}").alias(name) for at, name in enumerate(names))
        place = CellPlace(file, int(block[ROW][0]) + 1)
        done = parse_values(given, schema, place)
        return done.select(pl.col(n).alias(f"c{at}") for at, n in enumerate(names)).with_columns(block[ROW])

    into = cell_types(schema, types) | {ROW: pl.Int64()}
    return ClusterRecords(map_blocks(plain, typed, into), schema, rows, types)


def numbered(session: SparkSession, address: str | Path) -> tuple[DataFrame, int]:
    """Return the columns of Parquet files as they stand with :data:`ROW`, and how many rows there are."""
    from pyspark.sql import functions as f

    raw = Place(session, address).read()
    file, at = f.col("_metadata.file_path"), f.col("_metadata.row_index")
    counts = raw.select(file.alias("file")).groupBy("file").count().collect()
    in_order = sorted(counts, key=lambda row: unquote(urlsplit(row["file"]).path))
    starts, before = [], 0
    for row in in_order:
        starts.append((row["file"], before))
        before += int(row["count"])
    if not starts:
        return raw.withColumn(ROW, f.lit(0).cast("long")), 0
    first = f.broadcast(session.createDataFrame(starts, "noren_file string, noren_first long"))
    placed = raw.withColumn("noren_path", file).withColumn("noren_index", at)
    whole = placed.join(first, f.col("noren_path") == f.col("noren_file"))
    place = (f.col("noren_first") + f.col("noren_index")).alias(ROW)
    return whole.select(*(f.col(f"`{name}`") for name in raw.columns), place), before


def _must_be_complete(session: SparkSession, address: str | Path) -> None:
    """Stop at what is no Parquet, is half written, or has files of several schemas."""
    if is_local(address):
        source = Source.open(local_path(address))
        path = source.path
        if source.kind != "parquet":
            raise FileError(
                _("a cluster reads Parquet"),
                _("convert it first: noren convert {file} {target}").format(
                    file=path.name, target=path.with_suffix(".parquet").name
                ),
                file=path,
            )
        if path.is_dir():
            parquet_parts(path)
        return
    place = Place(session, address)
    if not place.exists():
        raise FileError(_("there is no such file"), _("check the address"), file=str(address))
    if not str(address).endswith(".parquet") and not (place / SUCCESS).exists():
        raise FileError(
            _("the folder has no file {marker}: whoever writes it may not be done").format(marker=SUCCESS),
            _("wait for the job that writes it; if it is complete, make an empty file of that name in it"),
            file=str(address),
        )
