"""What S0 gets wrong, with what follows from its own numbers."""

from __future__ import annotations

from noren.i18n import _
from noren.reproduce.frame import Datum, Erratum
from noren.reproduce.s0.printed import TABLE_3, TABLES

__all__ = ["errata"]

ROWS = 89_278
"""Rows of the final round."""
MEAN_DAY = 541.973_23
"""Their mean date, in days from 2010/1/1."""


def errata() -> list[Erratum]:
    """Return the errata."""
    return [Erratum.of(__name__, "caption"), _itemsets(), _dates(), Erratum.of(__name__, "medians")]


def _itemsets() -> Erratum:
    numbers = [float(TABLES[6][team][0] or 0) for team in sorted(TABLE_3, key=lambda team: TABLE_3[team][0])]
    return Erratum.of(__name__, "itemsets", least=numbers[0], most=numbers[-1])


def _dates() -> Erratum:
    sums = [
        Datum(
            _("team {team}, sum of dates").format(team=team),
            "",
            TABLES[8][team][0],
            (TABLES[7][team][0] or 0) * MEAN_DAY - (ROWS - (TABLES[7][team][0] or 0)) * (TABLES[8][team][1] or 0),
            exact=True,
            tolerance=60.0,
            digits=0,
        )
        for team in ("01", "11", "14")
    ]
    return Erratum.of(__name__, "dates", sums)
