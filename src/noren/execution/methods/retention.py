"""Retention on a cluster: every row is perturbed where it lies, by the numbers of its place in the original."""

from __future__ import annotations

import polars as pl

from noren.data.frames import Records
from noren.data.schema import Scale
from noren.errors import ValueInCellError
from noren.execution.counts import distinct_values
from noren.execution.frames import ROW, ClusterRecords, cell_types
from noren.execution.plans import plan
from noren.execution.release import ClusterRelease
from noren.i18n import N_, _
from noren.kernels.arrays import Whole
from noren.methods.retention import Retention
from noren.progress import Progress, silent
from noren.retention.perturbation import Perturbation

__all__ = ["protect"]


@plan(
    Retention,
    driver=N_("with --domains data, the values of columns without a declared domain, at most 1,000,000 of each"),
)
def protect(method: Retention, original: ClusterRecords, *, seed: int, progress: Progress = silent) -> ClusterRelease:
    """Perturb the chosen columns; row i gets the i-th numbers, as on one machine."""
    perturbation = method.plan(original.schema, original.rows, _seen(method, original))
    progress(0.1, _("perturbing"))
    schema = perturbation.released_schema(original.schema)
    types = {column.name: column.dtype for column in schema.columns}

    def kernel(block: Records, rows: pl.Series) -> pl.DataFrame:
        places = rows.to_numpy()
        released = perturbation.frame(perturbation.perturbed_at(_codes(perturbation, block, places), places, seed=seed))
        return released.select(pl.col(name).alias(f"c{at}") for at, name in enumerate(schema.names)).with_columns(rows)

    frame = original.map(kernel, cell_types(schema, types) | {ROW: pl.Int64()})
    public = ClusterRecords(frame, schema, original.rows, types)
    return ClusterRelease(original, public, None, method.statement(perturbation, original.rows), seed, original.rows)


def _seen(method: Retention, original: ClusterRecords) -> pl.DataFrame | None:
    """Return the values of the columns whose domains are to be taken from the data; the others are left empty."""
    if method.domains != "data":
        return None
    names = method.released_names(original.schema)
    asked = [n for n in names if original.schema[n].scale == Scale.NOMINAL and original.schema[n].domain is None]
    found = {name: distinct_values(original, name) for name in asked}
    longest = max(map(len, found.values()), default=0)
    columns = [found.get(name, pl.Series(name, [], pl.String)) for name in names]
    return pl.DataFrame([values.extend_constant(None, longest - len(values)) for values in columns])


def _codes(perturbation: Perturbation, block: Records, places: Whole) -> list[Whole]:
    """Return the codes of a block; a value outside its domain is named with its row of the original."""
    try:
        return perturbation.codes(block.frame)
    except ValueInCellError as error:
        said = error.problem
        row = None if said.row is None else int(places[said.row - 1]) + 1
        raise ValueInCellError(said.rule, said.cure, row=row, column=said.column, value=said.value) from None
