"""The connection to a cluster: one at a time for each address, made when it is needed and kept until the end."""

from __future__ import annotations

import atexit
import os
import socket
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from noren.errors import ClusterError
from noren.execution.java import java_home
from noren.i18n import _

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["BATCH_ROWS", "close", "session"]

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
    if _on_this_machine(address):
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


def _on_this_machine(address: str) -> bool:
    return address.startswith("local") or urlsplit(address).hostname in ("127.0.0.1", "localhost", "::1")


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
