"""What the words of pages and reports mean: one plain paragraph each, for whoever never read a paper."""

from __future__ import annotations

from dataclasses import dataclass

from noren.attacks import attacks
from noren.i18n import _
from noren.judgement.sentences import verdict_meaning, verdict_name
from noren.judgement.verdict import VerdictStatus
from noren.measures import measures
from noren.methods import methods
from noren.tables import table_of


@dataclass(frozen=True)
class GlossaryEntry:
    """A word with its meaning. ``anchor`` is where a link finds it; components are found by their names."""

    anchor: str
    name: str
    meaning: str
    direction: str = ""


@dataclass(frozen=True)
class Chapter:
    """Words that belong together."""

    anchor: str
    title: str
    entries: list[GlossaryEntry]


def terms(*anchors: str) -> dict[str, GlossaryEntry]:
    """Return words by their anchors, in the language now spoken.

    >>> terms("named")["named"].meaning
    'How many pseudonyms the attack assigns to a customer.'
    """
    known = {one.anchor: one for name in ("verdicts", "attackers", "use") for one in _entries(name)}
    return {anchor: known[anchor] for anchor in anchors}


def chapters() -> list[Chapter]:
    """Return all words, in the language now spoken."""
    titles = {one["anchor"]: one["title"] for one in table_of(__name__)["chapter"]}
    return [Chapter(anchor, _(title), _entries(anchor)) for anchor, title in titles.items()]


def _entries(chapter: str) -> list[GlossaryEntry]:
    if chapter == "methods":
        return [GlossaryEntry(n, n, _(methods[n].summary)) for n in methods]
    if chapter == "attacks":
        return [GlossaryEntry(n, n, _(attacks[n].summary)) for n in attacks]
    if chapter == "measures":
        ways = {"lower": _("lower is better"), "higher": _("higher is better")}
        every = {name: measures[name] for name in measures}
        return [
            GlossaryEntry(name, name, f"{_(one.summary)} {_('In:')} {_(one.unit)}.", ways[str(one.goal)])
            for name, one in every.items()
        ]
    (listed,) = (one["entry"] for one in table_of(__name__)["chapter"] if one["anchor"] == chapter)
    return [
        GlossaryEntry(one["anchor"], _(one["name"]), _(one["meaning"]), _(one.get("direction", "")))
        if "name" in one
        # one with nothing but its anchor is a verdict
        else GlossaryEntry(
            one["anchor"], verdict_name(VerdictStatus(one["anchor"])), verdict_meaning(VerdictStatus(one["anchor"]))
        )
        for one in listed
    ]
