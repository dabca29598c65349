"""Lots that nobody can bend and everybody can check afterwards (commit–reveal).

Row order, pseudonyms and numbers of targets must tell attackers nothing and must not be chosen by the organiser. So
the server draws one salt before anybody has registered and publishes its digest, the commitment; every lot follows
from the salt and a label; the salt is published with the results, and whoever has it draws the same lots again.
"""

from __future__ import annotations

import hashlib
import hmac

import numpy as np
from numpy.typing import NDArray

SALT_BYTES = 32
_PREFIX = b"noren-lots:"


def commitment(salt: bytes) -> str:
    """Return what is published of a salt before it is revealed.

    >>> commitment(bytes(32))[:16]
    '9e1af9218f6cd4d6'
    """
    return hashlib.sha256(_PREFIX + salt).hexdigest()


def holds(published: str, salt: bytes) -> bool:
    """Tell whether a revealed salt is the one whose commitment was published."""
    return len(salt) == SALT_BYTES and hmac.compare_digest(commitment(salt), published)


def seed(salt: bytes, label: str) -> int:
    """Return the 128 bits that everything drawn under a label follows from."""
    return int.from_bytes(hmac.digest(salt, label.encode("utf-8"), "sha256")[:16], "big")


def order(salt: bytes, label: str, n: int) -> NDArray[np.int64]:
    """Return a permutation of n places that follows from salt and label alone.

    The k-th place gets what stood at ``order[k]``. It sorts raw words of a counter-based generator (Philox), whose
    stream NumPy promises to keep, instead of shuffling, which it does not; two equal words among a billion rows would
    be luck of one in forty, and the sort is stable.

    >>> order(bytes(32), "cup/final/targets", 5).tolist()
    [2, 0, 4, 1, 3]
    """
    words = np.random.Philox(key=seed(salt, label)).random_raw(n)
    return np.argsort(words, kind="stable")
