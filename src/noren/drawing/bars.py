"""Bars: one for each value or range, and columns before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from noren.drawing.ground import LONGEST_NAME, Spec, bar_labels, distinct, few, short
from noren.drawing.histograms import Axis, Spread, axis_title
from noren.i18n import _
from noren.judgement.numbers import percent
from noren.judgement.page_text import printable

__all__ = ["bars", "counts_bars", "histogram", "paired_histogram"]

_BAR_OF_NAMES = 22
_LONGEST_BAR = 18
_PANEL = (280, 150)
_NAMES_PANEL = (280, 200)


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

    Parameters
    ----------
    series
        Heights by the name of the series, as a legend shows it.
    nominal
        Whether labels are names; their bars lie, so that the names can be read.
    top
        How far the axis goes, so that several charts can be held against each other.
    size
        Width and height of a picture; on a page a chart is as wide as its place.
    """
    shown = distinct(labels, _LONGEST_BAR)
    rows: list[Spec] = [
        {"label": label, "series": name, "value": short(height)}
        | ({"open": True} if not nominal and _is_open(label) else {})
        for name, heights in series.items()
        for label, height in zip(shown, heights, strict=True)
    ]
    place, length, offset = ("y", "x", "yOffset") if nominal else ("x", "y", "xOffset")
    most = top if top is not None else max((row["value"] for row in rows), default=0)
    beside = None if nominal else label_title or None  # names lie below the heading: turned, they would not fit
    names: Spec = {"title": beside, "grid": False, "ticks": size is not None and not nominal}
    names |= {"labelLimit": 150} if nominal else {"labelAngle": 0, "values": few(shown), "labelOverlap": "greedy"}
    encoding: Spec = {
        place: {"field": "label", "type": "ordinal", "sort": shown, "axis": names, "scale": {"paddingInner": 0.12}},
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
    if not nominal and any(_is_open(label) for label in shown):
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


def _is_open(label: str) -> bool:
    """Tell whether a bar holds everything below or above, as its label says."""
    return label[:1] in ("<", "≥")


def histogram(axis: Axis, values: Spread, *, top: float, released: bool) -> Spec:
    """Return one panel: rows per bar, up to ``top``; the original in indigo, a release in teal."""
    return bars(
        axis.labels[: axis.shown],
        {"rows": values.weights[: axis.shown].tolist()},
        label_title="" if axis.nominal else printable(axis.title, 60),
        colours=("teal" if released else "indigo",),
        nominal=axis.nominal,
        top=top,
        size=_NAMES_PANEL if axis.nominal else _PANEL,
    )


def paired_histogram(view: Mapping[str, Any]) -> Spec:
    """Return a column before and after (an entry of ``histograms``): panels with the same axes, the original first.

    What the release does not say is in no bar; the panel's title tells its share.
    """
    shown = len(view["labels"]) - bool(view.get("others"))  # the rest would dwarf every value that has a name
    labels = bar_labels(view, view["labels"])[:shown]
    kinds = [("original", _("original"), "indigo"), ("released", _("released"), "teal")]
    if view.get("reconstructed") is not None:
        kinds.append(("reconstructed", _("reconstructed from the release"), "ochre"))
    top = max((height for kind, _name, _colour in kinds for height in view[kind][:shown]), default=0.0)
    title = axis_title(printable(str(view["column"]), LONGEST_NAME), view["unit"], view["width"])
    if view.get("others"):
        most = _("the {shown} most frequent of {all} values").format(shown=shown, all=view["values"])
        title = f"{title} ({most})"
    panels = []
    for kind, name, colour in kinds:
        if kind == "released" and view.get("unsaid"):
            name = _("released ({share} of the rows not said)").format(share=percent(view["unsaid"]))
        panels.append(
            bars(
                labels,
                {name: view[kind][:shown]},
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

    Parameters
    ----------
    heights
        Which numbers to draw: ``counts``, or ``members`` where class sizes have them.
    risky
        Bars up to this size are persimmon: who is alone in a class can be found.
    """
    spec = bars(counts["labels"], {value_title: counts[heights]}, label_title=label_title, value_title=value_title)
    if risky is not None:
        for row, size in zip(spec["data"]["values"], counts["to"], strict=True):
            row["risky"] = size <= risky
        spec["encoding"]["color"] = {"condition": {"test": "datum.risky", "value": "$persimmon"}, "value": "$indigo"}
    return spec
