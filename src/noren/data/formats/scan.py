"""What kind of text a file holds: encoding, line ends, delimiter, header; and a sentence that says so.

One pass over the bytes finds what no later stage should trip over: NUL bytes, an encoding that does not hold to the
end, an unclosed quote. What was detected is said (:meth:`TextForm.sentence`), never assumed in silence.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from noren.data.formats.files import open_bytes, readable
from noren.data.formats.numbers import NUMBER
from noren.data.schema import TextLayout
from noren.errors import FileError, FormatError, ParameterError
from noren.i18n import _

__all__ = ["DELIMITERS", "ENCODINGS", "TextForm", "scan_text", "title_rows"]

ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8 with BOM",
    "utf-16": "UTF-16",
    "cp932": "CP932 (Shift_JIS)",
    "euc_jp": "EUC-JP",
    "cp1252": "Windows-1252",
    "iso-8859-1": "ISO-8859-1",
}
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_FEWEST_SPACED = 3
_CHUNK = 1 << 20
_SAMPLE = 1 << 18
_LONGEST_LINE = 1 << 23
_MOST_TITLES = 20
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LINE_END = re.compile(rb"[\r\n]")
_GENERALISED = re.compile(r"\{[^{}\r\n]*\}|\[[^\[\]\r\n]*\]")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


@dataclass(frozen=True)
class TextForm:
    """How a text file is laid out, and whether that was told or detected."""

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
    detected: bool = True
    titles: int = 0
    """How many of the skipped lines stand above a header and belong to no row."""

    def sentence(self) -> str:
        """Say what was chosen."""
        delimiters = {",": _("comma"), ";": _("semicolon"), "\t": _("tab"), "|": _("bar"), " ": _("space")}
        said = _("read as {encoding}, {delimiter}-separated, {columns} columns, {header}").format(
            encoding=ENCODINGS.get(self.encoding, self.encoding),
            delimiter=delimiters.get(self.delimiter, self.delimiter),
            columns=self.columns,
            header=_("with a header") if self.header else _("no header"),
        )
        if self.titles:
            said = _("{said}; lines above the table passed over: {count}").format(said=said, count=self.titles)
        return said


def scan_text(
    path: str | Path,
    layout: TextLayout | None = None,
    names: tuple[str, ...] | None = None,
    *,
    quoting: bool = True,
    skip: int = 0,
) -> TextForm:
    """Look at a whole text file once and return its form.

    Parameters
    ----------
    path
        A plain or gzip-compressed text file.
    layout
        What is known beforehand; only the rest is detected.
    names
        The column names a schema expects: a first line that holds them is a header.
    quoting
        Whether a double quote at the start of a cell lets it hold delimiters and line ends.
    skip
        How many lines at the top belong to no row.
    """
    path = readable(path)
    layout = layout or TextLayout()
    counts = _count_bytes(path)
    if counts.total == 0:
        raise FileError(_("the file is empty"), _("give a file with at least one row"), file=path)
    encoding = (layout.encoding or _detect_encoding(path, counts)).lower()
    encoding = _SAME_ENCODINGS.get(encoding, encoding)
    if encoding not in ENCODINGS:
        raise ParameterError(
            _("the encoding {encoding!r} is not supported").format(encoding=encoding),
            _("use one of {known}").format(known=", ".join(ENCODINGS)),
            file=path,
        )
    if layout.encoding and not (counts.utf8 and encoding.startswith("utf-8")):
        _must_decode(path, encoding)
    if encoding == "utf-8" and counts.start.startswith(codecs.BOM_UTF8):
        encoding = "utf-8-sig"
    sample = counts.start.decode("utf-8-sig" if counts.utf16 else encoding, errors="ignore")
    lines = _LINE.findall(sample)
    if counts.total > len(counts.start) and lines and not lines[-1].endswith(("\r", "\n")):
        lines.pop()  # cut by the sample's end
    skipped = skip
    while layout.comment and skipped < len(lines) and lines[skipped].startswith(layout.comment):
        skipped += 1
    lines = lines[skipped:]
    if not any(line.strip() for line in lines):
        raise _no_rows(path, counts)
    if not quoting and not lines[0].strip():
        raise FormatError(_("the line is empty"), _("remove it"), file=path, row=skipped + 1)
    quoted = quoting and counts.quotes > 0
    filled = next(i for i, line in enumerate(lines) if line.strip())
    delimiter = layout.delimiter or _detect_delimiter(lines[filled:], names)
    titles = filled
    if quoting and layout.header is not False:
        titles += _title_lines(lines[filled : filled + 200], delimiter, names)
    lines = lines[titles:]
    skipped += titles
    if quoted and counts.quotes % 2:
        _stop_at_open_quote(path, encoding, delimiter, skipped)
    rows = _split(lines[:1000], delimiter, quoted=quoted, strip=layout.strip)
    form = TextForm(
        encoding=encoding,
        delimiter=delimiter,
        header=False,
        newline="\r\n" if counts.crlf else "\r" if counts.cr and not counts.lf else "\n",
        final_newline=counts.last in (b"\n", b"\r"),
        quoted=quoted,
        columns=len(rows[0]),
        first_line=tuple(rows[0]),
        skipped_lines=skipped,
        titles=titles,
        mixed_newlines=counts.lf + counts.cr - counts.crlf
        != max(counts.crlf, counts.lf - counts.crlf, counts.cr - counts.crlf),
        detected=None in (layout.encoding, layout.delimiter, layout.header),
    )
    header = layout.header if layout.header is not None else _detect_header(rows, names)
    return replace(form, header=header)


def _no_rows(path: Path, counts: _Counts) -> FileError | FormatError:
    if counts.total > len(counts.start) and not _LINE_END.search(counts.start):
        return FormatError(
            _("the first line holds more than {count:,} bytes").format(count=len(counts.start)),
            _("check for a missing line end"),
            file=path,
            row=1,
        )
    return FileError(
        _("the file holds no rows in its first {count:,} bytes").format(count=len(counts.start)),
        _("give a file with at least one row"),
        file=path,
    )


@dataclass(frozen=True)
class _Counts:
    start: bytes
    total: int
    last: bytes
    lf: int
    cr: int
    crlf: int
    quotes: int
    high: bool
    utf8: bool
    utf16: bool


def _count_bytes(path: Path) -> _Counts:
    """Count line ends and quotes, check UTF-8, and stop at the first NUL byte."""
    total = lf = cr = crlf = quotes = 0
    start, last = b"", b""
    sampled, high, utf8 = False, False, True
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open_bytes(path) as file:
        utf16 = file.peek(2).startswith(_UTF16_MARKS) if hasattr(file, "peek") else False
        for chunk in _utf16_as_utf8(file, path) if utf16 else iter(lambda: file.read(_CHUNK), b""):
            nul = chunk.find(b"\0")
            if nul >= 0:
                row = lf + chunk[:nul].count(b"\n") + 1
                raise FormatError(
                    _("there is a NUL byte at byte {at:,}").format(at=total + nul + 1),
                    _("this is a binary or damaged file; export it again as text"),
                    file=path,
                    row=row,
                )
            if not sampled:
                start += chunk
                end = _LINE_END.search(start)
                sampled = (end is not None and len(start) >= _SAMPLE) or len(start) >= _LONGEST_LINE
                if sampled and end is not None and end.start() < _SAMPLE // 2:
                    start = start[:_SAMPLE]
            returns = chunk.count(b"\r")
            lf += chunk.count(b"\n")
            if returns or last == b"\r":
                cr += returns
                crlf += chunk.count(b"\r\n") + (last == b"\r" and chunk.startswith(b"\n"))
            quotes += chunk.count(b'"')
            if not chunk.isascii() or high:
                high = True
                if utf8:
                    try:
                        decoder.decode(chunk)
                    except UnicodeDecodeError:
                        utf8 = False
            total += len(chunk)
            last = chunk[-1:]
    if high and utf8:
        try:
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            utf8 = False
    return _Counts(start, total, last, lf, cr, crlf, quotes, high, utf8, utf16)


def _utf16_as_utf8(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """Yield UTF-16 text in the encoding that is counted by."""
    decoder = codecs.getincrementaldecoder("utf-16")()
    row = 1
    try:
        while chunk := file.read(_CHUNK):
            text = decoder.decode(chunk)
            row += text.count("\n")
            if text:
                yield text.encode()
        decoder.decode(b"", final=True)
    except UnicodeError:
        raise FormatError(
            _("the bytes are not {encoding}").format(encoding="UTF-16"), _("save it as UTF-8"), file=path, row=row
        ) from None


def _detect_encoding(path: Path, counts: _Counts) -> str:
    if counts.utf16:
        return "utf-16"
    if counts.utf8:
        return "utf-8-sig" if counts.start.startswith(codecs.BOM_UTF8) else "utf-8"
    return _japanese_encoding(path) or _western_encoding(path)


def _japanese_encoding(path: Path) -> str | None:
    """Tell CP932 and EUC-JP from each other and from Western text.

    Western text read as either fails, or shows single kanji between Latin letters; Japanese text comes in runs. EUC-JP
    read as CP932 is a row of half-width kana, which people write seldom.
    """
    cp932, euc = _signs(path, "cp932"), _signs(path, "euc_jp")
    if euc is not None and euc.in_runs * 2 >= euc.signs and (cp932 is None or cp932.half_width * 2 > cp932.signs):
        return "euc_jp"
    return "cp932" if cp932 is not None and cp932.in_runs * 2 >= cp932.signs else None


@dataclass(frozen=True)
class _Signs:
    """How many signs of a text are not ASCII, how many of them stand in runs, how many are half-width kana."""

    signs: int
    in_runs: int
    half_width: int


def _signs(path: Path, encoding: str) -> _Signs | None:
    """Count the signs of a file in an encoding; nothing where it is not in it."""
    decoder = codecs.getincrementaldecoder(encoding)()
    signs = in_runs = half_width = 0
    try:
        with open_bytes(path) as file:
            while chunk := file.read(_CHUNK):
                text = decoder.decode(chunk)
                signs += len(re.findall(r"[^\x00-\x7f]", text))
                in_runs += sum(len(run) for run in re.findall(r"[^\x00-\x7f]{2,}", text))
                half_width += len(re.findall(r"[\uff61-\uff9f]", text))
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return None
    return _Signs(signs, in_runs, half_width)


def _western_encoding(path: Path) -> str:
    """Tell Windows' own signs (the euro, curly quotes, dashes), which ISO-8859-1 has controls for, from ISO-8859-1."""
    with open_bytes(path) as file:
        while chunk := file.read(_CHUNK):
            if re.search(rb"[\x80-\x9f]", chunk):
                return "cp1252" if _signs(path, "cp1252") is not None else "iso-8859-1"
    return "iso-8859-1"


