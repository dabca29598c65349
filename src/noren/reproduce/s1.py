"""S1's examples and its table beside ours."""

from __future__ import annotations

from noren.i18n import N_, _
from noren.reproduce import s1_work as work
from noren.reproduce.frame import (
    Comparison,
    Datum,
    Erratum,
    Extent,
    Findings,
    Line,
    PaperDocument,
    PaperSection,
    lines,
    unit_of,
)
from noren.tables import Texts, table_of
from noren.work.store import WorkUnit

say = Texts(__name__)
_SAID = table_of("noren.reproduce.s1_printed")
CUSTOMERS: int = _SAID["customers"]
ITEMS: int = _SAID["items"]
KINDS: int = _SAID["kinds"]
COUNTED: dict[str, int] = _SAID["counted"]
GAINS: tuple[float, float] = _SAID["gains"]
TABLE: dict[int, tuple[float, float, float, float, float]] = {int(k): row for k, row in _SAID["table"].items()}
"""By k: U of items, U of categories, 1/k, and the two sums."""
SPREADS: dict[str, float] = _SAID["spreads"]
SUMS: dict[str, float] = _SAID["sums"]
CATEGORIES: dict[str, str] = _SAID["categories"]


# --- What S1 works out on its pages: three histories made alike, the error of three rows, its list of categories ------


HALF_UP = 0.0005
"""How far a number of three decimals may be from the one it was rounded from."""
PRICES = (2.0, 2.09)
"""What the second and third row are sold for: as printed, and as the sum was worked out."""

ROWS: dict[str, dict[str, str]] = _SAID["rows"]
"""What becomes of each row of the examples."""

EXAMPLES = WorkUnit(work.examples, (";".join(f"{item}={category}" for item, category in CATEGORIES.items()),))
ERRORS = tuple(WorkUnit(work.errors, (price,)) for price in PRICES)
LISTED = WorkUnit(work.categories, data=(work.DATA, work.NAMES))


# --- three histories made alike --------------------------------------------------------------------------------------


def made_alike(found: Findings) -> Comparison:
    """Compare every row of the examples, text for text."""
    ours = found[EXAMPLES]
    cells = [
        Datum(say(f"alike.{name}", row=whose), paper=printed, ours=said, exact=True)
        for name, rows in ROWS.items()
        for (whose, printed), said in zip(rows.items(), ours[name], strict=True)
    ]
    return Comparison(cells, [_("A year is added to S1's dates, and items stand in order; * is deleted.")])


# --- the error of three rows -----------------------------------------------------------------------------------------


def rows_error(found: Findings) -> Comparison:
    """Compare the error of three rows, with the prices as printed and with those the sum was made with."""
    printed, meant = (found[unit] for unit in ERRORS)
    explained = {"date": "date", "price": "price", "all": "date", "U": "date"}
    cells = []
    for part, said in SUMS.items():
        row = "U" if part == "U" else say(f"sums.{part}")
        tolerance = 0.005 if part in ("date", "all", "U") else HALF_UP
        for column, ours in ((_("prices 2.09"), meant), (_("prices 2.00, as printed"), printed)):
            erratum = "price" if ours is printed and part in ("all", "U") else explained.get(part, "")
            cells.append(Datum.exactly(row, column, said, ours[part], tolerance=tolerance, erratum=erratum))
    spreads = {"date": (2 / 3) ** 0.5, "price": 0.41 * 2**0.5 / 3, "quantity": 26 * 2**0.5 / 3}
    cells += [
        Datum.exactly(
            _("standard deviation, {column}").format(column=column),
            paper=said,
            ours=spreads[column],
            tolerance=0.005 if column == "quantity" else HALF_UP,
        )
        for column, said in SPREADS.items()
    ]
    cells.append(Datum.exactly(_("a set of three items"), paper=round(2 / 3, 3), ours=1 - 1 / 3, tolerance=HALF_UP))
    return Comparison(cells)


# --- the list of categories ------------------------------------------------------------------------------------------


