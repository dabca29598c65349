"""An original's columns beside a release's, in the same words, so that both fall into the same bars.

A release may speak of other things than the original: of categories in place of items, of classes of numbers, of labels
of a hierarchy. Categories and classes are public, so the original is said in them. A label means the values that stand
under it, as for the measure ``table-loss``: a set of texts, or the interval from the least to the largest.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from noren.data.categories import as_released
from noren.data.cells import is_generalised
from noren.data.frames import History, Records, Table
from noren.data.release import Release
from noren.data.schema import Column, Role, Scale, ValueType
from noren.drawing.histograms import MOST_BARS, Axis, axis_of, charted_columns
from noren.judgement.page_text import printable
from noren.retention.attributes import Attribute
from noren.retention.perturbation import Perturbation, perturbation_of

__all__ = ["MOST_VALUES", "Bars", "Beside", "bars_of", "meant_by", "perturbed_by", "side_by_side"]

MOST_COLUMNS = 10
MOST_VALUES = 20
"""Bars of a nominal column, one of them for all other values."""
_LONGEST_LABEL = 60


@dataclass(frozen=True)
class Beside:
    """A column before and after; of a table perturbed by retention also the attribute that it was perturbed as."""

    column: Column
    original: pl.Series
    released: pl.Series
    attribute: Attribute | None = None


def perturbed_by(release: Release) -> Perturbation | None:
    """Return how a release by retention was perturbed; none for others."""
    if not isinstance(release.public, Table) or release.statement.method != "retention":
        return None
    return perturbation_of(release.public, release.statement)


def side_by_side(original: Records, release: Release) -> list[Beside]:
    """Return the columns worth a look that both sides have: what a release generalises, and what is sensitive."""
    made = perturbed_by(release)
    if made is not None:
        return [_as_attribute(original, release, a) for a in made.attributes[:MOST_COLUMNS]]
    told = as_released(original, release.statement) if isinstance(original, History) else original
    sensitive = () if isinstance(original, History) else original.schema.with_role(Role.SENSITIVE)
    columns = (*charted_columns(original), *(c for c in sensitive if c.type != ValueType.TIME))
    found = []
    for column in columns[:MOST_COLUMNS]:
        if column.name not in release.public.frame.columns or is_generalised(told.frame[column.name].dtype):
            continue
        before, after = told.frame[column.name], release.public.frame[column.name]
        meant = meant_by(before, after, column, release)
        if meant is not None:
            found.append(Beside(column, before, meant))
    return found


def _as_attribute(original: Records, release: Release, attribute: Attribute) -> Beside:
    before, after = original.frame[attribute.name], release.public.frame[attribute.name]
    if not attribute.numeric:
        before = attribute.values(attribute.codes(before))
    return Beside(attribute.column, before, after, attribute)


def meant_by(values: pl.Series, cells: pl.Series, column: Column, release: Release) -> pl.Series | None:
    """Return the cells, labels by the values that stand under them; none where nobody can say what they mean."""
    if is_generalised(cells.dtype) or (column.scale != Scale.NOMINAL and cells.dtype != pl.String):
        return cells
    labels = cells.cast(pl.String)
    if column.scale == Scale.NOMINAL:
        known = values.cast(pl.String).drop_nulls().unique()
        strange = labels.drop_nulls().unique()
        strange = strange.filter(~strange.is_in(known.implode()))
        if not len(strange):
            return cells
    methods = {step.method for step in release.statement.steps}
    if release.secret.original_rows != len(values) or "retention" in methods:
        return cells if column.scale == Scale.NOMINAL else None
    seen = pl.DataFrame({"label": labels, "value": values.gather(release.secret.origin)}).drop_nulls()
    value = pl.col("value")
    if column.scale == Scale.NOMINAL:
        seen = seen.filter(pl.col("label").is_in(strange.implode())).with_columns(value.cast(pl.String))
        under = seen.unique().sort("label", "value").group_by("label", maintain_order=True).agg(cell=value)
        own = pl.DataFrame({"label": known}).select("label", cell=pl.concat_list("label"))
        meanings = pl.concat([own, under])
    else:
        meanings = seen.group_by("label").agg(cell=pl.struct(lo=value.min(), hi=value.max()))
    return pl.DataFrame({"label": labels}).join(meanings, on="label", how="left", maintain_order="left")["cell"]


# --- bars --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bars:
    """The bars of a column: a whole axis, and how many of its labels have a bar of their own."""

    axis: Axis
    shown: int

    @property
    def cut(self) -> Axis:
        """The axis of those that have a bar of their own."""
        return replace(self.axis, labels=self.axis.labels[: self.shown])

    def facts(self, *, others: bool) -> dict[str, Any]:
        """Return what a chart needs to know of its axis, as plain data; ``others`` adds a bar for all other values."""
        labels = [printable(label, _LONGEST_LABEL) for label in self.axis.labels[: self.shown]]
        return {
            "column": printable(self.axis.column.name),
            "nominal": self.axis.nominal,
            "unit": self.axis.unit,
            "width": float(self.axis.width),
            "labels": [*labels, ""] if others else labels,
            "others": others,
            "values": len(self.axis.labels),
        }


def bars_of(
    values: pl.Series, column: Column, most: int = MOST_BARS, attribute: Attribute | None = None
) -> Bars | None:
    """Return the bars for exact values: at most ``most``, and of a nominal column :data:`MOST_VALUES` with the last.

    Classes of numbers stand in their own order.
    """
    if attribute is not None and attribute.ends and attribute.size <= most:
        return Bars(Axis(column, tuple(attribute.labels()), np.empty(0)), attribute.size)
    axis = axis_of(values, column, most)
    if axis is None:
        return None
    if axis.nominal and len(axis.labels) > MOST_VALUES:
        return Bars(axis, MOST_VALUES - 1)
    return Bars(axis, len(axis.labels))
