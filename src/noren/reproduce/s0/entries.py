"""What 13 teams of the kinds of S0's Table 5 hand in, made with our methods on the data of the final."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from noren.data.arrays import exact_values, numbers
from noren.data.catalog import open_dataset
from noren.data.fits import history_classes
from noren.data.frames import History
from noren.data.release import Release
from noren.data.schema import Role, Scale
from noren.data.statement import Statement
from noren.kernels.judging.cell_error import population_sd
from noren.measures.utility.cell_error import cell_errors
from noren.methods import methods
from noren.work.store import kept

__all__ = ["DATA", "ENTRIES", "RECIPES", "CupEntry", "customers", "left_alone", "make_release", "release_of"]

DATA = "pwscup2018-final"
SEED = 1

RECIPES: dict[str, tuple[str, Mapping[str, Any]]] = {
    "names alone": ("pseudonymize", {}),
    "thin 20 %": ("thin", {"share": 0.2}),
    "pairs": ("generalize", {"k": 2}),
    "pairs in blocks": ("generalize", {"k": 2, "block": 50}),
    "pairs by count, suppressed": ("generalize-by-count", {"k": 2, "suppress_cells": True}),
    "pairs by count": ("generalize-by-count", {"k": 2}),
    "triples": ("generalize", {"k": 3, "effort": "quick"}),
    "triples by count, suppressed": ("generalize-by-count", {"k": 3, "suppress_cells": True}),
}
"""Releases that the entries are, or are made of."""


@dataclass(frozen=True)
class CupEntry:
    """What a team hands in: its kind in Table 5, the recipe, and how many customers are then left as they were."""

    kind: str
    recipe: str
    alone: int = 0


ENTRIES: dict[str, CupEntry] = {
    "A": CupEntry("unique", "names alone"),
    "B": CupEntry("unique", "thin 20 %"),
    "C": CupEntry("unique", "pairs", alone=100),
    "D": CupEntry("two alone", "pairs", alone=2),
    "E": CupEntry("two alone", "pairs by count, suppressed", alone=2),
    "F": CupEntry("pairs", "pairs"),
    "G": CupEntry("pairs", "pairs"),
    "H": CupEntry("pairs", "pairs"),
    "I": CupEntry("pairs", "pairs in blocks"),
    "J": CupEntry("pairs", "pairs by count, suppressed"),
    "K": CupEntry("pairs", "pairs by count"),
    "L": CupEntry("triples", "triples"),
    "M": CupEntry("based on triples", "triples by count, suppressed"),
}
"""The 13 teams. Three have the best pairs, as three had in 2018; what was *based on triples* S0 does not say."""


def release_of(entry: CupEntry) -> Release:
    """Return the release that a team hands in."""
    release = Release.load(kept(make_release, entry.recipe, data=(DATA,)))
    return left_alone(customers(), release, entry.alone) if entry.alone else release


def make_release(folder: Path, recipe: str) -> None:
    """Write the release of a recipe into a folder there is."""
    method, parameters = RECIPES[recipe]
    methods.create(method, **parameters).protect(customers(), seed=SEED).write_into(folder)


def left_alone(original: History, release: Release, count: int) -> Release:
    """Return a release in which at least so many customers have their rows as they were, under their pseudonyms.

    Whole classes are given up, those first that lose most, so nobody else is left without company.
    """
    if not isinstance(release.public, History):
        raise TypeError(release.public)
    column = original.schema.role(Role.CUSTOMER).name
    lost = pl.DataFrame({"customer": original[Role.CUSTOMER].cast(pl.String), "loss": _losses(original, release)})
    known = release.secret.pseudonyms.cast(pl.String).join(history_classes(release.public), on="pseudonym")
    classes = (
        lost.group_by("customer")
        .agg(pl.col("loss").sum())
        .join(known, on="customer")
        .group_by("class")
        .agg(pl.col("loss").mean(), pl.len().alias("members"))
        .sort("loss", "class", descending=[True, False])
    )
    given_up = classes.filter(pl.col("members").cum_sum().shift(1, fill_value=0) < count)["class"]
    theirs = known.filter(pl.col("class").is_in(given_up.implode())).select("customer", name="pseudonym")
    names = lost.join(theirs, on="customer", how="left", maintain_order="left")["name"]
    both = release.aligned().texts().with_columns(names.alias("name")), original.texts()
    plain = [
        pl.when(pl.col("name").is_null()).then(pl.col(c)).otherwise(both[1][c] if c != column else pl.col("name"))
        for c in original.schema.names
    ]
    statement = Statement("by hand", {"alone": count, "of": release.statement.method})
    aligned = History.of_release(both[0].select(plain), original.schema)
    return Release.of_aligned(original, aligned, statement, seed=SEED)


def _losses(original: History, release: Release) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return what each original row costs: its cells' errors, or all its cells where it was deleted."""
    columns = original.measured()
    cost = np.full(len(original), float(len(columns)))
    origin = release.secret.origin
    cost[origin.to_numpy()] = 0.0
    for column in columns:
        values = exact_values(original, column)
        sd = 0.0 if column.scale == Scale.NOMINAL else population_sd(numbers(values))
        cost[origin.to_numpy()] += cell_errors(values.gather(origin), release.public.frame[column.name], column, sd)
    return cost


@cache
def customers() -> History:
    """Return the data of the final."""
    data = open_dataset(DATA).data
    if not isinstance(data, History):
        raise TypeError(DATA)
    return data
