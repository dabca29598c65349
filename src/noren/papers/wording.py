"""The texts of the papers, drafted in each language, side by side in ``texts/*.toml``.

A legal text is not translated sentence by sentence: each language has its own draft, and counsel reads both in one
place. So these texts are in files of their own and not in the catalogue. They never state how safe a release is:
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
    texts: dict[str, Mapping[str, str]] = {}
    for name in _FILES:
        text = (files("noren.papers") / "texts" / f"{name}.toml").read_text(encoding="utf-8")
        for key, draft in tomllib.loads(text).items():
            texts[f"{name}.{key}"] = draft
    return texts


@dataclass(frozen=True)
class Wording:
    """The texts in one language, with the facts that the steward filled in.

    >>> Wording("en", {"company": "Acme"}).field("company"), str(Wording("en").field("company"))
    ('Acme', '[TO FILL IN: name of the business that makes the data]')
    """

    language: str = field(default_factory=active_language)
    known: Mapping[str, str] = field(default_factory=dict)

    def word(self, key: str, **values: str) -> str:
        """Return a text without fields."""
        return plain(self.text(key, **values))

    def text(self, key: str, **values: str | Field | Text) -> Text:
        """Return a text; a place that nobody fills is a fact of the steward's, known or to be filled in."""
        template = drafts()[key][self.language]
        return filled(template, lambda name: values[name] if name in values else self.field(name))

    def section(self, key: str, *blocks: Block) -> Section:
        """Return a section under the heading ``key``."""
        return Section(self.word(key), blocks)

    def points(self, keys: Iterable[str]) -> Points:
        """Return several texts as a list."""
        return Points(tuple(self.text(key) for key in keys))

    def words(self, prefix: str, *names: str) -> list[str]:
        """Return several texts whose names begin alike."""
        return [self.word(f"{prefix}{name}") for name in names]

    def field(self, key: str) -> str | Field:
        """Return a fact of the steward's, or the place for it."""
        if key in self.known:
            return self.known[key]
        return Field(fact_fields()[key][self.language], drafts()["common.mark"][self.language], key)

    def decision(self, key: str, **values: str) -> Field:
        """Return the place for something that a person must decide."""
        return Field(self.word(key, **values), drafts()["common.mark"][self.language])


# --- facts that only the steward knows ------------------------------------------------------------------

_LONGEST = 2_000


@cache
def fact_fields() -> Mapping[str, Mapping[str, str]]:
    """Return the facts in the papers by name: how far each reaches (``of``), and in each language what it is."""
    return tomllib.loads((files("noren.papers") / "texts" / "fields.toml").read_text(encoding="utf-8"))


def read_facts(path: str | Path) -> dict[str, str]:
    """Read a TOML file of facts: ``company = "…"``; an unknown name stops with the nearest that exists."""
    path = require_readable(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FileError(_("the file is not TOML ({reason}); correct it").format(reason=error), file=path) from None
    known, facts = list(fact_fields()), {}
    for name, value in content.items():
        text = value.isoformat() if isinstance(value, dt.date) else value
        problem = ""
        if name not in known:
            problem = _("{name} is not a fact of the papers{hint}; use one of {names}")
        elif not isinstance(text, str) or not text.strip():
            problem = _('{name} has no text; write it like {name} = "…"')
        elif len(text) > _LONGEST:
            problem = _("{name} is too long; use {most} characters or fewer")
        if problem:
            values = {"hint": suggestion(name, known), "names": ", ".join(known), "most": f"{_LONGEST:,}"}
            raise FileError(problem.format(name=name, **values), file=path)
        facts[name] = " ".join(text.split())
    return facts


def submitted_facts(form: Mapping[str, str]) -> dict[str, str]:
    """Return the facts that a form asks for, those left empty too."""
    return {name: " ".join(form[name].split())[:_LONGEST] for name in fact_fields() if name in form}
