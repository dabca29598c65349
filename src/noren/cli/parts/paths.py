"""Which paths a command reads and which it writes, so that nothing that is read is ever written over.

Every path that a command is given is one that it reads, unless it is listed here. A forgotten one is thus kept rather
than lost, and a test goes through all commands and asks of each path which it is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from noren.data.formats.files import keeping, must_be_writable
from noren.errors import OutputError
from noren.i18n import _

__all__ = ["READ", "WORKED_IN", "WRITTEN", "guarded", "is_written"]

WRITTEN = frozenset({"out", "target", "page", "cells", "chart"})
"""Names of options and arguments that a command writes to."""
WORKED_IN = frozenset({"ledger", "cache", "data_dir"})
"""Folders that Noren keeps for itself: it reads them and adds to them."""
READ = frozenset(
    {
        *("original", "release", "releases", "source", "file", "names", "known", "guess", "sweep", "chain", "master"),
        *("control", "table", "categories", "against", "phases", "files", "data", "facts", "card_from"),
    }
)
"""The others; a test asks that a new one is named in one of these lists."""
_ALSO_WRITTEN = frozenset({("sample", "master")})


def is_written(command: str, name: str) -> bool:
    """Tell whether a command, such as ``ledger add``, writes to the path of this name."""
    return name in WRITTEN or (command, name) in _ALSO_WRITTEN


@contextlib.contextmanager
def guarded(command: str, given: Mapping[str, Any], words: Sequence[str] = ()) -> Iterator[None]:
    """Keep what a command reads for as long as it runs; stop at once where it would write over that or through a link.

    Parameters
    ----------
    given
        Its options and arguments by name.
    words
        Further words, parameters of methods, which may name files.
    """
    read: list[Path] = []
    written: dict[Path, str] = {}
    for name, value in given.items():
        for path in _paths(value):
            if is_written(command, name):
                if path in written:
                    raise OutputError(
                        _("{path} is named twice, by {one} and {other}; name another file").format(
                            path=path, one=_flag(written[path]), other=_flag(name)
                        )
                    )
                written[path] = name
            elif name not in WORKED_IN:
                read.append(path)
    texts = [value for value in (*given.values(), *words) if isinstance(value, str)]
    parts = [part for text in texts for word in (text, text.rpartition("=")[2]) for part in (word, *word.split(","))]
    read += [Path(part) for part in parts if _is_file(part)]
    with keeping(read):
        for path in written:
            if path.is_symlink() or not path.is_dir():
                must_be_writable(path)
        yield


def _paths(value: Any) -> list[Path]:
    values = value if isinstance(value, list | tuple) else [value]
    return [one for one in values if isinstance(one, Path)]


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):
        return False


def _flag(name: str) -> str:
    return name.upper() if name == "target" else f"--{name}"
