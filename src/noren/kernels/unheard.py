"""Keep off the standard output what a library of C writes there by itself: answers for machines go there."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["unheard"]

_one_at_a_time = threading.Lock()


@contextmanager
def unheard() -> Iterator[None]:
    """Send what is written to the descriptor of the standard output nowhere for a while.

    HiGHS says a line for its own makers in the midst of a search, whatever it is told about silence. The descriptor is
    the process's: what another thread prints meanwhile is lost, too, so keep the while short.
    """
    with _one_at_a_time:
        try:
            kept = os.dup(1)
        except OSError:  # there is no standard output
            yield
            return
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            _flushed()
            os.dup2(nowhere, 1)
            yield
        finally:
            _flushed()
            os.dup2(kept, 1)
            os.close(nowhere)
            os.close(kept)


def _flushed() -> None:
    """Have C write out what it holds back."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).fflush(None)
