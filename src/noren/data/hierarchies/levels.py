"""Generalisation hierarchies: reading, writing, checking, and the meaning of labels.

Its file is one that ARX writes: ``value;label;…;*``, one row per value, one file per column.

A label means what anybody reads in it: a range of numbers, a part of a code, a month. Hierarchies write ``20-29`` and
``80**``, ARX ``[20, 30[``. A label that says nothing of this kind, such as ``Undergraduate``, has a meaning in its
hierarchy alone.

Many files can be looked at at once, by themselves and beside the data (:func:`check_files`): every problem of every
file is reported.
"""

from __future__ import annotations

import calendar
import csv
import datetime as dt
import io
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import quote, unquote

import polars as pl

from noren.data.arrays import exact_values
from noren.data.formats.files import writing_file
from noren.data.formats.render import value_text
from noren.data.formats.source import read_all_bytes
from noren.data.formats.text_layout import neutral_cells, plain
from noren.data.frames import Records
from noren.data.schema import Column, Scale
from noren.errors import FileError, FormatError, InputError, Problem, listing, suggestion
from noren.tables import Texts

say = Texts(__name__)

SAYS_NOTHING: Final = "*"
MISSING_MARK: Final = "?"
"""A text that says a value is missing, as in UCI's files, unless a hierarchy lists it; so does an empty cell."""
DELIMITER: Final = ";"
MOST_PROBLEMS: Final = 1_000
"""Problems of one kind that are reported of one file."""


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
        return checked_rows([tuple(row) for row in rows]).hierarchy(name, file)

    @classmethod
    def of_labels(cls, name: str, texts: pl.Series, levels: Sequence[pl.Series]) -> Hierarchy:
        """Make a hierarchy of the labels of each level, and of the top that says nothing.

        >>> Hierarchy.of_labels("shoe", pl.Series(["37", "45"]), [pl.Series(["small", "large"])]).labels.row(1)
        ('45', 'large', '*')
        """
        top = pl.repeat(SAYS_NOTHING, len(texts), eager=True)
        columns = {str(level): labels for level, labels in enumerate([texts, *levels, top])}
        return checked_labels(pl.DataFrame(columns).with_row_index("row", offset=1)).hierarchy(name, None)

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


# --- what contradicts itself -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CheckedRows:
    """The rows of a hierarchy that can be used, and every problem of the others."""

    labels: pl.DataFrame
    problems: tuple[Problem, ...]

    def hierarchy(self, name: str, file: Path | None) -> Hierarchy:
        """Return the hierarchy; stop at the first problem."""
        for problem in self.problems:
            raise FormatError(problem.rule, problem.cure, file=file, row=problem.row, value=problem.value)
        return Hierarchy(name, self.labels)


def checked_rows(listed: Sequence[Sequence[str]]) -> CheckedRows:
    """Look at rows ``value, label, …``: of one length, without holes, one per value, no contradiction, no circle.

    >>> for problem in checked_rows([("a", "x", "*"), ("b", "*"), ("a", "y", "*")]).problems:
    ...     print(problem.row, problem.value, problem.rule)
    2 b;* this row has 2 levels, the first one 3
    3 a the value is listed twice with different labels
    """
    if not listed:
        empty = Problem(None, None, None, say("no_rows"))
        return CheckedRows(pl.DataFrame(schema={"0": pl.String}), (empty,))
    depth = len(listed[0])
    whole, problems = list[tuple[Any, ...]](), list[Problem]()
    for number, row in enumerate(listed, start=1):
        if len(row) != depth:
            message = say("row_of_other_length", count=len(row), depth=depth)
        elif "" in row:
            message = say("row_with_hole", level=list(row).index(""))
        else:
            whole.append((number, *row))
            continue
        problems.append(Problem(number, None, DELIMITER.join(row), message))
    types: dict[str, Any] = {"row": pl.UInt32} | {str(level): pl.String for level in range(depth)}
    checked = checked_labels(pl.DataFrame(whole, schema=types, orient="row"))
    return CheckedRows(checked.labels, (*problems[:MOST_PROBLEMS], *checked.problems))


