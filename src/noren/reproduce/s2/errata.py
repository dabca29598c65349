"""What S2 gets wrong, with what can be derived."""

from __future__ import annotations

from noren.i18n import _
from noren.kernels.items.pseudo_record_theory import (
    best_clusters,
    expected_added,
    printed_added,
    printed_best_clusters,
    printed_overlap,
)
from noren.reproduce.frame import Datum, Erratum
from noren.reproduce.s2.formulas import MU, OVERLAP, B
from noren.reproduce.s2.printed import BEST_400, BEST_4000, FOUND

__all__ = ["errata"]


def errata() -> list[Erratum]:
    """Return the errata."""
    return [_overlap(), _added(), _best(), _rows(), _floor()]


def _overlap() -> Erratum:
    return Erratum(
        "overlap",
        _("Section 2.1"),
        "h = 2bµ/(b + µ)",
        "h = 2bµ/(1 + µ)",
        _("From µ = h/(2b - h). As printed h is {printed:.2f}; S2's own text says h = 4.").format(
            printed=printed_overlap(B, MU)
        ),
        [
            Datum("2bµ/(b+µ)", "h", FOUND["h"], printed_overlap(B, MU), exact=True, tolerance=0.5, digits=2,
                 erratum="overlap"),
            Datum("2bµ/(1+µ)", "h", FOUND["h"], OVERLAP, exact=True, tolerance=0.5, digits=2),
        ],
    )  # fmt: skip


def _added() -> Erratum:
    # everybody alone
    cells = [
        Datum("c = 400", name, 0, of_rows(400, 400, B, OVERLAP), exact=True, tolerance=0.5, digits=0, erratum=erratum)
        for name, of_rows, erratum in ((_("by (1)"), printed_added, "added"), (_("as derived"), expected_added, ""))
    ]
    return Erratum(
        "added",
        _("Formula (1)"),
        "E(Δm) ≈ (b + h/2) n²/c",
        "E(Δm) = n (s - 1)(b - hs/2), s = n/c",
        _(
            "A union of s sets has at least sb - hs(s-1)/2 items, and each of the n members lacks all but b of them. "
            "With everybody alone (c = n) nothing is added; (1) adds {rows:,.0f} rows."
        ).format(rows=printed_added(400, 400, B, OVERLAP)),
        cells,
    )


def _best() -> Erratum:
    cells = [
        Datum(f"n = {n:,}", name, said, ours, exact=True, tolerance=0.5, digits=0, erratum=erratum)
        for n, said, wrong in ((400, BEST_400, "best"), (4000, BEST_4000[0], ""))
        for name, ours, erratum in (
            (_("by (4)"), printed_best_clusters(n, B, OVERLAP), wrong),
            (_("least of the curve"), best_clusters(n, B, OVERLAP).clusters, "" if wrong else "best"),
        )
    ]
    return Erratum(
        "best",
        _("Section 4.4, formula (4)"),
        _("c* = 130 for 400 customers, 1427 for 4,000"),
        _("c* = 130 for 400 customers, 1296 for 4,000"),
        _(
            "The two examples come by different ways: 130 is where the curve with the derived number of rows is least, "
            "1427 is formula (4), which follows from (1) and inherits its error."
        ),
        cells,
    )


def _rows() -> Erratum:
    c, _rate, said = BEST_4000
    less = printed_added(4000, c, B, OVERLAP) - 4000 * B
    cells = [
        Datum(name, _("rows added"), said, ours, exact=True, tolerance=0.5, digits=0, erratum="rows",
              unexplained=True)
        for name, ours in (
            (_("by (1)"), printed_added(4000, c, B, OVERLAP)),
            (_("as derived"), expected_added(4000, c, B, OVERLAP)),
            (_("by (1), less nb"), less),
        )
    ]  # fmt: skip
    return Erratum(
        "rows",
        _("Section 4.4"),
        _("E(Δm) = 490,650 for 4,000 customers in 1427 clusters"),
        "",
        _(
            "The printed number follows neither from (1) nor from what is derived. The nearest that we found is (1) "
            "less the nb items that customers have already, {less:,.0f}."
        ).format(less=less),
        cells,
    )


def _floor() -> Erratum:
    return Erratum(
        "floor",
        _("Table 2, c = 75"),
        _("the fewest rows at a least size of 4"),
        _("at 5, the largest that 400 customers allow"),
        _(
            "The text says that rows are fewest where the least size is n/c rounded down, which is 5 for 75 clusters; "
            "the table stops at 4."
        ),
    )
