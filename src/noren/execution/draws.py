"""Data sets drawn from a release on a cluster: the same that one machine draws."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Any

import polars as pl

from noren.data.categories import release_categories
from noren.data.draws import Draws
from noren.data.frames import History, Records
from noren.errors import ParameterError
from noren.execution.frames import PLACE, ClusterRecords, Types, history_of
from noren.execution.guess import ClusterEvidence
from noren.execution.sides import in_release_order, original_of, place_type, public_of, rowless
from noren.i18n import _
from noren.measures.utility.on_draws import OnDraws
from noren.measures.utility.purchases import purchase_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["ORIGINAL", "purchases_and_draws"]

ORIGINAL = -1
"""The number of the original among the draws."""
_AT_ONCE = 10
_ROWS: Types = {
    "draw": pl.Int32(),
    "customer": pl.String(),
    "item": pl.String(),
    "day": pl.Float64(),
    "price": pl.Float64(),
    "quantity": pl.Float64(),
}


def purchases_and_draws(measure: OnDraws, evidence: ClusterEvidence) -> DataFrame:
    """Return the purchases of the original, as draw :data:`ORIGINAL`, and those of each draw from the release.

    The driver holds the items of the original, and the least and greatest value of each column: what suppressed cells
    are drawn from.
    """
    original, public = original_of(evidence), in_release_order(public_of(evidence))
    if place_type(public) != pl.Int64():
        raise ParameterError(_("the release is not written yet"), _("write it first, and measure its folder"))
    asked, seed, spans = measure.asked, measure.seed, _spans(original)
    categories = release_categories(evidence.release.statement)

    def known(block: Records, _rows: pl.Series) -> pl.DataFrame:
        return purchase_rows(history_of(block), asked).with_columns(draw=pl.lit(ORIGINAL))

    def drawn(first: int, stop: int) -> DataFrame:
        def kernel(block: Records, beside: Any) -> pl.DataFrame:
            places = beside[PLACE].to_numpy()
            draws = Draws(spans, history_of(block), seed=seed, categories=categories, places=places)
            return pl.concat(purchase_rows(draws[at], asked).with_columns(draw=pl.lit(at)) for at in range(first, stop))

        return public.map(kernel, _ROWS, also=(PLACE,))

    starts = range(0, measure.draws, _AT_ONCE)
    parts = [drawn(first, min(first + _AT_ONCE, measure.draws)) for first in starts]
    return reduce(lambda one, other: one.unionByName(other), parts, original.map(known, _ROWS))


def _spans(original: ClusterRecords) -> History:
    """Return a few rows that have the original's items, least and greatest values, and a blank where there is one."""
    from pyspark.sql import functions as f

    none = rowless(original)
    measured = none.measured()
    cells = [original.column(column) for column in measured]
    texts = [column.scale == "nominal" for column in measured]
    asked = [
        f.collect_set(cell) if text else f.array(f.min(cell), f.max(cell))
        for cell, text in zip(cells, texts, strict=True)
    ]
    found: Any = original.frame.agg(*asked, *(f.count(f.when(cell.isNull(), 1)) for cell in cells)).first()
    values = [[value for value in found[at] or () if value is not None] for at in range(len(measured))]
    blank = [[None] if found[len(measured) + at] or not values[at] else [] for at in range(len(measured))]
    length = max((len(v) + len(b) for v, b in zip(values, blank, strict=True)), default=0)
    columns = {
        column.name: pl.Series(column.name, [*b, *v, *(v or b)[-1:] * (length - len(v) - len(b))], strict=False).cast(
            column.dtype
        )
        for column, v, b in zip(measured, values, blank, strict=True)
    }
    whole = pl.DataFrame(
        {
            name: columns.get(name, pl.Series(name, [None] * length, dtype=dtype))
            for name, dtype in none.frame.schema.items()
        }
    )
    return History(whole, original.schema)
