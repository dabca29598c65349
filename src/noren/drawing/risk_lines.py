"""Risk over releases: what each attack finds of everything that was out at the time (S3, figures 2 to 4).

One line per attack, the budget as a level line, what is certified in teal: all of one measure. The line of the attack
that finds most now is persimmon, all others indigo; every line bears its name, so the chart reads in grey as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from noren.drawing.ground import LONGEST_NAME, Spec, distinct, few, scaled, short
from noren.i18n import _
from noren.judgement.numbers import percent

__all__ = ["risk_lines"]

_SIZE = (560, 320)
_LINE = 15.0
"""Pixels from one name beside the lines to the next."""
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")


def risk_lines(
    periods: Sequence[str],
    found: Mapping[str, Sequence[float | None]],
    budget: Mapping[str, float] | float | None = None,
    *,
    measure: str = "mm",
    proposed: bool = False,
    heading: Sequence[str] = (),
    certified: Sequence[float | None] = (),
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
    heading
        The lines of the chart's own heading, where it stands alone.
    certified
        The most that anybody can be expected to find after each release; None where nothing is certified.
    """
    limit = budget.get(measure) if isinstance(budget, Mapping) else budget
    title, short_title = {
        "um": (_("customers found in every period, UM (down is safer)"), _("customers found in every period")),
        "mm": (_("pseudonyms found, MM (down is safer)"), _("pseudonyms found")),
        "emm": (_("pseudonyms found at most so far, EMM (down is safer)"), _("pseudonyms found at most so far")),
    }[measure]
    shown = distinct([str(period) for period in periods])
    order = distinct(list(found), LONGEST_NAME)
    rows: list[Spec] = [
        {"attack": attack, "period": shown[at], "share": short(value), "proposed": proposed and at == len(shown) - 1}
        for attack, values in zip(order, found.values(), strict=True)
        for at, value in enumerate(values)
        if value is not None
    ]
    lasts: dict[str, Spec] = {row["attack"]: row for row in rows}
    worst = max(lasts, key=lambda name: lasts[name]["share"], default="")
    sure = [{"period": shown[at], "share": short(v)} for at, v in enumerate(certified) if v is not None]
    top = min(1.0, 1.15 * max([*(row["share"] for row in [*rows, *sure]), limit or 0.0, 0.05]))
    axis: Spec = {
        "title": _("everything released up to"),
        "values": few(shown, _SIZE[0]),
        "labelAngle": 0,
        "labelOverlap": "greedy",
        "grid": False,
    }
    place: Spec = {
        "x": {
            "field": "period",
            "type": "ordinal",
            "sort": shown,
            "axis": axis,
            "scale": {"domain": shown, "padding": 0.2},
        },
        "y": scaled("share", title, [0.0, short(top)], ".0~%"),
        "color": {
            "condition": {"test": {"field": "attack", "equal": worst}, "value": "$persimmon"},
            "value": "$indigo",
        },
    }
    tooltip = [
        {"field": "attack", "title": _("attack")},
        {"field": "period", "title": _("release")},
        {"field": "share", "title": short_title, "format": ".2%"},
    ]
    dashes, shapes = (
        {"field": "attack", "scale": {"domain": order, "range": looks}, "legend": None}
        for looks in (
            [[1, 0] if name == worst else _DASHES[i % len(_DASHES)] for i, name in enumerate(order)],
            [_SHAPES[i % len(_SHAPES)] for i in range(len(order))],
        )
    )
    heavy = {"condition": {"test": {"field": "attack", "equal": worst}, "value": 2.5}, "value": 1.2}
    layers: list[Spec] = [
        {"mark": {"type": "line"}, "encoding": place | {"strokeDash": dashes, "strokeWidth": heavy}},
        *(
            {
                "data": {"values": some},
                "mark": {"type": "point", "filled": filled, "size": 60, "opacity": 1, "strokeWidth": 1.5},
                "encoding": place | {"shape": shapes, "tooltip": tooltip},
            }
            for filled in (True, False)
            if (some := [row for row in rows if row["proposed"] != filled])
        ),
    ]
    ends = [row | {"said": f"{name} {row['share']:.3f}"} for name, row in lasts.items()]
    if sure:
        mark = {"type": "line", "color": "$teal", "strokeWidth": 2, "point": {"color": "$teal", "filled": True}}
        where = {name: place[name] for name in ("x", "y")}
        layers.append({"data": {"values": sure}, "mark": mark, "encoding": where})
        last = sure[-1]["share"]
        ends.append({"share": last, "said": _("certified {share}").format(share=f"{last:.3f}"), "sure": True})
    if limit is not None:
        rule = {"type": "rule", "color": "$ochre", "strokeWidth": 2, "strokeDash": [3, 3]}
        layers.append({"data": {"values": [{"share": limit}]}, "mark": rule, "encoding": {"y": place["y"]}})
        layers += _beyond(sure or rows, limit, place)
        ends.append({"share": limit, "said": _("budget {name}").format(name=f"{measure.upper()} {percent(limit)}")})
    layers += _names_beside(ends, top, place)
    spec: Spec = {"data": {"values": rows}, "layer": layers, "width": _SIZE[0], "height": _SIZE[1]}
    return spec | ({"title": {"text": list(heading), "fontSize": 14, "offset": 12}} if heading else {})


