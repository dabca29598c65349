"""Parts of the result page made from stored facts: charts with their findings and numbers, rows side by side.

Facts are those of :func:`noren.reports.run_view.run_view`. Nothing here reads data or knows a secret.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from noren.drawing.bars import counts_bars, crosstab_panels, paired_histogram
from noren.drawing.ground import live
from noren.i18n import _
from noren.judgement.numbers import count, percent
from noren.reports.run_view import RowCounts, RunView
from noren.studio.service import Studio, pair_of
from noren.studio.store import Job
from noren.tables import Texts
from noren.web.frame import with_query

__all__ = [
    "change_words",
    "class_size_finding",
    "classes_of",
    "crosstab_finding",
    "crosstab_of",
    "dwarfing",
    "histogram_finding",
    "histogram_of",
    "row_pairs_of",
    "rows_finding",
]

say = Texts(__name__)
_ROWS_SHOWN = 20
_DWARFING = 3
_NOTHING = 1e-9

# --- charts --------------------------------------------------------------------------------------------------


def histogram_of(bars: Mapping[str, Any]) -> dict[str, Any]:
    """Return a column before and after, ready for the page: what it shows, the chart, the numbers."""
    sides = _sides(bars)
    drawn, left_out = bars, ""
    if bars["others"] and dwarfing([bars[side] for side in sides]):
        drawn = dict(bars) | {name: bars[name][:-1] for name in ("labels", *sides)} | {"others": False}
        left_out = _(
            "Drawn are the {shown} most frequent of {all} values; the others have {before} rows, and {after} now."
        )
        left_out = left_out.format(
            shown=len(drawn["labels"]),
            all=count(bars["values"]),
            before=_rows_text(bars["original"][-1]),
            after=_rows_text(bars["released"][-1]),
        )
    return {
        "finding": histogram_finding(bars),
        "spec": live(paired_histogram(drawn)),
        "note": left_out,
        "headings": [bars["column"], *(_side_words(side) for side in sides)],
        "rows": [
            [label, *(_rows_text(bars[side][i]) for side in sides)]
            for i, label in enumerate(_labels(bars["labels"], bars))
        ],
    }


def dwarfing(sides: Sequence[Sequence[float]]) -> bool:
    """Tell whether the last bar, of all other values, is so long that nobody could see the others beside it.

    >>> dwarfing([[3, 2, 40], [2, 2, 41]]), dwarfing([[3, 2, 4]])
    (True, False)
    """
    return any(side[-1] > _DWARFING * max(side[:-1], default=0.0) for side in sides)


def _sides(found: Mapping[str, Any]) -> list[str]:
    return ["original", "released"] + (["reconstructed"] if found["reconstructed"] is not None else [])


def _side_words(side: str) -> str:
    return {"original": _("original"), "released": _("released"), "reconstructed": _("reconstructed")}[side]


def _labels(labels: Sequence[str], axis: Mapping[str, Any]) -> list[str]:
    return [*labels[:-1], _("all other values")] if axis["others"] else list(labels)


def _rows_text(rows: float) -> str:
    return f"{rows:,.1f}".removesuffix(".0")


def classes_of(view: RunView) -> dict[str, Any] | None:
    """Return how many rows or pseudonyms are alike, ready for the page."""
    sizes = view.class_sizes
    if sizes is None or view.facts.proven_k is not None:  # noise protects without making rows alike
        return None
    members = _("rows") if sizes["of"] == "rows" else _("pseudonyms")
    return {
        "finding": class_size_finding(sizes),
        "spec": live(
            counts_bars(sizes, label_title=_("size of the class"), value_title=members, heights="members", risky=1)
        )
        if len(sizes["labels"]) > 1
        else None,
        "headings": [_("size of the class"), _("classes"), members],
        "rows": [
            [label, count(classes), count(people)]
            for label, classes, people in zip(sizes["labels"], sizes["counts"], sizes["members"], strict=True)
            if classes
        ],
    }


def crosstab_of(studio: Studio, run: Job, a: str | None, b: str | None) -> dict[str, Any] | None:
    """Return the table of two columns, the first two where these are not there; none of fewer columns."""
    tables = studio.crosstabs(run.id)
    names: list[str] = tables["columns"]
    if len(names) < 2:
        return None
    one = next((name for name in names if name == a), names[0])
    others = [name for name in names if name != one]
    two = next((name for name in others if name == b), others[0])
    pair = pair_of(tables, one, two)
    sides = _sides(pair)
    drawn, left_out = _without_others(pair)
    return {
        "a": one,
        "b": two,
        "names": names,
        "finding": crosstab_finding(pair),
        "spec": live(crosstab_panels(drawn)),
        "notes": [note for note in (left_out, _reckoned(tables["reconstruction"], pair)) if note],
        "headings": [one, two, *(_side_words(side) for side in sides)],
        "rows": [
            [first, second, *(_rows_text(pair[side][i][j]) for side in sides)]
            for i, first in enumerate(_labels(pair["labels_a"], pair["axis_a"]))
            for j, second in enumerate(_labels(pair["labels_b"], pair["axis_b"]))
            if any(pair[side][i][j] for side in sides)
        ],
    }


def _without_others(pair: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    """Return a table without the lines of all other values where these are so dark that all else would be white."""
    drawn, gone = dict(pair), []
    sides = _sides(pair)
    if pair["axis_a"]["others"] and dwarfing([[sum(line) for line in pair[side]] for side in sides]):
        drawn |= {side: drawn[side][:-1] for side in sides}
        drawn |= {"labels_a": drawn["labels_a"][:-1], "axis_a": drawn["axis_a"] | {"others": False}}
        gone.append(pair["a"])
    if pair["axis_b"]["others"] and dwarfing([[sum(x) for x in zip(*pair[side], strict=True)] for side in sides]):
        drawn |= {side: [line[:-1] for line in drawn[side]] for side in sides}
        drawn |= {"labels_b": drawn["labels_b"][:-1], "axis_b": drawn["axis_b"] | {"others": False}}
        gone.append(pair["b"])
    if not gone:
        return drawn, ""
    return drawn, _("Drawn are the most frequent values of {columns}; the table of numbers has all others too.").format(
        columns=_(" and ").join(gone)
    )


def _reckoned(how: Mapping[str, Any] | None, pair: Mapping[str, Any]) -> str:
    """Return what must be known of a reconstructed table: another model made it, or it is too large."""
    if how is None or how["model"] == "none":
        return ""
    if pair["reconstructed"] is None:
        return _("The table of these two columns is too large to be reconstructed.")
    if pair["model"] != how["model"]:
        return _("Reconstructed by a log-linear model; the one that the release names would take long.")
    return ""


# --- rows ----------------------------------------------------------------------------------------------------


def row_pairs_of(
    studio: Studio,
    run: Job,
    view: RunView,
    start: int,
    *,
    only_changed: bool,
    kept: Mapping[str, str | None],
) -> dict[str, Any] | None:
    """Return original rows and what the release says of each, cell by cell; ``kept`` stays in the page's address."""
    others = {name: value for name, value in kept.items() if value}
    asked = others | ({"only_changed": "true"} if only_changed else {})
    found = studio.row_pairs(run.id, start, _ROWS_SHOWN, only_changed=only_changed)
    if view.rows.deleted is None:
        return None
    names = [name.removeprefix("change:") for name in found["columns"] if name.startswith("change:")]
    rows = []
    for row in found["rows"]:
        told = dict(zip(found["columns"], row, strict=True))
        cells = [(told[f"original:{n}"], told[f"released:{n}"], told[f"change:{n}"]) for n in names]
        rows.append(
            {
                "number": told["row"],
                "state": told["state"],
                "state_words": change_words(told["state"]),
                "original": [was for was, _now, _change in cells],
                "released": [
                    {
                        "text": change_words(change) if change in ("pseudonym", "dropped") else now,
                        "change": change,
                        "words": change_words(change) if change else "",
                    }
                    for _was, now, change in cells
                ],
            }
        )
    every = view.rows.original + (view.rows.added or 0)
    return {
        "finding": rows_finding(view.rows),
        "names": names,
        "rows": rows,
        "start": start,
        "count": _ROWS_SHOWN,
        "total": found["total"],
        "only_changed": only_changed,
        "kept": others,
        "address": with_query(f"/projects/{run.project}/results/{run.id}#rows", **asked),
        "every": None if found["every"] >= every else found["every"],
    }


