"""Work that can be interrupted: it runs in a second thread while the first one waits, and hears Ctrl-C.

A signal is handled by Python's main thread, between two of its own instructions. While that thread is inside compiled
code, which may go on for minutes, nothing is heard. So compiled code that gives the interpreter free runs elsewhere,
and the main thread does nothing but wait. Interrupted, it goes on at once; the work is abandoned, and ends with the
process if not before.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any, TypeVar

Result = TypeVar("Result")

_SOON = 0.1
"""Seconds between two looks at whether somebody interrupts; Windows' waits are not interrupted themselves."""
_left: list[threading.Event] = []
"""Of each piece of work that was left, whether it ended; a thread whose join was interrupted says so too early."""


def heard(work: Callable[..., Result], *given: Any, **named: Any) -> Result:
    """Return ``work(*given, **named)``; an interruption from the keyboard is heard while it goes on.

    Outside the main thread, where no signal arrives, it is called as it is; so it is inside other such work.

    >>> heard(max, 3, 4)
    4
    """
    if threading.current_thread() is not threading.main_thread():
        return work(*given, **named)
    answer: list[Result] = []
    trouble: list[BaseException] = []
    surroundings = copy_context()

    def run() -> None:
        try:
            answer.append(surroundings.run(work, *given, **named))
        except BaseException as error:
            trouble.append(error)
        finally:
            ended.set()

    ended = threading.Event()
    thread = threading.Thread(target=run, name="noren-work", daemon=True)
    try:
        thread.start()
        while not ended.wait(_SOON):
            pass
    except BaseException:
        _left.append(ended)
        raise
    if trouble:
        raise trouble[0]
    return answer[0]


def abandoned() -> bool:
    """Tell whether work that was interrupted still goes on; a process that wants to end must not wait for it."""
    return not all(ended.is_set() for ended in _left)
