"""What stored facts say, in sentences: made when a page is shown, in the language of whoever looks at it.

Facts are those of :func:`noren.study.run_view.run_view`. Nothing here reads data or knows a secret.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from noren.i18n import _, ngettext
from noren.study.findings import count, percent
from noren.study.table_risk import cure_sentence, guessed_sentences, table_sentence, told_sentences

__all__ = [
    "BoundLine",
    "attack_sentence",
    "bound_lines",
    "change_words",
    "class_size_finding",
    "crosstab_finding",
    "guessed_by_class",
    "histogram_finding",
    "named_caution",
    "rows_finding",
    "told_by_class",
    "verdict_sentence",
]

View = Mapping[str, Any]
_NOTHING = 1e-9
_MANY_NAMED = 0.1


@dataclass(frozen=True)
class BoundLine:
    """What the most damaging attack achieves under one bound: of its surest answers, how many are right."""

    bound: str
    name: str
    meaning: str
    verdict: str
    attack: str
    named: int
    right: int
    needed: int


# --- what attackers achieve ----------------------------------------------------------------------------------


def verdict_sentence(view: View) -> str:
    """Return what an attacker achieves, as one sentence."""
    return table_sentence(view["table_risk"]) if view["table_risk"] is not None else attack_sentence(view)


def attack_sentence(view: View) -> str:
    """Return what attackers achieve against a history, by the stricter of the two tests."""
    judged = [one for one in view["attacks"] if one["best"] is not None]
    if not judged:
        return _("No attack was judged, so nothing is known about the risk of this release.")
    paper, sharp = view["verdict"]["paper"], view["verdict"]["sharp"]
    if sharp == "withstands":
        return _withstood(view, len(judged))
    worst = next(one for one in judged if one["best"]["sharp"]["effective"])
    if paper == "withstands":
        said = _(
            "Broken by the sharp test, though not by the paper’s: of the {named} people that {attack} is surest of, "
            "{right} are right, and {needed} are enough."
        )
    else:
        said = _(
            "Broken: of the {named} people that {attack} is surest of, {right} are right, and {needed} are enough."
        )
    best = worst["best"]["sharp"]
    return said.format(
        attack=worst["attack"], named=count(best["named"]), right=count(best["right"]), needed=count(best["needed"])
    )


def _withstood(view: View, tried: int) -> str:
    if view["most_damaging"] is None:
        return ngettext(
            "Withstands the attack tried: it names nobody rightly.",
            "Withstands all {tried} attacks tried: none of them names anybody rightly.",
            tried,
        ).format(tried=count(tried))
    worst = view["attacks"][0]
    best = worst["best"]["sharp"]
    return ngettext(
        "Withstands the attack tried: of the {named} people that {attack} is surest of, {right} are right; "
        "{needed} would be needed.",
        "Withstands all {tried} attacks tried: of the {named} people that the best, {attack}, is surest of, "
        "{right} are right; {needed} would be needed.",
        tried,
    ).format(
        tried=count(tried),
        attack=worst["attack"],
        named=count(best["named"]),
        right=count(best["right"]),
        needed=count(best["needed"]),
    )


def named_caution(view: View) -> str:
    """Return how many customers the best attack names rightly, where these are many though the tests are withstood.

    Both tests allow one right name in three: what is lawful by them need not be what a steward wants.
    """
    share = max((one["share"] for one in view["attacks"] if one["share"] is not None), default=0.0)
    if view["table_risk"] is not None or view["verdict"]["sharp"] != "withstands" or share < _MANY_NAMED:
        return ""
    return _(
        "The best attack still names {share} of the customers rightly, for both tests allow one name in three; "
        "a larger k lowers this."
    ).format(share=percent(share))


def bound_lines(view: View) -> list[BoundLine]:
    """Return what the most damaging attack achieves by the paper's test and by the sharp one."""
    judged = [one for one in view["attacks"] if one["best"] is not None]
    if not judged:
        return []
    about = {
        "paper": (
            _("The paper’s test"),
            _(
                "A safe release lets one name in three be right. So many right names prove this one unsafe that a safe "
                "one would show them less than once in 2,000 times, by the paper’s generous reckoning."
            ),
        ),
        "sharp": (
            _("The sharp test"),
            _(
                "The same question reckoned exactly: fewer right names are enough. What withstands it withstands the "
                "paper’s test too."
            ),
        ),
    }
    lines = []
    for bound, (name, meaning) in about.items():
        worst = next((one for one in judged if one["best"][bound]["effective"]), judged[0])
        best = worst["best"][bound]
        verdict = view["verdict"][bound]
        lines.append(
            BoundLine(bound, name, meaning, verdict, worst["attack"], best["named"], best["right"], best["needed"])
        )
    return lines


def told_by_class(view: View) -> list[str]:
    """Return what the classes of a table tell of sensitive values, and the cure; nothing where they tell nobody's."""
    risk = view["table_risk"]
    told = [] if risk is None else told_sentences(risk)
    return [*told, cure_sentence(risk)] if told else []


def guessed_by_class(view: View) -> list[str]:
    """Return which sensitive values of a table can be guessed though they are not told; nothing where none can."""
    risk = view["table_risk"]
    return [] if risk is None else guessed_sentences(risk)


# --- findings of charts and tables ---------------------------------------------------------------------------


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


def class_size_finding(view: View) -> str:
    """Return what the sizes of classes show, as a title."""
    sizes = view["class_sizes"]
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


def rows_finding(view: View) -> str:
    """Return what became of the rows, as a title."""
    rows = view["rows"]
    if rows["deleted"] is None:
        return _("Which released row belongs to which original row is not known")
    if not rows["deleted"] and not rows["added"]:
        return _("All {rows} rows are released").format(rows=count(rows["original"]))
    if not rows["added"]:
        return _("{kept} of {rows} rows are released, {deleted} are deleted").format(
            kept=count(rows["original"] - rows["deleted"]),
            rows=count(rows["original"]),
            deleted=count(rows["deleted"]),
        )
    return _("{kept} of {rows} rows are released, {deleted} are deleted and {added} were made up").format(
        kept=count(rows["original"] - rows["deleted"]),
        rows=count(rows["original"]),
        deleted=count(rows["deleted"]),
        added=count(rows["added"]),
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
