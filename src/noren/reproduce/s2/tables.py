"""S2's tables: who is found in releases, and what pseudo records cost."""

from __future__ import annotations

import math
from statistics import fmean, stdev
from typing import Any

from noren.i18n import _
from noren.reproduce.frame import Comparison, Datum, Extent, Findings, Unit
from noren.reproduce.s2 import work
from noren.reproduce.s2.printed import CLUSTERS, SAVED, STEADY, TABLE_1, TABLE_2

__all__ = ["found_unit", "padded_unit", "table_1", "table_2", "units_1", "units_2"]

SEEDS = 5
QUICK_RELEASES = ("thin 95 %", "swap 60 %", "pseudo records, 100 clusters")
LARGEST = {c: 400 // c for c in CLUSTERS}
"""The largest least size that there are customers for."""
SIMILAR = 0.008
"""How far ours may be from the paper's in similarity and in the share found, for five seeds."""


# --- who is found ----------------------------------------------------------------------------------------------------


def found_unit(name: str, seed: int) -> Unit:
    """Return the work for one release that stands in for a submission."""
    return Unit(work.found, (name, seed), data=(work.DATA,))


def units_1(asked: Extent) -> list[Unit]:
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
        runs = found.of([found_unit(name, seed) for seed in found.asked.seeds(full=3)])
        shares = {attack: fmean(one[attack] for one in runs) for attack in work.ATTACKS} if runs else {}
        names = sorted(shares, key=lambda attack: -shares[attack])
        cells += [
            Datum.over(name, best, [max(one.values()) for one in runs], digits=4, note=names[0] if names else ""),
            Datum.over(name, jaccard, [one["jaccard"] for one in runs], digits=4),
        ]
        run += bool(runs)
        leads += bool(runs) and names[0] == "jaccard"
    told = sum(a == b for a, b in TABLE_1.values())
    says = [
        _("Algorithm 1 finds most of all in {told} of S2's {count} submissions.").format(told=told, count=len(TABLE_1)),
        _("In our releases it does in {leads} of {count}, in the mean over seeds; the others are {names}.").format(
            leads=leads, count=run, names=", ".join(name for name in work.ATTACKS if name != "jaccard")
        ),
        _("Dates, prices and quantities are moved far in all of ours; times of day and invoices are not shown."),
    ]
    return Comparison(cells, says)


# --- what pseudo records cost ----------------------------------------------------------------------------------------


def padded_unit(clusters: int, least: int, variant: str, effort: str, seed: int) -> Unit:
    """Return the work for one release with pseudo records."""
    return Unit(work.padded, (clusters, least, variant, effort, seed), data=(work.DATA,))


def _of_paper(clusters: int, least: int, seed: int) -> Unit:
    return padded_unit(clusters, least, "repaired" if least else "clusters", "normal", seed)


FEWEST = {c: min((cell for cell in TABLE_2 if cell[0] == c), key=lambda cell: TABLE_2[cell][0])[1] for c in CLUSTERS}
"""The least size with which Table 2 has the fewest rows."""


def _balanced(clusters: int, asked: Extent, seed: int) -> Unit:
    """Return the work for the variant balanced with the least size of Table 2's fewest rows: nobody has an edge."""
    return padded_unit(clusters, FEWEST[clusters], "balanced", "quick" if asked.quick else "normal", seed)


def _cells_of_paper() -> list[tuple[int, int]]:
    """Return clusters and least sizes: those of Table 2, and the largest least size where it leaves that out."""
    missing = [(c, least) for c, least in LARGEST.items() if (c, least) not in TABLE_2]
    return [*TABLE_2, *missing]


def units_2(asked: Extent) -> list[Unit]:
    """Return the work for Table 2; quick searches for clusters of fewest rows a tenth as long."""
    seeds = asked.seeds(full=SEEDS)
    units = [_of_paper(c, least, seed) for c, least in _cells_of_paper() for seed in seeds]
    quick = [_balanced(c, Extent(quick=True), seed) for c in CLUSTERS for seed in asked.seeds(full=SEEDS)]
    if asked.quick:
        return units + quick
    return units + quick + [_balanced(c, asked, seed) for c in CLUSTERS for seed in seeds]


def table_2(found: Findings) -> Comparison:
    """Set rows added, mean similarity and the share found beside the paper's; and those of the variant balanced."""
    seeds = found.asked.seeds(full=SEEDS)
    wider = math.sqrt(SEEDS / len(seeds))
    rows, similar, share = _("rows added"), _("mean similarity"), _("share found")
    cells, spreads = [], []
    for c in CLUSTERS:
        for least in sorted(least for clusters, least in _cells_of_paper() if clusters == c):
            runs = found.of([_of_paper(c, least, seed) for seed in seeds])
            name = _("method 1") if not least else _("at least {size}").format(size=least)
            row = f"c = {c}, {name}"
            paper: tuple[Any, Any, Any] = TABLE_2.get((c, least), (None, None, None))
            note = "" if (c, least) in TABLE_2 else _("the largest least size; Table 2 stops before it")
            # how k-means starts decides the sizes of clusters, the less so the larger the least size is
            luck = 0.05 + 0.25 * (1 - max(least - 1, 0) / max(LARGEST[c] - 1, 1))
            near = luck * wider * paper[0] if paper[0] else None
            values = {key: [run[key] for run in runs] for key in ("added", "jaccard", "reid")}
            cells += [
                Datum.over(row, rows, values["added"], paper=paper[0], tolerance=near, digits=0, note=note),
                Datum.over(row, similar, values["jaccard"], paper=paper[1], tolerance=SIMILAR, digits=4),
                Datum.over(row, share, values["reid"], paper=paper[2], tolerance=SIMILAR, digits=4),
            ]
            if least and len(runs) > 1:
                spreads.append(stdev(values["jaccard"]))
        runs = found.of([_balanced(c, found.asked, seed) for seed in seeds])
        row = _("c = {c}, balanced, at least {size}").format(c=c, size=FEWEST[c])
        cells += [
            Datum.over(row, rows, [run["added"] for run in runs], paper=TABLE_2[c, FEWEST[c]][0], tolerance=0,
                      aim="at-most", digits=0, note=_("the paper's with the same least size, its fewest")),
            Datum.over(row, similar, [run["jaccard"] for run in runs], digits=4),
            Datum.over(row, share, [run["reid"] for run in runs], paper=c / 400, tolerance=0, aim="at-most", digits=4),
        ]  # fmt: skip
    if spreads:
        cells.append(Datum(_("largest standard deviation, method 2"), similar, STEADY, max(spreads), tolerance=0.0,
                          aim="at-most", digits=4))  # fmt: skip
    saved = [
        (c, 1 - fmean(run["added"] for run in repaired) / fmean(run["added"] for run in plain))
        for c in CLUSTERS
        if (repaired := found.of([_of_paper(c, LARGEST[c], seed) for seed in seeds]))
        and (plain := found.of([_of_paper(c, 0, seed) for seed in seeds]))
    ]
    said = ", ".join(f"{share:.0%} (c = {c})" for c, share in saved)
    words = _(
        "The largest least size saves {said} of method 1's rows; by Table 2 it is {table}. The text says about "
        "{told:.0%}, and not for which c."
    )
    of_table = ", ".join(f"{1 - TABLE_2[c, FEWEST[c]][0] / TABLE_2[c, 0][0]:.0%}" for c in CLUSTERS)
    return Comparison(cells, [words.format(said=said, table=of_table, told=SAVED)] if said else [])
