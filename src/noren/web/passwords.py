"""Passwords: kept as argon2 hashes, compared in the same time whether or not somebody of that name is known."""

from __future__ import annotations

import threading
from functools import cache
from typing import Final

from noren.errors import ParameterError
from noren.i18n import _

__all__ = ["hashed", "is_right"]

_SHORTEST, _LONGEST = 10, 1000
_hashing: Final = threading.BoundedSemaphore(2)
"""Each hash takes 64 MB: so many are made at once, however many people log in."""


def hashed(password: str) -> str:
    """Return what is kept of a password."""
    from argon2 import PasswordHasher

    if len(password) < _SHORTEST:
        raise ParameterError(_("the password is too short"), _("use ten characters or more"))
    if len(password) > _LONGEST:
        raise ParameterError(_("the password is too long"), _("use a thousand characters or fewer"))
    with _hashing:
        return PasswordHasher().hash(password)


def is_right(kept: str | None, password: str) -> bool:
    """Tell whether a password is that of a hash; without one it is wrong, and takes as long to say."""
    from argon2 import PasswordHasher
    from argon2.exceptions import Argon2Error, InvalidHashError

    try:
        with _hashing:
            return PasswordHasher().verify(kept or _nobodys(), password[: _LONGEST + 1]) and kept is not None
    except (Argon2Error, InvalidHashError):
        return False


@cache
def _nobodys() -> str:
    from argon2 import PasswordHasher

    return PasswordHasher().hash("nobody's password")
