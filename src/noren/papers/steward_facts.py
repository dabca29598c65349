"""What the steward knows and the release does not: who makes it, for whom, for what, until when."""

from __future__ import annotations

import datetime as dt
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from noren.data.formats.source import readable
from noren.errors import FileError
from noren.i18n import _
from noren.naming import suggestion
from noren.papers.wording import drafts

__all__ = ["fact_names", "facts_given", "read_facts"]

_PREFIX = "common.field_"
_LONGEST = 2_000


def fact_names() -> list[str]:
    """Return the facts that papers ask for."""
    return [key.removeprefix(_PREFIX) for key in drafts() if key.startswith(_PREFIX)]


def read_facts(path: str | Path) -> dict[str, str]:
    """Read a TOML file of facts: ``company = "…"``; an unknown name stops with the nearest that exists."""
    path = readable(path)
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise FileError(str(error), _("correct the file"), file=path) from None
    return {name: _fact(name, value, path) for name, value in given.items()}


def _fact(name: str, value: Any, path: Path) -> str:
    known = fact_names()
    if name not in known:
        raise FileError(
            _("{name} is no fact that papers ask for{hint}").format(name=name, hint=suggestion(name, known)),
            _("facts are {names}").format(names=", ".join(known)),
            file=path,
        )
    text = value.isoformat() if isinstance(value, dt.date) else value
    if not isinstance(text, str) or not text.strip():
        raise FileError(_("{name} has no text").format(name=name), _('write it like {name} = "…"').format(name=name),
                        file=path)  # fmt: skip
    if len(text) > _LONGEST:
        raise FileError(
            _("{name} is longer than {most:,} characters").format(name=name, most=_LONGEST), _("shorten it"), file=path
        )
    return " ".join(text.split())


def facts_given(given: Mapping[str, str]) -> dict[str, str]:
    """Return facts that a form sent: those that were filled in."""
    return {name: " ".join(text.split())[:_LONGEST] for name, text in given.items() if text.strip()}
