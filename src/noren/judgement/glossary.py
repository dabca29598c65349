"""What the words of pages and reports mean: one plain paragraph each, for whoever never read a paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from noren.attacks import attacks
from noren.i18n import _
from noren.judgement.sentences import bare_word, word_meaning
from noren.judgement.verdict import Word
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
        return _measures()
    (listed,) = (one["entry"] for one in table_of(__name__)["chapter"] if one["anchor"] == chapter)
    return [_entry(one) for one in listed]


def _entry(said: Mapping[str, str]) -> GlossaryEntry:
    """Return a word; one with nothing but its anchor is a verdict."""
    anchor = said["anchor"]
    if "name" not in said:
        return GlossaryEntry(anchor, bare_word(Word(anchor)), word_meaning(Word(anchor)))
    name, meaning, direction = said["name"], said["meaning"], said.get("direction", "")
    return GlossaryEntry(anchor, _(name), _(meaning), _(direction))


def _measures() -> list[GlossaryEntry]:
    ways = {"lower": _("lower is better"), "higher": _("higher is better")}
    return [
        GlossaryEntry(n, n, f"{_(measures[n].summary)} {_('In:')} {_(measures[n].unit)}.", ways[str(measures[n].goal)])
        for n in measures
    ]
