"""Judging for an arena: beside its server, or as a process of its own until it is told to stop."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from noren.contest.arena import Arena
from noren.contest.engine import ENGINE_FROM
from noren.contest.working import Work
from noren.web.serving import PRIVATE_UMASK

if TYPE_CHECKING:
    from noren.contest.settings import ArenaSettings

__all__ = ["judge_until_told", "judging"]


@contextlib.contextmanager
def judging(settings: ArenaSettings) -> Iterator[None]:
    """Judge beside a server, in threads and processes of its own."""
    arena = Arena(settings.folder, database=settings.database, files=settings.files, rehearsal=settings.rehearsal)
    work = Work(arena, places=settings.workers, engine=settings.engine, engine_from=settings.engine_from)
    work.start()
    try:
        yield
    finally:
        work.close()
        arena.close()


def judge_until_told(arena: Arena, places: int, *, engine: str = "local", engine_from: int = ENGINE_FROM) -> None:
    """Judge until the process is interrupted or told to end; what is under way is done by others."""
    os.umask(PRIVATE_UMASK)
    told = threading.Event()
    for which in (signal.SIGINT, signal.SIGTERM):
        signal.signal(which, lambda *_about: told.set())
    work = Work(arena, places=places, engine=engine, engine_from=engine_from)
    work.start()
    told.wait()
    work.close()
