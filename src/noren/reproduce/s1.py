"""Reproduction of S1: its examples and its table."""

from __future__ import annotations

from noren.i18n import N_, _
from noren.reproduce import s1_work as work
from noren.reproduce.frame import (
    Comparison,
    Datum,
    Erratum,
    Extent,
    Line,
    PaperDocument,
    PaperSection,
    UnitResults,
    join_labels,
    lines,
    unit_of,
)
from noren.tables import Texts, table_of
from noren.work.store import WorkUnit

say = Texts(__name__)
_PRINTED = table_of("noren.reproduce.s1_printed")
CUSTOMERS: int = _PRINTED["customers"]
ITEMS: int = _PRINTED["items"]
KINDS: int = _PRINTED["kinds"]
COUNTED: dict[str, int] = _PRINTED["counted"]
GAINS: tuple[float, float] = _PRINTED["gains"]
TABLE: dict[int, tuple[float, float, float, float, float]] = {int(k): row for k, row in _PRINTED["table"].items()}
"""By k: U of items, U of categories, 1/k, and the two sums."""
SPREADS: dict[str, float] = _PRINTED["spreads"]
SUMS: dict[str, float] = _PRINTED["sums"]
CATEGORIES: dict[str, str] = _PRINTED["categories"]


# --- Worked examples: three generalised histories, the error of three rows, the list of categories --------------------


HALF_UP = 0.0005
"""How far a number of three decimals may be from the one it was rounded from."""
PRICES = (2.0, 2.09)
"""Prices of the second and third row: as printed, and as used in the sum."""

ROWS: dict[str, dict[str, str]] = _PRINTED["rows"]
"""Each row of the examples after generalisation."""

EXAMPLES = WorkUnit(work.examples, (";".join(f"{item}={category}" for item, category in CATEGORIES.items()),))
ERRORS = tuple(WorkUnit(work.errors, (price,)) for price in PRICES)
LISTED = WorkUnit(work.categories, data=(work.DATA, work.NAMES))


def generalised_rows(results: UnitResults) -> Comparison:
    """Compare every row of the examples, text for text."""
    ours = results[EXAMPLES]
    pages = {"introduction": _("introduction"), "example": "①–③", "categories": _("categories")}
    cells = [
        Datum(f"{pages[name]}: {customer}", paper=printed, ours=row, exact=True)
        for name, rows in ROWS.items()
        for (customer, printed), row in zip(rows.items(), ours[name], strict=True)
    ]
    return Comparison(cells, [say("dates")])


def rows_error(results: UnitResults) -> Comparison:
    """Compare the error of three rows, with the prices as printed and with those used in the sum."""
    printed, meant = (results[unit] for unit in ERRORS)
    explained = {"date": "date", "price": "price", "all": "date", "U": "date"}
    cells = []
    labels = {"item": _("item"), "date": _("date"), "price": _("price"), "quantity": _("quantity"), "all": _("all")}
    for part, paper in SUMS.items():
        row = "U" if part == "U" else join_labels(labels[part], _("sum"))
        tolerance = 0.005 if part in ("date", "all", "U") else HALF_UP
        for price, ours in ((PRICES[1], meant), (PRICES[0], printed)):
            column = f"{labels['price']} {price:.2f}"
            erratum = "price" if ours is printed and part in ("all", "U") else explained.get(part, "")
            cells.append(Datum.exactly(row, column, paper, ours[part], tolerance=tolerance, erratum=erratum))
    spreads = {"date": (2 / 3) ** 0.5, "price": 0.41 * 2**0.5 / 3, "quantity": 26 * 2**0.5 / 3}
    cells += [
        Datum.exactly(
            join_labels(labels[column], _("standard deviation")),
            paper=paper,
            ours=spreads[column],
            tolerance=0.005 if column == "quantity" else HALF_UP,
        )
        for column, paper in SPREADS.items()
    ]
    cells.append(Datum.exactly(_("a set of three items"), paper=round(2 / 3, 3), ours=1 - 1 / 3, tolerance=HALF_UP))
    return Comparison(cells)


