"""One piece of work on a cluster: faults in one line, stages told, and nothing left behind on the workers' disks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from noren.execution.faults import saying_faults
from noren.execution.session import session
from noren.execution.stages import told_by_stages
from noren.progress import Progress

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["at_work"]


@contextmanager
def at_work(engine: str, progress: Progress) -> Iterator[tuple[SparkSession, Progress]]:
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
