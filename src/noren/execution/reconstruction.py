"""What a perturbed table was before, from a release on a cluster: counted there, estimated on the driver."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from noren.data.frames import Records
from noren.data.schema import Schema
from noren.data.statement import Statement
from noren.execution.at_work import at_work
from noren.execution.counts import MOST_COMBINATIONS, ROWS, counted
from noren.execution.frames import PLACE, ROW, ClusterRecords
from noren.execution.release import load_public
from noren.i18n import _
from noren.progress import Progress, silent
from noren.retention.perturbation import LARGEST_TABLE, Perturbation, stated_perturbation
from noren.retention.reconstructed import SeenRecords
from noren.retention.reconstruction import Model, Reconstruction, reconstruct_seen

__all__ = ["reconstruct", "seen_before", "seen_on_cluster"]


def reconstruct(
    release: str | Path,
    model: Model | None = None,
    *,
    engine: str,
    attributes: Sequence[str] = (),
    interactions: Sequence[Sequence[str]] = (),
    bootstrap: int = 0,
    seed: int = 0,
    progress: Progress = silent,
) -> tuple[Reconstruction, Schema]:
    """Estimate the table before perturbation, as :func:`noren.retention.reconstruction.reconstruct` does.

    The driver holds the different records and how often each occurs: of a table that is worked out whole at most its
    cells, 16,777,216, of a larger one at most 10,000,000. Also returned is the schema of the public part.
    """
    with at_work(engine, progress) as (spark, told):
        public, statement = load_public(spark, release)
        found = reconstruct_seen(
            public.schema,
            statement,
            lambda made: seen_on_cluster(public, statement, made),
            model,
            attributes=attributes,
            interactions=interactions,
            bootstrap=bootstrap,
            seed=seed,
            progress=told,
        )
    return found, public.schema


def seen_on_cluster(public: ClusterRecords, statement: Statement, made: Perturbation) -> SeenRecords:
    """Return the different records of a release with their counts.

    Of a table that is too large to be worked out whole, records are dealt into folds as they follow each other. Alike
    ones do, as releases are sorted; so they are counted with all their attributes and kept in order.
    """
    if made.cells <= LARGEST_TABLE:
        return _counted(public, made, LARGEST_TABLE)
    every = stated_perturbation(public.schema, statement)
    return _counted(public, every, MOST_COMBINATIONS).only([every.names.index(name) for name in made.names])


def seen_before(original: ClusterRecords, made: Perturbation) -> SeenRecords:
    """Return the different records of an original, in the values that were perturbed, with their counts."""
    return _counted(original, made, LARGEST_TABLE if made.cells <= LARGEST_TABLE else MOST_COMBINATIONS, before=True)


def _counted(records: ClusterRecords, made: Perturbation, most: int, *, before: bool = False) -> SeenRecords:
    """Return the different records with their counts, in the order of the first row of each."""
    from pyspark.sql import functions as f

    names = [f"a{at}" for at in range(len(made.names))]
    if PLACE in records.frame.columns:
        records = records.with_frame(records.frame.withColumn(ROW, f.col(PLACE)))

    def kernel(block: Records, rows: pl.Series) -> pl.DataFrame:
        codes = made.codes(block.frame) if before else made.places(block.frame)
        return pl.DataFrame(dict(zip(names, codes, strict=True))).with_columns(rows)

    coded = records.map(kernel, dict.fromkeys([*names, ROW], pl.Int64()))
    cure = _("name some of the attributes (--attributes), or use --engine local")
    by = {name: f.col(name) for name in names}
    found = counted(coded, by, rows=records.rows, most=most, cure=cure, first=f.min(ROW)).sort("first")
    return SeenRecords([found[name].to_numpy() for name in names], made.sizes, found[ROWS].to_numpy())