def listed(results: UnitResults) -> Comparison:
    """Compare the numbers of items and categories; ours are derived from the names of items by a program."""
    ours = results[LISTED]
    gains = [items - categories for items, categories, *_rest in TABLE.values()]
    share, gain = max(COUNTED.values()) / ITEMS, _("gain by categories")
    return Comparison(
        [
            Datum.exactly(_("items"), "", ITEMS, ours["items"], digits=0, erratum="items", unexplained=True),
            Datum(_("share of the largest category"), paper=share, ours=ours["largest"] / ours["items"], tolerance=0.1),
            Datum.exactly(join_labels(gain, _("smallest")), "", GAINS[0], min(gains), aim="at-least"),
            Datum.exactly(join_labels(gain, _("largest")), "", GAINS[1], max(gains), aim="at-most"),
        ],
        [say("listed", listed=len(COUNTED), kinds=KINDS, items=sum(COUNTED.values()))],
    )


# --- S1's table: U, 1/k and their sum for k = 2 to 20; and how much lower U can be at the same k ----------------------


KS = tuple(TABLE)
QUICK = (2, 6, 20)
"""The k for which categories and suppressed cells are run by ``--quick``."""
SEARCHED = (2, 3, 4, 6, 10)
"""The k for which the best groups are searched; only for 2 is the search short and the result proved optimal."""
NEAR = 0.015
"""How far U may be from S1's with other categories than S1's own."""


deleted_unit = unit_of(work.deleting_the_rest, work.DATA)


def unit(k: int, column: work.ItemColumn) -> WorkUnit:
    """Return the work for one U of the table."""
    if column == "items":
        return WorkUnit(work.leaving_the_rest, (k, column), data=(work.DATA,))
    return WorkUnit(work.leaving_the_rest, (k, column), data=(work.DATA, work.NAMES), needs=(LISTED,))


def table_units(extent: Extent) -> list[WorkUnit]:
    """Return the work for the table: U of items for all k, quick leaves out most of the categories."""
    of_items = [*(unit(k, "items") for k in KS), *(deleted_unit(k) for k in KS if CUSTOMERS % k)]
    return [*of_items, LISTED, *(unit(k, "categories") for k in (QUICK if extent.quick else KS))]


def table(results: UnitResults) -> Comparison:
    """Compare U and U + 1/k: of items exactly, of categories approximately, since the categories differ."""
    cells, sums = [], {}
    of_items, of_categories = join_labels(_("items"), "U"), join_labels(_("categories"), "U")
    for k, (items, categories, safety, with_items, with_categories) in TABLE.items():
        row = f"k = {k}"
        raw, sorted_ = results.get(unit(k, "items")), results.get(unit(k, "categories"))
        both = [None if u is None else u + 1 / k for u in (raw, sorted_)]
        left, erratum = CUSTOMERS % k, "sum" if k == 20 else ""
        note = _("customers left over: {left}").format(left=left) if left else ""
        cells.append(Datum.exactly(row, of_items, items, raw, tolerance=HALF_UP, note=note))
        if left:
            without = results.get(deleted_unit(k))
            column = join_labels(of_items, _("customers left over deleted"))
            cells.append(Datum.exactly(row, column, items, without, tolerance=HALF_UP))
        cells += [
            Datum(row, of_categories, categories, sorted_, tolerance=NEAR),
            Datum.exactly(row, "1/k", safety, 1 / k, tolerance=HALF_UP),
            Datum.exactly(row, f"{of_items} + 1/k", with_items, both[0], tolerance=HALF_UP, erratum=erratum),
            Datum(row, f"{of_categories} + 1/k", with_categories, both[1], tolerance=NEAR),
        ]
        if raw is not None:
            sums[k] = raw + 1 / k
    if len(sums) == len(KS):
        best = min(sums, key=lambda k: sums[k])
        cells.append(Datum.exactly(_("best k"), f"{of_items} + 1/k", 6, best, digits=0))
    return Comparison(cells, [say("left_over")])


