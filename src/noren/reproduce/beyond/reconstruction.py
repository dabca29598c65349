"""What ``auto`` gains on S4's own tables; the work is S4's."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from noren.i18n import _
from noren.reproduce.charts import ChartLine, lines
from noren.reproduce.frame import Chart, Comparison, Datum, Extent, Findings, Unit
from noren.reproduce.s4 import adult
from noren.reproduce.s4.printed import KS, TABLE_5

__all__ = ["gains", "gains_units"]


def gains_units(asked: Extent) -> Sequence[Unit]:
    """Return the work of S4's Table 5."""
    return adult.units(asked)


def gains(found: Findings) -> Comparison:
    """Set the paper's reconstruction and ``auto`` beside each other, and what is left to the truth."""
    cells: list[Datum] = []
    paper: list[float | None] = []
    ours: list[float | None] = []
    gained = []
    for table, (_rho, _perturbed, reconstructed) in TABLE_5.items():
        for at, k in enumerate(KS):
            seeds = found.asked.seeds(full=adult.SEEDS)
            runs = found.of([adult.unit(table, k, seed, "auto") for seed in seeds])
            auto = fmean(run["reconstructed"] for run in runs) if runs else None
            said = reconstructed[at]
            row = f"{table}, k = {k}"
            cells += [
                Datum(row, _("the paper"), ours=said, digits=1),
                Datum(row, "auto", ours=auto, digits=1),
                Datum(row, _("gain"), ours=None if auto is None else auto - said, digits=1),
            ]
            paper.append(said)
            ours.append(auto)
            gained += [] if auto is None else [auto - said]

    def draw() -> str:
        names = [f"{table}, k = {k}" for table in TABLE_5 for k in KS]
        curves = [ChartLine(_("the paper"), paper, "paper"), ChartLine("auto", ours, "better")]
        return lines(
            names, {"": curves}, across_title="", up_title=_("L1 precision, per cent"), up=(60, 95), height=220
        )

    says = []
    if gained:
        told = _(
            "auto gains {gain:+.1f} points in the mean of {cells} cells, at best {best:+.1f}, at worst {worst:+.1f}."
        )
        says.append(told.format(gain=fmean(gained), cells=len(gained), best=max(gained), worst=min(gained)))
    return Comparison(cells, says, [Chart(_("What is left of the truth, by table and k"), draw)])
