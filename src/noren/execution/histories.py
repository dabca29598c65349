"""Public histories on a cluster: who shows which, and how many show the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from noren.data.fits import row_texts
from noren.data.frames import Records
from noren.data.schema import Role
from noren.execution.frames import ClusterRecords, history_of
from noren.kernels.arrays import Whole

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["class_sizes", "classes_of", "histories_of"]

_LANES = 8


def histories_of(public: ClusterRecords) -> DataFrame:
    """Return the pseudonyms with a digest of each one's history and its number of rows.

    A row's text is hashed to 256 bits (SHA-256), and these are added up as eight numbers, so the order of rows says
    nothing and no history need be in one place. Equal histories have equal digests; that different ones have, nobody
    will see.
    """
    from pyspark.sql import functions as f

    names = [f"r{at}" for at in range(len(public.schema.names) - 1)]

    def kernel(block: Records, _rows: pl.Series) -> pl.DataFrame:
        texts = row_texts(history_of(block))
        return texts.rename(dict(zip(texts.columns, names, strict=True))).with_columns(
            history_of(block)[Role.CUSTOMER].alias("pseudonym")
        )

    rows = public.map(kernel, dict.fromkeys([*names, "pseudonym"], pl.String()))
    digest = f.sha2(f.to_json(f.struct(*names)) if names else f.lit(""), 256)
    lanes = [f.conv(f.substring("digest", 1 + 8 * at, 8), 16, 10).cast("long") for at in range(_LANES)]
    sums = (
        rows.filter("pseudonym IS NOT NULL")
        .select("pseudonym", digest.alias("digest"))
        .groupBy("pseudonym")
        .agg(f.count(f.lit(1)).alias("rows"), *(f.sum(lane).alias(f"l{at}") for at, lane in enumerate(lanes)))
    )
    whole = f.sha2(f.concat_ws(" ", "rows", *(f"l{at}" for at in range(_LANES))), 256)
    return sums.select("pseudonym", whole.alias("history"), "rows")


def classes_of(public: ClusterRecords) -> DataFrame:
    """Return each public ``history`` once: one ``pseudonym`` that has it, its ``rows``, how many are ``sharing`` it."""
    from pyspark.sql import functions as f

    each = histories_of(public).groupBy("history")
    return each.agg(f.min("pseudonym").alias("pseudonym"), f.max("rows").alias("rows"), f.count("*").alias("sharing"))


def class_sizes(public: ClusterRecords) -> tuple[Whole, Whole]:
    """Return the different sizes of classes of equal histories, and how many classes have each.

    The sizes add up to the pseudonyms, so of n pseudonyms there are at most √(2n) different ones.
    """
    found = classes_of(public).groupBy("sharing").count().orderBy("sharing").collect()
    sizes, times = ([int(row[at]) for row in found] for at in range(2))
    return np.array(sizes, dtype=np.int64), np.array(times, dtype=np.int64)
