"""Where the labels of a map's points go: beside their points, on nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Spot = tuple[float, float]
"""A place in pixels from the top left corner of the plot, as a screen counts."""
Box = tuple[float, float, float, float]

LETTER = (6.8, 15.0)
"""Width and height, in pixels, that a letter of a label is given."""
_BROAD = frozenset("mw@%…—")
_POINT = 7.0
_GAP = 4.0
_WIDE = 640
_HEADING = 14
"""The size of the heading's letters; widths are known for those of 12."""
_PIECES = re.compile(r"\s*(?:[!-~]+|[^!-~\s])[、。）」；：]?")
"""A word, or a Japanese character with what may not begin a line."""


@dataclass(frozen=True)
class Label:
    """The top left corner of a label, and its place next to the point; ``far`` ones want a line to their point."""

    left: float
    top: float
    near: Spot
    far: bool


def place_labels(
    spots: Sequence[Spot], texts: Sequence[str], size: tuple[float, float], steps: Sequence[Spot] = ()
) -> list[Label | None]:
    """Place a label at each of ``spots``: inside the plot, on no other label, no point and not on the step line.

    A label that fits nowhere near its point is left out; what it says must stand elsewhere as well.

    >>> place_labels([(50.0, 50.0)], ["k = 3"], (200, 100))
    [Label(left=61.0, top=42.5, near=(61.0, 50.0), far=False)]
    """
    points = [(x - _POINT, y - _POINT, x + _POINT, y + _POINT) for x, y in spots]
    lines: list[Box] = []  # the upright and the level piece between each two points of a line that rises first
    for (x0, y0), (x1, y1) in pairwise(steps):
        lines += [(x0 - 2, min(y0, y1), x0 + 2, max(y0, y1)), (min(x0, x1), y1 - 2, max(x0, x1), y1 + 2)]
    placed: list[Box] = []
    answer: list[Label | None] = []
    for own, ((x, y), text) in enumerate(zip(spots, texts, strict=True)):
        wide = text_width(text)
        others = [*placed, *points[:own], *points[own + 1 :]]
        boxed = [(c, _box(c, wide)) for c in _candidates(x, y, wide)]
        fitting = [c for c, (x0, y0, x1, y1) in boxed if x0 >= 0 and y0 >= 0 and x1 <= size[0] and y1 <= size[1]]
        free = [c for c in fitting if not _meets(_box(c, wide), others)]
        # a label on the line is still legible, one on a label is not
        label = next((c for c in free if not _meets(_box(c, wide), lines)), free[0] if free else None)
        answer.append(label)
        if label is not None:
            placed.append(_box(label, wide))
    return answer


def text_width(text: str) -> float:
    """Return the room for a label: twice a letter's for a Japanese one, more for capitals, as no font is at hand.

    >>> text_width("k = 3") / LETTER[0], text_width("暖簾") / LETTER[0]
    (5.0, 4.0)
    """
    return LETTER[0] * sum(
        2 if ord(letter) > 0x2E7F or letter in "WM" else 1.5 if letter.isupper() or letter in _BROAD else 1
        for letter in text
    )


def _candidates(x: float, y: float, wide: float) -> list[Label]:
    tall, beside = LETTER[1], _POINT + _GAP
    found = [
        Label(x + beside, y - tall / 2, (x + beside, y), far=False),
        Label(x - beside - wide, y - tall / 2, (x - beside, y), far=False),
    ]
    for step in range(4):
        away = beside + step * (tall + 1)
        for left in (x - wide / 2, x + _GAP, x - _GAP - wide):
            found += [
                Label(left, y - away - tall, (x, y - away), far=step > 0),
                Label(left, y + away, (x, y + away), far=step > 0),
            ]
    return found


def _box(label: Label, wide: float) -> Box:
    return label.left, label.top, label.left + wide, label.top + LETTER[1]


def _meets(box: Box, others: Sequence[Box]) -> bool:
    return any(box[0] - _GAP < o[2] and box[2] + _GAP > o[0] and box[1] < o[3] and box[3] > o[1] for o in others)


def heading_lines(text: str) -> list[str]:
    """Return a heading in lines that fit the chart: cut between words, and between Japanese characters."""
    lines = [""]
    for piece in _PIECES.findall(text):
        if lines[-1] and text_width((lines[-1] + piece).rstrip()) * _HEADING / 12 > _WIDE:
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return [line.rstrip() for line in lines]
