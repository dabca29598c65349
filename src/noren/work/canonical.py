"""One way to write plain data as bytes, so that a digest means the same everywhere."""

from __future__ import annotations

import hashlib
import json
from typing import Any

_DIGITS = 10


def canonical(value: Any) -> bytes:
    """Return plain data as JSON with sorted names, without blanks, in UTF-8.

    >>> canonical({"b": [1, 0.5], "a": "é"}).decode()
    '{"a":"é","b":[1,0.5]}'
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8")


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of bytes."""
    return hashlib.sha256(content).hexdigest()


def rounded(value: float) -> float:
    """Return a score as the log keeps it: to ten decimals, beyond which machines may differ.

    >>> rounded(0.1 + 0.2)
    0.3
    """
    return round(float(value), _DIGITS) + 0.0  # no negative zero
