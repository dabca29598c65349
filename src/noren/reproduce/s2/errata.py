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
    return [_overlap(), _added(), _best(), _rows(), Erratum.of(__name__, "floor")]


def _overlap() -> Erratum:
    return Erratum.of(__name__, "overlap", [
            Datum("2bµ/(b+µ)", "h", FOUND["h"], printed_overlap(B, MU), exact=True, tolerance=0.5, digits=2,
                 erratum="overlap"),
            Datum("2bµ/(1+µ)", "h", FOUND["h"], OVERLAP, exact=True, tolerance=0.5, digits=2),
        ], printed=printed_overlap(B, MU))  # fmt: skip


def _added() -> Erratum:
    # everybody alone
    cells = [
        Datum("c = 400", name, 0, of_rows(400, 400, B, OVERLAP), exact=True, tolerance=0.5, digits=0, erratum=erratum)
        for name, of_rows, erratum in ((_("by (1)"), printed_added, "added"), (_("as derived"), expected_added, ""))
    ]
    return Erratum.of(__name__, "added", cells, rows=printed_added(400, 400, B, OVERLAP))


def _best() -> Erratum:
    cells = [
        Datum(f"n = {n:,}", name, said, ours, exact=True, tolerance=0.5, digits=0, erratum=erratum)
        for n, said, wrong in ((400, BEST_400, "best"), (4000, BEST_4000[0], ""))
        for name, ours, erratum in (
            (_("by (4)"), printed_best_clusters(n, B, OVERLAP), wrong),
            (_("least of the curve"), best_clusters(n, B, OVERLAP).clusters, "" if wrong else "best"),
        )
    ]
    return Erratum.of(__name__, "best", cells)


def _rows() -> Erratum:
    c, _rate, said = BEST_4000
    derived, had = expected_added(4000, c, B, OVERLAP), 4000 * B
    # h = 2bµ lacks the denominator of µ = h/(2b - h)
    whole = printed_added(4000, c, B, 2 * B * MU)
    cells = [
        Datum(_("by (1)"), _("rows added"), said, printed_added(4000, c, B, OVERLAP), exact=True, tolerance=0.5,
              digits=0, erratum="rows"),
        Datum(_("as derived"), _("rows added"), said, derived, exact=True, tolerance=0.5, digits=0, erratum="rows"),
        # c is printed as a whole number: half a cluster more or less is this many rows
        Datum(_("by (1) with h = 2bµ, less nb"), _("rows added"), said, whole - had, exact=True,
              tolerance=whole / c / 2, digits=0),
    ]  # fmt: skip
    return Erratum.of(__name__, "rows", cells, added=derived, less=whole - had, c=c * whole / (said + had))
