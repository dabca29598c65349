"""How far a cluster is: the stages of the work that goes on, told as they pass."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from noren.i18n import _
from noren.progress import Progress, silent

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["Stages", "told_by_stages"]

_LOOK = 0.5


class Stages:
    """Tells a step of the work, and behind it how many tasks of Spark's running stages are done."""

    def __init__(self, session: SparkSession, progress: Progress) -> None:
        self._tracker = session.sparkContext.statusTracker()
        self._progress = progress
        self._share, self._step = 0.0, ""

    def __call__(self, done: float, words: str = "", best: float | None = None) -> None:
        """Take the next step."""
        self._share, self._step = max(done, self._share), words or self._step
        self._progress(self._share, self._step, best)

    def look(self) -> None:
        """Tell how far the running stages are; nothing where none runs."""
        running = [self._tracker.getStageInfo(stage) for stage in self._tracker.getActiveStageIds()]
        known = [stage for stage in running if stage is not None]
        if known:
            done, tasks = (sum(getattr(s, name) for s in known) for name in ("numCompletedTasks", "numTasks"))
            ids = ", ".join(str(stage.stageId) for stage in known)
            said = _("{step}: stage {stages}, {done:,} of {tasks:,} tasks").format(
                step=self._step, stages=ids, done=done, tasks=tasks
            )
            self._progress(self._share, said)


@contextmanager
def told_by_stages(session: SparkSession, progress: Progress) -> Iterator[Progress]:
    """Give a progress that also hears of Spark's stages while they run."""
    if progress is silent:
        yield silent
        return
    stages, ended = Stages(session, progress), threading.Event()

    def watch() -> None:
        while not ended.wait(_LOOK):
            try:
                stages.look()
            except Exception:  # the session is ending; whoever waits for it hears why
                return

    thread = threading.Thread(target=watch, name="noren-stages", daemon=True)
    thread.start()
    try:
        yield stages
    finally:
        ended.set()
        thread.join()
