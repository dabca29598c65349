"""How many right names prove a release unsafe: the paper's r(n′) and the sharp one."""

from __future__ import annotations

from collections.abc import Sequence

from noren.kernels.judging.threshold import thresholds

from .axes import Axes
from .canvas import Canvas, Meaning, Picture
from .words import words_of

__all__ = ["MOST", "draw", "first_caught"]

MOST = 200

WORDS = words_of("thresholds")


def first_caught(k: int) -> int:
    """Return the least n′ at which naming one customer for each whole class of k reaches the sharp threshold.

    Pairs: 63 sure hits among 126 names.

    >>> first_caught(2)
    126
    """
    needed = thresholds(100 * k, "sharp")
    return next(n for n in range(k, len(needed), k) if n // k >= needed[n])


def draw(language: str) -> Picture:
    """Draw the two thresholds with what pairs and triples give an attacker on average."""
    words = WORDS[language]
    canvas = Canvas(300)
    axes = Axes(44, 318, 30, 254, (0, MOST), (0, 140))
    canvas.text(axes.left - 30, 16, words["y"], meaning="muted", small=True)
    axes.draw(canvas, (0, 50, 100, 150, 200), (0, 40, 80, 120))
    canvas.text((axes.left + axes.right) / 2, 290, words["x"], meaning="muted", anchor="middle", small=True)
    paper, sharp = thresholds(MOST, "paper"), thresholds(MOST, "sharp")
    lines: list[tuple[str, Sequence[float], Meaning, str, float]] = [
        ("paper", paper, "warning", "7 3", 4),
        ("pairs", [n / 2 for n in range(MOST + 1)], "risk", "2 3", -2),
        ("sharp", sharp, "original", "", 14),
        ("triples", [n / 3 for n in range(MOST + 1)], "released", "2 3", 6),
    ]
    for key, heights, meaning, dash, nudge in lines:
        # below seven names nothing is effective: r(n′) is one more than there are names
        first = 7 if key in ("paper", "sharp") else 0
        canvas.path((axes.at(n, heights[n]) for n in range(first, MOST + 1)), meaning=meaning, dash=dash)
        x, y = axes.at(MOST, heights[MOST])
        canvas.text(x + 6, y + nudge, words[key], meaning=meaning, small=True)
    crossing = first_caught(2)
    x, y = axes.at(crossing, crossing / 2)
    canvas.dot(x, y, meaning="risk")
    canvas.line((x, y), axes.at(crossing, 0), meaning="risk", dash="2 3")
    canvas.text(x + 4, axes.bottom - 8, f"{crossing}", meaning="risk", small=True)
    values = {"pairs": crossing, "most": MOST, "paper": paper[MOST], "sharp": sharp[MOST]}
    description = words["description"].format_map(values)
    return Picture(
        "thresholds", words["finding"].format_map(values), description, canvas.svg("thresholds", description)
    )
