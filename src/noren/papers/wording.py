"""What the papers say, drafted in each language, side by side in ``texts/*.toml``.

A legal text is not translated sentence by sentence: each language has its own draft, and counsel reads both in one
place. So these texts stand in files of their own and not in the catalogue. How safe a release is they never say:
that comes from :mod:`noren.judgement.sentences`.
"""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path

from noren.data.formats.source import require_readable
from noren.errors import FileError, suggestion
from noren.i18n import _, active_language
from noren.papers.document import Block, Field, Points, Section, Text, filled, plain

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
        return filled(template, lambda name: values[name] if name in values else self.field(name))

    def section(self, key: str, *blocks: Block) -> Section:
        """Return a section under the heading ``key``."""
        return Section(self.word(key), blocks)

    def points(self, keys: Iterable[str]) -> Points:
        """Return several texts as a list."""
        return Points(tuple(self.said(key) for key in keys))

    def words(self, prefix: str, *names: str) -> list[str]:
        """Return several texts whose names begin alike."""
        return [self.word(f"{prefix}{name}") for name in names]

    def field(self, key: str) -> str | Field:
        """Return a fact of the steward's, or the place for it."""
        if key in self.known:
            return self.known[key]
        return Field(self.word(f"common.field_{key}"), drafts()["common.mark"][self.language], key)

    def decision(self, key: str, **values: str) -> Field:
        """Return the place for something that a person must decide."""
        return Field(self.word(key, **values), drafts()["common.mark"][self.language])


# --- what the steward knows and the release does not ------------------------------------------------------------------

_PREFIX = "common.field_"
_LONGEST = 2_000


def fact_names() -> list[str]:
    """Return the facts that papers ask for."""
    return [key.removeprefix(_PREFIX) for key in drafts() if key.startswith(_PREFIX)]


def read_facts(path: str | Path) -> dict[str, str]:
    """Read a TOML file of facts: ``company = "…"``; an unknown name stops with the nearest that exists."""
    path = require_readable(path)
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FileError(str(error), _("correct the file"), file=path) from None
    known, facts = fact_names(), {}
    for name, value in given.items():
        text = value.isoformat() if isinstance(value, dt.date) else value
        rule = cure = ""
        if name not in known:
            rule = _("{name} is no fact that papers ask for{hint}").format(name=name, hint=suggestion(name, known))
            cure = _("facts are {names}").format(names=", ".join(known))
        elif not isinstance(text, str) or not text.strip():
            rule, cure = _("{name} has no text").format(name=name), _('write it like {name} = "…"').format(name=name)
        elif len(text) > _LONGEST:
            rule = _("{name} is longer than {most:,} characters").format(name=name, most=_LONGEST)
            cure = _("shorten it")
        if rule:
            raise FileError(rule, cure, file=path)
        facts[name] = " ".join(text.split())
    return facts


def submitted_facts(given: Mapping[str, str]) -> dict[str, str]:
    """Return facts that a form sent: those that were filled in."""
    return {name: " ".join(text.split())[:_LONGEST] for name, text in given.items() if text.strip()}
