"""What a server does by itself, in threads: whatever is due by the clock, and sending news.

Several servers of one database may do it at once: each act is decided at the head of the log, and a message has one
holder. What fails, as when the database is away, is told once in the log of the process and tried again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from noren.contest.arena import Arena
from noren.contest.judges_desk import JudgesDesk
from noren.contest.webhooks import Postman

__all__ = ["Clockwork"]

_EVERY = 1.0
_SLOWEST = 30.0
_log = logging.getLogger("noren.contest")


class Clockwork:
    """The threads of one server."""

    def __init__(self, arena: Arena, *, private_hooks: bool = False) -> None:
        desk, post = JudgesDesk(arena), Postman(arena, private=private_hooks)
        self._over = threading.Event()
        self._threads = [
            threading.Thread(target=self._repeat, args=("clock", desk.tick), daemon=True),
            threading.Thread(target=self._repeat, args=("post", lambda: _all(post.send_next)), daemon=True),
        ]

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Stop after what is under way."""
        self._over.set()
        for thread in self._threads:
            thread.join(_SLOWEST)

    def _repeat(self, name: str, do: Callable[[], object]) -> None:
        told = ""
        while not self._over.wait(_EVERY):
            try:
                do()
                told = ""
            except Exception as error:
                if told != (told := type(error).__name__):
                    _log.exception("the arena's %s stumbled and goes on", name)


def _all(do: Callable[[], bool]) -> None:
    while do():
        pass
