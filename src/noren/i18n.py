"""What a person reads, in the language they read it in.

Mark text where it is written with :func:`_` (translated at once) or :func:`N_` (marked now, translated
when shown: parameter descriptions, component summaries). Catalogues are gettext files under ``locale/``;
``make translations`` refreshes them and a test fails on an untranslated or stale entry.
"""

import gettext
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path

__all__ = ["LANGUAGES", "N_", "_", "activate", "active_language", "ngettext", "preferred_language", "speaking"]

LANGUAGES = ("en", "ja")
_LOCALE = Path(__file__).parent / "locale"

_language = "en"
_here: ContextVar[str | None] = ContextVar("language", default=None)
"""The language of this task alone: a server answers several people at once."""


def preferred_language(wanted: str | None = None) -> str:
    """Choose a language: ``wanted``, else ``$NOREN_LANG``, else the locale of the environment, else English."""
    for candidate in (wanted, os.environ.get("NOREN_LANG"), os.environ.get("LC_ALL"), os.environ.get("LANG")):
        if candidate and candidate[:2].lower() in LANGUAGES:
            return candidate[:2].lower()
    return "en"


def activate(language: str) -> None:
    """Speak ``language`` (``en`` or ``ja``) from now on."""
    global _language
    _catalogue(language)
    _language = language


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """Speak ``language`` within, in this task alone.

    >>> with speaking("ja"):
    ...     active_language()
    'ja'
    """
    _catalogue(language)
    before = _here.set(language)
    try:
        yield
    finally:
        _here.reset(before)


def active_language() -> str:
    """Return the language now spoken."""
    return _here.get() or _language


@cache
def _catalogue(language: str) -> gettext.NullTranslations:
    if language == "en":
        return gettext.NullTranslations()
    return gettext.translation("noren", localedir=_LOCALE, languages=[language])


def _(message: str) -> str:
    """Translate ``message``."""
    return _catalogue(active_language()).gettext(message) if message else ""


def ngettext(singular: str, plural: str, count: int) -> str:
    """Translate a message whose form depends on ``count``."""
    return _catalogue(active_language()).ngettext(singular, plural, count)


def N_(message: str) -> str:  # noqa: N802 - gettext's customary name
    """Mark ``message`` for translation where it is shown."""
    return message
