"""What stored facts say, in sentences: made when a page is shown, in the language of whoever looks at it.

Facts are those of :func:`noren.reports.run_view.run_view`. Nothing here reads data or knows a secret.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from noren.i18n import _, ngettext
from noren.judgement.numbers import count, percent
from noren.reports.run_view import RowCounts

__all__ = ["change_words", "class_size_finding", "crosstab_finding", "histogram_finding", "rows_finding"]

_NOTHING = 1e-9


def histogram_finding(bars: Mapping[str, Any]) -> str:
    """Return what a pair of histograms shows, as a title."""
    column, shift, unsaid = bars["column"], bars["shift"], bars["unsaid"]
    if bars["reconstructed"] is not None:
        return _("{column}: the noise moves {shift} of the rows, reconstruction leaves {left}").format(
            column=column, shift=_tiny(shift), left=_tiny(bars["shift_reconstructed"])
        )
    if shift < _NOTHING and unsaid < _NOTHING:
        return _("{column}: every bar keeps its height").format(column=column)
    if unsaid < _NOTHING:
        return _("{column}: {shift} of the rows lie in another bar").format(column=column, shift=_tiny(shift))
    return _("{column}: {shift} of the rows lie in another bar, {unsaid} are not said").format(
        column=column, shift=_tiny(shift), unsaid=_tiny(unsaid)
    )


def crosstab_finding(pair: Mapping[str, Any]) -> str:
    """Return how far the joint counts of two columns moved, as a title."""
    rows = sum(map(sum, pair["original"])) + pair["unsaid"]["original"]
    shift = _moved(pair["original"], pair["released"]) / max(rows, 1)
    if pair["reconstructed"] is not None:
        return _(
            "{a} and {b}: the noise moves {shift} of the rows to another cell, reconstruction leaves {left}"
        ).format(
            a=pair["a"],
            b=pair["b"],
            shift=_tiny(shift),
            left=_tiny(_moved(pair["original"], pair["reconstructed"]) / max(rows, 1)),
        )
    if shift < _NOTHING:
        return _("{a} and {b}: every cell keeps its rows").format(a=pair["a"], b=pair["b"])
    return _("{a} and {b}: {shift} of the rows lie in another cell").format(
        a=pair["a"], b=pair["b"], shift=_tiny(shift)
    )


def _moved(before: Sequence[Sequence[float]], after: Sequence[Sequence[float]]) -> float:
    """Return by how many rows cells grew, as the net shift of a histogram is reckoned."""
    return sum(max(0.0, y - x) for one, two in zip(before, after, strict=True) for x, y in zip(one, two, strict=True))


def class_size_finding(sizes: Mapping[str, Any]) -> str:
    """Return what the sizes of classes show, as a title."""
    of_rows = sizes["of"] == "rows"
    if not sizes["total"]:
        return _("No row belongs to a class") if of_rows else _("No pseudonym shows anything")
    if sizes["alone"]:
        said = (
            ngettext(
                "{count} row is alike to no other: the smallest classes are of one",
                "{count} rows are alike to no other: the smallest classes are of one",
                sizes["alone"],
            )
            if of_rows
            else ngettext(
                "{count} pseudonym shows a history that no other shows",
                "{count} pseudonyms show histories that no other shows",
                sizes["alone"],
            )
        )
        return said.format(count=count(sizes["alone"]))
    said = (
        _("Every row is alike to others: the smallest of {classes} classes has {least} rows")
        if of_rows
        else _("No history stands alone: the smallest of {classes} classes has {least} pseudonyms")
    )
    return said.format(classes=count(sizes["total"]), least=count(sizes["minimum"]))


def rows_finding(rows: RowCounts) -> str:
    """Return what became of the rows, as a title."""
    if rows.deleted is None:
        return _("Which released row belongs to which original row is not known")
    if not rows.deleted and not rows.added:
        return _("All {rows} rows are released").format(rows=count(rows.original))
    if not rows.added:
        return _("{kept} of {rows} rows are released, {deleted} are deleted").format(
            kept=count(rows.original - rows.deleted),
            rows=count(rows.original),
            deleted=count(rows.deleted),
        )
    return _("{kept} of {rows} rows are released, {deleted} are deleted and {added} were made up").format(
        kept=count(rows.original - rows.deleted),
        rows=count(rows.original),
        deleted=count(rows.deleted),
        added=count(rows.added),
    )


def change_words(change: str) -> str:
    """Return what became of a cell or a row, in a word or two."""
    return {
        "same": _("as it was"),
        "generalised": _("generalised"),
        "suppressed": _("suppressed"),
        "changed": _("changed"),
        "pseudonym": _("pseudonym"),
        "dropped": _("not released"),
        "kept": _("released"),
        "deleted": _("deleted"),
        "inserted": _("made up"),
    }.get(change, change)


def _tiny(share: float) -> str:
    return percent(0.0 if share < _NOTHING else share)
