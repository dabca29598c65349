"""The report of a format check, and how findings on whole columns become a short list of problems.

A checker finds broken rules column by column, each over the whole table at once: a :class:`Finding` holds the rows
where one rule is broken and how to describe one of them. :func:`gather` counts all and describes the first ones.

A text file is a column of lines, whatever bytes it holds. The contests' checkers read bytes as they come: a checker
must therefore read a file that is not text at all without stumbling, and say in which row it stops being text.

:func:`read_sheet` cuts lines as the 2017 checker's reader does, with what is odd about them. :func:`read_columns` reads
the original table that a release is checked against. The steward's own file is trusted to be the contest's table; where
it is not one, checking would accuse the release of the original's faults. So its first fault stops the check with an
error that names file, row, column and cure.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from noren.data.formats.source import read_all_bytes
from noren.errors import LONGEST_VALUE, FileError, FormatError, ParameterError, Problem, ValueInCellError, quoted
from noren.tables import Texts

say = Texts(__name__)

LONGEST_REPORTED = 8_000
"""Characters of an offending value that a report keeps: the longest row of the 2018 format."""

WHOLE_FILE = 0
"""The row number of a finding that no single row stands for."""


@dataclass(frozen=True)
class Report:
    """The verdict on one file: broken rules in ``problems``, things worth a look in ``warnings``.

    ``problems`` are the first by row, then column; ``total`` counts all of them. Warnings leave the verdict alone: they
    tell what the contest's own checker accepts only because it does not look.

    >>> Report(valid=True, problems=(), total=0, warnings=()).as_dict()
    {'valid': True, 'problems': [], 'total': 0, 'warnings': []}
    """

    valid: bool
    problems: tuple[Problem, ...]
    total: int
    warnings: tuple[Problem, ...]

    def as_dict(self) -> dict[str, object]:
        """Return the report as plain data, for ``--json``."""
        told = {name: [problem.as_dict() for problem in getattr(self, name)] for name in ("problems", "warnings")}
        return {"valid": self.valid, "problems": told["problems"], "total": self.total, "warnings": told["warnings"]}


@dataclass(frozen=True)
class Finding:
    """One rule, the rows that break it, and how to describe the problem of one row."""

    rows: npt.NDArray[np.int64]
    """Row numbers in ascending order, from 1; :data:`WHOLE_FILE` where the whole file is meant."""
    rank: int
    """The place of the column in its row, from 1; 0 for the row itself."""
    describe: Callable[[int], Problem]

    @classmethod
    def once(cls, message: str, row: int | None = None, value: str | None = None, column: str | None = None) -> Finding:
        """Return the finding of a rule broken once."""
        rows = np.array([row or WHOLE_FILE], dtype=np.int64)
        return cls(rows, 0, lambda _row: Problem(row, column, value, message))


def broken_rows(rows: pl.DataFrame, broken: pl.Expr) -> npt.NDArray[np.int64]:
    """Return the ``row`` numbers of ``rows`` where ``broken`` holds; where it is null it does not."""
    return rows.filter(broken)["row"].cast(pl.Int64).to_numpy()


def inline(value: str) -> str:
    """Return a value as it stands for use inside a sentence; quoted and escaped where that could mislead.

    >>> inline("85123A"), inline(" 85123A"), inline("\\x1b[2J")
    ('85123A', "' 85123A'", "'\\\\x1b[2J'")
    """
    plain = value.isprintable() and value.strip() == value != "" and len(value) <= LONGEST_VALUE
    return value if plain else quoted(value)


def gather(problems: Iterable[Finding], warnings: Iterable[Finding] = (), *, limit: int = 20) -> Report:
    """Return the report on all findings, with at most ``limit`` problems and ``limit`` warnings told.

    >>> at = lambda row: Problem(row, "item", "x", "no item", "name one")
    >>> report = gather([Finding(np.array([4, 7]), 3, at), Finding(np.array([2]), 3, at)], limit=2)
    >>> report.valid, report.total, [problem.row for problem in report.problems]
    (False, 3, [2, 4])
    """
    if limit < 0:
        raise ParameterError.out_of_range("limit", limit, "limit >= 0")
    problems = list(problems)
    total = sum(len(finding.rows) for finding in problems)
    return Report(valid=total == 0, problems=_first(problems, limit), total=total, warnings=_first(warnings, limit))


def _first(findings: Iterable[Finding], limit: int) -> tuple[Problem, ...]:
    # No finding can give more than `limit` of the first `limit`, so its own first ones are enough.
    candidates = [
        (int(row), finding.rank, order, finding)
        for order, finding in enumerate(findings)
        for row in finding.rows[:limit]
    ]
    chosen = heapq.nsmallest(limit, candidates, key=lambda candidate: candidate[:3])
    described = (finding.describe(row) for row, _rank, _order, finding in chosen)
    return tuple(replace(problem, value=problem.value and problem.value[:LONGEST_REPORTED]) for problem in described)


LARGEST_FILE = 2**30
"""Bytes of a file once unpacked: room for the largest contest table, 89,278 rows, with the longest rows it allows."""

MOST_LINES = 20_000_000
"""Lines of a file: keeps a gigabyte of bare line ends from becoming many gigabytes of table."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Lines:
    """The lines of a file without their line ends."""

    text: pl.Series
    """One line a row, named ``line``."""
    not_utf8: int | None = None
    """The first line, from 1, that is not UTF-8 where UTF-8 was asked for; the text is then read as ISO-8859-1."""
    byte_order_mark: bool = False
    """Whether UTF-8 was asked for and a byte order mark was cut off."""


