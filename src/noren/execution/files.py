"""Folders and files that a cluster reads and writes: where they lie, their rows, and what a schema says of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlsplit
from uuid import uuid4

import polars as pl
import pyarrow as pa

from noren.data.formats.files import FolderKind, require_free_path
from noren.data.formats.parquet import SUCCESS, parquet_parts
from noren.data.formats.parquet import say as say_of_parquet
from noren.data.formats.parse import CellPlace, parse_values
from noren.data.formats.source import Source
from noren.data.formats.text_files import arrangement, cells_of_lines, text_blocks
from noren.data.formats.text_files import say as say_of_text
from noren.data.formats.text_layout import TextForm
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
from noren.errors import FileError, FormatError, OutputError
from noren.execution.frames import ROW, ClusterRecords, arrow_of, as_cells, frame_types, map_blocks, spark_type
from noren.execution.session import BATCH_ROWS
from noren.execution.spark_functions import StorageLevel, f
from noren.i18n import _
from noren.tables import Texts

if TYPE_CHECKING:
    from pyspark.sql import Column as Expression
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

    @property
    def pattern(self) -> str:
        """The address as Spark's readers take it: signs of patterns stand for themselves."""
        return re.sub(r"([\\*?\[\]{}])", r"\\\1", self.address)

    def read(self) -> DataFrame:
        """Return the Parquet files of the folder, or the one file."""
        return self._session.read.parquet(self.pattern)

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


class RawRows(NamedTuple):
    """Rows of files as they stand, with :data:`ROW`.

    ``cells`` returns those of a block as the schema calls them; ``first`` is the number of the first row in messages.
    """

    frame: DataFrame
    rows: int
    cells: Callable[[pl.DataFrame], pl.DataFrame]
    first: int = 1


@contextmanager
def source_at(session: SparkSession, address: str | Path) -> Iterator[Source | None]:
    """Yield a local file, or the driver's copy of a text file on the cluster; None for Parquet on the cluster."""
    place = ClusterPath(session, address)
    if is_local(address):
        yield Source.open(local_path(address))
    elif str(address).endswith(".parquet") or not place._system.isFile(place._path):
        yield None
    else:
        with TemporaryDirectory() as folder:
            copy = Path(folder) / Path(address).name
            jvm, stream = place._jvm, place._system.open(place._path)
            jvm.org.apache.hadoop.io.IOUtils.copyBytes(stream, jvm.java.io.FileOutputStream(str(copy)), 1 << 16, True)
            yield Source.open(copy)


def read(session: SparkSession, address: str | Path, schema: Schema) -> ClusterRecords:
    """Read Parquet files (Hive-style paths included) or a text file as one machine reads them.

    The driver holds one number for each file, or each block of a text. Rows are numbered by the file's place among all,
    in the order of paths, and by where they stand in it; no row is moved for that. What is half written, or has files
    of several schemas is refused.
    """
    if not is_local(address):
        place = ClusterPath(session, address)
        if not place.exists():
            raise FileError(say("no_file"), file=str(address))
        if not (str(address).endswith(".parquet") or place._system.isFile(place._path) or (place / SUCCESS).exists()):
            raise FileError(say_of_parquet("folder_incomplete", marker=SUCCESS), file=str(address))
    raw, rows, cells, first = raw_rows(session, address, schema)
    file = str(address)
    if not rows:
        raise FileError(say_of_text("no_rows"), file=file)
    types = {column.name: column.dtype for column in schema.columns}

    def typed(block: pl.DataFrame) -> pl.DataFrame:
        values = parse_values(cells(block), schema, CellPlace(file, int(block[ROW][0]) + first))
        return as_cells(values, schema.names).with_columns(block[ROW])

    # plans look at them several times
    frame = map_blocks(raw, typed, frame_types(schema, types)).persist(StorageLevel.DISK_ONLY)
    return ClusterRecords(frame, schema, rows, types)


def raw_rows(session: SparkSession, address: str | Path, schema: Schema) -> RawRows:
    """Return the rows of Parquet files or of a text; stop where columns are missing, or at other kinds of file."""
    names = schema.names
    with source_at(session, address) as source:
        if source and source.kind == "text" and (rows_of_text := _rows_of_text(session, source, schema, address)):
            return rows_of_text
        if source and source.kind != "parquet":
            target = source.path.with_suffix(".parquet").name
            raise FileError(say("only_parquet", file=source.path.name, target=target), file=str(address))
        if source and source.path.is_dir():
            parquet_parts(source.path)
    raw, rows = numbered(session, address)
    reject_missing(names, [column for column in raw.columns if column != ROW])
    plain = raw.select(*(raw[f"`{name}`"].alias(f"c{at}") for at, name in enumerate(names)), ROW)
    return RawRows(plain, rows, lambda block: block.select(pl.col(f"c{i}").alias(n) for i, n in enumerate(names)))


