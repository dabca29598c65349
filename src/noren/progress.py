"""How far long work has come: a function that is told, so that no kernel knows a terminal or a browser."""

from typing import Protocol

__all__ = ["Progress", "silent"]


class Progress(Protocol):
    """Called with the share done (0 to 1) and a few words."""

    def __call__(self, done: float, words: str = "") -> None:
        """Report that ``done`` of the work is done."""


def silent(done: float, words: str = "") -> None:
    """Report to nobody."""
