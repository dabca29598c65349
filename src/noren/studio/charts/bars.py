"""Bars: one for each value or range, and columns before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from noren.i18n import _
from noren.studio.charts.ground import LONGEST_LABEL, LONGEST_NAME, LOW, Spec, bar_labels, distinct, short, themed
from noren.study.findings import percent
from noren.study.histograms import axis_title
from noren.study.page_text import printable

__all__ = ["bars", "counts_bars", "paired_histogram"]

_BAR_OF_NAMES = 22


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
    written: str = ",~r",
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
    written
        How numbers are written (a d3 format).
    """
    shown = distinct([printable(label, LONGEST_LABEL) for label in labels])
    rows: list[Spec] = [
        {"label": label, "series": name, "value": short(height)}
        for name, heights in series.items()
        for label, height in zip(shown, heights, strict=True)
    ]
    place, length, offset = ("y", "x", "yOffset") if nominal else ("x", "y", "xOffset")
    most = top if top is not None else max((row["value"] for row in rows), default=0)
    beside = None if nominal else label_title or None  # names lie below the heading: turned, they would not fit
    names: Spec = {"title": beside, "grid": False, "ticks": False, "labelOverlap": "greedy"}
    names["labelSeparation"] = 6
    names |= {"labelLimit": 150} if nominal else {"labelAngle": 0}
    encoding: Spec = {
        place: {"field": "label", "type": "ordinal", "sort": shown, "axis": names, "scale": {"paddingInner": 0.12}},
        length: {
            "field": "value",
            "type": "quantitative",
            "scale": {"domain": [0, most or 1], "nice": False},
            "axis": {"title": value_title or None, "format": written, "tickCount": 4},
        },
        "tooltip": [
            {"field": "label", "title": label_title or _("value")},
            {"field": "value", "title": value_title or _("number"), "format": ",.4~r"},
        ],
    }
    roles = [f"${colours[i % len(colours)]}" for i in range(len(series))]
    mark: Spec = {"type": "bar", "color": roles[0] if roles else "$indigo"}
    if len(series) > 1:
        encoding[offset] = {"field": "series", "sort": list(series)}
        encoding["color"] = {
            "field": "series",
            "sort": list(series),
            "scale": {"domain": list(series), "range": roles},
            "legend": {"orient": "top", "title": None},
        }
        encoding["tooltip"].insert(0, {"field": "series", "title": _("which")})
    spec: Spec = {"data": {"values": rows}, "mark": mark, "encoding": encoding}
    if nominal and label_title:
        spec["title"] = {"text": title, "subtitle": label_title}
    elif title:
        spec["title"] = title
    height = len(labels) * _BAR_OF_NAMES * max(1, len(series)) + 96 if nominal else LOW
    return themed(spec, height)


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
        few = _("the {shown} most frequent of {all} values").format(shown=shown, all=view["values"])
        title = f"{title} ({few})"
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
        sizes = counts["to"]
        for row, size in zip(spec["data"]["values"], sizes, strict=True):
            row["risky"] = size <= risky
        spec["encoding"]["color"] = {"condition": {"test": "datum.risky", "value": "$persimmon"}, "value": "$indigo"}
    return spec