# --- what a title says ---------------------------------------------------------------------------------------


def histogram_finding(bars: Mapping[str, Any]) -> str:
    """Return what a pair of histograms shows, as a title."""
    column, shift, unsaid = bars["column"], bars["shift"], bars["unsaid"]
    if bars["reconstructed"] is not None:
        return say(
            "histogram.reconstructed", column=column, shift=_tiny(shift), left=_tiny(bars["shift_reconstructed"])
        )
    if shift < _NOTHING and unsaid < _NOTHING:
        return say("histogram.same", column=column)
    if unsaid < _NOTHING:
        return say("histogram.moved", column=column, shift=_tiny(shift))
    return say("histogram.unsaid", column=column, shift=_tiny(shift), unsaid=_tiny(unsaid))


def crosstab_finding(pair: Mapping[str, Any]) -> str:
    """Return how far the joint counts of two columns moved, as a title."""
    rows = sum(map(sum, pair["original"])) + pair["unsaid"]["original"]
    shift = _moved(pair["original"], pair["released"]) / max(rows, 1)
    if pair["reconstructed"] is not None:
        return say(
            "crosstab.reconstructed",
            a=pair["a"],
            b=pair["b"],
            shift=_tiny(shift),
            left=_tiny(_moved(pair["original"], pair["reconstructed"]) / max(rows, 1)),
        )
    if shift < _NOTHING:
        return say("crosstab.same", a=pair["a"], b=pair["b"])
    return say("crosstab.moved", a=pair["a"], b=pair["b"], shift=_tiny(shift))


def _moved(before: Sequence[Sequence[float]], after: Sequence[Sequence[float]]) -> float:
    """Return by how many rows cells grew, as the net shift of a histogram is reckoned."""
    return sum(max(0.0, y - x) for one, two in zip(before, after, strict=True) for x, y in zip(one, two, strict=True))


def class_size_finding(sizes: Mapping[str, Any]) -> str:
    """Return what the sizes of classes show, as a title."""
    name = f"classes.{sizes['of']}"
    if not sizes["total"]:
        return say(f"{name}.none")
    if sizes["alone"]:
        return say(f"{name}.alone", sizes["alone"], count=count(sizes["alone"]))
    return say(f"{name}.least", classes=count(sizes["total"]), least=count(sizes["minimum"]))


def rows_finding(rows: RowCounts) -> str:
    """Return what became of the rows, as a title."""
    if rows.deleted is None:
        return say("rows.unknown")
    return say(
        "rows.added" if rows.added else "rows.deleted" if rows.deleted else "rows.all",
        kept=count(rows.original - rows.deleted),
        rows=count(rows.original),
        deleted=count(rows.deleted),
        added=count(rows.added or 0),
    )


def change_words(change: str) -> str:
    """Return what became of a cell or a row, in a word or two."""
    return say(f"change.{change}")


def _tiny(share: float) -> str:
    return percent(0.0 if share < _NOTHING else share)
