"""The three answers there are to: is this release safe?"""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Verdict"]


class Verdict(StrEnum):
    """How a release stood up to the attacks tried, or, of a table, to what its classes tell."""

    WITHSTANDS = "withstands"
    BROKEN = "broken"
    UNTRIED = "untried"