def listed(found: Findings) -> Comparison:
    """Compare how many items and categories there are; ours are made of the items' names by a program."""
    ours = found[LISTED]
    gains = [items - categories for items, categories, *_rest in TABLE.values()]
    share = max(COUNTED.values()) / ITEMS
    return Comparison(
        [
            Datum.exactly(_("items"), "", ITEMS, ours["items"], digits=0, erratum="items", unexplained=True),
            Datum(_("share of the largest category"), paper=share, ours=ours["largest"] / ours["items"], tolerance=0.1),
            Datum.exactly(_("least gain by categories"), "", GAINS[0], min(gains), aim="at-least"),
            Datum.exactly(_("largest gain by categories"), "", GAINS[1], max(gains), aim="at-most"),
        ],
        [say("listed", listed=len(COUNTED), kinds=KINDS, items=sum(COUNTED.values()))],
    )


# --- S1's table: U, 1/k and their sum for k = 2 to 20; and how much lower U can be at the same k ----------------------


KS = tuple(TABLE)
QUICK = (2, 6, 20)
"""The k for which categories and suppressed cells are run where there is little time."""
SEARCHED = (2, 3, 4, 6, 10)
"""The k for which the best groups are searched; only for 2 are they soon found, and proved best."""
NEAR = 0.015
"""How far U may be from S1's where items are in other categories than S1's own."""


deleted_unit = unit_of(work.deleting_the_rest, work.DATA)


def unit(k: int, words: work.Words) -> WorkUnit:
    """Return the work for one U of the table."""
    if words == "items":
        return WorkUnit(work.leaving_the_rest, (k, words), data=(work.DATA,))
    return WorkUnit(work.leaving_the_rest, (k, words), data=(work.DATA, work.NAMES), needs=(LISTED,))


def table_units(asked: Extent) -> list[WorkUnit]:
    """Return the work for the table: U of items for all k, quick leaves out most of the categories."""
    of_items = [*(unit(k, "items") for k in KS), *(deleted_unit(k) for k in KS if CUSTOMERS % k)]
    return [*of_items, LISTED, *(unit(k, "categories") for k in (QUICK if asked.quick else KS))]


def table(found: Findings) -> Comparison:
    """Set U and U + 1/k beside the paper's: of items exactly, of categories as near as other categories come."""
    cells, sums = [], {}
    for k, (items, categories, safety, with_items, with_categories) in TABLE.items():
        row = f"k = {k}"
        raw, sorted_ = found.get(unit(k, "items")), found.get(unit(k, "categories"))
        both = [None if u is None else u + 1 / k for u in (raw, sorted_)]
        left, erratum = CUSTOMERS % k, "sum" if k == 20 else ""
        note = _("customers left over: {left}").format(left=left) if left else ""
        cells.append(Datum.exactly(row, _("U of items"), items, raw, tolerance=HALF_UP, note=note))
        if left:
            without = found.get(deleted_unit(k))
            cells.append(Datum.exactly(row, _("U of items, rest deleted"), items, without, tolerance=HALF_UP))
        cells += [
            Datum(row, _("U of categories"), categories, sorted_, tolerance=NEAR),
            Datum.exactly(row, "1/k", safety, 1 / k, tolerance=HALF_UP),
            Datum.exactly(row, _("items, sum"), with_items, both[0], tolerance=HALF_UP, erratum=erratum),
            Datum(row, _("categories, sum"), with_categories, both[1], tolerance=NEAR),
        ]
        if raw is not None:
            sums[k] = raw + 1 / k
    says = [say("left_over"), say("own_categories")]
    if len(sums) == len(KS):
        best = min(sums, key=lambda k: sums[k])
        cells.append(Datum.exactly(_("best k"), _("items, sum"), 6, best, digits=0))
    return Comparison(cells, says)


def figure(found: Findings) -> Comparison:
    """Draw U and U + 1/k over k."""
    titles: dict[tuple[int, work.Words, int], str] = {  # by the paper's column, what is counted, and how often 1/k is
        (0, "items", 0): _("items: U"),
        (1, "categories", 0): _("categories: U"),
        (3, "items", 1): _("items: U + 1/k"),
        (4, "categories", 1): _("categories: U + 1/k"),
    }
    panels: dict[str, list[Line]] = {}
    for (at, words, add), title in titles.items():
        ours = [None if (u := found.get(unit(k, words))) is None else round(u + add / k, 4) for k in KS]
        panels[title] = [(_("paper"), [said[at] for said in TABLE.values()], "paper"), (_("ours"), ours, "ours")]
    title, less = _("U, and its sum with 1/k, over k"), _("less is better")
    return Comparison(
        says=[_("U grows with k and 1/k falls; their sum is least at k = 6, with categories and without.")],
        charts=[lines(title, KS, panels, across_title="k", up_title=less, up=(0.3, 0.9), columns=2, width=300)],
    )


