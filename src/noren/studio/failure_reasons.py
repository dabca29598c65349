"""Why something did not come to its end, in every language at once: who reads it may not speak as who ordered it.

A full disk, a full memory and a killed process look different to each library that meets them; here each has one
sentence with its cure, and nothing of the machine is told.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from noren.errors import InputError, NorenError, sentences
from noren.i18n import LANGUAGES, N_, _, active_language, in_every_language, retranslate
from noren.web.errors import DISK_FULL, UNEXPECTED, is_disk_full

Reason = dict[str, str]
"""One sentence in each language: ``{"en": …, "ja": …}``."""

GONE: Final = N_("the process ended, probably because memory ran out; try fewer rows or another method")
INTERRUPTED: Final = N_("the studio was stopped {times} times while this ran; start it again")


def in_all_languages(message: str, **words: Any) -> Reason:
    """Return one of our sentences in every language.

    >>> in_all_languages(INTERRUPTED, times=3)["en"]
    'the studio was stopped 3 times while this ran; start it again'
    """
    return in_every_language(lambda: _(message).format(**words) if words else _(message))


def reason_of(error: BaseException, component: str) -> Reason:
    """Return why a component (an attack, a measure, an audit) did not come to its end."""
    message: Reason = error_details(error)["message"]
    if isinstance(error, NorenError | MemoryError) or is_disk_full(error):
        return message
    return {language: f"{component}: {text}" for language, text in message.items()}


def error_details(error: BaseException, file_name: str | None = None) -> dict[str, Any]:
    """Return why a job failed, as the store keeps it: texts in every language, the person's file in place of ours."""
    if is_disk_full(error):
        return {"message": in_all_languages(DISK_FULL)}
    if isinstance(error, MemoryError):
        return {"message": in_all_languages(GONE)}
    if not isinstance(error, NorenError):
        return {"message": in_all_languages(UNEXPECTED)}
    if not isinstance(error, InputError):
        message = error.message
        return {"message": in_every_language(lambda: retranslate(message) if message else str(error))}
    file, problem = None if error.file is None else file_name or Path(error.file).name, error.problem

    def sentence() -> str:
        again = [replace(item, rule=retranslate(item.rule), cure=retranslate(item.cure)) for item in error.problems]
        return sentences(again, file)

    return problem.as_dict() | {
        "message": in_every_language(sentence),
        "rule": in_every_language(lambda: retranslate(problem.rule)),
        "cure": in_every_language(lambda: retranslate(problem.cure)),
    }


def in_language_of_reader(details: dict[str, Any]) -> dict[str, Any]:
    """Return what is kept of an error with its texts in the language now spoken.

    >>> in_language_of_reader({"message": {"en": "tea", "ja": "茶"}, "row": 3})
    {'message': 'tea', 'row': 3}
    """
    return {
        name: value[active_language()] if isinstance(value, dict) and set(value) == set(LANGUAGES) else value
        for name, value in details.items()
    }
