"""Many files of hierarchies looked at at once, by themselves and beside the data: every problem of every file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from noren.data.frames import Records
from noren.data.hierarchies.builder import ColumnValues, canonical, texts_of
from noren.data.hierarchies.levels import MISSING_MARK, MOST_PROBLEMS, Hierarchy, check_hierarchy, column_of_file
from noren.errors import FileError, InputError, Problem
from noren.i18n import _


@dataclass(frozen=True)
class CheckedFile:
    """What was found of one file.

    Attributes
    ----------
    file, column
        The file; the column that it is for, where that is known.
    hierarchy
        What it says, where it does not contradict itself.
    problems, notes
        Why it cannot be used; what a person should know although it can.
    """

    file: Path
    column: str | None
    hierarchy: Hierarchy | None
    problems: tuple[Problem, ...]
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return it as plain data, for ``--json``."""
        return {
            "file": str(self.file),
            "column": self.column,
            "values": None if self.hierarchy is None else len(self.hierarchy.values),
            "levels": None if self.hierarchy is None else self.hierarchy.depth,
            "problems": [one.as_dict() | {"message": one.sentence(self.file.name)} for one in self.problems],
            "notes": list(self.notes),
        }


def files_in(paths: Iterable[Path]) -> list[Path]:
    """Return the files that are meant: a folder means all CSV files in it."""
    found = [file for path in paths for file in (sorted(path.glob("*.csv")) if path.is_dir() else [path])]
    if not found:
        raise FileError(_("there are no hierarchies"), _("name CSV files, or a folder that holds some"))
    return found


def check_files(
    files: Sequence[Path], records: Records | None = None, *, column: str | None = None, most_levels: int | None = None
) -> list[CheckedFile]:
    """Look at every file, and at whether it lists every value of the data.

    Parameters
    ----------
    records
        The data; without them files are looked at by themselves.
    column
        The column that the files are for; left out, each is for the one that it is named after.
    most_levels
        How many levels a file may have.
    """
    named = [column or (file.stem if records is None else column_of_file(file, records.schema.names)) for file in files]
    found = []
    for file, own in zip(files, named, strict=True):
        problems: list[Problem] = []
        hierarchy = None
        try:
            checked = check_hierarchy(file)
            problems += checked.problems
            if not problems:
                hierarchy = Hierarchy(own or file.stem, checked.labels)
        except InputError as error:
            problems += error.problems
        if hierarchy is not None and most_levels is not None and hierarchy.depth > most_levels:
            rule = _("this row has {count} levels, more than {most}").format(count=hierarchy.depth, most=most_levels)
            problems.append(Problem(1, None, None, rule, _("leave some out: each multiplies what a method searches")))
        if records is not None:
            if own is None:
                rule = _("the file name matches no column of the data")
                cure = _("name each file after its column: {example}").format(example=f"{records.schema.names[0]}.csv")
                problems.append(Problem(None, None, None, rule, cure))
            elif own not in records.schema.names:
                rule, cure = _("the data have no such column"), _("name one that they have")
                problems.append(Problem(None, own, None, rule, cure))
            elif named.count(own) > 1:
                problems.append(Problem(None, own, None, _("the column has two files"), _("keep one")))
            if own in records.schema.names and hierarchy is not None:
                problems += _unlisted(hierarchy, ColumnValues(records, records.schema[own]))
        notes: tuple[str, ...] = ()
        if hierarchy is not None and hierarchy.labels.to_series(hierarchy.depth - 1).n_unique() > 1:
            note = _("the last level has several labels, so rows cannot always be made alike; end each row with *")
            notes = (note,)
        found.append(CheckedFile(file, own, hierarchy, tuple(problems), notes))
    return found


def _unlisted(hierarchy: Hierarchy, values: ColumnValues) -> Iterator[Problem]:
    """Yield each value of the data that is not listed, with the first row that has it."""
    try:
        known = canonical(hierarchy, values.column).values
    except InputError as error:  # 07 and 7 are one number, with other labels
        yield from error.problems
        return
    texts = texts_of(values.records, values.column).alias("text").to_frame().with_row_index("row", offset=1)
    other = texts.filter(~pl.col("text").is_in([*known, MISSING_MARK])).group_by("text", maintain_order=True)
    for text, row, rows in other.agg(pl.col("row").first(), pl.len().alias("rows")).head(MOST_PROBLEMS).iter_rows():
        rule = _(
            "the data have this value (rows: {rows:,}, the first is row {row:,}), and the file does not list it"
        ).format(rows=rows, row=row)
        yield Problem(None, values.name, text, rule, _("add a row for it"))
