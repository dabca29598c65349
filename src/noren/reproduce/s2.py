"""Reproduction of S2: its formulas, figures and tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean, stdev
from typing import Any

import numpy as np

from noren.i18n import N_, _
from noren.kernels.items.pseudo_records import (
    best_clusters,
    expected_added,
    fewest_clusters,
    mean_overlap,
    printed_added,
    printed_best_clusters,
    printed_overlap,
)
from noren.reproduce import s2_work as work
from noren.reproduce.frame import (
    Comparison,
    Datum,
    Erratum,
    Extent,
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
_PRINTED = table_of("noren.reproduce.s2_printed")
DATA_FACTS: dict[str, float] = _PRINTED["data"]
TABLE_1: dict[str, tuple[float, float]] = _PRINTED["table_1"]
"""The best team's share of customers found, and that of Algorithm 1."""
CLUSTERS: list[int] = _PRINTED["clusters"]
TABLE_2: dict[tuple[int, int], tuple[int, float, float]] = {
    (clusters, least): (added, similar, share) for clusters, least, added, similar, share in _PRINTED["table_2"]
}
"""By clusters and least size: rows added, mean similarity, share found by Algorithm 1."""
SAVED: float = _PRINTED["saved"]
STEADY: float = _PRINTED["steady"]
FEWEST: int = _PRINTED["fewest"]
BEST_400: int = _PRINTED["best_400"]
BEST_4000: tuple[int, float, int] = _PRINTED["best_4000"]
"""Clusters, share found and rows added for 4,000 customers."""


# --- S2's formulas: items that two customers share, rows to add, best number of clusters; figures 1 and 2 ------------


B, MU = DATA_FACTS["b"], DATA_FACTS["µ"]
OVERLAP = mean_overlap(B, MU)
"""Items that two customers share, as it follows from S2's b and µ."""
FACTS = WorkUnit(work.facts, data=(work.DATA,))
EXAMPLE = WorkUnit(work.example)


def data(results: UnitResults) -> Comparison:
    """Compare S2's description of its data."""
    ours = results[FACTS]
    cells = [
        Datum.exactly(
            join_labels(name, say(f"data.{name}")),
            paper=printed,
            ours=ours[name],
            tolerance={"b": 1.0, "h": 0.5, "µ": 0.0005}.get(name, 0.0),
            digits={"b": 2, "h": 2, "µ": 4}.get(name, 0),
            note=_("truncated") if name in ("b", "h") else "",
        )
        for name, printed in DATA_FACTS.items()
    ]
    return Comparison(cells)


def example(results: UnitResults) -> Comparison:
    """Compare figure 1: three customers who have five items each in the end."""
    ours = results[EXAMPLE]
    items = "g1, g2, g3, g4, g5"
    cells = [
        Datum(join_labels(name, _("items")), "", items, ours["items"][name], exact=True) for name in ("u1", "u2", "u3")
    ]
    # 3 for u1, 2 for u2, 3 for u3
    cells.append(Datum.exactly(_("rows added"), paper=8, ours=ours["added"], digits=0))
    return Comparison(cells)


