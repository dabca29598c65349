"""The local engine: an ordered, bounded, threaded map of a kernel over blocks.

Polars and Arrow release the interpreter while they compute, so threads use all cores; at most ``ahead`` blocks are
held at once, so memory does not grow with the data, and answers come in the order of the blocks on any machine.

**Work that can be interrupted: it runs in a second thread while the first one waits, and hears Ctrl-C.**
A signal is handled by Python's main thread, between two of its own instructions. While that thread is inside compiled
code, which may go on for minutes, nothing is heard. So compiled code that gives the interpreter free runs elsewhere,
and the main thread does nothing but wait. Interrupted, it goes on at once; the work is abandoned, and ends with the
process if not before.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from noren.progress import check_time

Block = TypeVar("Block")
Result = TypeVar("Result")


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def map_blocks(
    kernel: Callable[[Block], Result], blocks: Iterable[Block], *, workers: int | None = None, ahead: int = 1
) -> Iterator[Result]:
    """Yield ``kernel(block)`` for every block, in order.

    >>> list(map_blocks(lambda x: x * x, range(4), workers=2))
    [0, 1, 4, 9]
    """
    workers = workers or cores()
    if workers == 1:
        yield from map(kernel, blocks)
        return
    waiting: deque[Future[Result]] = deque()
    source = iter(blocks)
    broken: Exception | None = None
    with ThreadPoolExecutor(workers) as pool:
        try:
            while True:
                try:
                    block = next(source)
                except StopIteration:
                    break
                except Exception as error:
                    # first what the blocks before it give, their own errors too: the same on any number of cores
                    broken = error
                    break
                waiting.append(pool.submit(copy_context().run, kernel, block))  # the engine chosen here is chosen there
                if len(waiting) >= workers + ahead:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
            if broken is not None:
                raise broken
        finally:
            for future in waiting:
                future.cancel()


# --- Work that can be interrupted ------------------------------------------------------------------------------------


_SOON = 0.1
"""Seconds between two looks at whether somebody interrupts; Windows' waits are not interrupted themselves."""
_left: list[threading.Event] = []
"""Of each piece of work that was left, whether it ended; a thread whose join was interrupted says so too early."""


def run_interruptibly(work: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    """Return ``work(*given, **named)``; an interruption from the keyboard, or the end of the time, ends the wait.

    Outside the main thread, where no signal arrives, it is called as it is; so it is inside other such work.

    >>> run_interruptibly(max, 3, 4)
    4
    """
    if threading.current_thread() is not threading.main_thread():
        return work(*args, **kwargs)
    answer: list[Result] = []
    trouble: list[BaseException] = []
    surroundings = copy_context()

    def run() -> None:
        try:
            answer.append(surroundings.run(work, *args, **kwargs))
        except BaseException as error:
            trouble.append(error)
        finally:
            ended.set()

    ended = threading.Event()
    thread = threading.Thread(target=run, name="noren-work", daemon=True)
    try:
        thread.start()
        while not ended.wait(_SOON):
            check_time()
    except BaseException:
        _left.append(ended)
        raise
    if trouble:
        raise trouble[0]
    return answer[0]


def abandoned() -> bool:
    """Tell whether work that was interrupted still goes on; a process that wants to end must not wait for it."""
    return not all(ended.is_set() for ended in _left)
