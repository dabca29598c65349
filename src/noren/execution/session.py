"""The connection to a cluster, and one piece of work on it: faults in one line, nothing left on workers' disks."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from noren.errors import ClusterError, FileError, NorenError, OutputError, ParameterError
from noren.execution.stages import told_by_stages
from noren.i18n import _
from noren.progress import Progress, silent

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEAST_JAVA = 17
"""The oldest Java that Spark 4 runs on."""


def java_home() -> Path:
    """Return the folder of a Java that Spark can run on: ``JAVA_HOME``, else the one on the path."""
    named = os.environ.get("JAVA_HOME")
    program = str(Path(named) / "bin" / "java") if named else shutil.which("java")
    cure = _("install Java {version} (Debian: openjdk-17-jre-headless), or name its folder in JAVA_HOME").format(
        version=LEAST_JAVA
    )
    if program is None:
        raise ClusterError(_("Spark needs Java, and there is none"), cure)
    try:
        said = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError):
        raise ClusterError(_("the Java that JAVA_HOME names does not run"), cure, value=program) from None
    found = re.search(r'version "(?:1\.)?(\d+)', said)
    version = int(found[1]) if found else 0
    if version < LEAST_JAVA:
        raise ClusterError(
            _("Spark needs Java {least} or newer, and this is Java {version}").format(
                least=LEAST_JAVA, version=version
            ),
            cure,
            value=program,
        )
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
        raise ClusterError(_("Spark is not installed"), _("pip install 'noren[spark]'"))
    os.environ["JAVA_HOME"] = str(java_home())
    _must_answer(address)
    close()  # there is one Spark context in a process
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)  # none is used
    from pyspark.sql import SparkSession

    here = str(Path(__file__).resolve().parents[2])
    # a worker imports the same noren as the driver, where they share a disk
    paths = os.pathsep.join(dict.fromkeys([here, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]))
    os.environ["PYSPARK_PYTHON"] = os.environ.get("PYSPARK_PYTHON") or sys.executable
    quiet = f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}"
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.extraJavaOptions": quiet,
        "spark.executor.extraJavaOptions": "-Dlog4j2.level=error",
        "spark.executorEnv.PYTHONPATH": paths,
        "spark.executorEnv.NUMBA_NUM_THREADS": "1",
        "spark.executorEnv.POLARS_MAX_THREADS": "1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_ROWS),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # what is kept on disk has as many parts as it needs, not 200
        "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning": "true",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.timeType.enabled": "true",
        "spark.log.level": "OFF",
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
        "spark.sql.parquet.compression.codec": "zstd",
        # without a hidden file of check sums beside every file
        "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
        "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "true",
    }
    if address.startswith("local") or urlsplit(address).hostname in ("127.0.0.1", "localhost", "::1"):
        settings["spark.driver.host"] = settings["spark.driver.bindAddress"] = "127.0.0.1"
    builder = SparkSession.builder.master(address).appName("noren")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with _silent_start():
        made = builder.getOrCreate()
    _open[address] = made
    return made


def close() -> None:
    """End every session that is open."""
    while _open:
        _address, ended = _open.popitem()
        ended.stop()


atexit.register(close)


@contextmanager
def _silent_start() -> Iterator[None]:
    """Let what is started here write its words to nowhere: Java greets people with warnings of its own."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _must_answer(address: str) -> None:
    """Stop where nobody listens at the address of a master; Spark itself would try for a minute."""
    if not address.startswith("spark://"):
        return
    tried = []
    for one in address.removeprefix("spark://").split(","):
        host, _colon, port = one.rpartition(":")
        try:
            with socket.create_connection((host.strip("[]"), int(port)), timeout=_PATIENCE):
                return
        except (OSError, ValueError) as error:
            tried.append(getattr(error, "strerror", None) or str(error))
    raise ClusterError(
        _("no Spark master answers ({reason})").format(reason="; ".join(tried)),
        _("check host and port; the master's page says its address"),
        value=address,
    )


# --- what went wrong, in one line ------------------------------------------------------------------------------------


LOST_AFTER = 60.0
"""Seconds without any worker after which work is given up."""
_LOOK = 1.0


@contextmanager
def saying_faults(session: SparkSession) -> Iterator[None]:
    """Say what a cluster's errors mean; give up where all workers are gone for good."""
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
    except NorenError:
        raise
    except (PySparkException, Py4JError, ConnectionError) as error:
        if lost.is_set():
            raise ClusterError(
                _("all workers of the cluster are gone, and none came back for {seconds:.0f} seconds").format(
                    seconds=LOST_AFTER
                ),
                _("start workers and run the command again; nothing was written"),
            ) from None
        raise told(str(error)) from error
    finally:
        ended.set()


def told(words: str) -> NorenError:
    """Return what long words of Spark mean.

    >>> print(told("… java.io.IOException: No space left on device …"))
    a worker's disk is full; make room, or name another disk in spark.local.dir; nothing was written
    """
    ours = re.search(r"noren\.errors\.(\w+): (.*)", words)
    if ours:  # an error of ours that was raised on a worker keeps its words
        kind: type[NorenError] = {"OutputError": OutputError, "FileError": FileError}.get(ours[1], ParameterError)
        return kind(ours[2].strip())
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


# --- one piece of work: faults in one line, stages told, and nothing left behind on the workers' disks ---------------


@contextmanager
def at_work(engine: str, progress: Progress = silent) -> Iterator[tuple[SparkSession, Progress]]:
    """Give the session on a cluster and a progress that hears of its stages, for one piece of work.

    A session is kept for the next piece, so what plans kept on the workers' disks is let go here.
    """
    spark = session(engine)
    with saying_faults(spark), told_by_stages(spark, progress) as told:
        try:
            yield spark, told
        finally:
            with suppress(Exception):  # whoever lost the cluster hears of that
                spark.catalog.clearCache()
