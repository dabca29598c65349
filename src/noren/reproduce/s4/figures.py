"""S4's screen: figures 2 and 4 (histograms) and 3 (a cross tabulation), original | perturbed | reconstructed.

The paper prints no number with them and does not say for which attributes and k it made them; ours are those of Table 5
that hold the attributes shown, for k = 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from noren.i18n import _
from noren.reproduce.frame import Chart, Comparison, Datum, Extent, Findings, Unit
from noren.reproduce.s4 import adult, work

if TYPE_CHECKING:
    from noren.drawing.table_charts import View

__all__ = ["figure_2", "figure_3", "figure_4", "units_2", "units_3", "units_4"]

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

    def units(self) -> list[Unit]:
        """Return all work for the figure; what was reconstructed is Table 5's."""
        return [self.before, *(adult.unit(self.table, K, SEED, model) for model in MODELS)]

    def view(self, found: Findings, model: str) -> View:
        """Return the tables of the attributes shown."""
        import numpy as np

        from noren.drawing.table_charts import View

        said = found[self.before]
        places = [work.ATTRIBUTES[self.table].index(name) for name in self.names]
        away = tuple(axis for axis in range(len(said["labels"])) if axis not in places)
        after = found[adult.unit(self.table, K, SEED, model)]["table"]
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


AGE = Shown("t3", ("age",))
WORK_BY_EDUCATION = Shown("t3", ("workclass", "education"))
OCCUPATION = Shown("t4", ("occupation",))


def units_2(_asked: Extent) -> Sequence[Unit]:
    """Return the work for figure 2."""
    return AGE.units()


def figure_2(found: Findings) -> Comparison:
    """Show the ages."""
    return AGE.compare(found)


def units_3(_asked: Extent) -> Sequence[Unit]:
    """Return the work for figure 3."""
    return WORK_BY_EDUCATION.units()


def figure_3(found: Findings) -> Comparison:
    """Show work class by education."""
    return WORK_BY_EDUCATION.compare(found)


def units_4(_asked: Extent) -> Sequence[Unit]:
    """Return the work for figure 4."""
    return OCCUPATION.units()


def figure_4(found: Findings) -> Comparison:
    """Show the occupations."""
    return OCCUPATION.compare(found)
