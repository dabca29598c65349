"""S2's formulas: what two customers share, the rows to add, the best number of clusters; figures 1 and 2."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from noren.i18n import _
from noren.kernels.items.pseudo_record_theory import (
    best_clusters,
    expected_added,
    fewest_clusters,
    mean_overlap,
    printed_added,
    printed_best_clusters,
    printed_overlap,
)
from noren.reproduce.frame import Chart, Comparison, Datum, Extent, Findings, Unit
from noren.reproduce.s2 import work
from noren.reproduce.s2.printed import BEST_400, BEST_4000, CLUSTERS, FEWEST, FOUND, TABLE_2

__all__ = ["OVERLAP", "data", "data_units", "example", "example_units", "figure_2", "formulas"]

B, MU = FOUND["b"], FOUND["µ"]
OVERLAP = mean_overlap(B, MU)
"""Items that two customers share, as it follows from S2's b and µ."""
FACTS = Unit(work.facts, data=(work.DATA,))
EXAMPLE = Unit(work.example)


def data_units(_asked: Extent) -> Sequence[Unit]:
    """Return the work for what the data are like."""
    return [FACTS]


def data(found: Findings) -> Comparison:
    """Compare what S2 says of its data."""
    ours = found[FACTS]
    words = {
        "n": _("customers, n"),
        "m": _("rows, m"),
        "b": _("items of a customer, b"),
        "h": _("items that two share, h"),
        "µ": _("Jaccard similarity of two, µ"),
    }
    cells = [
        Datum(
            words[name],
            paper=said,
            ours=ours[name],
            exact=True,
            tolerance={"b": 1.0, "h": 0.5, "µ": 0.0005}.get(name, 0.0),
            digits={"b": 2, "h": 2, "µ": 4}.get(name, 0),
            note=_("cut to whole items") if name in ("b", "h") else "",
        )
        for name, said in FOUND.items()
    ]
    return Comparison(cells)


def example_units(_asked: Extent) -> Sequence[Unit]:
    """Return the work for figure 1."""
    return [EXAMPLE]


def example(found: Findings) -> Comparison:
    """Compare figure 1: three customers who show five items each in the end."""
    ours = found[EXAMPLE]
    cells = [
        Datum(_("items of {customer}").format(customer=name), paper="g1, g2, g3, g4, g5", ours=ours["items"][name],
             exact=True)
        for name in ("u1", "u2", "u3")
    ]  # fmt: skip
    # 3 for u1, 2 for u2, 3 for u3
    cells.append(Datum(_("rows added"), paper=8, ours=ours["added"], exact=True, tolerance=0, digits=0))
    return Comparison(cells)


def formulas(_found: Findings) -> Comparison:
    """Compare what S2 works out from b, µ and n, by what it prints and by what can be derived."""
    printed, derived = _("as printed"), _("as derived")
    few, many = best_clusters(400, B, OVERLAP), best_clusters(4000, B, OVERLAP)
    wanted, rate, rows = BEST_4000

    def cell(
        row: str, column: str, paper: float, ours: float, near: float, erratum: str = "", digits: int = 0
    ) -> Datum:
        return Datum(row, column, paper, ours, exact=True, tolerance=near, erratum=erratum, digits=digits)

    h = _("items that two share, h")
    best = _("n = {n:,}: best c")
    cells = [
        cell(h, printed, FOUND["h"], printed_overlap(B, MU), 0.5, "overlap", 2),
        cell(h, derived, FOUND["h"], OVERLAP, 0.5, digits=2),
        cell(_("n = 400: fewest c"), derived, FEWEST, fewest_clusters(400, B, OVERLAP), 0),
        cell(best.format(n=400), printed, BEST_400, printed_best_clusters(400, B, OVERLAP), 0.5, "best"),
        cell(best.format(n=400), derived, BEST_400, few.clusters, 0),
        cell(best.format(n=4000), printed, wanted, printed_best_clusters(4000, B, OVERLAP), 0.5),
        cell(best.format(n=4000), derived, wanted, many.clusters, 0, "best"),
        cell(_("n = 4,000: share found"), printed, rate, wanted / 4000, 0.0001, digits=4),
        cell(_("n = 4,000: share found"), derived, rate, many.reid, 0.0001, "best", 4),
        cell(_("n = 4,000: rows added"), printed, rows, printed_added(4000, wanted, B, OVERLAP), 0.5, "rows"),
        cell(_("n = 4,000: rows added"), derived, rows, expected_added(4000, wanted, B, OVERLAP), 0.5, "rows"),
    ]
    for c in CLUSTERS:
        row = _("c = {c}: rows added, Table 2's fewest").format(c=c)
        fewest = min(added for (clusters, _least), (added, *_rest) in TABLE_2.items() if clusters == c)
        cells += [
            Datum(row, printed, fewest, printed_added(400, c, B, OVERLAP), digits=0),
            Datum(row, derived, fewest, expected_added(400, c, B, OVERLAP), digits=0),
        ]
    return Comparison(
        cells,
        [
            _("As printed: h = 2bµ/(b+µ), (1) and (4). As derived: h = 2bµ/(1+µ), n(s-1)(b-hs/2) with s = n/c."),
            _("What is derived holds for customers put together at random; like customers need fewer rows."),
        ],
    )


def figure_2(_found: Findings) -> Comparison:
    """Draw what S2 minimises over the number of clusters, by the derived and by the printed number of rows."""
    c = np.arange(FEWEST, 401)
    largest = expected_added(400, FEWEST, B, OVERLAP)
    curves = {
        name: [(of_rows(400, at, B, OVERLAP) / largest + at / 400) / 2 for at in c.tolist()]
        for name, of_rows in (("derived", expected_added), ("printed", printed_added))
    }
    least = {name: int(c[int(np.argmin(values))]) for name, values in curves.items()}

    def draw() -> str:
        from noren.reproduce.charts import ChartLine, lines

        step = 8
        panels = {
            "": [
                ChartLine(_("rows by (1), as printed"), [round(v, 4) for v in curves["printed"][::step]], "paper"),
                ChartLine(_("rows as derived"), [round(v, 4) for v in curves["derived"][::step]], "ours"),
            ]
        }
        title = _("(α E(Δm) + E(Reid)) / 2, less is better")
        return lines([float(at) for at in c[::step]], panels, across_title="c", up_title=title, height=240)

    at_least = _("clusters where it is least")
    cells = [
        Datum(at_least, _("as derived"), BEST_400, least["derived"], exact=True, tolerance=0, digits=0),
        Datum(at_least, _("by (1)"), BEST_400, least["printed"], exact=True, tolerance=0, digits=0, erratum="best"),
        Datum("α", _("as derived"), ours=1 / largest, digits=9),
        Datum(_("largest value of αE(Δm)"), _("as derived"), 1.0, curves["derived"][0] * 2 - FEWEST / 400, exact=True,
             tolerance=1e-9),
    ]  # fmt: skip
    return Comparison(
        cells,
        [_("The least value is at 130 clusters only with the rows as derived; by formula (1) it is at 143.")],
        [Chart(_("What S2 minimises, over the number of clusters, n = 400"), draw)],
    )
