"""The original table a release is checked against, as text columns.

The steward's own file is trusted to be the contest's table; where it is not one, checking would accuse the release of
the original's faults. So its first fault stops the check with an error that names file, row, column and cure.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from noren.data.checks.lines import Lines, split_cells
from noren.errors import FileError, FormatError, ValueInCellError
from noren.i18n import _

__all__ = ["calendar_day", "read_columns", "stop_at_null"]


def read_columns(path: Path, lines: Lines, columns: Sequence[str]) -> pl.DataFrame:
    """Return the original's ``columns`` as text, or say which row has not as many cells."""
    if lines.text.is_empty():
        raise FileError(_("the original is empty"), _("name the table that was anonymised"), file=path)
    if lines.not_utf8 is not None:
        raise FormatError(_("the original is not UTF-8 text"), _("save it as UTF-8"), file=path, row=lines.not_utf8)
    cells = lines.text.str.count_matches(",", literal=True) + 1
    odd = (cells != len(columns)).arg_true()
    if len(odd):
        row = odd[0]
        raise FormatError(
            _("a row of the original has {expected} cells ({columns}); this one has {found}").format(
                expected=len(columns), columns=", ".join(columns), found=cells[row] if lines.text[row] else 0
            ),
            _("name the original table of the contest, without blank lines"),
            file=path,
            row=row + 1,
        )
    return lines.text.to_frame().select(split_cells(pl.col("line"), columns).alias("cells")).unnest("cells")


def stop_at_null(path: Path, table: pl.DataFrame, column: str, values: pl.Series, rule: str) -> None:
    """Stop with the first row of ``table`` whose ``column`` could not be read into ``values``."""
    unread = values.is_null().arg_true()
    if len(unread):
        row = unread[0]
        raise ValueInCellError(
            rule,
            _("correct the original (it has no header line)"),
            file=path,
            row=row + 1,
            column=column,
            value=table[column][row],
        )


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
