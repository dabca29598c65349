"""S2's formulas, figures and tables beside ours."""

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
    Findings,
    PaperDocument,
    PaperSection,
    lines,
    unit_of,
)
from noren.tables import Texts, table_of
from noren.work.store import WorkUnit

say = Texts(__name__)
_SAID = table_of("noren.reproduce.s2_printed")
FOUND: dict[str, float] = _SAID["found"]
TABLE_1: dict[str, tuple[float, float]] = _SAID["table_1"]
"""The best team's share of customers found, and that of Algorithm 1."""
CLUSTERS: list[int] = _SAID["clusters"]
TABLE_2: dict[tuple[int, int], tuple[int, float, float]] = {
    (clusters, least): (added, similar, found) for clusters, least, added, similar, found in _SAID["table_2"]
}
"""By clusters and least size: rows added, mean similarity, share found by Algorithm 1."""
SAVED: float = _SAID["saved"]
STEADY: float = _SAID["steady"]
FEWEST: int = _SAID["fewest"]
BEST_400: int = _SAID["best_400"]
BEST_4000: tuple[int, float, int] = _SAID["best_4000"]
"""Clusters, share found and rows added for 4,000 customers."""


# --- S2's formulas: what two customers share, the rows to add, the best number of clusters; figures 1 and 2 -----------


B, MU = FOUND["b"], FOUND["µ"]
OVERLAP = mean_overlap(B, MU)
"""Items that two customers share, as it follows from S2's b and µ."""
FACTS = WorkUnit(work.facts, data=(work.DATA,))
EXAMPLE = WorkUnit(work.example)


def data(found: Findings) -> Comparison:
    """Compare what S2 says of its data."""
    ours = found[FACTS]
    cells = [
        Datum.exactly(
            say(f"data.{name}"),
            paper=said,
            ours=ours[name],
            tolerance={"b": 1.0, "h": 0.5, "µ": 0.0005}.get(name, 0.0),
            digits={"b": 2, "h": 2, "µ": 4}.get(name, 0),
            note=_("cut to whole items") if name in ("b", "h") else "",
        )
        for name, said in FOUND.items()
    ]
    return Comparison(cells)


def example(found: Findings) -> Comparison:
    """Compare figure 1: three customers who show five items each in the end."""
    ours = found[EXAMPLE]
    items, shown = _("items of {customer}"), "g1, g2, g3, g4, g5"
    cells = [
        Datum(items.format(customer=name), "", shown, ours["items"][name], exact=True) for name in ("u1", "u2", "u3")
    ]
    # 3 for u1, 2 for u2, 3 for u3
    cells.append(Datum.exactly(_("rows added"), paper=8, ours=ours["added"], digits=0))
    return Comparison(cells)


def formulas(_found: Findings) -> Comparison:
    """Compare what S2 works out from b, µ and n, by what it prints and by what can be derived."""
    printed, derived = _("as printed"), _("as derived")
    few, many = best_clusters(400, B, OVERLAP), best_clusters(4000, B, OVERLAP)
    wanted, rate, rows = BEST_4000

    def cell(
        row: str, column: str, paper: float, ours: float, near: float, erratum: str = "", digits: int = 0
    ) -> Datum:
        return Datum.exactly(row, column, paper, ours, tolerance=near, erratum=erratum, digits=digits)

    h = say("data.h")
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
    return Comparison(cells, [say("formulas"), say("at_random")])


def figure_2(_found: Findings) -> Comparison:
    """Draw what S2 minimises over the number of clusters, by the derived and by the printed number of rows."""
    c = np.arange(FEWEST, 401)
    largest = expected_added(400, FEWEST, B, OVERLAP)
    curves = {
        name: [(of_rows(400, at, B, OVERLAP) / largest + at / 400) / 2 for at in c.tolist()]
        for name, of_rows in (("derived", expected_added), ("printed", printed_added))
    }
    least = {name: int(c[int(np.argmin(values))]) for name, values in curves.items()}

    at_least = _("clusters where it is least")
    cells = [
        Datum.exactly(at_least, _("as derived"), BEST_400, least["derived"], digits=0),
        Datum.exactly(at_least, _("by (1)"), BEST_400, least["printed"], digits=0, erratum="best"),
        Datum("α", _("as derived"), ours=1 / largest, digits=9),
        Datum.exactly(
            _("largest value of αE(Δm)"), _("as derived"), 1.0, curves["derived"][0] * 2 - FEWEST / 400, tolerance=1e-9
        ),
    ]
    shown = {name: [round(value, 4) for value in values[::8]] for name, values in curves.items()}
    chart = lines(
        _("What S2 minimises, over the number of clusters, n = 400"),
        [float(at) for at in c[::8]],
        {
            "": [
                (_("rows by (1), as printed"), shown["printed"], "paper"),
                (_("rows as derived"), shown["derived"], "ours"),
            ]
        },
        across_title="c",
        up_title=_("(α E(Δm) + E(Reid)) / 2, less is better"),
        height=240,
    )
    return Comparison(cells, [say("least_value")], [chart])


