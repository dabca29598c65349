"""What went wrong on a cluster, in one line."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from noren.errors import ClusterError, FileError, NorenError, OutputError, ParameterError
from noren.i18n import _

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["LOST_AFTER", "saying_faults"]

LOST_AFTER = 60.0
"""Seconds without any worker after which work is given up."""
_LOOK = 1.0


@contextmanager
def saying_faults(session: SparkSession) -> Iterator[None]:
    """Say what a cluster's errors mean; give up where all workers are gone for good."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    watch = _Watch(session)
    try:
        yield
    except NorenError:
        raise
    except (PySparkException, Py4JError, ConnectionError) as error:
        if watch.lost:
            raise ClusterError(
                _("all workers of the cluster are gone, and none came back for {seconds:.0f} seconds").format(
                    seconds=LOST_AFTER
                ),
                _("start workers and run the command again; nothing was written"),
            ) from None
        raise told(str(error)) from error
    finally:
        watch.stop()


def told(words: str) -> NorenError:
    """Return what long words of Spark mean.

    >>> print(told("… java.io.IOException: No space left on device …"))
    a worker's disk is full; make room, or name another disk in spark.local.dir; nothing was written
    """
    ours = re.search(r"noren\.errors\.(\w+): (.*)", words)
    if ours:  # an error of ours that was raised on a worker keeps its words
        kind: type[NorenError] | None = {"OutputError": OutputError, "FileError": FileError}.get(ours[1])
        return ParameterError(ours[2].strip()) if kind is None else kind(ours[2].strip())
    if "No space left on device" in words:
        return OutputError(
            _("a worker's disk is full; make room, or name another disk in spark.local.dir; nothing was written")
        )
    if "No module named 'noren'" in words:
        return ClusterError(
            _("a worker does not find Noren"), _("pip install 'noren[spark]' on every worker, in the Python they use")
        )
    if "PYTHON_VERSION_MISMATCH" in words:
        return ClusterError(
            _("workers run another Python than this one"), _("name one of the same version in PYSPARK_PYTHON")
        )
    if "OutOfMemoryError" in words and "Job aborted" not in words:
        return ClusterError(
            _("Spark's driver has too little memory for this"),
            _("give it more (spark.driver.memory); nothing was written"),
        )
    if "OutOfMemoryError" in words or "ExecutorLostFailure" in words:
        return ClusterError(
            _("workers ended in the middle of the work, four times in a row"),
            _("give them more memory (spark.executor.memory), or start more of them; nothing was written"),
        )
    if "CANNOT_MERGE_SCHEMAS" in words or "FAILED_READ_FILE" in words or "CANNOT_READ" in words:
        return FileError(
            _("the files of the folder do not have the same columns"), _("write them anew with one schema")
        )
    line = next((line for line in words.splitlines() if line.strip()), words)
    return ClusterError(_("Spark stopped: {reason}").format(reason=line.strip()[:200]))


class _Watch:
    """Looks whether any worker is left while work goes on, and ends the work where there is none."""

    def __init__(self, session: SparkSession) -> None:
        self._context = session.sparkContext
        self.lost = False
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, name="noren-cluster-watch", daemon=True)
        if str(self._context.master).startswith("spark://"):
            self._thread.start()

    def _look(self) -> None:
        alone = 0.0
        while not self._ended.wait(_LOOK):
            try:
                workers = self._context._jsc.sc().getExecutorMemoryStatus().size() - 1  # the driver counts, too
                busy = len(self._context.statusTracker().getActiveJobsIds()) > 0
            except Exception:  # the context is ending
                return
            alone = alone + _LOOK if busy and workers < 1 else 0.0
            if alone >= LOST_AFTER:
                self.lost = True
                self._context.cancelAllJobs()
                return

    def stop(self) -> None:
        self._ended.set()
