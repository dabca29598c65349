"""The risk–utility map: what each release costs and what it protects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from noren.i18n import _
from noren.studio.charts.ground import LONGEST_LABEL, Spec, scaled, themed
from noren.study.label_places import place_labels
from noren.study.page_text import printable
from noren.study.risk_map import risk_title

__all__ = ["risk_map_chart"]

_MAP = (560.0, 320.0)
"""The plot, in pixels, that labels are placed for; the browser's own may be wider or narrower."""
_MARKS = {
    "withstands": ("circle", "$teal"),
    "broken": ("triangle-up", "$persimmon"),
    "untried": ("square", "$muted"),
}
_SIDES: dict[str, Spec] = {
    "right": {"align": "left", "baseline": "middle", "dx": 10},
    "left": {"align": "right", "baseline": "middle", "dx": -10},
    "above": {"align": "center", "baseline": "bottom", "dy": -9},
    "below": {"align": "center", "baseline": "top", "dy": 9},
}


def risk_map_chart(risk_map: Mapping[str, Any], published: Sequence[Mapping[str, Any]] | None = None) -> Spec:
    """Return the risk–utility map: right is more useful, down is safer; a step line joins what no other beats.

    Parameters
    ----------
    risk_map
        As :func:`noren.study.risk_map.risk_map` returns it; points with an ``address`` open it on a click.
    published
        Entries of a contest to hold against (``use``, ``risk``, ``label``), drawn hollow.
    """
    points = [p for p in risk_map["points"] if p.get("use") is not None and p.get("risk") is not None]
    best = [risk_map["points"][i] for i in risk_map["frontier"]]
    others = [p for p in published or () if p.get("use") is not None and p.get("risk") is not None]
    uses, risks = ([float(p[axis]) for p in (*points, *others)] for axis in ("use", "risk"))
    domains = [_around(uses), _from_nothing(risks)]
    words = {"withstands": _("withstands"), "broken": _("does not withstand"), "untried": _("not judged")}
    rows = [_on_map(p) | {"verdict": words.get(str(p.get("verdict")), words["untried"])} for p in points]
    for row, side in zip(rows, _label_sides(rows, best, domains), strict=True):
        row["side"] = side
    shapes, colours = zip(*_MARKS.values(), strict=True)
    scale = {"domain": list(words.values())}
    tooltip = [
        {"field": "label", "title": _("release")},
        {"field": "use", "title": _("use kept (higher is more useful)"), "format": ".3f"},
        {"field": "risk", "title": risk_title(points), "format": ".1%"},
    ]
    place = {
        "x": scaled("use", _("use kept (right is more useful)"), domains[0], ".2~f"),
        "y": scaled("risk", _("{risk} (down is safer)").format(risk=risk_title(points)), domains[1], ".0%"),
    }
    layers: list[Spec] = [
        {
            "data": {"values": [_on_map(p) for p in best]},
            "mark": {"type": "line", "interpolate": "step-before", "color": "$muted", "strokeDash": [5, 3]},
            "encoding": place,
        },
        {
            "data": {"values": rows},
            "mark": {"type": "point", "filled": True, "size": 110, "opacity": 1},
            "encoding": place
            | {
                "shape": {"field": "verdict", "scale": scale | {"range": list(shapes)}, "legend": _legend()},
                "color": {"field": "verdict", "scale": scale | {"range": list(colours)}, "legend": _legend()},
                "tooltip": [*tooltip, {"field": "verdict", "title": _("verdict")}],
                "href": {"field": "address"},
            },
        },
    ]
    layers += [
        {
            "data": {"values": [row for row in rows if row["side"] == side]},
            "mark": {"type": "text", "color": "$ink", "fontSize": 12, "tooltip": None} | mark,
            "encoding": place | {"text": {"field": "short"}},
        }
        for side, mark in _SIDES.items()
        if any(row["side"] == side for row in rows)
    ]
    if others:
        hollow = {
            "type": "point",
            "filled": False,
            "shape": "diamond",
            "size": 80,
            "color": "$muted",
            "strokeWidth": 1.5,
        }
        layers.insert(
            0,
            {
                "data": {"values": [_on_map(p) for p in others]},
                "mark": hollow,
                "encoding": place | {"tooltip": [tooltip[0] | {"title": _("published entry")}, *tooltip[1:]]},
            },
        )
    return themed({"layer": layers}, int(_MAP[1]) + 60)


def _on_map(point: Mapping[str, Any]) -> Spec:
    label = printable(str(point.get("label") or ""), 80)
    k = point.get("k")
    short = _("k = {k}").format(k=k) if k is not None else printable(label, LONGEST_LABEL)
    return {
        "use": float(point["use"]), "risk": float(point["risk"]), "label": label, "short": short,
        **({"address": str(point["address"])} if point.get("address") else {}),
    }  # fmt: skip


def _legend() -> Spec:
    return {"orient": "top", "title": None}


def _around(values: Sequence[float]) -> list[float]:
    """Return a domain with room around values, at least a fifth wide.

    >>> _around([0.2, 0.7]), _around([]), _around([0.5]), _around([0.98])
    ([0.15, 0.75], [0.0, 1.0], [0.4, 0.6], [0.8, 1.0])
    """
    if not values:
        return [0.0, 1.0]
    room = 0.1 * (max(values) - min(values))
    room = max(room, 0.1 - (max(values) - min(values)) / 2)
    low, high = min(values) - room, max(values) + room
    if high > 1 >= max(values):
        low, high = low - (high - 1), 1.0
    return [round(max(0.0, low), 4), round(high, 4)]


def _from_nothing(values: Sequence[float]) -> list[float]:
    """Return a domain that begins at no risk at all.

    >>> _from_nothing([0.2, 0.5]), _from_nothing([0.0]), _from_nothing([1.0])
    ([0.0, 0.55], [0.0, 0.1], [0.0, 1.0])
    """
    top = max(values, default=1.0)
    return [0.0, round(max(0.1, min(1.0, 1.1 * top) if top <= 1 else top), 4)]


def _label_sides(rows: Sequence[Spec], best: Sequence[Mapping[str, Any]], domains: Sequence[list[float]]) -> list[str]:
    """Return on which side of its point each label finds room, "" where it finds none."""

    def spot(point: Mapping[str, Any]) -> tuple[float, float]:
        x, y = (
            (float(point[name]) - low) / (high - low)
            for name, (low, high) in zip(("use", "risk"), domains, strict=True)
        )
        return x * _MAP[0], (1 - y) * _MAP[1]

    corners = [spot(p) for p in best]
    steps = [q for a, b in pairwise(corners) for q in (a, (a[0], b[1]))] + corners[-1:]
    sides = []
    for row, label in zip(
        rows, place_labels([spot(r) for r in rows], [r["short"] for r in rows], _MAP, steps), strict=True
    ):
        if label is None or label.far:
            sides.append("")
            continue
        x, y = spot(row)
        level = abs(label.top + 7.5 - y) < 5
        sides.append(("right" if label.left > x else "left") if level else "above" if label.top < y else "below")
    return sides
