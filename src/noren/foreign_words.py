"""Sentences that libraries speak in English alone, in the reader's language.

Their English is the key of our catalogue, so an English reader sees it unchanged, and a sentence that a later version
words anew stays English instead of breaking.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from string import Formatter

from noren.i18n import N_, _

__all__ = ["VALIDATION", "translated"]

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