# --- S2's tables: who is found in releases, and what pseudo records cost ----------------------------------------------


SEEDS = 5
QUICK_RELEASES = ("thin 95 %", "swap 60 %", "pseudo records, 100 clusters")
LARGEST = {c: 400 // c for c in CLUSTERS}
"""The largest least size that there are customers for."""
SIMILAR = 0.008
"""How far ours may be from the paper's in similarity and in the share found, for five seeds."""


# --- who is found ----------------------------------------------------------------------------------------------------


found_unit = unit_of(work.found, work.DATA)


def units_1(asked: Extent) -> list[WorkUnit]:
    """Return the work for Table 1; quick takes three releases."""
    names = QUICK_RELEASES if asked.quick else tuple(work.RELEASES)
    return [found_unit(name, seed) for name in names for seed in asked.seeds(full=3)]


def table_1(found: Findings) -> Comparison:
    """Show what Algorithm 1 finds, and the best of four attacks, on releases of our own beside S2's submissions."""
    best, jaccard = _("best attack (a)"), _("Algorithm 1 (b)")
    unseen = _("the submission is not public")
    cells = []
    for name, (a, b) in TABLE_1.items():
        cells += [Datum(name, best, a, digits=4, note=unseen), Datum(name, jaccard, b, digits=4)]
    leads, run = 0, 0
    for name in work.RELEASES:
        runs = found.over_seeds(found_unit, name, full=3)
        shares = {attack: fmean(one[attack] for one in runs) for attack in work.ATTACKS} if runs else {}
        names = sorted(shares, key=lambda attack: -shares[attack])
        cells += [
            Datum.over(name, best, [max(one.values()) for one in runs], digits=4, note=names[0] if names else ""),
            Datum.over(name, jaccard, [one["jaccard"] for one in runs], digits=4),
        ]
        run += bool(runs)
        leads += bool(runs) and names[0] == "jaccard"
    others = ", ".join(name for name in work.ATTACKS if name != "jaccard")
    says = [
        say("finds_most", told=sum(a == b for a, b in TABLE_1.values()), count=len(TABLE_1)),
        say("finds_most_of_ours", leads=leads, count=run, names=others),
        say("moved_far"),
    ]
    return Comparison(cells, says)


# --- what pseudo records cost ----------------------------------------------------------------------------------------


LEAST_SIZES = {
    c: min((cell for cell in TABLE_2 if cell[0] == c), key=lambda cell: TABLE_2[cell][0])[1] for c in CLUSTERS
}
"""The least size with which Table 2 has the fewest rows."""
CELLS = list(dict.fromkeys((*TABLE_2, *LARGEST.items())))
"""Clusters and least sizes: those of Table 2, and the largest least size where it leaves that out."""
_padded = unit_of(work.padded, work.DATA)


def _of_paper(clusters: int, least: int, seed: int) -> WorkUnit:
    return _padded(clusters, least, "repaired" if least else "clusters", "normal", seed)


def _balanced(clusters: int, effort: str, seed: int) -> WorkUnit:
    """Return the work for the variant balanced with the least size of Table 2's fewest rows: nobody has an edge."""
    return _padded(clusters, LEAST_SIZES[clusters], "balanced", effort, seed)


def units_2(asked: Extent) -> list[WorkUnit]:
    """Return the work for Table 2; quick searches for clusters of fewest rows a tenth as long."""
    seeds = asked.seeds(full=SEEDS)
    efforts = ["quick"] if asked.quick else ["quick", "normal"]
    units = [_of_paper(c, least, seed) for c, least in CELLS for seed in seeds]
    return units + [_balanced(c, effort, seed) for effort in efforts for c in CLUSTERS for seed in seeds]


def table_2(found: Findings) -> Comparison:
    """Set rows added, mean similarity and the share found beside the paper's; and those of the variant balanced."""
    wider = math.sqrt(SEEDS / len(found.asked.seeds(full=SEEDS)))
    rows, similar, share = _("rows added"), _("mean similarity"), _("share found")
    cells, spreads, saved = [], [], []
    for c in CLUSTERS:
        added: dict[int, list[float]] = {}
        for least in sorted(least for clusters, least in CELLS if clusters == c):
            runs = found.over_seeds(_of_paper, c, least, full=SEEDS)
            name = _("method 1") if not least else _("at least {size}").format(size=least)
            row = f"c = {c}, {name}"
            paper: tuple[Any, Any, Any] = TABLE_2.get((c, least), (None, None, None))
            note = "" if (c, least) in TABLE_2 else _("the largest least size; Table 2 stops before it")
            # how k-means starts decides the sizes of clusters, the less so the larger the least size is
            luck = 0.05 + 0.25 * (1 - max(least - 1, 0) / max(LARGEST[c] - 1, 1))
            near = luck * wider * paper[0] if paper[0] else None
            added[least], jaccard, reid = ([run[key] for run in runs] for key in ("added", "jaccard", "reid"))
            cells += [
                Datum.over(row, rows, added[least], paper=paper[0], tolerance=near, digits=0, note=note),
                Datum.over(row, similar, jaccard, paper=paper[1], tolerance=SIMILAR, digits=4),
                Datum.over(row, share, reid, paper=paper[2], tolerance=SIMILAR, digits=4),
            ]
            if least and len(runs) > 1:
                spreads.append(stdev(jaccard))
        if added[LARGEST[c]] and added[0]:
            saved.append((c, 1 - fmean(added[LARGEST[c]]) / fmean(added[0])))
        runs = found.over_seeds(_balanced, c, "quick" if found.asked.quick else "normal", full=SEEDS)
        row = _("c = {c}, balanced, at least {size}").format(c=c, size=LEAST_SIZES[c])
        fewest, note = TABLE_2[c, LEAST_SIZES[c]][0], _("the paper's with the same least size, its fewest")
        most: dict[str, Any] = {"tolerance": 0, "aim": "at-most"}
        cells += [
            Datum.over(row, rows, [run["added"] for run in runs], paper=fewest, digits=0, note=note, **most),
            Datum.over(row, similar, [run["jaccard"] for run in runs], digits=4),
            Datum.over(row, share, [run["reid"] for run in runs], paper=c / 400, digits=4, **most),
        ]
    if spreads:
        row = _("largest standard deviation, method 2")
        cells.append(Datum(row, similar, STEADY, max(spreads), tolerance=0.0, aim="at-most", digits=4))
    shares = ", ".join(f"{share:.0%} (c = {c})" for c, share in saved)
    of_table = ", ".join(f"{1 - TABLE_2[c, LEAST_SIZES[c]][0] / TABLE_2[c, 0][0]:.0%}" for c in CLUSTERS)
    return Comparison(cells, [say("saved", said=shares, table=of_table, told=SAVED)] if saved else [])


# --- What S2 gets wrong, with what can be derived ---------------------------------------------------------------------


def errata() -> Iterator[Erratum]:
    """Yield the errata."""
    printed = printed_overlap(B, MU)
    cells = [
        Datum.exactly("2bµ/(b+µ)", "h", FOUND["h"], printed, tolerance=0.5, digits=2, erratum="overlap"),
        Datum.exactly("2bµ/(1+µ)", "h", FOUND["h"], OVERLAP, tolerance=0.5, digits=2),
    ]
    yield Erratum.of("S2", "overlap", cells, printed=printed)
    # everybody alone
    cells = [
        Datum.exactly("c = 400", name, 0, of_rows(400, 400, B, OVERLAP), tolerance=0.5, digits=0, erratum=erratum)
        for name, of_rows, erratum in ((_("by (1)"), printed_added, "added"), (_("as derived"), expected_added, ""))
    ]
    yield Erratum.of("S2", "added", cells, rows=printed_added(400, 400, B, OVERLAP))
    cells = [
        Datum.exactly(f"n = {n:,}", name, said, ours, tolerance=0.5, digits=0, erratum=erratum)
        for n, said, wrong in ((400, BEST_400, "best"), (4000, BEST_4000[0], ""))
        for name, ours, erratum in (
            (_("by (4)"), printed_best_clusters(n, B, OVERLAP), wrong),
            (_("least of the curve"), best_clusters(n, B, OVERLAP).clusters, "" if wrong else "best"),
        )
    ]
    yield Erratum.of("S2", "best", cells)
    c, _rate, said = BEST_4000
    derived, had = expected_added(4000, c, B, OVERLAP), 4000 * B
    # h = 2bµ lacks the denominator of µ = h/(2b - h)
    whole = printed_added(4000, c, B, 2 * B * MU)
    rows = _("rows added")
    by_1 = printed_added(4000, c, B, OVERLAP)
    cells = [
        Datum.exactly(_("by (1)"), rows, said, by_1, tolerance=0.5, digits=0, erratum="rows"),
        Datum.exactly(_("as derived"), rows, said, derived, tolerance=0.5, digits=0, erratum="rows"),
        # c is printed as a whole number: half a cluster more or less is this many rows
        Datum.exactly(_("by (1) with h = 2bµ, less nb"), rows, said, whole - had, tolerance=whole / c / 2, digits=0),
    ]
    yield Erratum.of("S2", "rows", cells, added=derived, less=whole - had, c=c * whole / (said + had))
    yield Erratum.of("S2", "floor")


# --- the document -----------------------------------------------------------------------------------------------------

DOCUMENT = PaperDocument(
    key="S2",
    title=N_("Re-identification by Jaccard similarity, and pseudo records against it"),
    citation="On PWS Cup 2016: re-identification by sets of items, and clusters of a least size (in Japanese).",
    parts=(
        PaperSection("check", "data", N_("What the data are like"), (FACTS,), data),
        PaperSection("check", "formulas", N_("What follows from b, µ and n"), (), formulas),
        PaperSection("figure", "1", N_("Pseudo records for three customers"), (EXAMPLE,), example),
        PaperSection("figure", "2", N_("The best number of clusters"), (), figure_2),
        PaperSection("table", "1", N_("Customers found by their items"), units_1, table_1),
        PaperSection("table", "2", N_("Rows added, similarity and customers found"), units_2, table_2),
    ),
    errata=errata,
)
