"""Spark sessions: connect, report progress, explain errors in one line, and clean up the workers' disks."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from noren.errors import ClusterError, FileError, NorenError, OutputError, ParameterError
from noren.i18n import in_every_language, retranslate
from noren.progress import Progress, silent
from noren.tables import Texts, table_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

say = Texts(__name__)
LEAST_JAVA = 17
"""The oldest Java that Spark 4 runs on."""


def java_home() -> Path:
    """Return the folder of a Java that Spark can run on: ``JAVA_HOME``, else the one on the path."""
    named = os.environ.get("JAVA_HOME")
    program = str(Path(named) / "bin" / "java") if named else shutil.which("java")
    if program is None:
        raise ClusterError(say("no_java", least=LEAST_JAVA))
    try:
        output = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        raise ClusterError(say("no_java", least=LEAST_JAVA), value=program) from None
    match = re.search(r'version "(?:1\.)?(\d+)', output)
    version = int(match[1]) if match else 0
    if version < LEAST_JAVA:
        raise ClusterError(say("old_java", least=LEAST_JAVA, version=version), value=program)
    return Path(program).resolve().parents[1]


# --- the connection to a cluster: one at a time for each address, made when it is needed and kept until the end ------


BATCH_ROWS = 1 << 16
"""Rows of one Arrow batch that a kernel is handed."""
_PATIENCE = 5.0
"""Seconds to wait for a master to answer at all."""
_open: dict[str, SparkSession] = {}


def session(address: str) -> SparkSession:
    """Return a session on the cluster at ``address``: ``spark://host:port``, or ``local[n]`` on this machine.

    Settings of yours in ``spark-defaults.conf`` (SPARK_CONF_DIR) count where we say nothing: memory, cores, s3a keys.
    """
    if address in _open:
        return _open[address]
    if find_spec("pyspark") is None:
        raise ClusterError(say("no_spark"))
    os.environ["JAVA_HOME"] = str(java_home())
    tried: list[str] = []
    masters = address.removeprefix("spark://").split(",") if address.startswith("spark://") else []
    for master in masters:  # stop where nobody listens; Spark itself would try for a minute
        host, _colon, port = master.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE).close()
            break
        except (OSError, ValueError) as error:
            tried.append(getattr(error, "strerror", None) or str(error))
    if masters and len(tried) == len(masters):
        raise ClusterError(say("no_master", reason="; ".join(tried)), value=address)
    close()  # there is one Spark context in a process
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)  # none is used
    from pyspark.sql import SparkSession

    here = str(Path(__file__).resolve().parents[2])
    # a worker imports the same noren as the driver, where they share a disk
    paths = os.pathsep.join(dict.fromkeys([here, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]))
    os.environ["PYSPARK_PYTHON"] = os.environ.get("PYSPARK_PYTHON") or sys.executable
    quiet = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"
    settings = {
        **table_of("noren.execution.spark_settings"),
        "spark.driver.extraJavaOptions": quiet,
        "spark.executorEnv.PYTHONPATH": paths,
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_ROWS),
    }
    if address.startswith("local") or urlsplit(address).hostname in ("127.0.0.1", "localhost", "::1"):
        settings["spark.driver.host"] = settings["spark.driver.bindAddress"] = "127.0.0.1"
    builder = SparkSession.builder.master(address).appName("noren")
    for name, value in settings.items():
        builder = builder.config(name, value)
    stderr_copy, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)  # silences what is started: Java prints warnings of its own
    try:
        _open[address] = builder.getOrCreate()
    finally:
        os.dup2(stderr_copy, 2)
        os.close(stderr_copy)
        os.close(nowhere)
    return _open[address]


def close() -> None:
    """End every session that is open."""
    while _open:
        _address, ended = _open.popitem()
        ended.stop()


atexit.register(close)


# --- what went wrong, in one line ------------------------------------------------------------------------------------


LOST_AFTER = 60.0
"""Seconds without any worker after which work is given up."""
_LOOK = 1.0
_FAULTS: dict[str, tuple[type[ClusterError | FileError], str]] = {
    "no_noren": (ClusterError, "No module named 'noren'"),
    "other_python": (ClusterError, "PYTHON_VERSION_MISMATCH"),
    "driver_memory": (ClusterError, r"\A(?!.*Job aborted).*OutOfMemoryError"),
    "workers_ended": (ClusterError, "OutOfMemoryError|ExecutorLostFailure"),
    "other_columns": (FileError, "CANNOT_MERGE_SCHEMAS|FAILED_READ_FILE|CANNOT_READ"),
}
"""The message for each kind of error, by a pattern in Spark's error text; the first match counts."""


