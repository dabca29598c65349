"""Hierarchies: what each value becomes, level by level, when a table is generalised.

A file has one row per value and semicolons between levels, as ARX writes it: ``Bachelors;Undergraduate;Higher
education;*``. Level 0 is the value itself; ``*`` says nothing. A value has one row, which may be repeated as it is, as
in some of ARX's own files; all rows have the same length, and
two values that share a label share every label above it: otherwise rows could be alike on one level and told apart on
the next. A value of the data that the file does not list is an error, never a guess.

Builders make the usual ones: :func:`interval_hierarchy` for numbers, :func:`mask_hierarchy` for postal codes and the
like, :func:`date_hierarchy` for days.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from urllib.parse import quote, unquote

import polars as pl

from noren.data.formats.files import read_all_bytes, writing_file
from noren.errors import FileError, FormatError, ParameterError
from noren.i18n import _
from noren.naming import listing

__all__ = [
    "SAYS_NOTHING",
    "Hierarchy",
    "date_hierarchy",
    "hierarchy_file_name",
    "interval_hierarchy",
    "mask_hierarchy",
    "read_hierarchies",
    "read_hierarchy",
    "write_hierarchy",
]

SAYS_NOTHING = "*"
_DELIMITER = ";"
_LARGEST_FILE = 2**28
_LONGEST_FILE_NAME = 200


@dataclass(frozen=True)
class Hierarchy:
    """The labels of a column's values: one row per value, one column per level.

    >>> sizes = Hierarchy.of("shoe", [("37", "small", "*"), ("38", "small", "*"), ("45", "large", "*")])
    >>> sizes.depth, sizes.labels["1"].to_list()
    (3, ['small', 'small', 'large'])
    """

    name: str
    labels: pl.DataFrame

    @classmethod
    def of(cls, name: str, rows: Iterable[Sequence[str]], *, file: Path | None = None) -> Hierarchy:
        """Make a hierarchy of rows ``value, label, …``; stop at the first row that contradicts another."""
        listed = [tuple(row) for row in rows]
        if not listed:
            raise FormatError(_("the hierarchy lists no values"), _("give one row per value"), file=file)
        depth = len(listed[0])
        for number, row in enumerate(listed, start=1):
            if len(row) != depth:
                raise FormatError(
                    _("this row has {count} levels, the first one {depth}").format(count=len(row), depth=depth),
                    _("give every value a label on every level"),
                    file=file,
                    row=number,
                    value=_DELIMITER.join(row),
                )
            if "" in row:
                raise FormatError(
                    _("level {level} is empty: the hierarchy has a hole").format(level=row.index("")),
                    _("give every value a label on every level"),
                    file=file,
                    row=number,
                    value=_DELIMITER.join(row),
                )
        labels = pl.DataFrame(listed, schema={str(level): pl.String for level in range(depth)}, orient="row")
        # a line that is repeated as it is says nothing new; those after it keep their numbers in what is said of them
        once = labels.with_row_index("row", offset=1).unique(labels.columns, keep="first", maintain_order=True)
        _stop_at_contradiction(once, file)
        _stop_at_cycle(once, file)
        return cls(name, once.drop("row"))

    @classmethod
    def of_values(cls, name: str, values: Iterable[str]) -> Hierarchy:
        """Return the hierarchy of a column for which nobody wrote one: each value as it is, or nothing."""
        return cls.of(name, [(value, SAYS_NOTHING) for value in sorted(set(values))])

    @property
    def depth(self) -> int:
        """How many levels there are, the values included."""
        return self.labels.width

    @property
    def values(self) -> pl.Series:
        """The values, in the file's order."""
        return self.labels["0"]


def _stop_at_contradiction(numbered: pl.DataFrame, file: Path | None) -> None:
    """Stop where a value has two rows, or where two rows share a label and differ above it."""
    twice = numbered.filter(pl.col("0").is_duplicated())
    if len(twice):
        value = twice["0"][0]
        raise FormatError(
            _("the value is listed twice, with other labels"),
            _("list each value once"),
            file=file,
            row=int(twice.filter(pl.col("0") == value)["row"][1]),
            value=value,
        )
    for level in range(1, numbered.width - 2):
        here, above = str(level), str(level + 1)
        first = pl.col(above).first().over(here)
        wrong = numbered.filter(pl.col(above) != first)
        if len(wrong):
            row = wrong.row(0, named=True)
            other = numbered.filter(pl.col(here) == row[here]).row(0, named=True)
            raise FormatError(
                _("{label!r} on level {level} is {one!r} above here, and {other!r} in row {row}").format(
                    label=row[here], level=level, one=row[above], other=other[above], row=other["row"]
                ),
                _("give all values of a label the same labels above it"),
                file=file,
                row=row["row"],
                value=row["0"],
            )


