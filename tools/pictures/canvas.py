"""A small canvas: shapes with a meaning become one line of SVG.

Colours are meanings (:data:`Meaning`), classes that the site's style sheet fills in, so a drawing follows the reader's
light or dark page. Every drawing is narrow (:data:`WIDTH`), so that its letters can be read on a phone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from typing import Literal

__all__ = ["WIDTH", "Canvas", "Meaning", "Picture", "Point"]

WIDTH = 440

Meaning = Literal["original", "released", "risk", "warning", "ink", "muted", "line"]
Point = tuple[float, float]


@dataclass(frozen=True)
class Picture:
    """A drawing with the sentence it shows (``finding``) and what it looks like to whoever cannot see it."""

    name: str
    finding: str
    description: str
    svg: str

    def as_html(self) -> str:
        """Return a figure on one line, as Markdown takes it for one block of HTML."""
        caption = f"<figcaption>{escape(self.finding)}</figcaption>"
        return f'<figure class="noren-picture" id="picture-{self.name}">{self.svg}{caption}</figure>'


@dataclass
class Canvas:
    """Collects shapes, from the back to the front."""

    height: float
    parts: list[str] = field(default_factory=list)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        meaning: Meaning = "ink",
        anchor: Literal["start", "middle", "end"] = "start",
        small: bool = False,
        strong: bool = False,
    ) -> None:
        """Write a line; ``y`` is where its letters stand."""
        looks = f"fill-{meaning}" + (" small" if small else "") + (" strong" if strong else "")
        self.parts.append(
            f'<text x="{_n(x)}" y="{_n(y)}" class="{looks}" text-anchor="{anchor}">{escape(text, quote=False)}</text>'
        )

    def line(
        self,
        start: Point,
        end: Point,
        *,
        meaning: Meaning = "line",
        dash: str = "",
        width: float = 1,
        arrow: bool = False,
    ) -> None:
        """Draw a straight line, with a head at its end if it is an arrow."""
        (x1, y1), (x2, y2) = start, end
        self.parts.append(
            f'<line x1="{_n(x1)}" y1="{_n(y1)}" x2="{_n(x2)}" y2="{_n(y2)}" {_stroke(meaning, dash, width)}/>'
        )
        if arrow:
            length = max(((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5, 1e-9)
            ux, uy = (x2 - x1) / length, (y2 - y1) / length
            head = [
                (x2, y2),
                (x2 - 9 * ux - 4 * uy, y2 - 9 * uy + 4 * ux),
                (x2 - 9 * ux + 4 * uy, y2 - 9 * uy - 4 * ux),
            ]
            self.parts.append(f'<polygon points="{_points(head)}" class="fill-{meaning}"/>')

    def path(self, points: Iterable[Point], *, meaning: Meaning, dash: str = "", width: float = 2) -> None:
        """Draw a line through points."""
        self.parts.append(f'<polyline points="{_points(points)}" {_stroke(meaning, dash, width)}/>')

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: Meaning | None = None,
        edge: Meaning | None = None,
        faint: bool = False,
        round_by: float = 4,
    ) -> None:
        """Draw a rectangle, filled, with an edge, or both; a faint filling lets text be read on it."""
        looks = [
            f"fill-{fill}" if fill else "hollow",
            *(["faint"] if faint else []),
            *([f"edge-{edge}"] if edge else []),
        ]
        self.parts.append(
            f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(width)}" height="{_n(height)}" rx="{_n(round_by)}" '
            f'class="{" ".join(looks)}"/>'
        )

    def dot(self, x: float, y: float, *, meaning: Meaning, radius: float = 5, hollow: bool = False) -> None:
        """Draw a disc, or a ring."""
        looks = f"hollow edge-{meaning}" if hollow else f"fill-{meaning}"
        self.parts.append(f'<circle cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}" class="{looks}"/>')

    def triangle(self, x: float, y: float, *, meaning: Meaning, radius: float = 6) -> None:
        """Draw a triangle around a point."""
        corners = [(x, y - radius), (x - radius, y + 0.8 * radius), (x + radius, y + 0.8 * radius)]
        self.parts.append(f'<polygon points="{_points(corners)}" class="fill-{meaning}"/>')

    def svg(self, name: str, description: str) -> str:
        """Return the drawing; ``description`` is read out in its place."""
        key = f"picture-{name}-says"
        return (
            f'<svg viewBox="0 0 {WIDTH} {_n(self.height)}" role="img" aria-labelledby="{key}" '
            f'xmlns="http://www.w3.org/2000/svg"><desc id="{key}">{escape(description, quote=False)}</desc>'
            f"{''.join(self.parts)}</svg>"
        )


def _n(value: float) -> str:
    """Write a number short: 12.0 is 12, 3.14159 is 3.1."""
    return f"{round(value, 1):g}"


def _points(points: Iterable[Point]) -> str:
    return " ".join(f"{_n(x)},{_n(y)}" for x, y in points)


def _stroke(meaning: Meaning, dash: str, width: float) -> str:
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'class="edge-{meaning} hollow" stroke-width="{_n(width)}"{dashes}'
