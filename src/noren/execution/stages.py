"""How far a cluster is: the stages of the work that goes on, told as they pass.

Whoever wants more than a line listens within :func:`hearing_stages`: tasks, what is shuffled and how long it takes,
step by step, in numbers that Spark counts anyway.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from noren.i18n import _, in_every_language, said_again
from noren.progress import Progress, silent

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOOK = 0.5


@dataclass(frozen=True)
class Stage:
    """One stage of Spark.

    Attributes
    ----------
    number
        What Spark calls it.
    step
        What the work was doing when the stage began, in each language.
    done, tasks
        How many of its tasks are done, of how many.
    rows, bytes
        What it writes for other stages to read.
    began, ended
        When, in seconds since 1970; of one that runs, until now.
    over
        Whether it came to its end.
    """

    number: int
    step: Mapping[str, str]
    done: int
    tasks: int
    rows: int
    bytes: int
    began: float
    ended: float
    over: bool


@dataclass(frozen=True)
class Step:
    """One step of the work: what its stages come to. ``seconds`` are those in which one of them ran."""

    step: Mapping[str, str]
    stages: int
    done: int
    tasks: int
    rows: int
    bytes: int
    seconds: float
    over: bool


def steps_of(stages: Iterable[Stage]) -> list[Step]:
    """Return what stages come to, step by step, in the order in which the steps began.

    >>> said = {"en": "jaccard"}
    >>> two = [Stage(3, said, 4, 4, 90, 800, 0.0, 2.0, True), Stage(4, said, 1, 2, 10, 50, 1.0, 2.5, False)]
    >>> [(one.stages, one.done, one.tasks, one.rows, one.bytes, one.seconds, one.over) for one in steps_of(two)]
    [(2, 5, 6, 100, 850, 2.5, False)]
    """
    by_step: dict[str, list[Stage]] = {}
    for stage in sorted(stages, key=lambda one: one.number):
        by_step.setdefault(stage.step["en"], []).append(stage)
    steps = []
    for those in by_step.values():
        done, tasks, rows, size = (
            sum(getattr(stage, name) for stage in those) for name in ("done", "tasks", "rows", "bytes")
        )
        seconds, until = 0.0, 0.0
        for stage in sorted(those, key=lambda one: one.began):
            seconds += max(0.0, stage.ended - max(stage.began, until))
            until = max(until, stage.ended)
        over = all(stage.over for stage in those)
        steps.append(Step(those[0].step, len(those), done, tasks, rows, size, round(seconds, 1), over))
    return steps


Hear = Callable[[list[Step]], None]
_hearing: ContextVar[Callable[[Iterable[Stage]], None] | None] = ContextVar("stages", default=None)


@contextmanager
def hearing_stages(hear: Hear) -> Iterator[None]:
    """Let ``hear`` be told the steps of what is done within, whenever a stage changed; from another thread."""
    known: dict[int, Stage] = {}

    def heard(stages: Iterable[Stage]) -> None:
        known.update((stage.number, stage) for stage in stages)
        hear(steps_of(known.values()))

    before = _hearing.set(heard)
    try:
        yield
    finally:
        _hearing.reset(before)


class Stages:
    """Tells a step of the work, and behind it how many tasks of Spark's running stages are done."""

    def __init__(
        self,
        session: SparkSession,
        progress: Progress,
        hear: Callable[[Iterable[Stage]], None] | None = None,
    ) -> None:
        self._tracker, self._context = session.sparkContext.statusTracker(), session.sparkContext
        self._progress, self._hear = progress, hear
        self._share, self._step = 0.0, ""
        self._said = in_every_language(lambda: "")
        self._known: dict[int, Stage] = {}
        self._job = self._jobs() if hear is not None else 0
        self._ids: list[int] = []

    def __call__(self, done: float, words: str = "", best: float | None = None) -> None:
        """Take the next step."""
        self._share, self._step = max(done, self._share), words or self._step
        if self._hear is not None and words:
            self._said = in_every_language(lambda: said_again(words))
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
        if self._hear is not None:
            self._tell(self._hear)

    def _jobs(self) -> int:
        """Return how many jobs Spark was given since it began."""
        return int(self._context._jsc.sc().dagScheduler().numTotalJobs())

    def _tell(self, hear: Callable[[Iterable[Stage]], None]) -> None:
        """Tell the stages of this work, where something changed since the last look."""
        from py4j.protocol import Py4JJavaError

        last = self._jobs()
        for job in range(self._job, last):
            info = self._tracker.getJobInfo(job)
            self._ids += [] if info is None else sorted(set(info.stageIds) - set(self._ids))
        self._job = last
        store = self._context._jsc.sc().statusStore()
        changed, open_ = {}, []
        for number in self._ids:
            try:
                found = store.lastStageAttempt(number)
            except Py4JJavaError:  # nothing is known of it yet, or not any more
                found = None
            stage = None if found is None else self._stage(found, number)
            if stage is not None and stage != self._known.get(number):
                self._known[number] = changed[number] = stage
            skipped = found is not None and str(found.status()) == "SKIPPED"  # what it makes is there already
            open_ += [] if skipped or (stage is not None and stage.over) else [number]
        self._ids = open_
        if changed:
            hear(list(changed.values()))

    def settle(self) -> None:
        """Look once more, when all that Spark has to tell of the work is told."""
        if self._hear is not None:
            self._context._jsc.sc().listenerBus().waitUntilEmpty()
            self._tell(self._hear)

    def _stage(self, found: Any, number: int) -> Stage | None:
        """Return a stage as Spark counts it; None where it did not begin."""
        began, ended = found.submissionTime(), found.completionTime()
        if not began.isDefined():
            return None
        before = self._known.get(number)
        until = ended.get().getTime() / 1000 if ended.isDefined() else time.time()
        return Stage(
            number,
            self._said if before is None else before.step,
            int(found.numCompleteTasks()),
            int(found.numTasks()),
            int(found.shuffleWriteRecords()),
            int(found.shuffleWriteBytes()),
            began.get().getTime() / 1000,
            until,
            bool(ended.isDefined()),
        )


@contextmanager
def told_by_stages(session: SparkSession, progress: Progress) -> Iterator[Progress]:
    """Give a progress that also hears of Spark's stages while they run."""
    hear = _hearing.get()
    if progress is silent and hear is None:
        yield silent
        return
    stages, ended = Stages(session, progress, hear), threading.Event()

    def watch() -> None:
        try:
            while not ended.wait(_LOOK):
                stages.look()
            stages.settle()  # for stages shorter than the time between two looks
        except Exception:  # the session is ending; whoever waits for it hears why
            return

    thread = threading.Thread(target=watch, name="noren-stages", daemon=True)
    thread.start()
    try:
        yield stages
    finally:
        ended.set()
        thread.join()
