"""The fixed words of the report: headings, and what every number means, one sentence each."""

from __future__ import annotations

from dataclasses import dataclass

from noren.i18n import _
from noren.study.findings import Verdict

__all__ = ["Term", "glossary", "verdict_words", "words"]


@dataclass(frozen=True)
class Term:
    """A number's name, which way is better, and one plain sentence."""

    name: str
    meaning: str
    direction: str = ""


def words(*, pseudonyms: bool = True) -> dict[str, str]:
    """Return the headings and labels of the page; it tells some pseudonyms, or none."""
    return {
        "report": _("Noren report"),
        "steward": _("For the steward alone."),
        "failed": _("Not everything was tried or measured, and nothing is known of the rest."),
        "steward_note": _(
            "This page shows original rows and who is behind some pseudonyms. Do not publish it and do not pass it on; "
            "to hand out a release, run noren publish."
        )
        if pseudonyms
        else _("This page shows original rows. Do not publish it; hand out the public part of the release alone."),
        "verdict": _("verdict"),
        "releases": _("The releases, and how each of them fared"),
        "caveat": _("“Withstands” speaks of the attacks tried here and of no other: a better attack may still come."),
        "release": _("release"),
        "deleted": _("rows deleted"),
        "map_safe": _("● withstands the attacks tried"),
        "map_broken": _("▲ does not withstand them"),
        "map_untried": _("■ not judged"),
        "map_frontier": _("dashed line: the frontier, the releases that no other one beats in both safety and use"),
        "map_reading": _(
            "The farther right a release lies the more use it keeps, the lower the fewer people are found."
        ),
        "attackers": _("What attackers achieve"),
        "attack": _("attack"),
        "effective": _("effective"),
        "no_attack": _("No attack was tried. Run noren attack to learn what one achieves."),
        "by_chance": _("by chance: {share}"),
        "useful": _("What stays useful"),
        "per_cell": _("expected error per cell, 0 to 1 and above"),
        "no_error": _("The error U was not measured; it needs the secret part of the release."),
        "column": _("column"),
        "other": _("Other measures"),
        "measure": _("measure"),
        "value": _("value"),
        "lower": _("lower is better"),
        "higher": _("higher is better"),
        "histograms": _("The columns, before and after"),
        "histograms_note": _(
            "Both panels of a pair have the same axes. An interval is spread evenly over its range, a set over its "
            "values."
        ),
        "original": _("original"),
        "released": _("released"),
        "rows_per_bar": _("{which}, rows per bar"),
        "top_values": _("the {shown} most frequent of {all} values"),
        "rows": _("Original row and released row"),
        "rows_note": _("Marked cells say less than the original, or something else."),
        "row": _("row {number}"),
        "row_deleted": _("this row is deleted"),
        "no_rows": _(
            "Which released row belongs to which original row is known from the secret part, and it is not at hand."
        ),
        "statement": _("Statement"),
        "reproduce": _("How to reproduce it"),
        "reproduce_note": _(
            "ORIGINAL is the file that was protected. SEED is in secret/run.json of the release; it is left out here "
            "because it rebuilds every pseudonym."
        ),
        "glossary": _("What the numbers mean"),
        "footer": _("Made by Noren {version}."),
    }


def glossary() -> dict[str, Term]:
    """Return every number of the page with its meaning."""
    safer, useful = _("lower is safer"), _("lower is more useful")
    return {
        "named": Term(_("named"), _("How many pseudonyms the attacker puts a customer’s name to."), ""),
        "right": Term(_("right"), _("How many of these names are right."), safer),
        "needed": Term(
            _("needed"),
            _("How many right names prove the release unsafe, because luck would hardly ever reach that number."),
        ),
        "chance": Term(
            _("chance"), _("How many names would be right in the mean if each were drawn at random from all customers.")
        ),
        "share": Term(
            _("customers re-identified"), _("The share of all customers whom the best attack names rightly."), safer
        ),
        "error": Term(
            _("U, error per cell"),
            _(
                "The error to expect when a value is drawn from each released cell: 0 for an exact copy, 1 for a "
                "release that says nothing."
            ),
            useful,
        ),
        "use": Term(_("use kept"), _("What the error leaves: 1 − U."), _("higher is more useful")),
        "shift": Term(
            _("net shift"), _("The share of rows by which bars of the release are taller than the original’s."), useful
        ),
        "unsaid": Term(_("not said"), _("The share of rows whose cell is suppressed or whose row is deleted."), useful),
        "deleted": Term(_("rows deleted"), _("How many original rows have no released row."), useful),
        "frontier": Term(
            _("frontier"),
            _("The releases that no other one beats: none is safer and as useful, or as safe and more useful."),
        ),
    }


def verdict_words(verdict: Verdict) -> str:
    """Return a verdict as a few words with a mark, so that colour is not its only carrier."""
    return {
        Verdict.WITHSTANDS: _("● withstands"),
        Verdict.BROKEN: _("▲ does not withstand"),
        Verdict.UNTRIED: _("■ not judged"),
    }[verdict]
