"""Write the glossary's pages, in English and Japanese, from the words that pages and reports explain.

python tools/glossary_page.py

The words and their meanings stand in ``judgement/glossary.toml`` and in the catalogue of translations, nowhere else.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from pathlib import Path

from noren.i18n import use_language
from noren.judgement.glossary import Chapter, chapters

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = {"en": DOCS / "glossary.md", "ja": DOCS / "ja" / "glossary.md"}
MARK = "<!-- made by tools/glossary_page.py from here on -->"
LISTED_ELSEWHERE = ("methods", "attacks", "measures")
"""Chapters of components, each of which has a page and a list of its own."""
HEADINGS = {"en": ("Term", "日本語", "Meaning", "See"), "ja": ("用語", "English", "意味", "参照")}
USED_IN = {
    "original": "data/schema.md",
    "public-part": "guide/steward.md",
    "secret-part": "concepts.md",
    "pseudonym": "methods/pseudonymize.md",
    "generalised": "methods/generalize.md",
    "suppressed": "methods/hierarchy.md",
    "k": "concepts.md",
    "seed": "guide/steward.md",
    "re-identification": "attacks/index.md",
    "pseudonymisation": "methods/pseudonymize.md",
    "lookup-table": "concepts.md",
    "identifier": "data/schema.md",
    "quasi-identifier": "data/identifiers.md",
    "sensitive-attribute": "data/schema.md",
    "k-anonymity": "methods/mondrian.md",
    "l-diversity": "measures/classes.md",
    "t-closeness": "measures/classes.md",
    "linkage-attack": "attacks/linkage.md",
    "singling-out": "unicity.md",
    "control-group": "inference.md",
    "perturbation": "methods/perturb.md",
    "utility": "measures/index.md",
    "membership-inference": "inference.md",
    "attribute-inference": "inference.md",
    "verdict": "concepts.md",
    "proved": "theory/judgement.md",
    "withstands": "theory/judgement.md",
    "broken": "theory/judgement.md",
    "untried": "theory/judgement.md",
    "rule": "theory/judgement.md",
    "risk": "theory/judgement.md",
    "attack": "attacks/index.md",
    "named": "measures/reid-rate.md",
    "right": "measures/reid-rate.md",
    "rate": "report.md",
    "chance": "concepts.md",
    "share": "measures/reid-rate.md",
    "best": "theory/judgement.md",
    "needed": "measures/effective.md",
    "frontier": "explore.md",
    "class": "measures/classes.md",
    "prosecutor": "measures/classes.md",
    "journalist": "measures/classes.md",
    "marketer": "measures/classes.md",
    "pk": "theory/retention.md",
    "rho": "methods/retention.md",
    "reconstruction": "theory/reconstruction.md",
    "error": "measures/cell-error.md",
    "use-kept": "explore.md",
    "precision": "measures/l1-precision.md",
    "shift": "report.md",
    "unsaid": "report.md",
    "deleted": "report.md",
    "ledger": "ledger.md",
    "budget": "ledger.md",
}
"""Where the documentation uses a word first and foremost, by the word's anchor."""


def page(written: str, language: str) -> str:
    """Return a page: what was written by hand, and the words as they are now."""
    other = "ja" if language == "en" else "en"
    with use_language(other):
        there = {entry.anchor: entry.name for chapter in _chapters() for entry in chapter.entries}
    with use_language(language):
        parts = [line for chapter in _chapters() for line in _lines(chapter, there, language)]
    return "\n".join([written.partition(MARK)[0].rstrip(), "", MARK, *parts]) + "\n"


def _chapters() -> list[Chapter]:
    return [chapter for chapter in chapters() if chapter.anchor not in LISTED_ELSEWHERE]


def _lines(chapter: Chapter, there: dict[str, str], language: str) -> Iterator[str]:
    """Return a chapter's heading and table."""
    yield from ("", f"## {chapter.title} {{#{chapter.anchor}}}", "")
    yield f"| {' | '.join(HEADINGS[language])} |"
    yield "|---|---|---|---|"
    for entry in chapter.entries:
        meaning = f"{entry.meaning} *{entry.direction}*" if entry.direction else entry.meaning
        address = _address(USED_IN[entry.anchor], language)
        yield f"| **{entry.name}** | {there[entry.anchor]} | {meaning} | [{_name(address)}]({address}) |"


def _address(page: str, language: str) -> str:
    """Return a page's address from the glossary's; in Japanese where there is such a page."""
    if language == "en":
        return page
    twin = DOCS / "ja" / page.removeprefix("guide/")
    return twin.name if twin.exists() else posixpath.join("..", page)


def _name(address: str) -> str:
    """Return what a link is called: the page's name, or its folder's."""
    stem = posixpath.splitext(posixpath.basename(address))[0]
    return posixpath.basename(posixpath.dirname(address)) if stem == "index" else stem


def main() -> None:
    """Write both pages."""
    for language, path in PAGES.items():
        path.write_text(page(path.read_text(encoding="utf-8"), language), encoding="utf-8")


if __name__ == "__main__":
    main()
