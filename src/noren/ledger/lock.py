"""One at a time: whoever writes to a ledger holds its lock, others wait."""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Callable, Iterator
from pathlib import Path

from noren.errors import OutputError
from noren.i18n import _

__all__ = ["Tell", "alone", "nobody"]

Tell = Callable[[str], None]
"""Told in words what happens meanwhile."""


def nobody(words: str) -> None:
    """Tell nobody."""


@contextlib.contextmanager
def alone(folder: Path, tell: Tell = nobody) -> Iterator[None]:
    """Hold the lock of the ledger in ``folder``; where another process holds it, say so and wait.

    The lock is the system's own, on the file ``.lock``: it ends with the process that holds it, however that ends.
    """
    try:
        file = (folder / ".lock").open("ab")
    except OSError as error:
        raise OutputError(
            _("you may not write to {path} ({reason}); ask for permission, or copy the ledger").format(
                path=folder, reason=error.strerror
            )
        ) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            tell(_("another process is writing to {path}; waiting until it is done").format(path=folder))
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