# --- past the table --------------------------------------------------------------------------------------------------


count_unit = unit_of(work.by_count, work.DATA)


def best_unit(k: int) -> WorkUnit:
    """Return the work for the best groups of k."""
    return WorkUnit(work.best_groups, (k, "normal" if k == 2 else "quick"), data=(work.DATA,))


def beyond_units(asked: Extent) -> list[WorkUnit]:
    """Return the work past the table; quick searches the best groups of two alone."""
    ks = QUICK if asked.quick else KS
    searched = SEARCHED[:1] if asked.quick else SEARCHED
    return [*(count_unit(k, suppress) for k in ks for suppress in (False, True)), *map(best_unit, searched)]


def beyond(found: Findings) -> Comparison:
    """Set S1's U of categories beside what is lower at the same k, or keeps k where S1 does not, with items kept."""
    cells = []
    for k, (items, categories, *_rest) in TABLE.items():
        row = f"k = {k}"
        joined, suppressed = (found.get(count_unit(k, suppress)) for suppress in (False, True))
        best = found.get(best_unit(k))
        bound = "" if best is None or not best["optimal"] else _("the best groups of {k}").format(k=k)
        cells += [
            Datum(row, _("k kept for all"), items, joined, tolerance=0.002),
            Datum(row, _("cells suppressed"), categories, suppressed, tolerance=HALF_UP, aim="at-most"),
        ]
        if k in SEARCHED:
            u = None if best is None else best["U"]
            cells += [
                Datum(row, "generalize", categories, u, tolerance=HALF_UP, aim="at-most", note=bound),
                Datum(row, _("lower bound"), ours=None if best is None else best["lower_bound"]),
            ]
    return Comparison(cells, [say("all_in_groups"), say("suppressed")])


# --- What S1 gets wrong, with what follows from its own numbers -------------------------------------------------------


def errata() -> list[Erratum]:
    """Return the errata."""
    first, dates, prices = 2 / (2 / 3) ** 0.5, 3 / (2 / 3) ** 0.5, 0.21 / (0.41 * 2**0.5 / 3)
    date = Datum.exactly("(2+1+0)/0.816", "", 3.76, dates, tolerance=0.005, digits=2, erratum="date")
    price = Datum.exactly(_("prices, sum"), "", 0.155, prices, tolerance=HALF_UP, erratum="price")
    ceiling = Datum.exactly(
        _("the first date's error"), "", 1.0, first, tolerance=0.0, aim="at-most", digits=2, erratum="ceiling"
    )
    sums = []
    for k, (items, _categories, safety, said, _other) in TABLE.items():
        erratum = "sum" if k == 20 else ""
        row, ours = f"k = {k}", items + safety
        sums.append(Datum.exactly(row, _("items, sum"), said, ours, tolerance=2 * HALF_UP, erratum=erratum))
    return [
        Erratum.of("S1", "date", [date], dates=dates),
        Erratum.of("S1", "price", [price], prices=prices),
        Erratum.of("S1", "ceiling", [ceiling]),
        Erratum.of("S1", "sum", sums),
        Erratum.of("S1", "items", items=ITEMS),
    ]


# --- the document -----------------------------------------------------------------------------------------------------

DOCUMENT = PaperDocument(
    key="S1",
    title=N_("k-anonymising purchase histories, with product categories"),
    citation="Nakamura. Slides of the Kikuchi laboratory on the data of PWS Cup 2018 (in Japanese).",
    parts=(
        PaperSection("check", "alike", N_("Histories made alike, row by row"), (EXAMPLES,), made_alike),
        PaperSection("check", "error", N_("The error of three rows"), ERRORS, rows_error),
        PaperSection("check", "categories", N_("Items and categories"), (LISTED,), listed),
        PaperSection("table", "1", N_("U, 1/k and their sum, for k = 2 to 20"), table_units, table),
        PaperSection("figure", "1", N_("U and its sum with 1/k"), table_units, figure),
        PaperSection("check", "beyond", N_("The same k with a lower U"), beyond_units, beyond),
    ),
    errata=errata,
)
