"""What S1 gets wrong, with what follows from its own numbers."""

from __future__ import annotations

from noren.i18n import _
from noren.reproduce.frame import Datum, Erratum
from noren.reproduce.s1.examples import HALF_UP
from noren.reproduce.s1.printed import ITEMS, TABLE

__all__ = ["errata"]


def errata() -> list[Erratum]:
    """Return the errata."""
    return [_date(), _price(), _ceiling(), _sum(), Erratum.of(__name__, "items", items=ITEMS)]


def _date() -> Erratum:
    sd = (2 / 3) ** 0.5
    return Erratum.of(
        __name__,
        "date",
        [Datum("(2+1+0)/0.816", "", 3.76, 3 / sd, exact=True, tolerance=0.005, digits=2, erratum="date")],
        dates=3 / sd,
    )


def _price() -> Erratum:
    sd = 0.41 * 2**0.5 / 3
    return Erratum.of(
        __name__,
        "price",
        [Datum(_("prices, sum"), "", 0.155, 0.21 / sd, exact=True, tolerance=HALF_UP, erratum="price")],
        prices=0.21 / sd,
    )


def _ceiling() -> Erratum:
    cell = Datum(
        _("the first date's error"), "", 1.0, 2 / (2 / 3) ** 0.5, exact=True, tolerance=0.0, aim="at-most", digits=2,
        erratum="ceiling",
    )  # fmt: skip
    return Erratum.of(__name__, "ceiling", [cell])


def _sum() -> Erratum:
    cells = [
        Datum(f"k = {k}", _("items, sum"), said, items + safety, exact=True, tolerance=2 * HALF_UP,
             erratum="sum" if k == 20 else "")
        for k, (items, _categories, safety, said, _other) in TABLE.items()
    ]  # fmt: skip
    return Erratum.of(__name__, "sum", cells)
