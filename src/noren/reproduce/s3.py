"""Reproduction of S3: its table and figures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import fmean
from typing import Any

from noren.i18n import N_, _
from noren.reproduce import s3_work as work
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
TABLE_1: dict[str, tuple[float, float, float, float]] = table_of("noren.reproduce.s3_printed")["table_1"]
"""The largest of S1 to S8: UM, MM, EMM, and EMM/MM."""


# --- S3's Table 1: UM, MM and EMM of the best of eight attacks --------------------------------------------------------


SEEDS = 3
MIN_MM = 0.01
"""Below this MM, EMM/MM is a quotient of a few hits and is left out."""
ROUNDED = 0.0005


_matched, _linked = unit_of(work.matched, work.DATA), unit_of(work.linked, work.DATA)
"""The work of S1 to S8 and of linkage on one release."""


def units(extent: Extent) -> list[WorkUnit]:
    """Return the work for everything in S3; quick runs one seed."""
    return [
        unit(name, seed) for unit in (_matched, _linked) for name in work.RELEASES for seed in extent.seeds(full=SEEDS)
    ]


def ratio_room(mm: float, emm: float) -> float:
    """Return how far EMM/MM may be from the quotient of the two as printed, to three digits.

    >>> round(ratio_room(0.5, 0.5), 4)
    0.0025
    """
    return (emm + ROUNDED) / (mm - ROUNDED) - emm / mm + ROUNDED


def table_1(results: UnitResults) -> Comparison:
    """Show UM, MM and EMM of our releases below the teams', whose releases are not public."""
    cells = []
    for team, (um, mm, emm, ratio) in TABLE_1.items():
        cells += [Datum(team, column, paper) for column, paper in (("UM", um), ("MM", mm), ("EMM", emm))]
        room = ratio_room(mm, emm)
        cells.append(Datum.exactly(team, "EMM/MM", ratio, emm / mm, tolerance=room))
    worse, rising, pairs = 0, [], []
    for name in work.RELEASES:
        runs = results.over_seeds(_matched, name, full=SEEDS)
        largest = {kind: [max(run[kind].values()) for run in runs] for kind in ("um", "mm", "emm")}
        both = list(zip(largest["emm"], largest["mm"], strict=True))
        means = {attack: fmean(run["emm"][attack] for run in runs) for attack in runs[0]["emm"]} if runs else {}
        best = max(means, key=lambda attack: means[attack]) if any(means.values()) else ""
        note = join_labels(_("best attack"), best.upper()) if best else ""
        followed = [run["emm"]["linkage"] for run in results.over_seeds(_linked, name, full=SEEDS)]
        cells += [
            *(Datum.over(name, kind.upper(), values) for kind, values in largest.items()),
            Datum.over(name, "EMM/MM", [e / m for e, m in both if m], note=note),
            Datum.over(name, "EMM (linkage)", followed),
        ]
        worse += sum(e < m for e, m in both)
        rising += [e / m for e, m in both if m >= MIN_MM]
        pairs += list(zip(largest["emm"], followed, strict=False))
    cells.append(Datum.exactly(_("releases with EMM below MM"), "EMM", 0, worse if rising else None, digits=0))
    remarks = [say("teams")]
    if rising:
        in_s3 = max(ratio for *_rest, ratio in TABLE_1.values())
        remarks.append(say("rising", least=MIN_MM, count=len(rising), most=max(rising), printed=in_s3))
    if pairs:
        remarks.append(say("linkage", ahead=sum(b >= a for a, b in pairs), count=len(pairs)))
    return Comparison(cells, remarks)


# --- S3's figures 2 to 4: MM after every month, by S1 to S6, by S7 and by S8 -----------------------------------------


ATTACKS = {2: work.BY_KEY, 3: ("s7",), 4: ("s8",)}
ATTACK_NAMES = {2: "S1–S6", 3: "S7", 4: "S8"}


def _curve(runs: Sequence[Any], attacks: Sequence[str]) -> list[float]:
    """Return MM after every month, the largest of some attacks, in the mean over seeds; nothing where not run."""
    by_run = [[max(at) for at in zip(*(run["curve"][a] for a in attacks), strict=True)] for run in runs]
    return [fmean(values) for values in zip(*by_run, strict=True)]


def figure(number: int, results: UnitResults) -> Comparison:
    """Draw one of the figures 2 to 4; S3 prints no numbers in them."""
    attack, after = ATTACK_NAMES[number], _("after month {number}")
    cells, over = [], []
    panels: dict[str, list[Line]] = {}
    for name in work.RELEASES:
        runs = results.over_seeds(_matched, name, full=SEEDS)
        curve, by_key = _curve(runs, ATTACKS[number]), _curve(runs, work.BY_KEY)
        followed = _curve(results.over_seeds(_linked, name, full=SEEDS), ("linkage",))
        if curve:
            over.append(max(curve) > max(by_key))
        until = curve.index(max(curve)) + 1 if curve else None
        cells += [
            Datum(name, after.format(number=1), ours=curve[0] if curve else None),
            Datum(name, after.format(number=12), ours=curve[-1] if curve else None),
            Datum(name, _("largest"), ours=max(curve, default=None)),
            Datum(name, _("month of the largest"), ours=until, digits=0),
        ]
        panels[name] = [(attack, [round(at, 4) for at in curve], "ours")] if curve else []
        panels[name] += [("linkage", [round(at, 4) for at in followed], "better")] if followed else []
    remarks = [say("no_numbers")]
    if number > 2 and over:
        remarks.append(say("above", attack=attack, over=sum(over), count=len(over)))
    chart = lines(
        join_labels(_("MM after every month"), attack),
        [float(month) for month in range(1, 13)],
        panels,
        across_title=_("month"),
        up_title=_("share found"),
        up=(0, 1),
        columns=2,
        width=300,
        height=110,
    )
    return Comparison(cells, remarks, [chart])


def errata() -> list[Erratum]:
    """Return the errata."""
    return [Erratum.of("S3", "index"), Erratum.of("S3", "start"), Erratum.of("S3", "figure-4")]


DOCUMENT = PaperDocument.of(
    "S3",
    PaperSection("table", "1", N_("UM, MM and EMM of the best of S1 to S8"), units, table_1),
    *(
        PaperSection("figure", str(number), N_("MM after every month"), units, partial(figure, number), name)
        for number, name in ATTACK_NAMES.items()
    ),
    errata=errata,
)
