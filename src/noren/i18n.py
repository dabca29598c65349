"""What a person reads, in the language they read it in.

Mark text where it is written with :func:`_` (translated at once) or :func:`N_` (marked now, translated
when shown: parameter descriptions, component summaries). Catalogues are gettext files under ``locale/``;
``make translations`` refreshes them and a test fails on an untranslated or stale entry.
"""

import gettext
import os
from pathlib import Path

__all__ = ["LANGUAGES", "N_", "_", "activate", "active_language", "ngettext", "preferred_language"]

LANGUAGES = ("en", "ja")
_LOCALE = Path(__file__).parent / "locale"

_language = "en"
_catalogue: gettext.NullTranslations = gettext.NullTranslations()


def preferred_language(wanted: str | None = None) -> str:
    """Choose a language: ``wanted``, else ``$NOREN_LANG``, else the locale of the environment, else English."""
    for candidate in (wanted, os.environ.get("NOREN_LANG"), os.environ.get("LC_ALL"), os.environ.get("LANG")):
        if candidate and candidate[:2].lower() in LANGUAGES:
            return candidate[:2].lower()
    return "en"


def activate(language: str) -> None:
    """Speak ``language`` (``en`` or ``ja``) from now on."""
    global _language, _catalogue
    _language = language
    _catalogue = (
        gettext.NullTranslations()
        if language == "en"
        else gettext.translation("noren", localedir=_LOCALE, languages=[language])
    )


def active_language() -> str:
    """Return the language now spoken."""
    return _language


def _(message: str) -> str:
    """Translate ``message``."""
    return _catalogue.gettext(message) if message else ""


def ngettext(singular: str, plural: str, count: int) -> str:
    """Translate a message whose form depends on ``count``."""
    return _catalogue.ngettext(singular, plural, count)


def N_(message: str) -> str:  # noqa: N802 - gettext's customary name
    """Mark ``message`` for translation where it is shown."""
    return message