def _stop_at_cycle(numbered: pl.DataFrame, file: Path | None) -> None:
    """Stop where a label lies above itself, by whatever rows; a label that stays itself for some levels does not."""
    labels = numbered.drop("row")
    above: dict[str, dict[str, None]] = {}  # in the order of the rows, so that the same file gets the same answer
    for level in range(labels.width - 1):
        pairs = labels.select(here=str(level), above=str(level + 1)).unique(maintain_order=True)
        for here, there in pairs.iter_rows():
            if here != there:
                above.setdefault(here, {})[there] = None
    try:
        TopologicalSorter(above).prepare()
    except CycleError as error:
        way = list(reversed(error.args[1]))
        row = numbered.filter(
            pl.any_horizontal(
                (pl.col(str(level)) == way[0]) & (pl.col(str(level + 1)) == way[1]) for level in range(labels.width - 1)
            )
        )
        raise FormatError(
            _("the hierarchy runs in a circle: {way}").format(way=" → ".join(way)),
            _("let labels grow wider from level to level"),
            file=file,
            row=int(row["row"][0]) if len(row) else None,
            value=way[0],
        ) from None


# --- files -----------------------------------------------------------------------------------------------------------


def read_hierarchy(path: str | Path, name: str | None = None) -> Hierarchy:
    """Read one file; ``name`` is the column it is for, the file's own name where left out."""
    path = Path(path)
    content = read_all_bytes(path, largest=_LARGEST_FILE)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError(_("the file is not UTF-8"), _("save it as UTF-8"), file=path) from None
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=_DELIMITER, strict=True) if row]
    except csv.Error as error:
        raise FormatError(
            _("the hierarchy cannot be read ({reason})").format(reason=error),
            _("write value;label;…;*, one row per value"),
            file=path,
        ) from None
    return Hierarchy.of(name or path.stem, rows, file=path)


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
        hierarchy.labels.write_csv(aside, separator=_DELIMITER, include_header=False)
    return Path(path)


# --- builders --------------------------------------------------------------------------------------------------------


def interval_hierarchy(name: str, values: Iterable[int], widths: Sequence[int], *, start: int = 0) -> Hierarchy:
    """Return a hierarchy of whole numbers by ranges, each level's ranges made of whole ones below.

    >>> interval_hierarchy("age", [17, 21], [5, 10]).labels.rows()
    [('17', '15-19', '10-19', '*'), ('21', '20-24', '20-29', '*')]
    """
    for finer, coarser in zip((1, *widths), widths, strict=False):
        if finer < 1 or coarser <= finer or coarser % finer:
            raise ParameterError(
                _("ranges of {coarser} are not made of whole ranges of {finer}").format(coarser=coarser, finer=finer),
                _("let each width be a multiple of the one before, such as 5, 10, 20"),
            )

    def label(value: int, width: int) -> str:
        low = start + (value - start) // width * width
        return f"{low}-{low + width - 1}"

    rows = [(str(v), *(label(v, width) for width in widths), SAYS_NOTHING) for v in sorted(set(values))]
    return Hierarchy.of(name, rows)


def mask_hierarchy(name: str, values: Iterable[str], *, mask: str = SAYS_NOTHING) -> Hierarchy:
    """Return a hierarchy that hides one more character at a time, from the right: for postal codes and the like.

    Shorter values count as masked where they end.

    >>> mask_hierarchy("zip", ["8053", "8037"]).labels.rows()[1]
    ('8053', '805*', '80**', '8***', '*')
    """
    if len(mask) != 1:
        raise ParameterError(_("the mask is one character"), _("use *"), value=mask)
    known = sorted(set(values))
    longest = max(map(len, known), default=0)
    rows = [(v, *(v[:shown].ljust(longest, mask) for shown in range(longest - 1, 0, -1)), SAYS_NOTHING) for v in known]
    return Hierarchy.of(name, rows)


def date_hierarchy(name: str, values: Iterable[dt.date]) -> Hierarchy:
    """Return a hierarchy of days: day, month, quarter, year.

    >>> date_hierarchy("born", [dt.date(1990, 5, 17)]).labels.rows()
    [('1990/5/17', '1990-05', '1990-Q2', '1990', '*')]
    """
    rows = [
        (
            f"{day.year}/{day.month}/{day.day}",
            f"{day.year:04d}-{day.month:02d}",
            f"{day.year:04d}-Q{(day.month + 2) // 3}",
            f"{day.year:04d}",
            SAYS_NOTHING,
        )
        for day in sorted(set(values))
    ]
    return Hierarchy.of(name, rows)
