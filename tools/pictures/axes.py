"""Axes of a chart: where a value lies on the canvas, and the lines and numbers that tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .canvas import Canvas, Point

__all__ = ["Axes"]


@dataclass(frozen=True)
class Axes:
    """A field from (``left``, ``top``) to (``right``, ``bottom``) for x in ``across`` and y in ``up``."""

    left: float
    right: float
    top: float
    bottom: float
    across: tuple[float, float]
    up: tuple[float, float]

    def at(self, x: float, y: float) -> Point:
        """Return where a value lies.

        >>> Axes(40, 140, 10, 110, (0, 10), (0, 1)).at(5, 1)
        (90.0, 10.0)
        """
        (x0, x1), (y0, y1) = self.across, self.up
        return (
            self.left + (x - x0) / (x1 - x0) * (self.right - self.left),
            self.bottom - (y - y0) / (y1 - y0) * (self.bottom - self.top),
        )

    def draw(self, canvas: Canvas, xs: Sequence[float], ys: Sequence[float], *, percent: str = "") -> None:
        """Draw lines at ``ys`` and the numbers of both axes; ``percent`` names those that are shares: x, y or xy."""
        for y in ys:
            start, end = self.at(self.across[0], y), self.at(self.across[1], y)
            canvas.line(start, end, meaning="line")
            canvas.text(
                start[0] - 6, start[1] + 4, _tick_label(y, "y" in percent), meaning="muted", anchor="end", small=True
            )
        canvas.line(self.at(self.across[0], self.up[0]), self.at(self.across[1], self.up[0]), meaning="muted")
        for x in xs:
            place = self.at(x, self.up[0])
            canvas.line(place, (place[0], place[1] + 4), meaning="muted")
            label = _tick_label(x, "x" in percent)
            canvas.text(place[0], place[1] + 18, label, meaning="muted", anchor="middle", small=True)


def _tick_label(value: float, share: bool) -> str:
    return f"{value:.0%}" if share else f"{value:g}"
