"""Bar charts and shaded cross tabulations of columns before and after protection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from noren.drawing.base import LONGEST_NAME, Spec, bar_labels, distinct, few, short
from noren.drawing.histograms import Axis, BarCounts, axis_title
from noren.i18n import _
from noren.judgement.numbers import percent
from noren.judgement.page_text import printable

_BAR_OF_NAMES = 22
_LONGEST_BAR = 18
_PANEL = (280, 150)
_NAMES_PANEL = (280, 200)
_CELL = 18


def bars(
    labels: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    label_title: str = "",
    value_title: str = "",
    colours: Sequence[str] = ("indigo", "teal", "ochre"),
    nominal: bool = False,
    top: float | None = None,
    title: str = "",
    size: tuple[int, int] | None = None,
) -> Spec:
    """Return a bar for each label, or a group of them where there are several series.

    ``series`` are heights by their names in a legend. Bars of ``nominal`` labels lie, so that names can be read.
    ``top`` is how far the axis goes, so that several charts can be compared; ``size`` width and height of a picture.
    """
    displayed = distinct(labels, _LONGEST_BAR)
    beyond = [] if nominal else [label for label in displayed if label[:1] in ("<", "≥")]  # bars of all below or above
    rows: list[Spec] = [
        {"label": label, "series": name, "value": short(height)} | ({"open": True} if label in beyond else {})
        for name, heights in series.items()
        for label, height in zip(displayed, heights, strict=True)
    ]
    place, length, offset = ("y", "x", "yOffset") if nominal else ("x", "y", "xOffset")
    most = top if top is not None else max((row["value"] for row in rows), default=0)
    beside = None if nominal else label_title or None  # names lie below the heading: turned, they would not fit
    names: Spec = {"title": beside, "grid": False, "ticks": size is not None and not nominal}
    names |= {"labelLimit": 150} if nominal else {"labelAngle": 0, "values": few(displayed), "labelOverlap": "greedy"}
    encoding: Spec = {
        place: {"field": "label", "type": "ordinal", "sort": displayed, "axis": names, "scale": {"paddingInner": 0.12}},
        length: {
            "field": "value",
            "type": "quantitative",
            "scale": {"domain": [0, most or 1], "nice": False},
            "axis": {"title": value_title or None, "format": ",~r", "tickCount": 3},
        },
        "tooltip": [
            {"field": "label", "title": label_title or _("value")},
            {"field": "value", "title": value_title or _("number"), "format": ",.4~r"},
        ],
    }
    if beyond:
        # a bar of all that lies beyond is no hump
        encoding["opacity"] = {"condition": {"test": "datum.open", "value": 0.45}, "value": 1}
    roles = [f"${colours[i % len(colours)]}" for i in range(len(series))]
    if len(series) > 1:
        encoding[offset] = {"field": "series", "sort": list(series)}
        encoding["color"] = {
            "field": "series",
            "sort": list(series),
            "scale": {"domain": list(series), "range": roles},
            "legend": {"orient": "top", "title": None},
        }
        encoding["tooltip"].insert(0, {"field": "series", "title": _("which")})
    mark = {"type": "bar", "color": roles[0] if roles else "$indigo"}
    high = len(labels) * _BAR_OF_NAMES * max(1, len(series)) + 96 if nominal else 200
    width, height = size or (_PANEL[0], high)
    spec: Spec = {"data": {"values": rows}, "mark": mark, "encoding": encoding, "width": width, "height": height}
    spec["autosize"] = {"type": "fit", "contains": "padding"}
    if nominal and label_title:
        spec["title"] = {"text": title, "subtitle": label_title}
    elif title:
        spec["title"] = title
    return spec


def histogram(axis: Axis, values: BarCounts, *, top: float, released: bool) -> Spec:
    """Return one panel: rows per bar, up to ``top``; the original in indigo, a release in teal."""
    return bars(
        axis.labels[: axis.displayed],
        {"rows": values.weights[: axis.displayed].tolist()},
        label_title="" if axis.nominal else printable(axis.title, 60),
        colours=("teal" if released else "indigo",),
        nominal=axis.nominal,
        top=top,
        size=_NAMES_PANEL if axis.nominal else _PANEL,
    )


def paired_histogram(view: Mapping[str, Any]) -> Spec:
    """Return a column before and after (an entry of ``histograms``): panels with the same axes, the original first.

    Suppressed rows are in no bar; the panel's title gives their share.
    """
    count = len(view["labels"]) - bool(view.get("others"))  # the rest would dwarf every value that has a name
    labels = bar_labels(view, view["labels"])[:count]
    kinds = [("original", _("original"), "indigo"), ("released", _("released"), "teal")]
    if view.get("reconstructed") is not None:
        kinds.append(("reconstructed", _("reconstructed"), "ochre"))
    top = max((height for kind, _name, _colour in kinds for height in view[kind][:count]), default=0.0)
    title = axis_title(printable(str(view["column"]), LONGEST_NAME), view["unit"], view["width"])
    if view.get("others"):
        most = _("the {count} most frequent of {all} values").format(count=count, all=view["values"])
        title = f"{title} ({most})"
    panels = []
    for kind, name, colour in kinds:
        if kind == "released" and view.get("unsaid"):
            name = _("released ({share} of the rows suppressed)").format(share=percent(view["unsaid"]))
        panels.append(
            bars(
                labels,
                {name: view[kind][:count]},
                label_title=title,
                value_title=_("rows"),
                colours=(colour,),
                nominal=view["nominal"],
                top=top,
                title=name,
            )
        )
    return {"panels": panels}


def counts_bars(
    counts: Mapping[str, Any], *, label_title: str, value_title: str, heights: str = "counts", risky: int | None = None
) -> Spec:
    """Return how often each size occurs (COUNTS): rows per customer, sizes of classes.

    ``heights`` are ``counts``, or ``members`` where class sizes have them. Bars up to the size ``risky`` are persimmon:
    people in such small classes can be found.
    """
    spec = bars(counts["labels"], {value_title: counts[heights]}, label_title=label_title, value_title=value_title)
    if risky is not None:
        for row, size in zip(spec["data"]["values"], counts["to"], strict=True):
            row["risky"] = size <= risky
        spec["encoding"]["color"] = {"condition": {"test": "datum.risky", "value": "$persimmon"}, "value": "$indigo"}
    return spec


# --- cross tabulations -----------------------------------------------------------------------------------------------


def crosstab_panels(pair: Mapping[str, Any]) -> Spec:
    """Return a cross tabulation before and after as shaded tables on one scale, and what changed.

    The difference is the release's table (the reconstructed one where there is one) less the original's: teal and ``+``
    where there are more rows now, indigo and ``−`` where there are fewer.
    """
    names = {"original": _("original"), "released": _("released"), "reconstructed": _("reconstructed")}
    tables = {kind: pair[kind] for kind in names if pair.get(kind) is not None}
    rest = [bool(pair[axis].get("others")) for axis in ("axis_a", "axis_b")]
    top = max((value for table in tables.values() for value in _named(table, *rest)), default=0.0) or 1.0
    labels = [bar_labels(pair[f"axis_{name}"], pair[f"labels_{name}"]) for name in "ab"]
    titles = [
        axis_title(printable(str(pair[name]), LONGEST_NAME), axis["unit"], axis["width"])
        for name, axis in (("a", pair["axis_a"]), ("b", pair["axis_b"]))
    ]
    most = darkest(top, more=any(rest))
    panels = [
        shaded(labels, titles, table, f"{names[kind]} ({most})" if kind == "original" else names[kind], [0, top])
        for kind, table in tables.items()
    ]
    after = tables.get("reconstructed", tables["released"])
    changed = [[b - a for a, b in zip(*rows, strict=True)] for rows in zip(tables["original"], after, strict=True)]
    far = max((abs(value) for value in _named(changed, *rest)), default=0.0) or 1.0
    panels.append(shaded(labels, titles, changed, _("change: + more rows, − fewer"), [-far, 0, far]))
    room = {"height": 16 * len(labels[0]) + 160}  # on a page labels and titles are within it
    return {"panels": [panel | room for panel in panels]}


def _named(table: Sequence[Sequence[float]], rest_a: bool, rest_b: bool) -> list[float]:
    """Return the cells of values that have names; “all other values” together would make the others pale.

    >>> _named([[1, 2], [3, 40]], False, True)
    [1, 3]
    """
    rows = table[: len(table) - rest_a]
    return [value for row in rows for value in row[: len(row) - rest_b]]


def darkest(top: float, *, more: bool = False) -> str:
    """Return the number of rows of the darkest cells, or of the least dark of them."""
    count = f"{top:,.0f}" if top >= 10 else f"{top:,.1f}"
    return _("darkest: {count} rows").format(count=f"≥ {count}" if more else count)


def shaded(
    labels: Sequence[Sequence[str]],
    titles: Sequence[str],
    table: Sequence[Sequence[float]],
    title: str,
    domain: list[float],
    *,
    root: bool = False,
) -> Spec:
    """Return a table whose cells are shaded from ``domain``'s one end to the other; changes have three ends.

    With ``root`` the shade goes by the square root: a table of people has few large cells and many small ones.
    """
    down, across = labels
    signed = len(domain) == 3
    rows: list[Spec] = [
        {"a": a, "b": b, "value": short(value)}
        for a, line in zip(down, table, strict=True)
        for b, value in zip(across, line, strict=True)
    ]
    if signed:  # a mark for a large change, so that it does not depend on colour
        for row, value in zip(rows, (value for line in table for value in line), strict=True):
            row["sign"] = "" if abs(value) < domain[2] / 5 else "+" if value > 0 else "−"
    quiet: Spec = {"grid": False, "ticks": False, "domain": False, "labelOverlap": "greedy", "labelLimit": 90}
    turned = quiet | {"title": titles[1], "labelAngle": -45}
    encoding: Spec = {
        "y": {"field": "a", "type": "ordinal", "sort": list(down), "axis": quiet | {"title": titles[0]}},
        "x": {"field": "b", "type": "ordinal", "sort": list(across), "axis": turned},
        "tooltip": [
            {"field": "a", "title": titles[0]},
            {"field": "b", "title": titles[1]},
            {"field": "value", "title": _("rows"), "format": "+,.4~r" if signed else ",.4~r"},
        ],
    }
    colours = ["$indigo", "$card", "$teal"] if signed else ["$card", "$indigo"]
    scale: Spec = {"domain": domain, "range": colours, "interpolate": "rgb", "clamp": True}
    shade = {
        "field": "value",
        "type": "quantitative",
        "scale": scale | ({"type": "sqrt"} if root else {}),
        "legend": None,
    }
    layers: list[Spec] = [{"mark": {"type": "rect", "stroke": "$line"}, "encoding": {"color": shade}}]
    if signed:
        legible = {"condition": {"test": f"abs(datum.value) > {domain[2] / 2!r}", "value": "$card"}, "value": "$ink"}
        layers.append(
            {
                "transform": [{"filter": "datum.sign !== ''"}],
                "mark": {"type": "text", "fontSize": 11, "tooltip": None},
                "encoding": {"text": {"field": "sign"}, "color": legible},
            }
        )
    size = {"width": _CELL * len(across), "height": _CELL * len(down)}
    return {"data": {"values": rows}, "encoding": encoding, "layer": layers, "title": title} | size
