"""What is known of a project's data, in sentences: made when the page is shown, from stored facts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from noren.data.formats.text_layout import ENCODINGS
from noren.i18n import active_language
from noren.judgement.numbers import count, percent
from noren.judgement.page_text import printable
from noren.naming import listing
from noren.studio.work.answers import answer_of
from noren.tables import Texts

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
say = Texts(__name__)
_SHOWN_NAMES = 5
_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}


def finding(facts: Facts, profile: Facts) -> str:
    """Return what the data are, as one sentence."""
    rows, missing, history = count(facts["rows"]), facts["missing"], profile["history"]
    gaps = say("gaps.none") if not missing else say("gaps.some", missing, count=count(missing))
    if history:
        name = "finding.purchases" if history["first"] is None else "finding.dated"
        people = count(history["customers"])
        return say(name, rows=rows, people=people, first=history["first"], last=history["last"], gaps=gaps)
    linking = sum(column["role"] == "quasi" for column in profile["columns"])
    columns = count(len(profile["columns"]))
    return say("finding.people", rows=rows, columns=columns, linking=count(linking), gaps=gaps)


def form_sentence(form: Facts, columns: int) -> str:
    """Return how a file is laid out."""
    if form["kind"] != "text":
        kind = form["kind"] if form["kind"] in ("parquet", "excel", "sample") else "public"
        return say(f"form.{kind}", name=form.get("name"), columns=count(columns))
    delimiter = form["delimiter"]
    return say(
        "form.text",
        encoding=ENCODINGS.get(form["encoding"], form["encoding"]),
        delimiter=say(f"delimiter.{_DELIMITERS[delimiter]}") if delimiter in _DELIMITERS else delimiter,
        columns=count(columns),
        header=say("form.header" if form["header"] else "form.no_header"),
    )


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
        told.append(say("notices.unreadable", names=_names(facts["unreadable"])))
    left = [name for name in facts.get("left_out", []) if name not in facts.get("unreadable", [])]
    if left:
        told.append(say("notices.left_out", names=_names(left)))
    if facts.get("replaced"):
        told.append(say("notices.replaced", names=_names(facts["replaced"])))
    return told


def _names(names: Sequence[str]) -> str:
    return listing([printable(name, 60) for name in names], _SHOWN_NAMES)


def rows_finding(counts: Facts) -> str:
    """Return how much customers buy."""
    return _half_finding("rows", counts)


def months_finding(counts: Facts) -> str:
    """Return for how long customers buy."""
    return _half_finding("months", counts)


def _half_finding(name: str, counts: Facts) -> str:
    if not counts["total"]:
        return say("half.nobody")
    median = f"{counts['median']:,.1f}".removesuffix(".0")
    return say(f"half.{name}", math.ceil(counts["median"]), median=median, most=count(counts["maximum"]))


def values_sentence(about: Facts, rows: int) -> str:
    """Return what the values of a column are: from where to where, or the commonest."""
    if about["minimum"] is not None:
        return say("values.range", low=about["minimum"], high=about["maximum"])
    bars = about["bars"]
    if not bars or not rows:
        return say("values.none")
    named = len(bars["labels"]) - (1 if bars["others"] else 0)
    if about["distinct"] == rows - about["missing"] and rows > 1:
        return say("values.once", example=printable(bars["labels"][0], 40))
    shares = [
        f"{printable(bars['labels'][i], 40)} ({percent(bars['weights'][i] / rows)})" for i in range(min(2, named))
    ]
    return say("values.mostly", values=", ".join(shares))


def levels_sentence(about: Facts) -> str:
    """Return how a hierarchy grows wider, or why there is none."""
    if about["reason"]:
        return say(f"levels.{about['reason']}", most=count(50_000))
    steps = " → ".join(count(level["labels"]) for level in about["levels"])
    return say("levels.levels", len(about["levels"]), count=len(about["levels"]), steps=steps)


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
                "said": say(
                    "bar",
                    label=printable(label, 60),
                    rows=count(round(weight)),
                    share=percent(weight / rows if rows else 0.0),
                ),
            }
        )
    return drawn
