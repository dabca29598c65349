"""A text file as a column of lines, whatever bytes it holds.

The contests' checkers read bytes as they come: a checker must therefore read a file that is not text at all without
stumbling, and say in which row it stops being text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from noren.data.formats.source import read_all_bytes
from noren.errors import FileError
from noren.i18n import _

__all__ = ["LARGEST_FILE", "MOST_LINES", "Lines", "read_lines", "split_cells"]

LARGEST_FILE = 2**30
"""Bytes of a file once unpacked: room for the largest contest table, 89,278 rows, with the longest rows it allows."""

MOST_LINES = 20_000_000
"""Lines of a file: keeps a gigabyte of bare line ends from becoming many gigabytes of table."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Lines:
    """The lines of a file without their line ends.

    Parameters
    ----------
    text
        One line a row, named ``line``.
    not_utf8
        The first line, from 1, that is not UTF-8 where UTF-8 was asked for; the text is then read as ISO-8859-1.
    byte_order_mark
        Whether UTF-8 was asked for and a byte order mark was cut off.
    """

    text: pl.Series
    not_utf8: int | None = None
    byte_order_mark: bool = False


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
        raise FileError(
            _("the file has more than {most:,} lines").format(most=MOST_LINES), _("check a part of it"), file=path
        )
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
