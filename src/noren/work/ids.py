"""Identifiers of what people make: nobody can guess them, and none has letters that look alike."""

from __future__ import annotations

import secrets

_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"


def new_id() -> str:
    """Return an identifier nobody can guess, without letters that look alike.

    >>> len(new_id())
    12
    """
    return "".join(secrets.choice(_LETTERS) for _ in range(12))
