"""Risk over releases: what each attack finds of everything that was out at the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from noren.i18n import _
from noren.studio.charts.ground import HIGH, LONGEST_LABEL, LONGEST_NAME, Spec, distinct, scaled, short, themed
from noren.study.findings import percent
from noren.study.page_text import printable

__all__ = ["risk_lines"]

_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


def risk_lines(
    periods: Sequence[str],
    found: Mapping[str, Sequence[float | None]],
    budget: Mapping[str, float] | float | None = None,
    *,
    measure: str = "mm",
    proposed: bool = False,
) -> Spec:
    """Return the risk over releases: one line per attack with its name, the budget as a level line.

    Parameters
    ----------
    found
        The measure of each attack after each release; None where it was not tried.
    budget
        What it may come to at most; of a ledger's limits the one that is about the measure drawn, and no other.
    measure
        Which measure it is: ``um``, ``mm`` or ``emm``.
    proposed
        Whether the last release is not out yet: it is drawn hollow.
    """
    limit = budget.get(measure) if isinstance(budget, Mapping) else budget
    title, short_title = {
        "um": (_("customers found in every period, UM (down is safer)"), _("customers found in every period")),
        "mm": (_("pseudonyms found, MM (down is safer)"), _("pseudonyms found")),
        "emm": (_("pseudonyms found at most so far, EMM (down is safer)"), _("pseudonyms found at most so far")),
    }[measure]
    shown = distinct([printable(str(period), LONGEST_LABEL) for period in periods])
    names = dict(zip(found, distinct([printable(name, LONGEST_NAME) for name in found]), strict=True))
    rows: list[Spec] = [
        {
            "attack": names[attack],
            "period": shown[at],
            "share": short(value),
            "proposed": proposed and at == len(shown) - 1,
        }
        for attack, values in found.items()
        for at, value in enumerate(values)
        if value is not None
    ]
    lasts: dict[str, Spec] = {row["attack"]: row for row in rows}
    worst = max(lasts, key=lambda name: lasts[name]["share"], default="")
    top = max([row["share"] for row in rows] + [limit or 0.0, 0.02]) * 1.08
    order = list(names.values())
    scale = {"domain": order}
    red = {"test": {"field": "attack", "equal": worst}, "value": "$persimmon"}
    place: Spec = {
        "x": {
            "field": "period", "type": "ordinal", "sort": shown,
            "axis": {"title": _("release"), "labelAngle": 0, "labelOverlap": "greedy", "grid": False},
            "scale": {"domain": shown},
        },
        "y": scaled("share", title, [0.0, short(top)], ".0~%"),
        "color": {"condition": red, "value": "$indigo"},
    }  # fmt: skip
    tooltip = [
        {"field": "attack", "title": _("attack")},
        {"field": "period", "title": _("release")},
        {"field": "share", "title": short_title, "format": ".2%"},
    ]
    dashes = scale | {"range": [_DASHES[i % len(_DASHES)] for i in range(len(order))]}
    shapes = scale | {"range": [_SHAPES[i % len(_SHAPES)] for i in range(len(order))]}
    points = place | {
        "shape": {"field": "attack", "scale": shapes, "legend": None},
        "fillOpacity": {"condition": {"test": "datum.proposed", "value": 0}, "value": 1},
        "tooltip": tooltip,
    }
    layers: list[Spec] = [
        {
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": place | {"strokeDash": {"field": "attack", "scale": dashes, "legend": None}},
        },
        {"mark": {"type": "point", "filled": True, "size": 60, "opacity": 1, "strokeWidth": 1.5}, "encoding": points},
        _names_beside(lasts, top, place),
    ]
    if limit is not None:
        layers += _limit(limit, measure, place["y"], shown)
    beside = 16 + 7 * max((len(name) for name in order), default=0)
    room = {"left": 5, "top": 5, "right": min(beside, 200), "bottom": 5}
    return themed({"data": {"values": rows}, "layer": layers, "padding": room}, HIGH)


def _names_beside(lasts: Mapping[str, Spec], top: float, place: Spec) -> Spec:
    """Return the names of the lines at their right ends, none on another."""
    gap = top * 15 / (HIGH - 60)
    placed: list[Spec] = []
    for row in sorted(lasts.values(), key=lambda row: (row["share"], row["attack"])):
        height = max(row["share"], placed[-1]["share"] + gap) if placed else row["share"]
        placed.append(row | {"share": short(height)})
    beyond = placed[-1]["share"] - top if placed else 0
    if beyond > 0:  # lower all: names may stand below their points, not above the plot
        placed = [row | {"share": short(max(row["share"] - beyond, i * gap))} for i, row in enumerate(placed)]
    mark = {"type": "text", "align": "left", "dx": 10, "fontSize": 12, "tooltip": None}
    return {"data": {"values": placed}, "mark": mark, "encoding": place | {"text": {"field": "attack"}}}


def _limit(limit: float, measure: str, height: Spec, shown: Sequence[str]) -> list[Spec]:
    said = _("budget {name}").format(name=f"{measure.upper()} {percent(limit)}")
    values = [{"share": limit, "period": shown[0] if shown else "", "said": said}]
    words = {"type": "text", "align": "left", "baseline": "bottom", "dy": -3, "color": "$ochre-text", "fontSize": 12}
    return [
        {
            "data": {"values": values},
            "mark": {"type": "rule", "color": "$ochre", "strokeWidth": 2},
            "encoding": {"y": height},
        },
        {
            "data": {"values": values},
            "mark": words | {"tooltip": None, "x": 4},
            "encoding": {"y": height, "text": {"field": "said"}},
        },
    ]
