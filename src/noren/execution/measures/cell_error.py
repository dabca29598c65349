"""U on a cluster."""

from __future__ import annotations

import numpy as np
import polars as pl

from noren.data.arrays import exact_values
from noren.data.categories import as_released
from noren.data.schema import Scale
from noren.execution.frames import map_blocks
from noren.execution.guess import ClusterEvidence
from noren.execution.plans import plan
from noren.execution.sides import SHOWN, both_sides, history_in, original_of, public_of, rowless
from noren.execution.values import population_sds
from noren.i18n import N_
from noren.kernels.judging.cell_error import exact_sum
from noren.measures.utility.cell_error import CellError, cell_errors, error_of
from noren.progress import Progress, silent
from noren.protocols import Score

__all__ = ["measure"]


@plan(CellError, driver=N_("one sum and one standard deviation for each column"))
def measure(_measure: CellError, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Sum up what the cells of each column cost, block by block of rows that stand beside their originals."""
    from pyspark.sql import functions as f

    original, public = original_of(evidence), public_of(evidence)
    statement = evidence.release.statement
    columns = rowless(original).measured()
    paired = both_sides(evidence)
    spread = population_sds(original, [column for column in columns if column.scale != Scale.NOMINAL])
    one, other = (original.schema, original.types), (public.schema, public.types)

    def kernel(block: pl.DataFrame) -> pl.DataFrame:
        said = as_released(history_in(block, *one), statement)
        shown = block[SHOWN].fill_null(value=False)
        released = history_in(block.filter(shown), *other, "p").frame
        costs = {}
        for at, column in enumerate(columns):
            values = exact_values(said, column)
            errors = cell_errors(values.filter(shown), released[column.name], column, spread.get(column.name, 0.0))
            lost = (values.is_not_null() & ~shown).sum()
            costs[f"u{at}"] = exact_sum(np.append(errors, float(lost)))
        return pl.DataFrame({"deleted": [int((~shown).sum())]} | {name: [cost] for name, cost in costs.items()})

    into = {"deleted": pl.Int64()} | {f"u{at}": pl.Float64() for at in range(len(columns))}
    sums = map_blocks(paired, kernel, into).agg(*(f.sum(name).alias(name) for name in into)).first()
    totals = {str(column.role): float(sums[f"u{at}"] or 0.0) for at, column in enumerate(columns)} if sums else {}
    return error_of(totals, original.rows, int(sums["deleted"] or 0) if sums else 0)
