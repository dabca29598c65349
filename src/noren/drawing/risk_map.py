"""The risk–utility map: risk and utility of releases, and the Pareto frontier."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from noren.drawing.base import LETTER, Spec, layer, look_channels, scaled, text_width
from noren.i18n import _
from noren.judgement.frontier import RiskUtilityPoint, frontier
from noren.judgement.numbers import percent
from noren.judgement.page_text import printable
from noren.judgement.sentences import verdict_name
from noren.judgement.verdict import VerdictStatus
from noren.measures import place_of_measure
from noren.tables import table_of

_LONGEST_POINT = 32
_MARKS: dict[str, list[str]] = table_of(__name__)["marks"]
"""The shape and the colour of each verdict's marks."""
_SHAPES: list[str] = table_of(__name__)["shapes"]
"""Hexagon, plus, star, triangle down, hourglass, triangle right, cross, triangle left."""


# --- titles ------------------------------------------------------------------------------------------------


def risk_title(places: Sequence[RiskUtilityPoint]) -> str:
    """Return the title of the risk of points, by their ``risk_of``.

    >>> tried, proved, counted = (RiskUtilityPoint(label="a", risk_of=of) for of in ("attacks", "guarantee", "classes"))
    >>> risk_title([tried]), risk_title([proved, counted])
    ('customers re-identified', 'highest risk of re-identification')
    """
    attacks, classes = _("customers re-identified"), _("chance to find the most exposed person")
    proof = _("chance to find a person, at most")
    known = {"attacks": attacks, "classes": classes, "guarantee": proof}
    titles = {known[kind] for kind in {place.risk_of for place in places} if kind in known}
    return titles.pop() if len(titles) == 1 else _("highest risk of re-identification")


def use_title(places: Sequence[RiskUtilityPoint]) -> str:
    """Return the title of the utility of points, by their ``use_of``.

    >>> use_title([RiskUtilityPoint(label="a", use_of="cell-error")]), use_title([])
    ('utility kept, 1 − U', 'utility kept')
    """
    axes = [place_of_measure(name) for name in {place.use_of for place in places}]
    titles = {_(axis.title) for axis in axes if axis is not None}
    return titles.pop() if len(titles) == 1 else _("utility kept")


# --- the chart ---------------------------------------------------------------------------------------------


