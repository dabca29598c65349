"""Charts of a perturbed table and its original: histograms and shaded cross tabulations (S4's screen).

Panels are side by side on one scale: original | perturbed | reconstructed. Each panel's title gives its L1 precision.
Without the original, only the released and the reconstructed table are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from noren.data.frames import Records, Table
from noren.data.release import Release
from noren.drawing.bars import bars, darkest, shaded
from noren.drawing.base import Spec
from noren.errors import ParameterError
from noren.i18n import _
from noren.judgement.page_text import printable
from noren.kernels.arrays import Real
from noren.measures.utility.l1_precision import precision
from noren.retention.reconstruction import Model, reconstruct

_PANEL = 220
_MOST_BARS = 60
_LONGEST = 18


@dataclass(frozen=True)
class View:
    """Tables of one or two attributes: labels of each, and the original's, perturbed and reconstructed records."""

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    tables: dict[str, Real]

    def precision(self, panel: str) -> float | None:
        """Return a panel's L1 precision, where the original is known and is not the panel itself."""
        if "original" not in self.tables or panel == "original":
            return None
        return precision(self.tables["original"], self.tables[panel])

    def as_dict(self) -> dict[str, Any]:
        """Return the view as plain data."""
        precisions = {panel: self.precision(panel) for panel in self.tables}
        return {
            "attributes": list(self.names),
            "labels": [list(labels) for labels in self.labels],
            "records": {panel: table.tolist() for panel, table in self.tables.items()},
            "l1_precision": {panel: value for panel, value in precisions.items() if value is not None},
        }


def view(
    release: Release,
    names: Sequence[str],
    *,
    original: Records | None = None,
    model: Model | None = None,
    seed: int = 0,
) -> View:
    """Return the tables of one or two attributes of a release by retention."""
    if not isinstance(release.public, Table):
        raise ParameterError(_("this chart needs a release of a table; name one"))
    if not 1 <= len(names) <= 2 or len(set(names)) < len(names):
        raise ParameterError(_("a chart shows one or two different attributes; name one or two"))
    reconstruction = reconstruct(release.public, release.statement, model, attributes=names, seed=seed)
    made = reconstruction.perturbation
    tables = {}
    if original is not None:
        tables["original"] = made.table(made.codes(original.frame))
    tables["perturbed"] = made.table(made.places(release.public.frame))
    if reconstruction.model != "none":
        tables["reconstructed"] = reconstruction.table
    return View(tuple(names), tuple(tuple(a.labels()) for a in made.attributes), tables)


# --- charts ------------------------------------------------------------------------------------------------


def histogram(view: View) -> Spec:
    """Return the bars of one attribute, panel beside panel, on one scale."""
    length = len(next(iter(view.tables.values())))
    per = -(-length // _MOST_BARS)  # a long grid has bars of equal width
    heights = {panel: np.add.reduceat(table, np.arange(0, length, per)) for panel, table in view.tables.items()}
    labels = _labels(view.labels[0], per)
    top = max(float(h.max()) for h in heights.values())
    panels = []
    for panel, height in heights.items():
        drawn = bars(
            labels,
            {panel: height.tolist()},
            value_title=_("records"),
            colours=("indigo" if panel == "original" else "teal",),
            nominal=True,
            top=top,
            title=_title(view, panel),
            size=(_PANEL, max(60, 16 * len(labels))),
        )
        if panel == "reconstructed":  # an estimate: paler, with a rim
            drawn["mark"] |= {"fillOpacity": 0.45, "stroke": drawn["mark"]["color"]}
        panels.append(drawn)
    return {"panels": panels, "title": _heading(view)}


def crosstab(view: View) -> Spec:
    """Return two attributes as shaded tables, panel beside panel, on one scale."""
    if len(view.names) != 2:
        raise ParameterError(_("a cross tabulation has two attributes; name two"))
    labels = [_labels(names) for names in view.labels]
    titles = [printable(name, 40) for name in view.names]
    top = max(float(t.max()) for t in view.tables.values()) or 1.0
    panels = [
        shaded(labels, titles, table.tolist(), _title(view, panel), [0, top], root=True)
        for panel, table in view.tables.items()
    ]
    panels[0]["title"] = f"{panels[0]['title']} ({darkest(top)})"
    return {"panels": panels, "title": _heading(view)}


def _title(view: View, panel: str) -> str:
    name = {"original": _("original"), "perturbed": _("perturbed"), "reconstructed": _("reconstructed")}[panel]
    share = view.precision(panel)
    return name if share is None else _("{panel}: {share:.1%} in the right cell").format(panel=name, share=share)


def _heading(view: View) -> str:
    """Return the finding, or without an original the attributes."""
    names = " × ".join(printable(name, 40) for name in view.names)
    before = view.precision("perturbed")
    after = view.precision("reconstructed") if "reconstructed" in view.tables else None
    if before is None or after is None:
        return names
    words = _("{names}: {after:.1%} of the records in the right cell after reconstruction, {before:.1%} before")
    return words.format(names=names, after=after, before=before)


def _labels(labels: Sequence[str], per: int = 1) -> list[str]:
    displayed: list[str] = []
    for at in range(0, len(labels), per):
        last = labels[min(at + per, len(labels)) - 1]
        text = printable(labels[at] if per == 1 else f"{labels[at]}–{last}", _LONGEST)
        displayed.append(text if text not in displayed else f"{text} ({at})")
    return displayed
