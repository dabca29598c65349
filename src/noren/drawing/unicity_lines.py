"""Unicity over the number of known purchases: a line with its interval for the original, and for a release.

The original is indigo and drawn through, a release persimmon; each has marks and dashes of its own, so the chart reads
in grey as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from noren.drawing.ground import LONGEST_NAME, Spec, distinct, scaled, short
from noren.i18n import _

_SIZE = (560, 300)
_LOOKS = (
    ("$indigo", [1, 0], "circle"),
    ("$persimmon", [1, 0], "square"),
    ("$ochre", [6, 3], "triangle-up"),
    ("$teal", [2, 2], "diamond"),
)
_MOST_TICKS = 20


def unicity_lines(
    original: Sequence[Mapping[str, Any]],
    releases: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
    *,
    heading: Sequence[str] = (),
) -> Spec:
    """Return the chart of steps as :meth:`noren.inference.unicity.Step.as_dict` writes them.

    Of a release the line is the share found rightly by somebody who passes over purchases that do not fit, where that
    is known: more knowledge never lowers it for want of a fit. Else it is the share left with one pseudonym.
    """
    lines = {_("original"): [_point(step, "unique", "low", "high") for step in original]}
    for label, steps in (releases or {}).items():
        keys = ("unique", "low", "high")
        if all("forgiving" in step for step in steps):
            keys = ("forgiving", "forgiving_low", "forgiving_high")
        said = _("{label}, correctly") if keys[0] == "forgiving" else _("{label}, one pseudonym left")
        lines[said.format(label=label)] = [_point(step, *keys) for step in steps]
    names = distinct(list(lines), LONGEST_NAME + 16)
    rows = [row | {"line": name} for name, points in zip(names, lines.values(), strict=True) for row in points]
    most = max((row["known"] for row in rows), default=1)
    numbers = sorted({row["known"] for row in rows})
    looks = [_LOOKS[i % len(_LOOKS)] for i in range(len(names))]
    key: Spec | None = {"orient": "top", "title": None, "labelLimit": 260} if len(names) > 1 else None
    by_line = [
        {"field": "line", "type": "nominal", "scale": {"domain": names, "range": list(part)}, "legend": key}
        for part in zip(*looks, strict=True)
    ]
    place: Spec = {
        "x": {
            "field": "known",
            "type": "quantitative",
            "scale": {"domain": [min(numbers, default=1), max(most, 2)], "nice": False, "zero": False, "padding": 8},
            "axis": {
                "title": _("known purchases"),
                "format": "d",
                "grid": False,
                "values": numbers if len(numbers) <= _MOST_TICKS else numbers[:: -(-len(numbers) // _MOST_TICKS)],
                "labelOverlap": "greedy",
            },
        },
        "y": scaled("share", _("customers singled out"), [0.0, 1.0], ".0~%"),
        "color": by_line[0],
    }
    tooltip = [
        {"field": "line", "title": _("data")},
        {"field": "known", "title": _("known purchases")},
        {"field": "share", "title": _("customers singled out"), "format": ".2%"},
        {"field": "low", "title": _("from"), "format": ".2%"},
        {"field": "high", "title": _("to"), "format": ".2%"},
        {"field": "tried", "title": _("customers asked about")},
    ]
    band = {"x": place["x"], "y": place["y"] | {"field": "low"}, "y2": {"field": "high"}, "color": by_line[0]}
    layers: list[Spec] = [
        {"mark": {"type": "area", "opacity": 0.18}, "encoding": band},
        {"mark": {"type": "line"}, "encoding": place | {"strokeDash": by_line[1]}},
        {
            "mark": {"type": "point", "filled": True, "size": 50, "opacity": 1},
            "encoding": place | {"shape": by_line[2], "tooltip": tooltip},
        },
    ]
    spec: Spec = {"data": {"values": rows}, "layer": layers, "width": _SIZE[0], "height": _SIZE[1]}
    return spec | ({"title": {"text": list(heading), "fontSize": 14, "offset": 12}} if heading else {})


def _point(step: Mapping[str, Any], share: str, low: str, high: str) -> Spec:
    return {
        "known": step["known"],
        "share": short(step[share]),
        "low": short(step[low]),
        "high": short(step[high]),
        "tried": step["tried"],
    }
