"""S4's experiment on Adult: Tables 3 and 5, figures 2 to 4.

The paper prints no number with them and does not say for which attributes and k it made them; ours are those of Table 5
that hold the attributes shown, for k = 2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from noren.i18n import _
from noren.reproduce import s4_work as work
from noren.reproduce.frame import Chart, Comparison, Datum, Extent, Findings
from noren.reproduce.s4_printed import DOMAINS, KS, TABLE_5, TRIALS
from noren.work.store import Unit

if TYPE_CHECKING:
    from noren.drawing.table_charts import View

SEEDS = 5
# for five seeds; wider for fewer
PERTURBED_TOLERANCE = 0.5
EM_TOLERANCE = 2.0
DOMAIN_SIZES = Unit(work.adult_domains, data=("adult",))


def by_chance(tolerance: float, seeds: int) -> float:
    """Return how far two means may be apart, the paper's of five runs and ours of so many; given for five each.

    >>> by_chance(2.0, 5), round(by_chance(2.0, 1), 2)
    (2.0, 3.46)
    """
    return tolerance * math.sqrt((1 / TRIALS + 1 / max(seeds, 1)) / (2 / TRIALS))


def unit(table: str, k: int, seed: int, model: str) -> Unit:
    """Return the work for a cell of Table 5 and one seed."""
    return Unit(work.adult, (table, k, seed, model), data=("adult",))


def domains(found: Findings) -> Comparison:
    """Compare how many values each attribute may take."""
    ours = found[DOMAIN_SIZES]
    return Comparison([Datum.exactly(name, paper=said, ours=ours[name], digits=0) for name, said in DOMAINS.items()])


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
            near, near_em = (by_chance(within, len(runs["em"])) for within in (PERTURBED_TOLERANCE, EM_TOLERANCE))
            before, after = ([run[what] for run in runs["em"]] for what in ("perturbed", "reconstructed"))
            better = [run["reconstructed"] for run in runs["auto"]]
            printed: dict[str, Any] = {"paper": reconstructed[at], "digits": 1}
            first = Datum.over(row, _("perturbed"), before, paper=perturbed[at], tolerance=near, digits=1)
            em = Datum.over(row, "em", after, tolerance=near_em, **printed)
            auto = Datum.over(row, "auto", better, tolerance=0.0, aim="at-least", **printed)
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


# --- S4's screen: figures 2 and 4 (histograms) and 3 (a cross tabulation), original | perturbed | reconstructed -------


K, SEED = 2, 1
MODELS = ("em", "auto")


@dataclass(frozen=True)
class Shown:
    """What a figure shows: one or two attributes of a table."""

    table: str
    names: tuple[str, ...]

    @property
    def before(self) -> Unit:
        """The work for the original and the perturbed table."""
        return Unit(work.adult_tables, (self.table, K, SEED), data=("adult",))

    def units(self, _asked: Extent) -> list[Unit]:
        """Return all work for the figure; what was reconstructed is Table 5's."""
        return [self.before, *(unit(self.table, K, SEED, model) for model in MODELS)]

    def view(self, found: Findings, model: str) -> View:
        """Return the tables of the attributes shown."""
        import numpy as np

        from noren.drawing.table_charts import View

        said = found[self.before]
        places = [work.ATTRIBUTES[self.table].index(name) for name in self.names]
        away = tuple(axis for axis in range(len(said["labels"])) if axis not in places)
        after = found[unit(self.table, K, SEED, model)]["table"]
        whole = {"original": said["original"], "perturbed": said["perturbed"], "reconstructed": after}
        tables = {panel: np.asarray(table, dtype=np.float64).sum(axis=away) for panel, table in whole.items()}
        return View(self.names, tuple(tuple(said["labels"][place]) for place in places), tables)

    def compare(self, found: Findings) -> Comparison:
        """Return the precision of the attributes shown, and a chart for each way to reconstruct."""
        views = {model: self.view(found, model) for model in MODELS}
        row = " × ".join(self.names)
        before = views["em"].precision("perturbed") or 0.0
        cells = [Datum(row, _("perturbed"), ours=100 * before, digits=1, seeds=1)]
        for model, view in views.items():
            share = view.precision("reconstructed") or 0.0
            cells.append(Datum(row, model, ours=100 * share, digits=1, seeds=1))
        note = _("{table}, k = {k}, seed {seed}: L1 precision of what is shown, per cent; the paper prints none.")
        return Comparison(
            cells,
            [note.format(table=self.table, k=K, seed=SEED)],
            [_chart(view, model) for model, view in views.items()],
        )


def _chart(view: View, model: str) -> Chart:
    def draw() -> str:
        from noren.drawing.ground import picture
        from noren.drawing.table_charts import crosstab, histogram

        return picture(histogram(view) if len(view.names) == 1 else crosstab(view))

    words = {"em": _("Reconstructed as in the paper (em)"), "auto": _("Reconstructed by auto")}
    return Chart(words[model], draw)


FIGURES = {
    2: Shown("t3", ("age",)),
    3: Shown("t3", ("workclass", "education")),
    4: Shown("t4", ("occupation",)),
}
