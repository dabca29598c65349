"""A full disk (or quota) looks different to each library that meets it; here it has one sentence with its cure."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from typing import Final

from noren.errors import NorenError, OutputError
from noren.i18n import N_, _

__all__ = ["DISK_FULL", "DiskFullError", "is_disk_full"]

DISK_FULL: Final = N_("the disk that holds the server's data is full; free some space there and try again")
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_FULL_TEXTS = ("no space left on device", "disk is full", "disk quota exceeded", "file too large (os error")


class DiskFullError(OutputError):
    """There is no room for what was to be kept; nothing of it is left."""

    def __init__(self) -> None:
        super().__init__(_(DISK_FULL))


def is_disk_full(error: BaseException | None) -> bool:
    """Tell whether a full disk (or quota) is behind an error, whichever library met it.

    >>> is_disk_full(OSError(28, "No space left on device")), is_disk_full(OSError(2, "No such file"))
    (True, False)
    """
    return any(
        isinstance(one, DiskFullError)
        or (isinstance(one, OSError) and one.errno in _FULL)
        or (not isinstance(one, NorenError) and any(text in _told_by_system(one) for text in _FULL_TEXTS))
        for one in _behind(error)
    )


def _told_by_system(error: BaseException) -> str:
    """Return an error's text; of a database's error without the statement, which holds what people wrote."""
    return str(getattr(error, "orig", None) or error).lower()


def _behind(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__
