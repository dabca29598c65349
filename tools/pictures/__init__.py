"""The pictures of the documentation, drawn from the same code that protects, attacks and measures.

A page asks for one by a comment, ``<!-- picture: thresholds -->``. Their numbers are computed when the site is built,
so they cannot fall behind the product.
"""

from __future__ import annotations

from collections.abc import Callable

from . import cells, classes, flow, frontier, months, pseudonyms, retention, survival, thresholds
from .canvas import Picture
from .words import LANGUAGES

__all__ = ["LANGUAGES", "PICTURES", "draw"]

PICTURES: dict[str, Callable[[str], Picture]] = {
    "cells": cells.draw,
    "flow": flow.draw,
    "frontier": frontier.draw,
    "k": classes.draw,
    "months": months.draw,
    "pk": retention.draw,
    "pseudonyms": pseudonyms.draw,
    "survival": survival.draw,
    "thresholds": thresholds.draw,
}


def draw(name: str, language: str) -> Picture:
    """Draw the picture of this name with labels of this language; an unknown name is a KeyError."""
    return PICTURES[name](language)