def checked_labels(numbered: pl.DataFrame) -> CheckedRows:
    """Look at whole rows with their numbers in the column ``row``."""
    # a line that is repeated as it is says nothing new; those after it keep their numbers in what is said of them
    once = numbered.unique(numbered.columns[1:], keep="first", maintain_order=True)
    # the second row of each value that has rows with other labels
    twice = once.filter(pl.col("0").is_duplicated()).group_by("0", maintain_order=True).agg(pl.col("row").get(1))
    message = say("value_listed_twice")
    problems = [Problem(row, None, value, message) for value, row in twice.head(MOST_PROBLEMS).iter_rows()]
    # the first row of each label that has another label above it than in a row before; values listed twice are told
    first_rows = once.unique("0", keep="first", maintain_order=True)
    for level in range(1, once.width - 2):
        here, above = str(level), str(level + 1)
        earlier = {"first": pl.col(above).first().over(here), "at": pl.col("row").first().over(here)}
        first = first_rows.with_columns(**earlier)
        wrong = first.filter(pl.col(above) != pl.col("first")).unique(here, keep="first", maintain_order=True)
        chosen = wrong.select("row", "0", here=here, above=above, first="first", at="at").head(MOST_PROBLEMS)
        for row, value, label, here, there, at in chosen.iter_rows():
            message = say("two_labels_above", label=label, level=level, here=here, there=there, row=at)
            problems.append(Problem(row, None, value, message))
    return CheckedRows(once.drop("row"), (*problems, *_circles(once)))


def _circles(numbered: pl.DataFrame) -> Iterator[Problem]:
    """Yield labels that lie above themselves, by whatever rows; a label that stays itself for some levels does not."""
    labels = numbered.drop("row")
    levels = list(itertools.pairwise(labels.columns))
    pairs = [labels.select(here=here, above=above) for here, above in levels]
    steps = pl.concat(pairs or [pl.DataFrame(schema={"here": pl.String, "above": pl.String})])
    # in the rows' order: the same file gets the same answer
    steps = steps.filter(pl.col("here") != pl.col("above")).unique(maintain_order=True)
    steps = steps.filter(pl.col("here").is_in(steps["above"].implode()))  # what lies above nothing is in no circle
    above: dict[str, list[str]] = {}
    for here, there in steps.iter_rows():
        above.setdefault(here, []).append(there)
    for _number in range(MOST_PROBLEMS):
        try:
            TopologicalSorter(above).prepare()
        except CycleError as error:
            cycle = list(reversed(error.args[1]))
        else:
            return
        above[cycle[0]].remove(cycle[1])
        is_step = pl.any_horizontal((pl.col(a) == cycle[0]) & (pl.col(b) == cycle[1]) for a, b in levels)
        row = numbered.filter(is_step)["row"][0]
        yield Problem(int(row), None, cycle[0], say("circular", cycle=" → ".join(cycle)))


_LARGEST_FILE = 2**28
_LONGEST_FILE_NAME = 200


def read_hierarchy(path: str | Path, name: str | None = None) -> Hierarchy:
    """Read one file; ``name`` is the column it is for, the file's own name where left out."""
    path = Path(path)
    return check_hierarchy(path).hierarchy(name or path.stem, path)


def check_hierarchy(path: str | Path) -> CheckedRows:
    """Read one file and return every problem of its rows; a file that cannot be read at all is an error."""
    try:
        text = read_all_bytes(Path(path), largest=_LARGEST_FILE).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError(say("not_utf8"), file=path) from None
    return checked_rows(rows_of_text(text, path))


def rows_of_text(text: str, file: str | Path | None = None) -> list[list[str]]:
    """Return the rows of a text in ARX's form; lines without anything are left out.

    >>> rows_of_text('Bern;Switzerland;*')
    [['Bern', 'Switzerland', '*']]
    """
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=DELIMITER, strict=True)
        return [[plain(cell) for cell in row] for row in rows if row]
    except csv.Error as error:
        raise FormatError(say("hierarchy_cannot_read", reason=error), file=file) from None


