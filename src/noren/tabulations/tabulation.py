"""A public table of counts and sums, and the folder that several of them are written into.

On disk each is ``NAME.csv``, and ``tables.json`` says for each which columns are keys, which are values and how the
values were protected. An empty value is suppressed. Where noise was added, ``VALUE_error`` is half of the width of the
interval that holds the true value with 95 %.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import polars as pl

from noren.data.formats.files import FolderKind, writing_folder
from noren.data.formats.text_layout import neutral, neutral_cells, plain_cells
from noren.errors import FileError
from noren.i18n import _

_INDEX: Final = "tables.json"


@dataclass(frozen=True)
class Tabulation:
    """Cells of a table, one per row: what the cell is about, and the counts and sums of it.

    >>> table = Tabulation("months", ("month",), ("rows",), pl.DataFrame({"month": ["2011-01"], "rows": [7]}))
    >>> table.frame.row(0)
    ('2011-01', 7)
    """

    name: str
    """Letters, digits and hyphens, as in a file's name: month-category."""
    keys: tuple[str, ...]
    values: tuple[str, ...]
    frame: pl.DataFrame
    """Columns: the keys, the values and, where noise was added, VALUE_error."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """How the values were protected: k and p of suppression, or epsilon, delta and the bound on contributions."""


def _unsigned(folder: Path) -> str | None:
    """Return the index of a folder of tables where it names not just the tables that are there; none where it does."""
    with contextlib.suppress(FileError):
        if {f"{table.name}.csv" for table in read_tables(folder)} == {path.name for path in folder.glob("*.csv")}:
            return None
    return _INDEX


TABLES: Final = FolderKind((_INDEX, "*.csv"), _unsigned)


def write_tables(folder: str | Path, tables: Iterable[Tabulation], *, replace: bool = False) -> Path:
    """Write tables into a folder, all or none."""
    with writing_folder(folder, replace=replace and TABLES) as aside:
        for name, content in table_files(list(tables)).items():
            (aside / name).write_bytes(content)
    return Path(folder)


def table_files(tables: Sequence[Tabulation]) -> dict[str, bytes]:
    """Return the files of a folder of tables by their names."""
    written = {f"{table.name}.csv": neutral_cells(table.frame).write_csv().encode() for table in tables}
    index = {t.name: {"keys": t.keys, "values": t.values, "notes": dict(t.notes)} for t in tables}
    return written | {_INDEX: (json.dumps(index, ensure_ascii=False, indent=2) + "\n").encode()}


def read_tables(folder: str | Path) -> list[Tabulation]:
    """Read the tables of a folder."""
    path = Path(folder) / _INDEX
    try:
        index = json.loads(path.read_text(encoding="utf-8"))
        return [
            Tabulation(
                name,
                tuple(about["keys"]),
                tuple(about["values"]),
                _read(path.with_name(f"{name}.csv"), about),
                about["notes"],
            )
            for name, about in index.items()
        ]
    except (OSError, ValueError, TypeError, KeyError, AttributeError, pl.exceptions.PolarsError) as error:
        problem = _("is not a folder of tables that Noren wrote; give the folder that holds {file}")
        raise FileError(problem.format(file=_INDEX), file=folder) from error


def _read(path: Path, about: Mapping[str, Any]) -> pl.DataFrame:
    """Read a table; keys stay texts, and values are numbers, even where all are suppressed."""
    keys = {neutral(key): key for key in about["keys"]}
    frame = pl.read_csv(path, schema_overrides=dict.fromkeys(keys, pl.String), infer_schema_length=None).rename(keys)
    empty = [pl.col(name).cast(pl.Float64) for name in about["values"] if frame[name].dtype == pl.String]
    return frame.with_columns(plain_cells(frame.select(keys.values()))).with_columns(empty)
