"""Input files, examined once and passed on: a file that may be compressed, or a folder of Parquet files.

:meth:`Source.open` answers every way a path can disappoint (missing, a folder, forbidden, empty, damaged, a
decompression bomb) with a :class:`~noren.errors.FileError` and its cure, and tells from the first bytes what kind of
file it is. Of a text one pass over the bytes finds what no later stage should trip over: NUL bytes, an encoding that
does not hold to the end, an unclosed quote. The results are cached in the source: later stages open it to read rows
and for nothing else.

How much a file unpacks to is told before it is read (:func:`limit_decoded_size`): 22 MB of Parquet can hold 200 million
rows. A file is small on disk and large in memory where its rows repeat. The size that counts is the decoded one: rows
times the widths of their types. It is read off a Parquet file's own tables, a workbook's directory or a compressed
file's stream, without decoding a cell, so whoever takes files from others (the studio) can refuse one in time.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import gzip
import io
import itertools
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from noren.data.formats.files import reason_of
from noren.data.formats.text_layout import (
    ENCODINGS,
    SAME_ENCODINGS,
    TextForm,
    detect_delimiter,
    detect_header,
    plain,
    split_lines,
    title_lines,
)
from noren.data.schema import TextLayout
from noren.errors import FileError, FormatError, NorenError, ParameterError
from noren.tables import Texts

say = Texts(__name__)

LARGEST_UNPACKED = 64 * 2**30
"""Bytes a compressed file may unpack to before it is refused."""
BOMB_BYTES, BOMB_RATIO = 2**30, 100
"""A compressed file that unpacks to more bytes than this, and to more than this many times its size, is refused too."""
OLE, ZIP = b"\xd0\xcf\x11\xe0", b"PK\x03\x04"
"""How workbooks start: old ones, and archives."""
_CHUNK = 1 << 20
_SAMPLE = 1 << 18
_LONGEST_LINE = 1 << 23
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LINE_END = re.compile(rb"[\r\n]")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")

Result = TypeVar("Result")


class Source:
    """An input file, or a folder of Parquet files, opened and looked at once.

    Attributes
    ----------
    path
        Where it is.
    kind
        ``text``, ``parquet`` or ``excel`` (a workbook of any make), by its first bytes and, where these do not tell,
        by its name.
    compressed
        Whether it is packed by gzip.
    size
        Bytes on disk; 0 for a folder.
    """

    def __init__(self, path: Path, head: bytes, size: int) -> None:
        self.path, self.head, self.size = path, head, size
        suffix = path.suffix.lower()
        # a file starts as workbooks do, or is named as one; text that is named .xls is text
        workbook = head.startswith(OLE) or suffix in (".xlsx", ".xlsm")
        workbook |= suffix in (".xls", ".ods") and head.lstrip().startswith(b"<")
        if head.startswith(ZIP):
            workbook = suffix not in (".csv", ".tsv", ".txt", ".parquet")
        self.kind: Literal["text", "parquet", "excel"] = (
            "parquet" if head.startswith(b"PAR1") else "excel" if workbook else "text"
        )
        self.compressed = head.startswith(b"\x1f\x8b")
        self._cache: dict[object, Any] = {}

    @classmethod
    def open(cls, source: SourceLike) -> Source:
        """Look at a file that we may read, or a folder of Parquet files; say what is wrong otherwise.

        The folder of a release is none: it holds what must not be mixed.
        """
        if isinstance(source, Source):
            return source
        path = Path(source)
        if path.is_dir() and not (path / "statement.json").exists() and any(path.rglob("*.parquet")):
            return cls(path, b"PAR1", 0)
        with _opened(path) as file:
            return cls(path, file.read(8), os.fstat(file.fileno()).st_size)

    def __repr__(self) -> str:
        return f"Source({str(self.path)!r}, {self.kind})"

    def once(self, key: object, compute: Callable[[], Result]) -> Result:
        """Return the result of ``compute`` for this source; later calls with the same ``key`` get the cached result."""
        if key not in self._cache:
            self._cache[key] = compute()
        result: Result = self._cache[key]
        return result

    @contextlib.contextmanager
    def unpacked(self, *, largest: int = LARGEST_UNPACKED) -> Iterator[BinaryIO]:
        """Open a plain or gzip-compressed file for reading bytes; damage and bombs become a ``FileError``."""
        path = self.path
        try:
            with _opened(path) as raw:
                if self.compressed:
                    likely = max(BOMB_BYTES, BOMB_RATIO * self.size)
                    with gzip.GzipFile(fileobj=raw) as unpacked:
                        yield io.BufferedReader(_Bounded(unpacked, min(largest, likely), path))
                else:
                    yield raw
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise FileError(say("compressed_file_damaged", reason=error), file=path) from None
        except OSError as error:
            raise FileError(say("cannot_read", reason=reason_of(error)), file=path) from None

    @cached_property
    def _counts(self) -> _Counts:
        """Line ends and quotes, and whether the text is UTF-8; stops at the first NUL byte."""
        total = lf = cr = crlf = quotes = 0
        start, last = b"", b""
        sampled, high, utf8 = False, False, True
        decoder = codecs.getincrementaldecoder("utf-8")()
        with self.unpacked() as file:
            utf16 = file.peek(2).startswith(_UTF16_MARKS) if hasattr(file, "peek") else False
            for chunk in _utf16_as_utf8(file, self.path) if utf16 else iter(lambda: file.read(_CHUNK), b""):
                nul = chunk.find(b"\0")
                if nul >= 0:
                    row = lf + chunk[:nul].count(b"\n") + 1
                    raise FormatError(say("nul_byte", at=total + nul + 1), file=self.path, row=row)
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
                high = high or not chunk.isascii()
                if high and utf8:
                    utf8 = _decodes(decoder, chunk)
                total += len(chunk)
                last = chunk[-1:]
        utf8 = utf8 and (not high or _decodes(decoder, b"", final=True))
        return _Counts(start, total, last, lf, cr, crlf, quotes, utf8, utf16)

    @cached_property
    def _encoding(self) -> str:
        """The encoding that all bytes of a text are in, as they look.

        Western text read as Japanese fails, or shows single kanji between Latin letters; Japanese text comes in runs.
        EUC-JP read as CP932 is a row of half-width kana, which people write seldom. Windows has signs of its own (the
        euro, curly quotes, dashes), which ISO-8859-1 has controls for.
        """
        if self._counts.utf16:
            return "utf-16"
        if self._counts.utf8:
            return "utf-8-sig" if self._counts.start.startswith(codecs.BOM_UTF8) else "utf-8"
        cp932, euc = _signs(self, "cp932"), _signs(self, "euc_jp")
        if euc is not None and euc[0] and (cp932 is None or cp932[1]):
            return "euc_jp"
        if cp932 is not None and cp932[0]:
            return "cp932"
        with self.unpacked() as file:
            windows = any(re.search(rb"[\x80-\x9f]", chunk) for chunk in iter(lambda: file.read(_CHUNK), b""))
        return "cp1252" if windows and _signs(self, "cp1252") is not None else "iso-8859-1"

    def text_form(
        self,
        layout: TextLayout | None = None,
        names: tuple[str, ...] | None = None,
        *,
        quoting: bool = True,
        skip: int = 0,
    ) -> TextForm:
        """Return the layout of a text file; its bytes are examined once, however often this is called.

        Parameters
        ----------
        layout
            What is known beforehand; only the rest is detected.
        names
            The column names a schema expects: a first line that holds them is a header.
        quoting
            Whether a double quote at the start of a cell lets it hold delimiters and line ends.
        skip
            How many lines at the top belong to no row.
        """
        layout = layout or TextLayout()
        key = ("form", layout, names, quoting, skip)
        if key in self._cache:
            cached: TextForm = self._cache[key]
            return cached
        path, counts = self.path, self._counts
        if counts.total == 0:
            raise FileError(say("empty"), file=path)
        encoding = (layout.encoding or self._encoding).lower()
        encoding = SAME_ENCODINGS.get(encoding, encoding)
        if encoding not in ENCODINGS:
            message = say("encoding_not_supported", encoding=encoding, known=", ".join(ENCODINGS))
            raise ParameterError(message, file=path)
        if layout.encoding and not (counts.utf8 and encoding.startswith("utf-8")):
            self.once(("decodes", encoding), lambda: _reject_wrong_encoding(self, encoding))
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
            if counts.total > len(counts.start) and not _LINE_END.search(counts.start):
                raise FormatError(say("row_too_long", size=len(counts.start)), file=path, row=1)
            raise FileError(say("no_rows"), file=path)
        if not quoting and not lines[0].strip():
            raise FormatError(say("empty_line"), file=path, row=skipped + 1)
        quoted = quoting and counts.quotes > 0
        filled = next(i for i, line in enumerate(lines) if line.strip())
        delimiter = layout.delimiter or detect_delimiter(lines[filled:], names)
        titles = filled
        if quoting and layout.header is not False:
            titles += title_lines(lines[filled : filled + 200], delimiter, names)
        lines = lines[titles:]
        skipped += titles
        if quoted and counts.quotes % 2:
            _reject_open_quote(self, encoding, delimiter, skipped)
        rows = split_lines(lines[:1000], delimiter, quoted=quoted, strip=layout.strip)
        if quoting:
            rows[0] = [plain(cell) for cell in rows[0]]
        self._cache[key] = form = TextForm(
            encoding=encoding,
            delimiter=delimiter,
            header=layout.header if layout.header is not None else detect_header(rows, names),
            newline="\r\n" if counts.crlf else "\r" if counts.cr and not counts.lf else "\n",
            final_newline=counts.last in (b"\n", b"\r"),
            quoted=quoted,
            columns=len(rows[0]),
            first_line=tuple(rows[0]),
            skipped_lines=skipped,
            titles=titles,
            neutralised=quoting,
            mixed_newlines=counts.lf + counts.cr - counts.crlf
            != max(counts.crlf, counts.lf - counts.crlf, counts.cr - counts.crlf),
        )
        return form


SourceLike = str | PathLike[str] | Source
"""What :meth:`Source.open` takes: a path, or what it returned."""


def require_readable(path: str | Path) -> Path:
    """Return ``path`` if it is a file we may read; say what is wrong otherwise."""
    with _opened(Path(path)):
        return Path(path)


def read_all_bytes(source: SourceLike, *, largest: int = 4 * 2**30) -> bytes:
    """Return the whole content of a plain or gzip-compressed file of at most ``largest`` bytes."""
    source = Source.open(source)
    with source.unpacked(largest=largest) as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise FileError(say("decodes_to_more", most=largest), file=source.path)
    return content


def _opened(path: Path) -> BinaryIO:
    try:
        if path.is_dir():
            raise FileError(say("is_folder"), file=path)
        if path.exists() and not path.is_file():
            raise FileError(say("not_plain_file"), file=path)
        return path.open("rb")
    except FileNotFoundError:
        raise FileError(say("no_such_file"), file=path) from None
    except PermissionError:
        raise FileError(say("forbidden"), file=path) from None
    except (OSError, ValueError) as error:
        raise FileError(say("cannot_read", reason=reason_of(error)), file=path) from None


class _Bounded(io.RawIOBase):
    """A byte stream that refuses to give more than ``largest`` bytes."""

    def __init__(self, inner: gzip.GzipFile, largest: int, path: Path) -> None:
        self._inner, self._left, self._largest, self._path = inner, largest, largest, path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        count = self._inner.readinto(buffer)
        self._left -= count
        if self._left < 0:
            raise FileError(say("decodes_to_more", most=self._largest), file=self._path)
        return count


@dataclass(frozen=True)
class _Counts:
    start: bytes
    total: int
    last: bytes
    lf: int
    cr: int
    crlf: int
    quotes: int
    utf8: bool
    utf16: bool


def _decodes(decoder: codecs.IncrementalDecoder, chunk: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(chunk, final)
    except UnicodeDecodeError:
        return False
    return True


def _decoded(file: BinaryIO, encoding: str) -> Iterator[str]:
    """Yield the text of a file chunk by chunk; a ``UnicodeDecodeError`` where it is not in the encoding."""
    decoder = codecs.getincrementaldecoder(encoding)()
    while chunk := file.read(_CHUNK):
        yield decoder.decode(chunk)
    decoder.decode(b"", final=True)


def _utf16_as_utf8(file: BinaryIO, path: Path) -> Iterator[bytes]:
    """Yield UTF-16 text in the encoding that is counted by."""
    row = 1
    try:
        for text in _decoded(file, "utf-16"):
            row += text.count("\n")
            if text:
                yield text.encode()
    except UnicodeError:
        raise FormatError(say("wrong_encoding", encoding="UTF-16"), file=path, row=row) from None


def _signs(source: Source, encoding: str) -> tuple[bool, bool] | None:
    """Tell whether most signs of a file beyond ASCII stand in runs, and whether most of them are half-width kana.

    None where it is not in the encoding.
    """
    signs = in_runs = half_width = 0
    try:
        with source.unpacked() as file:
            for text in _decoded(file, encoding):
                signs += len(re.findall(r"[^\x00-\x7f]", text))
                in_runs += sum(len(run) for run in re.findall(r"[^\x00-\x7f]{2,}", text))
                half_width += len(re.findall(r"[\uff61-\uff9f]", text))
    except UnicodeDecodeError:
        return None
    return in_runs * 2 >= signs, half_width * 2 > signs


def _reject_wrong_encoding(source: Source, encoding: str) -> None:
    """Stop where the text is not in the encoding."""
    row, message = 1, say("wrong_encoding", encoding=ENCODINGS[encoding])
    with source.unpacked() as file:
        if encoding == "utf-16" and not file.peek(2).startswith(_UTF16_MARKS):  # type: ignore[attr-defined]
            raise FormatError(message, file=source.path, row=1)
        try:
            for text in _decoded(file, encoding):
                row += text.count("\n")
        except UnicodeDecodeError as error:
            row += error.object[: error.start].count(b"\n")
            bad = error.object[error.start : error.end].hex(" ")
            raise FormatError(message, file=source.path, row=row, value=bad) from None


def _reject_open_quote(source: Source, encoding: str, delimiter: str, skipped: int) -> None:
    """Stop at a quote that is never closed: it would swallow the rest of the file."""
    last = "end of file"
    row = skipped
    with source.unpacked() as raw:
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
    raise FormatError(say("open_quote"), file=source.path, row=row)


@contextlib.contextmanager
def explain_damage(path: Path, form: str) -> Iterator[None]:
    """Turn an error of a native reader about a damaged file into one line with a remedy."""
    try:
        yield
    except NorenError:
        raise
    except BaseException as error:
        # the readers are Rust code in part: a panic on a damaged file must not pass for an interrupt
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        reason = (str(error).splitlines() or [type(error).__name__])[0][:160]
        raise FileError(say("damaged", form=form, reason=reason), file=path) from None


# --- how much it unpacks to ------------------------------------------------------------------------------------------

LARGEST_DECODED = 256 * 2**30
"""Bytes that a file may take once it is decoded; more is a bomb on any machine that reads a file whole."""

_VIEW = 16
"""Bytes that each text takes in memory besides its letters."""


class DecodedSizeError(FileError):
    """A file that is larger than it may be once it is decoded."""


def decoded_size(source: SourceLike, *, most: int = LARGEST_DECODED) -> tuple[int, int | None]:
    """Return the bytes that a file decodes to, and its rows where it tells them; counting stops past ``most`` bytes.

    Parquet takes rows times the widths of their types, or what the groups of rows unpack to if that is more. What a
    damaged file says of the columns of a group is not asked: Arrow ends the process over it.
    """
    source = Source.open(source)
    path = source.path
    if source.kind == "parquet":
        total = rows = 0
        for part in sorted(path.rglob("*.parquet")) if path.is_dir() else [path]:
            with explain_damage(part, "Parquet"), pq.ParquetFile(part) as file:
                about = file.metadata
                width = sum(_width(field.type) for field in file.schema_arrow)
                pages = sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups))
                # a dictionary repeats its texts for free in the file, and in memory they are views of it
                total += max(about.num_rows * max(width, 1), pages)
                rows += about.num_rows
        return total, rows
    if source.kind == "excel" and zipfile.is_zipfile(path):
        with explain_damage(path, "Excel"), zipfile.ZipFile(path) as archive:
            return sum(member.file_size for member in archive.infolist()), None
    if source.kind == "excel" or not source.compressed:
        return source.size, None
    total = 0
    with source.unpacked(largest=2 * most + _CHUNK) as file:
        while (chunk := file.read(_CHUNK)) and total <= most:
            total += len(chunk)
    return total, None


def limit_decoded_size(source: SourceLike, largest: int = LARGEST_DECODED) -> None:
    """Stop at a file that would take more than ``largest`` bytes once it is decoded."""
    source = Source.open(source)
    size, _rows = decoded_size(source, most=largest)
    if size > largest:
        raise DecodedSizeError(say("decodes_to_more", most=largest), file=source.path)


def _width(kind: pa.DataType) -> int:
    """Return the bytes that a value takes in memory, those of its parts together."""
    if isinstance(kind, pa.DictionaryType):
        kind = kind.value_type
    elif kind.num_fields:
        return sum(_width(kind.field(i).type) for i in range(kind.num_fields))
    try:
        return max(1, int(kind.bit_width) // 8)
    except ValueError:  # texts and bytes
        return _VIEW
