"""What a released cell costs in U."""

from __future__ import annotations

import numpy as np

from noren.kernels.judging.cell_error import interval_error, set_error

from .canvas import Canvas, Picture
from .words import words_of

__all__ = ["costs", "draw"]

PRICE, SPREAD = 3.00, 2.0  # the true price, and the standard deviation of the column

WORDS = words_of("cells")


def costs(words: dict[str, str] | None = None) -> list[tuple[str, float]]:
    """Return cells with what they cost.

    >>> [(cell, round(cost, 2)) for cell, cost in costs()][:3]
    [('3.00', 0.0), ('[2.00; 4.00]', 0.25), ('[0.00; 8.00]', 1.06)]
    """
    labels = words or dict(WORDS["en"])
    ranges = np.array([[3.0, 3.0], [2.0, 4.0], [0.0, 8.0]])
    price = interval_error(np.full(3, PRICE), ranges[:, 0], ranges[:, 1], width=0.01, sd=SPREAD)
    no = np.zeros(3, dtype=bool)
    item = set_error(np.ones(3, dtype=bool), np.array([1.0, 2.0, 4.0]), missing=no, suppressed=no)
    sets = ["tea", "cup tea", "cup jam rice tea"]
    named = ["{" + "; ".join(labels[word] for word in names.split()) + "}" for names in sets[1:]]
    return [
        *zip(["3.00", "[2.00; 4.00]", "[0.00; 8.00]"], map(float, price), strict=True),
        *zip([labels["tea"], *named], map(float, item), strict=True),
        (labels["nothing"], 1.0),
    ]


def draw(language: str) -> Picture:
    """Draw one bar for each kind of cell."""
    words = dict(WORDS[language])
    cell_costs = costs(words)
    canvas = Canvas(32 + 30 * len(cell_costs))
    canvas.text(8, 18, words["head"], small=True, meaning="muted")
    for at, (cell, cost) in enumerate(cell_costs):
        y = 34 + 30 * at
        canvas.text(192, y + 15, cell, anchor="end")
        canvas.box(202, y, max(cost * 185, 1), 20, fill="warning", edge="warning", faint=True, round_by=2)
        canvas.text(210 + cost * 185, y + 15, f"{cost:.2f}", small=True)
    costs_text = " ".join(words["cost"].format(cell=cell, cost=cost) for cell, cost in cell_costs)
    description = words["description"].format(costs=costs_text)
    return Picture("cells", words["finding"], description, canvas.svg("cells", description))
