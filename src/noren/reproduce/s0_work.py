"""S0's experiment as units of work: a release, its U, and what analyses lose on data sets drawn from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np
import polars as pl

from noren.data.catalog import find
from noren.data.draws import Draws
from noren.data.frames import History
from noren.kernels.judging.survival import best_plan
from noren.kernels.judging.threshold import Bound
from noren.measures.utility.cell_error import CellError
from noren.measures.utility.frequent_itemsets import FrequentItemsets
from noren.measures.utility.item_similarity import ItemSimilarity
from noren.measures.utility.on_draws import Compare
from noren.measures.utility.purchases import Purchases, purchases
from noren.measures.utility.rfm import Rfm
from noren.measures.utility.statistics import Statistics
from noren.methods import methods
from noren.protocols import Evidence
from noren.reproduce.inputs import customers_of, the_history

DATA = "pwscup2018-final"
SEED = 1
ATTACKERS = 13
"""So many try each release, as S0 reckons."""

Made = tuple[str, Mapping[str, Any]]
RELEASES: dict[str, Made] = {
    **{f"by count, k = {k}": ("generalize-by-count", {"k": k}) for k in (2, 3, 4, 6, 10)},
    **{
        f"by count, k = {k}, cells suppressed": ("generalize-by-count", {"k": k, "suppress_cells": True})
        for k in (2, 3, 4, 6, 10)
    },
    "generalize, k = 2": ("generalize", {"k": 2}),
    **{f"generalize, k = {k}": ("generalize", {"k": k, "effort": "quick"}) for k in (3, 4, 6)},
    "thin 20 %": ("thin", {"share": 0.2}),
    "perturb, 31 days, prices by half": ("perturb", {"days": 31, "price": 0.5, "packs": 3}),
}
"""What stands in for the teams' releases."""


def useful(name: str, draws: int) -> dict[str, Any]:
    """Return U of a release, its deleted rows, and the mean of every error over so many data sets drawn from it."""
    original = customers_of(DATA)
    method, parameters = RELEASES[name]
    release = methods.create(method, **parameters).protect(original, seed=SEED)
    drawn = Draws(original, the_history(release.public), seed=SEED).first(draws)
    notes = release.statement.notes
    return {
        "U": CellError().measure(Evidence(original, release)).value,
        "deleted": release.deleted_rows,
        "lower_bound": notes.get("lower_bound"),
        "optimal": notes.get("proved_optimal", False),
    } | _errors(drawn)


def team_01() -> dict[str, Any]:
    """Return the same of the five published draws of team 01, suppressed cells filled by S0's rule."""
    original = customers_of(DATA)
    published = pl.read_parquet(find(DATA).path("team01-draws"))

    def filled() -> Iterable[History]:
        for i in range(5):
            columns = (pl.col("pseudonym").cast(pl.String).alias("customer"), "date", "item", "price")
            frame = published.filter(draw=i).select(*columns, pl.col("quantity").cast(pl.Int64))
            yield Draws(original, History(frame, original.schema), seed=SEED)[i]

    return _errors(filled())


def surviving(alone: int, size: int, bound: Bound) -> dict[str, float]:
    """Return the best attacker's chance where so many customers are alone and the others in classes of one size."""
    chance = best_plan([1] * alone + [size] * ((1_000 - alone) // size), bound).chance
    return {"chance": chance, "survival": (1 - chance) ** ATTACKERS}


def _errors(drawn: Iterable[History]) -> dict[str, Any]:
    known, compare = _comparing()
    table: dict[str, list[float]] = {}
    for data in drawn:
        for part, value in compare(purchases(data, known.items)).items():
            table.setdefault(part, []).append(value)
    return {
        "draws": len(table["rows"]),
        "errors": {part: float(np.mean(values)) for part, values in table.items()},
        "spread": {part: float(np.std(values, ddof=1)) if len(values) > 1 else 0.0 for part, values in table.items()},
    }


@cache
def _comparing() -> tuple[Purchases, Compare]:
    """Return the original's purchases, and what gives all errors of a data set against them, under S0's names."""
    known = purchases(customers_of(DATA))
    itemsets, similar = FrequentItemsets(), ItemSimilarity()
    frequent, alike, ranks, plain = (m.against(known) for m in (itemsets, similar, Rfm(), Statistics()))

    def compare(data: Purchases) -> Mapping[str, float]:
        return {
            "itemsets": itemsets.value_of(frequent(data)),
            "rfm": ranks(data)["value"],
            **alike(data),
            **plain(data),
        }

    return known, compare
