"""Files of hierarchies, as ARX writes them: ``value;label;…;*``, one row per value, one file per column."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote, unquote

from noren.data.formats.files import writing_file
from noren.data.formats.source import read_all_bytes
from noren.data.hierarchies.levels import DELIMITER, CheckedRows, Hierarchy, checked_rows
from noren.errors import FileError, FormatError
from noren.i18n import _
from noren.naming import listing

__all__ = [
    "check_hierarchy",
    "column_of_file",
    "hierarchy_file_name",
    "read_hierarchies",
    "read_hierarchy",
    "rows_of_text",
    "write_hierarchy",
]

_LARGEST_FILE = 2**28
_LONGEST_FILE_NAME = 200


def read_hierarchy(path: str | Path, name: str | None = None) -> Hierarchy:
    """Read one file; ``name`` is the column it is for, the file's own name where left out."""
    path = Path(path)
    return check_hierarchy(path).hierarchy(name or path.stem, path)


def check_hierarchy(path: str | Path) -> CheckedRows:
    """Read one file and return every problem of its rows; a file that cannot be read at all is an error."""
    path = Path(path)
    return checked_rows(rows_of_text(_text(path), path))


def _text(path: Path) -> str:
    try:
        return read_all_bytes(path, largest=_LARGEST_FILE).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError(_("the file is not UTF-8"), _("save it as UTF-8"), file=path) from None


def rows_of_text(text: str, file: str | Path | None = None) -> list[list[str]]:
    """Return the rows of a text in ARX's form; lines without anything are left out.

    >>> rows_of_text('Bern;Switzerland;*')
    [['Bern', 'Switzerland', '*']]
    """
    try:
        return [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=DELIMITER, strict=True) if row]
    except csv.Error as error:
        raise FormatError(
            _("the hierarchy cannot be read ({reason})").format(reason=error),
            _("write value;label;…;*, one row per value"),
            file=file,
        ) from None


def read_hierarchies(folder: str | Path, columns: Sequence[str]) -> dict[str, Hierarchy]:
    """Read the hierarchies of ``columns`` that a folder has: ``age.csv``, or any name ending in ``_age.csv``.

    What a file's name cannot hold may be written as in an address: ``debit%2Fcredit.csv``. A column without a file is
    left out; a folder without any is an error.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise FileError(
            _("there is no such folder"), _("name the folder that holds a CSV file for each column"), file=folder
        )
    files = sorted(folder.glob("*.csv"))
    found: dict[str, Hierarchy] = {}
    for column in columns:
        own = [file for file in files if unquote(file.stem) == column or _is_named_after(file, column)]
        if len(own) > 1:
            raise FileError(
                _("the column {column} has two hierarchies: {files}").format(
                    column=column, files=listing([file.name for file in own])
                ),
                _("keep one"),
                file=folder,
            )
        if own:
            found[column] = read_hierarchy(own[0], column)
    if not found:
        raise FileError(
            _("the folder holds no hierarchy for {columns}").format(columns=listing(list(columns))),
            _("name each file after its column: {example}").format(example=f"{columns[0] if columns else 'age'}.csv"),
            file=folder,
        )
    return found


def _is_named_after(file: Path, column: str) -> bool:
    return file.stem == column or file.stem.endswith(f"_{column}")


def column_of_file(file: Path, columns: Iterable[str]) -> str | None:
    """Return the column that a file is named after; of several the one with the longest name.

    >>> column_of_file(Path("adult_hierarchy_sex.csv"), ["age", "sex"])
    'sex'
    """
    own = [column for column in columns if unquote(file.stem) == column or _is_named_after(file, column)]
    return max(own, key=len, default=None)


def hierarchy_file_name(column: str, others: Iterable[str] = ()) -> str | None:
    """Return a name for a column's file that :func:`read_hierarchies` finds, and no other column's.

    Nothing in a column's name can lead out of a folder. None where the name is too long for a file.

    >>> hierarchy_file_name("marital-status"), hierarchy_file_name("../age"), hierarchy_file_name("my_age", ["age"])
    ('marital-status.csv', '%2E%2E%2Fage.csv', 'my%5Fage.csv')
    """
    plain = "".join(c if c.isalnum() or c in " -_." else quote(c, safe="") for c in column)
    if plain[:1] == ".":
        plain = plain.replace(".", "%2E")  # neither hidden nor a way up
    if any(column.endswith(f"_{other}") for other in others):
        plain = plain.replace("_", "%5F")
    name = f"{plain.replace(' ', '%20') if plain != plain.strip() else plain}.csv"
    return name if len(name.encode()) <= _LONGEST_FILE_NAME else None


def write_hierarchy(hierarchy: Hierarchy, path: str | Path) -> Path:
    """Write one file, as ARX reads it."""
    with writing_file(path) as aside:
        hierarchy.labels.write_csv(aside, separator=DELIMITER, include_header=False)
    return Path(path)
