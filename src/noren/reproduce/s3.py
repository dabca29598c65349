"""S3's table and figures beside ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any, Literal

from noren.i18n import N_, _
from noren.reproduce import s3_work as work
from noren.reproduce.frame import (
    Chart,
    ChartLine,
    Comparison,
    Datum,
    Document,
    Erratum,
    Extent,
    Findings,
    Section,
    lines,
)
from noren.tables import Texts, table_of
from noren.work.store import Unit

say = Texts(__name__)
TABLE_1: dict[str, tuple[float, float, float, float]] = {
    data: tuple(said) for data, said in table_of("noren.reproduce.s3_printed")["table_1"].items()
}
"""The largest of S1 to S8: UM, MM, EMM, and EMM/MM."""


# --- S3's Table 1: UM, MM and EMM of the best of eight attacks --------------------------------------------------------


SEEDS = 3
TELLING = 0.01
"""EMM/MM tells something from this MM on; below, it is a quotient of a few hits."""
ROUNDED = 0.0005


def matched_unit(name: str, seed: int) -> Unit:
    """Return the work of S1 to S8 on one release."""
    return Unit(work.matched, (name, seed), data=(work.DATA,))


def linked_unit(name: str, seed: int) -> Unit:
    """Return the work of linkage on one release."""
    return Unit(work.linked, (name, seed), data=(work.DATA,))


def units(asked: Extent) -> list[Unit]:
    """Return the work for everything in S3; quick runs one seed."""
    return [
        unit(name, seed)
        for unit in (matched_unit, linked_unit)
        for name in work.RELEASES
        for seed in asked.seeds(full=SEEDS)
    ]


def results(found: Findings, name: str, *, by_linkage: bool = False) -> list[Any]:
    """Return what was found in a release, seed by seed."""
    unit = linked_unit if by_linkage else matched_unit
    return found.of([unit(name, seed) for seed in found.asked.seeds(full=SEEDS)])


def ratio_room(mm: float, emm: float) -> float:
    """Return how far EMM/MM may be from the quotient of the two as printed, to three digits.

    >>> round(ratio_room(0.5, 0.5), 4)
    0.0025
    """
    return (emm + ROUNDED) / (mm - ROUNDED) - emm / mm + ROUNDED


def table_1(found: Findings) -> Comparison:
    """Show UM, MM and EMM of our releases below the teams', whose releases are not public."""
    cells = []
    for team, (um, mm, emm, ratio) in TABLE_1.items():
        for column, said in (("UM", um), ("MM", mm), ("EMM", emm)):
            cells.append(Datum(team, column, said))
        cells.append(
            Datum.exactly(team, "EMM/MM", ratio, emm / mm, tolerance=ratio_room(mm, emm), note=_("from EMM and MM"))
        )
    worse, rising = 0, []
    for name in work.RELEASES:
        runs = results(found, name)
        largest = {kind: [max(run[kind].values()) for run in runs] for kind in ("um", "mm", "emm")}
        ratios = [e / m for e, m in zip(largest["emm"], largest["mm"], strict=True) if m]
        means = {attack: fmean(run["emm"][attack] for run in runs) for attack in runs[0]["emm"]} if runs else {}
        best = max(means, key=lambda attack: means[attack]) if any(means.values()) else ""
        followed = [run["emm"]["linkage"] for run in results(found, name, by_linkage=True)]
        cells += [
            *(Datum.over(name, kind.upper(), values) for kind, values in largest.items()),
            Datum.over(
                name, "EMM/MM", ratios, note=_("best in the mean: {attack}").format(attack=best.upper()) if best else ""
            ),
            Datum.over(name, _("EMM, linkage"), followed),
        ]
        worse += sum(e < m for e, m in zip(largest["emm"], largest["mm"], strict=True))
        rising += [e / m for e, m in zip(largest["emm"], largest["mm"], strict=True) if m >= TELLING]
    cells.append(Datum.exactly(_("releases with EMM below MM"), "EMM", 0, worse if rising else None, digits=0))
    says = [say("teams")]
    if rising:
        in_s3 = max(ratio for *_rest, ratio in TABLE_1.values())
        says.append(say("rising", least=TELLING, count=len(rising), most=max(rising), told=in_s3))
    pairs = [
        (max(run["emm"].values()), other["emm"]["linkage"])
        for name in work.RELEASES
        for run, other in zip(results(found, name), results(found, name, by_linkage=True), strict=False)
    ]
    if pairs:
        says += [say("linkage", ahead=sum(b >= a for a, b in pairs), count=len(pairs)), say("flattered")]
    return Comparison(cells, says)


