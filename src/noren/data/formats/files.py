"""Opening files carefully, and writing them whole or not at all.

Reading answers every way a path can disappoint (missing, a folder, forbidden, empty, damaged, a decompression bomb)
with a :class:`~noren.errors.FileError` and its cure. Writing goes to a hidden file beside the target that is renamed
when complete, so that a full disk, an error or Ctrl-C leaves nothing half-written.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from noren.errors import FileError, OutputError
from noren.i18n import _

__all__ = [
    "BOMB_BYTES",
    "BOMB_RATIO",
    "LARGEST_UNPACKED",
    "is_gzip",
    "must_be_free",
    "open_bytes",
    "read_all_bytes",
    "readable",
    "writing_file",
    "writing_folder",
]

LARGEST_UNPACKED = 64 * 2**30
"""Bytes a compressed file may unpack to before it is refused."""
BOMB_BYTES, BOMB_RATIO = 2**30, 100
"""A compressed file that unpacks to more bytes than this, and to more than this many times its size, is refused too."""


def readable(path: str | Path) -> Path:
    """Return ``path`` if it is a file we may read; say what is wrong otherwise."""
    path = Path(path)
    try:
        if path.is_dir():
            raise FileError(_("this is a folder"), _("name a file in it"), file=path)
        if path.exists() and not path.is_file():
            raise FileError(_("this is not a plain file"), _("save its content to a file first"), file=path)
        with path.open("rb"):
            pass
    except FileNotFoundError:
        raise FileError(_("there is no such file"), _("check the path"), file=path) from None
    except PermissionError:
        raise FileError(_("you may not read this file"), _("ask for permission to read it"), file=path) from None
    except (OSError, ValueError) as error:
        raise FileError(
            _("the file cannot be opened ({reason})").format(reason=_reason(error)), _("check the path"), file=path
        ) from None
    return path


def is_gzip(path: Path) -> bool:
    """Tell whether the file starts as gzip files do."""
    with path.open("rb") as file:
        return file.read(2) == b"\x1f\x8b"


@contextlib.contextmanager
def open_bytes(path: str | Path, *, largest: int = LARGEST_UNPACKED) -> Iterator[BinaryIO]:
    """Open a plain or gzip-compressed file for reading bytes; damage and bombs become a ``FileError``."""
    path = readable(path)
    try:
        with path.open("rb") as raw:
            if is_gzip(path):
                likely = max(BOMB_BYTES, BOMB_RATIO * path.stat().st_size)
                with gzip.GzipFile(fileobj=raw) as unpacked:
                    yield io.BufferedReader(_Bounded(unpacked, min(largest, likely), path))
            else:
                yield raw
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileError(
            _("the compressed file is damaged ({reason})").format(reason=error), _("get it again"), file=path
        ) from None
    except OSError as error:
        raise FileError(
            _("the file cannot be read ({reason})").format(reason=_reason(error)), _("check the disk"), file=path
        ) from None


def read_all_bytes(path: str | Path, *, largest: int = 4 * 2**30) -> bytes:
    """Return the whole content of a plain or gzip-compressed file of at most ``largest`` bytes."""
    with open_bytes(path, largest=largest) as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise _too_large(Path(path), largest)
    return content


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
            raise _too_large(self._path, self._largest)
        return count


def _too_large(path: Path, largest: int) -> FileError:
    return FileError(
        _("the file holds more than {largest:,} bytes").format(largest=largest),
        _("split it, or convert it to Parquet first"),
        file=path,
    )


@contextlib.contextmanager
def writing_file(path: str | Path, *, private: bool = False) -> Iterator[Path]:
    """Yield a hidden path beside ``path`` to write to; it takes the place of ``path`` on success alone.

    A ``private`` file can be read by its owner alone.
    """
    path = _nameable(path)
    with _saying_why(path):
        if path.is_dir():
            raise OutputError(_("{path} is a folder; name a file").format(path=path))
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        os.close(handle)
        aside = Path(name)
        try:
            yield aside
            aside.chmod(0o600 if private else 0o666 & ~_umask())
            _to_disk(aside)
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)


def must_be_free(path: str | Path, *, replace: bool = False) -> None:
    """Stop early, before long work, where a folder could not be written at the end."""
    path = Path(path)
    if path.exists() and not path.is_dir():
        raise OutputError(_("{path} is a file; name a folder").format(path=path))
    if path.exists() and any(path.iterdir()) and not replace:
        raise OutputError(
            _("{path} already holds something; name another folder, or add --force to replace it").format(path=path)
        )


@contextlib.contextmanager
def writing_folder(path: str | Path, *, replace: bool = False) -> Iterator[Path]:
    """Yield a hidden folder beside ``path`` to fill; it takes the place of ``path`` on success alone.

    A folder that holds something is not replaced unless ``replace`` says so.
    """
    path = _nameable(path)
    with _saying_why(path):
        must_be_free(path, replace=replace)
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent))
        old = aside.with_suffix(".old")
        try:
            yield aside
            aside.chmod(0o777 & ~_umask())
            for file in aside.rglob("*"):
                if file.is_file():
                    _to_disk(file)
            if path.exists():
                path.replace(old)
            aside.replace(path)
        finally:
            if old.exists() and not path.exists():
                old.replace(path)
            for left in (aside, old):
                shutil.rmtree(left, ignore_errors=True)


def _nameable(path: str | Path) -> Path:
    if "\0" in str(path):
        raise OutputError(_("{path} is no name for a file; choose another").format(path=path))
    return Path(path)


@contextlib.contextmanager
def _saying_why(path: Path) -> Iterator[None]:
    """Turn what the system says about a failed write into one line with a cure."""
    try:
        yield
    except PermissionError:
        raise OutputError(_("you may not write to {path}; choose another place").format(path=path)) from None
    except OSError as error:
        cures = {
            errno.ENOSPC: _("the disk is full; free some space and run again"),
            errno.EDQUOT: _("your disk quota is used up; free some space and run again"),
            errno.EROFS: _("the disk is read-only; choose another place"),
            errno.ENOTDIR: _("a part of the path is a file; choose another place"),
            errno.EEXIST: _("a part of the path is a file; choose another place"),
            errno.ENAMETOOLONG: _("the name is too long; choose a shorter one"),
        }
        why = cures.get(error.errno or 0, _reason(error))
        raise OutputError(_("{path} was not written: {why}").format(path=path, why=why)) from None


def _reason(error: BaseException) -> str:
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).splitlines()[0][:200]


def _to_disk(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
