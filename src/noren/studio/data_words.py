"""What is known of a project's data, in sentences: made when the page is shown, from stored facts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from noren.data.formats.text_layout import ENCODINGS
from noren.i18n import _, active_language, ngettext
from noren.judgement.numbers import count, percent
from noren.judgement.page_text import printable
from noren.naming import listing
from noren.studio.work.answers import answer_of

__all__ = [
    "bars_drawn",
    "finding",
    "form_sentence",
    "levels_sentence",
    "months_finding",
    "notices",
    "questions",
    "rows_finding",
    "size",
    "values_sentence",
]

Facts = Mapping[str, Any]
_SHOWN_NAMES = 5


def finding(facts: Facts, profile: Facts) -> str:
    """Return what the data are, as one sentence."""
    missing = facts["missing"]
    gaps = (
        _("no cell is empty")
        if not missing
        else ngettext("{count} cell is empty", "{count} cells are empty", missing).format(count=count(missing))
    )
    if profile["history"]:
        found = profile["history"]
        if found["first"] is None:
            return _("{rows} purchases by {people} customers; {gaps}").format(
                rows=count(facts["rows"]), people=count(found["customers"]), gaps=gaps
            )
        return _("{rows} purchases by {people} customers between {first} and {last}; {gaps}").format(
            rows=count(facts["rows"]),
            people=count(found["customers"]),
            first=found["first"],
            last=found["last"],
            gaps=gaps,
        )
    linking = sum(column["role"] == "quasi" for column in profile["columns"])
    return _("{rows} people in {columns} columns, {linking} of which could link them; {gaps}").format(
        rows=count(facts["rows"]), columns=count(len(profile["columns"])), linking=count(linking), gaps=gaps
    )


def form_sentence(form: Facts, columns: int) -> str:
    """Return how a file is laid out."""
    match form["kind"]:
        case "text":
            delimiters = {",": _("comma"), ";": _("semicolon"), "\t": _("tab"), "|": _("bar")}
            return _("read as {encoding}, {delimiter}-separated, {columns} columns, {header}").format(
                encoding=ENCODINGS.get(form["encoding"], form["encoding"]),
                delimiter=delimiters.get(form["delimiter"], form["delimiter"]),
                columns=count(columns),
                header=_("with a header") if form["header"] else _("no header"),
            )
        case "parquet":
            return _("read as Parquet, {columns} columns").format(columns=count(columns))
        case "excel":
            return _("read as Excel, first sheet, {columns} columns").format(columns=count(columns))
        case "sample":
            return _("Made up by Noren, {columns} columns; it describes nobody").format(columns=count(columns))
        case _:
            return _("The public data set {name}, {columns} columns").format(name=form["name"], columns=count(columns))


def size(number: int) -> str:
    """Return how large a file is, as people say it.

    >>> size(999), size(1_234_567)
    ('999 B', '1.2 MB')
    """
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= scale:
            return f"{number / scale:,.1f} {unit}"
    return f"{number} B"


def questions(facts: Facts) -> list[dict[str, Any]]:
    """Return what the guess could not decide, in the viewer's language, each with its answers and the one given."""
    language, given = active_language(), facts.get("answers", [])
    return [
        {
            "about": one["about"],
            "column": one["column"] or "",
            "text": printable(one["text"][language], 400),
            "stops": one["stops"],
            "answered": answer_of(one, given),
            "answers": [
                {
                    "value": answer["value"],
                    "label": printable(answer["label"][language], 120),
                    "chosen": answer["value"] == one["chosen"],
                }
                for answer in one["answers"]
            ],
        }
        for one in facts.get("questions", [])
    ]


def notices(facts: Facts) -> list[str]:
    """Return what happened on the way that a person should know."""
    told = []
    if facts.get("unreadable"):
        told.append(
            _("Left out, for they hold lists or bytes and no plain values: {names}.").format(
                names=_names(facts["unreadable"])
            )
        )
    left = [name for name in facts.get("left_out", []) if name not in facts.get("unreadable", [])]
    if left:
        told.append(_("Left out, as you said: {names}.").format(names=_names(left)))
    if facts.get("replaced"):
        told.append(
            _("What you gave for {names} does not list all values any more, and was taken out.").format(
                names=_names(facts["replaced"])
            )
        )
    return told


