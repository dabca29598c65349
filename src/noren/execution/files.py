"""Folders and files that a cluster reads and writes: where they lie, their rows, and what a schema says of them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit
from uuid import uuid4

import polars as pl

from noren.data.formats.files import FolderKind, require_free_path
from noren.data.formats.parquet import SUCCESS, parquet_parts
from noren.data.formats.parquet import say as say_of_parquet
from noren.data.formats.parse import CellPlace, parse_values
from noren.data.formats.source import Source
from noren.data.frames import reject_missing
from noren.data.guessing.people import PeopleColumn, Repeats, may_identify, namings, reject_if_people_repeat
from noren.data.guessing.schema_guess import (
    LARGEST_DOMAIN,
    SAMPLE_ROWS,
    SchemaGuess,
    Widening,
    guess_columns,
    guess_schema,
)
from noren.data.schema import Kind, Schema
from noren.errors import FileError, OutputError
from noren.execution.frames import ROW, ClusterRecords, as_cells, frame_types, map_blocks
from noren.execution.session import BATCH_ROWS
from noren.execution.spark_functions import f
from noren.i18n import _
from noren.tables import Texts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

say = Texts(__name__)


def address_of(path: str | Path) -> str:
    """Return an address as it was meant: a path takes one of the slashes of ``s3a://bucket/data``.

    >>> address_of(Path("s3a://bucket/data")), address_of(Path("hdfs://node:8020/data")), address_of(Path("data/"))
    ('s3a://bucket/data', 'hdfs://node:8020/data', 'data')
    """
    text = str(path).rstrip("/")
    match = re.match(r"([a-z][a-z0-9+.-]+):/+(.*)", text)
    if not match or match[1] == "file":
        return text
    host = match[2].split("/", 1)[0]
    named = match[1] != "hdfs" or "." in host or ":" in host  # hdfs:/data is a folder of the cluster's own system
    return f"{match[1]}://{'' if named else '/'}{match[2]}"


def is_local(address: str | Path) -> bool:
    """Tell whether an address is a path of this machine."""
    text = address_of(address)
    return "://" not in text or text.startswith("file:")


def local_path(address: str | Path) -> Path:
    """Return the path of a local address."""
    return Path(str(address).removeprefix("file://"))


class ClusterPath:
    """A folder somewhere, reached as Spark reaches it."""

    def __init__(self, session: SparkSession, address: str | Path) -> None:
        # as it is, not percent-encoded: Hadoop takes signs for what they are
        self.address = f"file://{local_path(address).absolute()}" if is_local(address) else address_of(address)
        self._session = session
        jvm: Any = session._jvm
        self._jvm = jvm
        self._path = jvm.org.apache.hadoop.fs.Path(self.address)
        self._system = self._path.getFileSystem(session._jsparkSession.sessionState().newHadoopConf())

    def __truediv__(self, name: str) -> ClusterPath:
        return ClusterPath(self._session, f"{self.address}/{name}")

    def read(self) -> DataFrame:
        """Return the Parquet files of the folder, or the one file; signs of patterns stand for themselves."""
        return self._session.read.parquet(re.sub(r"([\\*?\[\]{}])", r"\\\1", self.address))

    def exists(self) -> bool:
        """Tell whether there is something."""
        return bool(self._system.exists(self._path))

    def names(self) -> list[str]:
        """Return what the folder holds, by name."""
        return sorted(str(entry.getPath().getName()) for entry in self._system.listStatus(self._path))

    def remove(self) -> None:
        """Remove the folder with all that is in it."""
        self._system.delete(self._path, True)

    def write_text(self, content: str | dict[str, Any]) -> None:
        """Write a small file: a text, or plain data as JSON."""
        if isinstance(content, dict):
            content = json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True) + "\n"
        with closing(self._system.create(self._path, True)) as stream:
            stream.write(bytearray(content.encode()))

    def read_text(self) -> str | None:
        """Read a small file; None where there is none."""
        if not self.exists():
            return None
        with closing(self._system.open(self._path)) as stream:
            return bytes(stream.readAllBytes()).decode()

    def make_private(self) -> None:
        """Make the folder, readable by its owner alone where the system knows of owners."""
        permission = self._jvm.org.apache.hadoop.fs.permission.FsPermission("700")
        self._system.mkdirs(self._path, permission)
        self._system.setPermission(self._path, permission)


@contextmanager
def written_whole(
    session: SparkSession, out: str | Path, *, replace: bool | FolderKind = False
) -> Iterator[ClusterPath]:
    """Give a hidden folder to write to, which takes its place when all is written, and is gone otherwise."""
    target = ClusterPath(session, out)
    if is_local(out):
        require_free_path(local_path(out), replace=replace)
    elif target.exists() and not replace:
        raise OutputError(say("exists", path=out))
    parent, _slash, name = target.address.rpartition("/")
    aside = ClusterPath(session, f"{parent}/.{name}.{uuid4().hex[:12]}")
    try:
        yield aside
        if replace and target.exists():
            target.remove()
        if not aside._system.rename(aside._path, target._path):
            raise OutputError(say("not_moved", folder=target.address))
    finally:
        aside.remove()


# --- reading what lies in partitioned Parquet: the same rows, typed and numbered as one machine reads them -----------


def read(session: SparkSession, address: str | Path, schema: Schema) -> ClusterRecords:
    """Read a Parquet file or a folder of them, Hive-style paths included, as one machine reads it.

    The driver holds one number for each file. Rows are numbered by the file's place among all, in the order of paths,
    and by where they stand in it; no row is moved for that. What is no Parquet, is half written, or has files of
    several schemas is refused.
    """
    if is_local(address):
        source = Source.open(local_path(address))
        path = source.path
        if source.kind != "parquet":
            target = path.with_suffix(".parquet").name
            raise FileError(say("only_parquet", file=path.name, target=target), file=path)
        if path.is_dir():
            parquet_parts(path)
    else:
        place = ClusterPath(session, address)
        if not place.exists():
            raise FileError(say("no_file"), file=str(address))
        if not str(address).endswith(".parquet") and not (place / SUCCESS).exists():
            raise FileError(say_of_parquet("folder_incomplete", marker=SUCCESS), file=str(address))
    raw, rows = numbered(session, address)
    if not rows:
        raise FileError(say("no_rows"), file=str(address))
    reject_missing(schema.names, [column for column in raw.columns if column != ROW])
    plain = raw.select(*(raw[f"`{name}`"].alias(f"c{at}") for at, name in enumerate(schema.names)), ROW)
    types = {column.name: column.dtype for column in schema.columns}
    names, file = schema.names, str(address)

    def typed(block: pl.DataFrame) -> pl.DataFrame:
        cells = block.select(pl.col(f"c{at}").alias(name) for at, name in enumerate(names))
        place = CellPlace(file, int(block[ROW][0]) + 1)
        return as_cells(parse_values(cells, schema, place), names).with_columns(block[ROW])

    return ClusterRecords(map_blocks(plain, typed, frame_types(schema, types)), schema, rows, types)


def numbered(session: SparkSession, address: str | Path) -> tuple[DataFrame, int]:
    """Return the columns of Parquet files as they stand with :data:`ROW`, and how many rows there are."""
    raw = ClusterPath(session, address).read()
    file, at = f.col("_metadata.file_path"), f.col("_metadata.row_index")
    counts = raw.select(file.alias("file")).groupBy("file").count().collect()
    in_order = sorted(counts, key=lambda row: unquote(urlsplit(row["file"]).path))
    if not in_order:
        return raw.withColumn(ROW, f.lit(0).cast("long")), 0
    *before, rows = accumulate((int(row["count"]) for row in in_order), initial=0)
    starts = [(row["file"], first) for row, first in zip(in_order, before, strict=True)]
    first = f.broadcast(session.createDataFrame(starts, "noren_file string, noren_first long"))
    placed = raw.withColumn("noren_path", file).withColumn("noren_index", at)
    whole = placed.join(first, f.col("noren_path") == f.col("noren_file"))
    place = (f.col("noren_first") + f.col("noren_index")).alias(ROW)
    return whole.select(*(f.col(f"`{name}`") for name in raw.columns), place), rows


# --- rows of a table that are taken for people: nobody may stand in several of them ----------------------------------


def reject_repeated_people(records: ClusterRecords) -> None:
    """Stop where rows of a table are taken for people, and somebody stands in several of them.

    Which columns tell whom a row is about is judged by the first 65,536 rows, as for a file that is read block by
    block; their values are counted in all rows, on the cluster.
    """
    names = [column.name for column in records.schema.columns if may_identify(column)]
    if records.schema.kind != Kind.TABLE or not names:
        return
    some = records.frame.filter(f.col(ROW) < BATCH_ROWS).select(
        *(records.column(n).alias(records.at(n)) for n in names)
    )
    first = pl.DataFrame(some.toArrow()).select(pl.col(records.at(n)).cast(records.types[n]).alias(n) for n in names)
    identifying = namings(records.schema, first)
    if not identifying:
        return
    values = {}  # those that say something, null where they do not
    for name in identifying:
        value, dtype = records.column(name), records.types[name]
        filled = value.rlike(r"(?U)\S") if dtype == pl.String else ~f.isnan(value) if dtype.is_float() else f.lit(True)
        values[name] = f.when(filled, value)
    figures = [figure(value) for value in values.values() for figure in (f.count, f.count_distinct)]
    counts: Any = records.frame.agg(*figures).first()
    people = zip(identifying.items(), counts[::2], counts[1::2], strict=True)
    counted = [PeopleColumn(name, how, Repeats(filled, distinct)) for (name, how), filled, distinct in people]
    reject_if_people_repeat(counted, records.rows)


# --- schemas that nobody named ---------------------------------------------------------------------------------------


def guessed_schema(spark: SparkSession, path: str | Path, **how: Any) -> SchemaGuess:
    """Guess a schema from the first rows, as one machine does."""
    if is_local(path):
        return guess_schema(local_path(path), **how)
    rows, count = numbered(spark, path)
    head = pl.DataFrame(rows.filter(rows[ROW] < SAMPLE_ROWS).orderBy(ROW).drop(ROW).toArrow())
    words = _("read as {form}, {columns} columns, {rows:,} rows").format(form="Parquet", columns=head.width, rows=count)
    return guess_columns(head, Path(path).name.split(".")[0] or "custom", layout_note=words, file=path, **how)


def settled_schema(spark: SparkSession, path: str | Path, schema: Schema) -> Schema:
    """Return what a guessed schema must be to hold every row: workers look at all of them, block by block.

    Empty cells, finer grids and further values of a domain widen it. A value that the guessed type cannot read is
    refused by its column: one machine would read everything before it again.
    """
    raw, _rows = numbered(spark, path)
    names, file = schema.names, str(path)
    free = [c.model_copy(update={"optional": True, "domain": None, "width": None}) for c in schema.columns]
    unbounded = schema.model_copy(update={"columns": tuple(free)})

    def kernel(block: pl.DataFrame) -> pl.DataFrame:
        cells, first = block.select(names), int(block[ROW][0]) + 1
        widening = Widening(schema)
        widening.look_at(cells, first)
        if widening.types_changed:
            parse_values(cells, unbounded, CellPlace(file, first))
        return pl.DataFrame({"schema": [widening.schema().to_toml()]})

    plain = raw.select(*(raw[f"`{name}`"] for name in names), ROW)
    schemas = map_blocks(plain, kernel, {"schema": pl.String()}).distinct().collect()
    seen = [Schema.from_toml(row["schema"]) for row in schemas] or [schema]
    joined = []  # columns that hold what each of those seen holds
    for name in names:
        columns = [schema_of_block[name] for schema_of_block in seen]
        first, domain = columns[0], {value for column in columns for value in column.domain or ()}
        known = first.domain or ()
        listed = all(c.domain is not None for c in columns) and len(domain) <= max(LARGEST_DOMAIN, len(known))
        widths = [column.width for column in columns if column.width is not None]
        update = {
            "optional": any(column.optional for column in columns),
            "domain": tuple(sorted(domain)) if listed and domain else None,
            "width": min(widths) if len(widths) == len(columns) else None,
        }
        if set(known) == domain:
            update["domain"] = first.domain if listed else None
        joined.append(first.model_copy(update=update))
    return schema.model_copy(update={"columns": tuple(joined)})
