"""Whole columns generalised on a cluster: combinations are counted there, and the driver searches the levels."""

from __future__ import annotations

from noren.data.cells import in_texts
from noren.execution.alike import combined, released
from noren.execution.frames import ClusterRecords
from noren.execution.plans import plan
from noren.execution.release import ClusterRelease
from noren.i18n import N_, _
from noren.methods.hierarchy import HierarchyMethod
from noren.methods.table_parts import stop_if_too_few_rows
from noren.progress import Progress, silent

__all__ = ["protect"]


@plan(
    HierarchyMethod,
    driver=N_("distinct combinations of quasi values (with l or t, of sensitive values too), at most 10,000,000"),
)
def protect(
    method: HierarchyMethod, original: ClusterRecords, *, seed: int, progress: Progress = silent
) -> ClusterRelease:
    """Generalise by the levels that one machine chooses."""
    quasi, sensitive = method.looked_at(original.schema)
    stop_if_too_few_rows(method.k, original.rows)
    progress(0.0, _("counting combinations"))
    table, counts = combined(original, [*quasi, *sensitive])
    chosen = method.levelled(table, quasi, sensitive, counts, progress=progress)
    kept = ~chosen.deleted
    cells = {name: in_texts(its.filter(kept)) for name, its in chosen.cells(table).items()}
    values = table.frame.select(cells.keys()).filter(kept)
    statement = method.statement(original.schema, chosen)
    return released(original, values, cells, statement, seed=seed, identifiers=method.identifiers)
