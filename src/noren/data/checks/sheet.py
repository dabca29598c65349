"""A comma-separated file as the 2017 checker's reader takes it, with what is odd about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from noren.data.checks.lines import Lines, read_lines, split_cells
from noren.data.checks.report import Finding
from noren.errors import Problem
from noren.i18n import _

__all__ = ["Sheet", "SheetRule", "read_sheet"]


@dataclass(frozen=True)
class SheetRule:
    """A rule about one column, or with ``None`` about the row: where it is broken, its words and the cure."""

    column: str | None
    broken: pl.Expr
    rule: str
    cure: str


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

    def cell(self, row: int, column: str) -> str:
        """Return one cell by its line number; the whole line as column ``line``."""
        return str(self.rows[column][self.rows["row"].search_sorted(row)])

    def findings(self, rows: pl.DataFrame, *rules: SheetRule) -> Iterator[Finding]:
        """Judge ``rows`` by all ``rules`` at once."""
        judged = rows.select(
            "row", *(rule.broken.fill_null(value=False).alias(f"rule {i}") for i, rule in enumerate(rules))
        )
        for i, rule in enumerate(rules):
            broken = judged["row"].filter(judged[f"rule {i}"]).cast(pl.Int64).to_numpy()
            rank = 0 if rule.column is None else self.columns.index(rule.column) + 1
            yield Finding(broken, rank, partial(self._problem, rule))

    def _problem(self, rule: SheetRule, row: int) -> Problem:
        return Problem(row, rule.column, self.cell(row, rule.column or "line"), rule.rule, rule.cure)

    def problems(self) -> Iterator[Finding]:
        """Find what stops the reader."""
        if self.lines.not_utf8 is not None:
            rule = _("the file must be UTF-8 text; this row is not")
            yield Finding.once(Problem(self.lines.not_utf8, None, None, rule, _("save the file as UTF-8")))
        if self.rows.is_empty():
            yield Finding.once(Problem(None, None, None, _("the file has no rows"), _("write the table to it")))
            return
        # The reader stops at a row with more cells than the first one; where that one is short, it is the one to blame.
        most = max(self.width, len(self.columns))
        rule = _("a row has {expected} cells ({columns}); this one has more").format(
            expected=len(self.columns), columns=", ".join(self.columns)
        )
        yield from self.findings(self.rows, SheetRule(None, pl.col("cells") > most, rule, _("remove what is too many")))

    def warnings(self) -> Iterator[Finding]:
        """Find what the reader passes over in silence."""
        if self.lines.byte_order_mark:
            rule = _("the file starts with a byte order mark, which not every reader takes")
            yield Finding.once(Problem(1, None, None, rule, _("save the file as UTF-8 without one")))
        blank = self.lines.text.str.strip_chars(" \t") == ""
        if blank.any():
            rule = _("blank lines are passed over: there are {count:,}").format(count=blank.sum())
            yield Finding.once(Problem(int(blank.arg_true()[0]) + 1, None, None, rule, _("remove them")))


def read_sheet(path: Path, columns: tuple[str, ...]) -> Sheet:
    """Read a plain or gzip-compressed file; nothing in it is an error, see :meth:`Sheet.problems`."""
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
