"""What all charts share: the size, the bound on marks, labels and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from noren.errors import ParameterError
from noren.i18n import _
from noren.study.page_text import printable

__all__ = [
    "HIGH",
    "LONGEST_LABEL",
    "LONGEST_NAME",
    "LOW",
    "MOST_MARKS",
    "Spec",
    "bar_labels",
    "distinct",
    "mark_count",
    "scaled",
    "short",
    "themed",
]

Spec = dict[str, Any]
"""A Vega-Lite chart, or ``{"panels": [chart, …]}``."""

MOST_MARKS: Final = 5_000
LONGEST_LABEL: Final = 24
LONGEST_NAME: Final = 28
HIGH, LOW = 320, 200
_NOTHING_SEEN = "\u200b"


def themed(spec: Mapping[str, Any], height: int = LOW) -> Spec:
    """Return a chart as wide as the place it stands in; colours, fonts and lines come from the page's theme.

    >>> themed({"mark": "bar"})["width"]
    'container'
    """
    ground = {"autosize": {"type": "fit", "contains": "padding", "resize": True}, "width": "container"}
    made = ground | {"height": height} | dict(spec)
    if mark_count(made) > MOST_MARKS:
        raise ParameterError(
            _("a chart of {count:,} marks is too much for a page").format(count=mark_count(made)),
            _("aggregate it to {most:,} or fewer").format(most=MOST_MARKS),
        )
    return made


def mark_count(spec: Mapping[str, Any]) -> int:
    """Return how many marks a chart draws at most: its rows, for each of its layers.

    >>> mark_count({"data": {"values": [1, 2]}, "layer": [{"mark": "bar"}, {"mark": "text", "data": {"values": [1]}}]})
    3
    """

    def within(part: Mapping[str, Any], rows: int) -> int:
        rows = len(part["data"]["values"]) if "data" in part else rows
        inner = [p for key in ("panels", "layer", "hconcat", "vconcat") for p in part.get(key, ())]
        return sum(within(p, rows) for p in inner) if inner else rows

    return within(spec, 0)


def bar_labels(axis: Mapping[str, Any], labels: Sequence[str]) -> list[str]:
    """Return what bars stand for; the last of a column with many values has no name of its own."""
    said = [printable(str(label), LONGEST_LABEL) for label in labels]
    if axis.get("others") and said:
        said[-1] = _("all other values")
    return distinct(said)


def distinct(labels: Sequence[str]) -> list[str]:
    """Return the labels, so that no two are the same to a program; a person sees no difference.

    >>> [len(label) for label in distinct(["a", "b", "a"])]
    [1, 1, 2]
    """
    seen: dict[str, int] = {}
    answer = []
    for label in labels:
        seen[label] = seen.get(label, -1) + 1
        answer.append(label + _NOTHING_SEEN * seen[label])
    return answer


def short(value: float) -> float:
    """Return a number without digits nobody sees."""
    return float(f"{value:.6g}")


def scaled(name: str, title: str, domain: list[float], written: str) -> Spec:
    """Return the channel of a number between two ends."""
    axis = {"title": title, "format": written, "tickCount": 6}
    return {"field": name, "type": "quantitative", "scale": {"domain": domain, "nice": False}, "axis": axis}
