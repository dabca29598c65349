"""What people log in as, and what others see of them: the same rules on every server."""

from __future__ import annotations

import re
import unicodedata

from noren.errors import ParameterError
from noren.i18n import _

__all__ = ["LONGEST_NAME", "checked_login", "checked_name", "folded"]

_LOGIN = re.compile(r"[\w.@+-]{2,64}")
LONGEST_NAME = 80


def folded(login: str) -> str:
    """Return a login as it is compared: however somebody writes it.

    >>> folded(" Ａｎｎ "), folded("ANN")
    ('ann', 'ann')
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", login).casefold()).strip()


def checked_login(login: str) -> str:
    """Return a login as it is kept, or say what is wrong with it."""
    known = folded(login)
    if not _LOGIN.fullmatch(known):
        raise ParameterError(
            _("{login!r} is no login").format(login=login), _("use 2 to 64 letters, digits, or any of . _ - + @")
        )
    return known


def checked_name(name: str) -> str:
    """Return a name as it is shown, or say what is wrong with it."""
    name = " ".join(name.split())
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise ParameterError(_("the name is empty or too long"), _("use 1 to 80 characters"))
    return name