def _names_beside(ends: Sequence[Spec], top: float, place: Spec) -> list[Spec]:
    """Return the names of the lines and of the budget right of the plot, none on another, with thin lines to them."""
    height = _SIZE[1]
    ordered = sorted(ends, key=lambda end: (-end["share"], end["said"]))
    places = _spread([(1 - end["share"] / top) * height for end in ordered], _LINE, height)
    placed = [end | {"level": short((1 - at / height) * top)} for end, at in zip(ordered, places, strict=True)]
    attacks = [end for end in placed if "attack" in end]
    budget = [end for end in placed if "attack" not in end and "sure" not in end]
    sure = [end for end in placed if "sure" in end]
    beyond: Spec = {"value": "width"}
    lead = {"x": place["x"], "y": place["y"], "x2": beyond, "y2": {"field": "level"}}
    mark = {"type": "text", "align": "left", "baseline": "middle", "dx": 8, "fontSize": 12, "tooltip": None}
    words = {"x": beyond, "y": place["y"] | {"field": "level"}, "text": {"field": "said"}}
    return [
        {
            "data": {"values": attacks},
            "mark": {"type": "rule", "color": "$muted", "strokeWidth": 0.6},
            "encoding": lead,
        },
        {"data": {"values": attacks}, "mark": mark | {"color": "$ink"}, "encoding": words},
        *([{"data": {"values": budget}, "mark": mark | {"color": "$ochre-text"}, "encoding": words}] if budget else []),
        *([{"data": {"values": sure}, "mark": mark | {"color": "$teal"}, "encoding": words}] if sure else []),
    ]


def _spread(wanted: Sequence[float], gap: float, height: float) -> list[float]:
    """Return places near those ``wanted``, in the same order, ``gap`` apart as far as there is room.

    >>> _spread([10.0, 12.0, 90.0], 15.0, 100.0)
    [10.0, 25.0, 90.0]
    >>> _spread([95.0, 99.0], 15.0, 100.0)
    [85.0, 100.0]
    """
    gap = min(gap, height / max(1, len(wanted) - 1)) if len(wanted) > 1 else gap
    places: list[float] = []
    for place in wanted:
        places.append(max(place, places[-1] + gap) if places else place)
    limit = height
    for at in reversed(range(len(places))):
        places[at] = min(places[at], limit)
        limit = places[at] - gap
    return places


def _beyond(rows: Sequence[Spec], limit: float, place: Spec) -> list[Spec]:
    """Return rings about what the best attack finds at each release where it is above the budget."""
    tops: dict[str, Spec] = {}
    for row in rows:
        if row["share"] > tops.get(row["period"], {"share": limit})["share"]:
            tops[row["period"]] = row
    ring = {"type": "point", "shape": "circle", "filled": False, "color": "$persimmon", "size": 260, "strokeWidth": 2}
    where = {name: place[name] for name in ("x", "y")}
    return [{"data": {"values": list(tops.values())}, "mark": ring | {"opacity": 1}, "encoding": where}] if tops else []
