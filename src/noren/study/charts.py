"""Charts as SVG text: drawn without a browser, quiet as the pages they stand in.

Colours are the light ones of the house, written plainly into the SVG; a page that also has a dark side recolours them
by these very values (``[fill="#26456e"]``), so a chart alone is a valid picture and on a page follows its theme. Text
is left to the reader's own fonts. Nothing is said by colour alone: panels have names, marks have shapes, points labels.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import altair as alt

from noren.i18n import _
from noren.study.findings import Verdict, frontier
from noren.study.histograms import Axis, Spread
from noren.study.label_places import LETTER, Spot, place_labels
from noren.study.page_text import printable

__all__ = ["COLOURS", "FONT", "Place", "histogram", "in_house_style", "printable", "risk_utility_map"]

COLOURS: Final = {
    "paper": "#fbfaf7",
    "ink": "#1d2430",
    "muted": "#5d6675",
    "line": "#e4e0d8",
    "indigo": "#26456e",
    "teal": "#2b7a78",
    "persimmon": "#c8553d",
    "ochre": "#b7862c",
}
FONT: Final = "system-ui, sans-serif"

_PANEL = (280, 150)
_NAMES_PANEL = (280, 200)
_ROOM_FOR_LABELS = 230
_LONGEST_LABEL = 18
_LONGEST_POINT = 32
_MARKS = {
    Verdict.WITHSTANDS: ("circle", COLOURS["teal"]),
    Verdict.BROKEN: ("triangle-up", COLOURS["persimmon"]),
    Verdict.UNTRIED: ("square", COLOURS["muted"]),
}


# --- histograms --------------------------------------------------------------------------------------------


def histogram(axis: Axis, values: Spread, *, top: float, released: bool) -> str:
    """Return one panel: rows per bar, up to ``top``; the original in indigo, a release in teal."""
    labels = _distinct([printable(label, _LONGEST_LABEL) for label in axis.labels[: axis.shown]])
    heights = [round(float(w), 3) for w in values.weights[: axis.shown]]
    rows = [{"bar": label, "rows": height} for label, height in zip(labels, heights, strict=True)]
    colour = COLOURS["teal" if released else "indigo"]
    scale = alt.Scale(domain=[0, top or 1], nice=False)
    length: Any = {"field": "rows", "type": "quantitative", "scale": scale}
    number_axis = alt.Axis(format=",~r", tickCount=3, title=None)
    chart = alt.Chart(alt.InlineData(values=rows))
    if axis.nominal:
        names = alt.Axis(title=None, labelLimit=130, ticks=False, grid=False)
        picture = chart.mark_bar(color=colour).encode(
            x=alt.X(**length, axis=number_axis),
            y=alt.Y("bar", type="nominal", sort=labels, axis=names),
        )
    else:
        ends = alt.Axis(
            title=printable(axis.title, 60), values=_few(labels), labelAngle=0, labelOverlap=False, grid=False
        )
        picture = chart.mark_bar(color=colour).encode(
            x=alt.X("bar", type="ordinal", sort=labels, axis=ends, scale=alt.Scale(paddingInner=0.1)),
            y=alt.Y(**length, axis=number_axis),
        )
    width, height = _NAMES_PANEL if axis.nominal else _PANEL
    size = alt.AutoSizeParams(type="fit", contains="padding")
    return _svg(picture.properties(width=width, height=height, autosize=size))


def _few(labels: Sequence[str]) -> list[str]:
    """Return as many labels as have room, evenly chosen, the first and the last among them."""
    most = max(2, int(_ROOM_FOR_LABELS / (LETTER[0] * max(len(label) for label in labels) + 12)))
    if len(labels) <= most:
        return list(labels)
    stride = -(-(len(labels) - 1) // (most - 1))
    places = list(range(0, len(labels), stride))
    if len(labels) - 1 - places[-1] < 0.7 * stride and len(places) > 1:
        places.pop()
    return [labels[i] for i in (*places, len(labels) - 1)]


def _distinct(labels: Sequence[str]) -> list[str]:
    """Return the labels with a number after those that would be one bar."""
    answer: list[str] = []
    for label in labels:
        tried, number = label, 1
        while tried in answer:
            number += 1
            tried = f"{label.rstrip('…')[: _LONGEST_LABEL - 6]}… ({number})"
        answer.append(tried)
    return answer


# --- risk–utility map --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """Where a release stands on the map: use kept (1 - U), the share of customers re-identified, and how it fared."""

    label: str
    use: float
    risk: float
    verdict: Verdict
    taken: bool = False
    """Whether a ring says that this is the one to take."""


def risk_utility_map(
    places: Sequence[Place],
    *,
    width: int = 640,
    height: int = 340,
    titles: tuple[str, str] | None = None,
    lines: Sequence[Sequence[int]] | None = None,
    near: bool = False,
) -> str:
    """Return the map: right is more useful, down is safer; a step line joins the releases that no other beats.

    Parameters
    ----------
    titles
        What use and risk are, where they are not 1 - U and the share of customers re-identified.
    lines
        The places that step lines join, by growing use; left out, those of the frontier.
    near
        Whether to look at the part of the map where the places are.
    """
    high = max(p.risk for p in places)
    ceiling = 1.0 if high > 0.5 else max(0.05, high * 1.25)
    across, up = _across([p.use for p in places], near=near), (-0.06 * ceiling, 1.04 * ceiling)
    use_words, risk_words = titles or (_("use kept, 1 − U"), _("customers re-identified"))
    x = alt.X(
        "use",
        type="quantitative",
        scale=alt.Scale(domain=across, nice=False),
        axis=alt.Axis(
            title=_("{use} (right is more useful)").format(use=use_words), format=".2~f" if near else ".1f", tickCount=5
        ),
    )
    y = alt.Y(
        "risk",
        type="quantitative",
        scale=alt.Scale(domain=up, nice=False),
        axis=alt.Axis(title=_("{risk} (down is safer)").format(risk=risk_words), format=".0%", tickCount=5),
    )

    def layer(rows: Sequence[dict[str, Any]]) -> alt.Chart:
        return alt.Chart(alt.InlineData(values=list(rows)))

    points = [{"use": p.use, "risk": p.risk} for p in places]
    joined = [frontier([(p.use, p.risk) for p in places])] if lines is None else lines
    # to have at least so much use one must take the risk of the next release to the right, so the line rises first
    step: Any = {"interpolate": "step-before", "color": COLOURS["muted"], "strokeDash": [5, 3], "strokeWidth": 1.5}
    layers = [layer([points[i] for i in best]).mark_line(**step).encode(x=x, y=y) for best in joined]

    def spot(use: float, risk: float) -> Spot:
        return (use - across[0]) / (across[1] - across[0]) * width, (up[1] - risk) / (up[1] - up[0]) * height

    def back(left: float, top: float) -> dict[str, float]:
        return {
            "use": across[0] + left / width * (across[1] - across[0]),
            "risk": up[1] - top / height * (up[1] - up[0]),
        }

    spots = [spot(p.use, p.risk) for p in places]
    texts = [printable(p.label, _LONGEST_POINT) for p in places]
    # labels are placed for one line; where there are several, what they are about lies apart
    labels = place_labels(spots, texts, (width, height), [spots[i] for best in joined for i in best])
    leads = [
        back(*own) | {f"{name}2": value for name, value in back(*label.near).items()}
        for own, label in zip(spots, labels, strict=True)
        if label is not None and label.far
    ]
    if leads:
        layers.append(layer(leads).mark_rule(color=COLOURS["muted"]).encode(x=x, y=y, x2="use2:Q", y2="risk2:Q"))
    for kind, (shape, colour) in _MARKS.items():
        such = [point for point, place in zip(points, places, strict=True) if place.verdict == kind]
        if such:
            mark = layer(such).mark_point(shape=shape, color=colour, filled=True, opacity=1, size=110)
            layers.append(mark.encode(x=x, y=y))
    rings = [point for point, place in zip(points, places, strict=True) if place.taken]
    if rings:
        ring: Any = {"shape": "circle", "filled": False, "color": COLOURS["indigo"], "strokeWidth": 2, "opacity": 1}
        layers.append(layer(rings).mark_point(**ring, size=420).encode(x=x, y=y))
    words = [back(label.left, label.top) | {"word": t} for t, label in zip(texts, labels, strict=True) if label]
    if words:
        text: Any = {"align": "left", "baseline": "top", "fontSize": 12}
        said = {"x": x, "y": y, "text": alt.Text("word", type="nominal")}
        # a rim of paper keeps a label legible where it must cross a line
        layers.append(
            layer(words)
            .mark_text(**text, color=COLOURS["paper"], stroke=COLOURS["paper"], strokeWidth=4)
            .encode(**said)
        )
        layers.append(layer(words).mark_text(**text, color=COLOURS["ink"]).encode(**said))
    return _svg(alt.layer(*layers).properties(width=width, height=height))


def _across(uses: Sequence[float], *, near: bool) -> tuple[float, float]:
    """Return the ends of the axis of use: all of it, or with room around what there is, a fifth wide at least.

    >>> _across([0.5, 0.7], near=False), tuple(round(end, 3) for end in _across([0.5, 0.7], near=True))
    ((-0.03, 1.04), (0.46, 0.76))
    """
    if not near:
        low = min(0.0, *uses)
        return low - 0.03 * (1 - low), 1 + 0.04 * (1 - low)
    spare = max(0.2 - (max(uses) - min(uses)), 0.0) / 2
    low, high = min(uses) - spare, max(uses) + spare
    return low - 0.2 * (high - low), max(min(high + 0.3 * (high - low), 1.04), high + 0.06 * (high - low))


# --- drawing -----------------------------------------------------------------------------------------------


def _svg(chart: alt.Chart | alt.LayerChart | alt.FacetChart) -> str:
    """Return a chart as SVG text in the house style."""
    text = io.StringIO()
    in_house_style(chart).save(text, format="svg")
    return text.getvalue()


def in_house_style(
    chart: alt.Chart | alt.LayerChart | alt.FacetChart, *, background: str = "transparent", padding: int = 4
) -> Any:
    """Return a chart with the house's font and colours; it lies on what is below it unless a background is given."""
    return (
        chart.configure(aria=False, background=background, font=FONT, padding=padding)
        .configure_view(stroke=None)
        .configure_axis(
            domainColor=COLOURS["muted"],
            gridColor=COLOURS["line"],
            labelColor=COLOURS["muted"],
            labelFontSize=11,
            tickColor=COLOURS["muted"],
            tickSize=4,
            titleColor=COLOURS["ink"],
            titleFontSize=11,
            titleFontWeight="normal",
        )
    )
