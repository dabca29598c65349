"""S1's table: U, 1/k and their sum for k = 2 to 20; and how much lower U can be at the same k."""

from __future__ import annotations

from typing import Any

from noren.i18n import _
from noren.reproduce.frame import Chart, Comparison, Datum, Extent, Findings, Unit
from noren.reproduce.s1 import work
from noren.reproduce.s1.examples import HALF_UP, LISTED
from noren.reproduce.s1.printed import CUSTOMERS, TABLE

__all__ = ["best_unit", "beyond", "beyond_units", "figure", "table", "table_units", "unit"]

KS = tuple(TABLE)
QUICK = (2, 6, 20)
"""The k for which categories and suppressed cells are run where there is little time."""
SEARCHED = (2, 3, 4, 6, 10)
"""The k for which the best groups are searched; only for 2 are they soon found, and proved best."""
NEAR = 0.015
"""How far U may be from S1's where items are in other categories than S1's own."""


def unit(k: int, words: work.Words) -> Unit:
    """Return the work for one U of the table."""
    if words == "items":
        return Unit(work.leaving_the_rest, (k, words), data=(work.DATA,))
    return Unit(work.leaving_the_rest, (k, words), data=(work.DATA, work.NAMES), needs=(LISTED,))


def deleted_unit(k: int) -> Unit:
    """Return the work for U of items without the customers that are left over."""
    return Unit(work.deleting_the_rest, (k,), data=(work.DATA,))


def table_units(asked: Extent) -> list[Unit]:
    """Return the work for the table: U of items for all k, quick leaves out most of the categories."""
    of_items = [*(unit(k, "items") for k in KS), *(deleted_unit(k) for k in KS if CUSTOMERS % k)]
    return [*of_items, LISTED, *(unit(k, "categories") for k in (QUICK if asked.quick else KS))]


def _result(found: Findings, wanted: Unit) -> Any:
    """Return what a unit found; nothing where it was not run."""
    return next(iter(found.of([wanted])), None)


def table(found: Findings) -> Comparison:
    """Set U and U + 1/k beside the paper's: of items exactly, of categories as near as other categories come."""
    cells, sums = [], {}
    for k, (items, categories, safety, with_items, with_categories) in TABLE.items():
        row = f"k = {k}"
        raw, sorted_ = _result(found, unit(k, "items")), _result(found, unit(k, "categories"))
        left = CUSTOMERS % k
        note = _("customers left over: {left}").format(left=left) if left else ""
        cells.append(Datum(row, _("U of items"), items, raw, exact=True, tolerance=HALF_UP, note=note))
        if left:
            without = _result(found, deleted_unit(k))
            cells.append(Datum(row, _("U of items, rest deleted"), items, without, exact=True, tolerance=HALF_UP))
        cells += [
            Datum(row, _("U of categories"), categories, sorted_, tolerance=NEAR),
            Datum(row, "1/k", safety, 1 / k, exact=True, tolerance=HALF_UP),
            Datum(
                row,
                _("items, sum"),
                with_items,
                None if raw is None else raw + 1 / k,
                exact=True,
                tolerance=HALF_UP,
                erratum="sum" if k == 20 else "",
            ),
            Datum(
                row, _("categories, sum"), with_categories, None if sorted_ is None else sorted_ + 1 / k, tolerance=NEAR
            ),
        ]
        if raw is not None:
            sums[k] = raw + 1 / k
    says = [
        _(
            "S1 does not say what becomes of customers who are left over after the last whole group. Its U is ours if "
            "they stay as they are, and also if they are deleted; put into the last group they give .749 for k = 12 "
            "and .782 for k = 15. Which of the two S1 did is not known; who stays as he is, is not hidden."
        ),
        _("Categories are made of the items' names by a program, S1 made its own by hand."),
    ]
    if len(sums) == len(KS):
        best = min(sums, key=lambda k: sums[k])
        cells.append(Datum(_("best k"), _("items, sum"), 6, best, exact=True, tolerance=0, digits=0))
    return Comparison(cells, says)


def figure(found: Findings) -> Comparison:
    """Draw U and U + 1/k over k."""

    def draw() -> str:
        from noren.reproduce.charts import ChartLine, lines

        def panel(at: int, words: work.Words, add: float) -> list[ChartLine]:
            ours = [_result(found, unit(k, words)) for k in KS]
            both = [None if u is None else round(u + add / k, 4) for k, u in zip(KS, ours, strict=True)]
            return [
                ChartLine(_("paper"), [said[at] for said in TABLE.values()], "paper"),
                ChartLine(_("ours"), both, "ours"),
            ]

        panels = {
            _("items: U"): panel(0, "items", 0),
            _("categories: U"): panel(1, "categories", 0),
            _("items: U + 1/k"): panel(3, "items", 1),
            _("categories: U + 1/k"): panel(4, "categories", 1),
        }
        return lines(KS, panels, across_title="k", up_title=_("less is better"), up=(0.3, 0.9), columns=2, width=300)

    return Comparison(
        says=[_("U grows with k and 1/k falls; their sum is least at k = 6, with categories and without.")],
        charts=[Chart(_("U, and its sum with 1/k, over k"), draw)],
    )


# --- past the table --------------------------------------------------------------------------------------------------


def count_unit(k: int, suppress_cells: bool) -> Unit:
    """Return the work for generalize-by-count."""
    return Unit(work.by_count, (k, suppress_cells), data=(work.DATA,))


def best_unit(k: int) -> Unit:
    """Return the work for the best groups of k."""
    return Unit(work.best_groups, (k, "normal" if k == 2 else "quick"), data=(work.DATA,))


def beyond_units(asked: Extent) -> list[Unit]:
    """Return the work past the table; quick searches the best groups of two alone."""
    ks = QUICK if asked.quick else KS
    searched = SEARCHED[:1] if asked.quick else SEARCHED
    return [*(count_unit(k, suppress) for k in ks for suppress in (False, True)), *map(best_unit, searched)]


def beyond(found: Findings) -> Comparison:
    """Set S1's U of categories beside what is lower at the same k, or keeps k where S1 does not, with items kept."""
    cells = []
    for k, (items, categories, *_rest) in TABLE.items():
        row = f"k = {k}"
        joined, suppressed = (_result(found, count_unit(k, suppress)) for suppress in (False, True))
        best = _result(found, best_unit(k))
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
    return Comparison(
        cells,
        [
            _("Every customer is in a group of k here. The paper's numbers are its U of items, and of categories."),
            _("A cell is suppressed where its interval costs more than nothing would: items stay, and U is lower."),
        ],
    )
