"""The glossary: terms of pages and reports, each explained in one plain paragraph."""

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
    """A term with its meaning; ``anchor`` is the target of links, for a component its name."""

    anchor: str
    name: str
    meaning: str
    direction: str = ""


@dataclass(frozen=True)
class Chapter:
    """A group of terms."""

    anchor: str
    title: str
    entries: list[GlossaryEntry]


def terms(*anchors: str) -> dict[str, GlossaryEntry]:
    """Return terms by their anchors, in the active language.

    >>> terms("named")["named"].meaning
    'How many pseudonyms the attack assigns to a customer.'
    """
    known = {entry.anchor: entry for name in ("verdicts", "attackers", "tables", "use") for entry in _entries(name)}
    return {anchor: known[anchor] for anchor in anchors}


def chapters() -> list[Chapter]:
    """Return all terms, in the active language."""
    titles = {chapter["anchor"]: chapter["title"] for chapter in table_of(__name__)["chapter"]}
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
            GlossaryEntry(name, name, f"{_(entry.summary)} {_('In:')} {_(entry.unit)}.", ways[str(entry.goal)])
            for name, entry in every.items()
        ]
    (listed,) = (entry["entry"] for entry in table_of(__name__)["chapter"] if entry["anchor"] == chapter)
    entries = []
    for entry in listed:
        if "name" in entry:
            entries.append(GlossaryEntry(**{key: text if key == "anchor" else _(text) for key, text in entry.items()}))
        else:  # an entry with nothing but its anchor is a verdict
            status = VerdictStatus(entry["anchor"])
            entries.append(GlossaryEntry(status.value, verdict_name(status), verdict_meaning(status)))
    return entries
