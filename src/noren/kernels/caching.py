"""What compiled kernels were made of: digests of text, for an installer does not keep times. Needs Python alone.

**A place where compiled kernels are kept, also where nothing beside the program can be written.**
Numba keeps compiled code beside the source, else in the user's cache, and stops with an error where it can write to
neither: a package installed for everybody, run by somebody without a home, as containers do. Such a run keeps it in a
folder of its own among the temporary files. Compiled code is loaded as it is found, so that folder must belong to the
user and be closed to everybody else.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

_PACKAGE: Final = Path(__file__).parent
_IMPORT: Final = re.compile(rb"^from noren\.kernels\.([\w.]+) import", re.MULTILINE)


@cache
def source_stamp(source: Path) -> str:
    """Return a digest of a kernel's module and of all the kernels' modules that it imports: they are compiled into it.

    >>> source_stamp(Path(__file__)) == source_stamp(_PACKAGE / "ordered.py")
    False
    """
    files, new = set[Path](), {source}
    while new:
        files |= new
        new = {module for file in new for module in _imported(file)} - files
    return _digest(files)


def all_sources() -> str:
    """Return a digest of every kernel's module."""
    return _digest(set(_PACKAGE.rglob("*.py")))


def _digest(files: set[Path]) -> str:
    return hashlib.sha256(b"".join(_text(file) for file in sorted(files))).hexdigest()


def _imported(source: Path) -> Iterator[Path]:
    for name in _IMPORT.findall(_text(source)):
        yield _PACKAGE.joinpath(*name.decode().split(".")).with_suffix(".py")


@cache
def _text(source: Path) -> bytes:
    return source.read_bytes()


# --- A place where compiled kernels are kept, also where nothing beside the program can be written --------------------


def keep_compiled(beside: Path) -> None:
    """Tell Numba where to keep compiled code if neither ``beside`` nor the user's cache can be written."""
    if os.environ.get("NUMBA_CACHE_DIR") or _writable(beside):
        return
    if _writable(Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())):
        return
    # the user's own folder for this among the temporary files; one for this run alone if that is not theirs
    user = os.getuid() if hasattr(os, "getuid") else None
    folder = Path(tempfile.gettempdir()) / f"noren-kernels-{'own' if user is None else user}"
    with contextlib.suppress(FileExistsError):  # it is there; whose it is shows below
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    own = user is None or (status.st_uid == user and not status.st_mode & 0o077)
    if not (stat.S_ISDIR(status.st_mode) and own):
        folder = Path(tempfile.mkdtemp(prefix="noren-kernels-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ["NUMBA_CACHE_DIR"] = str(folder)  # for Numba, which reads it once, and for the processes we start
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = str(folder)


def _writable(folder: Path) -> bool:
    """Tell whether a folder can be written, or made where it is not there yet."""
    try:
        there = next((place for place in (folder, *folder.parents) if place.exists()), None)
        return there is not None and there.is_dir() and os.access(there, os.W_OK | os.X_OK)
    except OSError:
        return False