def formulas(_results: UnitResults) -> Comparison:
    """Compare what follows from b, µ and n, by the printed formulas and by the derived ones."""
    printed, derived = _("as printed"), _("as derived")
    few, many = best_clusters(400, B, OVERLAP), best_clusters(4000, B, OVERLAP)
    wanted, rate, rows = BEST_4000

    def cell(
        row: str, column: str, paper: float, ours: float, near: float, erratum: str = "", digits: int = 0
    ) -> Datum:
        return Datum.exactly(row, column, paper, ours, tolerance=near, erratum=erratum, digits=digits)

    h = join_labels("h", say("data.h"))
    best, best_of_many = join_labels("n = 400", _("best c")), join_labels("n = 4,000", _("best c"))
    share, added = join_labels("n = 4,000", _("share found")), join_labels("n = 4,000", _("rows added"))
    cells = [
        cell(h, printed, DATA_FACTS["h"], printed_overlap(B, MU), 0.5, "overlap", 2),
        cell(h, derived, DATA_FACTS["h"], OVERLAP, 0.5, digits=2),
        cell(join_labels("n = 400", _("fewest c")), derived, FEWEST, fewest_clusters(400, B, OVERLAP), 0),
        cell(best, printed, BEST_400, printed_best_clusters(400, B, OVERLAP), 0.5, "best"),
        cell(best, derived, BEST_400, few.clusters, 0),
        cell(best_of_many, printed, wanted, printed_best_clusters(4000, B, OVERLAP), 0.5),
        cell(best_of_many, derived, wanted, many.clusters, 0, "best"),
        cell(share, printed, rate, wanted / 4000, 0.0001, digits=4),
        cell(share, derived, rate, many.reid, 0.0001, "best", 4),
        cell(added, printed, rows, printed_added(4000, wanted, B, OVERLAP), 0.5, "rows"),
        cell(added, derived, rows, expected_added(4000, wanted, B, OVERLAP), 0.5, "rows"),
    ]
    for c in CLUSTERS:
        row = join_labels(f"c = {c}", _("rows added"))
        fewest = min(rows for (clusters, _least), (rows, *_rest) in TABLE_2.items() if clusters == c)
        cells += [
            Datum(row, printed, fewest, printed_added(400, c, B, OVERLAP), digits=0),
            Datum(row, derived, fewest, expected_added(400, c, B, OVERLAP), digits=0),
        ]
    return Comparison(cells, [say("formulas")])


def figure_2(_results: UnitResults) -> Comparison:
    """Draw what S2 minimises over the number of clusters, by the derived and by the printed number of rows."""
    c = np.arange(FEWEST, 401)
    largest = expected_added(400, FEWEST, B, OVERLAP)
    curves = {
        name: [(of_rows(400, at, B, OVERLAP) / largest + at / 400) / 2 for at in c.tolist()]
        for name, of_rows in (("derived", expected_added), ("printed", printed_added))
    }
    least = {name: int(c[int(np.argmin(values))]) for name, values in curves.items()}

    derived, most = _("as derived"), curves["derived"][0] * 2 - FEWEST / 400
    cells = [
        Datum.exactly(_("best c"), derived, BEST_400, least["derived"], digits=0),
        Datum.exactly(_("best c"), "(1)", BEST_400, least["printed"], digits=0, erratum="best"),
        Datum("α", derived, ours=1 / largest, digits=9),
        Datum.exactly(join_labels("αE(Δm)", _("largest")), derived, 1.0, most, tolerance=1e-9),
    ]
    points = {name: [round(value, 4) for value in values[::8]] for name, values in curves.items()}
    chart = lines(
        _("The best number of clusters"),
        [float(at) for at in c[::8]],
        {"": [(_("as printed"), points["printed"], "paper"), (_("as derived"), points["derived"], "ours")]},
        across_title="c",
        up_title="(α E(Δm) + E(Reid)) / 2",
        height=240,
    )
    return Comparison(cells, [say("minimum")], [chart])


# --- S2's tables: customers found in releases, and the cost of pseudo records ----------------------------------------


