"""S3's Table 1: UM, MM and EMM of the best of eight attacks."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from noren.i18n import _
from noren.reproduce.frame import Comparison, Datum, Extent, Findings, Unit
from noren.reproduce.s3 import work
from noren.reproduce.s3.printed import TABLE_1

__all__ = ["linked_unit", "matched_unit", "ratio_room", "results", "table_1", "units"]

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
            Datum(team, "EMM/MM", ratio, emm / mm, exact=True, tolerance=ratio_room(mm, emm), note=_("from EMM and MM"))
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
    cells.append(
        Datum(_("releases with EMM below MM"), "EMM", 0, worse if rising else None, exact=True, tolerance=0, digits=0)
    )
    says = [
        _("The teams' releases are not public: below them stand releases of ours, of the preliminary round's data.")
    ]
    if rising:
        words = _(
            "Judging after every month raises the risk up to {most:.2f} times here, in one of {count} runs with MM of "
            "at least {least}; in S3 up to {told:.2f} times, in one of ten."
        )
        says.append(
            words.format(
                least=TELLING, count=len(rising), most=max(rising), told=max(said[3] for said in TABLE_1.values())
            )
        )
    return Comparison(cells, [*says, *_against_linkage(found)])


def _against_linkage(found: Findings) -> Sequence[str]:
    pairs = [
        (max(run["emm"].values()), other["emm"]["linkage"])
        for name in work.RELEASES
        for run, other in zip(results(found, name), results(found, name, by_linkage=True), strict=False)
    ]
    if not pairs:
        return []
    words = _("linkage, which follows customers, finds no less than the best of S1 to S8 in {ahead} of {count} runs.")
    chosen = _("Its constants were chosen on these data and releases much like these, which flatters it.")
    return [words.format(ahead=sum(b >= a for a, b in pairs), count=len(pairs)), chosen]