def risk_utility_map(
    places: Sequence[RiskUtilityPoint],
    *,
    texts: Sequence[str] | None = None,
    size: tuple[int, int] = (640, 340),
    titles: tuple[str, str] | None = None,
    lines: Sequence[Sequence[int]] | None = None,
    near: bool = False,
    taken: Collection[int] = (),
    addresses: Sequence[str] = (),
    methods: Sequence[str] = (),
    allowed: float | None = None,
) -> Spec:
    """Return the map: right is more useful, down is safer; a step line joins the releases that no other beats.

    Parameters
    ----------
    places
        Releases whose utility and risk are known; the shape of a mark shows the verdict.
    texts
        Texts next to the marks; by default their labels.
    titles
        Titles of utility and risk; by default from their measures.
    lines
        The points that step lines join, by growing utility; by default those of the frontier, per measure of utility.
    near
        Whether to show only the part of the map where the points are.
    taken
        The points with a ring: the recommended ones.
    methods
        The method of each point; if set, the shape of a mark shows it, and points that break the rule are hollow.
    allowed
        The risk that a rule allows, drawn as a line.
    """
    risks = [p.risk or 0.0 for p in places] + ([] if allowed is None else [allowed])
    high = max(risks, default=1.0)
    ceiling = 1.0 if high > 0.5 else max(0.05, high * 1.25)
    up = -0.06 * ceiling, 1.04 * ceiling  # with room below for marks of no risk at all
    across = _across([p.use or 0.0 for p in places], near=near)
    use_name, risk_name = titles or (use_title(places), risk_title(places))
    channels = {
        "x": scaled("use", _("{use} (right is more useful)").format(use=use_name), across, ".2~f" if near else ".1f"),
        "y": scaled("risk", _("{risk} (down is safer)").format(risk=risk_name), up, ".0%"),
    }
    rows: list[Spec] = [
        {
            "use": float(place.use or 0.0),
            "risk": float(place.risk or 0.0),
            "label": printable(place.label, 80),
            "verdict": verdict_name(place.status),
        }
        for place in places
    ]
    for row, address in zip(rows, addresses, strict=False):
        row |= {"address": address} if address else {}
    joined = lines_of(places, frontier(places)) if lines is None else lines
    # at least so much utility has the risk of the next release to the right, so the line rises first
    step = {"type": "line", "interpolate": "step-before", "color": "$muted", "strokeDash": [5, 3], "strokeWidth": 1.5}
    layers = [layer([rows[i] for i in best], step, channels) for best in joined]
    tooltip = [
        {"field": "label", "title": _("release")},
        {"field": "use", "title": _("utility kept"), "format": ".3f"},
        {"field": "risk", "title": risk_name, "format": ".1%"},
    ]
    shape, colour = look_channels(
        "verdict", {verdict_name(VerdictStatus(word)): look for word, look in _MARKS.items()}, 2, None
    )
    if methods:
        shapes = {method: [path] for method, path in method_shapes(methods).items()}
        (shape,) = look_channels("method", shapes, 1, None)
    encoding: Spec = {"shape": shape, "color": colour}
    encoding["tooltip"] = [*tooltip, {"field": "verdict", "title": _("verdict")}]
    if addresses:
        encoding["href"] = {"field": "address"}
    if methods:
        rows = [row | {"method": method} for row, method in zip(rows, methods, strict=True)]
    mark: Spec = {"type": "point", "filled": True, "size": 110, "opacity": 1}
    marks = [] if methods else [layer(rows, mark, channels | encoding)]
    for safe in (False, True) if methods else ():  # points that break the rule are hollow, where shapes do not show it
        some = [row for row, place in zip(rows, places, strict=True) if place.status.is_safe == safe]
        look = mark if safe else mark | {"filled": False, "strokeWidth": 2}
        marks += [layer(some, look, channels | encoding)] if some else []
    wide, high = across[1] - across[0], up[1] - up[0]
    spots = [((row["use"] - across[0]) / wide * size[0], (up[1] - row["risk"]) / high * size[1]) for row in rows]
    short_texts = [printable(text, _LONGEST_POINT) for text in texts or [place.label for place in places]]
    labels = place_labels(spots, short_texts, size, [spots[i] for best in joined for i in best])
    leads, label_layers = _label_layers(rows, spots, short_texts, labels, channels)
    if allowed is not None:  # a level line, and what it is
        limit = [{"risk": allowed, "text": _("allowed: {risk}").format(risk=percent(allowed))}]
        level = {"y": channels["y"]}
        rule = {"type": "rule", "color": "$persimmon", "strokeDash": [2, 3], "strokeWidth": 1.5}
        text = {"type": "text", "align": "right", "baseline": "bottom", "dx": -4, "dy": -3}
        beside = level | {"x": {"value": "width"}, "text": {"field": "text"}}
        layers += [layer(limit, rule, level), layer(limit, text | {"fontSize": 12, "color": "$ink"}, beside)]
    layers += [*leads, *marks, *label_layers]
    if taken:
        ring = {"type": "point", "shape": "circle", "filled": False, "color": "$indigo", "strokeWidth": 2, "opacity": 1}
        layers.append(layer([rows[i] for i in taken], ring | {"size": 420}, channels))
    return {"layer": layers, "width": size[0], "height": size[1]}


def method_shapes(methods: Sequence[str]) -> dict[str, str]:
    """Return the shape of each method's marks, as a path between -1 and 1; none is the mark of a verdict."""
    return {method: _SHAPES[i % len(_SHAPES)] for i, method in enumerate(dict.fromkeys(methods))}


def lines_of(places: Sequence[RiskUtilityPoint], best: Sequence[int]) -> list[list[int]]:
    """Return points in lines, one for each measure of utility."""
    lines: dict[str | None, list[int]] = {}
    for i in best:
        lines.setdefault(places[i].use_of, []).append(i)
    return list(lines.values())


def _label_layers(
    rows: Sequence[Spec], spots: Sequence[Spot], texts: Sequence[str], labels: Sequence[Label | None], channels: Spec
) -> tuple[list[Spec], list[Spec]]:
    """Return thin lines to distant labels, and the labels, each at a fixed distance in pixels from its point."""
    leads: dict[float, list[Spec]] = {}
    hanging: dict[tuple[str, str, float, float], list[Spec]] = {}
    for row, (x, y), text, label in zip(rows, spots, texts, labels, strict=True):
        if label is None:
            continue
        if label.far:
            leads.setdefault(round(label.near[1] - y, 2), []).append(row)
        # how it hangs on its point: its alignment, and how far it is moved
        middle, wide = label.top + LETTER[1] / 2, text_width(text)
        level = abs(middle - y) < 1
        baseline, dy = ("middle", 0.0) if level else ("bottom" if middle < y else "top", round(label.near[1] - y, 2))
        align, dx = "right", round(label.left + wide - x, 2)
        if abs(label.left + wide / 2 - x) < 1:
            align, dx = "center", 0.0
        elif label.left > x:
            align, dx = "left", round(label.left - x, 2)
        hanging.setdefault((align, baseline, dx, dy), []).append(row | {"short": text})
    drawn = [
        layer(some, {"type": "rule", "color": "$muted", "y2Offset": far}, channels | {"y2": {"field": "risk"}})
        for far, some in leads.items()
    ]
    label_layers = []
    for (align, baseline, dx, dy), some in hanging.items():
        mark = {"type": "text", "align": align, "baseline": baseline, "dx": dx, "dy": dy, "fontSize": 12}
        named = channels | {"text": {"field": "short"}}
        # a rim keeps a label legible where it must cross a line
        rim = {"color": "$card", "stroke": "$card", "strokeWidth": 4}
        label_layers += [layer(some, mark | {"tooltip": None} | look, named) for look in (rim, {"color": "$ink"})]
    return drawn, label_layers


