"""What stored facts say, in sentences: made when a page is shown, in the language of whoever looks at it.

Facts are those of :func:`noren.reports.run_view.run_view`. Nothing here reads data or knows a secret.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from noren.judgement.numbers import count, percent
from noren.reports.run_view import RowCounts
from noren.tables import Texts

__all__ = ["change_words", "class_size_finding", "crosstab_finding", "histogram_finding", "rows_finding"]

say = Texts(__name__)
_NOTHING = 1e-9


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