def _must_decode(path: Path, encoding: str) -> None:
    """Stop where the text is not what it was said to be."""
    decoder = codecs.getincrementaldecoder(encoding)()
    row = 1
    with open_bytes(path) as file:
        if encoding == "utf-16" and not file.peek(2).startswith(_UTF16_MARKS):  # type: ignore[attr-defined]
            raise FormatError(
                _("the bytes are not {encoding}").format(encoding=ENCODINGS[encoding]),
                _("name the right encoding, or leave it out to have it detected"),
                file=path,
                row=1,
            )
        while True:
            chunk = file.read(_CHUNK)
            try:
                text = decoder.decode(chunk, final=not chunk)
            except UnicodeDecodeError as error:
                bad = error.object[error.start : error.end]
                row += error.object[: error.start].count(b"\n")
                raise FormatError(
                    _("the bytes are not {encoding}").format(encoding=ENCODINGS[encoding]),
                    _("name the right encoding, or leave it out to have it detected"),
                    file=path,
                    row=row,
                    value=bad.hex(" "),
                ) from None
            row += text.count("\n")
            if not chunk:
                return


def _stop_at_open_quote(path: Path, encoding: str, delimiter: str, skipped: int) -> None:
    """Stop at a quote that is never closed: it would swallow the rest of the file."""
    last = "end of file"
    row = skipped
    with open_bytes(path) as raw:
        text = io.TextIOWrapper(raw, encoding=encoding, newline="")
        try:
            rows = csv.reader(itertools.chain(itertools.islice(text, skipped, None), [last]), delimiter=delimiter)
            for cells in rows:
                if cells == [last]:
                    return
                row += 1
        except csv.Error:
            row += 1  # a cell past all bounds
        finally:
            text.detach()
    raise FormatError(
        _("a double quote opens a cell and is never closed"),
        _("close it, or write it twice where it belongs to the text"),
        file=path,
        row=row,
    )


