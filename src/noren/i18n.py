"""Translation of user-visible text.

Mark text where it is written with :func:`_` (translated at once) or :func:`N_` (marked now, translated
when shown: parameter descriptions, component summaries). Catalogues are gettext files under ``locale/``;
``make translations`` refreshes them and a test fails on an untranslated or stale entry.
"""

import gettext
import os
import re
import tomllib
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
    """Use ``language`` (``en`` or ``ja``) from now on."""
    global _language
    _catalogue(language)
    _language = language


@contextmanager
def use_language(language: str) -> Iterator[None]:
    """Use ``language`` inside the block, in this task alone.

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
    """Return the language in use."""
    return _here.get() or _language


@cache
def _catalogue(language: str) -> gettext.NullTranslations:
    if language == "en":
        return gettext.NullTranslations()
    catalogue = gettext.translation("noren", localedir=_LOCALE, languages=[language])
    catalogue.add_fallback(_PluginTranslations(language))
    return catalogue


_plugin_texts: dict[str, dict[str, str]] = {}


class _PluginTranslations(gettext.NullTranslations):
    """Translations of other packages: the fallback of our own catalogue."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self.language = language

    def gettext(self, message: str) -> str:
        return _plugin_texts.get(self.language, {}).get(message, message)


def add_translations(translations: Mapping[str, Mapping[str, str]]) -> None:
    """Add translations of another package: message to translation, by language. They do not replace our own.

    >>> add_translations({"ja": {"a text of theirs": "ある文"}})
    >>> with use_language("ja"):
    ...     _("a text of theirs")
    'ある文'
    """
    for language, texts in translations.items():
        _plugin_texts.setdefault(language, {}).update(texts)


def _(message: str) -> str:
    """Translate ``message``."""
    if not message:
        return ""
    translation = _catalogue(active_language()).gettext(message)
    return _TranslatedText.of(translation, (message,)) if _remembering else translation


def ngettext(singular: str, plural: str, count: int) -> str:
    """Translate a message whose form depends on ``count``."""
    translation = _catalogue(active_language()).ngettext(singular, plural, count)
    return _TranslatedText.of(translation, (singular, plural, count)) if _remembering else translation


# --- translating a text again ----------------------------------------------------------------------------------------


class _TranslatedText(str):
    """A translated text that remembers its message, what was put into it, and which part of it this is."""

    message: tuple[Any, ...]
    values: tuple[tuple[Any, ...], dict[str, Any]] | None
    part: int | None

    @classmethod
    def of(cls, text: str, message: tuple[Any, ...], values: Any = None, part: int | None = None) -> "_TranslatedText":
        made = cls(text)
        made.message, made.values, made.part = message, values, part
        return made

    def format(self, *args: Any, **words: Any) -> str:
        return _TranslatedText.of(super().format(*args, **words), self.message, (args, words))


def split_remedy(text: str) -> tuple[str, str]:
    """Return the two parts of a message like ``what is wrong; what to do``; the second is empty where there is none.

    >>> split_remedy("a range starts with its smaller end; swap the two ends")
    ('a range starts with its smaller end', 'swap the two ends')
    """
    problem, separator, remedy = text.rpartition("; ")
    if not separator:
        return text, ""
    if not isinstance(text, _TranslatedText):
        return problem, remedy
    parts = [_TranslatedText.of(part, text.message, text.values, n) for n, part in enumerate((problem, remedy))]
    return parts[0], parts[1]


def track_messages() -> None:
    """Let texts remember their messages from now on, so that they can be translated again for each reader."""
    global _remembering
    _remembering = True


def retranslate(text: Any) -> Any:
    """Return a tracked text in the language in use; anything else is returned unchanged."""
    if not isinstance(text, _TranslatedText):
        return text
    catalogue = _catalogue(active_language())
    result = catalogue.gettext(*text.message) if len(text.message) == 1 else catalogue.ngettext(*text.message)
    if text.values is not None:
        args, words = text.values
        result = result.format(*map(retranslate, args), **{name: retranslate(value) for name, value in words.items()})
    return result if text.part is None else split_remedy(result)[text.part]


def in_every_language(say: Callable[[], str]) -> dict[str, str]:
    """Return the text of a function in each language.

    >>> in_every_language(lambda: _("done"))["en"]
    'done'
    """
    translations = {}
    for language in LANGUAGES:
        with use_language(language):
            translations[language] = str(say())
    return translations


def N_(message: str) -> str:  # noqa: N802 - gettext's customary name
    """Mark ``message`` for translation where it is shown."""
    return message


# --- messages of libraries, which are in English only ----------------------------------------------------------------
#
# Their English is the key of our catalogue, so an English reader sees it unchanged, and a sentence that a later version
# words anew stays English instead of breaking.

VALIDATION: tuple[str, ...] = tuple(tomllib.loads(Path(__file__).with_suffix(".toml").read_text()).values())
"""Messages of pydantic, from ``i18n.toml``; of two that begin alike, the longer comes first."""


def translated(sentence: str, known: Sequence[str] = VALIDATION) -> str:
    """Translate a sentence of ``known``; anything else is returned unchanged.

    A part named ``reason`` is a sentence of its own.

    >>> translated("Input should be greater than 0")
    'Input should be greater than 0'
    """
    for template in known:
        match = _pattern(template).fullmatch(sentence)
        if match:
            parts = {n: translated(t, known) if n == "reason" else t for n, t in match.groupdict().items()}
            return _(template).format(**parts)
    return sentence


@cache
def _pattern(template: str) -> re.Pattern[str]:
    parsed = Formatter().parse(template)
    pieces = (re.escape(text) + (f"(?P<{name}>.+?)" if name else "") for text, name, _spec, _how in parsed)
    return re.compile("".join(pieces), re.DOTALL)
