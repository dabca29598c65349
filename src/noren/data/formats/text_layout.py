"""Layout of a text file, detected from its first lines: delimiter, titles, header.

What was detected is reported (:meth:`TextForm.sentence`), never assumed silently.
"""

from __future__ import annotations

import contextlib
import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from noren.data.value_formats import NUMBER
from noren.i18n import _
from noren.tables import table_of

ENCODINGS: dict[str, str] = table_of(__name__)["encodings"]
SAME_ENCODINGS: dict[str, str] = table_of(__name__)["same_encodings"]
DELIMITERS = (",", ";", "\t", "|")
_FEWEST_SPACED = 3
_MOST_TITLES = 20
_GENERALISED = re.compile(r"\{[^{}\r\n]*\}|\[[^\[\]\r\n]*\]")


@dataclass(frozen=True)
class TextForm:
    """Layout of a text file, declared or detected."""

    encoding: str
    delimiter: str
    header: bool
    newline: str
    final_newline: bool
    quoted: bool
    columns: int
    first_line: tuple[str, ...] = ()
    skipped_lines: int = 0
    mixed_newlines: bool = False
    titles: int = 0
    """How many of the skipped lines stand above a header and belong to no row."""
    neutralised: bool = False
    """Whether an apostrophe before what begins like a formula is a mark (:func:`neutral_cells`)."""

    def sentence(self) -> str:
        """Return the detected layout as one sentence."""
        sentence = _("read as {encoding}, delimiter {delimiter!r}, {columns} columns, {header}")
        about = vars(self) | {"header": _("with a header") if self.header else _("no header")}
        sentence = sentence.format(**about | {"encoding": ENCODINGS.get(self.encoding, self.encoding)})
        if self.titles:
            sentence = _("{summary}; {count} lines above the table skipped").format(summary=sentence, count=self.titles)
        return sentence


def detect_delimiter(lines: list[str], names: tuple[str, ...] | None) -> str:
    """Choose the delimiter that cuts the sample into the columns a schema expects, else evenly into the most."""
    best, best_score = ",", (False, False, False, 0, 0.0)
    for delimiter in DELIMITERS:
        # the semicolons of [a;b] and {a;b} separate no columns
        cut = [_GENERALISED.sub("*", line) for line in lines[:200]] if delimiter == ";" else lines[:200]
        rows = split_lines(cut, delimiter, quoted=True, strip=False)
        widths = [len(row) for row in rows]
        width = max(set(widths), key=widths.count)
        share = widths.count(width) / len(widths)
        named = names is not None and set(names) <= {cell.strip() for cell in rows[0]}
        # any sign that is not there cuts a file into one column
        expected = names is not None and width == len(names) and (width > 1 or delimiter == ",")
        if named or (share > 0.5 and (expected or width > 1)):
            score = (named, expected, share == 1.0, width, share)
            best, best_score = max((best, best_score), (delimiter, score), key=lambda scored: scored[1])
    return " " if best_score[3] <= 1 and _in_spaced_columns(lines[:200]) else best


def _in_spaced_columns(lines: list[str]) -> bool:
    """Tell whether lines hold the same number of cells, spaces between them, and some columns of numbers or dates.

    >>> _in_spaced_columns(["00001 19970101  1   11.77\\n", "00002 19970112 12  120.00\\n", "4 19970102 2 20.76\\n"])
    True
    """
    rows = [line.split() for line in lines if line.strip()]
    if len(rows) < _FEWEST_SPACED or len({len(row) for row in rows}) != 1 or len(rows[0]) < 2:
        return False
    typed = [all(_TYPED.match(row[i]) for row in rows[1:]) for i in range(len(rows[0]))]
    return sum(typed) >= 2


def title_lines(lines: list[str], delimiter: str, names: tuple[str, ...] | None) -> int:
    """Return how many lines stand above the header: a title, a date, empty ones.

    With a schema the header is the line that holds its names. Without, titles fill fewer than half of the columns that
    the lines below fill, and what follows them must look like a header: rows are never passed over as titles.
    """
    rows = [split_lines([line], delimiter, quoted=True, strip=True) for line in lines]
    cells = [row[0] if row else [] for row in rows]
    if names is not None:
        return next((i for i, row in enumerate(cells[:_MOST_TITLES]) if set(names) <= set(row)), 0)
    return title_rows(cells)


def title_rows(cells: Sequence[Sequence[str]]) -> int:
    """Return how many rows of cells stand above a header as titles.

    >>> title_rows([["Sales 2024"], [], ["who", "what", "price"], ["a", "x", "3"]])
    2
    """
    filled = [sum(bool(cell) for cell in row) for row in cells]
    usual = max(set(filled), key=lambda count: (filled.count(count), count), default=0)
    if usual < 2:
        usual = max(filled, default=0)
    at = 0
    while at < min(_MOST_TITLES, len(cells) - 1) and (
        filled[at] == 0 or (usual >= 2 and len(cells[at]) == 1) or filled[at] * 2 < usual
    ):
        at += 1
    if at == 0 or usual < 2 or filled[at] * 2 < usual:
        return 0
    below = [list(row) for row in cells[at:] if len(row) == len(cells[at])]
    return at if len(below) > 1 and detect_header(below, None) else 0


