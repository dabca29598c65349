"""What compiled kernels were made of: digests of text, for an installer does not keep times. Needs Python alone."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

__all__ = ["all_sources", "source_stamp"]

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
