"""Parquet files and folders of them: typed already, still checked against the schema.

Native code reads them and believes what a file says of itself, so texts are checked to be UTF-8 before Polars sees
them. A folder is what Spark, Hive and their like write in place of one file: its rows are those of the files in the
order of their paths; folders called ``year=2011`` give every file in them a column ``year``, as Hive does. A folder
without its success marker may be half written, and is not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from noren.data.formats.source import Source, SourceLike, explain_damage
from noren.errors import FileError
from noren.i18n import _
from noren.tables import Texts

say = Texts(__name__)

_BLOCK_ROWS = 1 << 18


def parquet_blocks(source: SourceLike, columns: list[str] | None = None) -> Iterator[pl.DataFrame]:
    """Yield blocks of a Parquet file, or of a folder of them, as it stands."""
    for part in parquet_parts(Source.open(source).path):
        stored = columns if columns is None else [name for name in columns if name not in part.columns]
        with explain_damage(part.path, "Parquet"):
            with pq.ParquetFile(part.path) as file:
                about, arrow = file.metadata, file.schema_arrow
            # columns whose texts the file holds once and numbers: a text for each row takes four bytes and more
            is_text = (pa.types.is_string, pa.types.is_large_string)
            texts = {f.name for f in arrow if any(test(f.type) for test in is_text) and arrow.names.count(f.name) == 1}
            bytes_ = dict.fromkeys(texts, 0)
            for at in range(about.num_columns):
                if (name := about.schema.column(at).path) in texts:
                    groups = (about.row_group(group).column(at) for group in range(about.num_row_groups))
                    bytes_[name] = sum(group.total_uncompressed_size for group in groups)
            repeated = [name for name in arrow.names if bytes_.get(name, 4 * about.num_rows) < 4 * about.num_rows]
            with pq.ParquetFile(part.path, read_dictionary=repeated) as file:
                for batch in file.iter_batches(batch_size=_BLOCK_ROWS, columns=stored):
                    block = checked_frame(batch, repeated)
                    block = block.with_columns(pl.lit(v, pl.String).alias(n) for n, v in part.columns.items())
                    yield block if columns is None else block.select(columns)


def parquet_names(source: SourceLike) -> list[str]:
    """Return the columns of a Parquet file, or of a folder of them."""
    first = parquet_parts(Source.open(source).path)[0]
    with explain_damage(first.path, "Parquet"):
        names = list(pq.read_schema(first.path).names)
    return [*names, *(name for name in first.columns if name not in names)]


def parquet_rows(source: SourceLike) -> int:
    """Return how many rows a Parquet file has, or a folder of them."""
    total = 0
    for part in parquet_parts(Source.open(source).path):
        with explain_damage(part.path, "Parquet"):
            total += int(pq.read_metadata(part.path).num_rows)
    return total


def checked_frame(data: pa.RecordBatch | pa.Table, repeated: Sequence[str] = ()) -> pl.DataFrame:
    """Return Arrow data as a frame; Arrow does not check texts on reading, and Polars takes them as checked.

    The ``repeated`` columns of a batch are numbers and the texts they stand for: all rows share the memory of these.
    """
    data.validate(full=True)
    for field in data.schema:
        _reject_undecodable(field)
    texts: dict[str, pl.Series] = {}
    for at, name in enumerate(data.schema.names):
        if name in repeated:
            texts[name] = pl.Series(name, data.column(at).dictionary)
            data = data.set_column(at, name, data.column(at).indices)
    frame = pl.from_arrow(data.replace_schema_metadata(None))
    if not isinstance(frame, pl.DataFrame):  # pragma: no cover - batches and tables are frames
        raise TypeError(type(frame))
    # where no number stands for a text no memory is needed
    nothing = pl.Series([None], dtype=pl.String).new_from_index(0, len(frame))
    return frame.with_columns(
        (known.gather(frame[name]) if len(known) else nothing).alias(name) for name, known in texts.items()
    )


def _reject_undecodable(field: pa.Field) -> None:
    """Decode the names and notes of a column and its parts, as Polars will, which panics where they are not UTF-8."""
    for note in [(field.name.encode(),), *(field.metadata or {}).items()]:
        b" ".join(note).decode()
    for i in range(field.type.num_fields):
        _reject_undecodable(field.type.field(i))


# --- folders -------------------------------------------------------------------------------------------------------

SUCCESS = "_SUCCESS"
"""The empty file that says that a folder is complete."""
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What a missing value is called in the name of a folder."""


@dataclass(frozen=True)
class ParquetPart:
    """One file of a folder, and the columns that its path gives it."""

    path: Path
    columns: Mapping[str, str | None]


def parquet_parts(folder: Path) -> list[ParquetPart]:
    """Return the files of a folder in the order of their rows, or a file alone.

    Stop where a folder is not complete or not of one schema.
    """
    if not folder.is_dir():
        return [ParquetPart(folder, {})]
    if not (folder / SUCCESS).is_file():
        raise FileError(say("folder_incomplete", marker=SUCCESS), file=folder)
    parts = []
    for path in sorted(folder.rglob("*.parquet"), key=lambda path: path.relative_to(folder).as_posix()):
        names = path.relative_to(folder).parts
        if any(name.startswith(("_", ".")) for name in names):
            continue
        # year=2011, outermost first; what cannot be in a name is written as in an address: shop=a%20b
        pairs = [name.split("=", 1) for name in names[:-1] if "=" in name.strip("=")]
        columns = {unquote(name): None if value == NO_VALUE else unquote(value) for name, value in pairs}
        parts.append(ParquetPart(path, columns))
    if not parts:
        raise FileError(say("folder_without_parquet"), file=folder)
    first, *others = parts
    known = _columns(first)
    for part in others:
        own = _columns(part)
        for name in [*known, *own]:
            if known.get(name) != own.get(name):
                here, there = (types.get(name, _("none")) for types in (own, known))
                message = say("other_columns", other=first.path.name, here=here, there=there)
                raise FileError(message, file=part.path, column=name)
    return parts


def _columns(part: ParquetPart) -> dict[str, str]:
    """Return the names and types of a file's columns; texts are texts however Arrow lays them out."""
    with explain_damage(part.path, "Parquet"):
        schema = pq.read_schema(part.path)
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    kinds = {f.name: f.type.value_type if pa.types.is_dictionary(f.type) else f.type for f in schema}
    named = {name: "text" if any(test(kind) for test in texts) else str(kind) for name, kind in kinds.items()}
    return named | dict.fromkeys(part.columns, "text")
