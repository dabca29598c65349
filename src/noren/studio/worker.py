"""The process that does one job: ``python -m noren.studio.worker JOB_FOLDER``.

The first line that it hears is its order; ``{"enough": true}`` asks it to stop and keep the best. It tells its progress
in lines (:mod:`noren.work.child_processes`) and writes its results into the folder, each file whole or not at all.
When the server is gone, the worker ends. What went wrong with the input is said as the
command line says it, in every language; anything unexpected goes to the error log of the folder, never to a page.
"""

from __future__ import annotations

import queue
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from noren.progress import Progress, Stoppable
from noren.work.child_processes import Line, Parent, become_child

_EVERY = 0.1
_WRONG_INPUT = 2


class ProgressReporter(Stoppable):
    """Progress as lines for ``say``; raises :class:`~noren.progress.Enough` when asked to, at the next best."""

    def __init__(self, say: Callable[[Line], None]) -> None:
        super().__init__(self._tell)
        self._write = say
        self._last = 0.0
        self._words = ""
        self._best: float | None = None
        self._reported: float | None = None

    def enough(self) -> None:
        """End the search with the best so far."""
        self.raised = False  # of a chain, each search can be ended
        self.stop()

    def _tell(self, done: float, words: str = "", best: float | None = None) -> None:
        if best is None and self._best is not None and self._best != self._reported:
            self._say(done, self._best)  # the search is over: what it ended with is told, however soon it came
        began = (best is None) != (self._best is None)
        self._words, self._best = words or self._words, best
        if began or time.monotonic() - self._last >= _EVERY:
            self._last = time.monotonic()
            self._say(done, best)

    def _say(self, done: float, best: float | None) -> None:
        self._reported = best
        self._write({"done": round(min(1.0, max(0.0, done)), 4), "words": self._words, "best": best})


def main(folder: Path, server: Parent) -> int:
    """Do the job of ``folder`` and return the exit code: 0 done, 2 it could not be done and the reason was told."""
    from noren.i18n import activate, track_messages

    track_messages()
    teller, orders = ProgressReporter(server.say), queue.SimpleQueue[Line]()
    server.listen(lambda line: teller.enough() if line.get("enough") else orders.put(line))
    order = orders.get()
    activate(order["language"])
    last = perform(order, folder, teller)
    server.say(last)
    return 0 if "summary" in last else _WRONG_INPUT


def perform(order: dict[str, Any], folder: Path, progress: Progress) -> Line:
    """Do what the order says; return the last line: the summary, or the error where it could not be done."""
    from noren.errors import NorenError
    from noren.studio.failure_reasons import error_details
    from noren.studio.work import do
    from noren.web.errors import is_disk_full

    try:
        return {"summary": do(order, folder, progress)}
    except Exception as error:
        if not isinstance(error, NorenError | MemoryError) and not is_disk_full(error):
            raise
        return {"error": error_details(error, order.get("file_name"))}


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), become_child()))
