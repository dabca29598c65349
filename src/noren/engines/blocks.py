"""The local engine: an ordered, bounded, threaded map of a kernel over blocks.

Polars and Arrow release the interpreter while they compute, so threads use all cores; at most ``ahead`` blocks are
held at once, so memory does not grow with the data, and answers come in the order of the blocks on any machine.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

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
