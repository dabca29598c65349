"""Another name in every period, on a cluster."""

from __future__ import annotations

from noren.data.schema import Role
from noren.execution.edits import nobodys_rows
from noren.execution.frames import ROW, ClusterRecords
from noren.execution.names import CUSTOMER, NAME, in_order_of_appearance, named
from noren.execution.periods import period_of, stop_at_empty_periods
from noren.execution.plans import plan
from noren.execution.release import ClusterRelease
from noren.i18n import N_, _
from noren.methods.monthly_pseudonyms import MonthlyPseudonyms
from noren.progress import Progress, silent

__all__ = ["protect"]


@plan(
    MonthlyPseudonyms,
    driver=N_("cuts and sizes of at most 2,000 parts of the order of customers; the days, where periods are your own"),
)
def protect(
    method: MonthlyPseudonyms, original: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterRelease:
    """Replace customers by pseudonyms of their own in each period."""
    from pyspark.sql import functions as f

    progress(0.0, _("choosing pseudonyms"))
    stop_at_empty_periods(method, original)
    at = original.at(Role.CUSTOMER)
    owned = original.frame.filter(f.col(at).isNotNull()).withColumn("noren_period", period_of(method, original))
    units = owned.groupBy(f.col(at).alias(CUSTOMER), f.col("noren_period").alias("period"))
    people, count = in_order_of_appearance(units.agg(f.min(ROW).alias("first")))
    names = named(people, count, seed).select(CUSTOMER, "period", NAME)
    # rows without a date are a period of their own
    same = (f.col(at) == f.col(CUSTOMER)) & f.col("noren_period").eqNullSafe(f.col("period"))
    public = owned.join(names, same).withColumn(at, f.col(NAME)).select(*original.frame.columns)
    pseudonyms = names.select(f.col(NAME).alias("pseudonym"), CUSTOMER, "period")
    statement = method.statement(nobodys_rows(original))
    return ClusterRelease(original, original.with_frame(public), pseudonyms, statement, seed, original.rows)