def split_lines(lines: list[str], delimiter: str, *, quoted: bool, strip: bool) -> list[list[str]]:
    """Cut lines, line ends and all, into cells; empty lines are left out."""
    if delimiter == " ":
        return [line.split() for line in lines if line.strip()]
    rows = [line.rstrip("\r\n").split(delimiter) for line in lines if line.strip()]
    if quoted:
        with contextlib.suppress(csv.Error):
            rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    return [[cell.strip() for cell in row] for row in rows] if strip else rows


_MONEY_CELL = r"^[-+(]?\s?[¥￥$€£₩₹]\s?[0-9０-９]|^[0-9０-９][0-9０-９.,，']*\s?([%％円元€£]|EUR|USD|JPY|GBP)?$"
_ERA_CELL = r"^(明治|大正|昭和|平成|令和|[MTSHR])(元|[0-9]{1,2})[年./-]"
_MONTH_CELL = r"^[0-9]{1,2}[- ][A-Za-z]{3,9}[- ][0-9]{2,4}( .*)?$|^[A-Za-z]{3,9} [0-9]{1,2},? [0-9]{4}( .*)?$"
_TYPED = re.compile(
    rf"{_MONEY_CELL}|{_ERA_CELL}|{_MONTH_CELL}|^[0-9]{{4}}年[0-9]{{1,2}}月|^[0-9]{{1,2}}:[0-9]{{2}} ?[AaPp][Mm]$|"
    rf"{NUMBER}|^\d{{1,4}}[/.-]\d{{1,2}}[/.-]\d{{1,4}}([ T].*)?$|^\d{{1,2}}:\d{{2}}(:\d{{2}})?$|^\*$|^[\[{{]"
)


def detect_header(rows: list[list[str]], names: tuple[str, ...] | None) -> bool:
    """Tell whether the first line names the columns.

    It does when it holds the names a schema expects; otherwise when no cell of it is empty, a number or a date and some
    column below it is mostly numbers or dates, or, in a table of texts, when its cells never come again.
    """
    first, rest = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    if names is not None and set(names) <= {cell.strip() for cell in first}:
        return True
    if any(_TYPED.match(cell) for cell in first):
        return False
    if not all(first) or len(set(first)) < len(first):
        # a name that is empty or repeated is still a header's when a column below its own name looks like no name
        return bool(rest) and any(name and all(_TYPED.match(row[i]) for row in rest) for i, name in enumerate(first))
    if not rest:
        return names is None
    columns = [*zip(*rest, strict=True)]
    if any(sum(bool(_TYPED.match(cell)) for cell in cells) * 2 > len(rest) for cells in columns):
        return True
    return names is None and not any(name in cells for name, cells in zip(first, columns, strict=True))


# --- cells that spreadsheets would compute ----------------------------------------------------------------------------

_FORMULA = r"^'*[=+\-@\t\r]"
_MARKED = rf"^'({_FORMULA[1:]})"
_ONLY_NUMBERS = r"^[+-][0-9.][0-9.,:/ %+-]*([eE][+-]?[0-9]+)?$"


def neutral(text: str) -> str:
    """Return a text that spreadsheets do not read as a formula: an apostrophe goes before it.

    >>> neutral("=1+1"), neutral("Team 7"), neutral("-x"), neutral("'=x")
    ("'=1+1", 'Team 7', "'-x", "''=x")
    """
    return f"'{text}" if re.match(_FORMULA, text) else text


def plain(text: str) -> str:
    """Return a text without the apostrophe that :func:`neutral` puts before it."""
    return re.sub(_MARKED, r"\1", text)


def neutral_cells(frame: pl.DataFrame) -> pl.DataFrame:
    """Return cells and names of columns that spreadsheets do not read as formulas; :func:`plain_cells` undoes it.

    Every CSV file is written through here, except in the formats of contests. Numbers and ranges of them (``-5``,
    ``-10--6``) call no function and stay.

    >>> cells = pl.DataFrame({"=x": ["=cmd()", "-5", "'@a", "b"]})
    >>> neutral_cells(cells).to_dict(as_series=False)
    {"'=x": ["'=cmd()", '-5', "''@a", 'b']}
    >>> plain_cells(neutral_cells(cells))["'=x"].equals(cells["=x"])
    True
    """
    cell = pl.col(pl.String)
    odd = cell.str.contains(_FORMULA) & ~cell.str.contains(_ONLY_NUMBERS)
    return frame.with_columns(pl.when(odd).then(cell.str.replace("^", "'")).otherwise(cell)).rename(neutral)


def plain_cells(block: pl.DataFrame) -> pl.DataFrame:
    """Return text cells without the apostrophe that marks what begins like a formula as text."""
    marked = [cells.name for cells in block if cells.str.starts_with("'").any()]
    return block.with_columns(pl.col(marked).str.replace(_MARKED, "${1}"))
