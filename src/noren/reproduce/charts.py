"""Pictures for the papers' figures: lines over categories or numbers, the paper's beside ours, in the house style."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt

from noren.study.charts import COLOURS, in_house_style

__all__ = ["Line", "lines", "svg"]

Look = Literal["paper", "ours", "better", "chance"]
# colour, marks and dashes together, so that a line is known in grey too
_LOOKS: dict[Look, tuple[str, str, list[int]]] = {
    "paper": (COLOURS["muted"], "circle", [4, 3]),
    "ours": (COLOURS["indigo"], "square", [1, 0]),
    "better": (COLOURS["teal"], "triangle-up", [1, 0]),
    "chance": (COLOURS["ochre"], "diamond", [1, 3]),
}


@dataclass(frozen=True)
class Line:
    """A line of a chart: its name, its values (``None`` leaves a gap), and whose it is."""

    name: str
    values: Sequence[float | None]
    look: Look = "ours"


def lines(
    across: Sequence[str] | Sequence[float],
    panels: Mapping[str, Sequence[Line]],
    *,
    across_title: str,
    up_title: str,
    up: tuple[float, float] | None = None,
    columns: int = 1,
    width: int = 560,
    height: int = 180,
) -> str:
    """Return lines over categories (texts) or numbers, one panel for each name, all on one scale.

    Lines of one name have one look in every panel; at most one line for each :data:`Look` can be told apart.
    """
    names = {line.name: line.look for shown in panels.values() for line in shown}
    looks = [_LOOKS[look] for look in names.values()]
    numeric = not isinstance(across[0], str)
    said = alt.Legend(
        title=None, orient="top", symbolSize=70, labelFontSize=12, labelLimit=400, labelColor=COLOURS["ink"]
    )
    x = alt.X(
        "across",
        type="quantitative" if numeric else "ordinal",
        sort=None,
        scale=alt.Scale(zero=False) if numeric else alt.Undefined,
        axis=alt.Axis(title=across_title, labelAngle=0 if numeric else -60, grid=False),
    )
    y = alt.Y(
        "up",
        type="quantitative",
        scale=alt.Scale(domain=list(up), nice=False) if up else alt.Scale(zero=False),
        axis=alt.Axis(title=None, tickCount=5),
    )
    order = list(names)
    colour = alt.Color(
        "line", type="nominal", scale=alt.Scale(domain=order, range=[look[0] for look in looks]), legend=said
    )
    shape = alt.Shape(
        "line", type="nominal", scale=alt.Scale(domain=order, range=[look[1] for look in looks]), legend=said
    )
    dash = alt.StrokeDash(
        "line", type="nominal", scale=alt.Scale(domain=order, range=[look[2] for look in looks]), legend=None
    )
    drawn = []
    for title, shown in panels.items():
        rows = [
            {"across": at, "up": value, "line": line.name}
            for line in shown
            for at, value in zip(across, line.values, strict=True)
        ]
        data = alt.Chart(alt.InlineData(values=rows))
        panel = alt.layer(
            data.mark_line(strokeWidth=1.5).encode(x=x, y=y, color=colour, strokeDash=dash),
            data.mark_point(filled=True, size=36, opacity=1).encode(x=x, y=y, color=colour, shape=shape),
        )
        words = f"{title}: {up_title}" if title else up_title  # an axis title would be longer than the axis
        heading: Any = alt.TitleParams(words, fontSize=12, fontWeight="normal", anchor="start", color=COLOURS["ink"])
        drawn.append(panel.properties(width=width, height=height, title=heading))
    return svg(alt.concat(*drawn, columns=columns, spacing=24))


def svg(chart: Any) -> str:
    """Return a chart as SVG text in the house style."""
    text = io.StringIO()
    in_house_style(chart).save(text, format="svg")
    return text.getvalue()
