"""What S1 gets wrong, with what follows from its own numbers."""

from __future__ import annotations

from noren.i18n import _
from noren.reproduce.frame import Datum, Erratum
from noren.reproduce.s1.examples import HALF_UP
from noren.reproduce.s1.printed import ITEMS, TABLE

__all__ = ["errata"]


def errata() -> list[Erratum]:
    """Return the errata."""
    return [_date(), _price(), _ceiling(), _sum(), _items()]


def _date() -> Erratum:
    sd = (2 / 3) ** 0.5
    return Erratum(
        "date",
        _("error of dates"),
        "(2+1+0)/0.816 = 3.76",
        f"(2+1+0)/0.816 = {3 / sd:.2f}",
        _("Two digits changed places. The sum of all errors is then 7.07 and U is 0.59, not 7.16 and 0.60."),
        [Datum("(2+1+0)/0.816", "", 3.76, 3 / sd, exact=True, tolerance=0.005, digits=2, erratum="date")],
    )


def _price() -> Erratum:
    sd = 0.41 * 2**0.5 / 3
    return Erratum(
        "price",
        _("error of prices"),
        "(0.01+0.01+0.01)/0.193 = 0.155",
        f"(0.01+0.10+0.10)/0.193 = {0.21 / sd:.3f}",
        _(
            "The released prices of the second and third row are printed as 2.0, 0.10 from 2.1; the sum reckons with "
            "0.01, which 2.09 has. With the printed prices, and dates reckoned rightly, U is 0.67."
        ),
        [Datum(_("prices, sum"), "", 0.155, 0.21 / sd, exact=True, tolerance=HALF_UP, erratum="price")],
    )


def _ceiling() -> Erratum:
    return Erratum(
        "ceiling",
        _("error of numbers"),
        _("the larger an error, the nearer it is to 1"),
        _("it has no ceiling"),
        _(
            "A distance is divided by the standard deviation, and may be many of them: the first date of S1's own "
            "example is 2/0.816 away. That is why a suppressed cell, which costs 1, may be cheaper than its interval."
        ),
        [
            Datum(_("the first date's error"), "", 1.0, 2 / (2 / 3) ** 0.5, exact=True, tolerance=0.0, aim="at-most",
                 digits=2, erratum="ceiling")
        ],
    )  # fmt: skip


def _sum() -> Erratum:
    cells = [
        Datum(f"k = {k}", _("items, sum"), said, items + safety, exact=True, tolerance=2 * HALF_UP,
             erratum="sum" if k == 20 else "")
        for k, (items, _categories, safety, said, _other) in TABLE.items()
    ]  # fmt: skip
    return Erratum(
        "sum",
        _("the table, k = 20"),
        "0.833 + 0.050 = 0.880",
        "0.833 + 0.050 = 0.883",
        _("All other sums of the table are right within rounding."),
        cells,
    )


def _items() -> Erratum:
    return Erratum(
        "items",
        _("number of items"),
        f"{ITEMS:,}",
        "",
        _("The data whose table this is, the preliminary round's, have one item more; the final round's have 3,246."),
    )
