"""Rows of a released table as an analyst would use them, beside the original's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from pydantic import Field

from noren.data.frames import Table
from noren.data.schema import Kind, Schema
from noren.errors import SchemaError
from noren.i18n import N_, _
from noren.kernels.arrays import Real, Whole
from noren.measures.evidence import both_tables
from noren.protocols import Evidence, Measure
from noren.retention.perturbation import LARGEST_TABLE, perturbation_of
from noren.retention.reconstruction import WIDE_MODELS, reconstruct, stated_model


@dataclass(frozen=True)
class TableRows:
    """Original and released rows of the same columns; nominal columns hold texts, numbered alike, others numbers."""

    original: pl.DataFrame
    released: pl.DataFrame

    @property
    def names(self) -> list[str]:
        """The columns that both have."""
        return self.original.columns


class OfTables(Measure):
    """A measure that analyses the rows of a released table; those of retention are reconstructed first."""

    accepts = frozenset({Kind.TABLE})
    side = "utility"

    model: Literal["stated", "none", "em", "independence", "loglinear", "ml", "auto"] = Field(
        default="stated", description=N_("how to reconstruct a release by retention; stated: as the release says")
    )
    seed: int = Field(default=0, ge=0, description=N_("the same seed gives the same result"))


def rows_of(measure: OfTables, evidence: Evidence, only: Whole | None = None) -> TableRows:
    """Return the rows to analyse: reconstructed records of a release by retention, else the released rows.

    With ``only``, the released rows that stand for these original rows alone.
    """
    (original, public), release = both_tables(evidence), evidence.release
    if only is not None:
        in_part = release.secret.origin.is_in(pl.Series(only, dtype=pl.UInt32).implode())
        public = Table(public.frame.filter(in_part), public.schema)
    if release.statement.method != "retention":
        names = shared_names(original.schema, public.schema)
        same = [n for n in names if original.frame[n].dtype == public.frame[n].dtype]
        return _side_by_side(original.frame.select(same), public.frame.select(same))
    made = perturbation_of(public.schema, release.statement)
    before = made.classed(original.frame)
    after = public.frame.select(made.names)
    chosen = stated_model(release.statement, None if measure.model == "stated" else measure.model)
    # a model of whole tables has nothing to say of one that does not fit memory: its rows as they stand
    if chosen != "none" and (made.cells <= LARGEST_TABLE or chosen in WIDE_MODELS):
        after = reconstruct(public, release.statement, chosen, seed=measure.seed).records(measure.seed)
    ordered = [a.name for a in made.attributes if a.numeric]
    return _side_by_side(before, after, ordered)


def shared_names(original: Schema, released: Schema) -> list[str]:
    """Return the columns of a release that the original has too."""
    names = [name for name in released.names if name in original.names]
    if not names:
        raise SchemaError(_("the release has no column of the original; give the original that was protected"))
    return names


def _side_by_side(before: pl.DataFrame, after: pl.DataFrame, ordered: list[str] | None = None) -> TableRows:
    """Return texts and numbers, dates as days."""
    original, released = [], []
    for column in before.iter_columns():
        both = column, after[column.name]
        numeric = all(values.dtype.is_numeric() or values.dtype.is_temporal() for values in both)
        if numeric and (ordered is None or column.name in ordered):
            first, second = (values.to_physical().cast(pl.Float64) for values in both)
        else:
            first, second = (values.cast(pl.String).fill_null("") for values in both)
            known = pl.Enum(pl.concat([first.unique(), second.unique()]).unique().sort())
            first, second = first.cast(known), second.cast(known)
        original.append(first)
        released.append(second)
    return TableRows(pl.DataFrame(original), pl.DataFrame(released))


def encoded(
    rows: TableRows, names: list[str], before: Whole | None = None, after: Whole | None = None
) -> tuple[Real, Real]:
    """Return both tables as numbers on the same scale: a column for each text, numbers by the original's spread.

    ``before`` and ``after`` are the rows to take of each, all where left out.
    """
    original, released = [], []
    for name in names:
        values, others = rows.original[name], rows.released[name]
        first = values if before is None else values.gather(before)
        second = others if after is None else others.gather(after)
        if isinstance(values.dtype, pl.Enum):
            for value in values.dtype.categories.to_list():
                original.append((first == value).cast(pl.Float64).to_numpy())
                released.append((second == value).cast(pl.Float64).to_numpy())
        else:
            numbers = values.fill_null(0.0).to_numpy()
            middle, spread = float(numbers.mean()), float(numbers.std()) or 1.0
            original.append((first.fill_null(0.0).to_numpy() - middle) / spread)
            released.append((second.fill_null(0.0).to_numpy() - middle) / spread)
    return np.stack(original, axis=1), np.stack(released, axis=1)