def _across(uses: Sequence[float], *, near: bool) -> tuple[float, float]:
    """Return the ends of the axis of utility: all of it, or with room around the points, a fifth wide at least.

    >>> _across([0.5, 0.7], near=False), tuple(round(end, 3) for end in _across([0.5, 0.7], near=True))
    ((-0.03, 1.04), (0.46, 0.76))
    """
    if not uses:
        return 0.0, 1.0
    if not near:
        low = min(0.0, *uses)
        return low - 0.03 * (1 - low), 1 + 0.04 * (1 - low)
    spare = max(0.2 - (max(uses) - min(uses)), 0.0) / 2
    low, high = min(uses) - spare, max(uses) + spare
    return low - 0.2 * (high - low), max(min(high + 0.3 * (high - low), 1.04), high + 0.06 * (high - low))


# --- placing labels next to their points, without overlap -------------------------------------------------------------


Spot = tuple[float, float]
"""A position in pixels from the top left corner of the plot."""
Box = tuple[float, float, float, float]

_POINT = 7.0
_GAP = 4.0


@dataclass(frozen=True)
class Label:
    """The top left corner of a label, and its place next to the point; ``far`` ones need a line to their point."""

    left: float
    top: float
    near: Spot
    far: bool


def place_labels(
    spots: Sequence[Spot], texts: Sequence[str], size: tuple[float, float], steps: Sequence[Spot] = ()
) -> list[Label | None]:
    """Place a label at each of ``spots``: inside the plot, on no other label, no point and not on the step line.

    A label that fits nowhere near its point is left out; its text must also be elsewhere.

    >>> place_labels([(50.0, 50.0)], ["k = 3"], (200, 100))
    [Label(left=61.0, top=42.5, near=(61.0, 50.0), far=False)]
    """
    points = [(x - _POINT, y - _POINT, x + _POINT, y + _POINT) for x, y in spots]
    lines: list[Box] = []  # the upright and the level piece between each two points of a line that rises first
    for (x0, y0), (x1, y1) in pairwise(steps):
        lines += [(x0 - 2, min(y0, y1), x0 + 2, max(y0, y1)), (min(x0, x1), y1 - 2, max(x0, x1), y1 + 2)]
    placed: list[Box] = []
    answer: list[Label | None] = []
    for own, ((x, y), text) in enumerate(zip(spots, texts, strict=True)):
        wide, (tall, beside) = text_width(text), (LETTER[1], _POINT + _GAP)
        candidates = [
            Label(x + beside, y - tall / 2, (x + beside, y), far=False),
            Label(x - beside - wide, y - tall / 2, (x - beside, y), far=False),
        ]
        for step in range(4):
            away = beside + step * (tall + 1)
            for left in (x - wide / 2, x + _GAP, x - _GAP - wide):
                candidates += [
                    Label(left, y - away - tall, (x, y - away), far=step > 0),
                    Label(left, y + away, (x, y + away), far=step > 0),
                ]
        others = [*placed, *points[:own], *points[own + 1 :]]
        boxed = [(c, (c.left, c.top, c.left + wide, c.top + tall)) for c in candidates]
        fitting = [(c, b) for c, b in boxed if b[0] >= 0 and b[1] >= 0 and b[2] <= size[0] and b[3] <= size[1]]
        free = [(c, b) for c, b in fitting if not _meets(b, others)]
        # a label on the line is still legible, one on a label is not
        best = next(((c, b) for c, b in free if not _meets(b, lines)), free[0] if free else None)
        answer.append(best[0] if best else None)
        placed += [best[1]] if best else []
    return answer


def _meets(box: Box, others: Sequence[Box]) -> bool:
    return any(box[0] - _GAP < o[2] and box[2] + _GAP > o[0] and box[1] < o[3] and box[3] > o[1] for o in others)
