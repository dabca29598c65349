"""Pictures for the papers' figures: lines over categories or numbers, the paper's beside ours, in the house style."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from noren.drawing.ground import picture

Look = Literal["paper", "ours", "better", "chance"]
# colour, marks and dashes together, so that a line is known in grey too
_LOOKS: dict[Look, tuple[str, str, list[int]]] = {
    "paper": ("$muted", "circle", [4, 3]),
    "ours": ("$indigo", "square", [1, 0]),
    "better": ("$teal", "triangle-up", [1, 0]),
    "chance": ("$ochre", "diamond", [1, 3]),
}


@dataclass(frozen=True)
class ChartLine:
    """A line of a chart: its name, its values (``None`` leaves a gap), and whose it is."""

    name: str
    values: Sequence[float | None]
    look: Look = "ours"


def lines(
    across: Sequence[str] | Sequence[float],
    panels: Mapping[str, Sequence[ChartLine]],
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
    said = {"title": None, "orient": "top", "symbolSize": 70, "labelLimit": 400}
    order = list(names)
    x = {
        "field": "across",
        "type": "quantitative" if numeric else "ordinal",
        "sort": None,
        "axis": {"title": across_title, "labelAngle": 0 if numeric else -60, "grid": False},
    } | ({"scale": {"zero": False}} if numeric else {})
    y = {
        "field": "up",
        "type": "quantitative",
        "scale": {"domain": list(up), "nice": False} if up else {"zero": False},
        "axis": {"title": None, "tickCount": 5},
    }
    colour, shape, dash = (
        {
            "field": "line",
            "type": "nominal",
            "scale": {"domain": order, "range": [look[at] for look in looks]},
            "legend": said if at < 2 else None,
        }
        for at in range(3)
    )
    drawn = []
    for title, shown in panels.items():
        rows = [
            {"across": at, "up": value, "line": line.name}
            for line in shown
            for at, value in zip(across, line.values, strict=True)
        ]
        mark = {"type": "point", "filled": True, "size": 36, "opacity": 1}
        words = f"{title}: {up_title}" if title else up_title  # an axis title would be longer than the axis
        drawn.append(
            {
                "data": {"values": rows},
                "encoding": {"x": x, "y": y, "color": colour},
                "layer": [
                    {"mark": {"type": "line", "strokeWidth": 1.5}, "encoding": {"strokeDash": dash}},
                    {"mark": mark, "encoding": {"shape": shape}},
                ],
                "width": width,
                "height": height,
                "title": {"text": words, "fontSize": 12, "fontWeight": "normal"},
            }
        )
    return picture({"concat": drawn, "columns": columns, "spacing": 24})
