"""What the papers say, drafted in each language, side by side in ``texts/*.toml``.

A legal text is not translated sentence by sentence: each language has its own draft, and counsel reads both in one
place. So these texts stand in files of their own and not in the catalogue. How safe a release is they never say:
that comes from :mod:`noren.judgement.sentences`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from noren.i18n import active_language
from noren.papers.document import Field, Text, filled, plain

__all__ = ["Wording", "drafts"]

_FILES = ("common", "appi", "pseudonymised", "gdpr", "card")


@cache
def drafts() -> Mapping[str, Mapping[str, str]]:
    """Return every text by its name: of each language its draft."""
    found: dict[str, Mapping[str, str]] = {}
    for name in _FILES:
        text = (files("noren.papers") / "texts" / f"{name}.toml").read_text(encoding="utf-8")
        for key, draft in tomllib.loads(text).items():
            found[f"{name}.{key}"] = draft
    return found


@dataclass(frozen=True)
class Wording:
    """What is said in one language, with what a steward already knows.

    >>> Wording("en", {"company": "Acme"}).field("company"), str(Wording("en").field("company"))
    ('Acme', '[TO FILL IN: name of the business that makes the data]')
    """

    language: str = field(default_factory=active_language)
    known: Mapping[str, str] = field(default_factory=dict)

    def word(self, key: str, **values: str) -> str:
        """Return a text without fields."""
        return plain(self.said(key, **values))

    def said(self, key: str, **values: str | Field | Text) -> Text:
        """Return a text; a place that nobody fills is a fact of the steward's, known or to be filled in."""
        template = drafts()[key][self.language]
        return filled(template, _WithFacts(self, values))

    def field(self, key: str) -> str | Field:
        """Return a fact of the steward's, or the place for it."""
        if key in self.known:
            return self.known[key]
        return Field(self.word(f"common.field_{key}"), self._mark, key)

    def decision(self, key: str, **values: str) -> Field:
        """Return the place for something that a person must decide."""
        return Field(self.word(key, **values), self._mark)

    @property
    def _mark(self) -> str:
        return drafts()["common.mark"][self.language]


class _WithFacts(Mapping[str, "str | Field | Text"]):
    """Values for a text, and beside them what the steward knows."""

    def __init__(self, wording: Wording, values: Mapping[str, str | Field | Text]) -> None:
        self._wording, self._values = wording, values

    def __getitem__(self, name: str) -> str | Field | Text:
        return self._values[name] if name in self._values else self._wording.field(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)
