"""Cross tabulations as shaded tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from noren.drawing.ground import LONGEST_NAME, Spec, bar_labels, short
from noren.drawing.histograms import axis_title
from noren.i18n import _
from noren.judgement.page_text import printable

__all__ = ["crosstab_panels", "darkest", "shaded"]

_CELL = 18


def crosstab_panels(pair: Mapping[str, Any], *, difference: bool = True) -> Spec:
    """Return a cross tabulation before and after as shaded tables on one scale, and what changed.

    The difference is the release's table (the reconstructed one where there is one) less the original's: teal and ``+``
    where there are more rows now, indigo and ``−`` where there are fewer.
    """
    names = {
        "original": _("original"),
        "released": _("released"),
        "reconstructed": _("reconstructed from the release"),
    }
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
    if difference:
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
    """Return what the darkest cells of a scale stand for."""
    said = _("darkest: {count} rows or more") if more else _("darkest: {count} rows")
    return said.format(count=f"{top:,.0f}" if top >= 10 else f"{top:,.1f}")


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
    rows = [
        {"a": a, "b": b, "value": short(value)} | ({"sign": _sign(value, domain[2])} if signed else {})
        for a, line in zip(down, table, strict=True)
        for b, value in zip(across, line, strict=True)
    ]
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


def _sign(value: float, far: float) -> str:
    """Return a mark for a change worth looking at, so that colour is not its only carrier."""
    return "" if abs(value) < far / 5 else "+" if value > 0 else "−"
