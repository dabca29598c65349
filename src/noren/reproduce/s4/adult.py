"""S4's experiment on Adult: Tables 3 and 5."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean

from noren.i18n import _
from noren.reproduce.frame import Comparison, Datum, Extent, Findings, Unit
from noren.reproduce.s4 import work
from noren.reproduce.s4.printed import DOMAINS, KS, TABLE_5, TRIALS

__all__ = ["by_chance", "compare", "domain_units", "domains", "unit", "units"]

SEEDS = 5
# for five seeds; wider for fewer
PERTURBED_TOLERANCE = 0.5
EM_TOLERANCE = 2.0


def by_chance(tolerance: float, seeds: int) -> float:
    """Return how far two means may be apart, the paper's of five runs and ours of so many; given for five each.

    >>> by_chance(2.0, 5), round(by_chance(2.0, 1), 2)
    (2.0, 3.46)
    """
    return tolerance * math.sqrt((1 / TRIALS + 1 / max(seeds, 1)) / (2 / TRIALS))


def unit(table: str, k: int, seed: int, model: str) -> Unit:
    """Return the work for a cell of Table 5 and one seed."""
    return Unit(work.adult, (table, k, seed, model), data=("adult",))


def domain_units(_asked: Extent) -> Sequence[Unit]:
    """Return the work for Table 3."""
    return [Unit(work.adult_domains, data=("adult",))]


def domains(found: Findings) -> Comparison:
    """Compare how many values each attribute may take."""
    ours = found[Unit(work.adult_domains, data=("adult",))]
    return Comparison(
        [Datum(name, paper=said, ours=ours[name], exact=True, tolerance=0, digits=0) for name, said in DOMAINS.items()]
    )


def units(asked: Extent) -> list[Unit]:
    """Return the work for Table 5; quick leaves out ``auto`` for k = 5 and 10."""
    return [
        unit(table, k, seed, model)
        for model in ("em", "auto")
        for table in TABLE_5
        for k in (KS[:1] if asked.quick and model == "auto" else KS)
        for seed in asked.seeds(full=SEEDS)
    ]


def compare(found: Findings) -> Comparison:
    """Set the paper's twelve cells beside ours: perturbed, ``em`` (the paper's way) and ``auto``."""
    cells, gains, off = [], [], []
    for table, (_rho, perturbed, reconstructed) in TABLE_5.items():
        for at, k in enumerate(KS):
            row = f"{table}, k = {k}"
            runs = {
                model: found.of([unit(table, k, seed, model) for seed in found.asked.seeds(full=SEEDS)])
                for model in ("em", "auto")
            }
            first = Datum.over(
                row,
                _("perturbed"),
                [run["perturbed"] for run in runs["em"]],
                paper=perturbed[at],
                tolerance=by_chance(PERTURBED_TOLERANCE, len(runs["em"])),
                digits=1,
            )
            em = Datum.over(
                row,
                "em",
                [run["reconstructed"] for run in runs["em"]],
                paper=reconstructed[at],
                tolerance=by_chance(EM_TOLERANCE, len(runs["em"])),
                digits=1,
            )
            auto = Datum.over(
                row,
                "auto",
                [run["reconstructed"] for run in runs["auto"]],
                paper=reconstructed[at],
                tolerance=0.0,
                aim="at-least",
                digits=1,
            )
            cells += [first, em, auto]
            gains += [auto.difference] if auto.difference is not None else []
            off += [abs(em.difference)] if em.difference is not None else []
    says = []
    if off:
        says.append(
            _("em (ε = 0.002) is within {off:.1f} points of the paper in {cells} cells.").format(
                off=max(off), cells=len(off)
            )
        )
    if gains:
        says.append(
            _("auto is at or above the paper in {above} of {cells} cells; mean gain {gain:+.1f} points.").format(
                above=sum(gain >= 0 for gain in gains), cells=len(gains), gain=fmean(gains)
            )
        )
    return Comparison(cells, says)
