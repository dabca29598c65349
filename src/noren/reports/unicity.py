"""Tables and charts of unicity for reports and pages, from a bounded sample of customers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from noren.data.frames import History, Records
from noren.data.release import Release
from noren.drawing.base import LONGEST_NAME, Spec, distinct, look_channels, picture, scaled, short
from noren.errors import InputError
from noren.i18n import _
from noren.inference.unicity import Curve, UnicityStep, unicity
from noren.judgement.numbers import count, number, percent
from noren.judgement.sentences import left_in_release, singled_out, step_range

_SAMPLE = 1_000
_KNOWN = "1-10"
PageTable = tuple[list[str], list[list[str]]]
"""Headings, and rows of cells."""


def unicity_facts(records: Records, release: Release | None = None) -> dict[str, Any] | None:
    """Return the curve of a sample as plain data; None if it does not apply, as to a table or a single customer."""
    if not isinstance(records, History):
        return None
    try:
        return unicity(records, release, known=_KNOWN, sample=_SAMPLE).as_dict()
    except InputError:
        return None


def unicity_part(original: Records, release: Release) -> dict[str, Any] | None:
    """Return the unicity section of a report: sentences, the chart and its tables; None if it does not apply."""
    facts = unicity_facts(original, release)
    if facts is None:
        return None
    before, after = facts["curve"], facts["release"]
    known = _headline(before).known
    left = [left_in_release(UnicityStep(**step)) for step in after if step["known"] == known]
    return {
        "sentences": [singled_out_caption(facts), *left],
        "chart": picture(unicity_lines(before, {_("Release"): after})),
        "tables": [unicity_table(before), release_table(after)],
    }


def singled_out_caption(facts: Mapping[str, Any]) -> str:
    """Return the main finding of a curve as a sentence."""
    return singled_out(_headline(facts["curve"]), facts["sampled"])


def unicity_table(curve: Sequence[Mapping[str, Any]]) -> PageTable:
    """Return a curve as a table: its headings, and its rows."""
    headings = [_("Known purchases"), _("Customers"), _("Customers singled out"), "95 %", _("Candidates")]
    rows = [
        [
            str(step["known"]),
            count(step["tried"]),
            percent(step["unique"]),
            step_range(step["low"], step["high"]),
            number(step["candidates"]),
        ]
        for step in curve
    ]
    return headings, rows


def release_table(curve: Sequence[Mapping[str, Any]]) -> PageTable:
    """Return the curve of a release as a table; cells that need the secret part are empty without it."""
    headings = [_("Known purchases"), _("One pseudonym left"), "95 %", _("Right"), _("None left")]
    rows = []
    for step in curve:
        right, forgiving = ("–" if step.get(key) is None else percent(step[key]) for key in ("right", "forgiving"))
        rows.append(
            [
                str(step["known"]),
                percent(step["unique"]),
                step_range(step["low"], step["high"]),
                right,
                percent(step["none"]),
                forgiving,
                step_range(step.get("forgiving_low"), step.get("forgiving_high")),
            ]
        )
    return [*headings, _("Right despite mismatches"), "95 %"], rows


def _headline(curve: Sequence[Mapping[str, Any]]) -> UnicityStep:
    return Curve(tuple(UnicityStep(**step) for step in curve), among=0).headline()


# --- the chart: a line with its interval for the original, and for a release ------------------------------------------


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
    """Return the chart of steps as :meth:`noren.inference.unicity.UnicityStep.as_dict` writes them.

    The line of a release is the share of customers who are found correctly although some purchases do not match, if
    that is known: more knowledge never lowers it. Otherwise it is the share left with one pseudonym.
    """
    keys_unique = ("unique", "low", "high")
    lines = {_("Original"): (original, keys_unique)}
    for label, steps in (releases or {}).items():
        meaning, keys = _("One pseudonym left"), keys_unique
        if all("forgiving" in step for step in steps):
            meaning, keys = _("Right despite mismatches"), ("forgiving", "forgiving_low", "forgiving_high")
        lines[f"{label}: {meaning}"] = steps, keys
    names = distinct(list(lines), LONGEST_NAME + 16)
    rows = [
        {"known": step["known"]}
        | {name: short(step[key]) for name, key in zip(("share", "low", "high"), keys, strict=True)}
        | {"tried": step["tried"], "line": line}
        for line, (steps, keys) in zip(names, lines.values(), strict=True)
        for step in steps
    ]
    most = max((row["known"] for row in rows), default=1)
    numbers = sorted({row["known"] for row in rows})
    key: Spec | None = {"orient": "top", "title": None, "labelLimit": 260} if len(names) > 1 else None
    by_line = look_channels("line", {name: _LOOKS[i % len(_LOOKS)] for i, name in enumerate(names)}, 3, key)
    place: Spec = {
        "x": {
            "field": "known",
            "type": "quantitative",
            "scale": {"domain": [min(numbers, default=1), max(most, 2)], "nice": False, "zero": False, "padding": 8},
            "axis": {
                "title": _("Known purchases"),
                "format": "d",
                "grid": False,
                "values": numbers if len(numbers) <= _MOST_TICKS else numbers[:: -(-len(numbers) // _MOST_TICKS)],
                "labelOverlap": "greedy",
            },
        },
        "y": scaled("share", _("Customers singled out"), [0.0, 1.0], ".0~%"),
        "color": by_line[0],
    }
    tooltip = [
        {"field": "line", "title": _("Data")},
        {"field": "known", "title": _("Known purchases")},
        {"field": "share", "title": _("Customers singled out"), "format": ".2%"},
        {"field": "low", "title": _("Lower bound"), "format": ".2%"},
        {"field": "high", "title": _("Upper bound"), "format": ".2%"},
        {"field": "tried", "title": _("Customers")},
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
