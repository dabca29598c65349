"""Rows made alike class by class on a cluster: combinations are counted there, and the driver cuts them."""

from __future__ import annotations

from noren.errors import ParameterError
from noren.execution.alike import combined, released
from noren.execution.frames import ClusterRecords
from noren.execution.plans import plan
from noren.execution.release import ClusterRelease
from noren.i18n import N_, _
from noren.methods.mondrian import Mondrian
from noren.methods.table_parts import stop_if_too_few_rows
from noren.progress import Progress, silent

__all__ = ["protect"]


@plan(
    Mondrian,
    driver=N_("distinct combinations of quasi values (with l or t, of sensitive values too), at most 10,000,000"),
)
def protect(method: Mondrian, original: ClusterRecords, *, seed: int, progress: Progress = silent) -> ClusterRelease:
    """Cut the combinations as one machine cuts the rows; those of equal values always stay together."""
    if method.relaxed:
        raise ParameterError(
            _("relaxed cuts part rows of equal value by their order, which no cluster keeps"),
            _("leave out --relaxed, or use --engine local"),
        )
    quasi, sensitive = method.looked_at(original.schema)
    stop_if_too_few_rows(method.k, original.rows)
    progress(0.0, _("counting combinations"))
    table, counts = combined(original, [*quasi, *sensitive])
    parted = method.parted(table, quasi, sensitive, counts, progress=progress)
    kept = ~parted.deleted
    cells = {name: its.filter(kept) for name, its in parted.cells.items()}
    values = table.frame.select(cells.keys()).filter(kept)
    statement = method.statement(original.schema, parted)
    return released(original, values, cells, statement, seed=seed, identifiers=method.identifiers)
