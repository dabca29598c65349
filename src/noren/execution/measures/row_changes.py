"""How far cells moved and how many rows are gone, on a cluster: E4 to E6."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from noren.data.arrays import exact_values, numbers
from noren.data.schema import Role
from noren.execution.frames import ROW, map_blocks
from noren.execution.guess import ClusterEvidence
from noren.execution.plans import plan
from noren.execution.sides import SHOWN, both_sides, history_in, original_of, public_of
from noren.i18n import N_
from noren.measures.utility.row_changes import E4, E5, E6, RowChange
from noren.progress import Progress, silent
from noren.protocols import Score

__all__ = ["deleted", "moved"]


@plan(E4, driver=N_("a sum and two counts"))
@plan(E5, driver=N_("a sum and two counts"))
def moved(measure: RowChange, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Sum up how far the cells of rows that stand beside their originals moved."""
    from pyspark.sql import functions as f

    original, public = original_of(evidence), public_of(evidence)
    one, other = (original.schema, original.types), (public.schema, public.types)
    column = original.schema.role(measure.role)

    def kernel(block: pl.DataFrame) -> pl.DataFrame:
        known, released = history_in(block, *one), history_in(block, *other, "p")
        kept = released[Role.CUSTOMER].is_not_null()
        values, said = (numbers(exact_values(side, column).filter(kept)) for side in (known, released))
        errors = measure.row_errors(values, said)
        counts = {"moved": [np.count_nonzero(errors)], "compared": [np.count_nonzero(~np.isnan(values))]}
        return pl.DataFrame({"total": [float(errors.sum())]} | counts)

    into = {"total": pl.Float64(), "moved": pl.Int64(), "compared": pl.Int64()}
    paired = both_sides(evidence).filter(SHOWN)
    sums: Any = map_blocks(paired, kernel, into).agg(*(f.sum(name) for name in into)).first()
    return measure.score_of(float(sums[0] or 0.0), int(sums[1] or 0), int(sums[2] or 0), original.rows)


@plan(E6, driver=N_("one count"))
def deleted(measure: E6, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Count the original rows that public rows stand for."""
    left = evidence.release.public.frame.select(ROW).dropna().distinct().count()
    return measure.score_of(evidence.release.original_rows - left, original_of(evidence).rows)