def read_lines(path: Path, *, utf8: bool = False, carriage_return_ends_line: bool = False) -> Lines:
    """Read a plain or gzip-compressed file as lines.

    Every byte string is a text in ISO-8859-1, which is how the 2018 checker reads; with ``utf8`` the file is read as
    UTF-8, as the 2017 checker does. A line ends with LF or CR LF, with ``carriage_return_ends_line`` also with a lone
    CR; otherwise such a CR stays in its line. A last line without an end counts.
    """
    content = read_all_bytes(path, largest=LARGEST_FILE).replace(b"\r\n", b"\n")
    if carriage_return_ends_line:
        content = content.replace(b"\r", b"\n")
    marked = utf8 and content.startswith(_BYTE_ORDER_MARK)
    if marked:
        content = content.removeprefix(_BYTE_ORDER_MARK)
    if content.count(b"\n") > MOST_LINES:
        raise FileError(say("too_many_lines", most=MOST_LINES), file=path)
    not_utf8 = None
    try:
        text = content.decode("utf-8" if utf8 else "latin-1")
    except UnicodeDecodeError as error:
        not_utf8 = content.count(b"\n", 0, error.start) + 1
        text = content.decode("latin-1")
    if not text:
        return Lines(pl.Series("line", [], dtype=pl.String), byte_order_mark=marked)
    lines = pl.Series("line", [text.removesuffix("\n")]).str.split("\n").explode()
    return Lines(lines, not_utf8, marked)


def split_cells(line: pl.Expr, columns: Sequence[str]) -> pl.Expr:
    """Split lines into one struct field per column; the last takes the rest of its line, missing ones are null."""
    return line.str.splitn(",", len(columns)).struct.rename_fields(list(columns))


@dataclass(frozen=True)
class SheetRule:
    """A rule about one column, or with ``None`` about the row: where it is broken, and its message.

    Where the text depends on the row, ``message`` is a function of its cells by name.
    """

    column: str | None
    broken: pl.Expr
    message: str | Callable[[Mapping[str, Any]], str]


def findings(rows: pl.DataFrame, columns: Sequence[str], *rules: SheetRule) -> Iterator[Finding]:
    """Judge ``rows`` by all ``rules`` at once; they have ``row`` in ascending order, and ``line`` for rules of rows."""

    def describe(rule: SheetRule, row: int) -> Problem:
        cells = rows.row(int(rows["row"].search_sorted(row)), named=True)
        message = rule.message if isinstance(rule.message, str) else rule.message(cells)
        return Problem(row, rule.column, str(cells[rule.column or "line"]), message)

    judged = rows.select("row", *(r.broken.fill_null(value=False).alias(f"rule {i}") for i, r in enumerate(rules)))
    for i, rule in enumerate(rules):
        broken = judged["row"].filter(judged[f"rule {i}"]).cast(pl.Int64).to_numpy()
        yield Finding(broken, 0 if rule.column is None else columns.index(rule.column) + 1, partial(describe, rule))


