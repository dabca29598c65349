"""What a person reads, in the language they read it in.

Mark text where it is written with :func:`_` (translated at once) or :func:`N_` (marked now, translated
when shown: parameter descriptions, component summaries). Catalogues are gettext files under ``locale/``;
``make translations`` refreshes them and a test fails on an untranslated or stale entry.
"""

import gettext
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

LANGUAGES = ("en", "ja")
_LOCALE = Path(__file__).parent / "locale"

_language = "en"
_remembering = False
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
def use_language(language: str) -> Iterator[None]:
    """Speak ``language`` within, in this task alone.

    >>> with use_language("ja"):
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
    found = gettext.translation("noren", localedir=_LOCALE, languages=[language])
    found.add_fallback(_PluginTranslations(language))
    return found


_learnt: dict[str, dict[str, str]] = {}


class _PluginTranslations(gettext.NullTranslations):
    """What other packages taught: asked where the house's own catalogue has nothing."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self.language = language

    def gettext(self, message: str) -> str:
        return _learnt.get(self.language, {}).get(message, message)


def add_translations(translations: Mapping[str, Mapping[str, str]]) -> None:
    """Take in texts of another package: of each language, messages and what they are in it. Our own stay as they are.

    >>> add_translations({"ja": {"a text of theirs": "ある文"}})
    >>> with use_language("ja"):
    ...     _("a text of theirs")
    'ある文'
    """
    for language, texts in translations.items():
        _learnt.setdefault(language, {}).update(texts)


def _(message: str) -> str:
    """Translate ``message``."""
    if not message:
        return ""
    said = _catalogue(active_language()).gettext(message)
    return _TranslatedText.of(said, (message,)) if _remembering else said


def ngettext(singular: str, plural: str, count: int) -> str:
    """Translate a message whose form depends on ``count``."""
    said = _catalogue(active_language()).ngettext(singular, plural, count)
    return _TranslatedText.of(said, (singular, plural, count)) if _remembering else said


# --- the same thing in another language ------------------------------------------------------------------------------


class _TranslatedText(str):
    """A translated text that remembers its message and what was put into it."""

    message: tuple[Any, ...]
    given: tuple[tuple[Any, ...], dict[str, Any]] | None

    @classmethod
    def of(cls, text: str, message: tuple[Any, ...], given: Any = None) -> "_TranslatedText":
        made = cls(text)
        made.message, made.given = message, given
        return made

    def format(self, *args: Any, **words: Any) -> str:
        return _TranslatedText.of(super().format(*args, **words), self.message, (args, words))


def track_messages() -> None:
    """Let texts remember their messages from now on: what this process says is read by people of every language."""
    global _remembering
    _remembering = True


def retranslate(text: Any) -> Any:
    """Return a text in the language now spoken, as far as it remembers its message; anything else as it is."""
    if not isinstance(text, _TranslatedText):
        return text
    catalogue = _catalogue(active_language())
    said = catalogue.gettext(*text.message) if len(text.message) == 1 else catalogue.ngettext(*text.message)
    if text.given is None:
        return said
    args, words = text.given
    return said.format(*map(retranslate, args), **{name: retranslate(value) for name, value in words.items()})


def in_every_language(say: Callable[[], str]) -> dict[str, str]:
    """Return what a function says in each language.

    >>> in_every_language(lambda: _("done"))["en"]
    'done'
    """
    told = {}
    for language in LANGUAGES:
        with use_language(language):
            told[language] = str(say())
    return told


def N_(message: str) -> str:  # noqa: N802 - gettext's customary name
    """Mark ``message`` for translation where it is shown."""
    return message


# --- sentences that libraries speak in English alone -----------------------------------------------------------------
#
# Their English is the key of our catalogue, so an English reader sees it unchanged, and a sentence that a later version
# words anew stays English instead of breaking.

VALIDATION = (
    N_("Input should be a valid integer, unable to parse string as an integer"),
    N_("Input should be a valid integer, got a number with a fractional part"),
    N_("Input should be a valid number, unable to parse string as a number"),
    N_("Input should be a valid boolean, unable to interpret input"),
    N_("Input should be a valid string"),
    N_("Input should be a finite number"),
    N_("Input should be greater than or equal to {bound}"),
    N_("Input should be greater than {bound}"),
    N_("Input should be less than or equal to {bound}"),
    N_("Input should be less than {bound}"),
    N_("Input should be {choices}"),
    N_("Extra inputs are not permitted"),
    N_("Field required"),
)
"""What pydantic says of a value; the longer of two that begin alike stands first."""


def translated(said: str, known: Sequence[str] = VALIDATION) -> str:
    """Return a sentence of ``known`` in the reader's language, anything else as it is.

    A part named ``said`` is a sentence of its own.

    >>> translated("Input should be greater than 0")
    'Input should be greater than 0'
    """
    for template in known:
        found = _pattern(template).fullmatch(said)
        if found:
            parts = {n: translated(t, known) if n == "said" else t for n, t in found.groupdict().items()}
            return _(template).format(**parts)
    return said


@cache
def _pattern(template: str) -> re.Pattern[str]:
    parsed = Formatter().parse(template)
    pieces = (re.escape(text) + (f"(?P<{name}>.+?)" if name else "") for text, name, _spec, _how in parsed)
    return re.compile("".join(pieces), re.DOTALL)