def read_hierarchies(folder: str | Path, columns: Sequence[str]) -> dict[str, Hierarchy]:
    """Read the hierarchies of ``columns`` that a folder has: ``age.csv``, or any name ending in ``_age.csv``.

    What a file's name cannot hold may be written as in an address: ``debit%2Fcredit.csv``. A column without a file is
    left out; a folder without any is an error.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise FileError(say("no_hierarchies"), file=folder)
    files = sorted(folder.glob("*.csv"))
    hierarchies: dict[str, Hierarchy] = {}
    for column in columns:
        own = [file for file in files if column_of_file(file, [column])]
        if len(own) > 1:
            names = listing([file.name for file in own])
            raise FileError(say("several_files", column=column, files=names), file=folder)
        if own:
            hierarchies[column] = read_hierarchy(own[0], column)
    if not hierarchies:
        example = f"{columns[0] if columns else 'age'}.csv"
        raise FileError(say("no_hierarchy_for", columns=listing(list(columns)), example=example), file=folder)
    return hierarchies


def column_of_file(file: Path, columns: Iterable[str]) -> str | None:
    """Return the column that a file is named after; of several the one with the longest name.

    >>> column_of_file(Path("adult_hierarchy_sex.csv"), ["age", "sex"])
    'sex'
    """
    named = (file.stem, unquote(file.stem))
    return max((name for name in columns if name in named or file.stem.endswith(f"_{name}")), key=len, default=None)


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
    """Write one file, as ARX reads it but for an apostrophe before what a spreadsheet would compute."""
    with writing_file(path) as aside:
        neutral_cells(hierarchy.labels).write_csv(aside, separator=DELIMITER, include_header=False)
    return Path(path)


# --- beside the data --------------------------------------------------------------------------------------------------


def texts(values: pl.Series, column: Column) -> pl.Series:
    """Return values of a column as text, as a hierarchy lists them."""
    return values.to_frame("0").select(value_text(pl.col("0"), column).alias(values.name)).to_series()


def texts_of(records: Records, column: Column) -> pl.Series:
    """Return a column's exact values as text, as a hierarchy lists them."""
    return texts(exact_values(records, column), column)


def canonical(hierarchy: Hierarchy, column: Column) -> Hierarchy:
    """Return the hierarchy with its values written as ours are: 07 and 7.0 are the number 7.

    >>> canonical(Hierarchy.of("n", [("07", "*")]), Column(name="n", role="quasi", type="integer")).values.to_list()
    ['7']
    """
    if column.scale != Scale.RATIO:
        return hierarchy
    own = texts(hierarchy.values.cast(column.dtype, strict=False), column)
    labels = hierarchy.labels.with_columns(own.fill_null(hierarchy.values))
    if labels["0"].is_duplicated().any():
        return Hierarchy.of(hierarchy.name, labels.iter_rows())
    return Hierarchy(hierarchy.name, labels)