@dataclass(frozen=True)
class Sheet:
    """A comma-separated file as the official checker's reader takes it.

    It skips blank lines, takes CR for a line end, drops a byte order mark and quotes around a cell, lets the first row
    set the width, and fills up short rows with empty cells. ``rows`` has ``row`` (line number), ``place`` (row number
    from 0, blank lines left out), ``line``, ``cells`` (their number) and the text of each column.
    """

    lines: Lines
    rows: pl.DataFrame
    columns: tuple[str, ...]

    @property
    def width(self) -> int:
        """How many cells the first row has."""
        return int(self.rows["cells"][0])

    def width_message(self, row: Mapping[str, Any]) -> str:
        """Return the message for a row with another number of cells than there are columns."""
        return say("other_width", expected=len(self.columns), columns=", ".join(self.columns), count=row["cells"])

    def findings(self, rows: pl.DataFrame, *rules: SheetRule) -> Iterator[Finding]:
        """Judge some of the rows by all ``rules`` at once."""
        return findings(rows, self.columns, *rules)

    def oddities(self) -> tuple[list[Finding], list[Finding]]:
        """Find what stops the reader, and what it passes over in silence."""
        problems, warnings = list[Finding](), list[Finding]()
        if self.lines.not_utf8 is not None:
            problems.append(Finding.once(say("not_utf8"), self.lines.not_utf8))
        if self.rows.is_empty():
            problems.append(Finding.once(say("no_rows")))
        else:
            # the reader stops at a row with more cells than the first; where that one is short, it is the one to blame
            most = max(self.width, len(self.columns))
            problems += self.findings(self.rows, SheetRule(None, pl.col("cells") > most, self.width_message))
        if self.lines.byte_order_mark:
            warnings.append(Finding.once(say("byte_order_mark"), 1))
        blank = (self.lines.text.str.strip_chars(" \t") == "").arg_true()
        if len(blank):
            warnings.append(Finding.once(say("blank_lines", count=len(blank)), int(blank[0]) + 1))
        return problems, warnings


def read_sheet(path: Path, columns: tuple[str, ...]) -> Sheet:
    """Read a plain or gzip-compressed file; nothing in it is an error, see :meth:`Sheet.oddities`."""
    lines = read_lines(path, utf8=True, carriage_return_ends_line=True)
    line = pl.col("line")
    rows = (
        lines.text.to_frame()
        .with_row_index("row", offset=1)
        .filter(line.str.strip_chars(" \t") != "")
        .with_row_index("place")
        .with_columns(
            cells=line.str.count_matches(",", literal=True) + 1, split=split_cells(line, [*columns, "too many"])
        )
        .unnest("split")
        .with_columns(pl.col(columns).fill_null(""))
    )
    if lines.text.str.contains('"', literal=True).any():
        rows = rows.with_columns(pl.col(columns).str.replace(r'^"([^"]*)"$', "$1"))
    return Sheet(lines, rows, columns)


def read_columns(path: Path, columns: Sequence[str], *, utf8: bool = False) -> pl.DataFrame:
    """Return the original's ``columns`` as text, or say which row has not as many cells."""
    lines = read_lines(path, utf8=utf8, carriage_return_ends_line=True)
    if lines.text.is_empty():
        raise FileError(say("original_empty"), file=path)
    if lines.not_utf8 is not None:
        raise FormatError(say("original_not_utf8"), file=path, row=lines.not_utf8)
    cells = lines.text.str.count_matches(",", literal=True) + 1
    odd = (cells != len(columns)).arg_true()
    if len(odd):
        width = cells[odd[0]] if lines.text[odd[0]] else 0
        message = say("original_width", expected=len(columns), columns=", ".join(columns), cells=width)
        raise FormatError(message, file=path, row=odd[0] + 1)
    return lines.text.to_frame().select(split_cells(pl.col("line"), columns).alias("cells")).unnest("cells")


def reject_null(path: Path, table: pl.DataFrame, column: str, values: pl.Series) -> None:
    """Stop with the first row of ``table`` whose ``column`` could not be read into ``values``."""
    unread = values.is_null().arg_true()
    if len(unread):
        message, value = say("invalid_original", column=column), table[column][unread[0]]
        raise ValueInCellError(message, file=path, row=unread[0] + 1, column=column, value=value)


def calendar_day(text: pl.Expr, pattern: str) -> pl.Expr:
    """Return dates as whole numbers ``yyyymmdd``, null where ``pattern`` does not match or the day does not exist.

    ``pattern`` has three groups: year, month, day. The numbers order as the days do, which is all a check needs:
    ``2010/12/1`` becomes 20101201, ``2011/2/30`` null.
    """
    groups = text.str.extract_groups(pattern)
    year, month, day = (groups.struct[i].cast(pl.Int32, strict=False) for i in range(3))
    leap = ((year % 4 == 0) & (year % 100 != 0)) | (year % 400 == 0)
    longest = pl.when(month == 2).then(28 + leap.cast(pl.Int32)).when(month.is_in([4, 6, 9, 11])).then(30).otherwise(31)
    exists = month.is_between(1, 12) & day.is_between(1, longest)
    return pl.when(exists).then(year * 10_000 + month * 100 + day)
