"""How much a file unpacks to, told before it is read: 22 MB of Parquet can hold 200 million rows.

A file is small on disk and large in memory where its rows repeat. The size that counts is the decoded one: rows times
the widths of their types. It is read off a Parquet file's own tables, a workbook's directory or a compressed file's
stream, without decoding a cell, so whoever takes files from others (the studio) can refuse one in time.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.parquet as pq

from noren.data.formats.source import Source, SourceLike, saying_damage
from noren.errors import FileError
from noren.i18n import _

LARGEST_DECODED = 256 * 2**30
"""Bytes that a file may take once it is decoded; more is a bomb on any machine that reads a file whole."""

_VIEW = 16
"""Bytes that each text takes in memory besides its letters."""
_CHUNK = 1 << 20


class DecodedSizeError(FileError):
    """A file that is larger than it may be once it is decoded."""


@dataclass(frozen=True)
class Decoded:
    """What a file holds once it is decoded; ``rows`` where it tells them."""

    bytes: int
    rows: int | None = None


def decoded_size(source: SourceLike, *, most: int = LARGEST_DECODED) -> Decoded:
    """Return what a file decodes to; counting stops where that is past ``most`` bytes.

    Parquet takes rows times the widths of their types, or what the groups of rows unpack to if that is more. What a
    damaged file says of the columns of a group is not asked: Arrow ends the process over it.
    """
    source = Source.open(source)
    path = source.path
    if source.kind == "parquet":
        total = rows = 0
        for part in sorted(path.rglob("*.parquet")) if path.is_dir() else [path]:
            with saying_damage(part, "Parquet"), pq.ParquetFile(part) as file:
                about = file.metadata
                width = sum(_width(field.type) for field in file.schema_arrow)
                pages = sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups))
                # a dictionary repeats its texts for free in the file, and in memory they are views of it
                total += max(about.num_rows * max(width, 1), pages)
                rows += about.num_rows
        return Decoded(total, rows)
    if source.kind == "excel" and zipfile.is_zipfile(path):
        with saying_damage(path, "Excel"), zipfile.ZipFile(path) as archive:
            return Decoded(sum(member.file_size for member in archive.infolist()))
    if source.kind == "excel" or not source.compressed:
        return Decoded(source.size)
    total = 0
    with source.unpacked(largest=2 * most + _CHUNK) as file:
        while (chunk := file.read(_CHUNK)) and total <= most:
            total += len(chunk)
    return Decoded(total)


def stop_at_large(source: SourceLike, largest: int = LARGEST_DECODED) -> None:
    """Stop at a file that would take more than ``largest`` bytes once it is decoded."""
    source = Source.open(source)
    size = decoded_size(source, most=largest)
    if size.bytes <= largest:
        return
    told = (
        _("the file decodes to more than {most:,} bytes")
        if size.rows is None
        else _("the file decodes to about {bytes:,} bytes ({rows:,} rows), more than {most:,}")
    )
    raise DecodedSizeError(
        told.format(bytes=size.bytes, rows=size.rows, most=largest),
        _("split it, or leave out the columns that nobody needs"),
        file=source.path,
    )


def _width(kind: pa.DataType) -> int:
    """Return the bytes that a value takes in memory, those of its parts together."""
    if isinstance(kind, pa.DictionaryType):
        kind = kind.value_type
    elif kind.num_fields:
        return sum(_width(kind.field(i).type) for i in range(kind.num_fields))
    try:
        return max(1, int(kind.bit_width) // 8)
    except ValueError:  # texts and bytes
        return _VIEW