def figure(results: UnitResults) -> Comparison:
    """Draw U and U + 1/k over k."""
    titles: dict[tuple[int, work.ItemColumn, int], str] = {  # by the paper's column, what is counted, and 1/k added
        (0, "items", 0): join_labels(_("items"), "U"),
        (1, "categories", 0): join_labels(_("categories"), "U"),
        (3, "items", 1): join_labels(_("items"), "U + 1/k"),
        (4, "categories", 1): join_labels(_("categories"), "U + 1/k"),
    }
    panels: dict[str, list[Line]] = {}
    for (at, column, add), title in titles.items():
        ours = [None if (u := results.get(unit(k, column))) is None else round(u + add / k, 4) for k in KS]
        panels[title] = [(_("paper"), [row[at] for row in TABLE.values()], "paper"), (_("ours"), ours, "ours")]
    title, direction = _("U, 1/k and their sum"), _("lower is better")
    return Comparison(
        remarks=[say("minimum")],
        charts=[lines(title, KS, panels, across_title="k", up_title=direction, up=(0.3, 0.9), columns=2, width=300)],
    )


count_unit = unit_of(work.by_count, work.DATA)


def best_unit(k: int) -> WorkUnit:
    """Return the work for the best groups of k."""
    return WorkUnit(work.best_groups, (k, "normal" if k == 2 else "quick"), data=(work.DATA,))


def beyond_units(extent: Extent) -> list[WorkUnit]:
    """Return the work beyond the table; quick searches only the best groups of two."""
    ks = QUICK if extent.quick else KS
    searched = SEARCHED[:1] if extent.quick else SEARCHED
    return [*(count_unit(k, suppress) for k in ks for suppress in (False, True)), *map(best_unit, searched)]


def beyond(results: UnitResults) -> Comparison:
    """Compare S1's U with groups that keep k for everyone, with suppressed cells, and with the best groups."""
    cells = []
    for k, (items, categories, *_rest) in TABLE.items():
        row = f"k = {k}"
        joined, suppressed = (results.get(count_unit(k, suppress)) for suppress in (False, True))
        best = results.get(best_unit(k))
        bound = "" if best is None or not best["optimal"] else _("proved optimal")
        cells += [
            Datum(row, _("k for everyone"), items, joined, tolerance=0.002),
            Datum(row, _("cells suppressed"), categories, suppressed, tolerance=HALF_UP, aim="at-most"),
        ]
        if k in SEARCHED:
            u = None if best is None else best["U"]
            cells += [
                Datum(row, "generalize", categories, u, tolerance=HALF_UP, aim="at-most", note=bound),
                Datum(row, _("lower bound"), ours=None if best is None else best["lower_bound"]),
            ]
    return Comparison(cells, [say("all_in_groups")])


def errata() -> list[Erratum]:
    """Return the errata, recomputed from S1's own numbers."""
    first, dates, prices = 2 / (2 / 3) ** 0.5, 3 / (2 / 3) ** 0.5, 0.21 / (0.41 * 2**0.5 / 3)
    date = Datum.exactly("(2+1+0)/0.816", "", 3.76, dates, tolerance=0.005, digits=2, erratum="date")
    price = Datum.exactly(join_labels(_("price"), _("sum")), "", 0.155, prices, tolerance=HALF_UP, erratum="price")
    ceiling = Datum.exactly("2/0.816", "", 1.0, first, tolerance=0.0, aim="at-most", digits=2, erratum="ceiling")
    column, wrong = join_labels(_("items"), "U + 1/k"), {20: "sum"}
    sums = [
        Datum.exactly(f"k = {k}", column, printed, u + safety, tolerance=2 * HALF_UP, erratum=wrong.get(k, ""))
        for k, (u, _categories, safety, printed, _other) in TABLE.items()
    ]
    return [
        Erratum.of("S1", "date", [date], dates=dates),
        Erratum.of("S1", "price", [price], prices=prices),
        Erratum.of("S1", "ceiling", [ceiling]),
        Erratum.of("S1", "sum", sums),
        Erratum.of("S1", "items", items=ITEMS),
    ]


DOCUMENT = PaperDocument.of(
    "S1",
    PaperSection("check", "alike", N_("Generalised histories, row by row"), (EXAMPLES,), generalised_rows),
    PaperSection("check", "error", N_("The error of three rows"), ERRORS, rows_error),
    PaperSection("check", "categories", N_("Items and categories"), (LISTED,), listed),
    PaperSection("table", "1", N_("U, 1/k and their sum"), table_units, table),
    PaperSection("figure", "1", N_("U, 1/k and their sum"), table_units, figure),
    PaperSection("check", "beyond", N_("The same k with a lower U"), beyond_units, beyond),
    errata=errata,
)
