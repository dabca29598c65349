"""Folders of Parquet files: what Spark, Hive and their like write in place of one file.

The rows are those of the files in the order of their paths. Folders called ``year=2011`` give every file in them a
column ``year``, as Hive does. A folder without its success marker may be half written, and is not read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq

from noren.errors import FileError
from noren.i18n import _

__all__ = ["NO_VALUE", "SUCCESS", "Part", "parquet_parts", "partition_values"]

SUCCESS = "_SUCCESS"
"""The empty file that says that a folder is complete."""
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What a missing value is called in the name of a folder."""


@dataclass(frozen=True)
class Part:
    """One file of a folder, and the columns that its path gives it."""

    path: Path
    columns: Mapping[str, str | None]


def partition_values(folders: Sequence[str]) -> dict[str, str | None]:
    """Return the columns that the names of folders give, outermost first.

    >>> partition_values(["year=2011", "shop=a%20b", "old", "month=__HIVE_DEFAULT_PARTITION__"])
    {'year': '2011', 'shop': 'a b', 'month': None}
    """
    pairs = [name.split("=", 1) for name in folders if "=" in name.strip("=")]
    return {unquote(name): None if value == NO_VALUE else unquote(value) for name, value in pairs}


def parquet_parts(folder: Path) -> list[Part]:
    """Return the files of a folder in the order of their rows; stop where it is not complete or not of one schema."""
    if not (folder / SUCCESS).is_file():
        raise FileError(
            _("the folder has no file {marker}: whoever writes it may not be done").format(marker=SUCCESS),
            _("wait for the job that writes it; if it is complete, make an empty file of that name in it"),
            file=folder,
        )
    parts = [
        Part(path, partition_values(path.relative_to(folder).parts[:-1]))
        for path in sorted(folder.rglob("*.parquet"), key=lambda path: path.relative_to(folder).as_posix())
        if not any(name.startswith(("_", ".")) for name in path.relative_to(folder).parts)
    ]
    if not parts:
        raise FileError(_("the folder holds no Parquet files"), _("name a folder of Parquet files"), file=folder)
    _stop_at_mixed(parts)
    return parts


def _stop_at_mixed(parts: Sequence[Part]) -> None:
    first, *others = parts
    known = _columns(first)
    for part in others:
        columns = _columns(part)
        for name in [*known, *columns]:
            if known.get(name) != columns.get(name):
                raise FileError(
                    _("this file and {other} do not have the same columns: {here} and {there}").format(
                        other=first.path.name, here=columns.get(name, _("none")), there=known.get(name, _("none"))
                    ),
                    _("write the folder anew with one schema"),
                    file=part.path,
                    column=name,
                )


def _columns(part: Part) -> dict[str, str]:
    """Return the names and types of a file's columns; texts are texts however Arrow lays them out."""
    try:
        schema = pq.read_schema(part.path)
    except (OSError, pa.ArrowException):
        raise FileError(_("this is not a Parquet file, or a damaged one"), _("get it again"), file=part.path) from None
    return {field.name: _kind(field.type) for field in schema} | dict.fromkeys(part.columns, "text")


def _kind(dtype: pa.DataType) -> str:
    if pa.types.is_dictionary(dtype):
        dtype = dtype.value_type
    texts = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return "text" if any(test(dtype) for test in texts) else str(dtype)
