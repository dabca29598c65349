"""Error of plain statistics of the release (S0 §6.2)."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from noren.data.schema import Role
from noren.i18n import N_
from noren.kernels.items.item_similarity import most_bought
from noren.kernels.judging.statistics import STATISTICS, column_statistics
from noren.measures.utility.item_similarity import pieces_bought
from noren.measures.utility.purchases import SPREAD, Compare, OnDraws, Purchases

COLUMNS = ("date", "price", "quantity")


@dataclass(frozen=True)
class Figures:
    """What is told of a data set: its rows, the statistics of :data:`COLUMNS`, the items that most customers bought."""

    rows: int
    statistics: NDArray[np.float64]
    best: frozenset[int] | frozenset[str]


class Statistics(OnDraws):
    """Tell how far the statistics of the release are from the original's: S0's Tables 7 to 10.

    Parts: ``rows``, the number of rows lost or added; ``items``, the share of the 100 items that most customers bought
    which are not among the 100 of the release; and for date (days from 2010/1/1), price (in steps of its grid: pence)
    and quantity the absolute difference of sum, mean, variance, standard deviation, maximum, minimum and median, named
    like ``price.mean``, as far as there are such columns. The value is ``items``, the one part that is a share and
    comparable between data sets.

    References
    ----------
    S0 §6.2, Tables 7–10. Table 9's caption says quantity, its values are prices in pence. The medians printed there are
    no medians: see the page of this measure.

    Examples
    --------
    One of two rows is deleted, so the mean price moves from 1.50 to 1.00: 50 pence.

    >>> from noren.data.frames import History
    >>> from noren.data.schema import Schema
    >>> from noren.measures.utility.purchases import purchases
    >>> rows = {"customer": ["1", "1"], "date": ["2010/1/1"] * 2, "item": ["a", "b"], "price": [1.0, 2.0],
    ...         "quantity": [1, 1]}
    >>> one = purchases(History.of(rows, Schema.preset("pwscup2018")))
    >>> other = purchases(History.of({c: v[:1] for c, v in rows.items()}, Schema.preset("pwscup2018")), one.items)
    >>> error = Statistics().against(one)(other)
    >>> error["rows"], error["items"], error["price.mean"], error["quantity.sum"]
    (1.0, 0.5, 50.0, 1.0)
    """

    name = "statistics"
    roles = (Role.ITEM,)
    summary = N_("How far sums, means, variances, extremes and best-sellers are from the original's.")
    unit = N_("share of top items lost; parts in their own units")
    part_names = SPREAD | {
        "rows": N_("rows"),
        "items": N_("Items"),
        "sum": N_("sum"),
        "mean": N_("mean"),
        "variance": N_("variance"),
        "sd": N_("standard deviation"),
        "max": N_("largest"),
        "min": N_("smallest"),
        "median": N_("median"),
    }
    main_part = "items"

    top: int = Field(default=100, ge=1, le=100_000, description=N_("number of top items"))

    def against(self, original: Purchases) -> Compare:
        """Work out the original's statistics once."""
        known, there = self._figures(original), original.there
        return lambda drawn: parts_of(known, self._figures(drawn), there)

    def _figures(self, bought: Purchases) -> Figures:
        best = most_bought(pieces_bought(bought), self.top)
        columns = np.array([column_statistics(values) for values in (bought.day, bought.price, bought.quantity)])
        return Figures(bought.rows, columns, frozenset(best.tolist()))


def parts_of(known: Figures, drawn: Figures, there: Container[Role]) -> dict[str, float]:
    """Return how far the figures of drawn data are from the original's."""
    lost = known.best - drawn.best
    parts = {"rows": float(abs(drawn.rows - known.rows)), "items": len(lost) / max(len(known.best), 1)}
    error = np.abs(drawn.statistics - known.statistics)
    return parts | {
        f"{column}.{statistic}": float(error[i, j])
        for i, column in enumerate(COLUMNS)
        if column in there
        for j, statistic in enumerate(STATISTICS)
    }
