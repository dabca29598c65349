"""Atomic writing of files and folders.

Writing goes to a hidden file beside the target that is renamed when complete, so that a full disk, an error or Ctrl-C
leaves nothing half-written. Nothing is written over an input (:func:`protect_inputs`) or through a link. A folder is
replaced only if Noren wrote all that it holds (:class:`FolderKind`).
"""

from __future__ import annotations

import contextlib
import errno
import fnmatch
import hashlib
import json
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from noren.errors import OutputError
from noren.tables import Texts, table_of

say = Texts(__name__)

_REASONS = table_of(__name__)["reason"]
_inputs: ContextVar[tuple[Path, ...]] = ContextVar("inputs", default=())


@contextlib.contextmanager
def protect_inputs(paths: Iterable[str | Path]) -> Iterator[None]:
    """Reject writing over these files and folders, the inputs, within this block."""
    token = _inputs.set((*_inputs.get(), *(Path(path) for path in paths)))
    try:
        yield
    finally:
        _inputs.reset(token)


@dataclass(frozen=True)
class FolderKind:
    """A kind of folder that Noren writes, and how it recognises its own; no other folder is ever replaced.

    A folder is its own if it holds nothing but files of these names, and the file that tells is as Noren writes it.
    What desktops leave in any folder somebody looks at does not count.

    Attributes
    ----------
    names
        Patterns of the files that such a folder may hold, as paths from it: ``secret/run.json``, ``*.svg``.
    unsigned
        Of a folder with such names alone, the file that Noren did not write so; none if it did.
    """

    names: tuple[str, ...]
    unsigned: Callable[[Path], str | None]

    def foreign(self, folder: Path) -> str | None:
        """Return something in a folder that Noren did not write, as a path from the folder; none if all is its own."""
        names = sorted(_entries(folder))
        for name in names:
            if not any(fnmatch.fnmatchcase(name, pattern) for pattern in self.names):
                return name
        return self.unsigned(folder) if names else None