SEEDS = 5
QUICK_RELEASES = ("thin 95 %", "swap 60 %", "pseudo records, 100 clusters")
LARGEST = {c: 400 // c for c in CLUSTERS}
"""The largest minimum size that the number of customers allows."""
SIMILAR = 0.008
"""How far ours may be from the paper's in similarity and in the share found, for five seeds."""


rates_unit = unit_of(work.attack_rates, work.DATA)


def units_1(extent: Extent) -> list[WorkUnit]:
    """Return the work for Table 1; quick takes three releases."""
    names = QUICK_RELEASES if extent.quick else tuple(work.RELEASES)
    return [rates_unit(name, seed) for name in names for seed in extent.seeds(full=3)]


def table_1(results: UnitResults) -> Comparison:
    """Show what Algorithm 1 and the best of four attacks find in S2's submissions and in our releases."""
    best, jaccard = _("best attack") + " (a)", _("Algorithm 1") + " (b)"
    cells = []
    for name, (a, b) in TABLE_1.items():
        cells += [Datum(name, best, a, digits=4), Datum(name, jaccard, b, digits=4)]
    leads, run = 0, 0
    for name in work.RELEASES:
        runs = results.over_seeds(rates_unit, name, full=3)
        shares = {attack: fmean(rates[attack] for rates in runs) for attack in work.ATTACKS} if runs else {}
        names = sorted(shares, key=lambda attack: -shares[attack])
        cells += [
            Datum.over(name, best, [max(rates.values()) for rates in runs], digits=4, note=names[0] if names else ""),
            Datum.over(name, jaccard, [rates["jaccard"] for rates in runs], digits=4),
        ]
        run += bool(runs)
        leads += bool(runs) and names[0] == "jaccard"
    others = ", ".join(name for name in work.ATTACKS if name != "jaccard")
    counts = {"printed": sum(a == b for a, b in TABLE_1.values()), "submissions": len(TABLE_1)}
    remark = say("finds_most", **counts, leads=leads, releases=run, names=others)
    return Comparison(cells, [_("The teams' releases are not public; Noren's releases are listed below them."), remark])


LEAST_SIZES = {
    c: min((cell for cell in TABLE_2 if cell[0] == c), key=lambda cell: TABLE_2[cell][0])[1] for c in CLUSTERS
}
"""The minimum size with which Table 2 has the fewest rows."""
CELLS = list(dict.fromkeys((*TABLE_2, *LARGEST.items())))
"""Clusters and minimum sizes: those of Table 2, and the largest minimum size where Table 2 lacks it."""
_padded = unit_of(work.padded, work.DATA)


def _of_paper(clusters: int, least: int, seed: int) -> WorkUnit:
    return _padded(clusters, least, "repaired" if least else "clusters", "normal", seed)


def _balanced(clusters: int, effort: str, seed: int) -> WorkUnit:
    """Return the work for the variant balanced, with the minimum size of Table 2's fewest rows."""
    return _padded(clusters, LEAST_SIZES[clusters], "balanced", effort, seed)


def units_2(extent: Extent) -> list[WorkUnit]:
    """Return the work for Table 2; quick searches for clusters of fewest rows a tenth as long."""
    seeds = extent.seeds(full=SEEDS)
    efforts = ["quick"] if extent.quick else ["quick", "normal"]
    units = [_of_paper(c, least, seed) for c, least in CELLS for seed in seeds]
    return units + [_balanced(c, effort, seed) for effort in efforts for c in CLUSTERS for seed in seeds]


def table_2(results: UnitResults) -> Comparison:
    """Compare rows added, mean similarity and the share found with the paper's; also for the variant balanced."""
    wider = math.sqrt(SEEDS / len(results.extent.seeds(full=SEEDS)))
    rows, similar, share = _("rows added"), _("mean similarity"), _("share found")
    cells, spreads, saved = [], [], []
    for c in CLUSTERS:
        added: dict[int, list[float]] = {}
        for least in sorted(least for clusters, least in CELLS if clusters == c):
            runs = results.over_seeds(_of_paper, c, least, full=SEEDS)
            row = f"c = {c}, ≥ {least}" if least else join_labels(f"c = {c}", _("method 1"))
            paper: tuple[Any, Any, Any] = TABLE_2.get((c, least), (None, None, None))
            # the start of k-means decides the sizes of clusters, the less so the larger the minimum size is
            spread = 0.05 + 0.25 * (1 - max(least - 1, 0) / max(LARGEST[c] - 1, 1))
            near = spread * wider * paper[0] if paper[0] else None
            added[least], jaccard, reid = ([run[key] for run in runs] for key in ("added", "jaccard", "reid"))
            cells += [
                Datum.over(row, rows, added[least], paper=paper[0], tolerance=near, digits=0),
                Datum.over(row, similar, jaccard, paper=paper[1], tolerance=SIMILAR, digits=4),
                Datum.over(row, share, reid, paper=paper[2], tolerance=SIMILAR, digits=4),
            ]
            if least and len(runs) > 1:
                spreads.append(stdev(jaccard))
        if added[LARGEST[c]] and added[0]:
            saved.append((c, 1 - fmean(added[LARGEST[c]]) / fmean(added[0])))
        runs = results.over_seeds(_balanced, c, "quick" if results.extent.quick else "normal", full=SEEDS)
        row = f"c = {c}, balanced, ≥ {LEAST_SIZES[c]}"
        fewest, note = TABLE_2[c, LEAST_SIZES[c]][0], _("the paper's fewest rows")
        most: dict[str, Any] = {"tolerance": 0, "aim": "at-most"}
        cells += [
            Datum.over(row, rows, [run["added"] for run in runs], paper=fewest, digits=0, note=note, **most),
            Datum.over(row, similar, [run["jaccard"] for run in runs], digits=4),
            Datum.over(row, share, [run["reid"] for run in runs], paper=c / 400, digits=4, **most),
        ]
    if spreads:
        row = join_labels(_("standard deviation"), _("largest"))
        cells.append(Datum(row, similar, STEADY, max(spreads), tolerance=0.0, aim="at-most", digits=4))
    shares = ", ".join(f"{share:.0%} (c = {c})" for c, share in saved)
    of_table = ", ".join(f"{1 - TABLE_2[c, LEAST_SIZES[c]][0] / TABLE_2[c, 0][0]:.0%}" for c in CLUSTERS)
    return Comparison(cells, [say("saved", ours=shares, table=of_table, stated=SAVED)] if saved else [])


def errata() -> Iterator[Erratum]:
    """Yield the errata, with what can be derived."""
    printed = printed_overlap(B, MU)
    cells = [
        Datum.exactly("2bµ/(b+µ)", "h", DATA_FACTS["h"], printed, tolerance=0.5, digits=2, erratum="overlap"),
        Datum.exactly("2bµ/(1+µ)", "h", DATA_FACTS["h"], OVERLAP, tolerance=0.5, digits=2),
    ]
    yield Erratum.of("S2", "overlap", cells, printed=printed)
    # everybody alone
    cells = [
        Datum.exactly("c = 400", name, 0, of_rows(400, 400, B, OVERLAP), tolerance=0.5, digits=0, erratum=erratum)
        for name, of_rows, erratum in (("(1)", printed_added, "added"), (_("as derived"), expected_added, ""))
    ]
    yield Erratum.of("S2", "added", cells, rows=printed_added(400, 400, B, OVERLAP))
    cells = [
        Datum.exactly(f"n = {n:,}", name, paper, ours, tolerance=0.5, digits=0, erratum=erratum)
        for n, paper, wrong in ((400, BEST_400, "best"), (4000, BEST_4000[0], ""))
        for name, ours, erratum in (
            ("(4)", printed_best_clusters(n, B, OVERLAP), wrong),
            (_("as derived"), best_clusters(n, B, OVERLAP).clusters, "" if wrong else "best"),
        )
    ]
    yield Erratum.of("S2", "best", cells)
    c, _rate, paper_rows = BEST_4000
    derived, had = expected_added(4000, c, B, OVERLAP), 4000 * B
    # h = 2bµ lacks the denominator of µ = h/(2b - h)
    whole = printed_added(4000, c, B, 2 * B * MU)
    rows = _("rows added")
    by_1 = printed_added(4000, c, B, OVERLAP)
    cells = [
        Datum.exactly("(1)", rows, paper_rows, by_1, tolerance=0.5, digits=0, erratum="rows"),
        Datum.exactly(_("as derived"), rows, paper_rows, derived, tolerance=0.5, digits=0, erratum="rows"),
        # c is printed as a whole number: half a cluster more or less is this many rows
        Datum.exactly("(1), h = 2bµ, - nb", rows, paper_rows, whole - had, tolerance=whole / c / 2, digits=0),
    ]
    yield Erratum.of("S2", "rows", cells, added=derived, less=whole - had, c=c * whole / (paper_rows + had))
    yield Erratum.of("S2", "floor")


DOCUMENT = PaperDocument.of(
    "S2",
    PaperSection("check", "data", N_("The data"), (FACTS,), data),
    PaperSection("check", "formulas", N_("What follows from b, µ and n"), (), formulas),
    PaperSection("figure", "1", N_("Pseudo records for three customers"), (EXAMPLE,), example),
    PaperSection("figure", "2", N_("The best number of clusters"), (), figure_2),
    PaperSection("table", "1", N_("Customers found by their items"), units_1, table_1),
    PaperSection("table", "2", N_("Rows added, similarity and customers found"), units_2, table_2),
    errata=errata,
)
