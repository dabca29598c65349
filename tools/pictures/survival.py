"""The chance that a release made of classes of k outlives thirteen attackers who do the best one can."""

from __future__ import annotations

from functools import cache

from noren.kernels.judging.survival import best_plan

from .axes import Axes
from .canvas import Canvas, Meaning, Picture
from .words import words_of

__all__ = ["ATTACKERS", "SIZES", "draw", "survives"]

SIZES = (2, 3, 4, 6, 7)
ATTACKERS = 13
CUSTOMERS = 140  # more of them would change nothing: the best plans name 126 people at most

WORDS = words_of("survival")
ASKED = 0.9


@cache
def survives(k: int, bound: str) -> float:
    """Return the chance that all attackers fail against classes of ``k``.

    >>> round(survives(2, "paper"), 3), survives(2, "sharp"), round(survives(3, "sharp"), 3)
    (0.373, 0.0, 0.886)
    """
    plan = best_plan([k] * (CUSTOMERS // k), "sharp" if bound == "sharp" else "paper")
    return (1 - plan.chance) ** ATTACKERS


def draw(language: str) -> Picture:
    """Draw two bars for each k."""
    words = WORDS[language]
    canvas = Canvas(300)
    axes = Axes(52, 430, 50, 240, (0, len(SIZES)), (0, 1))
    canvas.text(8, 16, words["y"].format(attackers=ATTACKERS), meaning="muted", small=True)
    axes.draw(canvas, (), (0, 0.5, 0.9, 1), percent="y")
    canvas.line(axes.at(0, ASKED), axes.at(len(SIZES), ASKED), meaning="ink", dash="4 3")
    chances = {k: (survives(k, "paper"), survives(k, "sharp")) for k in SIZES}
    sides: tuple[tuple[str, Meaning], ...] = (("paper", "warning"), ("sharp", "original"))
    for at, (k, pair) in enumerate(chances.items()):
        middle, floor = axes.at(at + 0.5, 0)
        canvas.text(middle, floor + 20, f"k = {k}", anchor="middle")
        for (key, meaning), chance, shift in zip(sides, pair, (-31, 1), strict=True):
            top = axes.at(0, chance)[1]
            canvas.box(middle + shift, top, 30, max(floor - top, 1), fill=meaning, edge=meaning, faint=key == "paper")
            # a number must not stand on the dashed line
            free = axes.at(0, ASKED)[1] if ASKED - 0.06 < chance < ASKED else top
            canvas.text(middle + shift + 15, free - 4, f"{chance:.2f}", anchor="middle", small=True)
    for (key, meaning), x in zip(sides, (60, 200), strict=True):
        canvas.box(x, 276, 12, 12, fill=meaning, edge=meaning, faint=key == "paper", round_by=2)
        canvas.text(x + 18, 287, words[key], small=True)
    numbers = " ".join(words["number"].format(k=k, paper=p, sharp=s) for k, (p, s) in chances.items())
    description = words["description"].format(attackers=ATTACKERS, numbers=numbers)
    safe = min(k for k, pair in chances.items() if min(pair) >= ASKED)
    finding = words["finding"].format(attackers=ATTACKERS, safe=safe, asked=ASKED)
    return Picture("survival", finding, description, canvas.svg("survival", description))