@contextmanager
def explain_faults(session: SparkSession) -> Iterator[None]:
    """Translate Spark's errors into ours; give up when all workers are gone for good."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    context, lost, ended = session.sparkContext, threading.Event(), threading.Event()

    def watch() -> None:
        """Look whether any worker is left while work goes on, and end the work where there is none."""
        alone = 0.0
        while not ended.wait(_LOOK):
            try:
                workers = context._jsc.sc().getExecutorMemoryStatus().size() - 1  # the driver counts, too
                busy = len(context.statusTracker().getActiveJobsIds()) > 0
            except Exception:  # the context is ending
                return
            alone = alone + _LOOK if busy and workers < 1 else 0.0
            if alone >= LOST_AFTER:
                lost.set()
                context.cancelAllJobs()
                return

    if str(context.master).startswith("spark://"):
        threading.Thread(target=watch, name="noren-cluster-watch", daemon=True).start()
    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        if lost.is_set():
            raise ClusterError(say("workers_gone", seconds=LOST_AFTER)) from None
        raise explain_error(str(error)) from error
    finally:
        ended.set()


def explain_error(text: str) -> NorenError:
    """Return our error for an error text of Spark.

    >>> print(explain_error("… java.io.IOException: No space left on device …"))
    nothing was written, because a worker's disk is full; free some space, or set spark.local.dir to another disk
    """
    ours = re.search(r"noren\.errors\.(\w+): (.*)", text)
    if ours:  # an error of ours that was raised on a worker keeps its message
        kind: type[NorenError] = {"OutputError": OutputError, "FileError": FileError}.get(ours[1], ParameterError)
        return kind(ours[2].strip())
    if "No space left on device" in text:
        return OutputError(say("disk_full"))
    for name, (fault, pattern) in _FAULTS.items():
        if re.search(pattern, text, re.DOTALL):
            return fault(say(name))
    line = next((line for line in text.splitlines() if line.strip()), text)
    return ClusterError(say("stopped", reason=line.strip()[:200]))


# --- one piece of work -----------------------------------------------------------------------------------------------


@contextmanager
def cluster_session(engine: str, progress: Progress = silent) -> Iterator[tuple[SparkSession, Progress]]:
    """Yield a session on a cluster and a progress that also reports its stages.

    The session stays open for the next call; what plans persisted on the workers' disks is removed here.
    """
    spark, ended = session(engine), threading.Event()

    def watch(stages: Stages) -> None:
        try:
            while not ended.wait(_LOOK_AT_STAGES):
                stages.look()
            stages.report(settled=True)  # for stages shorter than the time between two looks
        except Exception:  # the session is ending; the caller gets the reason
            return

    with explain_faults(spark):
        stages = None if progress is silent and _listener.get() is None else Stages(spark, progress)
        thread = threading.Thread(target=watch, args=(stages,), name="noren-stages", daemon=True)
        if stages is not None:
            thread.start()
        try:
            yield spark, stages or silent
        finally:
            with suppress(Exception):  # a lost cluster is reported elsewhere
                spark.catalog.clearCache()
            ended.set()
            if stages is not None:
                thread.join()


# --- progress of a cluster: the stages of the running work -----------------------------------------------------------

# :func:`report_stages` reports more than a line: tasks, shuffled rows and bytes, and seconds of each step.


_LOOK_AT_STAGES = 0.5


@dataclass(frozen=True)
class Stage:
    """One stage of Spark."""

    number: int
    """What Spark calls it."""
    step: Mapping[str, str]
    """What the work was doing when the stage began, in each language."""
    done: int
    tasks: int
    """``done``, ``tasks``: how many of its tasks are done, of how many."""
    rows: int
    bytes: int
    """``rows``, ``bytes``: what it writes for other stages to read."""
    began: float
    ended: float
    """``began``, ``ended``: when, in seconds since 1970; of one that runs, until now."""
    over: bool
    """Whether it came to its end."""


@dataclass(frozen=True)
class ClusterStep:
    """One step of the work: what its stages come to. ``seconds`` are those in which one of them ran."""

    step: Mapping[str, str]
    stages: int
    done: int
    tasks: int
    rows: int
    bytes: int
    seconds: float
    over: bool


def steps_of(stages: Iterable[Stage]) -> list[ClusterStep]:
    """Return what stages come to, step by step, in the order in which the steps began.

    >>> step = {"en": "jaccard"}
    >>> two = [Stage(3, step, 4, 4, 90, 800, 0.0, 2.0, True), Stage(4, step, 1, 2, 10, 50, 1.0, 2.5, False)]
    >>> [(step.stages, step.done, step.tasks, step.rows, step.bytes, step.seconds, step.over) for step in steps_of(two)]
    [(2, 5, 6, 100, 850, 2.5, False)]
    """
    by_step: dict[str, list[Stage]] = {}
    for stage in sorted(stages, key=lambda stage: stage.number):
        by_step.setdefault(stage.step["en"], []).append(stage)
    steps = []
    for those in by_step.values():
        done, tasks, rows, size = (
            sum(getattr(stage, name) for stage in those) for name in ("done", "tasks", "rows", "bytes")
        )
        seconds, until = 0.0, 0.0
        for stage in sorted(those, key=lambda stage: stage.began):
            seconds += max(0.0, stage.ended - max(stage.began, until))
            until = max(until, stage.ended)
        over = all(stage.over for stage in those)
        steps.append(ClusterStep(those[0].step, len(those), done, tasks, rows, size, round(seconds, 1), over))
    return steps


StepListener = Callable[[list[ClusterStep]], None]
_listener: ContextVar[tuple[StepListener, dict[int, Stage]] | None] = ContextVar("stages", default=None)
"""The listener, and the stages reported so far, by their numbers."""


@contextmanager
def report_stages(listener: StepListener) -> Iterator[None]:
    """Call ``listener`` with the steps of the work inside whenever a stage changes; from another thread."""
    before = _listener.set((listener, {}))
    try:
        yield
    finally:
        _listener.reset(before)


class Stages:
    """A progress that adds how many tasks of Spark's running stages are done."""

    def __init__(self, session: SparkSession, progress: Progress) -> None:
        self._tracker, self._progress = session.sparkContext.statusTracker(), progress
        listener = _listener.get()
        self._listen: StepListener | None = None if listener is None else listener[0]
        self._known: dict[int, Stage] = {} if listener is None else listener[1]
        self._share, self._step = 0.0, ""
        self._step_names = in_every_language(lambda: "")
        self._spark: Any = None
        self._job, self._ids = 0, list[int]()
        if listener is not None:
            self._spark = session.sparkContext._jsc.sc()
            self._job = int(self._spark.dagScheduler().numTotalJobs())

    def __call__(self, done: float, words: str = "", best: float | None = None) -> None:
        """Take the next step."""
        self._share, self._step = max(done, self._share), words or self._step
        if self._listen is not None and words:
            self._step_names = in_every_language(lambda: retranslate(words))
        self._progress(self._share, self._step, best)

    def look(self) -> None:
        """Report how far the running stages are, if any."""
        running = [self._tracker.getStageInfo(stage) for stage in self._tracker.getActiveStageIds()]
        known = [stage for stage in running if stage is not None]
        if known:
            done, tasks = (sum(getattr(s, name) for s in known) for name in ("numCompletedTasks", "numTasks"))
            ids = ", ".join(str(stage.stageId) for stage in known)
            self._progress(self._share, say("tasks", step=self._step, stages=ids, done=done, tasks=tasks))
        self.report()

    def report(self, *, settled: bool = False) -> None:
        """Report the stages of this work to the listener, if something changed since the last call.

        With ``settled`` it waits until Spark has recorded all of them.
        """
        if self._listen is None:
            return
        from py4j.protocol import Py4JJavaError

        if settled:
            self._spark.listenerBus().waitUntilEmpty()
        last = int(self._spark.dagScheduler().numTotalJobs())
        for job in range(self._job, last):
            info = self._tracker.getJobInfo(job)
            self._ids += [] if info is None else sorted(set(info.stageIds) - set(self._ids))
        self._job = last
        store = self._spark.statusStore()
        changed, over = False, set()
        for number in self._ids:
            try:
                attempt = store.lastStageAttempt(number)
            except Py4JJavaError:  # nothing is known of it yet, or not any more
                continue
            began, ended = attempt.submissionTime(), attempt.completionTime()
            if str(attempt.status()) == "SKIPPED" or (began.isDefined() and ended.isDefined()):
                over.add(number)  # what a skipped one makes is there already
            if not began.isDefined():
                continue
            before = self._known.get(number)
            stage = Stage(
                number,
                self._step_names if before is None else before.step,
                int(attempt.numCompleteTasks()),
                int(attempt.numTasks()),
                int(attempt.shuffleWriteRecords()),
                int(attempt.shuffleWriteBytes()),
                began.get().getTime() / 1000,
                ended.get().getTime() / 1000 if ended.isDefined() else time.time(),
                bool(ended.isDefined()),
            )
            changed = changed or stage != before
            self._known[number] = stage
        self._ids = [number for number in self._ids if number not in over]
        if changed:
            self._listen(steps_of(self._known.values()))
