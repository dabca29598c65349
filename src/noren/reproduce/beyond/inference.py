"""What releases tell of who is in the data and of what was not known, beside what they tell of people outside."""

from __future__ import annotations

from collections.abc import Sequence

from noren.i18n import N_, _
from noren.kernels.judging.shares import mean_high, mean_low
from noren.reproduce.beyond import inference_work as work
from noren.reproduce.charts import ChartLine, lines
from noren.reproduce.frame import Chart, Comparison, Datum, Extent, Findings, Unit

__all__ = ["inference_units", "inferences"]

SEEDS = 5
KS = tuple(range(2, 11))
RHOS = (0.0, 0.3, 0.6, 0.9)
COLUMNS = {
    "auc": N_("AUC"),
    "tpr at 0.1": N_("TPR at FPR 0.1"),
    "tpr at 0.01": N_("TPR at FPR 0.01"),
    "rare tpr at 0.1": N_("rarest tenth: TPR at FPR 0.1"),
    "success": N_("secret guessed"),
    "control": N_("of people outside"),
    "risk": N_("risk beyond control"),
}


def _histories(k: int, seed: int) -> Unit:
    return Unit(work.held_out_histories, (k, seed), data=(work.HISTORIES,))


def _people(rho: float, seed: int) -> Unit:
    return Unit(work.held_out_people, (rho, seed), data=(work.TABLE,))


def _rows(seeds: Sequence[int]) -> dict[str, list[Unit]]:
    """Return the units of each row of the table."""
    rows = {_("pseudonyms alone"): [_histories(1, seed) for seed in seeds]}
    rows |= {f"generalize-by-count, k = {k}": [_histories(k, seed) for seed in seeds] for k in KS}
    return rows | {f"retention, ρ = {rho:g}": [_people(rho, seed) for seed in seeds] for rho in RHOS}


def inference_units(asked: Extent) -> list[Unit]:
    """Return the work: people held out of histories and of Adult; quick looks at one k and one ρ."""
    if asked.quick:
        return [unit for seed in asked.seeds(full=SEEDS) for unit in (_histories(5, seed), _people(0.6, seed))]
    return [unit for units in _rows(asked.seeds(full=SEEDS)).values() for unit in units]


def inferences(found: Findings) -> Comparison:
    """Say for each release how well members are told from people outside, and what is guessed of both."""
    seeds = found.asked.seeds(full=SEEDS)
    cells = []
    for row, units in _rows(seeds).items():
        runs = found.of([unit for unit in units if unit in found])
        for key, column in COLUMNS.items():
            values = [run[key] for run in runs if key in run]
            note = ""
            if len(values) > 1:
                low, high = mean_low(values, 0.025), min(mean_high(values, 0.025), 1.0)
                note = _("95 %: {low:.3f} to {high:.3f}").format(low=low, high=high)
            cells.append(Datum.over(row, _(column), values, note=note))
    return Comparison(cells, _says(found, seeds), [Chart(_("TPR at FPR 0.1, by k"), lambda: _curve(found, seeds))])


def _means(found: Findings, seeds: Sequence[int], key: str) -> list[float | None]:
    means: list[float | None] = []
    for k in KS:
        units = [_histories(k, seed) for seed in seeds]
        values = [run[key] for run in found.of([unit for unit in units if unit in found])]
        means.append(sum(values) / len(values) if values else None)
    return means


def _says(found: Findings, seeds: Sequence[int]) -> list[str]:
    known = [(k, mean) for k, mean in zip(KS, _means(found, seeds, "tpr at 0.1"), strict=True) if mean]
    if not known:
        return []
    told = _(
        "Groups of k hide which record is whose, not who is in the data: at k = {k}, {rate:.0%} of the people in the "
        "data are found where one in ten of others is taken for one."
    )
    return [told.format(k=k, rate=mean) for k, mean in (known[-1],)]


def _curve(found: Findings, seeds: Sequence[int]) -> str:
    drawn = [
        ChartLine(_("everybody"), _means(found, seeds, "tpr at 0.1"), "ours"),
        ChartLine(_("rarest tenth"), _means(found, seeds, "rare tpr at 0.1"), "better"),
        ChartLine(_("chance"), [0.1] * len(KS), "chance"),
    ]
    names = [str(k) for k in KS]
    return lines(names, {"": drawn}, across_title="k", up_title=_("TPR at FPR 0.1"), up=(0.0, 1.0), height=220)
