"""Both engines on the same data, and whether they say the same."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from noren.data.frames import History, Records
from noren.data.release import Release
from noren.execution.files import read
from noren.execution.frames import ClusterRecords
from noren.execution.plans import plan_of
from noren.protocols import Method

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def on_cluster(records: Records, spark: SparkSession, folder: Path, files: int = 3) -> ClusterRecords:
    """Write records as a folder of several Parquet files and read them on the cluster."""
    folder.mkdir(parents=True)
    size = -(-len(records) // files)
    for at in range(files):
        records.frame[at * size : (at + 1) * size].write_parquet(folder / f"part-{at:05d}.parquet")
    (folder / "_SUCCESS").touch()
    return read(spark, folder, records.schema)


def both(
    method: Method, records: Records, spark: SparkSession, tmp_path: Path, seed: int = 1
) -> tuple[Release, Release]:
    """Return the release of one machine, and that of the cluster as it is read back from its folder."""
    alone = method.protect(records, seed=seed)
    lying = on_cluster(records, spark, tmp_path / "original")
    plan_of(method).run(method, lying, seed=seed).save(tmp_path / "release")
    return alone, Release.load(tmp_path / "release")


def same_release(method: Method, records: Records, spark: SparkSession, tmp_path: Path, seed: int = 1) -> Release:
    """Assert that both engines make the same release; return the cluster's."""
    alone, together = both(method, records, spark, tmp_path, seed)
    assert sorted(together.public.lines()) == sorted(alone.public.lines())
    assert said(together.secret.pseudonyms) == said(alone.secret.pseudonyms)
    # rows of equal text may be told apart by nobody: who stands for which original row is the same up to these
    assert origins(together) == origins(alone)
    assert together.statement == alone.statement
    assert together.secret.original_rows == alone.secret.original_rows
    return together


def with_blanks(history: History, every: int = 97) -> History:
    """Return a history some cells of which are blank in every column, each column's at other rows."""
    columns = tuple(column.model_copy(update={"optional": True}) for column in history.schema.columns)
    holes = [
        pl.when(pl.int_range(pl.len()) % every == at).then(None).otherwise(pl.col(name)).alias(name)
        for at, name in enumerate(history.schema.names)
    ]
    return History(history.frame.with_columns(holes), history.schema.model_copy(update={"columns": columns}))


def said(pseudonyms: pl.DataFrame) -> list[Any]:
    return sorted(pseudonyms.select(sorted(pseudonyms.columns)).rows(), key=str)


def origins(release: Release) -> list[tuple[str, int | None]]:
    pairs = zip(release.public.lines(), release.secret.origin.cast(pl.Int64), strict=True)
    return sorted(pairs, key=lambda pair: (pair[0], -1 if pair[1] is None else pair[1]))
