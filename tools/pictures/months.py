"""Who is found in which month: UM, MM and EMM read off one small table."""

from __future__ import annotations

import numpy as np

from noren.kernels.judging.composition import matching_curve, user_matching

from .canvas import Canvas, Picture
from .words import words_of

__all__ = ["FOUND", "draw", "rates"]

# + found, o not found, . bought nothing and nobody was named there
FOUND = {"Ann": "++oo", "Bob": "+oo+", "Cho": "++o.", "Dan": "+.oo", "Eri": "oooo"}
MONTHS = (1, 2, 3, 4)

WORDS = words_of("months")


def rates() -> tuple[float, float, list[float]]:
    """Return UM, MM, and MM after each month.

    >>> um, mm, curve = rates()
    >>> um, round(mm, 3), [round(rate, 3) for rate in curve]
    (0.0, 0.389, [0.8, 0.667, 0.429, 0.389])
    """
    cells = np.array([list(row) for row in FOUND.values()])
    match, live = cells != "o", cells != "."
    curve = matching_curve(match, live).tolist()
    return user_matching(match), curve[-1], curve


def draw(language: str) -> Picture:
    """Draw the table and, below it, MM after each month."""
    words = WORDS[language]
    um, mm, curve = rates()
    canvas = Canvas(346)
    left, top, wide, high = 96.0, 36.0, 62.0, 32.0
    for at, month in enumerate(MONTHS):
        label = words["month"].format(number=month)
        canvas.text(left + (at + 0.5) * wide, 22, label, anchor="middle", small=True, meaning="muted")
    canvas.text(left + 4 * wide + 50, 22, words["um"], anchor="middle", small=True, meaning="muted")
    for down, (name, row) in enumerate(FOUND.items()):
        y = top + down * high
        canvas.text(left - 14, y + 21, name, anchor="end")
        for at, cell in enumerate(row):
            x = left + at * wide
            canvas.box(x + 2, y + 2, wide - 4, high - 4, fill="risk" if cell == "+" else None, edge="line", faint=True)
            middle = (x + wide / 2, y + high / 2)
            if cell == "+":
                canvas.dot(*middle, meaning="risk", radius=6)
            elif cell == "o":
                canvas.dot(*middle, meaning="muted", radius=6, hollow=True)
            else:
                canvas.line((middle[0] - 6, middle[1]), (middle[0] + 6, middle[1]), meaning="muted")
        all_right = words["yes"] if "o" not in row else words["no"]
        canvas.text(left + 4 * wide + 50, y + 21, all_right, anchor="middle", meaning="muted")
    base = top + len(FOUND) * high + 90
    canvas.text(left - 14, base - 40, words["mm"], anchor="end", small=True, meaning="muted")
    for at, rate in enumerate(curve):
        x, tall = left + (at + 0.5) * wide, 70 * rate
        worst = rate == max(curve)
        canvas.box(x - 14, base - tall, 28, tall, fill="risk", edge="risk", faint=not worst, round_by=2)
        canvas.text(x, base - tall - 5, f"{rate:.2f}", anchor="middle", strong=worst, small=not worst)
    canvas.line((left, base), (left + 4 * wide, base), meaning="muted")
    canvas.text(left, base + 22, words["emm"].format(emm=max(curve)), small=True, meaning="risk", strong=True)
    canvas.text(left + 4 * wide + 94, base + 22, words["last"].format(mm=mm), small=True, meaning="muted", anchor="end")
    y = base + 44
    canvas.dot(14, y, meaning="risk", radius=6)
    canvas.text(26, y + 4, words["found"], small=True)
    canvas.dot(150, y, meaning="muted", radius=6, hollow=True)
    canvas.text(162, y + 4, words["hidden"], small=True)
    canvas.line((284, y), (296, y), meaning="muted")
    canvas.text(302, y + 4, words["absent"], small=True)
    values = {"um": um, "mm": mm, "emm": max(curve), "curve": ", ".join(f"{rate:.2f}" for rate in curve)}
    description = words["description"].format_map(values)
    return Picture("months", words["finding"].format_map(values), description, canvas.svg("months", description))
