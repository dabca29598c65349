"""Charts as SVG text, for reports and other pages that run nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from noren.drawing import bars, risk_map
from noren.drawing.ground import COLOURS, picture
from noren.drawing.histograms import Axis, Spread
from noren.judgement.page_text import printable
from noren.judgement.place import Place

__all__ = ["COLOURS", "histogram", "picture", "printable", "risk_utility_map"]


def histogram(axis: Axis, values: Spread, *, top: float, released: bool) -> str:
    """Return one panel (:func:`noren.drawing.bars.histogram`)."""
    return picture(bars.histogram(axis, values, top=top, released=released))


def risk_utility_map(places: Sequence[Place], *, width: int = 640, height: int = 340, **how: Any) -> str:
    """Return the map (:func:`noren.drawing.risk_map.risk_utility_map`)."""
    return picture(risk_map.risk_utility_map(places, size=(width, height), **how))
