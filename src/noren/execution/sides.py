"""The original and a release side by side on a cluster: what attacks and measures look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import polars as pl

from noren.data.categories import as_released, release_categories
from noren.data.frames import History, Records
from noren.data.schema import Kind, Role, Schema
from noren.data.statement import Statement
from noren.errors import SchemaError
from noren.execution.frames import (
    PLACE,
    ROW,
    ClusterRecords,
    Types,
    as_records,
    cell_types,
    history_of,
    kept,
    of_records,
)
from noren.execution.guess import ClusterEvidence
from noren.execution.release import lined
from noren.i18n import _

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = [
    "SHOWN",
    "Keep",
    "both_sides",
    "history_in",
    "in_release_order",
    "in_released_words",
    "keeping",
    "original_of",
    "place_type",
    "public_of",
    "rowless",
]

Keep = Callable[["DataFrame"], "DataFrame"]
SHOWN = "noren_shown"
"""Whether a row of :func:`both_sides` has a public one."""


def rowless(records: ClusterRecords) -> History:
    """Return a history of the same columns and types without any row: what is asked of types is asked of it."""
    return history_in(pl.DataFrame(schema=cell_types(records.schema, records.types)), records.schema, records.types)


def history_in(block: pl.DataFrame, schema: Schema, types: Types, letter: str = "c") -> History:
    """Return a block of rows as the history it is a part of."""
    records = as_records(block, schema, types, letter)
    if not isinstance(records, History):
        raise SchemaError(_("the original is a table"), _("this measure judges purchase histories"))
    return records


def original_of(evidence: ClusterEvidence) -> ClusterRecords:
    """Return the original, which must be a history."""
    if evidence.original.schema.kind != Kind.HISTORY:
        raise SchemaError(_("the original is a table"), _("this measure judges purchase histories"))
    return evidence.original


def in_released_words(original: ClusterRecords, statement: Statement) -> ClusterRecords:
    """Return the original in the words of a release: see :func:`noren.data.categories.as_released`."""
    if release_categories(statement) is None:
        return original
    types = {**original.types, original.schema.role(Role.ITEM).name: pl.String()}

    def kernel(block: Records, rows: pl.Series) -> pl.DataFrame:
        return of_records(as_released(history_of(block), statement)).with_columns(rows)

    return original.with_frame(
        original.map(kernel, {**cell_types(original.schema, types), ROW: pl.Int64()}), types=types
    )


def public_of(evidence: ClusterEvidence) -> ClusterRecords:
    """Return the public rows, which must be a history."""
    if evidence.release.public.schema.kind != Kind.HISTORY:
        raise SchemaError(_("the release is a table"), _("this measure judges purchase histories"))
    return evidence.release.public


def both_sides(evidence: ClusterEvidence) -> DataFrame:
    """Return every original row beside the public row that stands for it.

    Columns are those of the original (``c0``, …), those of the release (``p0``, …), null where the row was deleted, and
    :data:`SHOWN`. Inserted rows are left out.
    """
    from pyspark.sql import functions as f

    original, public = original_of(evidence), public_of(evidence)
    known = [f"c{at}" for at in range(len(original.schema.names))]
    said = [f.col(f"c{at}").alias(f"p{at}") for at in range(len(public.schema.names))]
    released = public.frame.filter(f.col(ROW).isNotNull()).select(
        *said, f.col(ROW).alias("noren_origin"), f.lit(True).alias(SHOWN)
    )
    joined = original.frame.select(*known, ROW).join(released, f.col(ROW) == f.col("noren_origin"), "left")
    return joined.drop("noren_origin")


def in_release_order(public: ClusterRecords) -> ClusterRecords:
    """Return public rows with :data:`~noren.execution.frames.PLACE` beside them, what they are ordered by.

    That is where they stand in the files, or, of a release that is not written yet, their text: it is written in that
    order.
    """
    if PLACE in public.frame.columns:
        return public
    return public.with_frame(lined(public).withColumnRenamed("line", PLACE))


def place_type(public: ClusterRecords) -> pl.DataType:
    """Return the type of :data:`~noren.execution.frames.PLACE`: a number, or a text."""
    return pl.String() if dict(public.frame.dtypes)[PLACE] == "string" else pl.Int64()


@contextmanager
def keeping() -> Iterator[Keep]:
    """Give what keeps a frame that is used more than once on the workers' disks, until all is done."""
    held: list[DataFrame] = []

    def keep(frame: DataFrame) -> DataFrame:
        held.append(frame)
        return kept(frame)

    try:
        yield keep
    finally:
        for frame in held:
            frame.unpersist()