def _detect_delimiter(lines: list[str], names: tuple[str, ...] | None) -> str:
    """Choose the delimiter that cuts the sample into the columns a schema expects, else evenly into the most."""
    best, best_score = ",", (False, False, False, 0, 0.0)
    for delimiter in DELIMITERS:
        # the semicolons of [a;b] and {a;b} separate no columns
        cut = [_GENERALISED.sub("*", line) for line in lines[:200]] if delimiter == ";" else lines[:200]
        rows = _split(cut, delimiter, quoted=True, strip=False)
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


def _title_lines(lines: list[str], delimiter: str, names: tuple[str, ...] | None) -> int:
    """Return how many lines stand above the header: a title, a date, empty ones.

    With a schema the header is the line that holds its names. Without, titles fill fewer than half of the columns that
    the lines below fill, and what follows them must look like a header: rows are never passed over as titles.
    """
    rows = [_split([line], delimiter, quoted=True, strip=True) for line in lines]
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
    return at if len(below) > 1 and _detect_header(below, None) else 0


def _split(lines: list[str], delimiter: str, *, quoted: bool, strip: bool) -> list[list[str]]:
    """Cut lines, line ends and all, into cells; empty lines are left out."""
    if delimiter == " ":
        return [line.split() for line in lines if line.strip()]
    rows = [line.rstrip("\r\n").split(delimiter) for line in lines if line.strip()]
    if quoted:
        with contextlib.suppress(csv.Error):
            rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    return [[cell.strip() for cell in row] for row in rows] if strip else rows


