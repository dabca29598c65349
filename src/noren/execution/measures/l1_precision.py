"""L1 precision on a cluster: records are counted there, tables estimated and compared on the driver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from noren.data.schema import Kind
from noren.errors import SchemaError
from noren.execution.frames import ClusterRecords
from noren.execution.guess import ClusterEvidence
from noren.execution.plans import plan
from noren.execution.reconstruction import seen_before, seen_on_cluster
from noren.i18n import N_, _
from noren.measures.utility.l1_precision import L1Precision, plainly, shared_names
from noren.progress import Progress, silent
from noren.protocols import Score

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["measure"]


@plan(
    L1Precision,
    driver=N_("of a release by retention: the different records with their counts, at most 16,777,216"),
)
def measure(measure: L1Precision, evidence: ClusterEvidence, *, progress: Progress = silent) -> Score:
    """Return the share of records in the right cell."""
    original, release = evidence.original, evidence.release
    if original.schema.kind != Kind.TABLE or release.public.schema.kind != Kind.TABLE:
        raise SchemaError(_("the data are a history"), _("this measure judges tables"))
    if release.statement.method == "retention":
        return measure.of_seen(
            release.public.schema,
            release.statement,
            lambda made: seen_before(original, made),
            lambda made: seen_on_cluster(release.public, release.statement, made),
            progress,
        )
    names = shared_names(original.schema, release.public.schema)
    return plainly(names, lambda kept: _apart(original, release.public, kept), original.rows, release.public.rows)


def _apart(original: ClusterRecords, public: ClusterRecords, names: list[str]) -> float:
    """Add up, over the combinations of values of some columns, by how many rows both tables differ."""
    from pyspark.sql import functions as f

    def signed(records: ClusterRecords, sign: int) -> DataFrame:
        cells = (
            records.column(n) if original.types[n] == public.types[n] else records.column(n).cast("string")
            for n in names
        )
        keys = (cell.alias(f"k{at}") for at, cell in enumerate(cells))
        return records.frame.select(*keys, f.lit(sign).alias("sign"))

    keys = [f"k{at}" for at in range(len(names))]
    by_key = signed(original, 1).union(signed(public, -1)).groupBy(*keys).agg(f.sum("sign").alias("more"))
    row = by_key.agg(f.sum(f.abs("more"))).first()
    return float(row[0] or 0) if row is not None else 0.0
