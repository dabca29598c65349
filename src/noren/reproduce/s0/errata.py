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
    return [_caption(), _itemsets(), _dates(), _medians()]


def _caption() -> Erratum:
    return Erratum(
        "caption",
        _("Table 9"),
        _("errors of quantities"),
        _("errors of prices, in pence"),
        _(
            "Table 10 has the quantities. The draws of team 01 give Table 9's sums, means and variances with prices in "
            "steps of 0.01, and Table 10's with quantities."
        ),
    )


def _itemsets() -> Erratum:
    numbers = [float(TABLES[6][team][0] or 0) for team in sorted(TABLE_3, key=lambda team: TABLE_3[team][0])]
    return Erratum(
        "itemsets",
        _("Table 6, frequent itemsets"),
        "|T0 ∩ T1| / |T0|",
        "1 - |T0 ∩ T1| / |T0|",
        _(
            "By the definition in 6.1.1 a release that changes nothing has 1, but the numbers grow with U and the "
            "table is of errors: from {least:.3f} for the least U to {most:.3f} for the greatest."
        ).format(least=numbers[0], most=numbers[-1]),
    )


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
    return Erratum(
        "dates",
        _("Table 8, mean and sum of team 01"),
        _("mean 0.896, sum 1,343,419"),
        "",
        _(
            "The five published draws, suppressed dates filled as the text says, have a mean of 0.384 ± 0.04 and a sum "
            "of 1,387,744. They are not S0's hundred draws, and how S0 filled its own is not known. The printed sum "
            "follows from the printed mean (below), so the two are one difference."
        ),
        sums,
    )


def _medians() -> Erratum:
    return Erratum(
        "medians",
        _("Tables 8, 9 and 10, medians"),
        _("42.170 days, 582.695 pence and 13.035 pieces for team 01"),
        "",
        _(
            "The five published draws have errors of 0 days, 6.2 pence and 1 piece. The median price is 179 pence, so "
            "an error of 583 is no small one; S0 does not say how its medians were reckoned."
        ),
    )