# --- S3's figures 2 to 4: what is found after every month, by S1 to S6, by S7 and by S8 -------------------------------


ATTACKS = {2: work.BY_KEY, 3: ("s7",), 4: ("s8",)}


def _curve(found: Findings, name: str, attacks: Sequence[str], *, by_linkage: bool = False) -> list[float]:
    """Return MM after every month, the largest of some attacks, in the mean over seeds; nothing where not run."""
    runs = results(found, name, by_linkage=by_linkage)
    months = zip(
        *([max(at) for at in zip(*(run["curve"][a] for a in attacks), strict=True)] for run in runs), strict=True
    )
    return [fmean(values) for values in months]


def figure(number: int) -> Callable[[Findings], Comparison]:
    """Return what draws one of the figures 2 to 4; S3 prints no numbers in them."""
    attacks = ATTACKS[number]

    def compare(found: Findings) -> Comparison:
        titles = {2: _("largest of S1 to S6"), 3: "S7", 4: "S8"}
        cells, over = [], []
        for name in work.RELEASES:
            curve = _curve(found, name, attacks)
            by_key = _curve(found, name, work.BY_KEY)
            if curve:
                over.append(max(curve) > max(by_key))
            cells += [
                Datum(name, _("after the first month"), ours=curve[0] if curve else None),
                Datum(name, _("after the last"), ours=curve[-1] if curve else None),
                Datum(name, _("largest"), ours=max(curve, default=None)),
                Datum(
                    name, _("months until the largest"), ours=curve.index(max(curve)) + 1 if curve else None, digits=0
                ),
            ]
        says = [_("S3 shows curves of ten teams and prints no numbers; these are ours.")]
        if number > 2 and over:
            words = _("{attack} is above the largest of S1 to S6 in {over} of {count} releases; in S3 in most of them.")
            says.append(words.format(attack=titles[number], over=sum(over), count=len(over)))

        def draw() -> str:
            def line(title: str, curve: list[float], look: Literal["ours", "better"]) -> ChartLine:
                return ChartLine(title, [round(at, 4) for at in curve], look)

            panels = {}
            for name in work.RELEASES:
                simple, followed = _curve(found, name, attacks), _curve(found, name, ("linkage",), by_linkage=True)
                shown = [line(titles[number], simple, "ours")] if simple else []
                panels[name] = [*shown, *([line("linkage", followed, "better")] if followed else [])]
            months = [float(month) for month in range(1, 13)]
            words = _("share found")
            return lines(
                months, panels, across_title=_("months"), up_title=words, up=(0, 1), columns=2, width=300, height=110
            )

        return Comparison(cells, says, [Chart(_("MM after every month, {attack}").format(attack=titles[number]), draw)])

    return compare


# --- What S3 gets wrong, with what follows from its own table ---------------------------------------------------------


def errata() -> list[Erratum]:
    """Return the errata."""
    return [Erratum.of("S3", "index"), Erratum.of("S3", "start"), Erratum.of("S3", "figure-4")]


# --- the document -----------------------------------------------------------------------------------------------------

DOCUMENT = Document(
    key="S3",
    title=N_("The risk of repeated releases: measures of safety in PWS Cup 2017"),
    citation="Tran, Sakamoto, Matsunaga (2018). An evaluation method for re-identification risks of anonymously "
    "processed information provided multiple times: from a consideration and an analysis of privacy metrics in "
    "PWSCUP 2017 (in Japanese).",
    parts=(
        Section("table", "1", N_("UM, MM and EMM of the best of S1 to S8"), units, table_1),
        Section("figure", "2", N_("Found after every month by S1 to S6"), units, figure(2)),
        Section("figure", "3", N_("Found after every month by mean price, S7"), units, figure(3)),
        Section("figure", "4", N_("Found after every month by number of records, S8"), units, figure(4)),
    ),
    errata=errata,
)
