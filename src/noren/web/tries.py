"""Guesses of passwords, counted for each address apart, so that nobody can lock others out."""

from __future__ import annotations

import ipaddress
import threading
import time

__all__ = ["Tries", "guesser"]

_MINUTE, _MOST_WRONG = 60.0, 10
_MANY_WRONG, _DELAY, _LONGEST_DELAY = 30, 0.05, 3.0


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