def _rows_of_text(session: SparkSession, source: Source, schema: Schema, address: str | Path) -> RawRows | None:
    """Return the rows of a text file, whose layout the driver finds in one pass over its bytes.

    Where every line is a row of UTF-8, Spark cuts the file into lines, and each worker parses some. Otherwise (quotes,
    which can hold line ends, other encodings, compressed files) one worker reads the file as one machine does; None if
    it is on no shared disk.
    """
    form, strip, path = source.text_form(schema.text, schema.names), schema.text.strip, str(address)
    order, above = arrangement(source, form, schema), form.skipped_lines + form.header
    texts = {f"t{at}": pl.String() for at in range(form.columns)}

    def named(cells: pl.DataFrame) -> pl.DataFrame:
        return pl.DataFrame([cells.to_series(at).alias(name) for at, name in zip(order, schema.names, strict=True)])

    plain = form.encoding == "utf-8" or (form.encoding == "utf-8-sig" and form.header)
    if plain and not (form.quoted or form.mixed_newlines or source.compressed or form.delimiter == " "):
        lines, rows = _numbered_lines(session, address, form, strip=strip)

        def parsed(block: pl.DataFrame) -> pl.DataFrame:
            return named(cells_of_lines(block["value"], path, form, int(block[ROW][0]) + above, strip=strip))

        return RawRows(lines, rows, parsed, above + 1)
    if not is_local(address):
        return None

    def whole(_batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for row, block in text_blocks(source.path, form, strip=strip):
            numbers = pl.int_range(row - above - 1, row - above - 1 + len(block), eager=True).alias(ROW)
            cells = block.rename(dict(zip(block.columns, texts, strict=True)))
            yield from arrow_of(cells.with_columns(numbers), texts | {ROW: pl.Int64()}).to_batches()

    cells = session.range(1, numPartitions=1).mapInArrow(whole, spark_type(texts | {ROW: pl.Int64()}))
    return RawRows(cells, cells.count(), named, above + 1)


def _numbered_lines(
    session: SparkSession, address: str | Path, form: TextForm, *, strip: bool
) -> tuple[DataFrame, int]:
    """Return the lines of a text that are rows as ``value`` with :data:`ROW`, and how many there are.

    Empty lines at the end are no rows; one before them is refused.
    """
    above, signs = form.skipped_lines + form.header, " \t".replace(form.delimiter, "") * strip
    text = session.read.text(ClusterPath(session, address).pattern, lineSep=form.newline)
    block, index = f.col("_metadata.file_block_start").cast("string"), f.monotonically_increasing_id()
    lines = text.select("value", block.alias("noren_key"), index.alias("noren_index"))
    empty_line = (f.col("value") == "") | (f.translate("value", signs, "") == form.delimiter * (form.columns - 1))
    filled = ~empty_line if form.columns > 1 else f.lit(True)
    at = f.when(filled, f.col("noren_index"))
    found = lines.groupBy("noren_key").agg(f.count(f.lit(1)), f.min("noren_index"), f.max(at), f.count(at)).collect()
    in_order = sorted(found, key=lambda row: int(row[0]))
    before = accumulate((int(row[1]) for row in in_order), initial=-above)
    starts = [(row[0], first - int(row[2])) for row, first in zip(in_order, before, strict=False)]
    rows = max((first + int(row[3]) + 1 for row, (_, first) in zip(in_order, starts, strict=True) if row[4]), default=0)
    placed = _placed(lines, f.col("noren_key"), f.col("noren_index"), starts).select("value", ROW)
    placed = placed.filter(f.col(ROW).between(0, rows - 1))
    if any(row[1] > row[4] for row in in_order):
        empty: Any = placed.filter(~filled).agg(f.min(ROW)).first()
        if empty[0] is not None:
            raise FormatError(say_of_text("empty_line"), file=address, row=int(empty[0]) + above + 1)
    return placed, rows


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
    placed = raw.withColumn("noren_path", file).withColumn("noren_index", at)
    whole = _placed(placed, f.col("noren_path"), f.col("noren_index"), starts)
    return whole.select(*(f.col(f"`{name}`") for name in raw.columns), ROW), rows


def _placed(rows: DataFrame, key: Expression, index: Expression, starts: list[tuple[str, int]]) -> DataFrame:
    """Return rows with :data:`ROW`: their index plus the number that their part, called by ``key``, starts with."""
    first = rows.sparkSession.createDataFrame(starts, "noren_part string, noren_first long")
    return rows.join(f.broadcast(first), key == f.col("noren_part")).withColumn(ROW, f.col("noren_first") + index)


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
    with source_at(spark, path) as source:
        if source is not None:
            return guess_schema(source.path, **how)
    rows, count = numbered(spark, path)
    head = pl.DataFrame(rows.filter(rows[ROW] < SAMPLE_ROWS).orderBy(ROW).drop(ROW).toArrow())
    words = _("read as {form}, {columns} columns, {rows:,} rows").format(form="Parquet", columns=head.width, rows=count)
    return guess_columns(head, Path(path).name.split(".")[0] or "custom", layout_note=words, file=path, **how)


def settled_schema(spark: SparkSession, path: str | Path, schema: Schema) -> Schema:
    """Return what a guessed schema must be to hold every row: workers look at all of them, block by block.

    Empty cells, finer grids and further values of a domain widen it. A value that the guessed type cannot read is
    refused by its column: one machine would read everything before it again.
    """
    raw, _rows, cells_of, first_row = raw_rows(spark, path, schema)
    names, file = schema.names, str(path)
    free = [c.model_copy(update={"optional": True, "domain": None, "width": None}) for c in schema.columns]
    unbounded = schema.model_copy(update={"columns": tuple(free)})

    def kernel(block: pl.DataFrame) -> pl.DataFrame:
        cells, place = cells_of(block), CellPlace(file, int(block[ROW][0]) + first_row)
        widening = Widening(schema)
        widening.look_at(cells, place.first_row)
        if widening.types_changed:
            parse_values(cells, unbounded, place)
        return pl.DataFrame({"schema": [widening.schema().to_toml()]})

    schemas = map_blocks(raw, kernel, {"schema": pl.String()}).distinct().collect()
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
            "domain": (first.domain if set(known) == domain else tuple(sorted(domain))) if listed else None,
            "width": min(widths) if len(widths) == len(columns) else None,
        }
        joined.append(first.model_copy(update=update))
    return schema.model_copy(update={"columns": tuple(joined)})