_SAME_ENCODINGS = {
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "ms932", "windows-31j"), "cp932"),
    **dict.fromkeys(("euc-jp", "eucjp"), "euc_jp"),
    **dict.fromkeys(("latin-1", "latin1", "iso8859-1"), "iso-8859-1"),
    **dict.fromkeys(("windows-1252",), "cp1252"),
    **dict.fromkeys(("utf8",), "utf-8"),
    **dict.fromkeys(("utf16",), "utf-16"),
}
_MONEY_CELL = r"^[-+(]?\s?[¥￥$€£₩₹]\s?[0-9０-９]|^[0-9０-９][0-9０-９.,，']*\s?([%％円元€£]|EUR|USD|JPY|GBP)?$"
_ERA_CELL = r"^(明治|大正|昭和|平成|令和|[MTSHR])(元|[0-9]{1,2})[年./-]"
_MONTH_CELL = r"^[0-9]{1,2}[- ][A-Za-z]{3,9}[- ][0-9]{2,4}( .*)?$|^[A-Za-z]{3,9} [0-9]{1,2},? [0-9]{4}( .*)?$"
_TYPED = re.compile(
    rf"{_MONEY_CELL}|{_ERA_CELL}|{_MONTH_CELL}|^[0-9]{{4}}年[0-9]{{1,2}}月|^[0-9]{{1,2}}:[0-9]{{2}} ?[AaPp][Mm]$|"
    rf"{NUMBER}|^\d{{1,4}}[/.-]\d{{1,2}}[/.-]\d{{1,4}}([ T].*)?$|^\d{{1,2}}:\d{{2}}(:\d{{2}})?$|^\*$|^[\[{{]"
)


def _detect_header(rows: list[list[str]], names: tuple[str, ...] | None) -> bool:
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
        return (
            bool(rest)
            and any(first)
            and any(name and all(_TYPED.match(row[i]) for row in rest) for i, name in enumerate(first))
        )
    if not rest:
        return names is None
    for i in range(len(first)):
        typed = sum(bool(_TYPED.match(row[i])) for row in rest)
        if typed * 2 > len(rest):
            return True
    if names is not None:
        return False
    return all(first[i] not in {row[i] for row in rest} for i in range(len(first)))
