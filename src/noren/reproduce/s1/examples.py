"""What S1 works out on its pages: three histories made alike, the error of three rows, its list of categories."""

from __future__ import annotations

from collections.abc import Sequence

from noren.i18n import _
from noren.reproduce.frame import Comparison, Datum, Extent, Findings, Unit
from noren.reproduce.s1 import work
from noren.reproduce.s1.printed import CATEGORIES, COUNTED, GAINS, ITEMS, KINDS, SPREADS, SUMS, TABLE

__all__ = ["error_units", "example_units", "listed", "listed_units", "made_alike", "rows_error", "unit_of_errors"]

HALF_UP = 0.0005
"""How far a number of three decimals may be from the one it was rounded from."""
PRICES = (2.0, 2.09)
"""What the second and third row are sold for: as printed, and as the sum was worked out."""

DELETED = "*,*,*,*"
ROWS = {  # as S1 has them; its dates have no year, its sets no order
    "introduction": ["[2010/11/2;2011/4/6],{A;B;C},[1;3],[1;10]"] * 3,
    "example": [
        *(DELETED, DELETED),
        "[2011/4/2;2011/10/10],{521P;891},[2;3],[1;10]",
        "[2011/1/3;2011/8/2],{291D;B20;G402},[2;10],[2;9]",
        DELETED,
        "[2011/4/2;2011/10/10],{521P;891},[2;3],[1;10]",
        "[2011/1/3;2011/8/2],{291D;B20;G402},[2;10],[2;9]",
        "[2011/1/3;2011/8/2],{291D;B20;G402},[2;10],[2;9]",
        "[2011/4/2;2011/10/10],{521P;891},[2;3],[1;10]",
    ],
}
ROWS["categories"] = [
    row.replace("{521P;891}", "general").replace("{291D;B20;G402}", "{furniture;stationery}") for row in ROWS["example"]
]
WHOSE = {"introduction": ["N 1", "I 1", "H 1"]}
WHOSE["example"] = WHOSE["categories"] = ["A 1", "A 2", "A 3", "A 4", "B 1", "B 2", "B 3", "C 1", "C 2"]

EXAMPLES = Unit(work.examples, (";".join(f"{item}={category}" for item, category in CATEGORIES.items()),))
LISTED = Unit(work.categories, data=(work.DATA, work.NAMES))


# --- three histories made alike --------------------------------------------------------------------------------------


def example_units(_asked: Extent) -> Sequence[Unit]:
    """Return the work for the small examples."""
    return [EXAMPLES]


def made_alike(found: Findings) -> Comparison:
    """Compare every row of the examples, text for text."""
    titles = {
        "introduction": _("introduction, {row}"),
        "example": _("pages ① to ③, {row}"),
        "categories": _("with categories, {row}"),
    }
    ours = found[EXAMPLES]
    cells = [
        Datum(titles[name].format(row=whose), paper=printed, ours=said, exact=True)
        for name, rows in ROWS.items()
        for whose, printed, said in zip(WHOSE[name], rows, ours[name], strict=True)
    ]
    return Comparison(cells, [_("A year is added to S1's dates, and items stand in order; * is deleted.")])


# --- the error of three rows -----------------------------------------------------------------------------------------


def unit_of_errors(price: float) -> Unit:
    """Return the work for the three rows, sold for so much."""
    return Unit(work.errors, (price,))


def error_units(_asked: Extent) -> Sequence[Unit]:
    """Return the work for the three rows."""
    return [unit_of_errors(price) for price in PRICES]


def rows_error(found: Findings) -> Comparison:
    """Compare the error of three rows, with the prices as printed and with those the sum was made with."""
    printed, meant = (found[unit_of_errors(price)] for price in PRICES)
    titles = {
        "item": _("items, sum"),
        "date": _("dates, sum"),
        "price": _("prices, sum"),
        "quantity": _("quantities, sum"),
        "all": _("all, sum"),
        "U": "U",
    }
    explained = {"date": "date", "price": "price", "all": "date", "U": "date"}
    cells = []
    for part, said in SUMS.items():
        tolerance = 0.005 if part in ("date", "all", "U") else HALF_UP
        for column, ours in ((_("prices 2.09"), meant), (_("prices 2.00, as printed"), printed)):
            cells.append(
                Datum(
                    titles[part],
                    column,
                    said,
                    ours[part],
                    exact=True,
                    tolerance=tolerance,
                    erratum="price" if ours is printed and part in ("all", "U") else explained.get(part, ""),
                )
            )
    spreads = {"date": (2 / 3) ** 0.5, "price": 0.41 * 2**0.5 / 3, "quantity": 26 * 2**0.5 / 3}
    cells += [
        Datum(
            _("standard deviation, {column}").format(column=column),
            paper=said,
            ours=spreads[column],
            exact=True,
            tolerance=0.005 if column == "quantity" else HALF_UP,
        )
        for column, said in SPREADS.items()
    ]
    cells.append(Datum(_("a set of three items"), paper=round(2 / 3, 3), ours=1 - 1 / 3, exact=True, tolerance=HALF_UP))
    return Comparison(cells)


# --- the list of categories ------------------------------------------------------------------------------------------


def listed_units(_asked: Extent) -> Sequence[Unit]:
    """Return the work for the list of categories."""
    return [LISTED]


def listed(found: Findings) -> Comparison:
    """Compare how many items and categories there are; ours are made of the items' names by a program."""
    ours = found[LISTED]
    gains = [items - categories for items, categories, *_rest in TABLE.values()]
    share = max(COUNTED.values()) / ITEMS
    return Comparison(
        [
            Datum(
                _("items"), "", ITEMS, ours["items"], exact=True, tolerance=0, digits=0, erratum="items",
                unexplained=True,
            ),
            Datum(_("share of the largest category"), paper=share, ours=ours["largest"] / ours["items"], tolerance=0.1),
            Datum(_("least gain by categories"), "", GAINS[0], min(gains), exact=True, tolerance=0, aim="at-least"),
            Datum(_("largest gain by categories"), "", GAINS[1], max(gains), exact=True, tolerance=0, aim="at-most"),
        ],
        [
            _(
                "S1 lists {listed} of its {kinds} categories, with {items:,} items: they cannot be used as they were."
            ).format(listed=len(COUNTED), kinds=KINDS, items=sum(COUNTED.values()))
        ],
    )  # fmt: skip