def json_signature(name: str, *keys: str) -> Callable[[Path], str | None]:
    """Return the check of a :class:`FolderKind` that is known by a JSON file: an object with these keys."""

    def unsigned(folder: Path) -> str | None:
        try:
            content = json.loads((folder / name).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return name
        return None if isinstance(content, dict) and {*keys} <= content.keys() else name

    return unsigned


_LEFT_BY_DESKTOPS = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", ".directory"})


def _entries(folder: Path, before: str = "") -> Iterator[str]:
    """Yield what a folder holds, as paths from it: files, links (not what they lead to) and empty folders."""
    with os.scandir(folder) as entries:
        for entry in entries:
            name = before + entry.name
            if entry.is_dir(follow_symlinks=False):
                inside = list(_entries(Path(entry.path), f"{name}/"))
                yield from inside or [f"{name}/"]
            elif entry.name not in _LEFT_BY_DESKTOPS or entry.is_symlink():
                yield name


def require_writable(path: str | Path) -> None:
    """Stop where a file must not be written: over what is read, through a link, in place of a device or a folder."""
    with explain_write_errors(path) as path:
        _reject_link(path)
        if path.is_dir():
            raise OutputError(say("is_folder", path=path))
        if path.exists() and not path.is_file():
            raise OutputError(say("not_plain_file", path=path))
        for source in _inputs.get():
            if path.exists() and (_same(path, source) or _within(path, source)):
                raise OutputError(say("is_read", path=path))


@contextlib.contextmanager
def writing_file(path: str | Path, *, private: bool = False) -> Iterator[Path]:
    """Yield a hidden path beside ``path`` to write to; it takes the place of ``path`` on success alone.

    A ``private`` file can be read by its owner alone. What the command reads is not written over, and a link is not
    followed (:func:`require_writable`).
    """
    with explain_write_errors(path) as path:
        require_writable(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.parent / f".{path.name}.{secrets.token_hex(4)}.part"
        try:  # before it is there: Ctrl-C at any moment leaves nothing
            os.close(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            yield aside
            aside.chmod(0o600 if private else 0o666 & ~_umask())
            to_disk(aside)
            require_writable(path)
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)


def create_folder(path: str | Path) -> Path:
    """Make a folder to put single files into, beside others that may be there, and return it; not through a link."""
    with explain_write_errors(path) as path:
        _reject_link(path, folder=True)
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            return path


def require_free_path(path: str | Path, *, replace: bool | FolderKind = False) -> None:
    """Stop early, before long work, where a folder could not be written at the end.

    Parameters
    ----------
    replace
        The kind of folder that may be replaced if it holds nothing else (``--force``). True replaces any: for folders
        that Noren keeps for itself, in its cache.
    """
    with explain_write_errors(path) as path:
        _reject_link(path, folder=True)
        if not path.exists():
            return
        if replace is False and any(_entries(path)):
            raise OutputError(say("not_empty", path=path))
        for source in _inputs.get():
            if _same(path, source) or _within(source, path):
                raise OutputError(say("contains_input", path=path, input=source))
        foreign = replace.foreign(path) if isinstance(replace, FolderKind) else None
        if foreign is not None:
            raise OutputError(say("contains_foreign", path=path, name=foreign))
        if _same(path, Path.cwd()):
            raise OutputError(say("working_folder", path=path))


@contextlib.contextmanager
def writing_folder(path: str | Path, *, replace: bool | FolderKind = False) -> Iterator[Path]:
    """Yield a hidden folder beside ``path`` to fill; it takes the place of ``path`` on success alone.

    A folder that holds something is not replaced unless ``replace`` says so (:func:`require_free_path`);
    this is checked again when the new one is whole.
    """
    with explain_write_errors(path) as path:
        require_free_path(path, replace=replace)
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.parent / f".{path.name}.{secrets.token_hex(4)}.part"
        old = aside.with_suffix(".old")
        try:
            aside.mkdir(mode=0o700)
            yield aside
            aside.chmod(stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o777 & ~_umask())
            for file in aside.rglob("*"):
                if file.is_file():
                    to_disk(file)
            require_free_path(path, replace=replace)
            if path.exists():
                path.replace(old)
            aside.replace(path)
        finally:
            if old.exists() and not path.exists():
                old.replace(path)
            for left in (aside, old):
                shutil.rmtree(left, ignore_errors=True)


def _reject_link(path: Path, *, folder: bool = False) -> None:
    if path.is_symlink():
        raise OutputError(say("is_link", path=path, target=path.readlink()))
    if folder and path.exists() and not path.is_dir():
        raise OutputError(say("is_file", path=path))


def _same(path: Path, other: Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:
        return False


def _within(path: Path, folder: Path) -> bool:
    """Tell whether a path lies in a folder, wherever links lead."""
    return folder.is_dir() and folder.resolve() in path.resolve().parents


@contextlib.contextmanager
def explain_write_errors(path: str | Path) -> Iterator[Path]:
    """Turn a system error about writing to a path, which is yielded, into one line with a remedy."""
    if "\0" in str(path):
        raise OutputError(say("bad_name", path=path))
    try:
        yield Path(path)
    except OSError as error:
        if isinstance(error, PermissionError) or error.errno == errno.EROFS:
            raise OutputError(say("forbidden", path=path)) from None
        if error.errno == errno.ENAMETOOLONG:
            raise OutputError(say("bad_name", path=path)) from None
        name = errno.errorcode.get(error.errno or 0)
        why = say(f"reason.{name}") if name in _REASONS else reason_of(error)
        raise OutputError(say("not_written", path=path, why=why)) from None


def reason_of(error: BaseException) -> str:
    """Return what an error says, on one short line."""
    text = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return str(text).splitlines()[0][:200]


def to_disk(path: Path) -> None:
    """Make a file, or the names in a folder, last through a power cut."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
