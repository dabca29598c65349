"""L1 precision: how much of a cross tabulation stays (S4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from pydantic import Field

from noren.data.schema import Kind, Schema
from noren.data.statement import Statement
from noren.i18n import N_, _
from noren.kernels.arrays import Real
from noren.measures.evidence import both_tables
from noren.measures.utility.table_rows import shared_names
from noren.progress import Progress, silent
from noren.protocols import Evidence, Headline, Measure, Score, UtilityAxis
from noren.retention.perturbation import LARGEST_TABLE, Perturbation, perturbation_of
from noren.retention.reconstructed import ObservedRecords
from noren.retention.reconstruction import WIDE_MODELS, Reconstruction, reconstruct_observed, stated_model

Look = Callable[[Perturbation], ObservedRecords]


def precision(original: Real, other: Real) -> float:
    """Return ``1 - Σ|x - y| / 2|R|`` for two tables of as many records.

    >>> precision(np.array([3.0, 1.0]), np.array([2.0, 2.0]))
    0.75
    """
    return 1 - float(np.abs(original - other).sum()) / (2 * max(float(original.sum()), 1.0))


class L1Precision(Measure):
    """The share of records that stand in the right cell of the cross tabulation.

    1 means that every cell has as many records as in the original, 0 that none of them has any. Of a release that was
    perturbed by retention two tables are judged: the perturbed one as it was released, and the one reconstructed from
    it; the value is that of the reconstructed one. Where all attributes together have too many cells, it is the mean
    over the tables of all pairs. Of other releases of exact values the released table is judged.

    References
    ----------
    S4: ``1 - Σ|x_i - y_i| / (2|R|)``.

    Examples
    --------
    Of four people three were f; among the released are two.

    >>> from noren.data.frames import Table
    >>> from noren.data.release import Release, Statement
    >>> from noren.data.schema import Column, Schema
    >>> schema = Schema(kind="table", columns=[Column(name="sex", role="quasi", domain=("f", "m"))])
    >>> original, released = (Table.of({"sex": list(sexes)}, schema) for sexes in ("fffm", "ffmm"))
    >>> release = Release.of_aligned(original, released, Statement("hand"))
    >>> L1Precision().measure(Evidence(original, release)).value
    0.75
    """

    name = "l1-precision"
    summary = N_(
        "The share of records in the right cell of a cross tabulation: 1 if every cell has its original count, 0 if no "
        "record is where one was."
    )
    source = "S4"
    accepts = frozenset({Kind.TABLE})
    goal = "higher"
    bounds = (0.0, 1.0)
    unit = N_("records in the right cell")
    headlines = (
        Headline(N_("L1 precision"), summary, of="perturbed", rank=0),
        Headline(N_("L1 precision before reconstruction"), summary, part="perturbed", of="perturbed", rank=1),
    )
    needs = frozenset({"original", "public", "exact"})
    side = "utility"
    part_names: ClassVar[Mapping[str, str]] = {"perturbed": N_("With noise"), "reconstructed": N_("Reconstructed")}
    utility_axis = UtilityAxis(
        N_("records in the right cell"),
        N_("utility kept, records in the right cell"),
        sentence=N_("The share of records in the right cell is {use}"),
        always=True,
        rank=1,
    )

    model: Literal["stated", "none", "em", "independence", "loglinear", "ml", "auto"] = Field(
        default="stated", description=N_("how to reconstruct a release by retention; stated: as the release says")
    )
    seed: int = Field(default=0, ge=0, description=N_("the same seed gives the same result"))

    def measure(self, evidence: Evidence, *, progress: Progress = silent) -> Score:
        """Return the precision of the whole table; its parts are those of each attribute and each pair."""
        original, public = both_tables(evidence)
        if evidence.release.statement.method != "retention":
            names = shared_names(original.schema, public.schema)
            return direct_l1(names, lambda some: _apart(original.frame, public.frame, some), len(original), len(public))
        return self.of_seen(
            public.schema,
            evidence.release.statement,
            lambda made: ObservedRecords(made.codes(original.frame), made.sizes),
            lambda made: ObservedRecords(made.places(public.frame), made.sizes),
            progress,
        )

    def of_seen(
        self, schema: Schema, statement: Statement, before: Look, after: Look, progress: Progress = silent
    ) -> Score:
        """Return the precision of a release by retention, wherever its records lie.

        ``before`` and ``after`` count the original's and the released records of some attributes.
        """
        made = perturbation_of(schema, statement)
        original, released = before(made), after(made)
        chosen = None if self.model == "stated" else self.model

        def reconstructed(names: Sequence[str], seen: ObservedRecords, progress: Progress) -> Reconstruction:
            """Reconstruct some attributes, ``seen`` being the released records of these."""
            how: dict[str, Any] = {"attributes": names, "seed": self.seed, "progress": progress}
            return reconstruct_observed(schema, statement, lambda _made: seen, chosen, **how)

        if made.cells > LARGEST_TABLE:
            return _by_pairs(made, original, released, stated_model(statement, chosen), reconstructed, progress)
        every = range(len(made.names))
        x, y = original.table(every), released.table(every)
        parts = {"perturbed": precision(x, y)} | _margins(made, x, y, "perturbed")
        reconstruction = reconstructed(made.names, released, progress)
        if reconstruction.model == "none":
            return Score(parts["perturbed"], parts)
        value = precision(x, reconstruction.table)
        parts |= {"reconstructed": value} | _margins(made, x, reconstruction.table, "reconstructed")
        return Score(value, parts, {"model": reconstruction.model, "made_of": reconstruction.made_of})


def _by_pairs(
    made: Perturbation,
    original: ObservedRecords,
    released: ObservedRecords,
    model: str,
    reconstructed: Callable[[Sequence[str], ObservedRecords, Progress], Reconstruction],
    progress: Progress,
) -> Score:
    """Return the mean precision of all pairs' tables, where one of all attributes would not fit memory."""
    every = [places for count in (1, 2) for places in combinations(range(len(made.names)), count)]
    # a model of whole tables works on each pair by itself, the others on all of them together
    whole = reconstructed(made.names, released, progress) if model in WIDE_MODELS else None
    parts: dict[str, float] = {}
    sums: dict[str, list[float]] = {"perturbed": [], "reconstructed": []}
    for done, places in enumerate(every):
        some, x = made.only(places), original.table(places)
        tables = {"perturbed": released.table(places)}
        if whole is None:
            progress(done / len(every), _("reconstructing"))
            tables["reconstructed"] = reconstructed(some.names, released.only(places), silent).table
        elif model != "none":
            tables["reconstructed"] = whole.margin(some.names)
        for what, table in tables.items():
            share = precision(x, table)
            if len(places) == 2:
                sums[what].append(share)
            parts[f"{' × '.join(some.names)}, {what}"] = share
    means = {what: sum(shares) / len(shares) for what, shares in sums.items() if shares}
    value = means.get("reconstructed", means["perturbed"])
    return Score(value, means | parts, {"tables": "pairs", "cells": made.cells, "model": model})


