"""What a perturbed table looks like beside its original: histograms and shaded cross tabulations (S4's screen).

Panels stand side by side on one scale: original | perturbed | reconstructed. Each panel's name gives its L1 precision,
so the finding is read before the picture. Without the original, what was released and reconstructed is shown.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
from markupsafe import escape
from numpy.typing import NDArray

from noren.data.formats.files import writing_file
from noren.data.frames import Records, Table
from noren.data.perturbation import Perturbation, perturbation_of
from noren.data.reconstruction import Model, reconstruct
from noren.data.release import Release
from noren.errors import ParameterError
from noren.i18n import _
from noren.measures.utility.l1_precision import precision
from noren.study.charts import COLOURS, in_house_style, printable
from noren.study.ledger_chart import chart_ending

__all__ = ["View", "chart_ending", "crosstab", "histogram", "view", "write_chart"]

Numbers = NDArray[np.float64]

_PANEL = 220
_CELL = 18
_MOST_BARS = 60
_LONGEST = 18


@dataclass(frozen=True)
class View:
    """Tables of one or two attributes: labels of each, and the original's, perturbed and reconstructed records."""

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    tables: dict[str, Numbers]

    def precision(self, panel: str) -> float | None:
        """Return a panel's L1 precision, where the original is known and is not the panel itself."""
        if "original" not in self.tables or panel == "original":
            return None
        return precision(self.tables["original"], self.tables[panel])

    def as_dict(self) -> dict[str, Any]:
        """Return the view as plain data."""
        said = {panel: self.precision(panel) for panel in self.tables}
        return {
            "attributes": list(self.names),
            "labels": [list(some) for some in self.labels],
            "records": {panel: table.tolist() for panel, table in self.tables.items()},
            "l1_precision": {panel: value for panel, value in said.items() if value is not None},
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
        raise ParameterError(_("only tables are shown this way"), _("name a release of a table"))
    if not 1 <= len(names) <= 2 or len(set(names)) < len(names):
        raise ParameterError(_("a chart shows one attribute, or two different ones"), _("name one or two"))
    found = reconstruct(release.public, release.statement, model, attributes=names, seed=seed)
    made: Perturbation = found.perturbation
    tables = {}
    if original is not None:
        whole = perturbation_of(release.public, release.statement)
        kept = whole.only([whole.names.index(name) for name in names])
        tables["original"] = kept.table(kept.codes(original.frame))
    tables["perturbed"] = made.table(made.places(release.public.frame))
    if found.model != "none":
        tables["reconstructed"] = found.table
    return View(tuple(names), tuple(tuple(a.labels()) for a in made.attributes), tables)


# --- charts ------------------------------------------------------------------------------------------------


def histogram(shown: View) -> alt.HConcatChart:
    """Return the bars of one attribute, panel beside panel, on one scale."""
    heights = {panel: _few_bars(table) for panel, table in shown.tables.items()}
    labels = _labels(shown.labels[0], len(next(iter(heights.values()))))
    top = max(float(h.max()) for h in heights.values())
    panels = []
    for at, (panel, height) in enumerate(heights.items()):
        rows = [{"bar": label, "records": round(float(h), 2)} for label, h in zip(labels, height, strict=True)]
        axis = alt.Axis(title=None, labelLimit=140, ticks=False, grid=False) if at == 0 else None
        colour = COLOURS["indigo" if panel == "original" else "teal"]
        # what was reconstructed is an estimate: paler, with a rim
        rim: Any = {"fillOpacity": 0.45, "stroke": colour} if panel == "reconstructed" else {}
        panels.append(
            alt.Chart(alt.InlineData(values=rows))
            .mark_bar(color=colour, **rim)
            .encode(
                x=alt.X(
                    "records",
                    type="quantitative",
                    scale=alt.Scale(domain=[0, top or 1], nice=False),
                    axis=alt.Axis(title=_("records"), format=",~r", tickCount=3),
                ),
                y=alt.Y("bar", type="nominal", sort=labels, axis=axis),
            )
            .properties(width=_PANEL, height=max(60, 16 * len(labels)), title=_small(_title(shown, panel)))
        )
    return alt.hconcat(*panels, spacing=24).properties(title=_large(_heading(shown)))


def crosstab(shown: View) -> alt.HConcatChart:
    """Return two attributes as shaded tables, panel beside panel, on one scale."""
    if len(shown.names) != 2:
        raise ParameterError(_("a cross tabulation has two attributes"), _("name two"))
    down, across = (_labels(some, len(some)) for some in shown.labels)
    top = max(float(t.max()) for t in shown.tables.values())
    panels = []
    for at, (panel, table) in enumerate(shown.tables.items()):
        rows = [
            {"down": down[i], "across": across[j], "records": round(float(table[i, j]), 2)}
            for i in range(len(down))
            for j in range(len(across))
        ]
        names = alt.Axis(title=printable(shown.names[0], 40), labelLimit=140, ticks=False) if at == 0 else None
        panels.append(
            alt.Chart(alt.InlineData(values=rows))
            .mark_rect(stroke=COLOURS["line"], strokeWidth=0.5)
            .encode(
                x=alt.X(
                    "across",
                    type="nominal",
                    sort=across,
                    axis=alt.Axis(title=printable(shown.names[1], 40), labelAngle=-60, labelLimit=110, ticks=False),
                ),
                y=alt.Y("down", type="nominal", sort=down, axis=names),
                color=alt.Color(
                    "records",
                    type="quantitative",
                    # by the square root: a table of people has few large cells and many small ones
                    scale=alt.Scale(
                        type="sqrt",
                        domain=[0, top or 1],
                        range=[COLOURS["paper"], COLOURS["indigo"]],
                        interpolate="rgb",
                    ),
                    legend=alt.Legend(title=_("records"), format=",~r"),
                ),
                tooltip=["down:N", "across:N", "records:Q"],
            )
            .properties(width=_CELL * len(across), height=_CELL * len(down), title=_small(_title(shown, panel)))
        )
    return alt.hconcat(*panels, spacing=24).properties(title=_large(_heading(shown)))


def write_chart(chart: alt.HConcatChart, path: str | Path) -> Path:
    """Write a chart as a page, an SVG or a PNG picture, by the name's ending; whole or not at all."""
    path = Path(path)
    ending = chart_ending(path)
    styled = in_house_style(chart, background=COLOURS["paper"], padding=16)  # type: ignore[arg-type]
    if ending == ".html":
        drawn = io.StringIO()
        styled.save(drawn, format="svg")
        content = _PAGE.format(title=printable(_plain_heading(chart)), chart=drawn.getvalue()).encode()
    elif ending == ".svg":
        text = io.StringIO()
        styled.save(text, format="svg")
        content = text.getvalue().encode()
    else:
        picture = io.BytesIO()
        styled.save(picture, format="png", scale_factor=2)
        content = picture.getvalue()
    with writing_file(path) as aside:
        aside.write_bytes(content)
    return path


_PAGE = (
    '<!doctype html><html><head><meta charset="utf-8"><title>{title}</title>'
    "<style>body{{background:#fbfaf7;margin:24px}}svg{{max-width:100%;height:auto}}</style></head>"
    "<body>{chart}</body></html>\n"
)


def _plain_heading(chart: alt.HConcatChart) -> str:
    return str(escape(str(chart.title.text)))


def _small(words: str) -> alt.TitleParams:
    return alt.TitleParams(words, fontSize=12, fontWeight="normal", anchor="start", color=COLOURS["ink"])


def _large(words: str) -> alt.TitleParams:
    return alt.TitleParams(words, fontSize=14, anchor="start", offset=12, color=COLOURS["ink"])


def _title(shown: View, panel: str) -> str:
    words = {"original": _("original"), "perturbed": _("perturbed"), "reconstructed": _("reconstructed")}[panel]
    share = shown.precision(panel)
    if share is None:
        return words
    return _("{panel}: {share:.1%} in the right cell").format(panel=words, share=share)


def _heading(shown: View) -> str:
    """Return the finding, or without an original what is shown."""
    names = " × ".join(printable(name, 40) for name in shown.names)
    before, after = shown.precision("perturbed"), None
    if "reconstructed" in shown.tables:
        after = shown.precision("reconstructed")
    if before is None or after is None:
        return names
    return _("{names}: reconstruction puts {after:.1%} of the records right, perturbation left {before:.1%}").format(
        names=names, after=after, before=before
    )


def _few_bars(table: Numbers) -> Numbers:
    """Return a long grid in at most so many bars of equal width."""
    per = -(-len(table) // _MOST_BARS)
    return np.add.reduceat(table, np.arange(0, len(table), per))


def _labels(labels: Sequence[str], bars: int) -> list[str]:
    per = -(-len(labels) // bars)
    shown: list[str] = []
    for at in range(0, len(labels), per):
        last = labels[min(at + per, len(labels)) - 1]
        words = printable(labels[at] if per == 1 else f"{labels[at]}–{last}", _LONGEST)
        shown.append(words if words not in shown else f"{words} ({at})")
    return shown
