"""What a table's cells lose, on a cluster: pairs of values and cells are counted there, judged on the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noren.data.schema import Kind
from noren.errors import ParameterError, SchemaError
from noren.execution.counts import MOST_COMBINATIONS, ROWS, counted
from noren.execution.frames import ROW, ClusterRecords
from noren.execution.guess import ClusterEvidence
from noren.execution.plans import plan
from noren.i18n import N_, _
from noren.measures.utility.table_losses import CellLoss, CellPairs, EntropyLoss, TableLoss, on_hierarchy
from noren.progress import Progress, silent
from noren.protocols import Score

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["measure"]

_DRIVER = N_("of each quasi column the different pairs of value and released cell, at most 10,000,000")


@plan(EntropyLoss, driver=_DRIVER)
@plan(TableLoss, driver=_DRIVER)
def measure(measure: CellLoss, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Return what one machine says of such cells."""
    from pyspark import StorageLevel

    original, release = evidence.original, evidence.release
    if original.schema.kind != Kind.TABLE or release.public.schema.kind != Kind.TABLE:
        raise SchemaError(_("the release is a history"), _("give a release of a table"))
    if release.original_rows != original.rows:
        raise ParameterError(
            _("the release was made of {released:,} rows, the original has {original:,}").format(
                released=release.original_rows, original=original.rows
            ),
            _("give the original that was protected"),
        )
    quasi, known = measure.compared(original.schema, release.public.schema)
    rows = _side_by_side(original, release.public, quasi).persist(StorageLevel.DISK_ONLY)
    try:
        pairs = {name: _pairs(rows, at, original, release.public, name) for at, name in enumerate(quasi)}
    finally:
        rows.unpersist()
    climbed = {name: on_hierarchy(original.schema, pairs[name], name, its) for name, its in known.items()}
    return measure.of_pairs(pairs, release.public.schema, climbed)


def _side_by_side(original: ClusterRecords, public: ClusterRecords, names: list[str]) -> DataFrame:
    """Return the values of every original row, its released cells, and whether it was deleted."""
    from pyspark.sql import functions as f

    values = original.frame.select(ROW, *(original.column(n).alias(f"v{at}") for at, n in enumerate(names)))
    cells = public.frame.select(
        f.col(ROW).alias("noren_of"), *(public.column(n).alias(f"s{at}") for at, n in enumerate(names))
    )
    both = values.join(cells, f.col(ROW) == f.col("noren_of"), "left")
    return both.withColumn("gone", f.col("noren_of").isNull()).drop(ROW, "noren_of")


def _pairs(rows: DataFrame, at: int, original: ClusterRecords, public: ClusterRecords, name: str) -> CellPairs:
    from pyspark.sql import functions as f

    cure = _("round the values first, or use --engine local")
    keys = {"value": f.col(f"v{at}"), "cell": f.col(f"s{at}"), "gone": f.col("gone")}
    found = counted(rows, keys, rows=original.rows, most=MOST_COMBINATIONS, cure=cure)
    values, cells = found["value"].cast(original.types[name]), found["cell"].cast(public.types[name])
    return CellPairs(values.alias(name), cells.alias(name), found["gone"].to_numpy(), found[ROWS].to_numpy())
