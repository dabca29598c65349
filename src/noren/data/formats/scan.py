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
from dataclasses import dataclass, replace
from pathlib import Path

from noren.data.formats.files import open_bytes, readable
from noren.data.formats.parse import NUMBER
from noren.data.schema import TextLayout
from noren.errors import FileError, FormatError, ParameterError
from noren.i18n import _

__all__ = ["DELIMITERS", "ENCODINGS", "TextForm", "scan_text"]

ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8 with BOM",
    "cp932": "CP932 (Shift_JIS)",
    "iso-8859-1": "ISO-8859-1",
}
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
_CHUNK = 1 << 20
_SAMPLE = 1 << 18
_LONGEST_LINE = 1 << 23
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

    def sentence(self) -> str:
        """Say what was chosen."""
        delimiters = {",": _("comma"), ";": _("semicolon"), "\t": _("tab"), "|": _("bar")}
        return _("read as {encoding}, {delimiter}-separated, {columns} columns, {header}").format(
            encoding=ENCODINGS.get(self.encoding, self.encoding),
            delimiter=delimiters.get(self.delimiter, self.delimiter),
            columns=self.columns,
            header=_("with a header") if self.header else _("no header"),
        )


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
    sample = counts.start.decode(encoding, errors="ignore")
    lines = _LINE.findall(sample)
    if counts.total > len(counts.start) and lines and not lines[-1].endswith(("\r", "\n")):
        lines.pop()  # cut by the sample's end
    skipped = skip
    while layout.comment and skipped < len(lines) and lines[skipped].startswith(layout.comment):
        skipped += 1
    lines = lines[skipped:]
    if not any(line.strip() for line in lines):
        raise _no_rows(path, counts)
    if not lines[0].strip():
        raise FormatError(_("the line is empty"), _("remove it"), file=path, row=skipped + 1)
    quoted = quoting and counts.quotes > 0
    delimiter = layout.delimiter or _detect_delimiter(lines, names)
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


def _count_bytes(path: Path) -> _Counts:
    """Count line ends and quotes, check UTF-8, and stop at the first NUL byte."""
    total = lf = cr = crlf = quotes = 0
    start, last = b"", b""
    sampled, high, utf8 = False, False, True
    decoder = codecs.getincrementaldecoder("utf-8")()
    with open_bytes(path) as file:
        while chunk := file.read(_CHUNK):
            if total == 0 and chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise FormatError(_("this is UTF-16 text"), _("save it as UTF-8"), file=path)
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
    return _Counts(start, total, last, lf, cr, crlf, quotes, high, utf8)


def _detect_encoding(path: Path, counts: _Counts) -> str:
    if counts.utf8:
        return "utf-8-sig" if counts.start.startswith(codecs.BOM_UTF8) else "utf-8"
    return "cp932" if _is_japanese(path) else "iso-8859-1"


def _is_japanese(path: Path) -> bool:
    """Tell CP932 from ISO-8859-1.

    Western text read as CP932 fails, or shows single kanji between Latin letters; Japanese text comes in runs.
    """
    decoder = codecs.getincrementaldecoder("cp932")()
    signs = in_runs = 0
    try:
        with open_bytes(path) as file:
            while chunk := file.read(_CHUNK):
                text = decoder.decode(chunk)
                signs += len(re.findall(r"[^\x00-\x7f]", text))
                in_runs += sum(len(run) for run in re.findall(r"[^\x00-\x7f]{2,}", text))
            decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return in_runs * 2 >= signs


def _must_decode(path: Path, encoding: str) -> None:
    """Stop where the text is not what it was said to be."""
    decoder = codecs.getincrementaldecoder(encoding)()
    row = 1
    with open_bytes(path) as file:
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
    return best


def _split(lines: list[str], delimiter: str, *, quoted: bool, strip: bool) -> list[list[str]]:
    """Cut lines, line ends and all, into cells; empty lines are left out."""
    rows = [line.rstrip("\r\n").split(delimiter) for line in lines if line.strip()]
    if quoted:
        with contextlib.suppress(csv.Error):
            rows = [row for row in csv.reader(lines, delimiter=delimiter) if row]
    return [[cell.strip() for cell in row] for row in rows] if strip else rows


_TYPED = re.compile(
    rf"{NUMBER}|^\d{{1,4}}[/.-]\d{{1,2}}[/.-]\d{{1,4}}([ T].*)?$|^\d{{1,2}}:\d{{2}}(:\d{{2}})?$|^\*$|^[\[{{]"
)


def _detect_header(rows: list[list[str]], names: tuple[str, ...] | None) -> bool:
    """Tell whether the first line names the columns.

    It does when it holds the names a schema expects; otherwise when no cell of it is empty, a number or a date and some
    column below it is mostly numbers or dates, or, in a table of texts, when its cells never come again.
    """
    first, rest = rows[0], [row for row in rows[1:] if len(row) == len(rows[0])]
    if names is not None and set(names) <= set(first):
        return True
    if any(not cell or _TYPED.match(cell) for cell in first) or len(set(first)) < len(first):
        # a repeated name is still a header when nothing below looks like it
        return bool(
            rest
            and len(set(first)) < len(first)
            and all(c and not _TYPED.match(c) for c in first)
            and any(all(_TYPED.match(row[i]) for row in rest) for i in range(len(first)))
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