def _names(names: Sequence[str]) -> str:
    return listing([printable(name, 60) for name in names], _SHOWN_NAMES)


def rows_finding(counts: Facts) -> str:
    """Return how much customers buy."""
    if not counts["total"]:
        return _("Nobody bought anything")
    return ngettext(
        "Half of the customers have no more than {median} purchase; the one with most has {most}",
        "Half of the customers have no more than {median} purchases; the one with most has {most}",
        math.ceil(counts["median"]),
    ).format(median=_half(counts["median"]), most=count(counts["maximum"]))


def months_finding(counts: Facts) -> str:
    """Return for how long customers buy."""
    if not counts["total"]:
        return _("Nobody bought anything")
    return ngettext(
        "Half of the customers bought in no more than {median} month; at most in {most}",
        "Half of the customers bought in no more than {median} months; at most in {most}",
        math.ceil(counts["median"]),
    ).format(median=_half(counts["median"]), most=count(counts["maximum"]))


def _half(median: float) -> str:
    return f"{median:,.1f}".removesuffix(".0")


def values_sentence(about: Facts, rows: int) -> str:
    """Return what the values of a column are: from where to where, or the commonest."""
    if about["minimum"] is not None:
        return _("{low} to {high}").format(low=about["minimum"], high=about["maximum"])
    bars = about["bars"]
    if not bars or not rows:
        return _("no values")
    named = len(bars["labels"]) - (1 if bars["others"] else 0)
    if about["distinct"] == rows - about["missing"] and rows > 1:
        return _("every value once, such as {example}").format(example=printable(bars["labels"][0], 40))
    shares = [
        f"{printable(bars['labels'][i], 40)} ({percent(bars['weights'][i] / rows)})" for i in range(min(2, named))
    ]
    return _("mostly {values}").format(values=", ".join(shares))


def levels_sentence(about: Facts) -> str:
    """Return how a hierarchy grows wider, or why there is none."""
    reasons = {
        "too-many": _("no hierarchy: more than {most} different values, so the column is shown or not at all"),
        "name-too-long": _("no hierarchy: the column’s name is too long for a file; rename the column"),
        "no-values": _("no hierarchy: the column holds no values"),
    }
    if about["reason"]:
        return reasons[about["reason"]].format(most=count(50_000))
    steps = " → ".join(count(level["labels"]) for level in about["levels"])
    return ngettext("{count} level: {steps}", "{count} levels: {steps}", len(about["levels"])).format(
        count=len(about["levels"]), steps=steps
    )


def bars_drawn(about: Facts, rows: int, wide: float = 160, high: float = 40) -> list[dict[str, Any]]:
    """Return a column's small histogram as rectangles: place, size, and what each says.

    All other values of a long list are no bar: it would dwarf the rest.

    >>> about = {"bars": {"labels": ["a", "b"], "weights": [4.0, 2.0], "others": False}}
    >>> [(bar["x"], bar["width"], bar["height"]) for bar in bars_drawn(about, 6)]
    [(0.0, 78.0, 40.0), (80.0, 78.0, 20.0)]
    """
    bars = about["bars"]
    weights = (bars["weights"][:-1] if bars["others"] else bars["weights"]) if bars else []
    if not weights:
        return []
    step, top = wide / len(weights), max(weights) or 1.0
    gap = min(2.0, step / 5)
    drawn = []
    for i, (label, weight) in enumerate(zip(bars["labels"], weights, strict=False)):
        height = max(round(weight / top * high, 2), 0.8 if weight else 0.0)
        drawn.append(
            {
                "x": round(i * step, 2),
                "y": round(high - height, 2),
                "width": round(step - gap, 2),
                "height": height,
                "said": _("{label}: {rows} rows ({share})").format(
                    label=printable(label, 60), rows=count(round(weight)), share=percent(weight / rows if rows else 0.0)
                ),
            }
        )
    return drawn