def _margins(made: Perturbation, x: Real, y: Real, what: str) -> dict[str, float]:
    """Return the precision of the tables of one attribute and of two; nothing more where there are two in all."""
    precisions = {}
    for count in range(1, min(len(made.names), 3)):
        for places in combinations(range(len(made.names)), count):
            left = tuple(a for a in range(x.ndim) if a not in places)
            name = " × ".join(made.names[a] for a in places)
            precisions[f"{name}, {what}"] = precision(x.sum(axis=left), y.sum(axis=left))
    return precisions


def direct_l1(names: list[str], apart: Callable[[list[str]], float], rows: int, released: int) -> Score:
    """Return the precision of released values without reconstruction; deleted rows count as wrong.

    ``apart`` adds up, over the combinations of values of some columns, by how many rows both tables differ.
    """

    def share(columns: list[str]) -> float:
        return 1 - (apart(columns) + float(abs(rows - released))) / (2 * max(rows, 1))

    parts = {name: share([name]) for name in names} if len(names) > 1 else {}
    return Score(share(names), parts)


def _apart(original: pl.DataFrame, released: pl.DataFrame, columns: list[str]) -> float:
    texts = [pl.col(name).cast(pl.String) for name in columns]
    counts = original.group_by(texts).len("x")
    two = released.group_by(texts).len("y")
    both = counts.join(two, on=columns, how="full", coalesce=True, nulls_equal=True).select(
        pl.col("x").fill_null(0).cast(pl.Float64), pl.col("y").fill_null(0).cast(pl.Float64)
    )
    return float((both["x"] - both["y"]).abs().sum())