@dataclass(frozen=True)
class CheckedFile:
    """The result of checking one file.

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
            "problems": [p.as_dict() | {"message": p.sentence(self.file.name)} for p in self.problems],
            "notes": list(self.notes),
        }


def files_in(paths: Iterable[Path]) -> list[Path]:
    """Return the files that are meant: a folder means all CSV files in it."""
    files = [file for path in paths for file in (sorted(path.glob("*.csv")) if path.is_dir() else [path])]
    if not files:
        raise FileError(say("no_hierarchies"))
    return files


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
    results = []
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
            message = say("too_many_levels", count=hierarchy.depth, most=most_levels)
            problems.append(Problem(1, None, None, message))
        if records is not None:
            names, message = records.schema.names, ""
            if own is None:
                message = say("name_of_no_column", example=f"{names[0]}.csv")
            elif own not in names:
                message = say("data_no_column", name=own, hint=suggestion(own, names), names=listing(names))
            elif named.count(own) > 1:
                same = listing([other.name for other, name in zip(files, named, strict=True) if name == own])
                message = say("several_files", column=own, files=same)
            problems += [Problem(None, None, None, message)] if message else []
            if own in names and hierarchy is not None:
                # each value of the data that is not listed, with the first row that has it
                try:
                    listed = [*canonical(hierarchy, records.schema[own]).values, MISSING_MARK]
                except InputError as error:  # 07 and 7 are one number, with other labels
                    problems += error.problems
                else:
                    values = texts_of(records, records.schema[own]).to_frame("text").with_row_index("row", offset=1)
                    other = values.filter(~pl.col("text").is_in(listed)).group_by("text", maintain_order=True)
                    counted = other.agg(pl.col("row").first(), pl.len().alias("rows")).head(MOST_PROBLEMS)
                    for text, row, rows in counted.iter_rows():
                        message = say("value_not_listed", rows=rows, row=row)
                        problems.append(Problem(None, own, text, message))
        several = hierarchy is not None and hierarchy.labels.to_series(hierarchy.depth - 1).n_unique() > 1
        notes = (say("several_last_labels"),) if several else ()
        results.append(CheckedFile(file, own, hierarchy, tuple(problems), notes))
    return results


# --- what labels mean -------------------------------------------------------------------------------------------------

_NUMBER = r"(-?\d+(?:\.\d+)?)"
_BETWEEN = re.compile(rf"^{_NUMBER}\s*[-–—~〜～]\s*{_NUMBER}$")
_BRACKETS = re.compile(rf"^([\[\](]){_NUMBER}\s*[,;]\s*{_NUMBER}([\[\])])$")
_BELOW = re.compile(rf"^(<|<=|≤)\s*{_NUMBER}$")
_ABOVE = re.compile(rf"^(>|>=|≥)\s*{_NUMBER}$|^{_NUMBER}\+$")
_DAYS = re.compile(r"^(\d{4})(?:-(\d{2})|-Q([1-4]))?$")
_MASKED = re.compile(r"^([^*]+)\*+$")


class Range(NamedTuple):
    """The values from ``low`` to ``high``; an end is left out where it is open."""

    low: float
    high: float
    open_low: bool = False
    open_high: bool = False


def number_range(label: str) -> Range | None:
    """Return the range of numbers that a label means; None where it means none.

    >>> number_range("[20, 30[")
    Range(low=20.0, high=30.0, open_low=False, open_high=True)
    >>> number_range("20-29")[:2]
    (20.0, 29.0)
    >>> number_range("≤20").high, number_range("80+").low, number_range("young")
    (20.0, 80.0, None)
    """
    text = label.strip()
    if match := _BETWEEN.match(text):
        return Range(float(match[1]), float(match[2]))
    if match := _BRACKETS.match(text):
        return Range(float(match[2]), float(match[3]), match[1] in "](", match[4] in "[)")
    if match := _BELOW.match(text):
        return Range(-math.inf, float(match[2]), open_high=match[1] == "<")
    if match := _ABOVE.match(text):
        return Range(float(match[2] or match[3]), math.inf, open_low=match[1] == ">")
    return None


def date_range(label: str) -> tuple[dt.date, dt.date] | None:
    """Return the first and the last day of a year, a quarter or a month.

    >>> date_range("1990-Q2")
    (datetime.date(1990, 4, 1), datetime.date(1990, 6, 30))
    """
    match = _DAYS.match(label.strip())
    if match is None or int(match[1]) == 0 or not 1 <= int(match[2] or 1) <= 12:
        return None
    year, quarter = int(match[1]), int(match[3] or 0)
    first, last = (3 * quarter - 2, 3 * quarter) if quarter else (1, 12)
    if match[2]:
        first = last = int(match[2])
    return dt.date(year, first, 1), dt.date(year, last, calendar.monthrange(year, last)[1])


def prefix(label: str) -> str | None:
    """Return what a masked label begins with.

    >>> prefix("80**"), prefix("Bern")
    ('80', None)
    """
    match = _MASKED.match(label.strip())
    return match[1] if match else None
