"""Logins and passwords: what they may be, how they are kept and compared, and how often they may be guessed.

Passwords are kept as argon2 hashes and compared in the same time whether or not somebody of that name is known. Guesses
are counted for each address apart, so that nobody can lock others out.
"""

from __future__ import annotations

import ipaddress
import re
import threading
import time
import unicodedata
from functools import cache
from typing import Final

from noren.errors import ParameterError
from noren.i18n import _

_LOGIN = re.compile(r"[\w.@+-]{2,64}")
LONGEST_NAME = 80
_SHORTEST, _LONGEST = 10, 1000
_hashing: Final = threading.BoundedSemaphore(2)
"""Each hash takes 64 MB: so many are made at once, however many people log in."""
_MINUTE, _MOST_WRONG = 60.0, 10
_MANY_WRONG, _DELAY, _LONGEST_DELAY = 30, 0.05, 3.0


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


class Tries:
    """How often passwords were guessed.

    An address may be wrong ten times a minute. When many addresses guess together, every answer comes later the more
    they guess, but the right password always opens: whoever guesses from elsewhere locks nobody out.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wrong: dict[str, list[float]] = {}

    def may_try(self, address: str) -> bool:
        """Count a try of an address; tell whether it was not wrong too often in the last minute."""
        with self._lock:
            now = time.monotonic()
            self._wrong = {
                who: recent
                for who, tries in self._wrong.items()
                if (recent := [t for t in tries if t > now - _MINUTE][-_MOST_WRONG:])
            }
            tries = self._wrong.setdefault(guesser(address), [])
            if len(tries) >= _MOST_WRONG:
                return False
            tries.append(now)
            return True

    def delay(self) -> float:
        """Return the seconds to wait before an answer: none, unless many addresses guess together."""
        with self._lock:
            wrong = sum(map(len, self._wrong.values()))
        return min(_LONGEST_DELAY, max(0, wrong - _MANY_WRONG) * _DELAY)

    def forget(self, address: str) -> None:
        """Count nothing against an address that knew the password."""
        with self._lock:
            self._wrong.pop(guesser(address), None)


def guesser(address: str) -> str:
    """Return who counts as one: an address, and of IPv6 the network that one household is given."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address) and found.ipv4_mapped is None:
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)
